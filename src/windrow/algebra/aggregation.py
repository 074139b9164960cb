"""Aggregations as users name them. Calling one makes a measure (`measure.py`)."""

from __future__ import annotations

import datetime
import functools
import importlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra.durations import nanoseconds, words
from windrow.algebra.equality import close
from windrow.algebra.kinds import Kind, seconds_per_tick
from windrow.algebra.measure import Measure as Measure
from windrow.algebra.monoid import Monoid
from windrow.algebra.signatures import OfInstance, help_text, parameters_of, signature_of
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
    #: a function and its arguments that make it, for pickle: what it holds has no names
    recipe: tuple[Callable[..., Aggregation], tuple[Any, ...]] | None = None
    #: the same with partials that have an inverse, which rounds: for `exact=False`
    rounding: Aggregation | None = None
    #: from the values of a window, oldest first and none of them null, to the right answer: plain
    #: and slow, for tests to compare with; of several columns, from rows as tuples
    expected: Callable[[list[Any]], Any] | None = None

    def __init_subclass__(cls) -> None:
        cls.__doc__ = OfInstance(cls.__doc__, help_text)  # type: ignore[assignment]

    def monoid_of(self, types: Sequence[pa.DataType]) -> Monoid:
        """The monoid for columns of these types."""
        kinds = tuple(map(Kind.of, types))
        if self.measures_time:
            for kind, data_type in zip(kinds, types, strict=True):
                if kind.in_ticks:
                    return self.monoid_for(kinds, seconds_per_tick(data_type))
        return self.monoid_for(kinds)

    def admitting(self, exact: bool) -> Aggregation:
        """The same, with an inverse that rounds if answers need not be exact and there is one."""
        return self if exact or self.rounding is None else self.rounding

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

    @property
    def columns_needed(self) -> int:
        """How many of its columns a call names at least, if it names any."""
        return self._least_columns

    @property
    def _least_columns(self) -> int:
        return sum(not (entry.optional or entry.by_order) for entry in self.inputs)

    def __call__(self, *columns: Any, alias: str | None = None, **parameters: Any) -> Measure:
        """This aggregation of the named columns, with its parameters if it takes any.

        Parameters may follow the columns, as in `wr.top_k("amount", 3)`.
        """
        columns, following = self._told_apart(columns)
        if not (self.is_complete or following or parameters):
            self.monoid_for(())  # says what is missing
        for name in following.keys() & parameters:
            raise InvalidArgument(f"{self.name}(...): {name} is given twice")
        if following or parameters:
            return self._with({**following, **parameters})(*columns, alias=alias)
        if columns and not self._least_columns <= len(columns) <= len(self.inputs):
            roles = ", ".join(entry.name for entry in self.inputs)
            plural = "s" if len(self.inputs) > 1 else ""
            raise InvalidArgument(
                f"{self.name}(...) takes {len(self.inputs)} column{plural} ({roles}), "
                f"not {len(columns)}: {', '.join(columns)}"
            )
        measure = Measure(self, columns, "_".join((self.name, *columns)))
        return measure if alias is None else measure.alias(alias)

    def _told_apart(self, given: tuple[Any, ...]) -> tuple[tuple[str, ...], dict[str, Any]]:
        """The columns, which come first, and the parameters that follow them."""
        known = [each.name for each in parameters_of(self)]
        columns = tuple(itertools.takewhile(lambda each: isinstance(each, str), given))
        if known:  # texts that follow all columns are parameters
            columns = columns[: len(self.inputs)]
        following = given[len(columns) :]
        if len(following) > len(known):
            raise InvalidArgument(
                f"{self.name}(...): columns are given by name, as strings, not {following[0]!r}"
            )
        return columns, dict(zip(known, following, strict=False))

    def _with(self, parameters: Mapping[str, Any]) -> Aggregation:
        """The aggregation that parameters make of this one."""
        known = {each.name: each.default for each in parameters_of(self)}
        for name in parameters:
            if name not in known:
                takes = f"it takes {', '.join(known)}" if known else "it takes none"
                raise InvalidArgument(f"{self.name}(...): no parameter is called {name}; {takes}")
        assert self.variant is not None
        for name, default in known.items():
            if default is Parameter.empty and name not in parameters:
                raise InvalidArgument(f"{self.name}(...): {name} is missing")
        given = {name: _plain(parameters[name]) for name in known if name in parameters}
        try:
            hash(tuple(given.values()))
        except TypeError:  # no parameter is like that: the variant says what it should be
            return self.variant(**given)
        # What is the default is not told: equal aggregations are one.
        told = {name: each for name, each in given.items() if not _same(each, known[name])}
        return _made_of(self, **told) if told else self

    def __reduce_ex__(self, protocol: Any) -> Any:
        """How it is pickled: one of the catalogue by name, others by what makes them."""
        if self in _HOMES:
            return _found, _HOMES[self]
        return self.recipe or super().__reduce_ex__(protocol)

    def __getstate__(self) -> dict[str, Any]:
        """What goes to another process: there the parameters are known, and nothing is tested."""
        return {**self.__dict__, "variant": None, "expected": None}

    @property
    def __name__(self) -> str:
        """Its name, where a function's is expected."""
        return self.name

    @property
    def described(self) -> str:
        """Its name, or how to call it with its parameters."""
        if not self.parameters:
            return self.name
        return f"{self.called}({', '.join(f'{name}={each!r}' for name, each in self.parameters)})"

    def __repr__(self) -> str:
        return f"<aggregation {self.name}>"


Aggregation.__doc__ = OfInstance(Aggregation.__doc__, help_text)  # type: ignore[assignment]
Aggregation.__signature__ = OfInstance(None, signature_of)  # type: ignore[attr-defined]

#: where other processes find the aggregations of the catalogue: module and name
_HOMES: dict[Aggregation, tuple[str, str]] = {}


def offer(module: str, aggregations: Mapping[str, Aggregation]) -> None:
    """Declare that a module has these aggregations: they are pickled by name, as functions are."""
    _HOMES.update({each: (module, name) for name, each in aggregations.items()})


def _found(module: str, name: str) -> Aggregation:
    found: Aggregation = getattr(importlib.import_module(module), name)
    return found


def _plain(parameter: Any) -> Any:
    """A parameter as aggregations are remembered by it: Python's numbers, and tuples of them.

    Durations are texts.
    """
    if isinstance(parameter, np.ndarray | np.generic):
        parameter = parameter.tolist()
    if isinstance(parameter, datetime.timedelta):
        return words(nanoseconds(parameter, "parameter"))
    return tuple(map(_plain, parameter)) if isinstance(parameter, list | tuple) else parameter


def _same(given: Any, default: Any) -> bool:
    """Whether a parameter is its default; True is not 1."""
    return type(given) is type(default) and bool(given == default)


@functools.lru_cache(maxsize=None, typed=True)
def _made_of(base: Aggregation, /, **told: Any) -> Aggregation:
    """What parameters make of an aggregation: the same for the same ones; True is not 1.

    So equal measures are computed once.
    """
    assert base.variant is not None
    made = base.variant(**told)
    if made is base:
        return base
    called, given = base.called or base.name, tuple(told.items())
    recipe = (_made_again, (base, given))
    return replace(made, called=called, parameters=given, variant=None, recipe=recipe)


def _made_again(base: Aggregation, parameters: tuple[tuple[str, Any], ...]) -> Aggregation:
    return base._with(dict(parameters))


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
