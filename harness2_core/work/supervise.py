"""The supervisor: one process that starts a program, watches it and leaves nothing of it behind.

Started by `process.py` as `python -I -S supervise.py`, so nothing but the standard library is on its path: whatever
plugins or site files do cannot reach it, and it starts in about 25 ms. The work is in `supervision/`, read as a
top-level package: importing `harness2_core` here would need its dependencies. A package is also compiled once,
which a script never is.

Standard input carries the order, then commands; its end means that the parent is gone. Standard
output carries the report.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .supervision.serve import serve
else:
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 (pathlib costs 10 ms here)
    from supervision.serve import serve

if __name__ == "__main__":
    sys.exit(serve(control=0, report=1))
