"""One sweep is one graph: nodes wait for what they need, paid work goes through slots, records come out in plan order.

`run.py` is the way in, `graph.py` the shape, `scheduler.py` the one thread, `prepare.py` all reading, building and
writing on its behalf.
"""
