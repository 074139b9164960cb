"""What a stored window needs to compute: events, features, partials and description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from windrow.algebra.aggregation import Aggregation
from windrow.algebra.kinds import Kind
from windrow.algebra.measure import Measure
from windrow.compiler.machine_code import is_enabled
from windrow.element.stored_algorithms import StoredAlgorithm, tree_of
from windrow.element.stored_features import Features, KernelFeatures, ObjectFeatures
from windrow.element.stored_header import Description, MeasureText
from windrow.element.stored_measures import Measures
from windrow.element.stored_partials import Partials
from windrow.element.typed_inputs import TypedEvents, TypedInputs, TypedRows, Types
from windrow.errors import InvalidArgument, NotApplicable
from windrow.planning.choose import Wish
from windrow.planning.features import Feature, features_of, policy_features
from windrow.windows import PolicyWindow
from windrow.windows.policy import require_policy


class StoredProgram:
    """The measures of events of certain types, and the policy of their window, if any.

    The partials of the policy lie in the same tree: the product is of both. If all partials are
    numbers, a kernel computes. Otherwise all of it is plain Python: one tree holds them all.
    """

    def __init__(
        self,
        measures: Measures,
        types: Types | None,
        policy: PolicyWindow | None,
        algorithm: StoredAlgorithm,
        stored: Description | None,
    ) -> None:
        """If `types` is None, those of the `stored` window hold."""
        if policy is not None:
            policy = require_policy(policy)
        self._measures, self._algorithm = measures, algorithm
        self.name = str(measures)
        self.inputs = _events(measures, types, policy, stored)
        schema = self.inputs.schema
        self._answers = _answered(measures, schema)
        asked: list[Feature] = []
        if policy is not None:
            policy = _of_inputs(policy, schema, measures.of_rows)
            asked = _asked(policy, schema)
        self._policy, self._asked = policy, asked
        tree = tree_of(algorithm)
        self.features: Features
        if all(_is_numeric(each, schema) for each in (*self._answers, *asked)):
            self.features = KernelFeatures(self._answers, asked, schema, policy, tree)
        else:
            self.features = ObjectFeatures(self._answers, asked, policy, tree)
        self.partials: Partials = self.features.partials
        #: the columns that answers are values of
        self.carried = [name for name in schema.names if name in self.features.carried]

    def description(self, bits: int) -> Description:
        """The description that the store must hold when the window is opened again."""
        of_rows = self._measures.of_rows
        texts = [
            MeasureText.of(feature, measure if of_rows else None)
            for feature, measure in zip(self._answers, self._measures.each, strict=True)
        ]
        return Description.of(
            texts, self.inputs.schema, self._policy, self._algorithm, self.partials.fields, bits,
            [*self._answers, *self._asked],
        )  # fmt: skip

    def block(self, columns: Sequence[pa.Array], position: int) -> tuple[Any, Any]:
        """Columns of events as what the loop reads; the first has this position."""
        named = dict(zip(self.inputs.schema.names, columns, strict=True))
        return self.features.block(named, len(columns[0]), position)

    def no_block(self) -> tuple[Any, Any]:
        """What the loop reads of no events."""
        return self.block(self.inputs.no_columns(), 0)

    @property
    def names(self) -> list[str] | None:
        """The names of the answers, if they are those of several measures."""
        if not self._measures.of_rows:
            return None
        return [measure.name for measure in self._measures.each]


def _events(
    measures: Measures,
    types: Types | None,
    policy: PolicyWindow | None,
    stored: Description | None,
) -> TypedEvents:
    """The events of a window, whose types are given or stored."""
    if not measures.of_rows:
        if types is None and stored is not None:
            types = stored.types
        return TypedInputs(measures.each[0].aggregation, types)
    if types is None and stored is not None:
        types = dict(zip(stored.columns, stored.types, strict=True))
    asked = () if policy is None else policy.measures
    names = [name for measure in (*measures.each, *asked) for name in measure.columns]
    return TypedRows(list(dict.fromkeys(names)), types, str(measures))


def _answered(measures: Measures, schema: pa.Schema) -> list[Feature]:
    """The features of the answers, one for each measure."""
    asked = list(measures.each) if measures.of_rows else [_of_values(measures.each[0], schema)]
    try:
        features, places = features_of(schema, asked, Wish())
    except InvalidArgument as error:
        raise InvalidArgument(f"aggregation: {str(error).removeprefix('aggs: ')}") from error
    found = [features[places[measure]] for measure in asked]
    for feature in found:
        _require_partials("aggregation", feature)
    return found


def _of_values(measure: Measure, schema: pa.Schema) -> Measure:
    """A measure of the inputs of events."""
    # An aggregation that needs no input, and gets none, counts events whatever their values.
    aggregation = measure.aggregation
    takes_values = measure.columns or _required(aggregation)
    return aggregation(*schema.names) if takes_values else aggregation()


def _required(aggregation: Aggregation) -> int:
    """How many inputs an aggregation needs."""
    return sum(not entry.optional for entry in aggregation.inputs)


def _require_partials(argument: str, feature: Feature) -> None:
    """Refuse what is no aggregate of partials."""
    if feature.monoid.asks is not None:
        raise NotApplicable(
            f"{argument}: {feature.aggregation.name} is about all values of the window, and a "
            "stored window keeps partials; take a sketch, such as moment_sketch or approx_distinct"
        )


def _is_numeric(feature: Feature, schema: pa.Schema) -> bool:
    """Whether the partials of a feature are numbers, of inputs that are numbers."""
    if feature.compiled or is_enabled():
        return feature.compiled
    # Without numba nothing is compiled, but partials of numbers are numbers all the same.
    inputs = zip(feature.columns, feature.aggregation.inputs, strict=False)
    return feature.monoid.is_numeric and all(
        entry.is_number(Kind.of(schema.field(column).type)) for column, entry in inputs
    )


def _of_inputs(policy: PolicyWindow, schema: pa.Schema, of_rows: bool) -> PolicyWindow:
    """The policy, with the window's inputs as the inputs of its measures, in order."""
    if policy.halves:
        raise NotApplicable(
            "policy: one that drops halves asks for blocks from the middle of the window at every "
            "event, which a stored window does not"
        )
    rules = []
    for rule in policy.rules:
        named = [_policy_measure(measure, schema, of_rows) for measure in rule.measures]
        asked = [schema.field(name).type for measure in named for name in measure.columns]
        if rule.in_ticks is None and any(Kind.of(each).in_ticks for each in asked):
            raise NotApplicable("policy: a function of your own cannot be asked about times yet")
        rules.append(replace(rule, measures=tuple(named)))
    return replace(policy, rules=tuple(rules))


def _policy_measure(measure: Measure, schema: pa.Schema, of_rows: bool) -> Measure:
    """A measure of a policy, of the columns of events."""
    needed = _required(measure.aggregation)
    if of_rows:
        if len(measure.columns) < needed:
            name = measure.aggregation.name
            raise InvalidArgument(
                f"policy: {name}() names no column, and the window's events are rows; write "
                f"{name}({', '.join(map(repr, schema.names[:needed]))})"
            )
        return measure
    if measure.columns or needed > len(schema.names):
        raise InvalidArgument(
            f"policy: {measure} cannot be asked of events that are ({', '.join(schema.names)}); "
            "give aggregations without columns, of as many inputs"
        )
    return measure.aggregation(*schema.names[:needed])


def _asked(policy: PolicyWindow, schema: pa.Schema) -> list[Feature]:
    """The features that a policy asks for."""
    features = policy_features(schema, policy)
    for feature in features:
        _require_partials("policy", feature)
        if feature.carried:
            raise NotApplicable(
                f"policy: {feature.aggregation.name} answers with the value of an event, which a "
                "stored window does not read for each event"
            )
    return features
