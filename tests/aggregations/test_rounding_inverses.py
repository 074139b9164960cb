"""Inverses that round, as SlickDeque (Inv) takes them (Shein et al. 2018): with `exact=False`."""

import math
import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from windrow.algebra.kinds import Kind
from windrow.testing import check_algorithm, check_laws
from windrow.testing.strategies import inputs_of, traces

PRODUCT = wr.product.admitting(exact=False)
SUBTRACTING = ["subtract_on_evict", "slick_deque_inv"]


@pytest.mark.parametrize("kind", [Kind.FLOAT, Kind.ANY, Kind.INTEGER], ids=str)
@given(data=st.data())
@examples(10)
def test_a_product_whose_factors_leave_keeps_the_laws(kind: Kind, data: st.DataObject) -> None:
    inputs = data.draw(st.lists(inputs_of(PRODUCT, [kind]), min_size=1, max_size=8))
    check_laws(PRODUCT, inputs, kinds=[kind])


@pytest.mark.parametrize("algorithm", SUBTRACTING)
@pytest.mark.parametrize("kind", [Kind.FLOAT, Kind.ANY], ids=str)
@given(data=st.data())
@examples(20)
def test_algorithms_that_subtract(algorithm: str, kind: Kind, data: st.DataObject) -> None:
    trace = data.draw(traces(inputs_of(PRODUCT, [kind])))
    check_algorithm(algorithm, PRODUCT, trace, kinds=[kind])


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("algorithm", ["slick_deque", *SUBTRACTING])
@pytest.mark.parametrize("name", ["product", "stddev", "variance_pop"])
def test_tables(algorithm: Any, name: str) -> None:
    numbers = np.random.default_rng(3).integers(-3, 4, 200) / 2.0
    table = pa.table({"x": numbers, "n": pa.array(numbers, mask=numbers > 1)})
    measure = {"variance_pop": wr.variance("x", population=True), "stddev": wr.stddev("n")}.get(
        name, wr.product("n")
    )
    asked: dict[str, Any] = {"windows": wr.rows(7), "aggs": measure}
    found = wr.over(table, **asked, algorithm=algorithm, exact=False)
    expected = wr.over(table, **asked)
    pairs = zip(found.columns[-1].to_pylist(), expected.columns[-1].to_pylist(), strict=True)
    for value, right in pairs:
        # The root of what is left of a variance of zero is larger than that.
        assert value == right or math.isclose(value, right, rel_tol=1e-9, abs_tol=1e-6)
    with pytest.raises(wr.NotApplicable):
        wr.over(table, **asked, algorithm=algorithm)


def test_a_window_in_plain_python() -> None:
    window = wr.Window(wr.product(), algorithm="slick_deque", exact=False)
    window.insert_many([2, 0, 10**30, 3])
    window.evict()
    assert window.query() == 0
    window.evict()
    assert window.query() == 3 * 10**30
    window.insert(0.5)
    assert window.query() == 1.5e30


def test_integers_of_a_column_are_exact_and_have_no_inverse() -> None:
    table = pa.table({"n": [2, 3, 4]})
    asked: dict[str, Any] = {"windows": wr.rows(2), "aggs": wr.product("n"), "exact": False}
    assert wr.over(table, **asked)["product_n"].to_pylist() == [2, 6, 12]
    with pytest.raises(wr.NotApplicable, match="slick_deque cannot serve product"):
        wr.over(table, **asked, algorithm="slick_deque")


def test_the_product_that_divides_is_pickled() -> None:
    assert pickle.loads(pickle.dumps(PRODUCT)) is PRODUCT
