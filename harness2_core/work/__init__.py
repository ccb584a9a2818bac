"""Every effect of one request: all that a remote worker imports.

`worker.perform` is the way in. `rollout`, `session` and `grade` are one request each, end to end; `material` is the
driver's step before them. What they share is one concept a module: `materialise` writes, `spawn` runs, `capture` and
`harvest` read back, `attempts` and `policy` say what was tried and what follows.
"""
