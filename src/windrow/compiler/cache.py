"""Where compiled kernels are kept between processes.

Every kernel has a file of its own, named after all that it is made of, and numba keeps the machine
code beside it. The file is written once and never changed: numba takes a newer file for changed
source. Only one process at a time compiles a kernel; the others wait and load what it made.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from windrow.errors import InvalidArgument

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: processes may compile the same kernel twice
    fcntl = None  # type: ignore[assignment]


def directory() -> Path:
    """The folder of the cache: `WINDROW_CACHE_DIR`, or the user's cache, or a temporary folder."""
    wanted = os.environ.get("WINDROW_CACHE_DIR")
    if wanted:
        return _writable(wanted)
    base = os.environ.get("XDG_CACHE_HOME")
    with contextlib.suppress(OSError, RuntimeError):
        path = _made((Path(base) if base else Path.home() / ".cache") / "windrow")
        if os.access(path, os.W_OK):
            return path
    import tempfile

    return _private(Path(tempfile.gettempdir()) / f"windrow-{_user()}")


def _made(path: Path) -> Path:
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def _writable(wanted: str) -> Path:
    """The folder that a user has named, if kernels can be written to it."""
    try:
        path = _made(Path(wanted))
        reason = "" if os.access(path, os.W_OK | os.X_OK) else "permission denied"
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
    if reason:
        raise InvalidArgument(
            f"WINDROW_CACHE_DIR: kernels cannot be written to {wanted!r}: {reason}; name a folder "
            "of yours in this variable, or unset it"
        )
    return path


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else "user"


def _private(path: Path) -> Path:
    """A folder that nobody else can have put machine code into."""
    _made(path)
    found = path.stat()
    foreign = hasattr(os, "getuid") and found.st_uid != os.getuid()
    if foreign or stat.S_IMODE(found.st_mode) & 0o077:
        import tempfile

        return Path(tempfile.mkdtemp(prefix="windrow-"))
    return path


def source_file(name: str, text: str) -> Path:
    """The file of a kernel, written if it is not there yet."""
    path = directory() / f"{name}.py"
    if not path.exists():
        import tempfile

        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "w") as file:
            file.write(text)
        try:
            # Linking, unlike renaming, fails if another process was first: its file stays.
            os.link(temporary, path)
        except FileExistsError:
            pass
        finally:
            Path(temporary).unlink()
    return path


def has_numbas_file(path: Path) -> bool:
    """Whether numba keeps machine code of this kernel."""
    return any((path.parent / "__pycache__").glob(f"{path.stem}.*.nbi"))


@contextlib.contextmanager
def only_one_process(path: Path) -> Iterator[None]:
    """Hold the lock of a kernel's file."""
    if fcntl is None:
        yield
        return
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
