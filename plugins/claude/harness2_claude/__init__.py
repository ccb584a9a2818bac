"""Claude Code, Anthropic's agent CLI, as a substrate: `claude -p`, one process a rollout.

`surface` is what may be edited, `tree_rules` what the CLI would take otherwise than it is meant; `install`, with
`environment`, makes of a tree what the CLI loads; `reading` takes its stream apart with the help of `items`, `spent`
counts, `ending` tells how a run ended; `substrate` ties these together.
"""
