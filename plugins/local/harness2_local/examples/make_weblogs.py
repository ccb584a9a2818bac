"""Writes the weblog tasks' files: the same bytes every time. Run it in this folder after a change.

    python make_weblogs.py [FOLDER]

Hosts are of the ranges kept for documentation, sites and programs are invented. Each task gets its logs as a server
would leave them, `checks/truth.toml` with who is who, and the one check program of all weblog tasks.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

from make_gzip import gzipped  # type: ignore[import-not-found]  # beside this program

HERE = Path(__file__).resolve().parent


class Hit(NamedTuple):
    at: datetime
    """In UTC."""
    host: str
    path: str
    status: int
    size: str
    agent: str


def files() -> dict[str, bytes]:
    """Path below the examples folder -> content, of everything that is generated."""
    made: dict[str, bytes] = {}
    program = (HERE / "check_weblog.py").read_bytes()
    for task, logs in _tasks().items():
        for name, lines in logs.items():
            text = ("\n".join(lines) + "\n").encode()
            made[f"tasks/weblogs/{task}/inputs/{name}"] = gzipped(text) if name.endswith(".gz") else text
        made[f"tasks/weblogs/{task}/checks/truth.toml"] = _TRUTH.encode()
        made[f"tasks/weblogs/{task}/checks/check_requests.py"] = program
    return made


def write(folder: Path) -> None:
    for path, data in files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


_TRUTH = """\
agents = [
  ["Gatherbot/", "crawler"],
  ["FeedOwl/", "feed"],
  ["PingLight/", "monitor"],
  ["mirror-sync/", "tool"],
  ["curl/", "tool"],
  ["Firefox/", "browser"],
  ["Safari/", "browser"],
]
"""

_FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0"
_SAFARI = "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_4) AppleWebKit/605.1.15 (KHTML, like Gecko) Safari/605.1.15"
_CRAWLER = "Mozilla/5.0 (compatible; Gatherbot/2.1; +https://gatherbot.example/)"
_FEED = "FeedOwl/2.1 (feed reader; 14 subscribers)"
_PROBE = "PingLight/1.0 (availability probe)"
_SYNC = "mirror-sync/0.9 (tool that copies sites)"
_CURL = "curl/8.7.1"
_QUOTED = r"Mozilla/5.0 (X11; \"quiet\" edition; rv:115.0) Gecko/20100101 Firefox/115.0"

_HOSTS = ("198.51.100.7", "198.51.100.23", "203.0.113.5", "203.0.113.80", "203.0.113.81", "192.0.2.44")
_SIX = ("2001:db8::17", "2001:db8:0:0:0:0:0:17", "2001:db8:40::a:1", "2001:0db8:0040::000a:0001")
"""Two hosts, in the spellings of two programs."""
_PATHS = ("/", "/about", "/feed.xml", "/2024/moss-and-stone", "/img/gate.jpg", "/robots.txt")


def _hits(
    chance: random.Random,
    first: datetime,
    count: int,
    minutes: int,
    agents: Sequence[str],
    hosts: Sequence[str] = _HOSTS,
    paths: Sequence[str] = _PATHS,
) -> Iterator[Hit]:
    """`count` requests, about `minutes` apart."""
    at = first
    for _ in range(count):
        at += timedelta(seconds=chance.randrange(60, 120 * minutes))
        status = chance.choice((200, 200, 200, 200, 304, 404))
        size = "-" if status == 304 else str(chance.randrange(180, 48_000))
        yield Hit(at, chance.choice(hosts), chance.choice(paths), status, size, chance.choice(agents))


def _line(hit: Hit, offset_hours: int = 0, end: str = "") -> str:
    at = hit.at.astimezone(timezone(timedelta(hours=offset_hours)))
    return (
        f"{hit.host} - - [{at:%d/%b/%Y:%H:%M:%S %z}] "
        f'"GET {hit.path} HTTP/1.1" {hit.status} {hit.size} "-" "{hit.agent}"{end}'
    )


def _utc(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, tzinfo=UTC)


def _tasks() -> dict[str, dict[str, list[str]]]:
    return {
        "blog_week": _blog_week(),
        "docs_mirror": _docs_mirror(),
        "shop_move": _shop_move(),
        "shop_night": _shop_night(),
    }


def _blog_week() -> dict[str, list[str]]:
    """One log, two lines of which a full disk cut in the middle; no bytes for what the caller had already."""
    agents = (_FIREFOX, _FIREFOX, _SAFARI, _CRAWLER, _FEED)
    lines = [_line(hit) for hit in _hits(random.Random("blog week"), _utc(2024, 5, 6), 70, 120, agents)]
    for number, kept in ((23, 61), (48, 84)):
        lines[number] = lines[number][:kept]
    return {"access.log": lines}


def _docs_mirror() -> dict[str, list[str]]:
    """Rotated parts, the oldest compressed; IPv6 in two spellings; quotes with a backslash. The program that copies
    the site came by while the oldest part was written, and never again."""
    chance = random.Random("docs mirror")
    agents = (_FIREFOX, _SAFARI, _CURL, _CRAWLER, _QUOTED)
    paths = (*_PATHS, r"/search?q=\"log rotation\"", r"/search?q=\"gate\"")
    hosts = (*_HOSTS[:3], *_SIX)
    sizes = [
        hit._replace(size="0") if hit.size == "-" else hit
        for hit in _hits(chance, _utc(2024, 2, 26), 90, 70, agents, hosts, paths)
    ]
    oldest = [hit._replace(agent=_SYNC) if number % 4 == 1 else hit for number, hit in enumerate(sizes[:30])]
    return {
        "access.log": [_line(hit) for hit in sizes[60:]],
        "access.log.1": [_line(hit) for hit in sizes[30:60]],
        "access.log.2.gz": [_line(hit) for hit in oldest],
    }


def _shop_move() -> dict[str, list[str]]:
    """Two machines write into one log, each by its own clock."""
    chance = random.Random("shop move")
    agents = (_FIREFOX, _SAFARI, _CRAWLER, _PROBE, _CURL)
    hits = _hits(chance, _utc(2024, 6, 3), 80, 65, agents)
    return {"access-lantern.log": [_line(hit, chance.choice((0, 2)), _seconds(chance)) for hit in hits]}


def _shop_night() -> dict[str, list[str]]:
    """One machine, one clock, far from UTC: nothing in the log looks odd."""
    chance = random.Random("shop night")
    agents = (_FIREFOX, _SAFARI, _CRAWLER, _PROBE, _CURL)
    lines = [_line(hit, -5, _seconds(chance)) for hit in _hits(chance, _utc(2024, 7, 1), 80, 65, agents)]
    return {"access-lantern.log": lines[40:], "access-lantern.log.1": lines[:40]}


def _seconds(chance: random.Random) -> str:
    return f" {chance.randrange(2, 900) / 1000:.3f}"


def main(arguments: Sequence[str]) -> None:
    write(Path(arguments[0]) if arguments else HERE)


if __name__ == "__main__":
    main(sys.argv[1:])
