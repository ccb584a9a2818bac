"""Whether the number is right. Called with the folders of what was delivered and of the task's inputs."""

import json
import re
import sys
from pathlib import Path

deliverables, source = map(Path, sys.argv[1:])
letter = next(source.rglob("letter.txt")).read_bytes()
words = len(re.findall(rb"\S+", letter))
given = deliverables / "words.txt"
right = given.is_file() and given.read_bytes().strip() == str(words).encode()
print(json.dumps({"items": [{"name": "number of words", "weight": 1, "passed": right}]}))
