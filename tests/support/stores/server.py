"""A Redis server of our own: where it listens, and when it does."""

import socket
import subprocess
import time
from typing import NamedTuple


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


def wait_for(server: Server, process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", server.port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError("redis-server did not start")
