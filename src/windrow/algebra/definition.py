"""`wr.aggregation`: a user's own aggregation, checked when it is made."""

from __future__ import annotations

import inspect
import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np
import pyarrow as pa

from windrow.algebra.aggregation import ANYTHING, Aggregation, Input, Measure
from windrow.algebra.equality import close
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Defined, Field, InPlace, Monoid, Traits, always
from windrow.algebra.shapes import is_number, layout
from windrow.algebra.trial import Trial
from windrow.algebra.user_functions import UserFunctions, accepts
from windrow.errors import InvalidAggregation


class UserAggregation(Aggregation):
    """What `wr.aggregation` makes: an aggregation that takes columns, and no parameters."""

    if TYPE_CHECKING:

        def __call__(  # type: ignore[override]
            self, *columns: str, alias: str | None = None
        ) -> Measure:
            """This aggregation of the named columns."""


#: every definition names its fields apart from all others, so that no two share one in a product
_serial = itertools.count()


def aggregation(
    *,
    name: str,
    identity: Any,
    combine: Callable[..., Any] | None = None,
    lift: Callable[..., Any] | None = None,
    lower: Callable[[Any], Any] | None = None,
    inverse: Callable[[Any, Any], Any] | None = None,
    defined: Callable[[Any], bool] | None = None,
    commutative: bool = False,
    selective: bool = False,
    exact: bool = False,
    in_place: bool = False,
    equal: Callable[[Any, Any], bool] = close,
    output: pa.DataType | None = None,
    example: Any = None,
    check: bool = True,
) -> UserAggregation:
    """An aggregation of your own: associative, nothing else is asked.

    Args:
        name: the name of its answers.
        identity: the partial of no events.
        combine: `combine(older, newer)`, the partial of two neighbouring runs of events.
        lift: from one event (one argument per column) to a partial; by default the value itself.
        lower: from a partial to the answer, None if it has none; by default the partial itself.
        inverse: `inverse(combine(older, newer), older)` is `newer`, if there is such a function.
        defined: whether a partial has an answer; where it says no, the answer is null.
        commutative: declares that the order of combine's arguments does not matter.
        selective: declares that combine returns one of its two arguments.
        exact: declares that combine rounds nothing.
        in_place: for partials that are arrays: lift and combine take one more argument, `into`, and
            write their result there. `into` holds the identity when lift is called, and is neither
            of combine's other arguments. Nothing is allocated then, which is several times faster.
        equal: when two partials count as equal, for the laws of `windrow.testing`.
        output: the Arrow type of the answers; found by trying the functions if not given.
        example: one input (a tuple if there are several columns) to try the functions on, where
            plain numbers and strings would not do.
        check: False, not to try on a few values whether combine is associative and inverse is its
            inverse; for functions that are so only about, such as those of sketches.

    Raises:
        InvalidAggregation: if the functions do not fit together, or break a law on one of the
            values tried; the message has the example.

    Example:
        >>> import math, windrow as wr
        >>> spread = wr.aggregation(
        ...     name="spread",
        ...     identity=(math.inf, -math.inf),
        ...     lift=lambda x: (x, x),
        ...     combine=lambda older, newer: (min(older[0], newer[0]), max(older[1], newer[1])),
        ...     lower=lambda partial: partial[1] - partial[0],
        ... )
        >>> window = wr.Window(spread())
        >>> window.insert_many([3, 9, 4])
        >>> window.query()
        6
    """
    if not isinstance(name, str) or not name:
        raise InvalidAggregation(f"name: an aggregation needs a name, not {name!r}")
    if combine is None:
        raise InvalidAggregation(
            f"aggregation {name!r} has no combine: give combine(older, newer), which returns the "
            "partial of two neighbouring runs of events"
        )
    into = None
    if in_place:
        into = _in_place(name, identity, lift, combine)
        lift, combine = _InNewArray(identity, into.lift), _InNewArray(identity, into.combine)
    functions = UserFunctions(
        name=name,
        identity=identity,
        lift=lift or _itself,
        combine=combine,
        in_place=into,
        lower=lower or _itself,
        inverse=inverse,
        defined=defined,
        equal=equal,
        output=output,
        traits=Traits(commutative=commutative, selective=selective, exact=exact),
        example=example,
    )
    if not isinstance(check, bool):
        raise InvalidAggregation(f"check: True or False, not {check!r}")
    functions.check_signatures()
    Trial(functions).check(laws=check)
    summary = _summary(lower or (into.combine if into else combine))
    return _defined(functions, summary, next(_serial), os.urandom(16))


