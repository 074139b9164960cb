"""The page `docs/aggregations.md`: the catalogue as a table.

python -m windrow.aggregations.reference > docs/aggregations.md
"""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from windrow.aggregations import OFFERED, VARIANTS
from windrow.algebra.aggregation import Aggregation
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid
from windrow.algebra.signatures import column_texts, parameters_of

#: a type of each kind, to ask for the types of answers
_TYPES = {
    Kind.FLOAT: pa.float32(),
    Kind.INTEGER: pa.int32(),
    Kind.DECIMAL: pa.decimal128(10, 2),
    Kind.TEXT: pa.string(),
    Kind.TEMPORAL: pa.timestamp("us"),
    Kind.DURATION: pa.duration("us"),
    Kind.BOOLEAN: pa.bool_(),
    Kind.NESTED: pa.list_(pa.int64()),
}

_TABLE_1 = "Tangwongsan et al. 2021, Table 1"
#: where the five papers name aggregations
_PAPERS = {
    "count": _TABLE_1, "sum": _TABLE_1, "mean": _TABLE_1, "geometric_mean": _TABLE_1,
    "stddev": _TABLE_1, "max": _TABLE_1, "min": _TABLE_1, "arg_max": _TABLE_1,
    "max_count": _TABLE_1, "m4": _TABLE_1, "min_count": "Tangwongsan et al. 2015, Table 1",
    "relative_variation": "Tangwongsan et al. 2021, §7.3",
    "longest_increasing_run": "Villalba et al. 2019, §5.6",
    "approx_distinct": _TABLE_1, "bloom": _TABLE_1, "count_min": _TABLE_1,
    "naive_bayes": _TABLE_1, "moment_sketch": "Zhang et al. 2021, §5.1",
}  # fmt: skip

_INTRODUCTION = """\
# Aggregations

All aggregations of the catalogue. Call them as `wr.max("amount")`.

You can restrict each of them to some rows, as in `wr.sum("x").where("status = 'ok'")`;
[Conditions](conditions.md) has the language. Those of one column
can also count each different value once, as in `wr.count("x").over_distinct()`.

```python
>>> import pyarrow as pa, windrow as wr
>>> table = pa.table({"x": [3.0, 1.0, 4.0, 1.0, 5.0], "ok": [True, False, True, True, False]})
>>> aggs = [wr.top_k("x", k=2), wr.nth("x", n=-2), wr.sum("x").where("ok or x > 4")]
>>> wr.over(table, windows=wr.rows(3), aggs=aggs).to_pylist()[-1]
{'x': 5.0, 'ok': False, 'top_2_x': [5.0, 4.0], 'nth_last_2_x': 1.0, 'sum_x': 10.0}
```

The columns of the table below:

- **traits**: **c**ommutative, **s**elective (combine returns one of its arguments), **e**xact
  (combine rounds nothing), **i**nvertible. They may depend on the kind of the column; the table
  shows those of the first kind in its row.
- **partial**: what is kept of a run of events. Numbers are compiled, and Python objects are not.
  Columns of text and decimals are compiled only if they are carried along, or hashed by a sketch.
- **type of the answer**: "as value" is the type of the column `value`.
- **nulls**: "skipped in value" leaves out rows in which `value` is null. Then comes what a window
  answers that has no other rows. Aggregations about the current row, such as `lag`, count rows
  without a value, too, and those that `.where(...)` leaves out.
- **paper**: where [one of the five papers](papers.md) names it.

| name | answer | columns | traits | partial | type of the answer | nulls | paper |
|---|---|---|---|---|---|---|---|
"""


_CURRENT_ROW = """
## The current row

`lag`, `lead`, `previous`, `count_since_last` and `time_since_last` look back or ahead from the
current row; in `slide` and `wr.Window`, from the newest. They count rows, also those without a
value.

```python
>>> visits = pa.table(
...     {
...         "t": pa.array([0, 5, 7, 20, 26], pa.timestamp("s")),
...         "price": [3.0, None, 2.0, 4.0, 4.5],
...         "page": ["home", "cart", "home", "cart", "home"],
...     }
... )
>>> aggs = [
...     wr.lag("price"),
...     wr.previous("price"),
...     wr.count_since_last("page = 'cart'"),
...     wr.time_since_last("page = 'cart'"),
... ]
>>> found = wr.over(visits, order="t", windows=wr.expanding(), aggs=aggs)
>>> found["lag_price"].to_pylist()
[None, 3.0, None, 2.0, 4.0]
>>> found["previous_price"].to_pylist()
[None, 3.0, 3.0, 2.0, 4.0]
>>> found["count_since_last"].to_pylist()
[None, 0, 1, 0, 1]
>>> [str(each) for each in found["time_since_last"].to_pylist()]
['None', '0:00:00', '0:00:02', '0:00:00', '0:00:06']
>>> wr.over(visits, order="t", windows=wr.rows(before=0, after=1), aggs=wr.lead("page", 1))[
...     "lead_page"
... ].to_pylist()
['cart', 'home', 'cart', 'home', None]

```

- `lag` answers within its window: as SQL's does, if the window reaches that row.
- The condition is a column of truth values, or a text as in `.where(...)`. A column whose name is
  no word goes in double quotes.
- Give them windows that end at the current row, and `lead` one of rows that begins there. Others
  are refused when you make the call. Without the current row, use `last` in place of `previous`.
- On a stream, `lead` is answered when the rows of its window have come.
- With `.where(...)`, the rows that it leaves out stay rows, without a value. So
  `previous("price").where("page = 'home'")` is the last price on a home page before this row.
"""

