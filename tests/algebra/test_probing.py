"""Functions of one's own are tried when they are made; none that is right is refused."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from windrow.aggregations import CATALOGUE
from windrow.algebra.kinds import Kind


def add(older: Any, newer: Any) -> Any:
    return older + newer


def add_two(older: Any, newer: Any) -> Any:
    return (older[0] + newer[0], older[1] + newer[1])


def subtract(total: Any, oldest: Any) -> Any:
    return total - oldest


NOT_ASSOCIATIVE: dict[str, dict[str, Any]] = {
    "mean of means": {
        "identity": math.nan,
        "combine": lambda a, b: a if b != b else b if a != a else (a + b) / 2,
    },
    "one field of two": {
        "identity": (0, -math.inf),
        "lift": lambda x: (x, x),
        "combine": lambda a, b: (a[0] + b[0] + a[0] * b[0] ** 2, max(a[1], b[1])),
    },
    "integers": {"lift": lambda x: 1 << x, "combine": lambda a, b: a | b | (a & b) << 1 | a * b},
    "a row": {
        "identity": np.zeros(2),
        "lift": lambda x: np.array([x, 1.0]),
        "combine": lambda a, b: a + b + a * b * np.array([0.0, 1.0]) * b,
    },
    "text": {"identity": "", "combine": lambda a, b: a + b + (a if a and b else "")},
    "a pair": {
        "identity": ("", 0),
        "lift": lambda x: (str(x), 1),
        "combine": lambda a, b: (a[0] + b[0] if b[1] < 2 else b[0] + a[0], a[1] + b[1]),
    },
    "its own equality": {
        "identity": {},
        "lift": lambda x: {x: 1},
        "combine": lambda a, b: {**a, **b, **({"last": len(a)} if a and b else {})},
        "equal": lambda a, b: a == b,
    },
}
NO_INVERSE: dict[str, dict[str, Any]] = {
    "nothing leaves": {"combine": add, "inverse": lambda total, oldest: total},
    "the wrong way round": {"combine": add, "inverse": lambda total, oldest: oldest - total},
    "the newest leaves": {
        "identity": "",
        "combine": add,
        "inverse": lambda total, oldest: total[: -len(oldest)],
    },
    "one field is forgotten": {
        "identity": (0, 0),
        "lift": lambda x: (x, 1),
        "combine": add_two,
        "inverse": lambda total, oldest: (total[0] - oldest[0], total[1]),
    },
}


def made(definition: dict[str, Any], **further: Any) -> wr.Aggregation:
    return wr.aggregation(**{"name": "mine", "identity": 0, **definition, **further})


@pytest.mark.parametrize("name", NOT_ASSOCIATIVE)
def test_what_is_not_associative(name: str) -> None:
    with pytest.raises(wr.InvalidAggregation, match=r"^combine of 'mine' is not assoc.*check=Fal"):
        made(NOT_ASSOCIATIVE[name])
    made(NOT_ASSOCIATIVE[name], check=False)


@pytest.mark.parametrize("name", NO_INVERSE)
def test_what_is_no_inverse(name: str) -> None:
    with pytest.raises(wr.InvalidAggregation, match=r"^inverse of 'mine' does not undo .*check=Fa"):
        made(NO_INVERSE[name])
    made(NO_INVERSE[name], check=False)


def test_the_example_is_shown() -> None:
    with pytest.raises(wr.InvalidAggregation) as refused:
        made({"combine": add, "inverse": lambda total, oldest: total})
    assert str(refused.value) == (
        "inverse of 'mine' does not undo combine: combine(0.5, 1.75) is 2.25, and inverse(2.25, "
        "0.5) is 2.25, not 1.75; correct it, or leave this check out with check=False"
    )


def test_an_example_is_tried_too() -> None:
    with pytest.raises(wr.InvalidAggregation, match="combine of 'mine' is not associative"):
        made(
            {"lift": lambda row: row["x"], "combine": lambda a, b: a + b + a * a * b},
            example={"x": 2.0},
        )


def test_check_is_true_or_false() -> None:
    with pytest.raises(wr.InvalidAggregation, match="check: True or False, not 'no'"):
        made({"combine": add}, check="no")


# What is right ------------------------------------------------------------------------------------


#: Their partials are relative to one of the values. What an inverse leaves may be relative to one
#: that left: equal by the catalogue's equality (`tests/algebra/test_laws.py`), not as numbers.
RELATIVE = ("variance", "variance_pop", "stddev", "stddev_pop")


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_functions_of_the_catalogue(name: str) -> None:
    """As if they were one's own: rounding, rows of arrays, answers of structs."""
    aggregation = CATALOGUE[name]
    for kinds in (Kind.FLOAT, Kind.INTEGER, Kind.ANY):
        if any(kinds not in entry.accepts or entry.digest for entry in aggregation.inputs):
            continue
        monoid = aggregation.monoid_for((kinds,) * len(aggregation.inputs))
        inputs = [entry.name for entry in aggregation.inputs]
        lift = eval(f"lambda {', '.join(inputs)}: of({', '.join(inputs)})", {"of": monoid.lift})
        wr.aggregation(
            name=name, identity=monoid.identity, lift=lift, combine=monoid.combine,
            inverse=None if name in RELATIVE else monoid.inverse, lower=lambda partial: 1,
        )  # fmt: skip


