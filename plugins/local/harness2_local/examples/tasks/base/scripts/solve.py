"""Finds out what kind of work the inputs ask for, and hands them to the script of that kind."""

import os
import sys
from importlib import import_module
from pathlib import Path

KINDS = (("statement*.csv", "ledger"), ("access*.log*", "weblog"), ("readings-*.csv", "sensor"))
"""Names of input files -> the script beside this one that can read them."""


def main() -> int:
    inputs, output = Path("inputs"), Path(os.environ.get("HARNESS2_OUTPUT", "output"))
    for pattern, script in KINDS:
        if any(inputs.glob(pattern)):
            output.mkdir(parents=True, exist_ok=True)
            import_module(script).run(inputs, output)
            return 0
    print(f"error: no script for inputs named {sorted(p.name for p in inputs.iterdir())}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
