"""Machine code and plain Python give the same answers, for all aggregations.

The loop is the shortest there is: every other one compiles the same functions in more places.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow.aggregations import CATALOGUE
from windrow.algebra.aggregation import Aggregation, Measure
from windrow.algebra.equality import close
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid
from windrow.compiler.kernel import Kernel
from windrow.compiler.kernel_memory import KernelMemory
from windrow.compiler.slots import combine, identity, lift_row, lower_row
from windrow.engine.feature_columns import FeatureColumns
from windrow.planning.choose import Wish
from windrow.planning.features import features_of
from windrow.testing import kinds_accepted

pytestmark = pytest.mark.compiled

ROWS = 200
#: aggregations in a kernel
AT_ONCE = 8
COLUMNS = {
    Kind.FLOAT: "x",
    Kind.INTEGER: "n",
    Kind.BOOLEAN: "flag",
    Kind.TEMPORAL: "ts",
    Kind.DURATION: "d",
}


def table() -> pa.Table:
    chance = np.random.default_rng(5)
    x = chance.integers(-40, 40, ROWS) / 8
    x[chance.random(ROWS) < 0.05] = np.nan
    x[chance.random(ROWS) < 0.03] = np.inf
    return pa.table(
        {
            "ts": pa.array(np.cumsum(chance.integers(0, 4, ROWS)), pa.timestamp("s")),
            "d": pa.array(chance.integers(-99, 99, ROWS), pa.duration("ms")),
            "x": pa.array(x, mask=chance.random(ROWS) < 0.2),
            "n": pa.array(chance.integers(-9, 9, ROWS)),
            "m": pa.array(chance.integers(0, 9, ROWS)),
            "flag": pa.array(chance.random(ROWS) < 0.5),
        }
    )


def measures(kind: Kind) -> list[Measure]:
    """Every compiled aggregation whose first column is of a kind.

    Times are whole ticks to a kernel: functions that are those of integers make the same machine
    code, which is compiled for integers.
    """
    found = []
    for aggregation in CATALOGUE.values():
        for kinds in kinds_accepted(aggregation):
            names = [COLUMNS.get(each, "") for each in kinds]
            monoid = aggregation.monoid_for(kinds)
            if kinds[0] is not kind or not all(names) or not monoid.is_numeric:
                continue
            if aggregation.inputs[0].digest is not None and kind is not Kind.FLOAT:
                continue  # kernels see nothing of the kind
            if kind.in_ticks and functions(monoid) == of_integers(aggregation, kinds):
                continue
            # Two columns that are the same would hide which is which.
            if len(names) == 2 and names[0] == names[1]:
                names[1] = "m" if names[0] == "n" else "n"
            found.append(aggregation(*names))
    return found


def functions(monoid: Monoid) -> tuple[Any, ...]:
    return (monoid.lift, monoid.combine, monoid.in_place, monoid.fields, monoid.lower)


def of_integers(aggregation: Aggregation, kinds: Sequence[Kind]) -> tuple[Any, ...] | None:
    """The functions for integers in the place of times."""
    ticks = tuple(Kind.INTEGER if each.in_ticks else each for each in kinds)
    accepted = ticks in set(kinds_accepted(aggregation))
    return functions(aggregation.monoid_for(ticks)) if accepted else None


def bare(answers: list[Any]) -> list[Any]:
    """Structs as tuples of their members."""
    return [tuple(each.values()) if isinstance(each, dict) else each for each in answers]


def prefixes(columns: Any, validities: Any, answers: Any, defined: Any) -> None:
    """A driver: the answers for the first row, the first two rows, and so on."""
    partial = identity()
    for row in range(len(columns[0])):
        partial = combine(partial, lift_row(columns, validities, row))
        lower_row(answers, defined, row, partial)


def answered(wanted: list[Measure]) -> dict[str, list[Any]]:
    data = table()
    columns = {name: data[name].combine_chunks() for name in data.column_names}
    features, places = features_of(data.schema, wanted, Wish())
    groups = FeatureColumns(features, {"x"})
    assert not groups.plain
    answers = groups.answers(ROWS)
    kernel = Kernel(prefixes, (), groups.product, checked=False)
    kernel(
        *KernelMemory(groups.product).workspace(),
        *groups.compiled_block(columns, ROWS, 0),
        tuple(answers.values),
        tuple(answers.defined),
    )
    return {
        measure.name: groups.result(
            answers, features[places[measure]], lambda name, rows: columns[name].take(rows)
        ).to_pylist()
        for measure in wanted
    }


@pytest.mark.parametrize("kind", COLUMNS, ids=lambda kind: kind.value)
def test_compiled_as_interpreted(kind, monkeypatch):
    """Some at a time: a kernel of all takes twice as long to compile as those of a few."""
    wanted = measures(kind)
    for first in range(0, len(wanted), AT_ONCE):
        some = wanted[first : first + AT_ONCE]
        compiled = answered(some)
        with monkeypatch.context() as patch, np.errstate(all="ignore"):
            patch.setenv("NUMBA_DISABLE_JIT", "1")
            interpreted = answered(some)
        for measure in some:
            found, expected = (bare(each[measure.name]) for each in (compiled, interpreted))
            assert close(found, expected), measure


def test_structs_rows_keys_and_conditions_through_a_window(monkeypatch):
    question = {
        "order": "ts",
        "windows": wr.time("9 seconds"),
        "aggs": [
            wr.m4("x", "ts").where("flag"),
            wr.longest_increasing_run("n", "ts"),
            wr.nth("x", n=-2).where("x > 0"),
            wr.arg_max("n", key=math.cos),
            wr.arg_min("n", "ts", key=lambda number: (number - 2) ** 2),
        ],
    }
    compiled = wr.over(table(), **question)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    interpreted = wr.over(table(), **question)
    for name in compiled.column_names:
        assert close(*(bare(each[name].to_pylist()) for each in (compiled, interpreted))), name
