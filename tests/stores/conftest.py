"""Stores for tests, of every kind."""

from tests.support.stores.fixtures import redis_server, store

__all__ = ["redis_server", "store"]
