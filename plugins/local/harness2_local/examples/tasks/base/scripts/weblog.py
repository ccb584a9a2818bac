"""Counts requests in web servers' logs by day and kind of client. What it knows is in domain/weblogs.toml."""

import csv
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

DOMAIN = Path(__file__).parent.parent / "domain" / "weblogs.toml"
FIELD = re.compile(r'\[[^\]]*\]|"[^"]*"|\S+')
LATE = timedelta(minutes=10)  # a request is written down when it ends: a little disorder is usual

Rules = Mapping[str, Any]


class Request(NamedTuple):
    at: datetime
    host: str
    client: str
    size: int


def run(inputs: Path, output: Path) -> None:
    problems: list[str] = []
    known = tomllib.loads(DOMAIN.read_text(encoding="utf-8"))
    requests = [request for path in sorted(inputs.glob("access*")) for request in read(path, known, problems)]
    write_requests(requests, output / "requests.csv")
    (output / "problems.txt").write_text("".join(f"{problem}\n" for problem in problems), encoding="utf-8")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"requests.csv counts {len(requests)} requests")


def read(path: Path, known: Rules, problems: list[str]) -> Iterator[Request]:
    name, rules = server_of(path, known["servers"])
    last = datetime.min
    for number, line in enumerate(lines_of(path, problems), 1):
        where = f"{path.name}:{number}"
        fields = [field.strip('[]"') for field in FIELD.findall(line)]
        if len(fields) != len(rules["fields"]):
            odd = "ends after" if len(fields) < len(rules["fields"]) else "has"
            problems.append(f"error: {where}: {odd} {len(fields)} fields, {name} writes {len(rules['fields'])}")
            continue
        cells = dict(zip(rules["fields"], fields, strict=True))
        try:
            at, host = read_time(cells["time"], rules), read_host(cells["host"])
            request = Request(at, host, client_of(cells["agent"], known["clients"]), read_size(cells["bytes"], rules))
        except ValueError as error:
            problems.append(f"error: {where}: {error}")
            continue
        if request.at + LATE < last:
            problems.append(f"error: {where}: {request.at} comes before the line above it, {last}")
        last = request.at
        yield request


def lines_of(path: Path, problems: list[str]) -> list[str]:
    data = path.read_bytes()
    if b"\0" in data:
        problems.append(f"error: {path.name}: not a text file, it begins with the bytes {data[:2].hex()}")
        return []
    return data.decode("utf-8", errors="replace").splitlines()


def server_of(path: Path, servers: Rules) -> tuple[str, Rules]:
    for name, rules in servers.items():
        if path.match(rules["files"]):
            return name, rules
    raise LookupError(f"no server is known to write {path.name}")


def read_time(text: str, rules: Rules) -> datetime:
    try:
        return datetime.strptime(text.partition(" ")[0], rules["time"])
    except ValueError:
        raise ValueError(f"cannot read time {text!r}") from None


def read_host(text: str) -> str:
    if not re.fullmatch(r"\d+(\.\d+){3}", text):
        raise ValueError(f"cannot read host {text!r}")
    return text


def read_size(text: str, rules: Rules) -> int:
    if text == rules["no_bytes"]:
        return 0
    if not text.isdigit():
        raise ValueError(f"cannot read bytes {text!r}")
    return int(text)


def client_of(agent: str, clients: Mapping[str, list[str]]) -> str:
    for kind, words in clients.items():
        if any(word in agent for word in words):
            return kind
    raise ValueError(f"no kind of client has the agent {agent!r}")


def write_requests(requests: list[Request], path: Path) -> None:
    groups: defaultdict[tuple[str, str], list[Request]] = defaultdict(list)
    for request in requests:
        groups[f"{request.at:%Y-%m-%d}", request.client].append(request)
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(["day", "client", "requests", "hosts", "bytes"])
        for (day, client), group in sorted(groups.items()):
            hosts = {request.host for request in group}
            table.writerow([day, client, len(group), len(hosts), sum(request.size for request in group)])
