"""Slide policies: rules that say what leaves a window (Villalba et al. 2019, §4.1.3)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import pyarrow as pa

from windrow.algebra.aggregation import Aggregation, Measure
from windrow.algebra.arrays import read_only
from windrow.algebra.conditions import Spelling
from windrow.algebra.literals import require_one_of
from windrow.errors import InvalidArgument
from windrow.windows.arguments import require_time
from windrow.windows.bounds import Bounding, Bounds
from windrow.windows.calls import call_of_measure, call_text
from windrow.windows.key_rows import KeyRows
from windrow.windows.reach import Counted
from windrow.windows.setting import Counts, Setting
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.triggers import Every, Trigger, trigger
from windrow.windows.window import Window

Array = np.ndarray[Any, Any]

#: from the answers for a window and for its oldest part to whether that part leaves
Function = Callable[[Any, Any], Any]
#: which parts of a window a policy is asked about
Oldest = Literal["any", "half"]


@dataclass(frozen=True, eq=False)
class Rule:
    """One function of a policy.

    Attributes:
        function: from the answers for the whole window and for its oldest part to whether that part
            leaves; an answer if there is one measure, a tuple if there are several.
        measures: what the answers are of.
        in_ticks: from the nanoseconds of a tick to a function that takes times as kernels see them,
            in ticks; only for columns of times.
        made_by: the call that makes a policy of this rule, for pickle: its functions have no names.
    """

    function: Function
    measures: tuple[Measure, ...]
    in_ticks: Callable[[int], Function] | None = None
    made_by: tuple[Callable[..., PolicyWindow], dict[str, Any]] | None = None

    def with_columns(self, spelling: Spelling) -> Rule:
        """The same rule about columns of other names."""
        made_by = self.made_by
        if made_by and made_by[1].get("column"):
            made_by = (made_by[0], {**made_by[1], "column": spelling(made_by[1]["column"])})
        measures = tuple(each.with_columns(spelling) for each in self.measures)
        return replace(self, measures=measures, made_by=made_by)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (_rule_of, self.made_by) if self.made_by else super().__reduce_ex__(protocol)


def _rule_of(policy: Callable[..., PolicyWindow], arguments: dict[str, Any]) -> Rule:
    return policy(**arguments).rules[0]


@dataclass(frozen=True, eq=False)
class PolicyWindow(Window):
    """The rows that a policy lets stay; an event is let in before it is asked.

    Policies are joined by `|`: what one of them lets leave, leaves.

    Attributes:
        rules: whatever one of them lets leave, leaves.
        halves: whether only the older half is asked about, again and again while it leaves.
        every: when it answers in `wr.slide`.
    """

    rules: tuple[Rule, ...]
    halves: bool = False
    every: Trigger | None = None
    default_name: str = "policy"

    reach = Counted
    remembers = True

    @property
    def measures(self) -> tuple[Measure, ...]:
        """All that the rules ask for, each once."""
        return tuple(dict.fromkeys(each for rule in self.rules for each in rule.measures))

    def call(self) -> str:
        """The call that makes it. It tells nothing of a policy's functions but the name."""
        asked = ", ".join(map(call_of_measure, self.measures))
        halves = ["oldest='half'"] if self.halves else []
        return call_text(self.default_name, f"of=[{asked}]", *halves, every=self.every)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the rules ask about."""
        return tuple(column for measure in self.measures for column in measure.columns)

    def with_columns(self, spelling: Spelling) -> Self:
        """The same policy about columns of other names."""
        return replace(self, rules=tuple(each.with_columns(spelling) for each in self.rules))

    def check(self, schema: pa.Schema) -> None:
        """Refuse a rule in time over a column that holds none."""
        for rule in self.rules:
            for column in {name for measure in rule.measures for name in measure.columns}:
                if rule.in_ticks is not None:
                    require_time(schema, (column,), "windows")

    def bounding(self, setting: Setting) -> Bounding:
        """The rows that the rules let stay."""
        return _LetStay(setting.counts(self))

    def __or__(self, other: Any) -> PolicyWindow:
        if not isinstance(other, PolicyWindow):
            return NotImplemented
        if self.halves or other.halves:
            raise InvalidArgument("policies: one that drops halves cannot be joined with another")
        if self.every != other.every:
            raise InvalidArgument("every: two policies that are joined answer at the same time")
        if self.min_rows != other.min_rows:
            raise InvalidArgument(
                "min_rows: two policies that are joined wait for the same; say it of both, as in "
                "(one | other).with_min_rows(3)"
            )
        name = f"{self.default_name}_or_{other.default_name}"
        rules = (*self.rules, *other.rules)
        return PolicyWindow(rules, False, self.every, name, min_rows=self.min_rows)


class _LetStay(Bounding):
    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    def of(self, rows: SortedRows, held: Array | None = None) -> Bounds:
        """The bounds of the next rows; the rules are not asked about old rows that were `held`."""
        if held is None:
            counts = self._counts.of(rows.columns, rows.runs, rows.size)
        else:
            assert isinstance(rows, KeyRows)
            within, places, _keys = rows.only(
                np.arange(rows.size) >= (rows.fresh - held)[rows.key_of]
            )
            counts = np.zeros(rows.size, np.int64)
            counts[places] = self._counts.of(within.columns, within.runs, within.size, within.fresh)
        return Bounds(rows.runs, Counted(counts), read_only(counts > 0))


def policy(
    function: Function,
    *,
    of: Measure | Iterable[Measure],
    oldest: Oldest = "any",
    every: Every = None,
    min_rows: int | None = None,
) -> PolicyWindow:
    """A window that a function over its partials makes slide.

    After an event has come in, `function(total, oldest)` is asked about parts of the window that
    begin with its oldest event: `total` is the answer of `of` for the whole window, `oldest` that
    for such a part. If it returns true, at least that part leaves, all events of it at once. Which
    parts are asked about is up to windrow, so the function must be monotone: if it lets a part
    leave, it must let every shorter one leave as well. `windrow.testing.check_policy` finds
    examples where it does not.

    A part that holds nothing but nulls says nothing, and stays until a longer one leaves.

    Args:
        function: `function(total, oldest)`, compiled when it can be. With several measures, both
            are tuples.
        of: what the function is asked about: `wr.sum("x")`, or a list; in a `wr.Window`, whose
            events have no columns, `wr.sum()`.
        oldest: "any" part; or "half", to be asked about the older half of the events only, again
            after it has left. Then the function need not be monotone.
        every: for `wr.slide`, when it answers.
        min_rows: answers are null until the window holds so many rows. `with_min_rows` counts
            values.

    Raises:
        InvalidArgument: if an argument is not what it should be, or two do not go together.

    >>> import pyarrow as pa, windrow as wr
    >>> table = pa.table({"t": [1, 2, 3, 4], "x": [1, 5, 2, 3]})
    >>> from_largest = wr.policy(lambda total, oldest: oldest < total, of=wr.max("x"))
    >>> found = wr.over(table, order="t", windows=from_largest, aggs=wr.collect("x"))
    >>> found["collect_x"].to_pylist()
    [[1], [5], [5, 2], [5, 2, 3]]
    """
    if not callable(function):
        raise InvalidArgument(f"function: give function(total, oldest), not {function!r}")
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        raise InvalidArgument(
            f"function: it takes two arguments, total and oldest, not {inspect.signature(function)}"
        ) from None
    except ValueError:
        pass  # a builtin without a signature
    require_one_of(Oldest, "oldest", oldest)
    rule = Rule(function, _measures(of))
    window = PolicyWindow((rule,), oldest == "half", trigger(every, None))
    return window.with_min_rows(min_rows)


def require_policy(given: Any) -> PolicyWindow:
    """The policy that was given; refuse what is none."""
    if not isinstance(given, PolicyWindow):
        raise InvalidArgument(f"policy: give one as wr.policy(...) makes it, not {given!r}")
    if given.min_rows is not None:
        raise InvalidArgument(
            "policy: min_rows= is for wr.over and wr.slide; ask for len() of a wr.Window"
        )
    return given


def _measures(of: Any) -> tuple[Measure, ...]:
    given = [of] if isinstance(of, Measure | Aggregation) else of
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidArgument(f"of: give an aggregation such as wr.sum('x'), not {of!r}")
    measures = tuple(each() if isinstance(each, Aggregation) else each for each in given)
    if not measures:
        raise InvalidArgument("of: at least one aggregation is needed, as in wr.sum('x')")
    for measure in measures:
        if not isinstance(measure, Measure):
            raise InvalidArgument(f"of: give aggregations such as wr.sum('x'), not {measure!r}")
        measure.require_no_condition("of")
    return measures
