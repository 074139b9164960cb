"""The features of a stored window over columns of events: read, computed, answered.

If the partials of all features are numbers, a kernel computes them (`KernelFeatures`). Otherwise
one tree of Python objects holds them all (`ObjectFeatures`): text and decimals as `wr.over`
computes them, and beside them features of numbers as `wr.Window` computes them, of Python values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from windrow.algebra.nullable import NullSkipping, plain_monoid
from windrow.element.stored_algorithms import BlockTree
from windrow.element.stored_partials import NumberPartials, ObjectPartials, StorablePartials
from windrow.engine import columns as arrow
from windrow.engine.feature_columns import FeatureAnswers, FeatureColumns
from windrow.engine.policy_counts import compiled_rules, plain_rules
from windrow.planning.features import Feature
from windrow.windows import PolicyWindow

#: finds the values of a column at positions
Carried = Callable[[str, pa.Array], pa.Array]


class KernelFeatures:
    """Features whose partials are all numbers."""

    def __init__(
        self,
        answered: Sequence[Feature],
        asked: Sequence[Feature],
        schema: pa.Schema,
        policy: PolicyWindow | None,
        tree: BlockTree,
    ) -> None:
        """`asked` are the features of the policy."""
        self._answered = [replace(each, compiled=True) for each in answered]
        # A policy looks at single events, so numpy does none of the work.
        whole = [
            replace(each, compiled=True, monoid=replace(each.monoid, blockwise=None))
            for each in asked
        ]
        self._columns = FeatureColumns([*self._answered, *whole], set(schema.names), as_given=True)
        rules = None if policy is None else _behind(answered, compiled_rules(policy, schema))
        self.partials = NumberPartials(self._columns, tree, rules)
        self.carried = {name for each in answered for name in each.carried}

    def block(self, columns: Mapping[str, pa.Array], size: int, position: int) -> tuple[Any, Any]:
        """What the loop reads of events, the first of which has this position."""
        return self._columns.compiled_block(columns, size, position)

    def answers(self, size: int) -> FeatureAnswers:
        """Room for so many answers."""
        return self._columns.answers(size)

    def written(self, answers: FeatureAnswers) -> tuple[Any, Any]:
        """What the loop writes to."""
        return tuple(answers.values), tuple(answers.defined)

    def results(self, answers: FeatureAnswers, carried: Carried) -> list[pa.Array]:
        """The answers that the loop has written, a column for each feature."""
        return [self._columns.result(answers, each, carried) for each in self._answered]


class ObjectFeatures:
    """Features of which some have partials that are no numbers."""

    def __init__(
        self,
        answered: Sequence[Feature],
        asked: Sequence[Feature],
        policy: PolicyWindow | None,
        tree: BlockTree,
    ) -> None:
        """`asked` are the features of the policy."""
        self._features = [*answered, *asked]
        self._count = len(answered)
        self._typed = [each for each in self._features if not each.monoid.is_numeric]
        self._columns = FeatureColumns(
            [replace(each, compiled=False) for each in self._typed], set(), as_given=True
        )
        #: of each feature the monoid, and the places of its inputs if it is typed
        parts = [self._part(feature) for feature in self._features]
        self._places = [places for _monoid, places in parts]
        rules = None if policy is None else _behind(answered, plain_rules(policy))
        monoids = [monoid for monoid, _places in parts]
        self.partials = ObjectPartials(monoids, tree, rules, self._count)
        self.carried = {name for each in self._typed for name in each.carried}

    def _part(self, feature: Feature) -> tuple[NullSkipping, tuple[int, ...] | None]:
        if feature in self._typed:
            own = self._columns.plain[self._typed.index(feature)]
            monoid, places = self._columns.plain_part(own)
            return (StorablePartials(monoid) if own.aggregation.custom else monoid), places
        return plain_monoid(feature.aggregation, len(feature.columns)), None

    def block(self, columns: Mapping[str, pa.Array], size: int, position: int) -> tuple[Any, Any]:
        """What the loop reads of events: for each feature the lists of its inputs."""
        typed = self._columns.plain_block(columns, size, position)
        values: dict[str, list[Any]] = {}
        block = []
        for feature, places in zip(self._features, self._places, strict=True):
            if places is not None:
                block.append([typed[place] for place in places])
                continue
            for name in feature.columns:
                if name not in values:
                    values[name] = arrow.python_values(columns[name], name, True)
            block.append([values[name] for name in feature.columns])
        return block, ()

    def answers(self, size: int) -> list[list[Any]]:
        """Room for so many answers."""
        return [[None] * size for _ in range(self._count)]

    def written(self, answers: list[list[Any]]) -> tuple[Any, Any]:
        """What the loop writes to."""
        return answers, ()

    def results(self, answers: list[list[Any]], carried: Carried) -> list[pa.Array]:
        """The answers that the loop has written, a column for each feature."""
        return [self._result(place, found, carried) for place, found in enumerate(answers)]

    def _result(self, place: int, found: list[Any], carried: Carried) -> pa.Array:
        feature, places = self._features[place], self._places[place]
        if places is None:
            members = feature.monoid.members
            if members:
                names = [member.name for member in members]
                found = [each and dict(zip(names, each, strict=True)) for each in found]
            if pa.types.is_integer(feature.type):  # the sum of one truth value is that value
                found = [int(each) if isinstance(each, bool) else each for each in found]
            return arrow.objects_to_arrow(found, feature.type, str(feature))
        own = self._columns.plain[self._typed.index(feature)]
        answers = self._columns.answers(len(found))
        answers.plain[self._typed.index(feature)] = found
        return self._columns.result(answers, own, carried)


Features = KernelFeatures | ObjectFeatures


def _behind(answered: Sequence[Feature], rules: Sequence[Any]) -> list[Any]:
    """Rules for a product in which the answers come before what the policy asks for."""
    return [(function, [len(answered) + place for place in places]) for function, places in rules]
