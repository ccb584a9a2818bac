"""The parts of the supervisor. Standard library only, and of that only what is cheap to import: see `supervise.py`.

`order` (what is asked), `begin` (fork and exec), `watch` (the loop), `streams` (bounded capture), `family` and
`proc` (finding and ending descendants), `limits` and `cgroups` (memory and processes), `serve` (from order to report).
"""
