"""A query as text, so that a shard detects state that another query wrote.

A plan is first arranged: windows by name, aggregations by what they are. Blocks, groups and columns
of state are numbered in that order. So the order in which you name windows and aggregations does
not matter, and neither do the names of results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import pyarrow as pa

from windrow.algebra.aggregation import Measure
from windrow.planning.as_of_plan import AsOfPlan
from windrow.planning.features import Feature
from windrow.planning.gates import renumbered
from windrow.planning.over_plan import OverPlan
from windrow.planning.slide_plan import SlidePlan
from windrow.windows.calls import call_of_measure, call_of_window

_Plan = TypeVar("_Plan", SlidePlan, OverPlan, AsOfPlan)


def arranged(plan: _Plan) -> _Plan:
    """The same plan with its windows and features in the order of their texts."""
    order = sorted(range(len(plan.features)), key=lambda place: _call(plan.features[place]))
    windows = dict(sorted(plan.windows.items()))
    features = tuple(plan.features[place] for place in order)
    gates = renumbered(plan.gates, order)
    if isinstance(plan, SlidePlan):
        slid = tuple((name, order.index(place)) for name, place in plan.outputs)
        return replace(plan, windows=windows, features=features, outputs=slid, gates=gates)
    outputs = tuple(replace(each, feature=order.index(each.feature)) for each in plan.outputs)
    return replace(plan, windows=windows, features=features, outputs=outputs, gates=gates)


def description_of(
    plan: SlidePlan | OverPlan,
    types: Mapping[str, pa.DataType],
    kept: Sequence[str],
    shards: int,
) -> list[str]:
    """Everything that decides the layout and the meaning of a shard's state, line by line.

    Args:
        plan: an arranged plan.
        types: the columns of an event that wait with it, and their types.
        kept: what is kept of final events, line by line.
        shards: among how many shards the keys are spread.
    """

    def with_types(columns: Sequence[str]) -> str:
        return ", ".join(f"{column}: {types[column]}" for column in columns)

    return [
        f"shards={shards}",
        f"key=[{with_types(plan.key)}]",
        f"order=[{with_types(plan.order)}]",
        *(f"window {name}={call_of_window(window)}" for name, window in plan.windows.items()),
        *(f"aggregation {_call(feature)}" for feature in plan.features),
        *dict.fromkeys(kept),
        f"columns=[{with_types(list(types))}]",
    ]


def differences(before: Sequence[str], now: Sequence[str]) -> str:
    """The lines that two descriptions do not share, for an error message."""
    gone = [f"was {line}" for line in before if line not in now]
    new = [f"is now {line}" for line in now if line not in before]
    lines = [*gone, *new]
    if any(" aggregation " in line for line in lines):
        # Partials differ because aggregations do: say it once.
        lines = [line for line in lines if " partials=" not in line]
    return "; ".join(lines)


def _call(feature: Feature) -> str:
    return call_of_measure(Measure(feature.aggregation, feature.columns, "", feature.condition))
