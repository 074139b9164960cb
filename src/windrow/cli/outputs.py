"""Answers as files, which appear under their names only when they are complete."""

from __future__ import annotations

import gzip
import json
import math
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from windrow.cli.inputs import PACKED, DataError, blaming, kind_of_path
from windrow.cli.main import CallError


@contextmanager
def output(path: str, kind: str | None, overwrite: bool) -> Iterator[Output]:
    """A file to write answers to; nothing of it is left if the block fails."""
    if path == "-":
        if sys.stdout is None:
            raise DataError("the standard output is closed; give --output")
        written = Output(path, sys.stdout.buffer, kind or "csv")
        yield written
        written.close()
        sys.stdout.buffer.flush()
        return
    require_new(path, overwrite)
    kind = kind or kind_of_path(path)
    target = Path(path).resolve()  # a link stays a link, and what it leads to is replaced
    if _is_device(target):
        with blaming(path), target.open("wb") as opened:
            written = Output(path, opened, kind)
            yield written
            written.close()
        return
    part = target.with_name(f".{target.name}.part{os.getpid()}")
    try:
        with blaming(path), part.open("wb") as opened:
            with _packing(path, kind, opened) as packed:
                written = Output(path, packed, kind)
                yield written
                written.close()
            opened.flush()
            os.fsync(opened.fileno())
        with blaming(path):
            part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _packing(path: str, kind: str, opened: BinaryIO) -> AbstractContextManager[Any]:
    """What packs the bytes of a file as its name says."""
    suffix = Path(path).suffix
    if suffix not in PACKED:
        return nullcontext(opened)
    if suffix == ".gz" and kind in ("csv", "jsonl"):
        return gzip.GzipFile(fileobj=opened, mode="wb")
    raise CallError(f"{path}: answers are packed as .csv.gz and .jsonl.gz only")


def require_new(path: str, overwrite: bool) -> None:
    """Refuse a file that is there, unless it may be replaced; and a folder that is not."""
    target = Path(path)
    if path == "-":
        return
    if target.is_dir():
        raise DataError(f"{path}: it is a folder; name a file in it")
    if target.exists() and not overwrite and not _is_device(target):
        raise CallError(f"{path}: it exists; give --overwrite to replace it")
    if not target.parent.is_dir():
        raise DataError(f"{path}: there is no folder {target.parent}")


def _is_device(target: Path) -> bool:
    """Whether it is a pipe or a device, such as /dev/null: it is written to, and never replaced."""
    return target.exists() and not target.is_file()


class Output:
    """Batches of one schema, written in one format."""

    def __init__(self, path: str, opened: Any, kind: str) -> None:
        self.path, self._opened, self._kind = path, opened, kind
        self._writer: Any = None
        self.rows = 0

    def begin(self, schema: pa.Schema) -> None:
        """Write what comes before the first row."""
        if self._kind == "csv":
            schema = pa.schema([_as_text(each) for each in schema])
            self._writer = pa.csv.CSVWriter(self._opened, schema)
        elif self._kind == "parquet":
            # Answers differ from row to row: looking for equal ones takes longer than writing them.
            texts = [each.name for each in schema if _is_text(each.type)]
            self._writer = pa.parquet.ParquetWriter(self._opened, schema, use_dictionary=texts)
        elif self._kind == "arrow":
            make = pa.ipc.new_stream if self.path == "-" else pa.ipc.new_file
            self._writer = make(self._opened, schema)

    def write(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Write rows."""
        table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
        self.rows += table.num_rows
        if self._kind == "jsonl":
            lines = (_json(row) + "\n" for row in table.to_pylist())
            self._opened.write("".join(lines).encode())
        elif self._kind == "csv":
            self._writer.write(_texts(table))
        else:
            self._writer.write(table)

    def close(self) -> None:
        """Write what comes after the last row."""
        if self._writer is not None:
            self._writer.close()


def _is_nested(data_type: pa.DataType) -> bool:
    return bool(pa.types.is_nested(data_type) or pa.types.is_binary(data_type))


def _is_text(data_type: pa.DataType) -> bool:
    return bool(pa.types.is_string(data_type) or pa.types.is_large_string(data_type))


def _as_text(field: pa.Field) -> pa.Field:
    return field.with_type(pa.string()) if _is_nested(field.type) else field


def _texts(table: pa.Table) -> pa.Table:
    """Lists and structs as JSON, which CSV has no other way for."""
    for place, field in enumerate(table.schema):
        if _is_nested(field.type):
            texts = [None if each is None else _json(each) for each in table[place].to_pylist()]
            table = table.set_column(place, field.name, pa.array(texts, pa.string()))
    return table


def _json(value: Any) -> str:
    """A value as JSON, which has no NaN and no infinities: they are null."""
    try:
        return json.dumps(value, default=str, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), default=str)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, (list, tuple)) else value