_ORDER_STATISTICS = """
## Order statistics and different values

These answers are exact. `wr.over` and `wr.slide` find them from the counts of values in a window:

```python
>>> table = pa.table({"t": range(6), "x": [3.0, 1.0, 4.0, 1.0, 5.0, 9.0]})
>>> aggs = [wr.median("x"), wr.quantile("x", [0.25, 0.5]), wr.rank("x"), wr.percent_rank("x")]
>>> aggs += [wr.mode("x"), wr.count_distinct("x"), wr.mean("x").over_distinct()]
>>> found = wr.over(table, order="t", windows=wr.rows(4), aggs=aggs)
>>> found["median_x"].to_pylist()
[3.0, 2.0, 3.0, 2.0, 2.5, 4.5]
>>> last = found.to_pylist()[-1]
>>> last["quantiles_0_25_0_5_x"], last["rank_x"], last["percent_rank_x"]
([3.25, 4.5], 4, 1.0)
>>> last["mode_x"], last["count_distinct_x"], last["mean_distinct_x"]
(4.0, 4, 4.75)

```

- A quantile lies at the place `q * (n - 1)` of the n sorted values, as in numpy, pandas and Spark's
  `percentile`. `nearest` takes the even place where two are equally near.
- NaN is one value, larger than all numbers. -0.0 is 0.0. Nulls are skipped.
- `rank` and `percent_rank` are of the current row in `wr.over`, of the newest in `wr.slide` and
  `wr.Window`. Rows that `where` leaves out count as null.
- Times, dates, texts and decimals have quantiles with `interpolation="lower"`, `"higher"` or
  `"nearest"`, and all have ranks.
"""

_SKETCHES = """
## Sketches

Sketches give approximate answers from partials of bounded size. A parameter says how large the
error may be:

```python
>>> visits = pa.table({"t": range(6), "user": ["ann", "bob", "ann", "eve", "ann", "bob"]})
>>> aggs = [
...     wr.approx_distinct("user"),
...     wr.frequent_items("user", 1),
...     wr.bloom("user", capacity=1000),
...     wr.approx_quantile("t", [0.5, 0.9]),
... ]
>>> last = wr.over(visits, order="t", windows=wr.rows(4), aggs=aggs).to_pylist()[-1]
>>> last["approx_distinct_user"], last["frequent_items_1_user"]
(3, [{'item': 'ann', 'count': 2, 'error': 0}])
>>> "eve" in wr.BloomFilter(last["bloom_1000_user"])
True
>>> last["approx_quantiles_0_5_0_9_t"]
[3, 5]

```

| sketch | its bytes are read by |
|---|---|
| `approx_distinct(..., sketch=True)` | Apache DataSketches, and so Spark's `hll_union` |
| `bloom` | `wr.BloomFilter`; Spark's `org.apache.spark.util.sketch.BloomFilter.readFrom` |
| `count_min` | `wr.CountMin`; Spark's `org.apache.spark.util.sketch.CountMinSketch.readFrom` |

- Hashes are those of the same systems. You can join a sketch that DataSketches made of the same
  integers, floats or texts with one of windrow's. 1 and 1.0 are different values. Times are hashed
  as nanoseconds, decimals as their digits. An empty text is a value.
- `approx_quantile` answers with a value of the column, of any type that has an order. It knows only
  ranks. `moment_sketch` is compiled, takes only numbers, and answers between values. It is best for
  values that are spread smoothly. If one value lies a million times as far out as the others, the
  moments describe only that one.
- The size of `approx_distinct`, `bloom` and `count_min` follows from their parameters. By default
  it is 512 bytes, 1.2 bytes for each of `capacity` values, and 80 / `error` bytes. A window keeps a
  partial for each event or slice, so windrow refuses partials of more than 16 MiB.
- `approx_quantile` and `frequent_items` are exact for few values: up to about 3 / `error` and
  1 / `error` of them.
"""


