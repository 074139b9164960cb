"""Work on all cores of this process; kernels hold no interpreter lock.

Threads stay for the calls to come: starting one takes longer than a loop over ten thousand rows.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from windrow.work import sizes
from windrow.work.pace import Stopped, work_until

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

#: threads that all calls of this process have together, at most; they start when they are needed
_MOST = 256

Item = TypeVar("Item")
Result = TypeVar("Result")


def cores() -> int:
    """How many threads work at once: one on every core of this process, unless `sizes` says."""
    wanted = sizes.current().cores
    if wanted is not None:
        return wanted
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def even_pieces(size: int, wanted: int) -> list[tuple[int, int]]:
    """So many pieces of nearly one size, each with its begin and its end.

    >>> even_pieces(10, 3)
    [(0, 3), (3, 6), (6, 10)]
    """
    marks = [size * piece // wanted for piece in range(wanted + 1)]
    return list(pairwise(marks))


def in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], most: int | None = None
) -> list[Result]:
    """Call a function with each item, on `most` threads; by default on one per core.

    Results are in the order of the items.
    """
    items = list(items)
    workers = min(cores() if most is None else most, len(items))
    if workers < 2:
        return [function(item) for item in items]
    results: list[Any] = [None] * len(items)
    numbers = iter(range(len(items)))
    stop = threading.Event()

    def work() -> None:
        before = work_until(stop)
        try:
            # The threads share the iterator: the next item goes to the one that is free.
            for number in numbers:
                if stop.is_set():
                    return
                results[number] = function(items[number])
        except Stopped:
            pass
        except BaseException:  # Ctrl-C too: nobody needs the results of the other threads
            stop.set()
            raise
        finally:
            work_until(before)

    from concurrent.futures import wait  # small tables need none of it

    # This thread takes part. Handing over each item by itself would cost 0.1 ms an item.
    others = [_threads().submit(work) for _ in range(workers - 1)]
    try:
        work()
        # One that has not begun finds nothing to do, and perhaps no thread: all may wait here.
        for other in others:
            if not other.cancel():
                other.result()
    except BaseException:
        stop.set()
        wait([other for other in others if not other.cancel()])
        raise
    return results


@functools.cache
def _threads() -> ThreadPoolExecutor:
    """The threads beside those that call."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(_MOST, "windrow")


if hasattr(os, "register_at_fork"):  # a child process has none of its parent's threads
    os.register_at_fork(after_in_child=_threads.cache_clear)
