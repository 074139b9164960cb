"""Files as DataFrames, for the command: as in process, what is wrong with a row is an error."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.types import StructType

from windrow.spark.bridge.schema import spark_schema

#: what Spark calls the formats that it reads and writes
FORMATS = {"jsonl": "json", "csv": "csv", "parquet": "parquet"}
#: what Spark calls encodings that Python calls otherwise
_ENCODINGS = {"iso8859-1": "iso-8859-1", "ascii": "us-ascii"}


def read_files(
    session: Any,
    files: Sequence[str],
    kind: str,
    *,
    types: Mapping[str, pa.DataType],
    encoding: str = "utf8",
    follow: str | None = None,
) -> Any:
    """Return the DataFrame of files; with `follow` a stream of that folder, with their columns.

    Args:
        session: the Spark session.
        files: the files, of which Spark finds out the columns.
        kind: a key of `FORMATS`.
        types: types of columns that are stated, and not found out.
        encoding: how a CSV is written.
        follow: a folder that grows.
    """
    options = _options(files[0], kind, encoding)
    found = session.read.format(FORMATS[kind]).options(**options).load(list(files)).schema
    stated = spark_schema(pa.schema([(name, _with_zone(each)) for name, each in types.items()]))
    columns = StructType([stated[each.name] if each.name in types else each for each in found])
    reader = session.read if follow is None else session.readStream
    reader = reader.format(FORMATS[kind]).options(**options).schema(columns)
    return reader.load(list(files) if follow is None else follow)


def _options(file: str, kind: str, encoding: str) -> dict[str, str]:
    if kind == "parquet":
        return {}
    if kind == "jsonl":
        return {"mode": "FAILFAST"}
    name = codecs.lookup(encoding).name
    return {
        "mode": "FAILFAST",
        "header": "true",
        "inferSchema": "true",
        "sep": "\t" if ".tsv" in file else ",",
        "encoding": _ENCODINGS.get(name, name),
    }


def _with_zone(data_type: pa.DataType) -> pa.DataType:
    """Times as Spark finds them out: TIMESTAMP, in the zone of the session."""
    return pa.timestamp("us", "UTC") if pa.types.is_timestamp(data_type) else data_type
