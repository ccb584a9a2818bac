"""A headless Chromium that tells what a page does: its requests, its errors, and how it looks.

    python tools/browser.py FOLDER [PAGE ...]     pictures of pages, at two widths and in both schemes, into FOLDER

Spoken to over a pipe in the protocol of its developer tools, so nothing but the program itself is needed.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from attrs import field, frozen

ROOT: Final = Path(__file__).resolve().parent.parent
PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")
OPTIONS: Final = (
    "--headless=new",
    "--no-sandbox",  # it is started as root in containers, and opens our own pages only
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
WIDTHS: Final = (1280, 390)
SCHEMES: Final = ("light", "dark")
PATIENCE_SECONDS: Final = 60.0
CLOSING_SECONDS: Final = 15.0
TALLEST: Final = 3000
"""Pixels of a page that its picture shows."""
QUIET_SECONDS: Final = 0.3
"""A page is at rest when it has told nothing for so long."""


def program() -> str:
    """The browser's path; empty when there is none."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), "")


@frozen
class Visit:
    """What was seen of one page."""

    requests: tuple[str, ...]
    errors: tuple[str, ...]
    """What the page's console called an error, what was raised and not caught, and what could not be loaded."""
    overflow: int
    """Pixels by which the page is wider than the window."""
    wide: tuple[str, ...]
    """Elements that stick out of the window, and are in no box that scrolls."""
    picture: bytes = field(repr=False)
    """PNG of the page, from its top."""


WIDE_SCRIPT: Final = """
[...document.querySelectorAll('article *, header *, nav *, footer *')].filter(element => {
  const box = element.getBoundingClientRect();
  if (box.width === 0 || box.right <= window.innerWidth + 1) return false;
  for (let up = element.parentElement; up; up = up.parentElement)
    if (getComputedStyle(up).overflowX !== 'visible' || getComputedStyle(up).position === 'fixed') return false;
  return getComputedStyle(element).position !== 'fixed';
}).slice(0, 5).map(element => element.tagName + '.' + element.className)
"""


FOUND_SCRIPT: Final = """
[document, ...[...document.querySelectorAll('*')].map(element => element.shadowRoot).filter(Boolean)]
  .some(root => root.querySelector("WANTED"))
"""


class Browser:
    """Use as a context manager: the process ends with it."""

    def __init__(self, path: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="harness2-browser-")
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()

        def place() -> None:  # the browser reads from 3 and writes to 4
            ends = os.dup(to_read), os.dup(to_write)
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self._process = subprocess.Popen(
            [path, *OPTIONS, f"--user-data-dir={self._folder.name}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=place,
        )
        os.close(to_read)
        os.close(to_write)
        self._number = 0
        self._rest = b""
        self._told: list[dict[str, Any]] = []
        self._session = ""

    def __enter__(self) -> Browser:
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self._ask(f"{domain}.enable")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError, RuntimeError, TimeoutError):
            self._session = ""
            self._ask("Browser.close")
        try:
            self._process.wait(CLOSING_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)
        for _ in range(20):  # its children leave the folder a moment later
            try:
                self._folder.cleanup()
                return
            except OSError:
                time.sleep(0.1)

    def visit(self, url: str, width: int, scheme: str, height: int = 900) -> Visit:
        """Opens the page and waits until it is at rest."""
        self._ask("Page.navigate", url="about:blank")
        self._ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self._ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self._until_quiet(seconds=QUIET_SECONDS / 6)  # nothing of the page before is taken for this one's
        self._told.clear()
        self._ask("Page.navigate", url=url)
        self._until_quiet("Page.loadEventFired")
        return self._seen(width)

    def type(self, text: str, until: str) -> Visit:
        """Types where the cursor is, and waits for an element, in parts of the page that are closed off too."""
        self._until_quiet()
        self._ask("Input.insertText", text=text)
        end = time.monotonic() + PATIENCE_SECONDS
        while not self.value(FOUND_SCRIPT.replace("WANTED", until)):
            if time.monotonic() > end:
                raise TimeoutError(f"{until} does not come")
            self._until_quiet()
        return self._seen(int(self.value("window.innerWidth")))

    def _seen(self, width: int) -> Visit:
        overflow = self.value("document.documentElement.scrollWidth - window.innerWidth")
        wide = self.value(WIDE_SCRIPT)
        high = min(int(self.value("document.documentElement.scrollHeight")), TALLEST)
        clip = {"x": 0, "y": 0, "width": width, "height": high, "scale": 1}
        shot = self._ask("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        return Visit(
            tuple(self._requests()), tuple(self._errors()), int(overflow), tuple(wide), base64.b64decode(shot["data"])
        )

    def value(self, script: str) -> Any:
        """What a script in the page comes to, as JSON; a promise is awaited."""
        answer = self._ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"the script failed: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def _requests(self) -> Iterator[str]:
        for told in self._told:
            if told["method"] == "Network.requestWillBeSent":
                url = told["params"]["request"]["url"]
                if not url.startswith(("data:", "blob:", "about:")):
                    yield url

    def _errors(self) -> Iterator[str]:
        for told in self._told:
            given = told["params"]
            if told["method"] == "Runtime.exceptionThrown":
                yield str(given["exceptionDetails"])
            elif told["method"] == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning", "assert"):
                yield f"{given['type']}: {given['args']}"
            elif told["method"] == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
                yield f"{given['entry']['level']}: {given['entry']['text']} {given['entry'].get('url', '')}"
            elif told["method"] == "Network.loadingFailed" and not given.get("canceled"):
                yield f"not loaded: {given.get('errorText')}"

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE_SECONDS
        while (left := end - time.monotonic()) > 0:
            for told in self._receive(left):
                if told.get("id") == self._number:
                    if "error" in told:
                        raise RuntimeError(f"{method}: {told['error']}")
                    result: dict[str, Any] = told["result"]
                    return result
        raise TimeoutError(f"the browser has not answered to {method}")

    def _until_quiet(self, after: str = "", seconds: float = QUIET_SECONDS) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            if not list(self._receive(seconds)) and (not after or any(told["method"] == after for told in self._told)):
                return
        raise TimeoutError("the page does not come to rest")

    def _receive(self, seconds: float) -> Iterator[dict[str, Any]]:
        """Messages that came within the time; none is lost when the caller stops looking."""
        if not select.select([self._read], [], [], seconds)[0]:
            return
        data = os.read(self._read, 1 << 20)
        if not data:
            raise RuntimeError("the browser has ended")
        *whole, self._rest = (self._rest + data).split(b"\0")
        messages: list[dict[str, Any]] = [json.loads(text) for text in whole]
        self._told += [message for message in messages if "method" in message]
        yield from messages


@contextmanager
def opened() -> Iterator[Browser]:
    """A browser; `FileNotFoundError` when this machine has none."""
    path = program()
    if not path:
        raise FileNotFoundError(f"there is no {' or '.join(PROGRAMS)}")
    with Browser(path) as browser:
        yield browser


def main(arguments: Sequence[str]) -> int:
    folder, *names = arguments
    site = ROOT / "build" / "site"
    Path(folder).mkdir(parents=True, exist_ok=True)
    with opened() as browser:
        for name in names or [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]:
            for width in WIDTHS:
                for scheme in SCHEMES:
                    seen = browser.visit((site / name).as_uri(), width, scheme)
                    picture = Path(folder) / f"{Path(name).stem}-{width}-{scheme}.png"
                    picture.write_bytes(seen.picture)
                    print(f"{picture} {seen.overflow} {' '.join(seen.wide)} {' '.join(seen.errors)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
