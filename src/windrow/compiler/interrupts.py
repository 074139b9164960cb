"""Ctrl-C while machine code runs: seen when it has returned.

Python calls the handler of a signal as soon as Python code runs again. For a kernel that is while
numba makes Python objects of its results, and numba does not expect an exception there: the process
would crash. So in the main thread, where handlers run, the handler of SIGINT is put off until the
kernel has returned. `windrow.work.pace` sees to it that this is soon.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any


def uninterrupted(call: Callable[..., Any], *arguments: Any) -> Any:
    """Call a kernel; after a Ctrl-C, interrupt the caller when the kernel has ended."""
    if threading.current_thread() is not threading.main_thread():
        return call(*arguments)
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        return call(*arguments)
    seen: list[tuple[int, Any]] = []
    signal.signal(signal.SIGINT, lambda number, frame: seen.append((number, frame)))
    try:
        return call(*arguments)
    finally:
        signal.signal(signal.SIGINT, handler)
        if seen:
            handler(*seen[0])
