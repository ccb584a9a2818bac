"""Where results live: plain files (`filesystem`), or one SQLite database with large blobs beside it (`sqlite`).

`filesystem.py` and `sqlite.py` are the two stores. Both stand on the same parts: `layout.py` names files, `atomic.py`
writes them, `blobs.py` keeps blobs, `claims.py` holds claims, `failures.py` puts errors of the system into words.
"""
