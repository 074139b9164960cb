"""Spark's own window functions, for the plans that `planning/placement.py` leaves to Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyspark.sql import Window as SparkWindow
from pyspark.sql import functions as F

from windrow.planning.features import Feature
from windrow.planning.over_plan import OverPlan
from windrow.planning.placement import ROUGHER_FUNCTIONS, SPARK_FUNCTIONS


def with_window_functions(
    frame: Any, plan: OverPlan, column: Mapping[str, Any], names: Sequence[str]
) -> Any:
    """The DataFrame with the plan's columns added.

    Args:
        frame: the DataFrame.
        plan: the plan.
        column: the columns of the frame, by their names in the plan.
        names: the names of the new columns.
    """
    ordered = SparkWindow.partitionBy(*(column[name] for name in plan.key)).orderBy(
        *(column[name] for name in plan.order)
    )
    answers = []
    for output, name in zip(plan.outputs, names, strict=True):
        window = plan.windows[output.window]
        assert window.rows_back is not None
        frame_of_rows = ordered.rowsBetween(-window.rows_back, window.ahead(1).rows)
        answer = _function(plan.features[output.feature], column).over(frame_of_rows)
        gate = plan.gates.get((output.window, output.feature))
        if gate is not None:
            count = _function(plan.features[gate.feature], column).over(frame_of_rows)
            answer = F.when(count >= gate.least, answer)
        answers.append(answer.alias(name))
    return frame.select("*", *answers)


def _function(feature: Feature, column: Mapping[str, Any]) -> Any:
    name = feature.aggregation.name
    if not feature.columns:
        return F.count(F.lit(1))
    function: Callable[..., Any] = getattr(F, (SPARK_FUNCTIONS | ROUGHER_FUNCTIONS)[name])
    options = {"ignorenulls": True} if name in ("first", "last") else {}
    return function(column[feature.columns[0]], **options)
