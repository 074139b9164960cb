"""Names of columns: which ones Spark takes apart, which ones it takes for the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pyspark.sql.types import StructField, StructType

from windrow.errors import InvalidArgument
from windrow.planning.features import measures_of
from windrow.windows import Window

#: from what a new column holds to its name
Names = Callable[[str], str]


def plain_names(names: Sequence[str]) -> Sequence[str]:
    """The names, or numbered ones if Spark would misread some: with dots, or not distinct.

    Renaming columns to their own names costs nothing; Spark's optimizer drops it.
    """
    distinct = len({name.lower() for name in names}) == len(names)
    if distinct and not any("." in name or "`" in name for name in names):
        return names
    return [f"column_{index}" for index in range(len(names))]


def renamed(schema: StructType, names: Sequence[str]) -> StructType:
    """The same columns under other names."""
    return StructType(
        [
            StructField(name, field.dataType, field.nullable, field.metadata)
            for name, field in zip(names, schema.fields, strict=True)
        ]
    )


class ColumnFinder:
    """Finds the columns of a DataFrame by name as its session does: by default in any case.

    The session is asked only if its answer matters.
    """

    def __init__(self, frame: Any, names: Sequence[str]) -> None:
        self._frame = frame
        self._alike: dict[str, list[str]] = {}
        for name in names:
            self._alike.setdefault(name.lower(), []).append(name)

    def find(self, argument: str, name: str) -> str:
        """The column's own name; a name that is not there stays, for others to refuse."""
        alike = self._alike.get(name.lower(), [name])
        if alike == [name] or not _ignores_case(self._frame):
            return name
        if len(alike) > 1 and set(alike) != {name}:  # columns of one spelling: others refuse them
            raise InvalidArgument(
                f"{argument}: {name!r} is ambiguous: Spark takes {', '.join(map(repr, alike))} for "
                "one name; rename the columns, or set spark.sql.caseSensitive to true"
            )
        return alike[0]

    def spelled(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call with its columns as the DataFrame spells them."""
        in_aggs, in_windows = partial(self.find, "aggs"), partial(self.find, "windows")
        return {
            **arguments,
            "key": self.names("key", arguments["key"]),
            "order": self.names("order", arguments["order"]),
            "aggs": [each.with_columns(in_aggs) for each in measures_of(arguments["aggs"], ())],
            "windows": _each_window(arguments["windows"], lambda it: it.with_columns(in_windows)),
        }

    def names(self, argument: str, given: Any) -> Any:
        """The names that an argument gives, spelled so; what is none stays."""
        if isinstance(given, str):
            return self.find(argument, given)
        if isinstance(given, list | tuple):
            return [self.names(argument, each) for each in given]
        return given


def _each_window(given: Any, changed: Callable[[Window], Window]) -> Any:
    """What the call gives for windows, one or several, with each of them changed."""
    if isinstance(given, Window):
        return changed(given)
    if isinstance(given, Mapping):
        return {name: _each_window(each, changed) for name, each in given.items()}
    if isinstance(given, list | tuple):
        return [_each_window(each, changed) for each in given]
    return given


def _ignores_case(frame: Any) -> bool:
    return bool(frame.sparkSession.conf.get("spark.sql.caseSensitive") != "true")


def require_new_names(frame: Any, present: Sequence[str], added: Sequence[str]) -> None:
    """Refuse a result whose name Spark, which ignores case, takes for another column's."""
    if not _ignores_case(frame):
        return
    seen = {name.lower(): name for name in present}
    for name in added:
        other = seen.setdefault(name.lower(), name)
        if other is not name:
            raise InvalidArgument(
                f"aggs: Spark takes the result {name!r} and the column {other!r} for one; rename "
                "the result with .alias(...)"
            )


def require_distinct_names(names: Sequence[str]) -> None:
    """Refuse columns that share a name: a stream keeps each by its name."""
    for name in names:
        if names.count(name) > 1:
            raise InvalidArgument(
                f"data: {names.count(name)} columns are called {name!r}; rename them, or leave out "
                "those that are not needed"
            )


def new_names(taken: Sequence[str]) -> Names:
    """Names for new columns, which differ from those taken even if case is ignored."""
    prefix = "windrow"
    while any(name.lower().startswith(prefix) for name in taken):
        prefix += "_"
    return lambda name: f"{prefix}_{name}"
