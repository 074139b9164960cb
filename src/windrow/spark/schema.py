"""The schema of a DataFrame as windrow's plans take it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema


def arrow_schema(frame: Any) -> pa.Schema:
    """The types of the batches that a task will see."""
    return to_arrow_schema(frame.schema, timezone="UTC")


def nullable_columns(frame: Any) -> set[str]:
    """The columns that may hold nulls."""
    return {field.name for field in frame.schema.fields if field.nullable}
