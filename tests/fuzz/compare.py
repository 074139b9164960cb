"""Whether a result is what the model says, and the first place where it is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from tests.fuzz import model
from tests.fuzz.agreement import agree
from tests.fuzz.calls import Call, Measure, evaluated
from tests.fuzz.catalogue import catalogue
from tests.fuzz.columns import DAY, UNITS, plain


class Difference(Exception):
    """A result is not what the model says."""


def check_over(call: Call, result: pa.Table, expected: dict[str, list[Any]]) -> None:
    """All columns and rows of the call's table as they were, and the columns that are added."""
    names = [*call.columns, *expected]
    if result.column_names != names:
        raise Difference(f"expected the columns {names}\ngot {result.column_names}")
    if result.num_rows != call.size:
        raise Difference(f"expected {call.size} rows\ngot {result.num_rows}")
    for name, column in call.columns.items():
        _check_column(name, list(column.values), plain(result[name]))
    check_types(call, result)
    for name, values in expected.items():
        _check_column(name, values, plain(result[name]))


def _check_column(name: str, expected: list[Any], found: list[Any]) -> None:
    for row, (value, answer) in enumerate(zip(expected, found, strict=True)):
        if not agree(value, answer):
            raise Difference(f"{name} in row {row}\nexpected {expected}\ngot      {found}")


def check_slide(
    call: Call, result: pa.Table, expected: list[dict[str, Any]], *, ordered: bool = True
) -> None:
    """The same answers; those of a window and key in the same order, unless none is promised."""
    check_types(call, result)
    names = ["window"] * call.shows_names + [*call.key, "window_start", "window_end"]
    names += [measure.alias for measure in call.aggs]
    if result.column_names != names:
        raise Difference(f"expected the columns {names}\ngot {result.column_names}")
    wanted, given = _by_key(call, expected), _by_key(call, _rows(result))
    for key in wanted.keys() | given.keys():
        rows, answers = wanted.get(key, []), given.get(key, [])
        pairs = zip(rows, answers, strict=False) if ordered else _paired(call, rows, answers)
        same = all(_is_same(call, row, answer) for row, answer in pairs)
        if len(rows) != len(answers) or not same:
            expected_lines, found_lines = ("\n".join(map(str, each)) for each in (rows, answers))
            raise Difference(f"of {key}, expected\n{expected_lines}\ngot\n{found_lines}")


def _by_key(call: Call, rows: list[dict[str, Any]]) -> dict[Any, list[dict[str, Any]]]:
    found: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        key = (row.get("window"), *(model.as_key(row[name]) for name in call.key))
        found.setdefault(key, []).append(row)
    return found


def _paired(call: Call, rows: list[Any], answers: list[Any]) -> list[tuple[Any, Any]]:
    """Each row with an answer that is the same, as long as there is one."""
    left = list(answers)
    pairs = []
    for row in rows:
        match = next((each for each in left if _is_same(call, row, each)), left[0] if left else {})
        pairs.append((row, match))
        left = [each for each in left if each is not match]
    return pairs


def _is_same(call: Call, row: dict[str, Any], answer: dict[str, Any]) -> bool:
    return row.keys() == answer.keys() and all(
        agree(row[name], answer[name]) for name in row if name not in call.key
    )


def _rows(result: pa.Table) -> list[dict[str, Any]]:
    """The answers, begins and ends that are times in nanoseconds."""
    columns = {name: plain(result[name]) for name in result.column_names}
    for name in ("window_start", "window_end"):
        length = _nanoseconds(result[name].type)
        if length:
            columns[name] = [each if each is None else each * length for each in columns[name]]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _nanoseconds(data_type: pa.DataType) -> int | None:
    if pa.types.is_date32(data_type):
        return DAY
    if pa.types.is_date64(data_type):
        return UNITS["ms"]
    return UNITS[data_type.unit] if pa.types.is_temporal(data_type) else None


# Types -------------------------------------------------------------------------------------------


def check_types(call: Call, result: pa.Table) -> None:
    """Answers have the types that the docs say."""
    for field in result.schema:
        for measure in call.aggs:
            if field.name == measure.alias or field.name.startswith(f"{measure.alias}_w"):
                wanted = type_of(measure, [call.columns[name].type for name in measure.columns])
                if wanted is not None and plain_type(field.type) != wanted:
                    raise Difference(f"{field.name}: expected type {wanted}\ngot {field.type}")


def type_of(measure: Measure, types: Sequence[str]) -> pa.DataType | None:
    """The type of a measure's answers; None where the docs leave it open."""
    from tests.fuzz.columns import KINDS

    parameters = dict(measure.parameters)
    if parameters.get("sketch"):
        return pa.binary()
    if measure.name == "rank" and parameters.get("method") == "average":
        return pa.float64()
    if "interpolation" in parameters and parameters["interpolation"] != "midpoint":
        return None
    if isinstance(parameters.get("q"), list) or (measure.name == "moment_sketch" and parameters):
        return None
    entry = catalogue()[measure.name]
    written = entry.type_of([KINDS[each] for each in types], list(types))
    # What is nested or a view may come as a larger type of the same.
    if written is None or any(each in written for each in ("list", "view", "days")):
        return None
    found: pa.DataType = evaluated(written)
    return found


def plain_type(data_type: pa.DataType) -> pa.DataType:
    """The type of the values, however they are stored."""
    return data_type.value_type if pa.types.is_dictionary(data_type) else data_type
