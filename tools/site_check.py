"""What is wrong with a built site: dead links and anchors, and anything that a page would load from another host.

Reads HTML and CSS only. What scripts do is seen by the test that opens pages in a browser.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

LOADING: Final = frozenset({"src", "srcset", "poster", "data", "xlink:href", "background"})
"""Attributes whose target a browser fetches by itself; `href` is one in `link` only."""
_CSS_TARGET: Final = re.compile(r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)")
_ELSEWHERE: Final = re.compile(r"^(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)


class Page(HTMLParser):
    """One page: what it links to, what it loads, and what can be linked to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self._style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._style = tag == "style"
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        for name, value in given.items():
            if name in LOADING or (name == "href" and tag in ("link", "use", "image")):
                if not (tag == "link" and given.get("rel") in ("canonical", "prev", "next")):
                    self.loads += re.split(r"\s+[\d.]+[wx],?\s*", value) if name == "srcset" else [value]
            elif name == "href":
                self.links.append(value)
            elif name == "style":
                self.loads += targets(value)

    def handle_data(self, data: str) -> None:
        if self._style:
            self.loads += targets(data)


def targets(css: str) -> list[str]:
    """What a style sheet loads."""
    return [first or second for first, second in _CSS_TARGET.findall(css)]


def problems(site: Path) -> Iterator[str]:
    """One line for each thing that is wrong in the folder `site`."""
    page_of = cache(lambda path: Page(path.read_text(encoding="utf-8")))
    for path in sorted(site.rglob("*.html")):
        name, page = path.relative_to(site).as_posix(), page_of(path)
        for target in page.loads:
            yield from (f"{name}: {problem}" for problem in _loading(site, path, target))
        for target in page.links:
            if _ELSEWHERE.match(target) or re.match(r"(?:mailto|data|javascript):", target):
                continue
            there, anchor = _there(site, path, target)
            if not there.is_file():
                yield f"{name}: there is no {target}"
            elif anchor and there.suffix == ".html" and anchor not in page_of(there).anchors | {"__top"}:
                yield f"{name}: there is no {target}: the page has no such anchor"
    for path in sorted(site.rglob("*.css")):
        name = path.relative_to(site).as_posix()
        for target in targets(path.read_text(encoding="utf-8")):
            yield from (f"{name}: {problem}" for problem in _loading(site, path, target))


def _loading(site: Path, path: Path, target: str) -> Iterator[str]:
    if _ELSEWHERE.match(target):
        yield f"loads {target} from another host"
    elif target and not target.startswith(("data:", "#", "blob:")) and not _there(site, path, target)[0].is_file():
        yield f"loads {target}, which is not there"


def _there(site: Path, path: Path, target: str) -> tuple[Path, str]:
    parts = urlsplit(target)
    if not parts.path:
        return path, unquote(parts.fragment)
    start = site if parts.path.startswith("/") else path.parent
    there = Path(os.path.normpath(start / unquote(parts.path).lstrip("/")))
    return (there / "index.html" if there.is_dir() else there), unquote(parts.fragment)
