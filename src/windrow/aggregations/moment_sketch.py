"""MomentSketch with ten moments (Zhang et al. 2021, §5.1): quantiles from sums of powers.

A partial is a row of floats: the number of values, the smallest, the largest, and the sums of the
first ten powers of the values and of their logarithms. The powers are of distances from one value
of the partial, its reference. Far from zero, sums of the powers of the values themselves would have
no digit left for how the values deviate. To join two partials, the newer one's sums are moved to
the older one's reference.

`maximum_entropy` estimates the distribution from the moments. If all values are above zero and span
more than a factor of a hundred, it uses the moments of their logarithms.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.aggregations.maximum_entropy import quantiles
from windrow.aggregations.parameters import Shares, fractions
from windrow.aggregations.sketches import copied
from windrow.algebra.aggregation import NUMBERS, Aggregation, Input
from windrow.algebra.equality import close
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Field, InPlace, Lanes, Monoid, OutputType, Traits, always

MOMENTS = 10
COUNT, LOW, HIGH = 0, 1, 2
#: a reference and then ten sums of powers: for the values, and for their logarithms
POWERS, LOGARITHMS = 3, 3 + 1 + MOMENTS
WIDTH = LOGARITHMS + 1 + MOMENTS
#: if the largest value is more than so many times the smallest, logarithms say more
_SPREAD = 100.0

EMPTY = np.zeros(WIDTH)
EMPTY[[LOW, HIGH]] = math.inf, -math.inf
EMPTY.flags.writeable = False


def with_logarithms(column: pa.Array) -> Any:
    """The values and their logarithms, side by side."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    values = column.cast(pa.float64(), safe=False).fill_null(1.0).to_numpy(zero_copy_only=False)
    with np.errstate(all="ignore"):
        return np.stack([values, np.log(values)], axis=1)


def begin(value: Any, into: Any) -> None:
    """One value, which is the reference: its distance from it is zero, and so are the sums."""
    into[COUNT] = 1.0
    into[LOW] = into[HIGH] = into[POWERS] = value[0]
    into[LOGARITHMS] = value[1]


def join(older: Any, newer: Any, into: Any) -> None:
    """The sums of both, about the older reference."""
    if older[COUNT] == 0.0 or newer[COUNT] == 0.0:
        kept = newer if older[COUNT] == 0.0 else older
        for place in range(WIDTH):
            into[place] = kept[place]
        return
    into[COUNT] = older[COUNT] + newer[COUNT]
    # NaN stays: it makes the range one that no distribution has.
    into[LOW] = older[LOW] if older[LOW] < newer[LOW] or older[LOW] != older[LOW] else newer[LOW]
    into[HIGH] = (
        older[HIGH] if older[HIGH] > newer[HIGH] or older[HIGH] != older[HIGH] else newer[HIGH]
    )
    join_sums(older, newer, into, POWERS)
    join_sums(older, newer, into, LOGARITHMS)


def join_sums(older: Any, newer: Any, into: Any, reference: int) -> None:
    """Move the newer sums to the older reference, power by power, and add the older ones."""
    distance = newer[reference] - older[reference]
    for power in range(1, MOMENTS + 1):
        into[reference + power] = newer[reference + power]
    for least in range(1, MOMENTS + 1):
        for power in range(MOMENTS, least - 1, -1):
            below = newer[COUNT] if power == 1 else into[reference + power - 1]
            into[reference + power] += distance * below
    for power in range(1, MOMENTS + 1):
        into[reference + power] += older[reference + power]
    into[reference] = older[reference]


def begun(value: Any) -> Any:
    """The same as a new row."""
    into = EMPTY.copy()
    begin(value, into)
    return into


def begun_alone(value: Any) -> Any:
    """The same of a Python value."""
    number = float(value)
    return begun((number, math.log(number) if number > 0 else math.nan))


def joined(older: Any, newer: Any) -> Any:
    """The same as a new row."""
    into = EMPTY.copy()
    with np.errstate(all="ignore"):
        join(older, newer, into)
    return into


def alike(left: Any, right: Any) -> bool:
    """Whether two partials tell the same moments, whatever their references; or two answers."""
    if not isinstance(left, np.ndarray):
        return close(left, right)
    ends = slice(COUNT, HIGH + 1)
    if not np.array_equal(left[ends], right[ends], equal_nan=True):
        return False
    ours, theirs = scaled(np.stack([left, right]), np.zeros(2, np.bool_))[2]
    return bool(np.allclose(ours, theirs, rtol=0, atol=1e-9, equal_nan=True))


# From sums to answers ----------------------------------------------------------------------------


