"""Products: equal components exist once, and a product answers what its parts answer."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from windrow.aggregations import CATALOGUE
from windrow.algebra.aggregation import Aggregation
from windrow.algebra.equality import close
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid
from windrow.algebra.product import Part, Product
from windrow.compiler.kernel import Kernel
from windrow.compiler.kernel_memory import KernelMemory
from windrow.compiler.slots import combine, identity, lift_row, lower_row
from windrow.testing import CountingMonoid, Subject, kinds_accepted
from windrow.testing.strategies import well_conditioned


def prefixes(columns: Any, validities: Any, answers: Any, defined: Any) -> None:
    """A driver: the answers for the first row, the first two rows, and so on."""
    partial = identity()
    for row in range(len(columns[0])):
        partial = combine(partial, lift_row(columns, validities, row))
        lower_row(answers, defined, row, partial)


def answers_of(
    product: Product, columns: Sequence[np.ndarray], validities: Sequence[np.ndarray] = ()
) -> list[list[Any]]:
    """What the product answers over growing windows, one list for each part, as plain Python."""
    rows = len(columns[0])
    answers = tuple(part.monoid.room(rows) for part in product.parts)
    defined = tuple(np.ones(rows, np.bool_) for _ in product.parts)
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        patch.setenv("NUMBA_DISABLE_JIT", "1")
        kernel = Kernel(prefixes, (), product, checked=False)
        rows_of_arrays = KernelMemory(product).workspace()
        kernel(*rows_of_arrays, tuple(columns), tuple(validities), answers, defined)
    return [
        [value if known else None for value, known in zip(_by_row(values), known, strict=True)]
        for values, known in zip(answers, defined, strict=True)
    ]


def _by_row(values: Any) -> Any:
    """The answers of a part row by row; of structs, tuples of their members."""
    return zip(*values, strict=True) if isinstance(values, tuple) else values


def parts(*aggregations: Aggregation, kind: Kind = Kind.FLOAT, **options: Any) -> list[Part]:
    return [Part(each.monoid_for((kind,)), (0,), **options) for each in aggregations]


def field_names(product: Product) -> list[str]:
    return sorted(entry.name for entry in product.fields)


# What exists once -------------------------------------------------------------------------------


def test_sum_count_mean_and_moments_hold_what_they_share_once():
    product = Product(parts(wr.sum, wr.count, wr.mean, wr.variance, wr.stddev))
    assert field_names(product) == ["count", "deviation", "excess", "reference", "sum"]
    with_shape = Product(parts(wr.variance, wr.stddev, wr.skewness, wr.kurtosis))
    assert field_names(with_shape) == [
        "count", "cubes", "deviation", "excess", "fourths", "reference"
    ]  # fmt: skip


def test_extremes_of_one_column_exist_once():
    product = Product(parts(wr.max, wr.min, wr.value_range, wr.max_count))
    assert field_names(product) == ["count_of_max", "max", "min"]


def test_exact_sums_of_integers_are_shared_with_the_mean():
    product = Product(parts(wr.sum, wr.mean, kind=Kind.INTEGER))
    assert field_names(product) == ["count", "sum_high", "sum_low"]


def test_other_columns_have_fields_of_their_own():
    sum_of = wr.sum.monoid_for((Kind.FLOAT,))
    product = Product([Part(sum_of, (0,)), Part(sum_of, (1,)), Part(sum_of, (0,))])
    assert field_names(product) == ["sum", "sum"]


def test_each_combine_of_what_is_shared_is_called_once():
    counted = {
        name: CountingMonoid(CATALOGUE[name].monoid_for((Kind.FLOAT,)))
        for name in ("sum", "count", "mean", "variance", "kurtosis")
    }
    product = Product([Part(each.monoid, (0,)) for each in counted.values()])
    answers_of(product, [np.arange(10.0)])
    calls = {name: each.combines for name, each in counted.items()}
    # The count and the variance are read off the kurtosis, the sum off the mean.
    assert calls == {"sum": 0, "count": 0, "mean": 10, "variance": 0, "kurtosis": 10}


def test_users_aggregations_of_one_name_are_not_mistaken_for_each_other():
    """Both were called m, and the second answered with the first one's combine."""
    smallest = wr.aggregation(name="m", identity=math.inf, combine=lambda a, b: b if b < a else a)
    largest = wr.aggregation(name="m", identity=-math.inf, combine=lambda a, b: b if b > a else a)
    product = Product(parts(smallest, largest))
    assert answers_of(product, [np.array([2.0, 1.0, 3.0])]) == [[2.0, 1.0, 1.0], [2.0, 2.0, 3.0]]


