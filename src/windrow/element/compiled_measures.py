"""What a compiled `wr.Window` is asked: features over the typed columns of its events.

An event is the inputs of one aggregation, or a row that several measures share. A policy asks for
measures of its own, over the same columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from windrow.algebra.aggregation import Measure
from windrow.algebra.failures import failures_named
from windrow.algebra.kinds import Kind
from windrow.compiler.machine_code import is_enabled
from windrow.compiler.product_source import Rule
from windrow.element.stored_measures import Measures
from windrow.element.typed_inputs import TypedEvents, TypedInputs, TypedRows, Types
from windrow.engine.policy_counts import compiled_rules
from windrow.errors import InvalidArgument, NotApplicable
from windrow.planning.choose import Wish
from windrow.planning.features import Feature, features_of, policy_features
from windrow.windows import PolicyWindow


class CompiledMeasures:
    """The measures of a window, and of its policy.

    Attributes:
        inputs: the columns of the events, with their types.
        names: what the answers of rows are called; None if the answer is that of one aggregation.
        answers: for each name, the feature that answers it.
        features: all that is computed; those of the policy come last.
        policy: the policy, over the columns of the events.
        rules: its rules, for kernels.
    """

    def __init__(
        self, measures: Measures, types: Types, policy: PolicyWindow | None, wish: Wish
    ) -> None:
        """Find features for measures of events of these types."""
        self.inputs: TypedEvents
        if measures.of_rows:
            asked = [*measures.each, *(policy.measures if policy is not None else ())]
            columns = list(dict.fromkeys(name for each in asked for name in each.columns))
            self.inputs = TypedRows(columns, types, str(measures))
            named = list(measures.each)
        else:
            (only,) = measures.each
            self.inputs = TypedInputs(only.aggregation, types)
            named = [_of_all(only, self.inputs.schema.names)]
        self._named, schema = named, self.inputs.schema
        self.names = [each.name for each in named] if measures.of_rows else None
        distinct, places = features_of(schema, named, wish)
        own = [_as_numbers("types", each) for each in distinct]
        self.answers = [own[places[each]] for each in named]
        self.features, self.policy, self.rules = own, policy, list[Rule]()
        if policy is None:
            return
        if not measures.of_rows:
            policy = self.policy = _of_inputs(policy, schema.names)
        for rule in policy.rules:
            if rule.in_ticks is None and _asks_for_times(rule.measures, schema):
                raise NotApplicable(
                    "policy: a function of your own cannot be asked about times yet"
                )
        self.features = own + [
            _as_numbers("policy", each) for each in policy_features(schema, policy)
        ]
        self.rules = [
            (function, [len(own) + part for part in parts])
            for function, parts in compiled_rules(policy, schema)
        ]

    def require_lifted(self, event: tuple[Any, ...]) -> None:
        """Let functions of the user's lift an event on trial."""
        columns = dict(zip(self.inputs.schema.names, event, strict=True))
        for measure, feature in zip(self._named, self.answers, strict=True):
            given = [columns[name] for name in measure.columns]
            if feature.aggregation.custom and None not in given:
                with failures_named(feature.aggregation.name):
                    feature.monoid.lift(*given)


def _of_all(measure: Measure, names: Sequence[str]) -> Measure:
    """A measure of all inputs of an event.

    An aggregation that needs no input, and gets none, counts events whatever their values.
    """
    aggregation = measure.aggregation
    takes_values = measure.columns or any(not entry.optional for entry in aggregation.inputs)
    return aggregation(*names) if takes_values else aggregation()


def _as_numbers(argument: str, feature: Feature) -> Feature:
    """The feature, if a kernel can compute it event by event."""
    name = feature.aggregation.name
    if any(entry.carried for entry in feature.aggregation.inputs):
        raise NotApplicable(
            f"{argument}: {name} answers with the value of an event, which a compiled window does "
            "not keep; leave out types="
        )
    # Without numba nothing is compiled, but partials of numbers are numbers all the same.
    if not feature.compiled and (is_enabled() or not feature.monoid.is_numeric):
        raise NotApplicable(
            f"{argument}: {feature} is not compiled for these types; leave out types="
        )
    return replace(feature, compiled=True, monoid=replace(feature.monoid, blockwise=None))


def _asks_for_times(measures: Sequence[Measure], schema: Any) -> bool:
    return any(
        Kind.of(schema.field(column).type).in_ticks
        for measure in measures
        for column in measure.columns
    )


def _of_inputs(policy: PolicyWindow, names: Sequence[str]) -> PolicyWindow:
    """The policy, with the window's inputs as the inputs of its measures, in order."""
    rules = []
    for rule in policy.rules:
        named = []
        for measure in rule.measures:
            inputs = measure.aggregation.inputs
            needed = sum(not entry.optional for entry in inputs)
            if measure.columns or needed > len(names):
                raise InvalidArgument(
                    f"policy: {measure} cannot be asked of events that are ({', '.join(names)}); "
                    "give aggregations without columns, of as many inputs"
                )
            named.append(measure.aggregation(*names[:needed]))
        rules.append(replace(rule, measures=tuple(named)))
    return replace(policy, rules=tuple(rules))
