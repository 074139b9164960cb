"""Names of columns: which ones Spark takes apart, which ones it takes for the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql.types import StructField, StructType

from windrow.errors import InvalidArgument

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


def require_new_names(frame: Any, present: Sequence[str], added: Sequence[str]) -> None:
    """Refuse a result whose name Spark, which ignores case, takes for another column's."""
    if frame.sparkSession.conf.get("spark.sql.caseSensitive") == "true":
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
