"""Every compiled aggregation of the catalogue: rounds per second in a window of 4,096.

A round evicts the oldest event, inserts a new one and queries, by the algorithm that is planned.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr
from benchmarks.harness import Comparison
from windrow.aggregations import CATALOGUE
from windrow.algebra.aggregation import Aggregation
from windrow.algebra.arrays import read_only
from windrow.algebra.kinds import Kind
from windrow.algebra.product import Part, Product
from windrow.engine import loops
from windrow.engine.row_windows import CompiledRowWindow, RowBlock, kernel_for
from windrow.experiments.rounds import median_time
from windrow.planning import costs
from windrow.planning.choose import Served, Wish, choose
from windrow.testing import kinds_accepted
from windrow.windows.bounds import Bounds
from windrow.windows.key_runs import NEVER
from windrow.windows.reach import Newest

Array = np.ndarray[Any, Any]

WINDOW = 4096
EVENTS = 2**18
#: million rounds per second that are wanted; of others, one
WANTED = {"bloom_100": 8}
BUDGET = 0.05


def subjects() -> Iterator[tuple[Aggregation, tuple[Kind, ...]]]:
    """Every aggregation that is compiled, with the first kinds of columns that it takes so."""
    for aggregation in CATALOGUE.values():
        for kinds in kinds_accepted(aggregation):
            compiled = all(
                entry.is_number(kind) for kind, entry in zip(kinds, aggregation.inputs, strict=True)
            )
            if compiled and aggregation.monoid_for(kinds).is_numeric:
                yield aggregation, kinds
                break


def columns(aggregation: Aggregation, kinds: tuple[Kind, ...]) -> tuple[Array, ...]:
    """What a kernel reads: floats above zero, small integers, times, truth values, positions."""
    chance = np.random.default_rng(7)
    drawn = {
        Kind.FLOAT: chance.lognormal(size=EVENTS),
        Kind.INTEGER: chance.integers(-9, 10, EVENTS),
        Kind.BOOLEAN: chance.integers(0, 2, EVENTS),
        Kind.TEMPORAL: np.arange(EVENTS) * 10_000,
    }
    before = aggregation.monoid_for(kinds).blockwise
    found = []
    for kind, entry in zip(kinds, aggregation.inputs, strict=True):
        values = np.arange(EVENTS) if entry.carried else drawn[kind]
        found.append(values if entry.digest is None else entry.digest(pa.array(values)))
    if before is not None:
        found[0] = before.before(found[0])
    return tuple(map(read_only, found))


def slide(aggregation: Aggregation, kinds: tuple[Kind, ...]) -> float:
    """Seconds for all events."""
    monoid = aggregation.monoid_for(kinds)
    product = Product([Part(monoid.for_blocks, tuple(range(len(kinds))))])
    served = Served.compiled(aggregation.name, [aggregation.name], product, costs.SLIDING)
    algorithm = choose(served, Wish(), WINDOW).algorithm
    kernel = kernel_for(loops.over_rows, algorithm, product, checked=False)
    answers, defined = [monoid.room(EVENTS)], [np.empty(EVENTS, np.bool_)]
    block = RowBlock(
        columns(aggregation, kinds), (), Bounds(np.array([0, NEVER]), Newest(WINDOW)), 0, 0, EVENTS
    )

    def once() -> None:
        one_pass = CompiledRowWindow(wr.rows(WINDOW), loops.over_rows, kernel, product, algorithm)
        one_pass.advance(block, answers, defined)

    return median_time(partial(once), BUDGET)


def run() -> list[Comparison]:
    """Each aggregation against the time of as many rounds per second as are wanted."""
    return [
        Comparison(
            f"{aggregation.name} of {', '.join(kind.value for kind in kinds)}",
            f"{(wanted := WANTED.get(aggregation.name, 1))} M rounds/s",
            slide(aggregation, kinds),
            EVENTS / (wanted * 1e6),
            bar=1.0,
        )
        for aggregation, kinds in subjects()
    ]
