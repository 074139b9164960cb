"""Gates: an answer is null until its window holds enough, as `min_rows=` says.

What is counted is one more aggregation over the same window, which results do not show. Outputs
that wait for the same count share it. Where columns of answers are made, the answers of windows
that hold too little are masked, in one place (`engine/feature_columns.py`). So no loop, no task and
no stream knows of gates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from windrow.aggregations import CATALOGUE
from windrow.algebra.aggregation import Aggregation, Input, Measure
from windrow.algebra.kinds import Kind
from windrow.planning.choose import Wish
from windrow.planning.features import Feature, feature_of
from windrow.windows import Window
from windrow.windows.min_rows import MinRows


class Gate(NamedTuple):
    """An answer is null unless a count has come so far.

    Attributes:
        feature: the place of the count among the features of the plan.
        least: what the count has to be.
    """

    feature: int
    least: int


#: the gates of a plan, by window and place of the feature that they mask
Gates = dict[tuple[str, int], Gate]


def gates_of(
    schema: pa.Schema,
    windows: Mapping[str, Window],
    measures: Iterable[Measure],
    features: list[Feature],
    places: dict[Measure, int],
) -> Gates:
    """What answers wait for; counts that nobody asked for join the features and their places."""
    gates: Gates = {}
    waiting = [(name, each.min_rows) for name, each in windows.items() if each.min_rows is not None]
    for (name, least), measure in product(waiting, measures):
        counted = counted_by(least, measure, schema)
        if counted not in places:
            # An algorithm that the user names is for what the user asks for.
            feature = feature_of(schema, counted, Wish())
            unit = f"values of {features[places[measure]]}" if least.of_values else "rows"
            places[counted] = len(features)
            features.append(replace(feature, called=f"{unit} for min_rows"))
        gates[name, places[measure]] = Gate(places[counted], least.count)
    return gates


def renumbered(gates: Gates, places: Sequence[int]) -> Gates:
    """The gates of a plan that has the features at some places of another, in that order."""
    return {
        (name, places.index(place)): Gate(places.index(gate.feature), gate.least)
        for (name, place), gate in gates.items()
    }


def counted_by(least: MinRows, measure: Measure, schema: pa.Schema) -> Measure:
    """What a gate counts for a measure, without a name.

    Values are the rows in which no column is null that the aggregation watches, and its condition
    is true.
    """
    if not least.of_values:
        return Measure(CATALOGUE["count"], (), "")
    places = [place for place in measure.aggregation.watched if place < len(measure.columns)]
    watched = tuple(measure.columns[place] for place in places)
    # The catalogue's count where it does: others may have asked for it, and Spark knows it. It does
    # not where the aggregation is compiled, and the count of such a column is not.
    aggregation = CATALOGUE["count"]
    inputs = [measure.aggregation.inputs[place] for place in places]
    if len(watched) > 1 or any(
        entry.is_number(kind) and not kind.is_compiled
        for entry, kind in zip(inputs, _kinds(schema, watched), strict=True)
    ):
        aggregation = _count_of(len(watched))
    return Measure(aggregation, watched, "", measure.condition)


def _kinds(schema: pa.Schema, columns: Sequence[str]) -> list[Kind]:
    return [Kind.of(schema.field(column).type) for column in columns]


@cache
def _count_of(columns: int) -> Aggregation:
    """The number of rows in which none of some columns is null, whatever they hold."""
    inputs = tuple(Input(f"value_{place}", digest=_whatever) for place in range(columns))
    return replace(CATALOGUE["count"], inputs=inputs)


def _whatever(column: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Numbers in the place of values: only their nulls matter."""
    return np.zeros(len(column), np.int64)
