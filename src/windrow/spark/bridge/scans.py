"""Whether a DataFrame is a plain scan of stored rows, how large it is, and whether to sample it.

Samples are taken when a call is made, before its job runs (see `batch/samples.py`). They have to
cost less than the work that they save. So only rows that lie in files or in memory are sampled, and
none where Spark would have to compute them first. A client of Connect does not see Spark's plan, so
it takes no samples.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession as ClassicSession

from windrow.work import sizes

#: a session that sets this to false takes no samples
SETTING = "spark.windrow.look"
#: what may stand between stored rows and the call: behind anything else a sample would take as long
#: as the work
_PASSED = {"DataSourceV2ScanRelation", "LocalRelation", "Range", "Project", "Filter", "Union"}

#: rows in files, whose size Spark takes for that of the rows
_PACKED = {"LogicalRelation", "DataSourceV2ScanRelation"}
#: how many times larger they may be in memory
_UNPACKED = 16


def allows_samples(session: Any) -> bool:
    """Whether the session lets calls take samples."""
    return bool(session.conf.get(SETTING, "true") == "true")


def is_small(frame: Any) -> bool:
    """Whether Spark estimates the data to be small."""
    small = sizes.current().small_data
    return isinstance(frame.sparkSession, ClassicSession) and estimated_bytes(frame) < small


def fits_a_task(frame: Any, growth: float = 1) -> bool:
    """Whether one task surely has the memory for all rows: they are stored, and few.

    Args:
        frame: the rows.
        growth: how many times their bytes the task holds.
    """
    if not is_scan(frame):
        return False
    packed = any(node.nodeName() in _PACKED for node in _nodes(frame))
    held = estimated_bytes(frame) * growth * (_UNPACKED if packed else 1)
    return held < sizes.current().small_data


def is_scan(frame: Any) -> bool:
    """Whether the rows come as they are stored, with no work but filters and projections."""
    if not isinstance(frame.sparkSession, ClassicSession):
        return False
    return all(_is_passed(node) and node.subqueries().isEmpty() for node in _nodes(frame))


def _nodes(frame: Any) -> list[Any]:
    """The nodes of the optimized plan."""
    nodes = [_plan(frame)]
    for node in nodes:
        children = node.children()
        nodes += [children.apply(place) for place in range(children.size())]
    return nodes


def _is_passed(node: Any) -> bool:
    name = node.nodeName()
    if name == "LogicalRelation":
        # Not a database: it would send all rows for a sample of them.
        return bool(node.relation().getClass().getSimpleName() == "HadoopFsRelation")
    if name == "InMemoryRelation":
        # Not an empty cache: the first to read it has to fill it.
        return bool(node.cacheBuilder().isCachedColumnBuffersLoaded())
    return name in _PASSED


def estimated_bytes(frame: Any) -> int:
    """How large Spark estimates the data to be; very large if it does not know."""
    return max(int(_plan(frame).stats().sizeInBytes()), 1)


def _plan(frame: Any) -> Any:
    return frame._jdf.queryExecution().optimizedPlan()
