"""What the substrates of real agents share, and `agent`, the proposer that drives any of them.

`stream` reads their event streams, `programs` finds their programs, `pinned` and `npm` bring them, `npm_agent` is what
is alike of all that npm brings, `failures` tells what the words of a provider mean, `ending` how a run ended, `prices`
what tokens cost, `options` what a channel says.
"""
