"""Looks at a sample of the data, in small jobs that run when a call is made.

What they find decides how rows are arranged, and never what is answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import functions as F

from windrow.spark.progress import described

#: the share of rows that are looked at
SAMPLE = 0.1
#: a session that sets this to false is not looked at
SETTING = "spark.windrow.look"
#: so many rows of a sample in a slice, and combining them before the shuffle pays
_DENSE = 2.0


def may_look(session: Any) -> bool:
    """Whether the session lets data be looked at when a call is made."""
    return bool(session.conf.get(SETTING, "true") == "true")


def largest_share(frame: Any, key: Sequence[Any]) -> tuple[int, int]:
    """How many rows of a sample the largest key has, and how many rows there are."""
    sample = _sample(frame, key)
    counted = sample.groupBy("hash").count().agg(F.max("count"), F.sum("count"))
    with described(frame.sparkSession, "windrow over: keys, counted in a sample"):
        most, rows = counted.first()
    return most or 0, rows or 0


def are_slices_dense(frame: Any, key: Sequence[Any], slices: Any) -> bool:
    """Whether a slice of a key has so many rows that there are far fewer slices than rows."""
    sample = _sample(frame, [*key, slices])
    counted = sample.agg(F.count("hash"), F.approx_count_distinct("hash"))
    with described(frame.sparkSession, "windrow slide: slices, counted in a sample"):
        rows, distinct = counted.first()
    return bool(rows >= _DENSE * max(distinct, 1))


def _sample(frame: Any, columns: Sequence[Any]) -> Any:
    return frame.select(F.xxhash64(*columns).alias("hash")).sample(fraction=SAMPLE, seed=0)
