"""The documentation site: links follow their pages into it, its faults are found, and browsers show it well."""

from __future__ import annotations

import importlib
import importlib.util
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
LOOKED_AT = (
    "index.html",
    "start.html",
    "concepts.html",
    "configuration.html",
    "faults.html",
    "hooks.html",
    "writing-a-plugin.html",
    "plugins/local.html",
)
"""The home page, one with drawings, wide tables, long blocks of code, and one of a folder below."""


@pytest.fixture(scope="module")
def tools() -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        yield ROOT / "tools"


@pytest.fixture(scope="module")
def docs_site(tools: Path) -> ModuleType:
    return importlib.import_module("docs_site")


# -- from the repository into the site


KNOWN = {
    "docs/index.md": "index.md",
    "docs/method.md": "method.md",
    "plugins/local/README.md": "plugins/local.md",
    "CHANGELOG.md": "changelog.md",
}


@pytest.mark.parametrize(
    ("source", "text", "wanted"),
    [
        ("docs/method.md", "[a](../plugins/local/README.md)", "[a](plugins/local.md)"),
        ("docs/method.md", "[a](../CHANGELOG.md#added)", "[a](changelog.md#added)"),
        ("docs/method.md", "[`a`](index.md) and [b](#here)", "[`a`](index.md) and [b](#here)"),
        ("docs/method.md", "[a](../README.md)", "[a](index.md)"),
        ("plugins/local/README.md", "[a](../../docs/method.md#one)", "[a](../method.md#one)"),
        ("docs/method.md", "[a](https://example.org/x.md)", "[a](https://example.org/x.md)"),
        ("docs/method.md", "```\n[a](gone.md)\n```\n", "```\n[a](gone.md)\n```\n"),
    ],
)
def test_a_link_leads_to_the_same_page_in_the_site(docs_site: ModuleType, source: str, text: str, wanted: str) -> None:
    assert docs_site.rewritten(source, text, KNOWN) == wanted


@pytest.mark.parametrize("target", ["gone.md", "../tools/install.py", "../plugins/local/other.md"])
def test_a_link_to_what_is_no_page_is_an_error(docs_site: ModuleType, target: str) -> None:
    with pytest.raises(docs_site.SiteError, match=r"docs/method\.md links to"):
        docs_site.rewritten("docs/method.md", f"see [there]({target})", KNOWN)


def test_a_bar_in_the_code_of_a_table_is_a_bar(docs_site: ModuleType) -> None:
    assert docs_site.plain_bars("| `a\\|b` | one \\| two |\nand `a\\|b`\n") == "| `a|b` | one \\| two |\nand `a\\|b`\n"


def test_a_page_is_confined_by_a_policy(docs_site: ModuleType) -> None:
    made = docs_site.confined("<html><head><title>a</title></head></html>")
    assert made.index("Content-Security-Policy") < made.index("<title>")
    with pytest.raises(docs_site.SiteError):
        docs_site.confined("<p>no head</p>")


def test_the_order_of_pages_has_each_page_once(docs_site: ModuleType) -> None:
    written = docs_site.settings()
    assert "plugins/local.md" in written
    assert "writing-a-plugin.md" in written


def test_a_drawing_becomes_part_of_its_page(docs_site: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "plan-x.svg").write_text('<svg class="plan">a plan</svg>\n')
    (tmp_path / "live.svg").write_text("<svg>of one scheme</svg>\n")
    made = docs_site.with_drawings("before\n\n![a plan](plan-x.svg)\n\n![a picture](live.svg)\n", tmp_path)
    assert '<svg class="plan">a plan</svg>' in made
    assert "![a picture](live.svg)" in made


# -- what is wrong with a site


@pytest.fixture
def problems(tools: Path, tmp_path: Path) -> Any:
    """Given the head and the body of a page, and a style sheet: what is wrong with such a site."""
    check = importlib.import_module("site_check")

    def found(body: str, head: str = "", css: str = "") -> list[str]:
        (tmp_path / "index.html").write_text(f"<html><head>{head}</head><body>{body}</body></html>")
        (tmp_path / "other.html").write_text('<h1 id="there">Other</h1>')
        (tmp_path / "style.css").write_text(css)
        return list(check.problems(tmp_path))

    return found


@pytest.mark.parametrize(
    "body",
    [
        '<a href="other.html">a</a>',
        '<a href="other.html#there">a</a>',
        '<p id="b"></p><a href="#b">a</a>',
        '<a href="https://example.org/">links may lead anywhere: nothing is loaded</a>',
        '<img src="style.css"><img src="data:image/png;base64,AA">',
    ],
)
def test_a_page_in_order_passes(problems: Any, body: str) -> None:
    assert problems(body) == []


