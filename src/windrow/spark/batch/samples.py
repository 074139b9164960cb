"""Samples of the data, taken by small jobs when a call is made.

What they find decides how rows are arranged, and never what is answered. A `Source` says whether a
sample may be taken at all (see `bridge/scans.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pyspark.sql import functions as F

from windrow.spark.bridge import scans
from windrow.spark.bridge.progress import job_description
from windrow.work import sizes

#: sampling fraction for estimating rows per key; less for data that is not small
_THIN = 0.01
#: in how many of the first rows slices are counted
_HEAD = 2**14


def rows_of_a_key(frame: Any, key: Sequence[Any]) -> float:
    """How many rows the key of a row has, on average over rows.

    A random sample keeps the same fraction of each key. The first rows would not do: in files
    written in the order of time, they are only a few of each key.
    """
    fraction = _THIN * min(sizes.current().small_data / scans.estimated_bytes(frame), 1)
    sample = _hashed(frame, key).sample(fraction=fraction, seed=0)
    with job_description(frame.sparkSession, "windrow over: rows of a key, counted in a sample"):
        hashes = sample.toArrow()["hash"]
    if not len(hashes):
        return math.inf
    counts = hashes.value_counts().field("counts").to_numpy()
    return float(1 + counts @ (counts - 1) / (fraction * len(hashes)))


def largest_key(frame: Any, key: Sequence[Any]) -> tuple[int, int]:
    """How many rows of a sample the largest key has, and how many rows the sample has."""
    sample = _hashed(frame, key).sample(fraction=sizes.current().key_sample, seed=0)
    counted = sample.groupBy("hash").count().agg(F.max("count"), F.sum("count"))
    with job_description(frame.sparkSession, "windrow over: keys, counted in a sample"):
        most, rows = counted.first()
    return most or 0, rows or 0


def are_slices_dense(frame: Any, key: Sequence[Any], slices: Any) -> bool:
    """Whether slices have so many rows that there are far fewer slices than rows.

    This counts in the first rows that Spark finds. If rows lie in the order of time, these hold
    whole slices; if not, slices look emptier than they are.
    """
    # `collect` of a few rows reads as few partitions as hold them; `toArrow` would read all. The
    # JVM counts them: so many rows on the way to Python would take longer than the job.
    first = _hashed(frame, [*key, slices]).limit(_HEAD)
    session = frame.sparkSession
    with job_description(session, "windrow slide: slices, counted in the first rows"):
        rows = first._jdf.collectAsList()
    different = session._jvm.java.util.HashSet(rows).size()
    return bool(rows.size() >= sizes.current().dense_slice * max(different, 1))


def _hashed(frame: Any, columns: Sequence[Any]) -> Any:
    return frame.select(F.xxhash64(*columns).alias("hash"))
