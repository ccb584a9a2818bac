"""A sandbox on Linux by bubblewrap: own processes, files and network, without a daemon and without root.

`bubblewrap` wraps a command and tries whether that works here; `system` is the part of the machine that every
program needs; `identity` is who and where a program inside finds itself to be.
"""
