"""What fails while rows are computed says of which aggregation and columns, wherever it runs."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import windrow as wr
from windrow.engine.over_batches import over_batches
from windrow.engine.slide_batches import slide_batches
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.planning.slide_plan import resolve_slide

pytestmark = pytest.mark.usefixtures("interpreted")

TABLE = pa.table(
    {
        "t": range(4),
        "n": [2**62] * 4,
        "m": [1, 2, 3, 4],
        "x": [1.0, -1.0, 1.0, 0.0],
        "word": ["a", "b", "c", "d"],
    }
)


def over(measures: list[wr.Measure]) -> Any:
    return wr.over(TABLE, order="t", windows=wr.rows(3), aggs=measures)


def slide(measures: list[wr.Measure]) -> Any:
    return wr.slide(TABLE, order="t", windows=wr.rows(3, every=1), aggs=measures)


def over_in_batches(measures: list[wr.Measure]) -> Any:
    plan = resolve_over(
        TABLE.schema, key=None, order="t", windows=wr.rows(3), aggs=measures, wish=Wish()
    )
    return list(over_batches(TABLE.select(plan.columns).to_batches(2), plan, set()))


def slide_in_batches(measures: list[wr.Measure]) -> Any:
    plan = resolve_slide(
        TABLE.schema, key=None, order="t", windows=wr.rows(3, every=1), aggs=measures,
        wish=Wish(), changes_only=False,
    )  # fmt: skip
    return list(slide_batches(TABLE.select(plan.columns).to_batches(2), plan, set()))


CALLS = [over, slide, over_in_batches, slide_in_batches]


def summing(lower: Callable[[Any], Any], plain: bool = False) -> wr.Aggregation:
    """A sum with a lower of one's own; plain partials are tuples of any length."""
    if plain:
        return wr.aggregation(
            name="own", identity=(), lift=lambda x: (x,), combine=lambda a, b: a + b,
            lower=lambda partial: lower(sum(partial)), output=pa.float64(),
        )  # fmt: skip
    return wr.aggregation(
        name="own", identity=0.0, lift=lambda x: x, combine=lambda a, b: a + b, lower=lower
    )


@pytest.mark.parametrize("call", CALLS)
def test_an_overflow(call: Callable[..., Any]) -> None:
    with pytest.raises(wr.AggregateOverflow, match=r"^sum\(n\): a sum left the range of 64-bit"):
        call([wr.max("m"), wr.sum("n"), wr.product("m")])
    with pytest.raises(wr.AggregateOverflow, match=r"^product\(n\) where m > 0: a product left"):
        call([wr.sum("m"), wr.product("n").where("m > 0")])
    with pytest.raises(wr.AggregateOverflow, match=r"^sum\(m\) or sum\(n\): a sum left the range"):
        call([wr.sum("m"), wr.sum("n")])
    with pytest.raises(wr.AggregateOverflow, match=r"^mode_2\(word\): .* more than limit=2"):
        call([wr.mode("word", limit=2)])


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("plain", [False, True])
def test_a_division_by_zero(call: Callable[..., Any], plain: bool) -> None:
    inverse = summing(lambda total: 1 / total, plain)
    with pytest.raises(wr.DivisionByZero, match=r"^own\(x\): .*division by zero"):
        call([wr.sum("m"), inverse("x")])


@pytest.mark.parametrize("call", CALLS)
def test_values_that_have_no_order(call: Callable[..., Any]) -> None:
    mixed = wr.arg_max("word", "m", key=lambda word: 1 if word == "a" else word)
    with pytest.raises(wr.InvalidArgument, match="key: its answers are of type int and str, and"):
        call([mixed])
    unread = wr.arg_max("m", "word", key=lambda number: "high" if number == 2 else number)
    with pytest.raises(wr.WindrowError, match=r"arg_max\(m, word\) cannot be computed of this"):
        call([unread])


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("plain", [False, True])
def test_answers_that_do_not_fit_what_was_promised(call: Callable[..., Any], plain: bool) -> None:
    narrow = wr.aggregation(
        name="narrow", identity=() if plain else 0.0, lift=lambda x: (x,) if plain else x,
        combine=lambda a, b: a + b, lower=(lambda _: 200) if plain else lambda _: 200.0,
        output=pa.int8(),
    )  # fmt: skip
    with pytest.raises(wr.InvalidAggregation, match=r"^narrow\(x\) gave .* no int8.*; give out"):
        call([narrow("x")])


def test_complex_numbers_are_refused() -> None:
    frame = pd.DataFrame({"z": [1j, 2j]})
    with pytest.raises(
        wr.InvalidArgument, match="data: the column 'z' of dtype complex128 cannot be read"
    ):
        wr.over(frame, windows=wr.rows(2), aggs=wr.count("z"))
