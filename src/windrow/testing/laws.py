"""The laws of an aggregation, as functions that raise `wr.LawViolation` with a small example.

A law is tried on partials that a window can really hold: the identity, the lifts of the inputs and
combinations of them. Each example is one run of inputs for each argument of the law. The shortest
are tried first, and an example that breaks the law is cut down further as long as it still does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from windrow.algebra.aggregation import Aggregation
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.compiler.slots import Partial
from windrow.errors import InvalidArgument, LawViolation
from windrow.testing.broken_laws import (
    ASSOCIATIVITY,
    COMMUTATIVITY,
    EXACTNESS,
    IDENTITY,
    IN_PLACE,
    INVERSE,
    PURITY,
    SELECTIVITY,
    Law,
)
from windrow.testing.examples import Run, cut_down, examples, shown, shown_run, valued_events
from windrow.testing.subject import Subject, quietly

Kinds = Sequence[Kind] | None
Broken = Callable[[Sequence[Run]], str | None]


# The laws ---------------------------------------------------------------------------------------


def check_associativity(
    aggregation: Aggregation, inputs: Iterable[Any], kinds: Kinds = None
) -> None:
    """Check that it does not matter which neighbours are combined first.

    Args:
        aggregation: the aggregation to check, of the catalogue or of your own.
        inputs: events to make partials of; tuples, if the aggregation takes several columns.
        kinds: the kinds of its columns; by default `ANY`, as in `wr.Window`.

    Raises:
        LawViolation: with the smallest example found.

    >>> import windrow as wr
    >>> check_associativity(wr.max, [3, 1, 2])
    >>> difference = wr.aggregation(name="difference", identity=0, combine=lambda a, b: b - a)
    Traceback (most recent call last):
    windrow.errors.InvalidAggregation: identity of 'difference' is 0, but combine(2.5, identity) ...
    """
    _check(ASSOCIATIVITY, aggregation, inputs, kinds)


def check_identity(aggregation: Aggregation, inputs: Iterable[Any], kinds: Kinds = None) -> None:
    """Check that combining with the identity, on either side, changes nothing.

    Args:
        aggregation, inputs, kinds: as for `check_laws`.

    Raises:
        LawViolation: with the smallest example found.

    >>> import windrow as wr
    >>> check_identity(wr.max, [3, 1, 2])
    """
    _check(IDENTITY, aggregation, inputs, kinds)


def check_inverse(aggregation: Aggregation, inputs: Iterable[Any], kinds: Kinds = None) -> None:
    """Check that `inverse(combine(older, newer), older)` is `newer`.

    An aggregation that is not declared exact promises this of finite numbers only: nothing brings
    back what was added to an infinity.

    Args:
        aggregation, inputs, kinds: as for `check_laws`.

    Raises:
        LawViolation: with the smallest example found.
        InvalidArgument: the aggregation has no inverse.

    >>> import windrow as wr
    >>> check_inverse(wr.sum, [3, 1, 2])
    """
    if aggregation.monoid_for(Subject(aggregation, kinds).kinds).inverse is None:
        raise InvalidArgument(f"aggregation: {aggregation.name} has no inverse to check")
    _check(INVERSE, aggregation, inputs, kinds)


def check_commutativity(
    aggregation: Aggregation, inputs: Iterable[Any], kinds: Kinds = None
) -> None:
    """Check that the order of combine's arguments does not matter.

    Args:
        aggregation, inputs, kinds: as for `check_laws`.

    Raises:
        LawViolation: with the smallest example found.

    >>> import windrow as wr
    >>> check_commutativity(wr.max, [3, 1, 2])
    """
    _check(COMMUTATIVITY, aggregation, inputs, kinds)


def check_selectivity(aggregation: Aggregation, inputs: Iterable[Any], kinds: Kinds = None) -> None:
    """Check that combine returns one of its two arguments.

    Args:
        aggregation, inputs, kinds: as for `check_laws`.

    Raises:
        LawViolation: with the smallest example found.

    >>> import windrow as wr
    >>> check_selectivity(wr.max, [3, 1, 2])
    """
    _check(SELECTIVITY, aggregation, inputs, kinds)


def check_exactness(aggregation: Aggregation, inputs: Iterable[Any], kinds: Kinds = None) -> None:
    """Check that every grouping gives the same partial, to the last bit, and the inverse too.

    Args:
        aggregation, inputs, kinds: as for `check_laws`.

    Raises:
        LawViolation: with the smallest example found.

    >>> import windrow as wr
    >>> check_exactness(wr.max, [0.1, 0.2, 0.3])
    """
    _check(EXACTNESS, aggregation, inputs, kinds)


def check_purity(aggregation: Aggregation, inputs: Iterable[Any], kinds: Kinds = None) -> None:
    """Check that combine and inverse leave their arguments as they are.

    Args:
        aggregation, inputs, kinds: as for `check_laws`.

    Raises:
        LawViolation: with the smallest example found.

    >>> import windrow as wr
    >>> check_purity(wr.collect, [3, 1, 2])
    """
    _check(PURITY, aggregation, inputs, kinds)


def check_in_place(aggregation: Aggregation, inputs: Iterable[Any], kinds: Kinds = None) -> None:
    """Check that lift and combine in place make the rows that lift and combine return.

    Args:
        aggregation, inputs, kinds: as for `check_laws`.

    Raises:
        LawViolation: with the smallest example found.
        InvalidArgument: the aggregation has nothing in place.

    >>> import windrow as wr
    >>> check_in_place(wr.approx_distinct, [3, 1, 2], kinds=[Kind.INTEGER])
    """
    inputs, subject = list(inputs), Subject(aggregation, kinds)
    if subject.monoid.in_place is None:
        raise InvalidArgument(f"aggregation: {aggregation.name} has nothing in place to check")
    for event in valued_events(subject, inputs):
        row, lifted = subject.lift_in_place(event), subject.lift(event)
        if not same(row, lifted):
            raise LawViolation(
                f"{aggregation.name} breaks the law of lifting in place:\n"
                f"    lift of {shown_run([event])} in place = {shown(row)}\n"
                f"    lift of {shown_run([event])} = {shown(lifted)}"
            )
    _check(IN_PLACE, aggregation, inputs, kinds)


def check_laws(aggregation: Aggregation, inputs: Iterable[Any], kinds: Kinds = None) -> None:
    """Check every law that holds for all aggregations, and those that this one declares.

    Args:
        aggregation: the aggregation to check, of the catalogue or of your own.
        inputs: events to make partials of; tuples, if the aggregation takes several columns. For
            sums of floats take numbers that can be added in any order without much rounding:
            no law of theirs survives 1e300 beside -1e300.
        kinds: the kinds of its columns; by default `ANY`, as in `wr.Window`.

    Raises:
        LawViolation: with the smallest example found.

    >>> import windrow as wr
    >>> newest = wr.aggregation(
    ...     name="newest", identity=0, combine=lambda older, newer: newer or older, commutative=True
    ... )
    >>> check_laws(newest, [1, 2, 3])
    Traceback (most recent call last):
    windrow.errors.LawViolation: newest breaks the law of commutativity:
        older = 1, the partial of [1]
        newer = 2, the partial of [2]
        combine(older, newer) = 2
        combine(newer, older) = 1
    """
    inputs = list(inputs)
    subject = Subject(aggregation, kinds)
    traits = subject.monoid.traits
    declared = [PURITY, IDENTITY, ASSOCIATIVITY]
    declared += [COMMUTATIVITY] if traits.commutative else []
    declared += [SELECTIVITY] if traits.selective else []
    declared += [INVERSE] if subject.monoid.inverse is not None else []
    declared += [EXACTNESS] if traits.exact else []
    for law in declared:
        _check(law, aggregation, inputs, kinds)
    if subject.monoid.in_place is not None:
        check_in_place(aggregation, inputs, kinds)


def check_shared_fields(
    one: Aggregation, other: Aggregation, inputs: Iterable[Any], kinds: Kinds = None
) -> None:
    """Check that fields which two aggregations name alike are the same, whichever computes them.

    In a product such a field exists once, so it must not matter whose lift and combine it gets.

    Args:
        one, other: the aggregations.
        inputs, kinds: as for `check_laws`.

    Raises:
        LawViolation: with the smallest example found.

    >>> import windrow as wr
    >>> check_shared_fields(wr.mean, wr.sum, [3.0, 1.0, 2.0], kinds=[Kind.FLOAT])
    """
    left, right = Subject(one, kinds), Subject(other, kinds)
    layouts = [{entry.name: entry for entry in each.monoid.fields} for each in (left, right)]
    for name in layouts[0].keys() & layouts[1].keys():
        if layouts[0][name] != layouts[1][name]:
            raise LawViolation(f"{one.name} and {other.name} lay out field {name!r} apart")

    def fields_of(run: Run, subject: Subject) -> dict[str, Any]:
        names = [entry.name for entry in subject.monoid.fields]
        with quietly():
            partial = subject.fold(map(subject.lift, run))
        return dict(zip(names, _fields(partial), strict=True))

    def broken_by(runs: Sequence[Run]) -> str | None:
        found, expected = fields_of(runs[0], left), fields_of(runs[0], right)
        for name in found.keys() & expected.keys():
            if not same(found[name], expected[name]):
                return (
                    f"    field {name!r} of {one.name} = {shown(found[name])}\n"
                    f"    field {name!r} of {other.name} = {shown(expected[name])}"
                )
        return None

    smallest = _smallest(left, inputs, 1, broken_by)
    if smallest is not None:
        raise LawViolation(
            f"{one.name} and {other.name} disagree on a field that they share:\n"
            f"    over {shown_run(smallest[0])}\n{broken_by(smallest)}"
        )


# The search for an example ----------------------------------------------------------------------


def _fields(partial: Partial) -> tuple[Any, ...]:
    return partial if isinstance(partial, tuple) else (partial,)


def _check(law: Law, aggregation: Aggregation, inputs: Iterable[Any], kinds: Kinds) -> None:
    subject = Subject(aggregation, kinds)

    def broken_by(runs: Sequence[Run]) -> str | None:
        with quietly():
            # Made anew each time: combine may have changed the last ones.
            partials = [subject.fold(map(subject.lift, run)) for run in runs]
            try:
                found: str | None = law.broken_by(subject, *partials)
            except Exception as error:
                return f"    combining them raises {type(error).__name__}: {error}"
        return found

    smallest = _smallest(subject, inputs, len(law.arguments), broken_by)
    if smallest is not None:
        lines = [f"{aggregation.name} breaks the law of {law.name}:"]
        for name, run in zip(law.arguments, smallest, strict=True):
            partial = subject.fold(map(subject.lift, run))
            lines.append(f"    {name} = {shown(partial)}, the partial of {shown_run(run)}")
        raise LawViolation("\n".join([*lines, str(broken_by(smallest))]))


def _smallest(
    subject: Subject, inputs: Iterable[Any], arguments: int, broken_by: Broken
) -> Sequence[Run] | None:
    """The first example that breaks a law, cut down; None if none does."""
    for runs in examples(valued_events(subject, inputs), arguments):
        if broken_by(runs) is not None:
            return cut_down(runs, broken_by)
    return None