def page() -> str:
    """The page."""
    return (
        _INTRODUCTION
        + "\n".join(map(_row, OFFERED))
        + "\n"
        + _CURRENT_ROW
        + _ORDER_STATISTICS
        + _SKETCHES
    )


class Facts(NamedTuple):
    """What the page says of an aggregation, as text."""

    traits: str
    partial: str
    output: str
    nulls: str


def facts_of(aggregation: Aggregation) -> Facts:
    """What an aggregation keeps and answers; of one with parameters, with those of an example."""
    example = aggregation
    if not aggregation.is_complete:
        example = next(each for each in VARIANTS if each.called == aggregation.name)
    kinds = _kinds(example)
    monoid = example.monoid_of(kinds[0])
    return Facts(
        _traits(monoid), _partial(monoid), _output(example, kinds), _nulls(aggregation, monoid)
    )


def _row(aggregation: Aggregation) -> str:
    cells = (
        f"`{_call(aggregation)}`",
        aggregation.summary,
        "; ".join(column_texts(aggregation)),
        *facts_of(aggregation),
        _PAPERS.get(aggregation.name, ""),
    )
    return f"| {' | '.join(cells)} |"


def _call(aggregation: Aggregation) -> str:
    names = [entry.name for entry in aggregation.inputs]
    names += [f"{each.name}=" for each in parameters_of(aggregation)]
    return f"{aggregation.name}({', '.join(names)})"


def _nulls(aggregation: Aggregation, monoid: Monoid) -> str:
    """Which nulls are skipped, and what is answered if nothing is left."""
    watched = [aggregation.inputs[place].name for place in aggregation.watched]
    skipped = f"skipped in {' and '.join(watched)}" if watched else "counted as rows"
    return f"{skipped}; {0 if monoid.answers_nothing else 'null'} if nothing is left"


def _kinds(aggregation: Aggregation) -> list[tuple[pa.DataType, ...]]:
    """Types of columns that it takes: one of each kind, and beside it another."""
    first, *others = aggregation.inputs
    beside = [_TYPES[_other(entry.accepts)] for entry in others]
    return [(_TYPES[kind], *beside) for kind in _TYPES if kind in first.accepts]


def _other(accepts: frozenset[Kind]) -> Kind:
    rarer = (Kind.BOOLEAN, Kind.DURATION)
    return next(kind for kind in reversed(_TYPES) if kind in accepts and kind not in rarer)


def _traits(monoid: Monoid) -> str:
    held = {
        "c": monoid.traits.commutative,
        "s": monoid.traits.selective,
        "e": monoid.traits.exact,
        "i": monoid.inverse is not None,
    }
    return " ".join(letter for letter, holds in held.items() if holds)


def _partial(monoid: Monoid) -> str:
    if not monoid.fields:
        return "Python objects"
    wide = [entry.width for entry in monoid.fields if entry.width]
    if wide:
        return f"a row of {wide[0]} numbers"
    count = len(monoid.fields)
    return "1 number" if count == 1 else f"{count} numbers"


def _output(aggregation: Aggregation, columns: list[tuple[pa.DataType, ...]]) -> str:
    answers = {types: aggregation.monoid_of(types).output(types) for types in columns}
    for place, entry in enumerate(aggregation.inputs):
        if all(answer == types[place] for types, answer in answers.items()):
            return f"as {entry.name}"
    if len(set(answers.values())) == 1:
        return _told(*next((answer, types) for types, answer in answers.items()))
    told: dict[str, list[str]] = {}
    for types, answer in answers.items():
        told.setdefault(_told(answer, types), []).append(str(Kind.of(types[0]).value))
    if len(told) == 1:
        return next(iter(told))
    return "; ".join(f"{answer} for {', '.join(kinds)}" for answer, kinds in told.items())


def _told(answer: pa.DataType, types: tuple[pa.DataType, ...]) -> str:
    """A type, with that of the first column called by its role."""
    if answer == pa.list_(types[0]):
        return "list of the values"
    if pa.types.is_struct(answer):
        return f"struct of {', '.join(field.name for field in answer)}"
    if pa.types.is_list(answer) and pa.types.is_struct(answer.value_type):
        return f"list of structs of {', '.join(field.name for field in answer.value_type)}"
    return "as value" if answer == types[0] else str(answer)


if __name__ == "__main__":
    print(page(), end="")