@pytest.mark.parametrize("target", ["gone.html", "other.html#gone", "#gone", "sub/"])
def test_a_dead_link_or_anchor_is_found(problems: Any, target: str) -> None:
    (problem,) = problems(f'<a href="{target}">a</a>')
    assert target in problem


@pytest.mark.parametrize(
    ("head", "body", "css"),
    [
        ("", '<script src="https://cdn.example/x.js"></script>', ""),
        ("", '<img src="//cdn.example/x.png">', ""),
        ("", '<img srcset="https://cdn.example/x.png 2x">', ""),
        ('<link rel="stylesheet" href="https://cdn.example/x.css">', "", ""),
        ('<link rel="preconnect" href="https://cdn.example">', "", ""),
        ("<style>@import 'https://cdn.example/x.css';</style>", "", ""),
        ("", '<p style="background: url(https://cdn.example/x.png)">a</p>', ""),
        ("", "", "@font-face { src: url('https://cdn.example/x.woff2') }"),
    ],
)
def test_what_a_page_would_load_from_another_host_is_found(problems: Any, head: str, body: str, css: str) -> None:
    (problem,) = problems(body, head, css)
    assert "cdn.example" in problem
    assert "from another host" in problem


def test_what_a_page_would_load_and_is_not_there_is_found(problems: Any) -> None:
    assert problems('<img src="gone.png">') == ["index.html: loads gone.png, which is not there"]


# -- in a browser


@pytest.fixture(scope="module")
def site(docs_site: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("zensical") is None:
        pytest.skip("the generator is not installed: python tools/install.py docs")
    built: Path = docs_site.build(tmp_path_factory.mktemp("built"))
    return built


@pytest.fixture(scope="module")
def browser(tools: Path) -> Iterator[Any]:
    module = importlib.import_module("browser")
    if not module.program():
        pytest.skip("there is no Chromium: apt-get install chromium")
    with module.opened() as opened:
        yield opened


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.browser
@pytest.mark.process
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_fit_raise_nothing_and_ask_no_other_host(browser: Any, address: str, width: int, scheme: str) -> None:
    for name in LOOKED_AT:
        seen = browser.visit(address + name, width, scheme)
        assert seen.requests, f"{name}: nothing was loaded"
        assert [url for url in seen.requests if not url.startswith(address)] == [], name
        assert seen.errors == (), name
        assert seen.overflow <= 0, f"{name} is {seen.overflow} pixels too wide: {seen.wide}"
        assert seen.wide == (), name
        browser.value("document.querySelectorAll('details').forEach(details => details.open = true)")
        assert browser.value("document.documentElement.scrollWidth - window.innerWidth") <= 0, f"{name}, all opened"


@pytest.mark.browser
@pytest.mark.process
def test_the_scheme_of_the_system_is_followed(browser: Any, address: str) -> None:
    colours = set()
    for scheme in ("light", "dark"):
        browser.visit(address + "concepts.html", 1280, scheme)
        body, plan = (
            browser.value(f"getComputedStyle(document.querySelector('{place}')).{what}")
            for place, what in (("body", "backgroundColor"), ("svg.plan text", "fill"))
        )
        assert body != plan
        colours |= {(scheme, body), (scheme, plan)}
    assert len({colour for _, colour in colours}) == 4


@pytest.mark.browser
@pytest.mark.process
@pytest.mark.parametrize("start", ["http", "file"])
def test_a_page_cannot_ask_another_host(browser: Any, address: str, site: Path, start: str) -> None:
    browser.visit(address if start == "http" else (site / "index.html").as_uri(), 1280, "light")
    with ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as other:  # it would answer: the system queues who knocks
        asked = (
            f"fetch('http://127.0.0.1:{other.server_port}/', {{mode: 'no-cors', signal: AbortSignal.timeout(5000)}})"
        )
        said = browser.value(f"{asked}.then(() => 'answered', error => error.name)")
    assert said == "TypeError"  # refused at once; without a policy it waits, until the signal ends it


@pytest.mark.browser
@pytest.mark.process
def test_the_search_works_from_the_disk_without_a_server(browser: Any, site: Path) -> None:
    browser.visit((site / "index.html").as_uri(), 1280, "light")
    browser.value("document.querySelector('.md-search__button').click()")
    found = browser.type("bubblewrap", until="a[href*='bubblewrap.html']")
    assert found.requests
    assert [url for url in found.requests if not url.startswith(site.as_uri())] == []
    assert found.errors == ()
