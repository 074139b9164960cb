"""Collected values: all of them, the different ones, the most frequent.

A parameter limits their number. It limits the partials too: a value that the answer for a part of
the window leaves out, the answer for the whole window leaves out as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from windrow.aggregations.parameters import at_least_one
from windrow.algebra.aggregation import ANYTHING, Aggregation, Input
from windrow.algebra.counting import add, itself
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid, OutputType, Traits, like_input, list_like_input
from windrow.algebra.value_counts import Mode, Question
from windrow.errors import AggregateOverflow

#: values that can be told apart by hashing
HASHABLE = ANYTHING - {Kind.NESTED}


def alone(value: Any) -> Any:
    """A tuple of one value."""
    return (value,)


def _plain(
    name: str,
    inputs: tuple[Input, ...],
    identity: Any,
    lift: Callable[[Any], Any],
    combine: Callable[[Any, Any], Any],
    lower: Callable[[Any], Any],
    output: OutputType,
    summary: str,
    variant: Callable[..., Aggregation] | None = None,
    asks: Question | None = None,
) -> Aggregation:
    """An aggregation in plain Python, the same for all kinds of values."""
    monoid = Monoid(identity, lift, combine, lower, output, Traits(exact=True), asks=asks)
    return Aggregation(name, inputs, lambda _kinds: monoid, same, summary, variant=variant)


# All values -------------------------------------------------------------------------------------


def _newest(limit: int) -> Callable[[Any, Any], Any]:
    """Join two sequences and keep the newest end."""

    def combine(older: Any, newer: Any) -> Any:
        return (older + newer)[-limit:] if len(newer) < limit else newer[-limit:]

    return combine


VALUE = (Input("value"),)


def _collect(limit: int | None = None) -> Aggregation:
    if limit is None:
        return collect
    combine = _newest(at_least_one("limit", limit))
    name, summary = f"collect_{limit}", f"the list of the newest {limit} values, oldest first"
    return _plain(name, VALUE, (), alone, combine, list, list_like_input(0), summary)


collect = _plain(
    "collect", VALUE, (), alone, add, list, list_like_input(0),
    "the list of values, oldest first; of the newest `limit` if that is given",
    variant=_collect,
)  # fmt: skip


def _text_output(types: tuple[pa.DataType, ...]) -> pa.DataType:
    # Joined texts may be longer than the column's fixed length.
    return pa.binary() if pa.types.is_fixed_size_binary(types[0]) else types[0]


TEXT = (Input("value", frozenset({Kind.TEXT, Kind.ANY})),)


def _concat(limit: int | None = None) -> Aggregation:
    if limit is None:
        return concat
    newest, most = _newest(at_least_one("limit", limit)), limit

    def lift(text: Any) -> Any:
        return text[-most:]

    name, summary = f"concat_{limit}", f"the newest {limit} characters of the strings joined"
    return _plain(name, TEXT, "", lift, newest, itself, _text_output, summary)


concat = _plain(
    "concat", TEXT, "", itself, add, itself, _text_output,
    "the strings joined, oldest first; the newest `limit` characters if that is given",
    variant=_concat,
)  # fmt: skip


# Different values -------------------------------------------------------------------------------
# Dicts keep their keys in order of arrival.

HASHED = (Input("value", HASHABLE),)


def told_apart(value: Any) -> Any:
    """A value as a key: any NaN is the same, and so are zeros of either sign."""
    return math.nan if value != value else value


def lift_key(value: Any) -> Any:
    """One different value."""
    return {told_apart(value): None}


def join_keys(older: Any, newer: Any) -> Any:
    """The different values of both."""
    return older | newer


def _collect_distinct(limit: int | None = None) -> Aggregation:
    if limit is None:
        return collect_distinct
    at_least_one("limit", limit)

    def first_keys(older: Any, newer: Any) -> Any:
        if len(older) == limit:
            return older
        return dict.fromkeys(list(older | newer)[:limit])

    name = f"collect_distinct_{limit}"
    summary = f"the list of the first {limit} different values"
    return _plain(name, HASHED, {}, lift_key, first_keys, list, list_like_input(0), summary)


collect_distinct = _plain(
    "collect_distinct", HASHED, {}, lift_key, join_keys, list, list_like_input(0),
    "the list of different values in the order of their first arrival; the first `limit` of them "
    "if that is given",
    variant=_collect_distinct,
)  # fmt: skip


def lift_times(value: Any) -> Any:
    """One value, seen once."""
    return {told_apart(value): 1}


def add_times(older: Any, newer: Any) -> Any:
    """How often each value of both was seen."""
    times = dict(older)
    for value, count in newer.items():
        times[value] = times.get(value, 0) + count
    return times


def most_frequent(times: Any) -> Any:
    """The value that was seen most often; `max` answers the first of equals."""
    return max(times, key=times.__getitem__)


#: the partial of more different values than the limit allows
TOO_MANY = "too many"


def _mode(limit: int | None = None) -> Aggregation:
    if limit is None:
        return mode
    most = at_least_one("limit", limit)

    def add_few_times(older: Any, newer: Any) -> Any:
        if older == TOO_MANY or newer == TOO_MANY:
            return TOO_MANY
        times = add_times(older, newer)
        return times if len(times) <= most else TOO_MANY

    def most_frequent_of_few(times: Any) -> Any:
        if times == TOO_MANY:
            raise AggregateOverflow(
                f"mode: a window holds more than limit={limit} different values"
            )
        return most_frequent(times)

    name, summary = f"mode_{limit}", f"the most frequent of at most {limit} different values"
    return _plain(
        name, HASHED, {}, lift_times, add_few_times, most_frequent_of_few, like_input(0), summary,
        asks=Mode(limit),
    )  # fmt: skip


mode = _plain(
    "mode", HASHED, {}, lift_times, add_times, most_frequent, like_input(0),
    "the most frequent value, of equals the one that was seen first; with `limit`, more different "
    "values than that raise",
    variant=_mode,
    asks=Mode(),
)  # fmt: skip

EXAMPLES = (collect(limit=3), collect_distinct(limit=3), concat(limit=4), mode(limit=100))