NUMBERS = st.floats(-1e300, 1e300)


@given(NUMBERS, NUMBERS, st.floats(-300, 300), NUMBERS)
def test_sums_of_numbers_of_any_size(
    scale: float, shift: float, power: float, other: float
) -> None:
    """An addend may be too small to be seen beside another, and is lost when that is subtracted."""
    wr.aggregation(
        name="sums",
        identity=(0.0, 0.0, 0),
        lift=lambda x: (scale * x + shift, other * math.exp(power * x), 1),
        combine=lambda a, b: (a[0] + b[0], a[1] + b[1], a[2] + b[2]),
        inverse=lambda total, old: (total[0] - old[0], total[1] - old[1], total[2] - old[2]),
        lower=lambda partial: partial[0],
    )


@given(st.floats(1e-9, 1e9), st.floats(-40, 40))
def test_functions_that_round(scale: float, power: float) -> None:
    def log_add(older: float, newer: float) -> float:
        if older == -math.inf or newer == -math.inf:
            return max(older, newer)
        return max(older, newer) + math.log1p(math.exp(-abs(older - newer)))

    wr.aggregation(name="log_sum", identity=-math.inf, lift=lambda x: scale * x, combine=log_add)
    wr.aggregation(
        name="product",
        identity=1.0,
        lift=lambda x: scale * math.exp(power * x),
        combine=lambda older, newer: older * newer,
        inverse=lambda total, oldest: total / oldest,
    )
    wr.aggregation(
        name="area",  # of times in order
        identity=(0.0, math.nan, math.nan),
        lift=lambda t: (0.0, t * scale, t * scale),
        combine=lambda a, b: b if a[1] != a[1] else a if b[1] != b[1]
        else (a[0] + b[0] + (b[1] - a[2]) ** 2 / 2, a[1], b[2]),
        lower=lambda partial: partial[0],
    )  # fmt: skip


def test_what_cannot_be_compared_is_not_refused() -> None:
    class Bag:
        def __init__(self, values: list[Any]) -> None:
            self.values = values

    wr.aggregation(
        name="bag",
        identity=Bag([]),
        lift=lambda x: Bag([x]),
        combine=lambda older, newer: Bag(newer.values + older.values),
        lower=lambda bag: len(bag.values),
    )
    wr.aggregation(
        name="different",  # in no particular order
        identity=[],
        lift=lambda x: [x],
        combine=lambda older, newer: sorted({*older, *newer}, key=hash) if newer else older,
        lower=len,
    )
