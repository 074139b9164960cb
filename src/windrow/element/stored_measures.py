"""What a stored or compiled window computes: what you gave, or else what is stored.

A window has one aggregation, whose inputs are an event; or several measures, whose columns are
those of an event that is a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from windrow.aggregations import CATALOGUE, OFFERED
from windrow.algebra.aggregation import Aggregation, Measure
from windrow.element.lifting import RowEvents
from windrow.element.stored_header import Description, MeasureText
from windrow.errors import InvalidArgument

#: an aggregation, or measures of named columns
Asked: TypeAlias = "Aggregation | Measure | Iterable[Measure]"


class Measures(NamedTuple):
    """The measures of a window, and whether its events are rows."""

    each: tuple[Measure, ...]
    of_rows: bool

    def __str__(self) -> str:
        return ", ".join(
            f"{measure.aggregation.name}({', '.join(measure.columns)})"
            if self.of_rows
            else measure.aggregation.name
            for measure in self.each
        )


def measures_of(given: Asked | None, stored: Description | None, name: str) -> Measures:
    """The measures of a window that is given so, or stored so; the name is the window's."""
    if given is not None:
        return asked_measures(given)
    if stored is None:
        raise InvalidArgument(
            f"aggregation: no window {name!r} is in the store yet; say what it is to compute"
        )
    if stored.columns:
        measures = [_known(each, name)(*each.columns).alias(each.name) for each in stored.measures]
        return Measures(tuple(measures), of_rows=True)
    (only,) = stored.measures
    found = _known(only, name)
    roles = [entry.name for entry in found.inputs[: len(stored.types)]]
    return Measures((found(*roles) if only.nulls == "skipped" else found(),), of_rows=False)


def asked_measures(given: Asked) -> Measures:
    """One aggregation, or measures of named columns."""
    if isinstance(given, Measure):
        given.require_no_condition("aggregation")
        return Measures((given,), of_rows=False)
    if isinstance(given, Aggregation):
        return Measures((given(),), of_rows=False)
    if isinstance(given, Iterable) and not isinstance(given, str | Mapping):
        measures = tuple(given)
        if measures and all(isinstance(measure, Measure) for measure in measures):
            RowEvents(measures)
            if any(measure.columns for measure in measures):
                return Measures(measures, of_rows=True)
            raise InvalidArgument(
                "aggregation: the measures name no column, so events would have none; give "
                "wr.count() alone"
            )
    raise InvalidArgument(
        f"aggregation: give an aggregation such as wr.max(), not {given!r}; or a list of measures, "
        "as in [wr.max('x'), wr.mean('y')]"
    )


def _known(stored: MeasureText, name: str) -> Aggregation:
    """The aggregation of the catalogue that is stored."""
    if not stored.parameters:
        found = CATALOGUE.get(stored.aggregation)
        if found is None:
            raise InvalidArgument(
                f"aggregation: {stored.aggregation} is an aggregation of your own; give it again"
            )
        return found
    for offered in OFFERED:
        if offered.name == stored.called:
            return offered(**stored.parameters).aggregation
    raise InvalidArgument(
        f"aggregation: the window {name!r} was stored with {stored.called}, which this windrow "
        "does not have; give it again"
    )
