"""The command line: thin, lazy, one module a command group. The table of commands is in `main`."""
