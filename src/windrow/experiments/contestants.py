"""windrow's algorithms as contestants: compiled windows, driven by the loops of `drivers.py`."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr
from windrow.algebra.aggregation import Aggregation, Input
from windrow.algebra.kinds import Kind
from windrow.algebra.product import Part, Product
from windrow.algorithms import ALGORITHMS, Algorithm, why_not
from windrow.compiler.kernel import Kernel
from windrow.engine.helper_thread import helper_for
from windrow.engine.kernel_window import KernelWindow
from windrow.experiments import drivers
from windrow.experiments.bloom import bloom
from windrow.experiments.experiment import QUANTILES, SEED, Contestant, Missing, Reading, Round
from windrow.experiments.ticks import nanoseconds_per_tick, with_clock

Array = np.ndarray[Any, Any]
Driver = Callable[..., Any]

#: aggregations by the name that figures show
AGGREGATIONS: dict[str, Aggregation] = {
    "count": wr.count,
    "sum": wr.sum,
    "max": wr.max,
    "mean": wr.mean,
    "geometric mean": wr.geometric_mean,
    "stddev": wr.stddev,
    "min_count": wr.min_count,
    "arg_max": wr.arg_max,
    "relative variation": wr.relative_variation,
    "moment sketch": wr.moment_sketch,
    "bloom": bloom,
}


@dataclass(frozen=True)
class Subject:
    """An algorithm over an aggregation of columns of floats, by their names."""

    algorithm: str
    aggregation: str

    @property
    def structure(self) -> Algorithm:
        """The algorithm."""
        return ALGORITHMS[self.algorithm]

    @property
    def product(self) -> Product:
        """The aggregation as kernels take it."""
        return _product_of(self.aggregation)

    def check(self) -> None:
        """Raise `Missing` if the two do not go together."""
        monoid = self.product.parts[0].monoid
        reason = why_not(self.structure, monoid.traits, monoid.inverse is not None, exact=False)
        if reason is not None:
            raise Missing(f"{self.algorithm} cannot serve {self.aggregation}: {reason}")

    def kernel(self, driver: Driver) -> Kernel:
        """A driver joined with both."""
        return _kernel_of(self.algorithm, self.aggregation, driver)


@functools.cache
def _product_of(name: str) -> Product:
    aggregation = AGGREGATIONS[name]
    inputs = tuple(range(len(aggregation.inputs)))
    return Product([Part(aggregation.monoid_for(tuple(Kind.FLOAT for _ in inputs)), inputs)])


@functools.cache
def _kernel_of(algorithm: str, aggregation: str, driver: Driver) -> Kernel:
    functions = ALGORITHMS[algorithm].FUNCTIONS
    return Kernel(with_clock(driver), functions, _product_of(aggregation), checked=False)


def serving(names: Sequence[str], aggregation: str) -> list[Subject]:
    """Those of some algorithms that go with an aggregation."""
    found = []
    for name in names:
        subject = Subject(name, aggregation)
        try:
            subject.check()
        except Missing:
            continue
        found.append(subject)
    return found


@functools.cache
def numbers(count: int, seed: int = SEED) -> Array:
    """Positive floats, for geometric means."""
    values = np.random.default_rng(seed).lognormal(size=count)
    values.flags.writeable = False
    return values


class Driven:
    """A compiled window with the columns that it slides over, driven again and again."""

    def __init__(self, subject: Subject, values: Array, capacity: int) -> None:
        """Start with an empty window.

        Args:
            subject: what it is a window of.
            values: as many as a power of two if the driver has a mask.
            capacity: how many events it has room for at first.
        """
        subject.check()
        self._subject = subject
        product = subject.product
        helper = helper_for(subject.structure, product, checked=False)
        self._window = KernelWindow(
            subject.structure,
            product,
            capacity=1 << (max(capacity, 2) - 1).bit_length(),
            helper=helper,
        )
        columns = tuple(
            _column(entry, values) for entry in AGGREGATIONS[subject.aggregation].inputs
        )
        answers = (product.parts[0].monoid.room(len(values)),)
        self._data = (columns, (), answers, (np.empty(len(values), np.bool_),))
        # Processor time of this thread: on a shared machine it tells more than the time of day.
        # Where a second thread helps, it would leave out what that one does.
        self._clock = time.thread_time if helper is None else time.perf_counter
        self.mask = len(values) - 1
        self.row = 0

    def drive(self, driver: Driver, *limits: Any, rows: int) -> float:
        """Run so many rows; returns the seconds."""
        kernel = self._subject.kernel(driver)
        stop = self.row + rows
        started = self._clock()
        self._window.drive(kernel, self._data, limits, self.row, stop)
        self.row = stop
        return self._clock() - started

    def drop(self, count: int, times: int) -> float:
        """The seconds that it takes for so many events to leave at once and to answer."""
        kernel = self._subject.kernel(drivers.drop)
        workspace = self._window.memory.workspace()
        started = self._clock()
        kernel(*workspace, self._window.ring, self._window.state, count, times)
        return (self._clock() - started) / times


def _column(entry: Input, values: Array) -> Array:
    """What a kernel reads of an input: values, what stands for them, or the numbers of rows."""
    if entry.carried:
        return np.arange(len(values))
    digested: Array = values if entry.digest is None else entry.digest(pa.array(values))
    return digested


def sliding(subject: Subject, extent: int, events: int) -> Contestant:
    """Million rounds per second of evict, insert, query."""

    def prepare() -> Round:
        driven = Driven(subject, numbers(events), extent)
        driven.drive(drivers.slide, extent, driven.mask, rows=extent)
        return lambda: events / driven.drive(drivers.slide, extent, driven.mask, rows=events) / 1e6

    return prepare


def filling(subject: Subject, extent: int, events: int) -> Contestant:
    """Million events per second through a window that fills and drains."""

    def prepare() -> Round:
        driven = Driven(subject, numbers(events), extent)
        rows = max(extent, events)
        return lambda: (
            rows / driven.drive(drivers.fill_and_drain, extent, driven.mask, rows=rows) / 1e6
        )

    return prepare


def round_latencies(subject: Subject, extent: int, events: int) -> Contestant:
    """Quantiles of the nanoseconds that single rounds take."""

    def prepare() -> Round:
        driven = Driven(subject, numbers(events), extent)
        taken = np.zeros(events, np.int64)
        driven.drive(drivers.time_rounds, extent, driven.mask, taken, rows=extent)

        def measure() -> Reading:
            driven.drive(drivers.time_rounds, extent, driven.mask, taken, rows=events)
            return quantiles(taken, run=2 * extent)

        return measure

    return prepare


def quantiles(ticks: Array, run: int) -> list[float]:
    """The quantiles of latencies in nanoseconds, and the spike.

    Args:
        ticks: of each round.
        run: of how many rounds the slowest is a spike.
    """
    nanoseconds = ticks * nanoseconds_per_tick()
    whole = nanoseconds[: len(nanoseconds) // run * run].reshape(-1, run)
    spike = np.median(whole.max(axis=1)) if len(whole) else nanoseconds.max()
    return [round(float(each), 1) for each in (*np.quantile(nanoseconds, QUANTILES), spike)]
