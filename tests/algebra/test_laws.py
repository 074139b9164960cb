"""Every registered aggregation keeps the laws, and the laws find those that do not."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from windrow.aggregations import CATALOGUE
from windrow.algebra.aggregation import Aggregation, Input
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Field, InPlace, Monoid, Traits, always, integers
from windrow.testing import (
    check_associativity,
    check_commutativity,
    check_exactness,
    check_identity,
    check_in_place,
    check_inverse,
    check_laws,
    check_purity,
    check_selectivity,
    check_shared_fields,
    kinds_accepted,
    kinds_apart,
)
from windrow.testing.strategies import inputs_of

EVERY_KIND = [
    pytest.param(aggregation, kinds, id=f"{aggregation.name}-{kinds[0].value}")
    for aggregation in CATALOGUE.values()
    for kinds in kinds_accepted(aggregation)
]


def shared_names(one: Aggregation, other: Aggregation, kinds: tuple[Kind, ...]) -> set[str]:
    first, second = ({f.name for f in each.monoid_for(kinds).fields} for each in (one, other))
    return first & second


def sharing() -> list[Any]:
    """Pairs that name a field alike, one for each two sets of functions that might disagree."""
    found: dict[Any, Any] = {}
    for one, other in combinations(CATALOGUE.values(), 2):
        accepted = set(kinds_accepted(one)) & set(kinds_accepted(other))
        # In the same order in every process that runs some of the tests.
        for kinds in sorted(accepted & {*kinds_apart(one), *kinds_apart(other)}, key=str):
            first, second = (
                (each.lift, each.combine, each.fields)
                for each in (one.monoid_for(kinds), other.monoid_for(kinds))
            )
            if first != second and shared_names(one, other, kinds):
                test = pytest.param(
                    one, other, kinds, id=f"{one.name}-{other.name}-{kinds[0].value}"
                )
                found.setdefault((first, second), test)
    return list(found.values())


# The catalogue ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("aggregation", "kinds"), EVERY_KIND)
@examples(2)  # each draws a hundred runs of its inputs
@given(data=st.data())
def test_every_aggregation_keeps_its_laws(aggregation, kinds, data):
    inputs = data.draw(st.lists(inputs_of(aggregation, kinds), min_size=1, max_size=6))
    check_laws(aggregation, inputs, kinds)


@pytest.mark.parametrize(("one", "other", "kinds"), sharing())
@examples(2)
@given(data=st.data())
def test_a_field_means_the_same_to_all_that_name_it(one, other, kinds, data):
    inputs = data.draw(st.lists(inputs_of(other, kinds), min_size=1, max_size=6))
    check_shared_fields(one, other, inputs, kinds)


def test_moments_share_what_they_are_made_of():
    assert shared_names(wr.variance, wr.kurtosis, (Kind.FLOAT,)) == {
        "count", "reference", "excess", "deviation"
    }  # fmt: skip
    assert shared_names(wr.variance, wr.mean, (Kind.FLOAT,)) == {"count"}
    assert shared_names(wr.sum, wr.mean, (Kind.INTEGER,)) == {"sum_high", "sum_low"}
    # The root of a mean of squares takes them as floats, which are not the exact ones.
    assert not shared_names(wr.root_mean_square, wr.sum_of_squares, (Kind.INTEGER,))


# What a user writes -----------------------------------------------------------------------------


def test_an_aggregation_of_ones_own_is_checked_by_the_same_call():
    spread = wr.aggregation(
        name="spread",
        identity=(math.inf, -math.inf),
        lift=lambda x: (x, x),
        combine=lambda older, newer: (min(older[0], newer[0]), max(older[1], newer[1])),
        lower=lambda partial: partial[1] - partial[0],
        commutative=True,
        exact=True,
    )
    check_laws(spread, [3, 9, 4])
    check_laws(spread, [3.5, 9.0, math.inf], kinds=(Kind.FLOAT,))


def test_an_aggregation_of_two_columns_takes_tuples():
    dot = wr.aggregation(
        name="dot",
        identity=0.0,
        lift=lambda x, y: x * y,
        combine=lambda older, newer: older + newer,
        inverse=lambda total, oldest: total - oldest,
        commutative=True,
    )
    check_laws(dot, [(1.5, 2.0), (3.0, -4.0), (0.0, 1.0)])
    with pytest.raises(wr.InvalidArgument, match="takes 2 values"):
        check_laws(dot, [(1.0, 2.0, 3.0)])


def test_rows_of_arrays_and_objects_are_checked():
    histogram = wr.aggregation(
        name="histogram",
        identity=np.zeros(4, np.int64),
        lift=lambda x: np.eye(4, dtype=np.int64)[int(x) % 4],
        combine=lambda older, newer: older + newer,
        lower=lambda partial: int(partial.max()),
        inverse=lambda total, oldest: total - oldest,
        commutative=True,
        exact=True,
    )
    check_laws(histogram, [0, 1, 2, 3, 3])
    union = wr.aggregation(
        name="union",
        identity=frozenset(),
        lift=lambda x: frozenset([x]),
        combine=lambda older, newer: older | newer,
        lower=len,
        commutative=True,
    )
    check_laws(union, ["a", "b", "a"])


def broken(check: Any, aggregation: Aggregation, inputs: list[Any], **kwargs: Any) -> str:
    with pytest.raises(wr.LawViolation) as violation:
        check(aggregation, inputs, **kwargs)
    return str(violation.value)


def test_a_mean_of_means_is_not_associative():
    halfway = wr.aggregation(
        name="halfway",
        identity=math.nan,
        combine=lambda a, b: a if b != b else b if a != a else (a + b) / 2,
        check=False,
    )
    assert broken(check_laws, halfway, [8.0, 6.0, 4.0, 1.0]) == (
        "halfway breaks the law of associativity:\n"
        "    older = 8.0, the partial of [8.0]\n"
        "    middle = 8.0, the partial of [8.0]\n"
        "    newer = 6.0, the partial of [6.0]\n"
        "    combine(combine(older, middle), newer) = 7.0\n"
        "    combine(older, combine(middle, newer)) = 7.5"
    )


def test_zero_is_no_identity_of_max():
    """The wrong identity that stood for years in a published library."""
    wrong = wr.aggregation(name="wrong", identity=0, combine=lambda a, b: a if a > b else b)
    assert broken(check_laws, wrong, [3, 5, -2]) == (
        "wrong breaks the law of identity:\n"
        "    partial = -2, the partial of [-2]\n"
        "    combine(identity, partial) = 0 and not partial"
    )
    check_identity(wrong, [3, 5])


def test_a_wrong_inverse_is_found():
    wrong = wr.aggregation(
        name="wrong",
        identity=0,
        combine=lambda a, b: a + b,
        inverse=lambda total, oldest: total,
        check=False,
    )
    assert "law of inverse" in broken(check_laws, wrong, [0, 1])
    with pytest.raises(wr.InvalidArgument, match="max has no inverse"):
        check_inverse(wr.max, [1])


def test_an_inverse_of_floats_is_not_asked_to_bring_back_what_infinity_swallowed():
    check_inverse(wr.sum, [1.0, math.inf, math.nan], kinds=(Kind.FLOAT,))
    swallowed = "inverse(combine(older, newer), older) = 0.0 and not newer"
    assert swallowed in broken(check_inverse, wr.sum, [1e300, 1.0], kinds=(Kind.FLOAT,))


def test_what_is_declared_and_not_so_is_found():
    def last(**declared: bool) -> Aggregation:
        return wr.aggregation(
            name="latest", identity=0, combine=lambda older, newer: newer or older, **declared
        )

    check_laws(last(selective=True, exact=True), [1, 2, 3])
    assert "commutativity" in broken(check_laws, last(commutative=True), [1, 2])
    assert "commutativity" in broken(check_commutativity, last(), [1, 2])
    total = wr.aggregation(name="total", identity=0, combine=lambda a, b: a + b, selective=True)
    assert "= 2, which is neither" in broken(check_selectivity, total, [1])
    rounded = wr.aggregation(name="rounded", identity=0.0, combine=lambda a, b: a + b, exact=True)
    assert "exactness" in broken(check_laws, rounded, [0.1, 0.2, 0.3])
    check_associativity(rounded, [0.1, 0.2, 0.3])
    check_exactness(rounded, [0.25, 0.5])


def test_a_combine_that_changes_its_argument_is_found():
    """A ring would keep the changed partial: later answers would hold events twice."""

    def gather(older: list[Any], newer: list[Any]) -> list[Any]:
        older.extend(newer)
        return older

    # `wr.aggregation` refuses it when it is made; a registered one is only seen by the laws.
    monoid = Monoid([], lambda x: [x], gather, list, always(None))
    gathered = Aggregation("gathered", (Input("value"),), lambda _kinds: monoid)
    assert "combine made [1] of its argument []" in broken(check_purity, gathered, [1, 2])
    assert "purity" in broken(check_laws, gathered, [1, 2])


def test_a_combine_that_raises_is_found():
    fragile = wr.aggregation(name="fragile", identity=1.0, combine=lambda a, b: b / (1 / a))
    assert "raises ZeroDivisionError" in broken(check_laws, fragile, [1.0, 0.0])


def test_functions_that_write_in_place_must_write_what_the_others_return():
    def bits(combine_into: Any, lift_into: Any) -> Aggregation:
        monoid = Monoid(
            np.zeros(2, np.int64),
            lambda x: np.array([x, 1]),
            lambda older, newer: older + newer,
            len,
            always(None),
            fields=(Field("bits", "int64", 2),),
            in_place=InPlace(lift_into, combine_into),
        )
        return Aggregation("bits", (Input("value"),), lambda _kinds: monoid)

    def lift_into(x: Any, row: Any) -> None:
        row[0] = x
        row[1] = 1

    def lift_half(x: Any, row: Any) -> None:
        row[0] = x

    def add_into(older: Any, newer: Any, row: Any) -> None:
        row[:] = older + newer

    def add_to_what_was_there(older: Any, newer: Any, row: Any) -> None:
        row += older + newer

    check_laws(bits(add_into, lift_into), [1, 2])
    assert "law of lifting in place" in broken(check_in_place, bits(add_into, lift_half), [1])
    assert "law of combining in place" in broken(
        check_laws, bits(add_to_what_was_there, lift_into), [1]
    )
    with pytest.raises(wr.InvalidArgument, match="max has nothing in place"):
        check_in_place(wr.max, [1])


def test_the_example_is_cut_down():
    """It takes nine events to break this law, and no more are shown."""
    capped = wr.aggregation(
        name="capped", identity=0, combine=lambda a, b: a + b if a + b < 9 else a
    )
    message = broken(check_associativity, capped, [1])
    runs = [line.partition("the partial of ")[2] for line in message.splitlines()[1:4]]
    assert sum(run.count("1") for run in runs) == 9


def test_fields_that_are_named_alike_and_differ_are_found():
    def named_count(lift: Any) -> Aggregation:
        monoid = Monoid(
            0, lift, lambda a, b: a + b, lambda p: p, always(None), Traits(), integers("count")
        )
        return Aggregation(f"counting_{lift.__name__}", (Input("value"),), lambda _kinds: monoid)

    def two(_value: Any) -> int:
        return 2

    def one(_value: Any) -> int:
        return 1

    check_shared_fields(named_count(one), wr.count, [5])
    with pytest.raises(wr.LawViolation) as violation:
        check_shared_fields(named_count(two), wr.count, [5, 6])
    assert str(violation.value) == (
        "counting_two and count disagree on a field that they share:\n"
        "    over [5]\n"
        "    field 'count' of counting_two = 2\n"
        "    field 'count' of count = 1"
    )


def test_inputs_are_needed():
    with pytest.raises(wr.InvalidArgument, match="at least one input"):
        check_laws(wr.max, [None])
    with pytest.raises(wr.InvalidArgument, match="give an aggregation such as"):
        check_laws(max, [1])
    with pytest.raises(wr.InvalidArgument, match="kinds: arg_max has 2 input"):
        check_laws(wr.arg_max, [(1, 2)], kinds=(Kind.FLOAT,))
