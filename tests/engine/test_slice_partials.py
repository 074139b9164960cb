"""Partials of slices, made of batches in any order, answer as the rows themselves do."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from tests.support.over.events import random_events
from windrow.engine.slice_partials import SlicePartials, at_begin, has_partials
from windrow.engine.slide_batches import slide_batches
from windrow.planning.choose import Wish
from windrow.planning.slide_plan import SlidePlan, resolve_slide

pytestmark = pytest.mark.usefixtures("interpreted")

WINDOWS = {
    "tumbling": wr.time("4 seconds", every="4 seconds"),
    "not dividing": wr.time("7 seconds", every="3 seconds", offset="1 second"),
    "sampled": wr.time("1 second", every="3 seconds"),
}
AGGS = [
    wr.sum("n"), wr.sum("n").where("x > 0").alias("some"), wr.max("n"), wr.mean("n"), wr.count("n"),
    wr.count(),
]  # fmt: skip


def plan_of(table: pa.Table, *aggs: Any, key: Any = "case") -> SlidePlan:
    return resolve_slide(
        table.schema, key=key, order="ts", windows=WINDOWS, aggs=aggs, wish=Wish(),
        changes_only=False,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("key", [["case", "name"], []], ids=str)
def test_rows_may_be_combined_in_any_order(key: list[str], seed: int) -> None:
    table = random_events(seed, 12)
    plan = plan_of(table, *AGGS, key=key)
    partials = SlicePartials(plan, set(table.column_names))
    shuffled = table.take(np.random.default_rng(seed).permutation(len(table)))
    batches = shuffled.select(plan.columns).combine_chunks().to_batches(max_chunksize=40)
    slices = pa.Table.from_batches([partials.of(batch) for batch in batches])
    assert len(slices) < len(table)

    (name,) = partials.plan.order
    slices = slices.sort_by([(column, "ascending") for column in (*key, name)])
    batches = [at_begin(batch, partials.plan) for batch in slices.combine_chunks().to_batches()]
    answered = list(slide_batches(batches, partials.plan, partials.nullable))

    expected = wr.slide(table, key=key, order="ts", windows=WINDOWS, aggs=AGGS)
    by = [(column, "ascending") for column in ("window", *key, "window_start")]
    found = pa.concat_tables(answered).sort_by(by)
    assert found.to_pylist() == expected.sort_by(by).to_pylist()


@pytest.mark.parametrize(
    "measure",
    [wr.first("n"), wr.arg_max("n", "c"), wr.ewm_mean("x", half_life=3), wr.concat("c")],
    ids=str,
)
def test_order_in_a_slice_may_matter(measure: Any) -> None:
    assert not has_partials(plan_of(random_events(1, 3), wr.sum("n"), measure))
