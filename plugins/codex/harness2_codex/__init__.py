"""Codex, OpenAI's agent CLI, as a substrate: `codex exec`, one process a rollout.

`surface` is what may be edited; `install`, with `config_file`, `skill_list` and `roles`, makes of a tree what the CLI
loads; `reading` takes its streams apart with the help of `items` and `log`, `spent` counts, `ending` tells how a run
ended; `substrate` ties these together.
"""
