"""Machine code and plain Python give the same answers, for all aggregations of a column at once."""

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow.aggregations import CATALOGUE
from windrow.algebra.aggregation import Measure
from windrow.algebra.equality import close
from windrow.algebra.kinds import Kind
from windrow.testing import kinds_accepted

pytestmark = pytest.mark.compiled

ROWS = 200
COLUMNS = {Kind.FLOAT: "x", Kind.INTEGER: "n", Kind.BOOLEAN: "flag", Kind.TEMPORAL: "ts"}


def table() -> pa.Table:
    chance = np.random.default_rng(5)
    x = chance.integers(-40, 40, ROWS) / 8
    x[chance.random(ROWS) < 0.05] = np.nan
    x[chance.random(ROWS) < 0.03] = np.inf
    return pa.table(
        {
            "ts": pa.array(np.cumsum(chance.integers(0, 4, ROWS)), pa.timestamp("s")),
            "x": pa.array(x, mask=chance.random(ROWS) < 0.2),
            "n": pa.array(chance.integers(-9, 9, ROWS)),
            "flag": pa.array(chance.random(ROWS) < 0.5),
        }
    )


def measures(kind: Kind) -> list[Measure]:
    """Every compiled aggregation whose first column is of a kind."""
    found = []
    for aggregation in CATALOGUE.values():
        for kinds in kinds_accepted(aggregation):
            names = [COLUMNS.get(each, "") for each in kinds]
            if kinds[0] is kind and all(names) and aggregation.monoid_for(kinds).is_numeric:
                # Two columns that are the same would hide which is which.
                if len(names) == 2 and names[0] == names[1]:
                    names[1] = "n" if names[0] == "x" else "x"
                found.append(aggregation(*names))
    return found


@pytest.mark.parametrize("kind", COLUMNS, ids=lambda kind: kind.value)
def test_compiled_as_interpreted(kind, monkeypatch):
    wanted = measures(kind)
    question = {"order": "ts", "windows": wr.rows(7), "aggs": wanted}
    compiled = wr.over(table(), **question)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    with np.errstate(all="ignore"):
        interpreted = wr.over(table(), **question)
    for measure in wanted:
        found, expected = (each[measure.name].to_pylist() for each in (compiled, interpreted))
        assert close(found, expected), measure
