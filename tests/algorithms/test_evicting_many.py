"""Bulk eviction in kernels: no driver of tables evicts many at once, so here is one that does."""

from functools import reduce
from typing import Any

import numpy as np
import pytest

import windrow as wr
from tests.support.algorithms.lines import LINES
from windrow.algebra.kinds import Kind
from windrow.algebra.product import Part, Product
from windrow.algorithms import ALGORITHMS, Algorithm
from windrow.algorithms.recompute import evict_many  # the linker puts the algorithm's in its place
from windrow.compiler.kernel import Kernel
from windrow.compiler.kernel_memory import KernelMemory
from windrow.compiler.slots import insert, lift_row, lower_row, query
from windrow.engine.kernel_window import empty_state

NUMBERS = np.random.default_rng(6).integers(-99, 99, 400) / 8


def in_leaps(
    columns: Any, validities: Any, answers: Any, defined: Any, ring: Any, state: Any, leaps: Any
) -> tuple[Any, int]:
    """Answer each row over a window that loses `leaps[row]` events after it."""
    for row in range(len(leaps)):
        state = insert(state, ring, lift_row(columns, validities, row))
        lower_row(answers, defined, row, query(state, ring))
        if leaps[row] > 0:
            state = evict_many(state, ring, leaps[row])
    return state, 0


def random_leaps() -> list[int]:
    """How many events leave after each row: mostly none, else a few, or any number up to all."""
    chance = np.random.default_rng(5)
    leaps, size = [], 0
    for row in range(len(NUMBERS)):
        size += 1
        most = 0 if row % 7 else size if row % 2 else min(size, 3)
        leaps.append(int(chance.integers(0, most + 1)))
        size -= leaps[-1]
    return leaps


def product_for(algorithm: Algorithm) -> Product:
    """Numbers and rows, or what the algorithm can serve of them."""
    parts = [Part(each.monoid_for((Kind.FLOAT,)), (0,)) for each in (wr.sum, LINES, wr.max)]
    for chosen in (parts[:2], parts[:1], parts[2:]):
        product = Product(chosen)
        if not algorithm.refuses(product.traits, product.is_invertible):
            return product
    raise AssertionError(f"{algorithm.NAME} serves neither sum nor max")


@pytest.mark.compiled
@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_evicting_many_in_a_kernel(name):
    algorithm = ALGORITHMS[name]
    product = product_for(algorithm)
    kernel = Kernel(in_leaps, algorithm.FUNCTIONS, product, checked=False)
    memory = KernelMemory(product)
    ring = algorithm.allocate(memory, 512)
    state = empty_state(algorithm, product, ring)
    answers = tuple(np.zeros(len(NUMBERS)) for _ in product.parts)
    defined = tuple(np.zeros(len(NUMBERS), np.bool_) for _ in product.parts)
    leaps = random_leaps()
    kernel(*memory.workspace(), (NUMBERS,), (), answers, defined, ring, state, np.array(leaps))
    oldest = np.concatenate([[0], np.cumsum(leaps)])
    for part, found in zip(product.parts, answers, strict=True):
        lifted = [part.monoid.lift(number) for number in NUMBERS]
        for row in range(len(NUMBERS)):
            total = reduce(part.monoid.combine, lifted[oldest[row] : row + 1])
            assert found[row] == part.monoid.lower(total), row
