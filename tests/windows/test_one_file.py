"""A window kind is one file: one that is defined here works everywhere. Nobody asks for kinds."""

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from tests.support.over.batches import cut
from tests.support.stream.model import THE_END, Memory
from windrow.engine.over_batches import over_batches
from windrow.engine.slide_batches import slide_batches
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.planning.slide_plan import resolve_slide
from windrow.stream.over_stream import StreamOver
from windrow.stream.slide_stream import StreamSlide
from windrow.windows import Trigger, Window
from windrow.windows.bounds import Bounding, Bounds, begun_anew, rows_before
from windrow.windows.calls import call_text
from windrow.windows.reach import Newest
from windrow.windows.setting import Setting
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.triggers import trigger

SOURCE = Path(wr.__file__).parent


# A kind of window --------------------------------------------------------------------------------


@dataclass(frozen=True)
class RisingWindow(Window):
    """The newest rows since the value in a column last fell."""

    column: str
    most: int
    every: Trigger | None = None

    @property
    def default_name(self) -> str:
        return f"rising_{self.column}"

    def call(self) -> str:
        return call_text("rising", repr(self.column), str(self.most), every=self.every)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def bounding(self, setting: Setting) -> Bounding:
        return _SinceFall(self.column, self.most)


class _SinceFall(Bounding):
    def __init__(self, column: str, most: int) -> None:
        self._column, self._reach = column, Newest(most)
        self._last = np.zeros(1, np.int64)

    def of(self, rows: SortedRows, held: Any = None) -> Bounds:
        values = rows.columns[self._column].to_numpy()
        before, self._last = rows_before(self._last, values)
        return Bounds(begun_anew(rows.runs, values < before), self._reach)


def held(values: list[int], most: int) -> Iterator[list[int]]:
    """The definition: of each value, those in its window."""
    window: list[int] = []
    for value in values:
        window = [*window, value][-most:] if not window or value >= window[-1] else [value]
        yield window


# Everywhere --------------------------------------------------------------------------------------


@pytest.fixture(params=range(5))
def events(request: Any) -> pa.Table:
    """Sorted by key and time."""
    chance = random.Random(request.param)
    keys = sorted(chance.choices("abc", k=40))
    times = pa.array(range(40), pa.timestamp("s"))
    return pa.table({"k": keys, "t": times, "x": chance.choices(range(6), k=40)})


def arguments(every: Any = None) -> dict[str, Any]:
    window = RisingWindow("x", 4, trigger(every, None))
    return {"key": "k", "order": "t", "windows": window, "aggs": [wr.collect("x"), wr.sum("x")]}


def expected(events: pa.Table, answers: Any = lambda _place: True) -> list[tuple[str, list[int]]]:
    found = []
    for key in "abc":
        values = events.filter(pa.compute.equal(events["k"], key))["x"].to_pylist()
        for place, window in enumerate(held(values, 4)):
            if answers(place):
                found.append((key, window))
    return found


def answers_of(found: pa.Table) -> list[tuple[str, list[int]]]:
    answers = list(zip(found["k"].to_pylist(), found["collect_x"].to_pylist(), strict=True))
    assert found["sum_x"].to_pylist() == [sum(values) for _key, values in answers]
    return answers


def every_third(place: int) -> bool:
    return place % 3 == 2


def test_over_a_table(events: pa.Table) -> None:
    found = wr.over(events.take(list(reversed(range(40)))), **arguments())
    assert answers_of(found.sort_by([("k", "ascending"), ("t", "ascending")])) == expected(events)


def test_over_batches(events: pa.Table) -> None:
    plan = resolve_over(events.schema, **arguments(), wish=Wish())
    found = pa.Table.from_batches(over_batches(cut(events, [7, 1, 12]), plan, set()))
    assert answers_of(found.append_column("k", events["k"])) == expected(events)


def test_over_a_stream(events: pa.Table) -> None:
    plan = resolve_over(events.schema, **arguments(), wish=Wish())
    shard, storage = StreamOver(plan, set(), shards=1), Memory()
    found = in_stream(shard, storage, events)
    placed = found.sort_by([("k", "ascending"), ("t", "ascending")])
    assert answers_of(placed) == expected(events)


def test_slide_over_a_table(events: pa.Table) -> None:
    assert answers_of(wr.slide(events, **arguments(3))) == expected(events, every_third)


def test_slide_over_batches(events: pa.Table) -> None:
    plan = resolve_slide(events.schema, **arguments(3), **asked())
    found = pa.concat_tables(slide_batches(cut(events, [7, 1, 12]), plan, set()))
    assert answers_of(found) == expected(events, every_third)


def test_slide_over_a_stream(events: pa.Table) -> None:
    plan = resolve_slide(events.schema, **arguments(3), **asked())
    found = in_stream(StreamSlide(plan, set(), shards=1), Memory(), events)
    placed = found.sort_by([("k", "ascending"), ("window_end", "ascending")])
    assert answers_of(placed) == expected(events, every_third)


def asked() -> dict[str, Any]:
    return {"wish": Wish(), "changes_only": False}


def in_stream(shard: Any, storage: Memory, events: pa.Table) -> pa.Table:
    """What comes out of a stream in the order of time, a few events at a time."""
    arriving = events.sort_by("t")
    steps = [
        shard.advance(storage, [arriving.slice(begin, 8)], begin * 1_000 - 1)
        for begin in range(0, 40, 8)
    ]
    steps.append(shard.advance(storage, [], THE_END))
    return pa.concat_tables([table for step in steps for table in step.answers])


def test_it_is_explained(events: pa.Table) -> None:
    assert "rising_x" in str(wr.plan(events, **arguments(3)))


# Nobody asks -------------------------------------------------------------------------------------


def kinds() -> set[str]:
    """The classes of windows and triggers that windrow has."""

    def under(base: type) -> Iterator[type]:
        for each in base.__subclasses__():
            yield each
            yield from under(each)

    return {
        each.__name__
        for base in (Window, Trigger)
        for each in under(base)
        if each.__module__.startswith("windrow.")
    }


def test_there_are_kinds_to_ask_for() -> None:
    assert {"RowsWindow", "TimeWindow", "PolicyWindow", "EveryRows", "EveryTime"} <= kinds()


def asks(node: ast.AST, names: set[str]) -> bool:
    """Whether a piece of code asks whether something is of one of these classes."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("isinstance", "issubclass")
        and not names.isdisjoint(each.id for each in ast.walk(node) if isinstance(each, ast.Name))
    )


def test_nothing_outside_windows_asks_which_kind_it_has() -> None:
    names = kinds()
    paths = [path for path in SOURCE.rglob("*.py") if SOURCE / "windows" not in path.parents]
    assert [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in sorted(paths)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if asks(node, names)
    ] == []
