"""Writes the streams beside it: all that `opencode run --format json` and the observer are known to say.

    python make_streams.py [DIR]

Forms are those of OpenCode 1.18; words, ids and times are made up, so no machine and no person is in them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

MAIN = "ses_0000000000000000000000main"
CHILD = "ses_000000000000000000000child"
_TIME = 1_767_323_045_678


def event(kind: str, session: str = MAIN, **fields: object) -> str:
    return _line({"type": kind, "timestamp": _TIME, "sessionID": session, **fields})


def told(kind: str, **fields: object) -> str:
    return _line({"type": f"harness2.{kind}", **fields})


def part(number: int, kind: str, session: str = MAIN, **fields: object) -> dict[str, object]:
    ids = {"id": f"prt_{number:026d}", "messageID": f"msg_{number:026d}", "sessionID": session}
    return {**ids, "type": kind, **fields}


def text(number: int, words: str, kind: str = "text") -> str:
    return event(kind, part=part(number, kind, text=words, time={"start": _TIME, "end": _TIME}))


def tool(number: int, name: str, given: object, session: str = MAIN, **state: object) -> dict[str, object]:
    more = {"status": "completed", "input": given, "title": name, "time": {"start": _TIME, "end": _TIME}}
    return part(number, "tool", session, tool=name, callID=f"call_{number}", state={**more, **state})


def finish(number: int, reason: str, session: str = MAIN, cost: float = 0, **tokens: int) -> dict[str, object]:
    counts = {"input": 0, "output": 0, "reasoning": 0, **tokens}
    cache = {"write": counts.pop("write", 0), "read": counts.pop("read", 0)}
    total = sum(counts.values()) + sum(cache.values())
    return part(
        number, "step-finish", session, reason=reason, tokens={"total": total, **counts, "cache": cache}, cost=cost
    )


def failed(name: str, message: str, **data: object) -> str:
    return event("error", error={"name": name, "data": {"message": message, **data}})


def diff(path: str, body: str) -> str:
    return f"Index: {path}\n{'=' * 67}\n--- {path}\n+++ {path}\n{body}"


def everything() -> list[str]:
    path = "/workspace/output/ü ☃.txt"
    edited = diff(path, "@@ -1,2 +1,2 @@\n one\n-two\n+2\n")
    patched = {"files": [{"filePath": path, "type": "update", "patch": edited}], "truncated": False}
    return [
        told("began", model="gpt-5-mini"),
        event("step_start", part=part(1, "step-start")),
        text(2, "Two files, I think.", "reasoning"),
        text(3, "I look first."),
        event(
            "tool_use", part=tool(4, "bash", {"command": "ls", "description": "Look"}, output="a.txt\n", metadata={})
        ),
        event("tool_use", part=tool(5, "read", {"filePath": "/no"}, status="error", error="File not found: /no")),
        event("step_finish", part=finish(6, "tool-calls", input=600, output=15, reasoning=5, read=400)),
        event("step_start", part=part(7, "step-start")),
        event(
            "tool_use",
            part=tool(
                8,
                "write",
                {"filePath": path, "content": "one\ntwo\n"},
                output="Wrote file.",
                metadata={"exists": False},
            ),
        ),
        event(
            "tool_use",
            part=tool(9, "edit", {"filePath": path, "oldString": "two"}, output="Done.", metadata={"diff": edited}),
        ),
        event("tool_use", part=tool(10, "apply_patch", {"patchText": "..."}, output="Success.", metadata=patched)),
        event("tool_use", part=tool(11, "invalid", {"tool": "x", "error": "no tool x"}, output="no tool x")),
        event("step_finish", part=finish(12, "tool-calls", input=100, output=20, write=50)),
        *sub_agent(),
        event("tool_use", part=tool(30, "task", {"prompt": "Count.", "subagent_type": "counter"}, output="seven")),
        event("step_finish", part=finish(31, "tool-calls", input=10, output=10)),
        told("retry", sessionID=MAIN, attempt=1, message="Overloaded", wait_ms=2000),
        text(32, "Seven pebbles."),
        event("step_finish", part=finish(33, "stop", input=10, output=10)),
    ]


def sub_agent() -> list[str]:
    def said(kind: str, **fields: object) -> str:
        return told("sub_agent", event=kind, agent="counter", sessionID=CHILD, **fields)

    return [
        said("text", part=part(20, "text", CHILD, text="I count.")),
        said("tool_use", part=tool(21, "bash", {"command": "wc -l"}, CHILD, output="7\n")),
        said("step_finish", part=finish(22, "tool-calls", CHILD, input=1000, output=70)),
        said("error", error={"name": "APIError", "data": {"message": "Overloaded", "statusCode": 529}}),
    ]


def gave_up() -> list[str]:
    headers = {"content-type": "application/json", "retry-after": "7"}
    said = failed("APIError", "slow down", statusCode=429, isRetryable=True, responseHeaders=headers)
    retries = [told("retry", sessionID=MAIN, attempt=n, message="slow down", wait_ms=7000) for n in range(1, 6)]
    return [told("began", model="gpt-5-mini"), event("step_start", part=part(1, "step-start")), *retries, said]


def long_wait() -> list[str]:
    wait = told("gave_up", sessionID=MAIN, attempt=1, message="slow down", wait_ms=1_799_001)
    return [told("began", model="gpt-5-mini"), wait, failed("MessageAbortedError", "Aborted")]


def out_of_steps() -> list[str]:
    step = event("step_finish", part=finish(2, "tool-calls", input=10, output=5))
    end = [told("out_of_steps", steps=1), failed("MessageAbortedError", "Aborted")]
    return [told("began", model="nobody/knows-this"), text(1, "On and on."), step, *end]


def odd() -> list[str]:
    """Spacing, words between, and kinds of events that nobody has seen yet."""
    plain = json.loads(text(2, "Fine."))
    return [
        "(node:12) Warning: something else speaks here",
        json.dumps(plain, indent=None, separators=(", ", " : ")),
        event("session_forked", to="elsewhere"),
        told("began", model="gpt-5-mini") + event("step_start", part=part(3, "step-start")),
        event("step_finish", part=finish(4, "length", input=10, output=5, cost=0.00068)),
        '{"type":"text","timestamp":17673230',
    ]


STREAMS = {
    "everything": everything,
    "gave_up": gave_up,
    "long_wait": long_wait,
    "odd": odd,
    "out_of_steps": out_of_steps,
}


def _line(value: dict[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def main(folder: Path) -> None:
    for name, made in STREAMS.items():
        end = "" if name == "odd" else "\n"
        (folder / f"{name}.jsonl").write_text("\n".join(made()) + end, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
