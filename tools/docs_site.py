"""Builds the documentation as a site of plain files, in `build/site`: strictly, so that a warning is an error.

    python tools/docs_site.py            builds and checks it
    python tools/docs_site.py --open     and opens it in a browser

The pages are those of `docs/` and the other Markdown files that people read, which stay where they are: here they are
gathered into one folder, their links follow them, and drawings become part of their page. zensical makes HTML of them;
its settings and the order of pages are in `zensical.toml`. What came out is checked once more, by `site_check`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

import site_check
import tomlkit

ROOT: Final = Path(__file__).resolve().parent.parent
SETTINGS: Final = ROOT / "zensical.toml"
BUILD: Final = ROOT / "build"
SHIPPED: Final = "Plugins that come along"
"""The section of the order of pages that is filled with the plugins of this checkout."""
HOME: Final = "docs/index.md"
POLICY: Final = "default-src 'self' 'unsafe-inline' data: blob:"
"""What a page may load, held by the browser: the theme's scripts know hosts for things that we do not use."""

_LINK: Final = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)(\))")
_DRAWING: Final = re.compile(r"^!\[([^\]]*)\]\(([\w-]+\.svg)\)$", re.MULTILINE)
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_CODE: Final = re.compile(r"`[^`]+`")
_FENCE: Final = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)


class SiteError(Exception):
    """A page cannot be built as it is; the text says which, and why."""


def places(root: Path = ROOT) -> dict[str, str]:
    """Path of a file in the repository -> its path in the site. What is not here cannot be linked to."""
    shown = [path for path in sorted((root / "docs").iterdir()) if path.suffix not in (".jsonl", ".1")]
    found = {f"docs/{path.name}": path.name for path in shown}
    found |= {
        f"plugins/{path.parent.name}/README.md": f"plugins/{path.parent.name}.md"
        for path in sorted(root.glob("plugins/*/README.md"))
    }
    found |= {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
    found |= {"examples/README.md": "examples.md", "benchmarks/README.md": "benchmarks.md"}
    return {source: target for source, target in found.items() if (root / source).is_file()}


def rewritten(source: str, text: str, known: Mapping[str, str]) -> str:
    """The text of the page `source` with its relative links as they are in the site; `SiteError` for a dead one."""
    here = PurePosixPath(known[source]).parent

    def linked(found: re.Match[str]) -> str:
        target, mark, anchor = found[2].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return found[0]
        meant = os.path.normpath(PurePosixPath(source).parent / target)
        place = known.get(HOME if meant == "README.md" else meant)
        if place is None:
            raise SiteError(f"{source} links to {target}, which is no page of the site")
        return f"{found[1]}{os.path.relpath(place, here)}{mark}{anchor}{found[3]}"

    parts = _FENCE.split(text)
    return "".join(part if number % 2 else plain_bars(_LINK.sub(linked, part)) for number, part in enumerate(parts))


def plain_bars(text: str) -> str:
    """In code of a table an escaped bar is a bar for forges, and a backslash with one for the generator."""
    row = re.compile(r"^\|.*\|$", re.MULTILINE)
    return row.sub(lambda found: _CODE.sub(lambda code: code[0].replace("\\|", "|"), found[0]), text)


def with_drawings(text: str, folder: Path) -> str:
    """Drawings that know both schemes stand in the page itself, so that they follow its colours."""

    def drawn(found: re.Match[str]) -> str:
        text = (folder / found[2]).read_text(encoding="utf-8").strip()
        if not text.startswith('<svg class="plan"'):
            return found[0]
        return f'<div class="drawing" markdown="0">\n{text}\n</div>'

    return _DRAWING.sub(drawn, text)


def gather(into: Path) -> None:
    """Fills the folder `into` with all that the site is made of."""
    known = places()
    for source, target in known.items():
        there = into / target
        there.parent.mkdir(parents=True, exist_ok=True)
        if there.suffix == ".md":
            text = rewritten(source, (ROOT / source).read_text(encoding="utf-8"), known)
            there.write_text(with_drawings(text, ROOT / "docs"), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / source, there)


def settings() -> str:
    """`zensical.toml` with the plugins of this checkout in its order of pages; `SiteError` when a page is not in it."""
    document = tomlkit.parse(SETTINGS.read_text(encoding="utf-8")).unwrap()
    nav = document["project"]["nav"]
    (section,) = [part[SHIPPED] for part in nav if SHIPPED in part]
    known = places()
    for source, target in known.items():
        if source.startswith("plugins/"):
            title = (ROOT / source).read_text(encoding="utf-8").partition("\n")[0]
            section.append({title.removeprefix("# "): target})
    listed = list(_pages(nav))
    there = [target for target in known.values() if target.endswith(".md")]
    if odd := sorted(set(listed) ^ set(there)) or sorted(page for page in listed if listed.count(page) > 1):
        raise SiteError(f"{SETTINGS.name}: its `nav` must have each page once; look at {', '.join(odd)}")
    return tomlkit.dumps(document)


def build(into: Path = BUILD) -> Path:
    """Builds the site in `into` and returns its folder, `site` in that; `SiteError` with all that is wrong."""
    for folder in (into / "pages", into / "site", into / ".cache"):
        shutil.rmtree(folder, ignore_errors=True)
    gather(into / "pages")
    config = into / SETTINGS.name
    config.write_text(settings(), encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", str(config)]
    done = subprocess.run(command, cwd=into, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    if done.returncode or "Warning" in done.stdout + done.stderr:
        raise SiteError(_COLOUR.sub("", done.stdout + done.stderr))
    for page in (into / "site").rglob("*.html"):
        page.write_text(confined(page.read_text(encoding="utf-8")), encoding="utf-8")
    if problems := list(site_check.problems(into / "site")):
        raise SiteError("\n".join(problems))
    return into / "site"


def confined(page: str) -> str:
    """The page, which from now on may ask no other host for anything; `SiteError` when it has no head."""
    head, tag, rest = page.partition("<head>")
    if not tag:
        raise SiteError("a page without a head cannot be given a policy")
    return f'{head}{tag}\n<meta http-equiv="Content-Security-Policy" content="{POLICY}">{rest}'


def main(arguments: Sequence[str]) -> int:
    try:
        site = build()
    except SiteError as error:
        print(error, file=sys.stderr)
        return 1
    pages = len(list(site.rglob("*.html")))
    print(f"{pages} pages: {(site / 'index.html').relative_to(ROOT)}")
    if "--open" in arguments:
        webbrowser.open((site / "index.html").as_uri())
    return 0


def _pages(nav: object) -> Iterator[str]:
    match nav:
        case str():
            yield nav
        case list():
            for part in nav:
                yield from _pages(part)
        case dict():
            yield from _pages(list(nav.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
