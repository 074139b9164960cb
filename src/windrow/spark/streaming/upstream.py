"""The operators with state and the watermarks in front of a query.

Spark's watermark is the oldest of all `withWatermark` in a query. One of them behind an operator
that waits for the watermark sees no rows until the watermark moves, and so it never moves. Spark
does not report this. So windrow looks for it before it makes a query, in the text of Spark's plan,
which a client of Connect has too:

      ~EventTimeWatermark ...                 again
      +- ~Aggregate [window#1], ...           stateful
         +- ~EventTimeWatermark ...           watermark
            +- StreamingRelation ...
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pyspark.sql import SparkSession as ClassicSession

from windrow.spark.bridge.source import Source

#: the indent of a node in the tree, whether it streams, and its name
_LINE = re.compile(r"^((?:[: ] {2})*(?:[:+]- )?)(~?)(\w+)")
_WIDTH = 3
_ANALYZED = "== Analyzed Logical Plan =="
_WATERMARK = "EventTimeWatermark"
_STATEFUL = {
    "Aggregate", "Deduplicate", "DeduplicateWithinWatermark", "Distinct",
    "FlatMapGroupsInPandasWithState", "FlatMapGroupsWithState", "TransformWithState",
    "TransformWithStateInPySpark",
}  # fmt: skip


class Upstream(NamedTuple):
    """What is in front of a query.

    Attributes:
        has_watermark: whether there is a watermark. A column's metadata alone does not say so: it
            may come from a file that was written with it.
        has_state: whether an operator with state is behind a watermark.
        has_another: whether another watermark is behind that operator.
    """

    has_watermark: bool
    has_state: bool
    has_another: bool


def upstream_of(source: Source) -> Upstream | None:
    """What is in front of a query; None if Spark may not be asked."""
    if not source.may_ask:
        return None
    nodes = list(_nodes(_plan(source.frame)))
    stateful = [node for node in nodes if node.is_stateful and node.has(_WATERMARK)]
    return Upstream(
        any(node.name == _WATERMARK for node in nodes),
        bool(stateful),
        any(node.name == _WATERMARK and node.holds(stateful) for node in nodes),
    )


@dataclass(eq=False)
class _Node:
    name: str
    streams: bool
    children: list[_Node] = field(default_factory=list)

    @property
    def is_stateful(self) -> bool:
        if self.name == "Join":
            return all(child.streams for child in self.children)
        return self.streams and self.name in _STATEFUL

    def below(self) -> Iterator[_Node]:
        for child in self.children:
            yield child
            yield from child.below()

    def has(self, name: str) -> bool:
        return any(node.name == name for node in self.below())

    def holds(self, nodes: list[_Node]) -> bool:
        return any(node in nodes for node in self.below())


def _nodes(plan: str) -> Iterator[_Node]:
    """The nodes of a plan, from its text."""
    path: list[_Node] = []
    for line in plan.splitlines():
        found = _LINE.match(line)
        if found is None:
            continue
        depth = len(found[1]) // _WIDTH
        node = _Node(found[3], bool(found[2]) or found[3].startswith("Streaming"))
        if depth > len(path) or (depth == 0 and path):
            continue  # not a node: the rest of the line before
        del path[depth:]
        if path:
            path[-1].children.append(node)
        path.append(node)
        yield node


def _plan(frame: Any) -> str:
    """The text of the plan that Spark has analyzed."""
    if isinstance(frame.sparkSession, ClassicSession):
        return str(frame._jdf.queryExecution().analyzed().treeString())
    explained = frame._explain_string(extended=True).partition(_ANALYZED)[2]
    # The first line names the columns.
    return str(explained.partition("\n==")[0].strip().partition("\n")[2])
