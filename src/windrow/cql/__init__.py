"""Continuous queries as text: `wr.cql` is in `query.py`."""
