"""`wr.slide` on Spark gives the answers of `wr.slide` in this process."""

import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.over.events import random_events
from tests.over.oracle import agree, grouped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.compiled]

WINDOWS: dict[str, Any] = {
    "clock": wr.time("7 seconds", every="2 seconds", offset="500 milliseconds"),
    "sampled": wr.time("1 second", every="3 seconds"),
    "trailing": wr.time("9 seconds", every=3),
    "rows": wr.rows(7, every=2),
    "rows by clock": wr.rows(5, every="4 seconds"),
    "delta": wr.delta("x", 2.5, every=2),
    "whole delta": wr.delta("n", 2, every="3 seconds"),
    "punctuated": wr.punctuated("flag"),
    "session": wr.session("1 second"),
}
AGGS = [
    wr.max("x"), wr.count(), wr.sum("n"), wr.variance("n"), wr.arg_max("u", "c"), wr.last("c"),
    wr.concat("c"),
]  # fmt: skip


@pytest.fixture(scope="module")
def events() -> pa.Table:
    table = random_events(31, 20)
    flags = pa.array([row % 4 == 0 for row in table["id"].to_pylist()])
    return table.append_column("flag", flags)


@pytest.fixture(scope="module")
def frame(spark: "SparkSession", events: pa.Table) -> "DataFrame":
    return spark.createDataFrame(events)


def assert_same(on_spark: Any, in_process: pa.Table, key: list[str]) -> None:
    """The same answers; those of a window and key in the same order."""
    table = on_spark.toArrow()
    assert table.column_names == in_process.column_names
    assert table.num_rows == in_process.num_rows > 0
    named = [name for name in ("window", *key) if name in table.column_names]

    def by_key(answers: pa.Table) -> dict[Any, list[dict[str, Any]]]:
        groups: dict[Any, list[dict[str, Any]]] = {}
        for row in answers.to_pylist():
            groups.setdefault(tuple(grouped(row[name]) for name in named), []).append(row)
        return groups

    mine, spark = by_key(in_process), by_key(table)
    assert mine.keys() == spark.keys()
    for group, rows in mine.items():
        for row, answer in zip(rows, spark[group], strict=True):
            for name, value in row.items():
                if name not in key:
                    assert near(value, answer[name]), f"{name}: {answer} is not {row}"


def near(value: Any, answer: Any) -> bool:
    """Slices of other lengths round differently."""
    if isinstance(value, float) and isinstance(answer, float) and math.isfinite(value):
        return math.isclose(value, answer, rel_tol=1e-12, abs_tol=1e-12)
    return agree(value, answer)


@pytest.mark.parametrize("changes_only", [False, True])
@pytest.mark.parametrize("key", [["case", "name"], ["level"], []], ids=str)
def test_every_window(
    frame: "DataFrame", events: pa.Table, key: list[str], changes_only: bool
) -> None:
    arguments: dict[str, Any] = {
        "key": key, "order": ["ts", "id"], "windows": WINDOWS,
        "aggs": AGGS[:5] if changes_only else AGGS, "changes_only": changes_only,
    }  # fmt: skip
    assert_same(wr.slide(frame, **arguments), wr.slide(events, **arguments), key)
