"""Values and pure rules that several layers need: no disk, no clock, no environment, no print.

One concept a module: open the file named like what you look for. `api` re-exports what plugins use.
"""
