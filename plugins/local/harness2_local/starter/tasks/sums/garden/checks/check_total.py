"""Is the total right? Prints what was looked at, for the judge."""

import json
import os
from pathlib import Path

found = Path(os.environ["HARNESS2_DELIVERABLES"], "total.txt")
passed = found.is_file() and found.read_text(encoding="utf-8").strip() == "3605"
print(json.dumps({"items": [{"name": "the total", "weight": "1", "passed": passed}]}))
