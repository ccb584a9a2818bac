"""Counts the words of a letter."""

import os
from pathlib import Path

text = Path("inputs/letter.txt").read_text(encoding="utf-8")
Path(os.environ["HARNESS2_OUTPUT"], "words.txt").write_text(f"{len(text.split())}\n", encoding="utf-8")
