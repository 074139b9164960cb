"""How events of a `wr.Window` become partials, and partials become answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from windrow.algebra.aggregation import Aggregation, Measure
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Traits
from windrow.algebra.nullable import NullSkipping, Together, plain_monoid, without_inverse
from windrow.algebra.plain_source import Source, plain_source
from windrow.element.admission import Admission
from windrow.engine.policy_counts import PolicyMonoid
from windrow.errors import InvalidArgument
from windrow.planning import costs
from windrow.planning.choose import OBJECT_BYTES, Served
from windrow.windows import PolicyWindow
from windrow.windows.policy import require_policy


class ValueEvents:
    """Events that are the inputs of one aggregation."""

    #: the function that inserts an event, in code of the window's own
    inserting = "insert_value"

    def __init__(self, aggregation: Aggregation, given: int = 0) -> None:
        """`given` is how many columns were named: nulls in those are skipped."""
        self.name = aggregation.name
        self.monoid: NullSkipping = plain_monoid(aggregation, given)
        self.admissions = [Admission(aggregation, self.monoid)]
        self._exact_integers = _exact_integers(aggregation)
        self.several = len(aggregation.inputs) > 1
        self._roles = [entry.name for entry in aggregation.inputs]
        least = max(given, sum(not entry.optional for entry in aggregation.inputs))
        self._takes = range(least, len(aggregation.inputs) + 1)

    @property
    def is_simple(self) -> bool:
        """Whether an event is one value, and an answer is what `lower` makes of a partial."""
        return len(self._roles) == 1 and not self.monoid.monoid.members

    @property
    def all_admissions(self) -> list[Admission]:
        """What checks an event."""
        return self.admissions

    def source(self) -> Source:
        """The monoid, written out."""
        return plain_source(self.monoid, len(self._roles))

    def never_subtract(self) -> None:
        """Keep no number of values beside each partial: the algorithm takes nothing out of it."""
        self.monoid = without_inverse(self.monoid)

    @property
    def served(self) -> Served:
        """What the planner chooses an algorithm for."""
        served = Served.plain(self.name, self.monoid.monoid)
        return replace(served, exact_integers=self._exact_integers)

    def lift(self, operation: str, inputs: tuple[Any, ...]) -> Any:
        """The partial of an event; the operation is for messages."""
        if len(inputs) not in self._takes:
            raise InvalidArgument(
                f"{operation}: an event of {self.name} is ({', '.join(self._roles)}), not "
                f"{inputs!r}"
            )
        return self.monoid.lift(*self.admissions[0].admitted(operation, inputs))

    def inputs_of(self, measure: Measure, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The inputs of another aggregation in the same event."""
        return inputs[: _taken(measure)]

    def require(self, policy: PolicyWindow) -> None:
        """Refuse a policy that asks for more inputs than an event has."""
        for measure in policy.measures:
            needed = _taken(measure)
            if needed > self._takes[-1]:
                raise InvalidArgument(
                    f"policy: {measure.aggregation.name} takes {needed} inputs, and an event of "
                    f"{self.name} has {self._takes[-1]} at most"
                )

    def lower(self, partial: Any) -> Any:
        """The answer of a partial, or None."""
        return self.monoid.answer(partial)