#: definitions that are in use, by what tells them apart from those of all processes
_DEFINITIONS: WeakValueDictionary[bytes, UserAggregation] = WeakValueDictionary()


def _defined(functions: UserFunctions, summary: str, serial: int, origin: bytes) -> UserAggregation:
    """The aggregation of a definition: one object, also for each copy that comes pickled."""
    found = _DEFINITIONS.get(origin)
    if found is None:
        found = UserAggregation(
            functions.name,
            tuple(Input(role, ANYTHING, as_python=True) for role in functions.roles),
            _Monoids(functions, serial).monoid_for,
            functions.equal,
            summary,
            custom=True,
            recipe=(_defined, (functions, summary, serial, origin)),
        )
        _DEFINITIONS[origin] = found
    return found


def _in_place(name: str, identity: Any, lift: Any, combine: Any) -> InPlace:
    if not isinstance(identity, np.ndarray) or not callable(lift) or accepts(combine, 3) is False:
        raise InvalidAggregation(
            f"in_place of {name!r} is for partials that are arrays: identity is an array, lift "
            "takes its inputs and into, combine takes older, newer and into"
        )
    return InPlace(lift, combine)


@dataclass(frozen=True, eq=False)
class _InNewArray:
    """Lift or combine as plain Python wants it: the result is a new array."""

    identity: Any
    write: Callable[..., None]

    def __call__(self, *given: Any) -> Any:
        into = self.identity.copy()
        self.write(*given, into)
        return into


def _itself(value: Any) -> Any:
    return value


def _summary(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


class _Monoids:
    """The monoids of a user's functions, by the kinds of their inputs."""

    def __init__(self, functions: UserFunctions, serial: int) -> None:
        self._functions = functions
        self._trial = Trial(functions)
        self._serial = serial
        self._monoids: dict[tuple[Kind, ...], Monoid] = {}

    def monoid_for(self, kinds: tuple[Kind, ...]) -> Monoid:
        """The monoid for inputs of these kinds."""
        if kinds not in self._monoids:
            self._monoids[kinds] = self._make_monoid(kinds)
        return self._monoids[kinds]

    def _make_monoid(self, kinds: tuple[Kind, ...]) -> Monoid:
        if Kind.ANY in kinds:
            return self._monoid((), pa.null(), "float64")
        examples = self._trial.examples_of(kinds)
        refusal = self._trial.refusal(examples)[1]
        if refusal is not None:
            raise refusal
        lifted = [self._functions.lift(*example) for example in examples]
        partials = [self._functions.identity, *lifted, *self._trial.combined(lifted)]
        combined = partials[-1]
        answers = self._functions.defined is None or self._functions.defined(combined)
        answer = self._functions.lower(combined) if answers else None
        output = self._output_type(answer)
        floats = isinstance(answer, float | np.floating) or pa.types.is_floating(output)
        numbers = answer is None and (floats or pa.types.is_integer(output))
        compilable = (numbers or is_number(answer)) and all(
            kind in (Kind.BOOLEAN, Kind.INTEGER, Kind.FLOAT) for kind in kinds
        )
        return self._monoid(
            layout(f"{self._functions.name}#{self._serial}", partials) if compilable else (),
            output,
            "float64" if floats else "int64",
        )

    def _monoid(self, fields: tuple[Field, ...], output: pa.DataType, lowered: str) -> Monoid:
        return Monoid(
            identity=self._functions.identity,
            lift=self._functions.lift,
            combine=self._functions.combine,
            lower=self._functions.lower,
            inverse=self._functions.inverse,
            defined=Defined(
                self._functions.defined,
                one_value_is_enough=self._functions.defined is None,
                or_none=True,
            ),
            in_place=self._functions.in_place,
            traits=self._functions.traits,
            fields=fields,
            output=always(output),
            lowered=lowered,
        )

    def _output_type(self, answer: Any) -> pa.DataType:
        if self._functions.output is not None:
            return self._functions.output
        try:
            found = pa.scalar(answer).type
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            found = pa.null()
        if pa.types.is_null(found):
            raise InvalidAggregation(
                f"{self._functions.name!r} answers {answer!r} to an example, which "
                f"tells no Arrow type: "
                "give output=, the type of the answers"
            )
        return found
