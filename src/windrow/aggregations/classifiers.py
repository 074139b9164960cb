"""Naive Bayes: which class the newest event belongs to, learnt from the events before it.

A model counts the events of each class. For each class and feature it keeps the mean and spread of
numbers, or how often each other value came. To join the models of two runs of events, it adds them
up (Tangwongsan et al. 2021, Table 1: algebraic classifiers). A partial is the model of all events
but the newest, and the newest event. That event is judged, and learnt from when a newer one comes.
So no event is judged by its own class, and an event of unknown class is judged too.

The model ignores numbers that are infinite or NaN.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from windrow.algebra.aggregation import Aggregation, Input, Measure
from windrow.algebra.equality import close
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Defined, Monoid

LABELS = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.TEXT, Kind.ANY})
FEATURES = LABELS | {Kind.FLOAT, Kind.DECIMAL}
#: added to each variance, as a fraction of the feature's variance, so that none is zero
_SMOOTHING = 1e-9

#: the number of values, their mean, and the sum of squared deviations from it
Spread = tuple[int, float, float]
#: one class: the number of events, and for each feature its spread or the count of each value
Statistics = tuple[int, tuple[Any, ...]]
Model = dict[Any, Statistics]


# Learning ----------------------------------------------------------------------------------------


def lift_event(label: Any, *features: Any) -> Any:
    """Nothing is learnt yet; the event is the newest."""
    return ({}, (label, tuple(map(_plain, features))))


def _plain(feature: Any) -> Any:
    """A number as a float; anything else as it is."""
    measured = hasattr(feature, "__float__") and not isinstance(feature, bool | str)
    return float(feature) if measured else feature


def learn(older: Any, newer: Any) -> Any:
    """What both have learnt, and the older one's newest event; the newer one's is still to come."""
    if older is None or newer is None:
        return newer if older is None else older
    learnt = joined(joined(older[0], model_of(*older[1])), newer[0])
    return (learnt, newer[1])


def model_of(label: Any, features: tuple[Any, ...]) -> Model:
    """The model of one event; of one without a class, none."""
    if label is None:
        return {}
    return {label: (1, tuple(map(_first, features)))}


def _first(feature: Any) -> Any:
    if not isinstance(feature, float):
        return {feature: 1}
    return (1, feature, 0.0) if math.isfinite(feature) else (0, 0.0, 0.0)


def joined(older: Model, newer: Model) -> Model:
    """The statistics of both, class by class."""
    if not older or not newer:
        return older or newer
    model = dict(older)
    for label, (count, features) in newer.items():
        if label in model:
            known, own = model[label]
            count, features = known + count, tuple(map(_joined_feature, own, features))
        model[label] = (count, features)
    return model


def _joined_feature(older: Any, newer: Any) -> Any:
    if isinstance(older, tuple):
        return _joined_spreads(older, newer)
    times = dict(older)
    for value, count in newer.items():
        times[value] = times.get(value, 0) + count
    return times


def _joined_spreads(older: Spread, newer: Spread) -> Spread:
    if not older[0] or not newer[0]:
        return newer if newer[0] else older
    count, apart = older[0] + newer[0], newer[1] - older[1]
    share = newer[0] / count
    return (
        count,
        older[1] + apart * share,
        older[2] + newer[2] + apart * apart * older[0] * share,
    )


# Judging -----------------------------------------------------------------------------------------


def probabilities(partial: Any) -> list[dict[str, Any]]:
    """How likely the newest event is of each class, the likeliest first."""
    model, (_label, features) = partial
    judged = _Judge(model, features)
    scores = {label: judged.score(label) for label in model}
    best = max(scores.values(), default=0.0)
    weights = {label: math.exp(score - best) for label, score in scores.items()}
    total = math.fsum(weights.values())
    shares = {label: weight / total for label, weight in weights.items()}
    # Rounded, so that equal classes stay in the order in which they came.
    ranked = sorted(shares, key=lambda label: -round(shares[label], 9))
    return [{"label": label, "probability": shares[label]} for label in ranked]


@dataclass(frozen=True)
class _Judge:
    """A model, and an event to judge by it."""

    model: Model
    features: tuple[Any, ...]

    def score(self, label: Any) -> float:
        """The logarithm of how likely a class is, up to what all classes have in common."""
        count, statistics = self.model[label]
        total = sum(each for each, _ in self.model.values())
        return math.log(count / total) + sum(
            self._of_number(place, statistics[place])
            if isinstance(feature, float)
            else self._of_value(place, statistics[place])
            for place, feature in enumerate(self.features)
        )

    def _of_number(self, place: int, spread: Spread) -> float:
        """By the normal distribution of the class's numbers."""
        (count, mean, squares), number = spread, float(self.features[place])
        if not count or not math.isfinite(number):
            return 0.0
        variance = squares / count + self._smallest(place)
        return (
            -(math.log(2 * math.pi * variance) + (number - mean) * (number - mean) / variance) / 2
        )

    def _smallest(self, place: int) -> float:
        """What variances are no smaller than, so that equal numbers do not decide alone."""
        spreads = [features[place] for _, features in self.model.values()]
        count, _mean, squares = functools.reduce(_joined_spreads, spreads)
        return _SMOOTHING * squares / count or _SMOOTHING

    def _of_value(self, place: int, times: dict[Any, int]) -> float:
        """By how often the value came, each of those known counted once more than it did."""
        known = {value for _, features in self.model.values() for value in features[place]}
        known.add(self.features[place])
        seen = times.get(self.features[place], 0)
        return math.log((seen + 1) / (sum(times.values()) + len(known)))


