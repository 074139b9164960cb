"""Gates: an answer is null until its window holds enough, as `min_rows=` says.

What is counted is one more aggregation over the same window, which results do not show. Outputs
that wait for the same count share it. Where columns of answers are made, the answers of windows
that hold too little are masked, in one place (`engine/feature_columns.py`). So no loop, no task and
no stream knows of gates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from windrow.aggregations import CATALOGUE
from windrow.algebra.aggregation import Aggregation, Input, Measure
from windrow.algebra.kinds import Kind
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
    watched = tuple(
        column
        for place, column in enumerate(measure.columns)
        if place in measure.aggregation.watched
    )
    compiled = all(Kind.of(schema.field(column).type).is_compiled for column in watched)
    # The catalogue's count where it does: others may have asked for it, and Spark knows it.
    aggregation = CATALOGUE["count"]
    if len(watched) > 1 or not compiled:
        aggregation = _count_of(len(watched))
    return Measure(aggregation, watched, "", measure.condition)


@cache
def _count_of(columns: int) -> Aggregation:
    """The number of rows in which none of some columns is null, whatever they hold."""
    inputs = tuple(Input(f"value_{place}", digest=_whatever) for place in range(columns))
    return replace(CATALOGUE["count"], inputs=inputs)


def _whatever(column: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Numbers in the place of values: only their nulls matter."""
    return np.zeros(len(column), np.int64)
