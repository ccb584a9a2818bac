"""The live view of a sweep: `state` folds events, `view` lays the state out, `screen` keeps it on the terminal.

The first two are pure. `watching` is what commands use.
"""
