"""Stores for tests: in memory, in a folder, and on a Redis server of our own."""

import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from windrow.stores import MemoryStore, RedisStore, RocksDBStore, Store


class Server(NamedTuple):
    port: int
    password: str

    @property
    def address(self) -> str:
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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


def wait_for(server: Server, process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", server.port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError("redis-server did not start")


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
