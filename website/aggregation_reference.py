"""The page of all aggregations: signature, columns, type, nulls and an example that was run.

The example is one table for all of them, with a column of each common kind, and windows of three
rows. What it answers is computed when the page is written, so it is what this windrow answers.
"""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

import windrow as wr
from windrow.aggregations import OFFERED
from windrow.aggregations.reference import facts_of
from windrow.algebra.aggregation import Aggregation
from windrow.algebra.kinds import Kind
from windrow.algebra.signatures import column_texts, signature_of, without_modules

TABLE = pa.table(
    {
        "t": pa.array([0, 10, 20, 30, 40], pa.timestamp("s")),
        "x": [3.0, -1.0, 4.0, 1.0, None],
        "n": [6, 3, 5, 3, 1],
        "city": ["Oslo", "Rome", "Rome", "Oslo", "Rome"],
        "ok": [True, False, True, True, False],
    }
)
#: columns of the table by the kinds that they are of, in the order in which they are tried
_COLUMNS = {Kind.FLOAT: "x", Kind.INTEGER: "n", Kind.BOOLEAN: "ok", Kind.TEXT: "city"}
#: columns of examples, where others than the first that fit say more
_FITTING = {
    "": ("count",),
    "x": ("ewm_mean",),
    "n": ("geometric_mean", "harmonic_mean", "relative_variation"),
    "ok": ("time_since_last",),
    "city": (
        "mode", "count_distinct", "collect_distinct", "all_equal", "approx_distinct", "bloom",
        "frequent_items", "count_min",
    ),
    "x n": ("weighted_mean", "covariance", "correlation"),
    "x t": ("m4", "rate", "slope", "intercept"),
    "x city": ("arg_max", "arg_min"),
    "n t": ("longest_increasing_run",),
    "city n": ("naive_bayes",),
}  # fmt: skip
_GIVEN = {name: columns.split() for columns, names in _FITTING.items() for name in names}
#: parameters of those that are nothing without
_PARAMETERS: dict[str, dict[str, Any]] = {
    "nth": {"n": 2},
    "quantile": {"q": 0.9},
    "approx_quantile": {"q": 0.5},
    "top_k": {"k": 2},
    "bottom_k": {"k": 2},
    "longest_run_above": {"threshold": 2},
    "ewm_mean": {"half_life": 2},
    "frequent_items": {"k": 1},
    "bloom": {"capacity": 100},
    "moment_sketch": {"q": 0.5},
}
#: windows that others than the three newest rows suit
_WINDOW = {"lead": "wr.rows(before=0, after=1)"}
_OPENING = """\
Aggregations
============

Every aggregation of the catalogue, as ``wr.name``.
:doc:`The table of all of them </aggregations>` has their traits and partials, and says more about
ranks, order statistics and sketches.

All of them take ``alias=``, the name of the answers. You can restrict each to some rows with
:py:meth:`where <windrow.Measure.where>`. Without columns they are for
:py:obj:`wr.Window <windrow.Window>`, whose events have none.

A call raises :py:obj:`wr.InvalidArgument <windrow.InvalidArgument>` if a column is missing, if the
aggregation does not take its kind, or if a parameter is out of range. An integer answer that does
not fit into 64 bits raises :py:obj:`wr.AggregateOverflow <windrow.AggregateOverflow>`.

The examples use this table, and windows of three rows unless they say otherwise:

.. code-block:: python

   import pyarrow as pa
   import windrow as wr

   table = pa.table({
{columns}
   })

   def answers(agg, window=wr.rows(3)):
       found = wr.over(table, order="t", windows=window, aggs=agg)
       values = found[agg.name].to_pylist()
       return [round(each, 3) if isinstance(each, float) else each for each in values]

"""


def aggregation_page() -> str:
    """The page, as reStructuredText."""
    columns = "\n".join(f'       "{name}": {_column_text(name)},' for name in TABLE.column_names)
    opening = _OPENING.replace("{columns}", columns)
    return opening + "\n".join(map(_entry, sorted(OFFERED, key=lambda each: each.name)))


def example_of(aggregation: Aggregation) -> tuple[str, Any]:
    """A call of it, as text, and the answers."""
    columns = _GIVEN.get(aggregation.name)
    if columns is None:
        columns = [_column_for(entry.accepts) for entry in aggregation.inputs]
    parameters = _PARAMETERS.get(aggregation.name, {})
    measure = aggregation(*columns, **parameters)
    window = _WINDOW.get(aggregation.name)
    given = [repr(column).replace("'", '"') for column in columns]
    given += [f"{name}={value!r}" for name, value in parameters.items()]
    call = f"wr.{aggregation.name}({', '.join(given)})"
    shown = f"answers({call}{f', {window}' if window else ''})"
    kind = wr.rows(before=0, after=1) if window else wr.rows(3)
    column = wr.over(TABLE, order="t", windows=kind, aggs=measure)[measure.name].to_pylist()
    found = [round(each, 3) if isinstance(each, float) else each for each in column]
    if isinstance(found[-1], bytes):
        return f"len({shown}[-1])", len(found[-1])
    if isinstance(found[-1], dict) or (
        isinstance(found[-1], list) and isinstance(found[-1][0], dict)
    ):
        return f"{shown}[-1]", found[-1]
    return shown, found


def _entry(aggregation: Aggregation) -> str:
    signature = without_modules(str(signature_of(aggregation)))
    summary = _code(f"{aggregation.summary[0].upper()}{aggregation.summary[1:]}.")
    call, found = example_of(aggregation)
    facts = facts_of(aggregation)
    columns = [f":param {_code(each)}" for each in _columns_told(aggregation)]
    told = [*columns, f":Type of the answer: {_code(facts.output)}", f":Nulls: {facts.nulls}"]
    return (
        f".. py:function:: windrow.{aggregation.name}{signature}\n\n   {summary}\n\n   "
        + "\n   ".join(told)
        + f"\n\n   >>> {call}\n   {found!r}\n"
    )


def _columns_told(aggregation: Aggregation) -> list[str]:
    return [each.replace(": ", ": a column; ", 1) for each in column_texts(aggregation)]


def _column_for(accepts: frozenset[Kind]) -> str:
    return next(column for kind, column in _COLUMNS.items() if kind in accepts)


def _column_text(name: str) -> str:
    if name == "t":
        return 'pa.array([0, 10, 20, 30, 40], pa.timestamp("s"))'
    return repr(TABLE[name].to_pylist()).replace("'", '"')


def _code(text: str) -> str:
    """Markdown's code as that of reStructuredText."""
    return re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", text)
