"""Text with a collation: Spark compares it by its collation, and windrow by its bytes.

In a column `STRING COLLATE UTF8_LCASE`, 'a' and 'A' are one value to Spark: in a key, in an order,
in a maximum. So windrow refuses to read such columns. It passes on those that it does not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructType

from windrow.errors import InvalidArgument
from windrow.planning.over_plan import OverPlan
from windrow.planning.slide_plan import SlidePlan


def refuse_collations(schema: StructType, plan: OverPlan | SlidePlan) -> None:
    """Refuse to read text with a collation, also inside arrays, maps and structs."""
    read: Mapping[str, Iterable[str]] = {
        "key": plan.key,
        "order": plan.order,
        "aggs": [column for feature in plan.features for column in feature.reads],
        "windows": plan.columns,
    }
    refuse_collated(schema, read)


def refuse_collated(schema: StructType, read: Mapping[str, Iterable[str]]) -> None:
    """Refuse columns of text with a collation, which arguments name."""
    for argument, columns in read.items():
        for name in columns:
            data_type = schema[name].dataType
            if _is_collated(data_type):
                raise InvalidArgument(
                    f"{argument}: {name!r} is {data_type.simpleString()}; Spark compares its text "
                    "by a collation, and windrow by its bytes; give a column that says what is "
                    f"equal, such as F.collate(F.lower({name!r}), 'UTF8_BINARY')"
                )


def _is_collated(data_type: DataType) -> bool:
    if isinstance(data_type, StringType):
        return not data_type.isUTF8BinaryCollation()
    if isinstance(data_type, ArrayType):
        return _is_collated(data_type.elementType)
    if isinstance(data_type, MapType):
        return _is_collated(data_type.keyType) or _is_collated(data_type.valueType)
    if isinstance(data_type, StructType):
        return any(_is_collated(field.dataType) for field in data_type)
    return False