def scaled(rows: Any, logarithmic: Any) -> tuple[Any, Any, Any]:
    """The ends of the range of each row, and the means of the powers of its values in [-1, 1].

    Those of the logarithms where `logarithmic` says so. The zeroth power comes first.
    """
    with np.errstate(all="ignore"):
        ends = rows[:, LOW : HIGH + 1]
        ends = np.where(logarithmic[:, np.newaxis], np.log(ends), ends)
        low, high = ends.T
        half = np.where(low == high, 1.0, (high - low) / 2)
        first = np.where(logarithmic, LOGARITHMS, POWERS)
        sums = np.take_along_axis(rows, first[:, np.newaxis] + np.arange(MOMENTS + 1), axis=1)
        distance = (sums[:, 0] - (low + (high - low) / 2)) / half
        means = sums / rows[:, [COUNT]]
        means[:, 0] = 1.0
        means[:, 1:] /= half[:, np.newaxis] ** np.arange(1, MOMENTS + 1)
        for least in range(1, MOMENTS + 1):
            for power in range(MOMENTS, least - 1, -1):
                means[:, power] += distance * means[:, power - 1]
    return low, high, means


def estimated(rows: Any, shares: tuple[float, ...]) -> Any:
    """The quantiles of each row; not a number where some value was none, or infinite."""
    with np.errstate(all="ignore"):
        logarithmic = (rows[:, LOW] > 0) & (rows[:, HIGH] / rows[:, LOW] > _SPREAD)
        low, high, means = scaled(rows, logarithmic)
        spread = np.isfinite(low) & np.isfinite(high) & (low < high)
        found = np.zeros((len(rows), len(shares)))
        found[spread] = quantiles(means[spread], np.array(shares))
        found = (low + high)[:, np.newaxis] / 2 + found * (high - low)[:, np.newaxis] / 2
        found = np.where(logarithmic[:, np.newaxis], np.exp(found), found)
        ends = rows[:, [LOW]], rows[:, [HIGH]]
        known = np.isfinite(ends[0]) & np.isfinite(ends[1])
        return np.where(known, np.clip(found, *ends), np.nan)


def described(rows: Any, data_type: pa.DataType) -> pa.Array:
    """Structs of the ends of the range, and of the moments in it."""
    _low, _high, means = scaled(rows, np.zeros(len(rows), np.bool_))
    moments = pa.FixedSizeListArray.from_arrays(means[:, 1:].ravel(), MOMENTS)
    columns = (rows[:, COUNT].astype(np.int64), rows[:, LOW], rows[:, HIGH])
    children = [*map(pa.array, columns), moments.cast(data_type.field("moments").type)]
    return pa.StructArray.from_arrays(children, fields=list(data_type))


_DESCRIPTION = pa.struct(
    [
        ("count", pa.int64()),
        ("min", pa.float64()),
        ("max", pa.float64()),
        ("moments", pa.list_(pa.float64())),
    ]
)


def _moment_sketch(q: Shares | None = None) -> Aggregation:
    shares = () if q is None else fractions("q", q)
    several = isinstance(q, tuple)

    def finish(rows: Any, data_type: pa.DataType) -> pa.Array:
        if q is None:
            return described(rows, data_type)
        found = estimated(rows, shares)
        if not several:
            return pa.array(found[:, 0])
        return pa.FixedSizeListArray.from_arrays(found.ravel(), len(shares)).cast(data_type)

    answer = pa.list_(pa.float64()) if several else pa.float64()
    output: OutputType = always(_DESCRIPTION if q is None else answer)

    def lower(partial: Any) -> Any:
        return finish(partial[np.newaxis], output(()))[0].as_py()

    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        python = kinds[0] is Kind.ANY
        return Monoid(
            identity=EMPTY,
            lift=begun_alone if python else begun,
            combine=joined,
            lower=lower,
            in_place=None if python else InPlace(begin, join),
            traits=Traits(),
            fields=() if python else (Field("moment_sketch", "float64", WIDTH),),
            lanes=Lanes("float64", WIDTH, copied, finish),
            output=output,
        )

    named = "".join("_" + f"{share:g}".replace(".", "_") for share in shares)
    return Aggregation(
        f"moment_sketch{named}",
        (Input("value", NUMBERS, digest=with_logarithms),),
        monoid_for,
        alike,
        "the value that a share of `q` of all does not exceed, estimated from ten moments, or a "
        "list for a list of `q`; without `q`, a struct of count, min, max and the means of the "
        "first ten powers of the values, scaled to [-1, 1]",
        variant=_moment_sketch,
    )


moment_sketch = _moment_sketch()