class RowEvents:
    """Events that are rows: mappings from columns to values; each measure takes its columns."""

    several = False
    is_simple = False

    def __init__(self, measures: Sequence[Measure]) -> None:
        self._measures = measures
        self._monoids = [
            plain_monoid(measure.aggregation, len(measure.columns)) for measure in measures
        ]
        self.admissions = [
            Admission(measure.aggregation, each)
            for measure, each in zip(measures, self._monoids, strict=True)
        ]
        self.monoid = Together(self._monoids)
        self.name = ", ".join(
            f"{measure.aggregation.name}({', '.join(measure.columns)})" for measure in measures
        )
        names = [measure.name for measure in measures]
        for name in names:
            if names.count(name) > 1:
                raise InvalidArgument(
                    f"aggregation: two answers would be called {name!r}; rename one with "
                    ".alias(...)"
                )
        for measure in measures:
            _require_columns("aggregation", measure)
            measure.require_no_condition("aggregation")

    @property
    def served(self) -> Served:
        """What the planner chooses an algorithm for."""
        monoids = [each.monoid for each in self._monoids]
        likenesses = [
            costs.likeness(measure.aggregation.name, monoid, costs.PLAIN)
            for measure, monoid in zip(self._measures, monoids, strict=True)
        ]
        traits = Traits(
            commutative=all(monoid.traits.commutative for monoid in monoids),
            exact=all(monoid.traits.exact for monoid in monoids),
        )
        return Served(
            self.name,
            traits,
            all(monoid.inverse is not None for monoid in monoids),
            tuple(likenesses),
            OBJECT_BYTES * len(monoids),
            costs.PLAIN,
            all(_exact_integers(measure.aggregation) for measure in self._measures),
        )

    def source(self) -> Source:
        """The monoids, written out."""
        return plain_source(self.monoid)

    def lift(self, operation: str, inputs: tuple[Any, ...]) -> Any:
        """The partials of an event; the operation is for messages."""
        if len(inputs) != 1 or not isinstance(inputs[0], Mapping):
            raise InvalidArgument(
                f"{operation}: an event of {self.name} is one mapping from columns to values, not "
                f"{inputs!r}"
            )
        return tuple(
            monoid.lift(*admission.admitted(operation, self.inputs_of(measure, inputs)))
            for measure, monoid, admission in zip(
                self._measures, self._monoids, self.admissions, strict=True
            )
        )

    def inputs_of(self, measure: Measure, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The inputs of a measure in an event."""
        event = inputs[0]
        missing = [column for column in measure.columns if column not in event]
        if missing:
            raise InvalidArgument(
                f"insert: the event has no {missing[0]!r}; it has {', '.join(map(repr, event))}"
            )
        return tuple(event[column] for column in measure.columns)

    def require(self, policy: PolicyWindow) -> None:
        """Refuse a policy that does not say which columns it asks for."""
        for measure in policy.measures:
            _require_columns("policy", measure)

    def lower(self, partials: Any) -> dict[str, Any]:
        """The answers of partials, by their names."""
        return {
            measure.name: monoid.answer(partial)
            for measure, monoid, partial in zip(
                self._measures, self._monoids, partials, strict=True
            )
        }


class PolicyEvents:
    """Events of a window with a policy: one tree holds the policy's partials and the window's."""

    def __init__(self, events: ValueEvents | RowEvents, policy: PolicyWindow) -> None:
        require_policy(policy)
        events.require(policy)
        self.name, self.several, self.served = events.name, events.several, events.served
        if isinstance(events, ValueEvents):
            events.never_subtract()  # an algorithm that can be searched does not subtract
        self.monoid = PolicyMonoid(policy, [events.monoid])
        self.admissions = events.admissions
        #: the function that inserts an event, in code of the window's own
        self.inserting = "insert_by_halves" if policy.halves else "insert_by_policy"
        self._asked = [
            Admission(measure.aggregation, each)
            for measure, each in zip(self.monoid.measures, self.monoid.asked, strict=True)
        ]
        self._events = events

    def source(self) -> Source:
        """The monoids, written out, with the policy's verdict."""
        if self.is_simple:
            return self.monoid.source(inputs=1)
        text, refers = plain_source(self.monoid)
        return text, {**refers, "verdict": self.monoid.verdict}

    @property
    def is_simple(self) -> bool:
        """Whether an event is one value, for the policy, too."""
        own = isinstance(self._events, ValueEvents) and self._events.is_simple
        return own and all(len(each.aggregation.inputs) == 1 for each in self.monoid.measures)

    def lift(self, operation: str, inputs: tuple[Any, ...]) -> Any:
        """The partials of an event; the operation is for messages."""
        answers = self._events.lift(operation, inputs)
        asked = [
            admission.admitted(operation, self._events.inputs_of(measure, inputs))
            for measure, admission in zip(self.monoid.measures, self._asked, strict=True)
        ]
        return (*self.monoid.lift_asked(asked), answers)

    @property
    def all_admissions(self) -> list[Admission]:
        """What checks an event: for the answer, and for measures of the policy that look at it."""
        asked = zip(self.monoid.measures, self._asked, strict=True)
        return [*self.admissions, *(each for measure, each in asked if _taken(measure))]

    def lower(self, partials: Any) -> Any:
        """The window's answer; the policy's partials are left out."""
        return self._events.lower(partials[-1])


def _taken(measure: Measure) -> int:
    """How many inputs a measure takes: the named ones, or those that it needs."""
    needed = sum(not entry.optional for entry in measure.aggregation.inputs)
    return max(needed, len(measure.columns))


def _exact_integers(aggregation: Aggregation) -> bool:
    """Whether it never rounds if all inputs are integers."""
    if any(Kind.INTEGER not in entry.accepts for entry in aggregation.inputs):
        return False
    kinds = (Kind.INTEGER,) * len(aggregation.inputs)
    return not aggregation.custom and aggregation.monoid_for(kinds).traits.exact


def _require_columns(argument: str, measure: Measure) -> None:
    needed = [entry.name for entry in measure.aggregation.inputs if not entry.optional]
    if len(measure.columns) < len(needed):
        name = measure.aggregation.name
        columns = ", ".join(map(repr, needed))
        raise InvalidArgument(
            f"{argument}: {name}() names no column, and the window's events are rows; write "
            f"{name}({columns})"
        )


Events = ValueEvents | RowEvents | PolicyEvents


def events_of(aggregation: Any, exact: bool = True) -> ValueEvents | RowEvents:
    """The kind of events of a window: inputs of one aggregation, or rows of several measures."""
    if isinstance(aggregation, Measure):
        aggregation.require_no_condition("aggregation")
        own = aggregation.aggregation.admitting(exact)
        return ValueEvents(own, len(aggregation.columns))
    if isinstance(aggregation, Aggregation):
        return ValueEvents(aggregation.admitting(exact))
    if isinstance(aggregation, Iterable) and not isinstance(aggregation, str | Mapping):
        measures = list(aggregation)
        if measures and all(isinstance(measure, Measure) for measure in measures):
            found = [(each, each.aggregation.admitting(exact)) for each in measures]
            return RowEvents([replace(each, aggregation=own) for each, own in found])
    raise InvalidArgument(
        f"aggregation: give an aggregation such as wr.max(), not {aggregation!r}; or a list of "
        "measures, as in [wr.max('x'), wr.mean('y')]"
    )
