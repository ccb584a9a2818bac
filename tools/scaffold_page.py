"""Writes `docs/writing-a-plugin.md` from the templates of `harness2 plugins new`, so that it shows what that makes.

    python tools/scaffold_page.py            writes the page
    python tools/scaffold_page.py --check    says whether it is up to date; exit code 1 if it is not

Needs core and the plugins of this checkout installed: `make demo` does that.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from configuration_page import cell
from written_page import write

from harness2_core.cli.scaffold.kinds import SCAFFOLDS
from harness2_core.cli.scaffold.naming import NAMED_IN_RUNS, Names
from harness2_core.cli.scaffold.writing import rendered
from harness2_core.model.kinds import KINDS

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "writing-a-plugin.md"
SHOWN: Final = "selector"
"""The kind whose files are all shown; of the others, those that differ."""
NAME: Final = "mine"
TOKEN: Final = "mine"
COMMON: Final = ("pyproject.toml", "README.md", "harness2_mine/__init__.py", "harness2_mine/py.typed")
"""Files that are alike for all kinds."""

HEAD: Final = """\
# A plugin in ten minutes

<!-- Written by `python tools/scaffold_page.py` from the templates of `harness2 plugins new`. Change those, and run it
again. -->

```console
$ harness2 plugins new selector mine
made harness2-mine: the selector 'mine', in the distribution harness2-mine
...
```

makes a distribution that works: a small implementation, its settings where there is something to set, and tests that
pass. It asks nothing, needs no network, and overwrites nothing. For another kind, put it in the place of `selector`:
{kinds}.

In the new folder:

```
pip install -e . "harness2-core[testing]"
pytest
harness2 plugins show mine
```

Then change it, one file after the other, and let the tests say when a promise of its kind is broken.

## What each file is for

| file | |
| --- | --- |
| `pyproject.toml` | the entry point, by which it is found, and the core that it works with |
| `harness2_mine/plugin.py` | the hook: names, summaries, and references to the rest; it imports nothing heavy |
| `harness2_mine/settings.py` | a class with the settings, where there are any; a docstring below a field is its help |
| `harness2_mine/<kind>.py` | the work |
| `tests/test_mine.py` | the contract of its kind, filled in, and what is special about it |
| `README.md` | What, Install, Use, Settings, Limits |

To share it, build and publish it as any distribution; `harness2 plugins list` finds it wherever it is installed. The
name is free if no other plugin of the kind has it; `harness2_core.api` and, in tests, `harness2_core.testing` are all
that it imports of core. What those promise for how long: [API versions](plugin-api.md).

Every method that a kind has, and those it may have besides: [hooks and protocols](hooks.md). Another example of each
kind, in one file, and what the contracts ask: [kinds and examples](plugins.md).

"""


def page() -> str:
    """The whole page."""
    parts = [HEAD.replace("{kinds}", ", ".join(f"`{kind}`" for kind in KINDS if kind != SHOWN))]
    files = made(SHOWN)
    parts.append("## What all kinds have in common\n\n`pyproject.toml`:\n\n" + _block("toml", files["pyproject.toml"]))
    parts.append("`harness2_mine/plugin.py`:\n\n" + _block("python", files["harness2_mine/plugin.py"]))
    for kind in KINDS:
        parts += _kind(kind)
    return "".join(parts).rstrip("\n") + "\n"


def made(kind: str) -> Mapping[str, str]:
    """What `plugins new` makes of the kind: path -> text."""
    return rendered(Names(kind, NAME, TOKEN if kind in NAMED_IN_RUNS else ""))


def _kind(kind: str) -> Iterator[str]:
    article = "An" if kind[0] in "aeiou" else "A"
    scaffold, common = SCAFFOLDS[kind], made(SHOWN)
    title = "Model access" if kind == "access" else f"{article} {kind}"
    makes = f" (protocol `{scaffold.protocol}`)" if scaffold.protocol else ""
    yield f"## {title}\n\nWhat `harness2 plugins new {kind} mine` makes{makes}: {cell(scaffold.does)}.\n\n"
    for path, text in sorted(made(kind).items(), key=lambda item: (item[0].startswith("tests/"), item[0])):
        if path in COMMON or (text == common.get(path) and kind != SHOWN):
            continue
        if path.endswith("plugin.py") and kind not in ("listener", "command"):
            continue  # the one above, with another word for the kind
        said = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
        summary = f"<code>{path}</code>" + (f": {_plain(said)}" if said else "")
        yield f'<details markdown="1">\n<summary>{summary}</summary>\n\n{_block("python", text)}</details>\n\n'


def _block(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```\n\n"


def _plain(said: str) -> str:
    """A docstring in HTML: code in it is marked as such."""
    parts = said.replace("&", "&amp;").replace("<", "&lt;").split("`")
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))


FILES: Final = {PAGE: page}

if __name__ == "__main__":
    sys.exit(write(FILES, sys.argv[1:]))
