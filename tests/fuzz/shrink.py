"""From a call that goes wrong to a small one that goes wrong in the same way, as a script."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.fuzz.backends import BACKENDS
from tests.fuzz.calls import Call
from tests.fuzz.columns import Column
from tests.fuzz.examine import Example, Finding, examined

IMPORTS = """\
from decimal import Decimal
from math import inf, nan

import pyarrow as pa

import windrow as wr
"""


def shrunk(example: Example, finding: Finding, seconds: float = 60) -> tuple[Example, Finding]:
    """The smallest example that is found in some time."""
    end = time.monotonic() + seconds
    progress = True
    while progress:
        progress = False
        for smaller in _smaller(example.call):
            if time.monotonic() > end:
                return example, finding
            candidate = replace(example, call=smaller)
            found = _asked(candidate)
            if found is not None and found.sign == finding.sign:
                example, finding, progress = candidate, found, True
                break
    return example, finding


def _asked(example: Example) -> Finding | None:
    """What is wrong; what is too small to be asked at all is not wrong."""
    try:
        return examined(example)
    except (IndexError, ZeroDivisionError, ValueError):
        return None


def _smaller(call: Call) -> Iterator[Call]:
    """Calls with less in them, those with much less first."""
    for step in (_fewer_measures, _fewer_windows, _fewer_rows, _fewer_columns, _simpler_measures):
        yield from step(call)
    yield from _simpler_windows(call)
    for name in call.options:
        yield replace(call, options={n: v for n, v in call.options.items() if n != name})
    if call.key:
        yield replace(call, key=())
        yield replace(call, key=call.key[1:])
    yield from _plainer_columns(call)
    yield from _simpler_values(call)


def _without_each(items: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for index in range(len(items)):
        yield (*items[:index], *items[index + 1 :])


def _fewer_measures(call: Call) -> Iterator[Call]:
    if len(call.aggs) > 1:
        yield from (replace(call, aggs=(measure,)) for measure in call.aggs)
        yield from (replace(call, aggs=fewer) for fewer in _without_each(call.aggs))


def _fewer_windows(call: Call) -> Iterator[Call]:
    if call.named:
        yield replace(call, named=False)
    if len(call.windows) > 1:
        yield from (replace(call, windows=(window,)) for window in call.windows)
        yield from (replace(call, windows=fewer) for fewer in _without_each(call.windows))


def _fewer_rows(call: Call) -> Iterator[Call]:
    """Halves, quarters, and at last single rows left out."""
    rows = list(range(call.size))
    length = len(rows) // 2
    while length:
        for begin in range(0, len(rows), length):
            yield call.take(rows[:begin] + rows[begin + length :])
        length //= 2
    if len(rows) == 1:
        yield call.take([])


def _read(call: Call) -> set[str]:
    columns = {*call.key, *call.order}
    for measure in call.aggs:
        columns |= measure.reads
    for window in call.windows:
        columns |= window.reads
    return columns


def _fewer_columns(call: Call) -> Iterator[Call]:
    read = _read(call)
    kept = {name: column for name, column in call.columns.items() if name in read}
    if not kept:
        kept = dict(list(call.columns.items())[:1])
    if len(kept) < len(call.columns):
        yield replace(call, columns=kept)
    if len(call.order) > 1:
        yield replace(call, order=call.order[:1])


def _simpler_measures(call: Call) -> Iterator[Call]:
    for index, measure in enumerate(call.aggs):
        simpler = []
        if measure.where is not None:
            simpler.append(replace(measure, where=None))
            if measure.where.operator in ("and", "or", "not"):
                simpler += [replace(measure, where=each) for each in measure.where.operands]
        if measure.distinct:
            simpler.append(replace(measure, distinct=False))
        for each in simpler:
            yield replace(call, aggs=(*call.aggs[:index], each, *call.aggs[index + 1 :]))


def _simpler_windows(call: Call) -> Iterator[Call]:
    """Fewer rows, and options that are the default."""
    for index, window in enumerate(call.windows):
        simpler = []
        first = window.arguments[0] if window.arguments else None
        if type(first) is int and first > 1:
            behind = window.arguments[1:]
            fewer = sorted({1, 2, first - 1} - {first})
            simpler += [replace(window, arguments=(each, *behind)) for each in fewer]
        for name, value in window.options:
            others = tuple(each for each in window.options if each[0] != name)
            if name != "every":
                simpler.append(replace(window, options=others))
            elif type(value) is int and value > 1:
                simpler.append(replace(window, options=((name, value - 1), *others)))
        for each in simpler:
            yield replace(call, windows=(*call.windows[:index], each, *call.windows[index + 1 :]))


def _plainer_columns(call: Call) -> Iterator[Call]:
    for name, column in call.columns.items():
        if column.cuts:
            yield _with(call, name, replace(column, cuts=()))
        if column.encoded:
            yield _with(call, name, replace(column, encoded=False))


def _simpler_values(call: Call) -> Iterator[Call]:
    """Nulls, zeros and ones in the place of other values; times from 1970 on, and fewer of them."""
    for name, column in call.columns.items():
        known = [value for value in column.values if value is not None]
        if name == "id" or not known:
            continue
        simple: dict[str, tuple[Any, ...]] = {"integer": (None, 0, 1), "float": (None, 0.0, 1.0)}
        if column.in_ticks:
            # Never far from the others: windows of a clock would be counted in millions.
            simple[column.kind] = (min(known),)
            moved = (each if each is None else each - min(known) for each in column.values)
            if min(known):
                yield _with(call, name, replace(column, values=tuple(moved)))
        for row, value in enumerate(column.values):
            for each in simple.get(column.kind, ()):
                if value is None or repr(value) == repr(each):
                    break
                values = (*column.values[:row], each, *column.values[row + 1 :])
                yield _with(call, name, replace(column, values=values))


def _with(call: Call, name: str, column: Column) -> Call:
    return replace(call, columns={**call.columns, name: column})


# As a script -------------------------------------------------------------------------------------


def script(example: Example, finding: Finding) -> str:
    """What to paste."""
    call, backend = example.call, BACKENDS[example.backend]
    lines = [IMPORTS]
    if backend.inside:
        lines += ["from tests.fuzz.calls import *", "from tests.fuzz.columns import Column"]
        lines += ["from tests.fuzz.examine import Example, examined", ""]
        lines += [f"call = {call!r}", ""]
        lines += [f"print(examined(Example({example.backend!r}, call, {example.seed!r})))"]
    else:
        lines += [f"table = {call.table_source}", *([backend.prepare] if backend.prepare else [])]
        lines += [f"print(wr.{call.function}(\n    table,\n{call.arguments_source}))"]
    return "\n".join([*lines, "", _commented(finding.text), ""])


def _commented(text: str) -> str:
    """Long lines, such as those of sketches, are cut."""
    lines = (line if len(line) <= 1000 else f"{line[:1000]} ..." for line in text.splitlines())
    return "\n".join(f"# {line}" for line in lines)
