"""Pairs of the docs: the same question asked of two libraries, and both answers.

    # pandas
    frame["x"].expanding().max()
    # windrow
    wr.over(frame, windows=wr.expanding(), aggs=wr.max("x"))["max_x"]

A block has two or more parts, each under a comment that names who answers. The last line of a part
is an expression. Its value is read as rows of plain values.
"""

import ast
import math
import re
from typing import Any

import pyarrow as pa

PART = re.compile(r"^# (?P<who>.+)\n", re.MULTILINE)


def answers_of(code: str, namespace: dict[str, Any]) -> dict[str, list[Any]]:
    """What each part of a block answers, by the name over it."""
    parts = PART.split(code)
    return {
        who: rows_of(_value(text, namespace))
        for who, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def _value(text: str, namespace: dict[str, Any]) -> Any:
    *first, last = ast.parse(text).body
    assert isinstance(last, ast.Expr), f"the last line is no expression: {text}"
    exec(compile(ast.Module(first, []), "pair", "exec"), namespace)
    return eval(compile(ast.Expression(last.value), "pair", "eval"), namespace)


def rows_of(value: Any) -> list[Any]:
    """A column as a list, a table as a list of rows; NaN and null are None, floats are rounded.

    Rows of Spark have no order: they are sorted.
    """
    if hasattr(value, "collect") and type(value).__module__.startswith("pyspark."):
        return sorted((tuple(map(_plain, row)) for row in value.collect()), key=repr)
    if type(value).__module__.startswith("pandas."):
        value = pa.table(value.reset_index(drop=True)) if value.ndim == 2 else value.tolist()
    if hasattr(value, "to_arrow"):
        value = value.to_arrow()
    if isinstance(value, pa.Table):
        return [tuple(map(_plain, row.values())) for row in value.to_pylist()]
    if isinstance(value, pa.Array | pa.ChunkedArray):
        value = value.to_pylist()
    return [_plain(each) for each in value]


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.9g}")
    if hasattr(value, "to_pydatetime"):
        return value.to_pydatetime()
    return value
