"""A kernel's window between two calls: its room and its state."""

from __future__ import annotations

from typing import Any

from windrow.algebra.product import Product
from windrow.algorithms import Algorithm
from windrow.compiler import shared_words as words
from windrow.compiler.kernel import Kernel
from windrow.compiler.kernel_memory import KernelMemory
from windrow.compiler.linking import link
from windrow.engine import loops
from windrow.work import sizes


def empty_state(algorithm: Algorithm, product: Product, ring: Any) -> Any:
    """The state of a kernel's window before its first event."""
    slots = {
        "identity": product.identity,
        "capacity": lambda ring: len(ring[0]),
        "release": lambda ring, position: None,
        "load_integer": lambda integers, position: int(integers[position]),
        "watch": words.load_word,
        "claim": words.exchange_word,
    }
    return link(algorithm.FUNCTIONS, slots)["empty"](ring, 0)


class KernelWindow:
    """A window of a product of aggregations, in a ring of numbers."""

    def __init__(self, algorithm: Algorithm, product: Product, capacity: int | None = None) -> None:
        self.memory = KernelMemory(product)
        self.capacity = capacity or sizes.current().window_capacity
        self.ring = algorithm.allocate(self.memory, self.capacity)
        self.state = empty_state(algorithm, product, self.ring)
        self._algorithm = algorithm
        self._move = Kernel(loops.move, algorithm.FUNCTIONS, product, checked=False)

    def grow(self) -> None:
        """Twice the room; every event keeps its position."""
        self.capacity *= 2
        larger = self._algorithm.allocate(self.memory, self.capacity)
        self.state, _row = self._move(*self.memory.workspace(), self.state, self.ring, larger)
        self.ring = larger
