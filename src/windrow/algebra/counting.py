"""The count of values: an aggregation, and how a product tells that a window holds none."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from windrow.algebra.monoid import Defined, Monoid, Traits, always, integers


def one(*_inputs: Any) -> int:
    """Every event counts one."""
    return 1


def add(older: Any, newer: Any) -> Any:
    """The sum of two counts."""
    return older + newer


def subtract(total: Any, oldest: Any) -> Any:
    """A count without its oldest part."""
    return total - oldest


def itself(partial: Any) -> Any:
    """A count is its own answer."""
    return partial


def even_of_nothing(_partial: Any) -> bool:
    """A count has an answer for an empty window: zero."""
    return True


COUNT = Monoid(
    identity=0,
    lift=one,
    combine=add,
    lower=itself,
    inverse=subtract,
    defined=Defined(even_of_nothing),
    traits=Traits(commutative=True, exact=True),
    fields=integers("count"),
    lowered="int64",
    output=always(pa.int64()),
)
