"""Where work runs: `threads`, for which one machine is enough. The work itself is child processes under supervision."""
