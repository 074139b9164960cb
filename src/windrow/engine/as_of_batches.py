"""`as_of` on batches of events and queries in one, sorted by key and order: a task on Spark.

At the same moment events come before queries. So all events that a query sees come before it,
unless its windows end later than its moment; then it waits for them.

    rows       e  e  Q  e | Q  e  e  Q         e: an event, Q: a query; a bar between two batches
    held                 [e  e]                the events of the last key that queries to come see

Events that queries to come may see go in front of the next batch, as they are (`held_rows.py` says
what that costs). So memory is the windows of one key and a batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra.arrays import validity
from windrow.engine import columns as arrow
from windrow.engine.as_of_block import AsOfBlock, AsOfKernels
from windrow.engine.held_rows import HeldRows, gathered
from windrow.engine.over_batches import RunsAcrossBatches
from windrow.planning.as_of_plan import AsOfPlan
from windrow.windows.edges import KEY_BEGIN, Edge, Edges
from windrow.windows.key_runs import NEVER, differ
from windrow.windows.moments import Moments
from windrow.windows.reach import UNLIMITED
from windrow.windows.ticks import is_time, times

Array = np.ndarray[Any, Any]


def as_of_batches(
    batches: Iterable[pa.RecordBatch], plan: AsOfPlan, nullable: AbstractSet[str]
) -> Iterator[pa.RecordBatch]:
    """Answer the queries of sorted batches, in their order.

    A plan that cannot be run is refused at once; batches are read as you read the answers.

    Args:
        batches: the columns of the key, the first order column, a column that is true for queries,
            and those of `inputs_of`, in this order. Rows are sorted by the first of these. Keys and
            orders have the types in which the plan compares them. No event lacks its order.
        plan: what to answer.
        nullable: the columns of events that may hold nulls.

    Returns:
        Batches of `plan.output_fields`, a row for each query: one batch for each block of rows that
        is worked on, also if it answers no query.
    """
    return _RollingMoments(AsOfKernels(plan, nullable)).answers(batches)


def inputs_of(plan: AsOfPlan) -> list[str]:
    """The columns of events that are read beside key and order."""
    return list(dict.fromkeys(name for feature in plan.features for name in feature.reads))


@dataclass(frozen=True)
class _Queries:
    """Moments of queries in ticks, and which of them are not null."""

    times: Array
    timed: Array

    @property
    def count(self) -> int:
        return len(self.times)

    def then(self, later: _Queries) -> _Queries:
        times, timed = np.append(self.times, later.times), np.append(self.timed, later.timed)
        return _Queries(times, timed)

    def part(self, begin: int, stop: int) -> _Queries:
        return _Queries(self.times[begin:stop], self.timed[begin:stop])


@dataclass(frozen=True)
class _Runs:
    """The runs of keys in a batch; that of the key before comes first, also without more rows.

    Attributes:
        begins, ends: of each run, its first event among those held and new, and where it ends.
        queries: of each run, its first query among those that wait and are new.
    """

    begins: Array
    ends: Array
    queries: Array

    def moments(self, queries: _Queries, events: Array) -> Moments:
        """The first queries among the events of their keys."""
        runs = np.append(np.minimum(self.queries, queries.count), NEVER)
        timed = None if queries.timed.all() else queries.timed
        return Moments(queries.times, runs, self.begins, self.ends, events, timed)

    def last(self, time: int, events: Array) -> Moments:
        """A moment of the last key."""
        begin, end = self.begins[-1:], self.ends[-1:]
        return Moments(np.array([time]), np.array([0, NEVER]), begin, end, events)


class _RollingMoments:
    """The events and queries of the last key between one batch and the next."""

    def __init__(self, kernels: AsOfKernels) -> None:
        self._kernels, self._plan = kernels, kernels.plan
        self._keys, self._clock = RunsAcrossBatches(), _Clock(self._plan.order_type)
        self._events, self._times = HeldRows(kernels.input_columns), np.empty(0, np.int64)
        self._waiting = _Queries(np.empty(0, np.int64), np.empty(0, np.bool_))

    def answers(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The answers to the queries of all batches, in their order."""
        last = None
        filled = (batch for batch in batches if batch.num_rows)
        for block in gathered(filled, lambda: len(self._times)):
            if block is not None:
                last = block
                yield self._advance(block, ends=False)
        if last is not None and self._waiting.count:
            yield self._advance(last.slice(0, 0), ends=True)

    def _advance(self, batch: pa.RecordBatch, ends: bool) -> pa.RecordBatch:
        """Take the rows of a batch, and answer the queries whose windows are complete."""
        kernels, plan, size = self._kernels, self._plan, batch.num_rows
        *keys, order, asked = (arrow.whole(each) for each in batch.columns[: len(plan.key) + 2])
        asks = asked.to_numpy(zero_copy_only=False)
        starts = self._keys.starts(keys, size) if size else np.array([NEVER])
        now, timed = self._clock.times(order, starts), validity(order)
        columns = self._events.before(self._inputs(batch, ~asks), size - int(asks.sum()))
        runs = self._runs(starts, asks)
        self._times = np.append(self._times, now[~asks])
        queries = self._waiting.then(_Queries(now[asks], timed[asks]))
        newest = int(now[-1]) if size else 0
        stop = queries.count if ends else self._complete(queries, runs, newest)
        block = AsOfBlock(kernels, columns, runs.moments(queries.part(0, stop), self._times))
        self._waiting = queries.part(stop, queries.count)
        self._hold(runs, newest)
        return pa.RecordBatch.from_arrays(block.answers(), schema=pa.schema(plan.output_fields))

    def _inputs(self, batch: pa.RecordBatch, told: Array) -> dict[str, pa.Array]:
        """The columns that kernels read, of the events of a batch."""
        first, names = len(self._plan.key) + 2, inputs_of(self._plan)
        places = {name: first + names.index(name) for name in self._kernels.input_columns}
        return {
            name: arrow.whole(batch.column(place).filter(pa.array(told)))
            for name, place in places.items()
        }

    def _runs(self, starts: Array, asks: Array) -> _Runs:
        rows = np.append(0, starts[:-1])
        told, asked = (np.append(0, np.cumsum(each)) for each in (~asks, asks))
        begins, first = len(self._times) + told[rows], self._waiting.count + asked[rows]
        begins[0] = first[0] = 0
        return _Runs(begins, np.append(begins[1:], len(self._times) + told[-1]), first)

    def _complete(self, queries: _Queries, runs: _Runs, newest: int) -> int:
        """How many queries have windows that no event to come is in; only the last key's wait."""
        first = int(runs.queries[-1])
        moments = runs.moments(queries, self._times)
        waits = np.zeros(queries.count - first, np.bool_)
        for name in self._plan.windows:
            _begin, end = self._plan.edges_of(name)
            if end.is_at_end:
                waits[:] = True
            elif end.ticks > 0:
                waits |= end.limits(queries.times[first:]) >= newest
            elif end.rows > 0:
                _firsts, places = moments.spans((KEY_BEGIN, replace(end, rows=0)))
                waits |= places[first:] > len(self._times) - end.rows
        waits &= queries.timed[first:]
        return first + int(np.argmax(np.append(waits, True)))

    def _hold(self, runs: _Runs, newest: int) -> None:
        """Keep the events of the last key that queries to come, or those that wait, may see."""
        time = int(self._waiting.times[0]) if self._waiting.count else newest
        moment = runs.last(time, self._times)
        front = min(int(moment.spans(edges)[0][0]) for edges in self._furthest)
        self._events.keep_from(front - self._events.count)
        self._times = self._times[front:].copy()

    @cached_property
    def _furthest(self) -> list[Edges]:
        """The edges of all windows, which begin as early as they ever do for a moment or later."""
        tick = self._plan.tick
        found = []
        for name, window in self._plan.windows.items():
            begin, end = self._plan.edges_of(name)
            if begin.since is not None:
                begin = Edge(ticks=-(window.most_ticks_back(tick) or UNLIMITED))
            found.append((begin, end))
        return found


class _Clock:
    """Order values in ticks, or in numbers that grow as they do along the rows of a key."""

    def __init__(self, order_type: pa.DataType) -> None:
        self._measures = is_time(order_type)
        self._last: pa.Array | None = None
        self._steps = 0

    def times(self, order: pa.Array, starts: Array) -> Array:
        """Of the next rows; `starts` are those at which a new key begins."""
        if self._measures:
            return times(order)
        if not len(order):
            return np.empty(0, np.int64)
        before = order if self._last is None else pa.concat_arrays([self._last, order])
        changed = differ(before.slice(1), before.slice(0, len(before) - 1))
        steps = changed if self._last is not None else np.append(True, changed)
        steps[starts[:-1]] = True
        found = self._steps + np.cumsum(steps)
        self._last, self._steps = order.slice(len(order) - 1), int(found[-1])
        return found