def has_model(partial: Any) -> bool:
    """Whether some event of a known class came before the newest."""
    return partial is not None and bool(partial[0])


# The aggregation ---------------------------------------------------------------------------------

_SUMMARY = (
    "how likely the newest event is of each class, by the features of those before it in the "
    "window: a list of structs of `label` and `probability`, the likeliest first. Numbers count as "
    "normally distributed, texts and truth values by how often they came; an event without a label "
    "is judged and not learnt from"
)


def _output(types: tuple[pa.DataType, ...]) -> pa.DataType:
    return pa.list_(pa.struct([("label", types[0]), ("probability", pa.float64())]))


def _monoid_for(_kinds: tuple[Kind, ...]) -> Monoid:
    return Monoid(
        None,
        lift_event,
        learn,
        probabilities,
        _output,
        defined=Defined(has_model, one_value_is_enough=False),
    )


@dataclass(frozen=True, eq=False, repr=False)
class NaiveBayes(Aggregation):
    """A classifier of as many features as columns are given."""

    def __call__(self, *columns: Any, alias: str | None = None, **parameters: Any) -> Measure:
        """The classes of the first column, told by the others.

        >>> import windrow as wr
        >>> window = wr.Window(wr.naive_bayes("kind", "width", "colour"))
        >>> window.insert_many([("pear", 6, "green"), ("plum", 3, "blue"), ("pear", 7, "yellow")])
        >>> window.insert(None, 5.5, "green")
        >>> [(each["label"], round(each["probability"], 3)) for each in window.query()]
        [('pear', 1.0), ('plum', 0.0)]
        """
        if len(columns) > len(self.inputs):
            return of_features(len(columns) - 1)(*columns, alias=alias, **parameters)
        return super().__call__(*columns, alias=alias, **parameters)


@functools.cache
def of_features(count: int) -> Aggregation:
    """The classifier of so many features."""
    names = ["feature", *(f"feature {number}" for number in range(2, count + 1))]
    features = [Input(name, FEATURES) for name in names]
    label = Input("label", LABELS, unknown=True)
    return NaiveBayes("naive_bayes", (label, *features), _monoid_for, close, _SUMMARY)


naive_bayes = of_features(1)
