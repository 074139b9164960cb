"""The catalogue: every aggregation by name, one family per file.

Importing the package imports every file of this folder. A file is a family: it offers every
aggregation that it defines under the aggregation's own name. `__init__.pyi` tells type checkers
which those are; `make pages` writes it.
"""

from types import ModuleType

from windrow.aggregations.count_min import CountMin
from windrow.aggregations.membership import BloomFilter
from windrow.algebra.aggregation import Aggregation, Measure, offer
from windrow.discovery import modules_of
from windrow.errors import InvalidAggregation

#: modules that write files from the catalogue, and so import it
_WRITERS = ("reference", "stub")
#: families in the order of the reference; others follow by name
_FIRST = (
    "counts", "sums", "means", "moments", "regression",
    "extremes", "extreme_counts", "arg_extremes", "positions", "previous", "since",
    "changes", "candles", "drawing",
    "collections", "uniformity", "order_statistics", "ranks", "different", "largest", "bits",
    "runs", "decay",
    "distinct_counts", "quantiles", "frequencies", "membership", "count_min", "moment_sketch",
    "classifiers",
)  # fmt: skip


def _offered(families: list[ModuleType]) -> dict[str, Aggregation]:
    """What users call: every public aggregation, from the family that defines it."""
    offered: dict[str, Aggregation] = {}
    for family in families:
        for name, aggregation in vars(family).items():
            if not isinstance(aggregation, Aggregation) or not name.islower() or name[0] == "_":
                continue
            if aggregation.name != name or offered.get(name, aggregation) is not aggregation:
                raise InvalidAggregation(
                    f"{family.__name__}: the aggregation {aggregation.name!r} stands under the "
                    f"name {name!r}; give every aggregation a name of its own, and the same to "
                    "both"
                )
            offered[name] = aggregation
    return offered


def _variants(families: list[ModuleType]) -> tuple[Aggregation, ...]:
    """What parameters make of them: the families' `EXAMPLES`."""
    measures: list[Measure] = []
    for family in families:
        measures += getattr(family, "EXAMPLES", ())
    return tuple(measure.aggregation for measure in measures)


_FAMILIES = modules_of(__name__, __path__, first=_FIRST, without=_WRITERS)
_BY_NAME = _offered(_FAMILIES)
offer(__name__, _BY_NAME)

#: what users call
OFFERED: tuple[Aggregation, ...] = tuple(_BY_NAME.values())
#: examples of what parameters make of them
VARIANTS: tuple[Aggregation, ...] = _variants(_FAMILIES)
#: every aggregation that tests and benchmarks take
CATALOGUE: dict[str, Aggregation] = {
    aggregation.name: aggregation
    for aggregation in (*OFFERED, *VARIANTS)
    if aggregation.is_complete
}

__all__ = ["BloomFilter", "CountMin", *sorted(_BY_NAME)]
# Last, because some of them are called like functions of Python.
globals().update(_BY_NAME)
