"""Aggregations as users name them, and measures: aggregations of named columns."""

from __future__ import annotations

import datetime
import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra.condition_text import parse
from windrow.algebra.conditions import Condition
from windrow.algebra.durations import nanoseconds, words
from windrow.algebra.equality import close
from windrow.algebra.kinds import Kind, seconds_per_tick
from windrow.algebra.monoid import Monoid
from windrow.errors import InvalidArgument

NUMBERS = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL, Kind.ANY})
#: what time may be measured by
TIMES = frozenset({Kind.TEMPORAL, Kind.DURATION, Kind.ANY})
ORDERABLE = NUMBERS | TIMES | {Kind.TEXT}
ANYTHING = frozenset(Kind)

#: from a column to numbers, one for each row or one row of them
Digest = Callable[[pa.Array], np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Input:
    """One input of an aggregation.

    Attributes:
        name: the role of the input, for messages.
        accepts: the kinds that it may be.
        carried: the value is handed through to the answer and never looked at, so a kernel carries
            the position of its row in its place. A carried input may be null.
        optional: the input may be left out.
        digest: what a kernel reads in the place of the values, such as their hashes. With it,
            values of every kind that it accepts are numbers inside a kernel.
        unknown: the input may be null in events that count all the same.
        as_python: times come to plain Python as it has them, and not as the whole ticks that
            kernels read: to a user's functions, and where Python's values are hashed.
        by_order: in `wr.over` and `wr.slide` it may be left out: then it is the order column.
    """

    name: str
    accepts: frozenset[Kind] = ANYTHING
    carried: bool = False
    optional: bool = False
    digest: Digest | None = None
    unknown: bool = False
    as_python: bool = False
    by_order: bool = False

    def is_number(self, kind: Kind) -> bool:
        """Whether values of a kind are 64-bit numbers inside a kernel."""
        return kind.is_compiled or self.carried or self.digest is not None


@dataclass(frozen=True, eq=False)
class Aggregation:
    """A named aggregation: one monoid for each combination of input kinds.

    Calling it with column names makes a measure for `wr.over`:

    >>> import windrow as wr
    >>> wr.max("amount")
    max('amount') as max_amount
    >>> wr.variance("amount", population=True)
    variance_pop('amount') as variance_pop_amount
    """

    name: str
    inputs: tuple[Input, ...]
    monoid_for: Callable[..., Monoid]
    equal: Callable[[Any, Any], bool] = close
    summary: str = ""
    #: made by a user with `wr.aggregation`, and so compiled only if numba can
    custom: bool = False
    #: from parameters to the aggregation that they make of this one
    variant: Callable[..., Aggregation] | None = None
    #: the row of a window of `wr.over` that has to be the current one, if one has to: "newest",
    #: "oldest"; and how many rows the window has to have room for
    current: str = ""
    least_rows: int = 0
    #: whether `monoid_for` takes the seconds of a tick of its times as well
    measures_time: bool = False
    #: whether it can do without parameters
    is_complete: bool = True
    #: what users call to make it, if parameters made it, and those that are not the default
    called: str = ""
    parameters: tuple[tuple[str, Any], ...] = ()
    #: from the values of a window, oldest first and none of them null, to the right answer: plain
    #: and slow, for tests to compare with; of several columns, from rows as tuples
    expected: Callable[[list[Any]], Any] | None = None

    def monoid_of(self, types: Sequence[pa.DataType]) -> Monoid:
        """The monoid for columns of these types."""
        kinds = tuple(map(Kind.of, types))
        if self.measures_time:
            for kind, data_type in zip(kinds, types, strict=True):
                if kind.in_ticks:
                    return self.monoid_for(kinds, seconds_per_tick(data_type))
        return self.monoid_for(kinds)

    @property
    def watched(self) -> tuple[int, ...]:
        """The inputs whose nulls are skipped: a carried one may be null, unless it comes first."""
        return tuple(
            index
            for index, entry in enumerate(self.inputs)
            if not entry.unknown and (index == 0 or not entry.carried)
        )

    @property
    def unknown(self) -> tuple[int, ...]:
        """The inputs that may be null in events that count all the same."""
        return tuple(index for index, entry in enumerate(self.inputs) if entry.unknown)

    def __call__(self, *columns: Any, alias: str | None = None, **parameters: Any) -> Measure:
        """This aggregation of the named columns, with its parameters if it takes any.

        Parameters that are no texts may follow the columns, as in `wr.top_k("amount", 3)`.
        """
        columns, following = self._told_apart(columns)
        for name in following.keys() & parameters:
            raise InvalidArgument(f"{self.name}(...): {name} is given twice")
        if following or parameters:
            return self._with({**following, **parameters})(*columns, alias=alias)
        least = sum(not (entry.optional or entry.by_order) for entry in self.inputs)
        if columns and not least <= len(columns) <= len(self.inputs):
            roles = ", ".join(entry.name for entry in self.inputs)
            plural = "s" if len(self.inputs) > 1 else ""
            raise InvalidArgument(
                f"{self.name}(...) takes {len(self.inputs)} column{plural} ({roles}), "
                f"not {len(columns)}: {', '.join(columns)}"
            )
        measure = Measure(self, columns, "_".join((self.name, *columns)))
        return measure if alias is None else measure.alias(alias)

    @property
    def _parameters(self) -> list[str]:
        return list(inspect.signature(self.variant).parameters) if self.variant else []

    def _told_apart(self, given: tuple[Any, ...]) -> tuple[tuple[str, ...], dict[str, Any]]:
        """The columns, which come first, and the parameters that follow them."""
        columns = tuple(itertools.takewhile(lambda each: isinstance(each, str), given))
        following, known = given[len(columns) :], self._parameters
        if len(following) > len(known) or any(isinstance(each, str) for each in following):
            raise InvalidArgument(
                f"{self.name}(...): columns are given by name, as strings, not {following[0]!r}"
            )
        return columns, dict(zip(known, following, strict=False))

    def _with(self, parameters: dict[str, Any]) -> Aggregation:
        """The aggregation that parameters make of this one."""
        known = self._parameters
        for name in parameters:
            if name not in known:
                takes = f"it takes {', '.join(known)}" if known else "it takes none"
                raise InvalidArgument(f"{self.name}(...): no parameter is called {name}; {takes}")
        assert self.variant is not None
        for name, parameter in inspect.signature(self.variant).parameters.items():
            if parameter.default is parameter.empty and name not in parameters:
                raise InvalidArgument(f"{self.name}(...): {name} is missing")
        given = {name: _plain(parameters[name]) for name in known if name in parameters}
        try:
            hash(tuple(given.values()))
        except TypeError:  # no parameter is like that: the variant says what it should be
            return self.variant(**given)
        return _made_of(self, **given)

    def __getstate__(self) -> dict[str, Any]:
        """What goes to another process: there the parameters are known, and nothing is tested."""
        return {**self.__dict__, "variant": None, "expected": None}

    @property
    def described(self) -> str:
        """Its name, or how to call it with its parameters."""
        if not self.parameters:
            return self.name
        return f"{self.called}({', '.join(f'{name}={each!r}' for name, each in self.parameters)})"

    def __repr__(self) -> str:
        return f"<aggregation {self.name}>"


def _plain(parameter: Any) -> Any:
    """A parameter as aggregations are remembered by it: Python's numbers, and tuples of them."""
    if isinstance(parameter, np.ndarray | np.generic):
        parameter = parameter.tolist()
    return tuple(map(_plain, parameter)) if isinstance(parameter, list | tuple) else parameter


@functools.lru_cache(maxsize=None, typed=True)
def _made_of(base: Aggregation, /, **given: Any) -> Aggregation:
    """What parameters make of an aggregation: the same for the same ones; True is not 1.

    So equal measures are computed once.
    """
    assert base.variant is not None
    made = base.variant(**given)
    if made is base:
        return base
    known = inspect.signature(base.variant).parameters
    plain = ((name, _told(each)) for name, each in given.items() if each != known[name].default)
    return replace(made, called=base.called or base.name, parameters=tuple(plain))


def _told(parameter: Any) -> Any:
    """A parameter as it is shown and stored: durations in words."""
    if isinstance(parameter, datetime.timedelta):
        return words(nanoseconds(parameter, "parameter"))
    return parameter


def parametrized(
    name: str,
    inputs: tuple[Input, ...],
    variant: Callable[..., Aggregation],
    example: str,
    summary: str,
) -> Aggregation:
    """An aggregation that is none before it has its parameters, such as `nth` without its `n`.

    Args:
        name: what users call it.
        inputs: its columns.
        variant: from parameters to aggregations.
        example: the parameters of an example, for messages.
        summary: what it answers.
    """

    def monoid_for(_kinds: tuple[Kind, ...]) -> Monoid:
        raise InvalidArgument(
            f"{name}(...) needs its parameters, as in {name}({inputs[0].name!r}, {example})"
        )

    return Aggregation(
        name, inputs, monoid_for, summary=summary, variant=variant, is_complete=False
    )


@dataclass(frozen=True)
class Measure:
    """An aggregation of named columns, of the rows that a condition is true of, and its name."""

    aggregation: Aggregation
    columns: tuple[str, ...]
    name: str
    condition: Condition | None = None

    def alias(self, name: str) -> Measure:
        """The same measure under another name."""
        if not isinstance(name, str) or not name:
            raise InvalidArgument(f"alias: a result is named by a non-empty string, not {name!r}")
        return replace(self, name=name)

    def where(self, condition: str) -> Measure:
        """The same of those rows alone of which a condition is true.

        Args:
            condition: a part of SQL: arithmetic, comparisons, `and`, `or`, `not`, `is null`, `in`,
                `between`, `like`, times and durations; or the name of a column of truth values.
                docs/conditions.md has the grammar.

        >>> import windrow as wr
        >>> wr.sum("amount").where("status = 'ok' and amount > 3")
        sum('amount') where status = 'ok' and amount > 3 as sum_amount
        """
        if not isinstance(condition, str):
            raise InvalidArgument(f"where: a condition is a text, not {condition!r}")
        parsed = parse(condition)
        return replace(
            self, condition=parsed if self.condition is None else self.condition & parsed
        )

    def ordered_by(self, order: Sequence[str]) -> Measure:
        """The same in a call that orders rows so: the order column is in the place left for it."""
        missing = self.aggregation.inputs[len(self.columns) :]
        if order and missing and missing[0].by_order:
            return replace(self, columns=(*self.columns, order[0]))
        return self

    def require_no_condition(self, argument: str) -> None:
        """Refuse a condition where it would not be looked at."""
        if self.condition is not None:
            raise InvalidArgument(
                f"{argument}: a condition on columns is for the rows of wr.over and wr.slide; "
                "here, leave out the events that do not count, or insert whether it holds"
            )

    def over_distinct(self) -> Measure:
        """The same of the different values of the column, each taken once.

        >>> import windrow as wr
        >>> window = wr.Window(wr.count("user").over_distinct())
        >>> window.insert_many(["ann", "bob", "ann"])
        >>> window.query()
        2
        """
        from windrow.algebra.distinct import over_distinct  # which is made of aggregations

        distinct = over_distinct(self.aggregation)
        name = self.name
        if name == "_".join((self.aggregation.name, *self.columns)):
            name = "_".join((distinct.name, *self.columns))
        return replace(self, aggregation=distinct, name=name)

    def __repr__(self) -> str:
        inputs = ", ".join(map(repr, self.columns))
        condition = "" if self.condition is None else f" where {self.condition}"
        return f"{self.aggregation.name}({inputs}){condition} as {self.name}"
