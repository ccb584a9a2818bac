"""Model access by a relay: the real key stays in the worker's process, a run gets a token that dies with it.

`access.py` is the provider. `server.py` listens on a unix socket and on loopback, `accepting.py` bounds what is open,
`forwarding.py` passes one request on, `grants.py` knows what each token opens, `headers.py` and `striking.py` see that
the key goes up and never down.
"""
