"""`wr.aggregation`: an aggregation of one's own, checked when it is made."""

from __future__ import annotations

import copy
import inspect
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra import probing
from windrow.algebra.aggregation import ANYTHING, Aggregation, Input
from windrow.algebra.equality import close, same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Defined, Field, InPlace, Monoid, Traits, always
from windrow.algebra.shapes import fits, is_flat, is_number, layout
from windrow.errors import InvalidAggregation

#: the kinds of values that functions are tried on before any column is known
_TRIED = (Kind.FLOAT, Kind.INTEGER, Kind.TEXT, Kind.TEMPORAL, Kind.NESTED)

#: every definition names its fields apart from all others, so that no two share one in a product
_serial = itertools.count()

Examples = Sequence[tuple[Any, ...]]


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
) -> Aggregation:
    """An aggregation of one's own: associative, nothing else is asked.

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
    functions = None
    if in_place:
        functions = _in_place(name, identity, lift, combine)
        lift, combine = _returning(identity, functions)
    definition = _Definition(
        name=name,
        identity=identity,
        lift=lift or _itself,
        combine=combine,
        in_place=functions,
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
    definition.check(laws=check)
    inputs = tuple(Input(role, ANYTHING, as_python=True) for role in definition.roles)
    return Aggregation(
        name, inputs, definition.monoid_for, equal, summary=_summary(lower or combine), custom=True
    )


def _in_place(name: str, identity: Any, lift: Any, combine: Any) -> InPlace:
    if not isinstance(identity, np.ndarray) or not callable(lift) or _accepts(combine, 3) is False:
        raise InvalidAggregation(
            f"in_place of {name!r} is for partials that are arrays: identity is an array, lift "
            "takes its inputs and into, combine takes older, newer and into"
        )
    return InPlace(lift, combine)


def _returning(identity: Any, in_place: InPlace) -> tuple[Any, Any]:
    """Lift and combine that return a new array, as plain Python wants them."""

    def lift(*inputs: Any) -> Any:
        into = identity.copy()
        in_place.lift(*inputs, into)
        return into

    def combine(older: Any, newer: Any) -> Any:
        into = identity.copy()
        in_place.combine(older, newer, into)
        return into

    return lift, combine


def _itself(value: Any) -> Any:
    return value


def _summary(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Definition:
    """The functions a user gave, tried on examples to find the layout of their partials."""

    name: str
    identity: Any
    lift: Callable[..., Any]
    combine: Callable[[Any, Any], Any]
    lower: Callable[[Any], Any]
    inverse: Callable[[Any, Any], Any] | None
    defined: Callable[[Any], bool] | None
    in_place: InPlace | None
    equal: Callable[[Any, Any], bool]
    output: pa.DataType | None
    traits: Traits
    example: Any
    fields: str = field(default_factory=lambda: str(next(_serial)))
    _monoids: dict[tuple[Kind, ...], Monoid] = field(default_factory=dict)

    def check(self, laws: bool) -> None:
        """Refuse functions that do not fit together, as far as examples can tell.

        `laws` tells whether to look for examples that break theirs, too.
        """
        for role, takes in (("combine", 2), ("lower", 1), ("inverse", 2), ("defined", 1)):
            self._check_callable(role, takes)
        refusals = []
        for kinds, examples in self._examples():
            stage, refusal = self._refusal(examples)
            if refusal is None and laws:
                stage, refusal = stage + 1, self._flaw(kinds, examples)
            if refusal is None:
                return
            refusals.append((stage, refusal))
        # The values on which the functions got furthest are those that they are for.
        stage, refusal = max(refusals, key=lambda entry: entry[0])
        if stage == 0 and self.example is None:
            raise InvalidAggregation(
                f"{refusal}; it fails on numbers, strings, times and lists alike: "
                "correct it, or give example=, one input that it takes"
            )
        raise refusal

    def monoid_for(self, kinds: tuple[Kind, ...]) -> Monoid:
        """The monoid for inputs of these kinds."""
        if kinds not in self._monoids:
            self._monoids[kinds] = self._make_monoid(kinds)
        return self._monoids[kinds]

    # Signatures --------------------------------------------------------------------------------

    def _check_callable(self, role: str, takes: int) -> None:
        function = getattr(self, role)
        if function is None:
            return
        if not callable(function):
            raise InvalidAggregation(
                f"{role} of {self.name!r} must be a function, not {function!r}"
            )
        if _accepts(function, takes) is False:
            partials = "one partial" if takes == 1 else "two partials"
            raise InvalidAggregation(
                f"{role} of {self.name!r} must take {partials}, and it takes "
                f"{inspect.signature(function)}"
            )

    @property
    def roles(self) -> tuple[str, ...]:
        """The parameters of lift: one for each column."""
        if not callable(self.lift):
            raise InvalidAggregation(f"lift of {self.name!r} must be a function, not {self.lift!r}")
        if self.in_place is not None:
            return tuple(inspect.signature(self.in_place.lift).parameters)[:-1]
        try:
            parameters = inspect.signature(self.lift).parameters.values()
        except ValueError:
            return ("value",)  # a builtin without a signature
        required = tuple(
            parameter.name
            for parameter in parameters
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
            and parameter.default is parameter.empty
        ) or ("value",)
        if _accepts(self.lift, len(required)) is False:
            raise InvalidAggregation(
                f"lift of {self.name!r} must take one argument for each column, and it takes "
                f"{inspect.signature(self.lift)}"
            )
        return required

    # Trying the functions ----------------------------------------------------------------------

    def _examples(self) -> Iterator[tuple[tuple[Kind, ...], Examples]]:
        """Pairs of events to try the functions on, until they take one, and their kinds."""
        columns = len(self.roles)
        if self.example is not None:
            yield (), self._given_example()
            return
        # More than three columns of different kinds are too many to try: all of one kind then.
        mixed = itertools.product(_TRIED, repeat=columns) if columns <= 3 else ()
        for kinds in (*((kind,) * columns for kind in _TRIED), *mixed):
            yield kinds, _examples_of(kinds)

    def _given_example(self) -> Examples:
        one = len(self.roles) == 1
        return [(self.example,) if one else tuple(self.example)] * 2

    def _refusal(self, examples: Examples) -> tuple[int, InvalidAggregation | None]:
        """What is wrong with the functions for such events, and how far they got."""
        stage = 0
        try:
            lifted = [self._call("lift", *example) for example in examples]
            stage += 1
            self._check_lifted(lifted)
            stage += 1
            combined = self._combined(lifted)
            stage += 1
            self._check_combined(lifted, combined)
            stage += 1
            self._check_others(lifted, combined[-1])
        except InvalidAggregation as refusal:
            return stage, refusal
        return stage, None

    def _flaw(self, kinds: tuple[Kind, ...], examples: Examples) -> InvalidAggregation | None:
        """An example that breaks a law, if there is one among a few."""
        events = probing.events_of(kinds) if kinds else [*examples, *examples]
        try:
            with np.errstate(all="ignore"):
                partials = [self.lift(*event) for event in events]
                found = probing.why_not_associative(self.combine, self.equal, partials)
                law = "combine of {!r} is not associative: {}"
                if found is None and self.inverse is not None:
                    found = probing.why_no_inverse(self.inverse, self.combine, self.equal, partials)
                    law = "inverse of {!r} does not undo combine: {}"
        except Exception:  # on values that the functions may not be for
            return None
        if found is None:
            return None
        return InvalidAggregation(
            f"{law.format(self.name, found)}; correct it, or leave this check out with check=False"
        )

    def _call(self, role: str, *arguments: Any) -> Any:
        before = copy.deepcopy(arguments)
        try:
            result = getattr(self, role)(*arguments)
        except Exception as error:
            shown = ", ".join(map(repr, before))
            raise InvalidAggregation(
                f"{role} of {self.name!r} fails: {role}({shown}) raises "
                f"{type(error).__name__}: {error}"
            ) from error
        for old, new in zip(before, arguments, strict=True):
            if isinstance(new, np.ndarray | list | dict | set) and not same(old, new):
                raise InvalidAggregation(
                    f"{role} of {self.name!r} changes its argument {old!r} into {new!r}: "
                    "it must leave its arguments alone and return a new value"
                )
        return result

    def _check_lifted(self, lifted: Sequence[Any]) -> None:
        for partial in lifted:
            if not fits(self.identity, partial):
                raise InvalidAggregation(
                    f"identity of {self.name!r} is {self.identity!r} but lift returns {partial!r}: "
                    "both must be partials of one shape"
                )

    def _combined(self, lifted: Sequence[Any]) -> list[Any]:
        """Each example with the identity on either side, and then both examples combined."""
        first, second = lifted
        pairs = ((self.identity, first), (first, self.identity), (first, second))
        return [self._call("combine", older, newer) for older, newer in pairs]

    def _check_combined(self, lifted: Sequence[Any], combined: Sequence[Any]) -> None:
        first = lifted[0]
        for partial in combined:
            if not fits(self.identity, partial):
                raise InvalidAggregation(
                    f"combine of {self.name!r} returns {partial!r} where its arguments are "
                    f"partials like {first!r}: it must return a partial of the same shape"
                )
        if not (is_number(first) or is_flat(first) or isinstance(first, np.ndarray)):
            return  # an object may not know when it equals another
        for call, partial in zip(
            (f"combine(identity, {first!r})", f"combine({first!r}, identity)"),
            combined,
            strict=False,
        ):
            if not self.equal(partial, first):
                raise InvalidAggregation(
                    f"identity of {self.name!r} is {self.identity!r}, but {call} returns "
                    f"{partial!r}: combining with the identity must change nothing"
                )

    def _check_others(self, lifted: Sequence[Any], combined: Any) -> None:
        """Lower, inverse and defined take the partials that lift and combine make."""
        if self.defined is None or self._call("defined", combined):
            self._call("lower", combined)
        if self.inverse is not None:
            rest = self._call("inverse", combined, lifted[0])
            if not fits(self.identity, rest):
                raise InvalidAggregation(
                    f"inverse of {self.name!r} returns {rest!r} where its arguments are partials "
                    f"like {combined!r}: it must return a partial of the same shape"
                )

    # The monoid --------------------------------------------------------------------------------

    def _make_monoid(self, kinds: tuple[Kind, ...]) -> Monoid:
        if Kind.ANY in kinds:
            return self._monoid((), pa.null(), "float64")
        examples = _examples_of(kinds) if self.example is None else self._given_example()
        refusal = self._refusal(examples)[1]
        if refusal is not None:
            raise refusal
        lifted = [self.lift(*example) for example in examples]
        partials = [self.identity, *lifted, *self._combined(lifted)]
        combined = partials[-1]
        answers = self.defined is None or self.defined(combined)
        answer = self.lower(combined) if answers else None
        output = self._output_type(answer)
        floats = isinstance(answer, float | np.floating) or pa.types.is_floating(output)
        numbers = answer is None and (floats or pa.types.is_integer(output))
        compilable = (numbers or is_number(answer)) and all(
            kind in (Kind.BOOLEAN, Kind.INTEGER, Kind.FLOAT) for kind in kinds
        )
        return self._monoid(
            layout(f"{self.name}#{self.fields}", partials) if compilable else (),
            output,
            "float64" if floats else "int64",
        )

    def _monoid(self, fields: tuple[Field, ...], output: pa.DataType, lowered: str) -> Monoid:
        return Monoid(
            identity=self.identity,
            lift=self.lift,
            combine=self.combine,
            lower=self.lower,
            inverse=self.inverse,
            defined=Defined(self.defined, one_value_is_enough=self.defined is None, or_none=True),
            in_place=self.in_place,
            traits=self.traits,
            fields=fields,
            output=always(output),
            lowered=lowered,
        )

    def _output_type(self, answer: Any) -> pa.DataType:
        if self.output is not None:
            return self.output
        try:
            found = pa.scalar(answer).type
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            found = pa.null()
        if pa.types.is_null(found):
            raise InvalidAggregation(
                f"{self.name!r} answers {answer!r} to an example, which tells no Arrow type: "
                "give output=, the type of the answers"
            )
        return found


def _accepts(function: Callable[..., Any], count: int) -> bool | None:
    """Whether a function can be called with so many arguments; None if it does not tell."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:
        return None
    return True


def _examples_of(kinds: Sequence[Kind]) -> Examples:
    return list(zip(*(kind.examples for kind in kinds), strict=True))
