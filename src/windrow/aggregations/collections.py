"""Values gathered in order."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from windrow.algebra.aggregation import Aggregation, Input
from windrow.algebra.counting import add, itself
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid, Traits


def alone(value: Any) -> Any:
    """A tuple of one value."""
    return (value,)


COLLECT = Monoid(
    identity=(),
    lift=alone,
    combine=add,
    lower=list,
    traits=Traits(exact=True),
    output=lambda types: pa.list_(types[0]),
)


def _collect_for(_kinds: tuple[Kind, ...]) -> Monoid:
    return COLLECT


collect = Aggregation(
    "collect", (Input("value"),), _collect_for, same, "the list of values, oldest first"
)


def _text_output(types: tuple[pa.DataType, ...]) -> pa.DataType:
    # Texts of one length each, joined, have no one length.
    return pa.binary() if pa.types.is_fixed_size_binary(types[0]) else types[0]


CONCAT = Monoid(
    identity="",
    lift=itself,
    combine=add,
    lower=itself,
    traits=Traits(exact=True),
    output=_text_output,
)


def _concat_for(_kinds: tuple[Kind, ...]) -> Monoid:
    return CONCAT


concat = Aggregation(
    "concat",
    (Input("value", frozenset({Kind.TEXT, Kind.ANY})),),
    _concat_for,
    same,
    "the strings joined, oldest first",
)
