"""`harness2 plugins new`: a plugin that works, to begin one's own from.

`naming` turns what a person typed into names that are free and legal everywhere; `kinds` says what each kind consists
of; `writing` renders `templates/` into a new folder. The templates are code like any other: a test generates each kind,
runs its tests, ruff and mypy over it, and loads it as a plugin.
"""
