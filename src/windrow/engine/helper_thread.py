"""A helper: a second thread that runs an algorithm's own loop beside a kernel.

Both run without the interpreter lock, and talk through words in memory (see
`windrow.compiler.shared_words`). A process starts its helpers once, at most one for every two
cores; they wait for work between two blocks. A forked process, such as a Spark worker, starts its
own. Where no core is left for a helper, the kernel runs without.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from windrow.algebra.product import Product
from windrow.algorithms import Algorithm
from windrow.compiler import machine_code
from windrow.compiler.kernel import Kernel
from windrow.compiler.kernel_memory import KernelMemory
from windrow.compiler.slots import Ring
from windrow.work.threads import cores

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor


class HelpedAlgorithm(Algorithm, Protocol):
    """An algorithm with work for a second thread."""

    HELPER: Callable[[Ring], int]

    def welcome(self, ring: Ring) -> None:
        """Let a helper stay."""

    def dismiss(self, ring: Ring) -> None:
        """Make the helper return."""

    def fail(self, ring: Ring) -> None:
        """Let the kernel that waits for the helper know that it has failed."""


@runtime_checkable
class CutAlgorithm(Protocol):
    """An algorithm that is told where to cut chunks, so that a helper is done in time."""

    def cut_into(self, ring: Ring, chunk: int) -> None:
        """Close chunks when they hold so many slots."""


class Helpers:
    """The helper threads of this process."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._free = threading.Semaphore(most)
        self._threads: ThreadPoolExecutor | None = None

    def start(self, work: Callable[[], int]) -> Future[int] | None:
        """Give work to a helper; None if there is none, or if all are busy."""
        if not self._most or not self._free.acquire(blocking=False):
            return None
        try:
            if self._threads is None:
                from concurrent.futures import ThreadPoolExecutor

                self._threads = ThreadPoolExecutor(self._most, "windrow-helper")
            future = self._threads.submit(work)
        except RuntimeError:  # the interpreter is about to end and starts no more threads
            self._free.release()
            return None
        future.add_done_callback(lambda _future: self._free.release())
        return future


#: one helper for every two cores: the other core runs the kernel
HELPERS = Helpers(cores() // 2)


def _start_anew() -> None:
    """Make new helpers: threads do not survive a fork, and one of them may have held a lock."""
    global HELPERS
    HELPERS = Helpers(cores() // 2)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


class Helper:
    """The work of a second thread for the kernels of one algorithm and one product.

    Attributes:
        helped: how often a helper has done some of it, for tests and benchmarks.
    """

    def __init__(self, algorithm: HelpedAlgorithm, product: Product, checked: bool) -> None:
        self._algorithm = algorithm
        self._loop = Kernel(algorithm.HELPER, algorithm.FUNCTIONS, product, checked)
        self.helped = 0

    @contextmanager
    def beside(self, memory: KernelMemory, ring: Ring) -> Iterator[None]:
        """Help with a ring while a kernel runs inside the `with`.

        An error that the helper raises is raised here, when the kernel has returned.
        """
        algorithm, arguments = self._algorithm, (*memory.helpers_workspace(), ring)

        def work() -> int:
            try:
                return int(self._loop(*arguments))
            except BaseException:
                algorithm.fail(ring)
                raise

        self._loop.prepare(arguments)
        algorithm.welcome(ring)
        future = HELPERS.start(work)
        try:
            yield
        finally:
            algorithm.dismiss(ring)
            # A helper that has not come yet is not waited for.
            if future is not None and not future.cancel():
                self.helped += future.result()


def helper_for(algorithm: Any, product: Product, checked: bool) -> Helper | None:
    """A helper, if the algorithm has work for one and kernels are compiled."""
    if not hasattr(algorithm, "HELPER") or not machine_code.is_enabled():
        return None
    return Helper(algorithm, product, checked)
