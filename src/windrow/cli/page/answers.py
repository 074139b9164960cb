"""The answers of a query as they are written, and the line of one key, drawn from M4 answers.

A screen is some hundred pixels wide, and a key may have a million answers. Of all that fall on one
column of pixels a line chart needs the first, last, smallest and largest (`wr.m4`): that is a
`wr.slide` whose windows are as long as a column is wide.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import windrow as wr
from windrow.cli.page.places import SINK_LOG
from windrow.cli.sink import committed
from windrow.errors import InvalidArgument

#: answers in memory: older ones go
MOST_ROWS = 1_000_000
#: files that were there before the first look, and keys that the page offers
_MOST_FILES, _MOST_KEYS = 500, 1_000
_M4 = ("first", "min", "max", "last")
_TIME = pa.timestamp("us")


class Answers:
    """The newest answers of a folder.

    Attributes:
        rows: how many answers were read.
        until: the newest moment of them, in seconds since the epoch.
        keys: the keys of the lines, by how the page writes them.
    """

    def __init__(
        self, folder: Path, key: tuple[str, ...] | None = None, time: str | None = None
    ) -> None:
        """Answers of a folder, with the columns of the key and of the time if they are named."""
        self._folder, self._key, self._time = folder, key, time
        self._begin()

    def _begin(self) -> None:
        self.rows = 0
        self.until: float | None = None
        self.keys: dict[str, tuple[Any, ...]] = {}
        self._tables: list[pa.Table] = []
        self._taken: set[str] = set()

    def look(self) -> None:
        """Take the files that are new; begin again where the query did."""
        found = _files(self._folder)
        if not self._taken <= set(found):
            self._begin()
        new = [path for path in found if path not in self._taken]
        self._taken = set(found)
        for path in new[-_MOST_FILES:]:
            try:
                table = pq.read_table(path)
            except (OSError, pa.ArrowInvalid):  # not whole yet: it is looked at again
                self._taken.discard(path)
                continue
            if table.num_rows:
                self._add(table)

    @property
    def columns(self) -> list[str]:
        """The columns that a line can be drawn of: numbers, and answers of `wr.m4`."""
        if not self._tables:
            return []
        key, time = self._roles()
        schema = self._tables[-1].schema
        beside = {*key, time, "window_start", "window_end"}
        return [each.name for each in schema if each.name not in beside and _can_draw(each.type)]

    def line(self, key: str, column: str, width: int) -> list[tuple[float, float]]:
        """The line of a key as moments and values: at most four for each column of pixels."""
        if key not in self.keys or column not in self.columns:
            return []
        names, time = self._roles()
        parts = []
        for table in self._tables:
            own = _of_key(table, names, self.keys[key])
            if own.num_rows and {column, time} <= set(own.column_names):
                parts.append(_points(own[time], own[column]))
        return reduced(pa.concat_tables(parts), width) if parts else []

    def _add(self, table: pa.Table) -> None:
        self._tables.append(table)
        self.rows += table.num_rows
        while len(self._tables) > 1 and sum(map(len, self._tables)) > MOST_ROWS:
            del self._tables[0]
        names, time = self._roles()
        newest = pc.max(table[time].cast(_TIME))
        if newest.is_valid:
            self.until = max(self.until or 0, newest.cast("int64").as_py() / 1e6)
        for row in _distinct(table, names):
            if len(self.keys) < _MOST_KEYS:
                self.keys.setdefault(" · ".join(map(str, row)) or "all", row)

    def _roles(self) -> tuple[tuple[str, ...], str]:
        """The columns of the key, and that of the time."""
        schema = self._tables[-1].schema
        names = schema.names
        time = self._time or ("window_end" if "window_end" in names else "")
        before = names[: names.index("window_start")] if "window_start" in names else []
        key = tuple(before) if self._key is None else self._key
        for option, asked in (("--time", (time,)), ("--key", key)):
            for name in asked:
                if name not in names:
                    given = f"there is no column {name!r} in" if name else "say which column of"
                    raise InvalidArgument(f"{option}: {given} {', '.join(names)}")
        if not pa.types.is_temporal(schema.field(time).type):
            raise InvalidArgument(f"--time: {time!r} is of {schema.field(time).type}; name a time")
        return key, time


def _distinct(table: pa.Table, names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """The different keys; without columns there is one, the empty one."""
    if not names:
        return [()]
    kinds = table.group_by(list(names)).aggregate([])
    return list(zip(*(kinds[name].to_pylist() for name in names), strict=True))


def reduced(points: pa.Table, width: int) -> list[tuple[float, float]]:
    """The points that a chart of a width in pixels needs, by time."""
    span = pc.min_max(points["t"].cast("int64")).as_py()
    every = timedelta(microseconds=max(1, (span["max"] - span["min"]) // width + 1))
    columns = wr.slide(
        points, order="t", windows=wr.time(every, every=every), aggs=wr.m4("value", "t", alias="m4")
    )
    strokes: Mapping[str, Any] = dict(
        zip(_names(columns["m4"].type), columns["m4"].combine_chunks().flatten(), strict=True)
    )
    return _in_order(strokes)


def _in_order(strokes: Mapping[str, Any]) -> list[tuple[float, float]]:
    found: set[tuple[int, Any]] = set()
    for name in _M4:
        times = strokes[f"{name}_time"].cast("int64").to_pylist()
        found.update(zip(times, strokes[name].to_pylist(), strict=True))
    return [(time / 1e6, value) for time, value in sorted(found) if value is not None]


def _points(times: pa.ChunkedArray, values: pa.ChunkedArray) -> pa.Table:
    """Moments and numbers; a value of `wr.m4` is four of them."""
    if not pa.types.is_struct(values.type):
        return _finite(times, values)
    parts = dict(zip(_names(values.type), values.combine_chunks().flatten(), strict=True))
    return pa.concat_tables([_finite(parts[f"{name}_time"], parts[name]) for name in _M4])


def _finite(times: Any, values: Any) -> pa.Table:
    table = pa.table({"t": times.cast(_TIME), "value": values.cast(pa.float64(), safe=False)})
    return table.filter(pc.and_(pc.is_finite(table["value"]), pc.is_valid(table["t"])))


def _can_draw(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        names = set(_names(kind))
        whole = all({name, f"{name}_time"} <= names for name in _M4)
        return whole and _is_number(kind.field("first").type)
    return _is_number(kind)


def _is_number(kind: pa.DataType) -> bool:
    of = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(each(kind) for each in of)


def _names(kind: pa.StructType) -> list[str]:
    return [kind.field(place).name for place in range(kind.num_fields)]


def _of_key(table: pa.Table, names: tuple[str, ...], key: tuple[Any, ...]) -> pa.Table:
    for name, value in zip(names, key, strict=True):
        column = table[name]
        table = table.filter(
            pc.is_null(column) if value is None else pc.equal(column, pa.scalar(value, column.type))
        )
    return table


def _files(folder: Path) -> list[str]:
    """The files of answers in the order in which they came; Spark says which it committed."""
    if (folder / SINK_LOG).is_dir():
        return list(committed(folder))
    found = [each for each in folder.glob("*.parquet") if each.name[0] not in "._"]
    return sorted(map(str, found))
