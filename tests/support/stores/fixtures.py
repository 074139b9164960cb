"""Stores for tests: in memory, in a folder, and on a Redis server of our own."""

import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.stores.server import Server, free_port, wait_for
from windrow.stores import MemoryStore, RedisStore, RocksDBStore, Store


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Redis server with a password, on a free port of this machine only."""
    if shutil.which("redis-server") is None:
        pytest.skip("no redis-server: install it, e.g. 'apt-get install redis-server'")
    pytest.importorskip("redis", reason="pip install 'windrow[redis]'")
    server = Server(free_port(), secrets.token_urlsafe(16))
    settings = (
        f"port {server.port}\nbind 127.0.0.1\nrequirepass {server.password}\n"
        f'save ""\nappendonly no\ndir {tmp_path_factory.mktemp("redis")}\n'
    )
    # The settings come by a pipe: on a command line, all users of the machine see the password.
    process = subprocess.Popen(
        ["redis-server", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    assert process.stdin is not None
    process.stdin.write(settings)
    process.stdin.close()
    try:
        wait_for(server, process)
        yield server
    finally:
        process.terminate()
        process.wait(timeout=10)


@pytest.fixture(params=["memory", "rocksdb", "redis"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store of each kind."""
    made: Store
    if request.param == "memory":
        made = MemoryStore()
    elif request.param == "rocksdb":
        pytest.importorskip("rocksdict", reason="pip install 'windrow[rocksdb]'")
        made = RocksDBStore(tmp_path / "rocksdb")
    else:
        server = request.getfixturevalue("redis_server")
        made = RedisStore(server.address)
        made._client.flushall()
    with made:
        yield made
