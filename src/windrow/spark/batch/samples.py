"""Looks at some of the data, in small jobs that run when a call is made.

What they find decides how rows are arranged, and never what is answered. So a look costs no more
than a sample of what is read from files or memory; where it would cost more, there is none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession as ClassicSession
from pyspark.sql import functions as F

from windrow.spark.bridge.progress import described

#: the share of rows in which keys are counted
SAMPLE = 0.1
#: so many bytes are no work for several tasks: what Spark reads in one by default
SMALL = 2**27
#: a session that sets this to false is not looked at
SETTING = "spark.windrow.look"
#: in so many rows slices are counted
_HEAD = 2**14
#: the share of rows by which it is told how many a key has; of more than little data, so many less
_THIN = 0.01
#: what rows pass on their way from where they lie; behind anything else a look would take as long
#: as the work
_PASSED = {"DataSourceV2ScanRelation", "LocalRelation", "Range", "Project", "Filter", "Union"}
#: so many rows in a slice, and combining them before the shuffle pays
_DENSE = 4.0


def may_look(session: Any) -> bool:
    """Whether the session lets data be looked at when a call is made."""
    return bool(session.conf.get(SETTING, "true") == "true")


def is_small(frame: Any) -> bool:
    """Whether Spark takes the data for little; a client of Connect cannot ask."""
    return isinstance(frame.sparkSession, ClassicSession) and _bytes(frame) < SMALL


def is_read(frame: Any) -> bool:
    """Whether rows are read as they lie somewhere; a client of Connect cannot ask."""
    if not isinstance(frame.sparkSession, ClassicSession):
        return False
    nodes = [_plan(frame)]
    for node in nodes:
        children = node.children()
        nodes += [children.apply(place) for place in range(children.size())]
    return all(_is_passed(node) and node.subqueries().isEmpty() for node in nodes)


def _is_passed(node: Any) -> bool:
    name = node.nodeName()
    if name == "LogicalRelation":
        # Not from a database, which would send all rows for a sample of them.
        return bool(node.relation().getClass().getSimpleName() == "HadoopFsRelation")
    if name == "InMemoryRelation":
        # What is to be kept, and is not yet, is made for whoever asks first.
        return bool(node.cacheBuilder().isCachedColumnBuffersLoaded())
    return name in _PASSED


def rows_of_a_key(frame: Any, key: Sequence[Any]) -> float:
    """How many rows the key of a row has, on average over rows, if it `is_read`.

    Of a sample: of the other rows of a key as large a share is in it as of all rows. The first rows
    would not do: in the order of time, they are few of each key.
    """
    fraction = _THIN * min(SMALL / _bytes(frame), 1)
    sample = _hashed(frame, key).sample(fraction=fraction, seed=0)
    with described(frame.sparkSession, "windrow over: rows of a key, counted in a sample"):
        hashes = sample.toArrow()["hash"]
    if not len(hashes):
        return math.inf
    counts = hashes.value_counts().field("counts").to_numpy()
    return float(1 + counts @ (counts - 1) / (fraction * len(hashes)))


def largest_share(frame: Any, key: Sequence[Any]) -> tuple[int, int]:
    """How many rows of a sample the largest key has, and how many rows there are."""
    sample = _hashed(frame, key).sample(fraction=SAMPLE, seed=0)
    counted = sample.groupBy("hash").count().agg(F.max("count"), F.sum("count"))
    with described(frame.sparkSession, "windrow over: keys, counted in a sample"):
        most, rows = counted.first()
    return most or 0, rows or 0


def are_slices_dense(frame: Any, key: Sequence[Any], slices: Any) -> bool:
    """Whether a slice of a key has so many rows that there are far fewer slices than rows.

    In the first rows that Spark finds. Where rows lie in the order of time, they tell all of a
    slice; where not, slices look emptier than they are.
    """
    # Spark collects a few rows from as few partitions as hold them; as a table of Arrow, from all.
    first = _hashed(frame, [*key, slices]).limit(_HEAD)
    with described(frame.sparkSession, "windrow slide: slices, counted in the first rows"):
        hashes = [row.hash for row in first.collect()]
    return len(hashes) >= _DENSE * max(len(set(hashes)), 1)


def _hashed(frame: Any, columns: Sequence[Any]) -> Any:
    return frame.select(F.xxhash64(*columns).alias("hash"))


def _plan(frame: Any) -> Any:
    return frame._jdf.queryExecution().optimizedPlan()


def _bytes(frame: Any) -> int:
    """How large Spark takes the data to be; very large, if it does not know."""
    return max(int(_plan(frame).stats().sizeInBytes()), 1)
