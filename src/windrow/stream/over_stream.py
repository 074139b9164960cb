"""`over` over a stream: in which way the windows of a plan are kept.

Answers of windows that hold all events so far, of aggregations whose partials are numbers, come
from totals (`totals/`). Windows that end behind their row keep rows, and events wait there until
they are answered (`rows/over_ahead.py`). All other windows are kept in one way, the first that fits
(README.md compares the ways):

1. windows of time, of aggregations whose partials are numbers: partials of slices (`slices/`)
2. windows of rows, of such aggregations: counted rows (`counts/`)
3. anything else: rows (`rows/`)

Where state stays in one process and no checkpoint keeps it, live windows (`live/`) come first, for
windows of rows and of time that end at their row.

An event goes through these groups, one behind the other: the answers of a group are columns of the
events of the next.

      final events -> totals -> slices, counts or rows -> rows of windows that end behind -> answers
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import pyarrow as pa

from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.maps import Maps, has_partials_of_numbers
from windrow.planning.gates import renumbered
from windrow.planning.over_plan import Output, OverPlan, column_types
from windrow.stream.counts.over_counts import OverCounts, counts_rows
from windrow.stream.description import arranged
from windrow.stream.group import WindowGroup
from windrow.stream.header import GroupState
from windrow.stream.live.over_live import OverLive, is_live
from windrow.stream.query import StreamQuery
from windrow.stream.rows.over_ahead import OverAhead, ends_behind
from windrow.stream.rows.over_rows import OverRows
from windrow.stream.slices.over_slices import OverSlices
from windrow.stream.state import ShardBlocks
from windrow.stream.streamed import require_streamed
from windrow.stream.totals.over_totals import OverTotals


class StreamOver(StreamQuery):
    """The windows of a plan over a stream."""

    def __init__(
        self, plan: OverPlan, nullable: AbstractSet[str], shards: int, live: bool = False
    ) -> None:
        """Choose the ways.

        Args:
            plan: what is asked.
            nullable: the columns that may hold nulls.
            shards: among how many shards the keys are spread.
            live: whether state stays in this process, and never becomes bytes.
        """
        plan = arranged(plan)
        types = column_types(plan.schema, plan.schema.names)
        require_streamed(plan, types)
        groups: list[WindowGroup] = []
        #: the columns that each group adds to events
        self._added: list[list[pa.Field]] = []
        there = dict(types)
        for make, outputs in _by_group(plan).items():
            part = _part(plan, outputs)
            if live and make is _group and is_live(part, types[plan.order[0]]):
                make = OverLive
            groups.append(make(len(groups), part, there, nullable))
            self._added.append(part.output_fields)
            there |= {each.name: each.type for each in part.output_fields}
        self._result = [*types, *(each.name for each in plan.output_fields)]
        super().__init__(plan, types, groups, shards)

    def _answered(
        self,
        blocks: ShardBlocks,
        states: Sequence[GroupState],
        taken: Sequence[pa.RecordBatch],
        now: Sequence[int],
    ) -> list[pa.Table]:
        """Hand the events from group to group, each of which adds its answers."""
        events, schema = taken[0], taken[0].schema
        tables: list[pa.Table] = []
        for place, (group, state, frontier) in enumerate(
            zip(self._groups, states, now, strict=True)
        ):
            if frontier <= state.frontier:
                return []
            if place:
                events = _as_batch([table.select(schema.names) for table in tables], schema)
            tables = group.move(state, blocks, events, frontier)
            schema = pa.schema([*schema, *self._added[place]])
        return [table.select(self._result) for table in tables]


def _as_batch(tables: Sequence[pa.Table], schema: pa.Schema) -> pa.RecordBatch:
    batches = pa.concat_tables([schema.empty_table(), *tables]).combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema)


_Group = Callable[[int, OverPlan, Mapping[str, pa.DataType], AbstractSet[str]], WindowGroup]


def _by_group(plan: OverPlan) -> dict[_Group, list[Output]]:
    """The outputs of a plan by what makes their group, in the order in which events go through."""
    order_type = plan.schema.field(plan.order[0]).type
    found: dict[_Group, list[Output]] = {OverTotals: [], _group: [], OverAhead: []}
    for output in plan.outputs:
        if _has_total(plan, output):
            found[OverTotals].append(output)
        elif ends_behind(plan.windows[output.window], order_type):
            found[OverAhead].append(output)
        else:
            found[_group].append(output)
    return {make: outputs for make, outputs in found.items() if outputs}


def _has_total(plan: OverPlan, output: Output) -> bool:
    """Whether the total of a key gives an answer."""
    holds_all = plan.windows[output.window].holds_all
    return holds_all and has_partials_of_numbers([plan.features[output.feature]])


def _part(plan: OverPlan, outputs: Sequence[Output]) -> OverPlan:
    """The plan of some outputs."""
    asked = {(each.window, each.feature) for each in outputs}
    gates = {masked: gate for masked, gate in plan.gates.items() if masked in asked}
    counted = {gate.feature for gate in gates.values()}
    places = sorted(counted | {each.feature for each in outputs})
    return replace(
        plan,
        windows={
            name: window
            for name, window in plan.windows.items()
            if any(each.window == name for each in outputs)
        },
        features=tuple(plan.features[place] for place in places),
        outputs=tuple(replace(each, feature=places.index(each.feature)) for each in outputs),
        gates=renumbered(gates, places),
    )


def _group(
    number: int, plan: OverPlan, types: Mapping[str, pa.DataType], nullable: AbstractSet[str]
) -> WindowGroup:
    """What keeps windows that end at their row or before, and hold not all events so far."""
    if _has_partials(plan):
        features = FeatureColumns(plan.features, nullable, as_given=True)
        maps = Maps(plan.key, types, features)
        return OverSlices(number, plan, types[plan.order[0]], features, maps)
    return (OverCounts if counts_rows(plan) else OverRows)(number, plan, types, nullable)


def _has_partials(plan: OverPlan) -> bool:
    """Whether partials of slices of time can answer all windows."""
    in_time = [window.ticks_back(1) is not None for window in plan.windows.values()]
    return all(in_time) and has_partials_of_numbers(plan.features)
