"""What a stored window needs to compute: inputs, product, kernel and description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from windrow.aggregations import CATALOGUE, OFFERED
from windrow.algebra.aggregation import Aggregation, Measure
from windrow.algebra.kinds import Kind
from windrow.algorithms import block_rows, block_tree
from windrow.compiler.kernel import Kernel
from windrow.compiler.machine_code import is_enabled
from windrow.element.stored_header import Description
from windrow.element.typed_inputs import TypedInputs, Types
from windrow.engine.feature_columns import FeatureAnswers, FeatureColumns
from windrow.engine.policy_counts import compiled_rules
from windrow.errors import InvalidArgument, NotApplicable
from windrow.planning.choose import Wish
from windrow.planning.features import Feature, features_of, policy_features
from windrow.stores.layout import PartialLayout
from windrow.windows import PolicyWindow
from windrow.windows.policy import require_policy

_DEFAULT_TYPE = "float64"


class StoredProgram:
    """One aggregation of events of certain types, and the policy of its window, if any.

    The partials of the policy lie in the same tree: the product is of both.
    """

    def __init__(
        self,
        measure: Measure,
        types: Types | None,
        policy: PolicyWindow | None,
        stored: Description | None,
    ) -> None:
        """If `types` is None, those of the `stored` window hold."""
        aggregation = measure.aggregation
        if types is None:
            types = _DEFAULT_TYPE if stored is None else stored.types
        self.aggregation = aggregation
        self.inputs = TypedInputs(aggregation, types)
        schema = self.inputs.schema
        self._answer = _answer(measure, schema)
        asked: list[Feature] = []
        rules: Sequence[Any] = ()
        if policy is not None:
            policy = _of_inputs(policy, schema)
            asked = _asked(policy, schema)
            # The answer comes first among the parts of the product.
            rules = [
                (function, [1 + part for part in parts])
                for function, parts in compiled_rules(policy, schema)
            ]
        self._features = FeatureColumns([self._answer, *asked], set(schema.names), as_given=True)
        product = self._features.product
        checked = self._features.checked or policy is not None
        if policy is None:
            kernel = Kernel(block_rows.insert_rows, block_tree.FUNCTIONS, product, checked)
        else:
            functions = (*block_tree.FUNCTIONS, *block_tree.POLICY_FUNCTIONS)
            kernel = Kernel(block_rows.slide_rows, functions, product, checked, rules)
        self.product, self.kernel = product, kernel
        self.layout = PartialLayout([(field.dtype, field.width) for field in product.fields])
        self._policy, self._asked = policy, asked

    def description(self, bits: int) -> Description:
        """The description that the store must hold when the window is opened again."""
        types = [str(each) for each in self.inputs.types]
        fields = [[field.dtype, field.width] for field in self.product.fields]
        return Description.of(self._answer, types, fields, bits, self._policy, self._asked)

    def block(self, columns: Sequence[pa.Array]) -> tuple[Any, Any]:
        """Columns of events as the arrays that the kernel reads."""
        named = dict(zip(self.inputs.schema.names, columns, strict=True))
        return self._features.compiled_block(named, len(columns[0]), 0)

    def no_events(self) -> tuple[Any, Any]:
        """The arrays of no events."""
        return self.block([pa.array([], data_type) for data_type in self.inputs.types])

    def answers(self, size: int) -> FeatureAnswers:
        """Room for the answers of so many events."""
        return self._features.answers(size)

    def result(self, answers: FeatureAnswers) -> pa.Array:
        """The answers that a kernel has written, as a column."""
        return self._features.result(answers, self._answer, _carries_nothing)


def measure_of(
    given: Aggregation | Measure | None, stored: Description | None, name: str
) -> Measure:
    """What a window computes: what you gave, or else what is stored.

    Its columns, if it names any, are the inputs of the events.
    """
    if isinstance(given, Measure):
        given.require_no_condition("aggregation")
        return given
    if isinstance(given, Aggregation):
        return given()
    if given is not None:
        raise InvalidArgument(f"aggregation: give an aggregation such as wr.max(), not {given!r}")
    if stored is None:
        raise InvalidArgument(
            f"aggregation: no window {name!r} is in the store yet; say what it is to compute"
        )
    found = _called(stored, name) if stored.parameters else CATALOGUE.get(stored.aggregation)
    if found is None:
        raise InvalidArgument(
            f"aggregation: {stored.aggregation} is an aggregation of your own; give it again"
        )
    roles = [entry.name for entry in found.inputs[: len(stored.types)]]
    return found(*roles) if stored.nulls == "skipped" else found()


def _called(stored: Description, name: str) -> Aggregation:
    """An aggregation of the catalogue with the parameters that are stored."""
    for offered in OFFERED:
        if offered.name == stored.called:
            return offered(**stored.parameters).aggregation
    raise InvalidArgument(
        f"aggregation: the window {name!r} was stored with {stored.called}, which this windrow "
        "does not have; give it again"
    )


def _carries_nothing(column: str, positions: pa.Array) -> pa.Array:
    raise AssertionError(f"{column}: carried inputs are refused when the window is opened")


def _answer(measure: Measure, schema: pa.Schema) -> Feature:
    # An aggregation that needs no input, and gets none, counts events whatever their values.
    aggregation = measure.aggregation
    takes_values = measure.columns or _required(aggregation)
    measure = aggregation(*schema.names) if takes_values else aggregation()
    (feature,), _places = features_of(schema, [measure], Wish())
    return _as_numbers("aggregation", feature, schema)


def _required(aggregation: Aggregation) -> int:
    """How many inputs an aggregation needs."""
    return sum(not entry.optional for entry in aggregation.inputs)


def _as_numbers(argument: str, feature: Feature, schema: pa.Schema) -> Feature:
    """The feature, if its partials are numbers: a store holds nothing else."""
    name = feature.aggregation.name
    if any(entry.carried for entry in feature.aggregation.inputs):
        raise NotApplicable(
            f"{argument}: {name} answers with the value of an event, which a stored window does "
            "not keep"
        )
    if feature.monoid.asks is not None:
        raise NotApplicable(
            f"{argument}: {name} is about all values of the window, and a stored window keeps "
            "partials of a fixed size; take a sketch, such as moment_sketch or approx_distinct"
        )
    # Without numba nothing is compiled, but partials of numbers are numbers all the same.
    if not feature.compiled and (is_enabled() or not feature.monoid.is_numeric):
        raise NotApplicable(
            f"{argument}: {name} of {', '.join(map(str, schema.types))} is not compiled, and only "
            "numbers can be stored"
        )
    return replace(feature, compiled=True)


def _of_inputs(given: Any, schema: pa.Schema) -> PolicyWindow:
    """The policy, with the window's inputs as the inputs of its measures, in order."""
    policy = require_policy(given)
    if policy.halves:
        raise NotApplicable(
            "policy: one that drops halves asks for blocks from the middle of the window at every "
            "event, which a stored window does not"
        )
    rules = []
    for rule in policy.rules:
        named = []
        for measure in rule.measures:
            needed = _required(measure.aggregation)
            if measure.columns or needed > len(schema.names):
                raise InvalidArgument(
                    f"policy: {measure} cannot be asked of events that are "
                    f"({', '.join(schema.names)}); give aggregations without columns, of as many "
                    "inputs"
                )
            named.append(measure.aggregation(*schema.names[:needed]))
        if rule.in_ticks is None and any(Kind.of(each).in_ticks for each in schema.types):
            raise NotApplicable("policy: a function of your own cannot be asked about times yet")
        rules.append(replace(rule, measures=tuple(named)))
    return replace(policy, rules=tuple(rules))


def _asked(policy: PolicyWindow, schema: pa.Schema) -> list[Feature]:
    """The features of a policy; a kernel asks for each event, so none of them works blockwise."""
    features = [_as_numbers("policy", each, schema) for each in policy_features(schema, policy)]
    return [replace(each, monoid=replace(each.monoid, blockwise=None)) for each in features]
