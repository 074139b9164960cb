"""A PostgreSQL server of our own: with a password, on a free port of this machine only."""

import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.stores.server import free_port

#: where Debian's package has the programs of the server, which are not on the PATH
DEBIAN = Path("/usr/lib/postgresql")
SECONDS_TO_START = 60


def programs() -> Path | None:
    """The folder of `initdb` and `postgres`, of the newest version."""
    if (found := shutil.which("initdb")) and shutil.which("postgres"):
        return Path(found).parent
    return max(DEBIAN.glob("*/bin"), key=lambda each: float(each.parent.name), default=None)


def owner() -> str | None:
    """Who runs the server: root may not. None means this user."""
    if os.getuid():
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


@contextmanager
def postgres_server() -> Iterator[str]:
    """The address of a server that runs for a while."""
    import psycopg

    found, user, password = programs(), owner(), secrets.token_urlsafe(16)
    assert found is not None
    port = free_port()
    # Not below pytest's folders, which only this user may enter.
    with tempfile.TemporaryDirectory(prefix="windrow-postgres-") as folder:
        password_file = Path(folder) / "password"
        password_file.write_text(password)
        if user is not None:
            shutil.chown(folder, user)
            shutil.chown(password_file, user)
        data = str(Path(folder) / "data")
        made = [str(found / "initdb"), "-D", data, "-U", "windrow", "--no-sync", "-E", "UTF8",
                "--auth=scram-sha-256", f"--pwfile={password_file}"]  # fmt: skip
        subprocess.run(made, check=True, capture_output=True, user=user, cwd=folder)
        # Nothing has to outlast the machine: no fsync. The socket of the machine is left out.
        command = [str(found / "postgres"), "-D", data, "-h", "127.0.0.1", "-p", str(port),
                   "-c", "unix_socket_directories=", "-F"]  # fmt: skip
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, user=user, cwd=folder
        )
        address = f"postgresql://windrow:{password}@127.0.0.1:{port}/postgres"
        try:
            deadline = time.monotonic() + SECONDS_TO_START
            while True:
                try:
                    psycopg.connect(address, connect_timeout=5).close()
                    break
                except psycopg.OperationalError:
                    if time.monotonic() > deadline or process.poll() is not None:
                        raise
                    time.sleep(0.1)
            yield address
        finally:
            process.terminate()
            process.wait(timeout=30)