# What it answers --------------------------------------------------------------------------------

COMPILED = {
    kind: [
        aggregation
        for aggregation in CATALOGUE.values()
        if (kind,) in list(kinds_accepted(aggregation))
        and aggregation.monoid_for((kind,)).fields
        # What a row of numbers is finished to is no matter of the product.
        and aggregation.monoid_for((kind,)).lanes is None
    ]
    for kind in (Kind.FLOAT, Kind.INTEGER)
}


def _part(monoid: Monoid, place: int) -> Part:
    """One of a column with nulls, which it skips or counts."""
    if monoid.absent is None:
        return Part(monoid, (place,), nullable=(place,))
    return Part(monoid, (place,), missing=(place,))


@pytest.mark.parametrize("kind", COMPILED)
@examples(20)
@given(data=st.data())
def test_a_product_answers_what_its_parts_answer(kind, data):
    chosen = data.draw(st.lists(st.sampled_from(COMPILED[kind]), min_size=1, max_size=5))
    values = data.draw(st.lists(st.none() | well_conditioned(kind), min_size=1, max_size=8))
    valid = np.array([value is not None for value in values])
    column = np.array([value or 0 for value in values], float if kind is Kind.FLOAT else np.int64)
    # Kernels carry positions in the place of values that are only handed through, and digests.
    columns = [column, np.arange(len(column))]
    places = []
    for entry in (aggregation.inputs[0] for aggregation in chosen):
        places.append(1 if entry.carried else 0 if entry.digest is None else len(columns))
        columns += [] if entry.digest is None else [entry.digest(pa.array(column))]
    product = Product(
        [_part(each.monoid_for((kind,)), place) for each, place in zip(chosen, places, strict=True)]
    )
    found = answers_of(product, columns, [valid for _ in product.nullable_columns])
    for aggregation, answers in zip(chosen, found, strict=True):
        subject = Subject(aggregation, (kind,))
        for row, answer in enumerate(answers):
            assert close(answer, subject.answer(values[: row + 1])), aggregation


def test_a_partial_of_one_field_may_be_a_tuple():
    boxed = wr.aggregation(
        name="boxed",
        identity=(0.0,),
        lift=lambda x: (x,),
        combine=lambda older, newer: (older[0] + newer[0],),
        lower=lambda partial: partial[0],
    )
    product = Product(parts(boxed, wr.sum))
    assert answers_of(product, [np.array([1.5, 2.0])]) == [[1.5, 3.5], [1.5, 3.5]]


def test_nulls_are_skipped_and_windows_of_nulls_have_no_answer():
    product = Product(parts(wr.sum, wr.max, wr.count, wr.variance, nullable=(0,)))
    found = answers_of(
        product, [np.array([7.0, 2.0, 9.0, 4.0])], [np.array([False, True, False, True])]
    )
    assert found == [
        [None, 2.0, 2.0, 6.0],
        [None, 2.0, 2.0, 4.0],
        [0, 1, 1, 2],
        [None, None, None, 2.0],
    ]


def test_a_product_is_as_exact_and_commutative_as_its_least_part():
    both = Product(parts(wr.max, wr.min)).traits
    assert both.exact
    assert both.commutative
    assert not both.selective
    assert Product(parts(wr.max)).traits.selective
    assert not Product(parts(wr.max, wr.sum)).traits.exact
    assert not Product(parts(wr.max, wr.first)).traits.commutative
