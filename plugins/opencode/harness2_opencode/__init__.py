"""OpenCode as a substrate: `opencode run`, one process a rollout.

`surface` is what may be edited; `install`, with `config_file`, makes of a tree what the CLI loads; `observer.js` is a
plugin of ours that tells what the CLI's stream leaves out; `reading`, with `items`, takes the stream apart; `ending`
tells how a run ended; `substrate` ties these together.
"""
