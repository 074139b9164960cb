"""Runs: neighbouring events that have something in common.

A run may begin in one part of a window and end in the next. So a partial keeps three runs: the
longest, the head with which it begins, and the tail with which it ends. Where two partials meet,
the tail of the older one and the head of the newer one may be one run.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa

from windrow.aggregations.changes import wraps
from windrow.aggregations.extremes import precedes, width_output
from windrow.aggregations.parameters import is_number, is_whole, shown
from windrow.algebra.aggregation import NUMBERS, ORDERABLE, TIMES, Aggregation, Input, parametrized
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Defined, Member, Monoid, Traits, always, integers, struct_of
from windrow.algebra.ordering import rank
from windrow.errors import InvalidArgument

# Longest increasing run (Villalba et al. 2019, §5.6) ---------------------------------------------

#: places of a partial; the head begins and the tail ends where the partial does, so only their
#: other ends are kept
(COUNT, FIRST, LAST, FIRST_TIME, LAST_TIME, HEAD, HEAD_END, TAIL, TAIL_START) = range(9)
BEST, BEST_START, BEST_END = range(9, 12)


def lift_run(value: Any, time: Any) -> Any:
    """One event is a run."""
    return (1, value, value, time, time, 1, time, 1, time, 1, time, time)


def lift_run_of_ranks(value: Any, time: Any) -> Any:
    """One event is a run; floats are compared by rank."""
    return lift_run(rank(value), time)


def rises(older: Any, newer: Any) -> bool:
    """Whether a number lies above the one before."""
    return bool(older < newer)


def join_runs(older: Any, newer: Any) -> Any:
    """The runs of both, for numbers."""
    if older[COUNT] == 0 or newer[COUNT] == 0:
        return newer if older[COUNT] == 0 else older
    return _joined(older, newer, rises(older[LAST], newer[FIRST]))


def join_runs_of_values(older: Any, newer: Any) -> Any:
    """The runs of both, for Python values."""
    if older[COUNT] == 0 or newer[COUNT] == 0:
        return newer if older[COUNT] == 0 else older
    return _joined(older, newer, precedes(older[LAST], newer[FIRST]))


def _joined(older: Any, newer: Any, meets: bool) -> Any:
    head, head_end = older[HEAD], older[HEAD_END]
    tail, tail_start = newer[TAIL], newer[TAIL_START]
    best, best_start, best_end = older[BEST], older[BEST_START], older[BEST_END]
    if meets:
        bridge = older[TAIL] + newer[HEAD]
        if older[HEAD] == older[COUNT]:
            head, head_end = bridge, newer[HEAD_END]
        if newer[TAIL] == newer[COUNT]:
            tail, tail_start = bridge, older[TAIL_START]
        if bridge > best:
            best, best_start, best_end = bridge, older[TAIL_START], newer[HEAD_END]
    if newer[BEST] > best:  # the first of equals
        best, best_start, best_end = newer[BEST], newer[BEST_START], newer[BEST_END]
    return (
        older[COUNT] + newer[COUNT], older[FIRST], newer[LAST],
        older[FIRST_TIME], newer[LAST_TIME],
        head, head_end, tail, tail_start, best, best_start, best_end,
    )  # fmt: skip


def has_run(partial: Any) -> bool:
    """Whether there is an event."""
    return bool(partial[COUNT] > 0)


def best_run(partial: Any) -> Any:
    """The longest run: its times, how long it takes, and how many events it has."""
    start, end = partial[BEST_START], partial[BEST_END]
    if wraps(start, end):
        raise OverflowError("the duration of a run left the range of 64-bit integers")
    return (start, end, end - start, partial[BEST])


def best_run_of_values(partial: Any) -> Any:
    """The same of Python values."""
    start, end = partial[BEST_START], partial[BEST_END]
    return (start, end, end - start, partial[BEST])


def _time(types: tuple[pa.DataType, ...]) -> pa.DataType:
    return types[1]


def _elapsed(types: tuple[pa.DataType, ...]) -> pa.DataType:
    return width_output(types[1:])


_RUN = (
    Member("start", _time),
    Member("end", _time),
    Member("duration", _elapsed),
    Member("length", always(pa.int64())),
)
_RUN_FIELDS = integers(
    "count", "run_first", "run_last", "run_first_time", "run_last_time", "run_head",
    "run_head_end", "run_tail", "run_tail_start", "run_best", "run_best_start", "run_best_end",
)  # fmt: skip


def _longest_increasing_run_for(kinds: tuple[Kind, ...]) -> Monoid:
    compiled = kinds[0].is_compiled
    nothing = 0 if compiled else None
    no_run = (0, nothing)
    return Monoid(
        identity=(0, *[nothing] * 4, *no_run, *no_run, *no_run, nothing),
        lift=lift_run_of_ranks if kinds[0] is Kind.FLOAT else lift_run,
        combine=join_runs if compiled else join_runs_of_values,
        lower=best_run if compiled else best_run_of_values,
        defined=Defined(has_run),
        traits=Traits(exact=True),
        fields=_RUN_FIELDS if compiled else (),
        output=struct_of(_RUN),
        members=_RUN,
    )


longest_increasing_run = Aggregation(
    "longest_increasing_run",
    (Input("value", ORDERABLE), Input("time", TIMES | {Kind.INTEGER})),
    _longest_increasing_run_for,
    same,
    "the longest run of values each larger than the one before, the first of equals: a struct of "
    "its start, end and duration by the second column, and its length in events",
)


# Longest run above a threshold --------------------------------------------------------------------


def join_lengths(older: Any, newer: Any) -> Any:
    """Count, head, tail and longest run of both."""
    whole_older, whole_newer = older[1] == older[0], newer[2] == newer[0]
    return (
        older[0] + newer[0],
        older[1] + newer[1] if whole_older else older[1],
        older[2] + newer[2] if whole_newer else newer[2],
        max(older[3], newer[3], older[2] + newer[1]),
    )


def longest(partial: Any) -> Any:
    """The length of the longest run."""
    return partial[3]


def _run_above(threshold: float | Decimal) -> Aggregation:
    infinite = threshold in (math.inf, -math.inf)
    if not (is_number(threshold) or infinite or isinstance(threshold, Decimal)):
        raise InvalidArgument(f"threshold: a number is needed, not {shown(threshold)}")
    # A kernel knows floats, and integers of 64 bits; no value lies between larger ones.
    in_kernels = threshold if is_whole(threshold) else float(threshold)

    def lift_above(value: Any) -> Any:
        """One event, and whether it is a run."""
        length = 1 if value > in_kernels else 0
        return (1, length, length, length)

    def lift_value_above(value: Any) -> Any:
        """The same of Python values, of which decimals are compared without rounding."""
        length = 1 if value > threshold else 0
        return (1, length, length, length)

    names = tuple(f"{each}_above_{threshold!r}" for each in ("head", "tail", "best"))

    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        return Monoid(
            identity=(0, 0, 0, 0),
            lift=lift_above if kinds[0].is_compiled else lift_value_above,
            combine=join_lengths,
            lower=longest,
            defined=Defined(has_run),
            traits=Traits(exact=True),
            fields=integers("count", *names),
            lowered="int64",
            output=always(pa.int64()),
        )

    return Aggregation(
        f"longest_run_above_{threshold}",
        _NUMBER,
        monoid_for,
        same,
        f"the most neighbouring values above {threshold}",
    )


_NUMBER = (Input("value", NUMBERS - {Kind.BOOLEAN}),)

longest_run_above = parametrized(
    "longest_run_above",
    _NUMBER,
    _run_above,
    "threshold=100",
    "the number of events in the longest run of values above `threshold`",
)


# Changes of sign ----------------------------------------------------------------------------------


def lift_sign(value: Any) -> Any:
    """The sign, first and last; zero and NaN have none."""
    sign = 1 if value > 0 else -1 if value < 0 else 0
    return (sign, sign, 0)


def join_signs(older: Any, newer: Any) -> Any:
    """The changes of both, and one more if their signs differ where they meet."""
    return (
        older[0] if older[0] != 0 else newer[0],
        newer[1] if newer[1] != 0 else older[1],
        older[2] + newer[2] + (1 if older[1] * newer[0] < 0 else 0),
    )


def changes(partial: Any) -> Any:
    """How often the sign changes."""
    return partial[2]


SIGN_CHANGES = Monoid(
    identity=(0, 0, 0),
    lift=lift_sign,
    combine=join_signs,
    lower=changes,
    traits=Traits(exact=True),
    fields=integers("first_sign", "last_sign", "sign_changes"),
    lowered="int64",
    output=always(pa.int64()),
)


def _sign_changes_for(_kinds: tuple[Kind, ...]) -> Monoid:
    return SIGN_CHANGES


sign_changes = Aggregation(
    "sign_changes",
    _NUMBER,
    _sign_changes_for,
    same,
    "how often a negative value follows a positive one or the other way round; zeros do not count",
)

EXAMPLES = (longest_run_above(threshold=0.5),)
