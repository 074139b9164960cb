"""Files as tables and as batches: Parquet, CSV, JSON lines, Arrow; folders, patterns, `-`.

Whatever is wrong with a file is one line that names it: `DataError`.
"""

from __future__ import annotations

import glob
import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.json

from windrow.cli.main import CallError
from windrow.errors import WindrowError

FORMATS = {
    ".parquet": "parquet", ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".json": "jsonl",
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip
_PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_TYPES = {
    "int": pa.int64(), "float": pa.float64(), "text": pa.string(), "bool": pa.bool_(),
    "timestamp": pa.timestamp("us"), "date": pa.date32(),
}  # fmt: skip
#: bytes of text by which the types of columns are found out, and that a batch holds
_BLOCK = 1 << 23
#: bytes of text that Arrow reads at once: it always reads 32 of these ahead
_READ = 1 << 20


class DataError(WindrowError):
    """A file cannot be read or written."""


@contextmanager
def blaming(path: str) -> Iterator[None]:
    """Problems with a file are one line that names it."""
    try:
        yield
    except BrokenPipeError:  # whoever reads what is written has enough: no problem of a file
        raise
    except (OSError, pa.ArrowException, UnicodeDecodeError, EOFError) as error:
        raise DataError(f"{path}: {_first_line(error)}") from None


def _first_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = str(error).strip() or type(error).__name__
    for told, meant in _MEANT.items():
        if told in text:
            return f"{meant} ({text.splitlines()[0][:150]})"
    return text.splitlines()[0][:300]


#: what Arrow's messages mean to whoever gave the file
_MEANT = {
    "Parquet magic bytes": "it is no Parquet file, or not a whole one",
    "invalid UTF8": "it is not in UTF-8; state --encoding",
    "CSV parse error": "its lines do not all have the same number of fields",
    "Not an Arrow file": "it is no Arrow file, or not a whole one",
    "No space left": "the disk is full",
}


@dataclass(frozen=True)
class Input:
    """A table of a query, and the files that hold it.

    Attributes:
        name: the name of the table.
        files: the files, or `-` for the standard input.
        kind: their format.
        types: the types of columns that were stated.
        encoding: how texts are written.
    """

    name: str
    files: tuple[str, ...]
    kind: str
    types: dict[str, pa.DataType]
    encoding: str = "utf8"

    @property
    def size(self) -> int:
        """The bytes of all files; of the standard input none are known."""
        return sum(Path(each).stat().st_size for each in self.files if each != "-")

    @property
    def is_standard(self) -> bool:
        """Whether it is the standard input."""
        return self.files == ("-",)

    def table(self) -> pa.Table:
        """All rows."""
        reader = self.batches()
        batches = list(reader.rows)
        return pa.Table.from_batches(batches, reader.schema)

    def batches(self) -> Batches:
        """The rows in batches, in the order of the files."""
        readers = map(self._reader, self.files)
        schema, first = next(readers)

        def rows() -> Iterator[pa.RecordBatch]:
            yield from _named(first, self.files[0])
            for path, (own, more) in zip(self.files[1:], readers, strict=True):
                if own.names != schema.names:
                    raise DataError(
                        f"{path}: its columns are {', '.join(own.names)}, and those of "
                        f"{self.files[0]} are {', '.join(schema.names)}"
                    )
                for batch in _named(more, path):
                    with blaming(path):
                        yield batch if own == schema else batch.cast(schema)

        return Batches(schema, rows())

    def _reader(self, path: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        with blaming(path):
            if self.kind == "csv":
                return self._csv(path)
            if self.kind == "jsonl":
                return self._json(path)
            if path == "-":
                opened = pa.ipc.open_stream(sys.stdin.buffer)
                return opened.schema, iter(opened)
            from pyarrow.dataset import dataset  # it looks for pandas, which CSV needs none of

            found = dataset(path, format=self.kind)
            return found.schema, found.to_batches(batch_readahead=2, fragment_readahead=1)

    def _csv(self, path: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        def opened(source: Any, block: int, types: dict[str, pa.DataType]) -> Any:
            return pa.csv.open_csv(
                source,
                read_options=pa.csv.ReadOptions(block_size=block),
                parse_options=pa.csv.ParseOptions(delimiter="\t" if ".tsv" in path else ","),
                convert_options=pa.csv.ConvertOptions(column_types=types),
            )

        source = pa.input_stream(sys.stdin.buffer if path == "-" else path)
        if self.encoding != "utf8":
            source = pa.transcoding_input_stream(source, self.encoding, "utf8")
        head = source.read(_BLOCK)
        lines = head[: head.rfind(b"\n") + 1] or head
        schema = opened(pa.BufferReader(lines), _BLOCK, self.types).schema
        for each in schema:
            if pa.types.is_binary(each.type):  # Arrow takes texts that it cannot read for bytes
                raise DataError(f"{path}: {each.name!r} is not in UTF-8; state --encoding")
        types = dict(zip(schema.names, schema.types, strict=True))
        return schema, _in_larger(opened(_Joined(head, source), _READ, types))

    def _json(self, path: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        options = pa.json.ReadOptions(block_size=_BLOCK)
        stated = pa.schema(list(self.types.items())) if self.types else None
        parse = pa.json.ParseOptions(explicit_schema=stated)
        source = sys.stdin.buffer if path == "-" else path
        opened = pa.json.open_json(source, read_options=options, parse_options=parse)
        return opened.schema, iter(opened)


class _Joined(io.RawIOBase):
    """What was read of a source, and then the rest of it."""

    def __init__(self, head: bytes, source: Any) -> None:
        super().__init__()
        self._head, self._source = memoryview(head), source

    def readable(self) -> bool:
        """It is only read."""
        return True

    def read(self, size: int = -1) -> Any:
        """The next bytes."""
        if not self._head:
            return self._source.read(size)
        found = self._head[:size] if size >= 0 else self._head
        self._head = self._head[len(found) :]
        return found


def _in_larger(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows in fewer batches: each has a price, whatever it holds."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if len(held) * _READ >= _BLOCK:
            yield from pa.Table.from_batches(held).combine_chunks().to_batches()
            held = []
    if held:
        yield from pa.Table.from_batches(held).combine_chunks().to_batches()


@dataclass(frozen=True)
class Batches:
    """The columns of a table, and its rows to be read once."""

    schema: pa.Schema
    rows: Iterator[pa.RecordBatch]


def _named(batches: Iterator[pa.RecordBatch], path: str) -> Iterator[pa.RecordBatch]:
    """The batches; problems name the file."""
    while True:
        with blaming(path):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def inputs_of(
    given: list[str], tables: list[str], kind: str | None, types: list[str], encoding: str
) -> list[Input]:
    """The inputs of a call: `name=path`, or a path alone if the query has one table."""
    found = []
    stated = dict(_type_of(each) for text in types for each in text.split(","))
    for each in given:
        name, sign, path = each.partition("=")
        if not sign:
            if len(tables) != 1:
                raise CallError(f"--input: say which table it is, as in {tables[0]}={each}")
            name, path = tables[0], each
        files = _files(path)
        found.append(Input(name, files, kind or _kind_of(files), stated, encoding))
    if not found:
        raise CallError(f"--input: say where {tables[0]} is, as in --input {tables[0]}=file.csv")
    return found


def _type_of(text: str) -> tuple[str, pa.DataType]:
    name, _sign, kind = text.partition("=")
    if kind not in _TYPES:
        raise CallError(f"--types: {text!r} is not a column=type; types are {', '.join(_TYPES)}")
    return name, _TYPES[kind]


def _files(path: str) -> tuple[str, ...]:
    """The files of a path: itself, those of a folder, or those that fit a pattern, by name."""
    if path == "-":
        return ("-",)
    if Path(path).is_dir():
        found = [str(each) for each in sorted(Path(path).iterdir())
                 if each.is_file() and each.name[0] not in "._"]  # fmt: skip
        if not found:
            raise DataError(f"{path}: the folder holds no file")
        return tuple(found)
    if Path(path).exists():
        return (path,)
    matched = sorted(glob.glob(path))  # noqa: PTH207 - a pattern may be absolute
    if not matched:
        raise DataError(f"{path}: there is no such file")
    return tuple(matched)


def _kind_of(files: tuple[str, ...]) -> str:
    if files == ("-",):
        return "csv"
    suffixes = {kind_of_path(each) for each in files}
    if len(suffixes) > 1:
        raise CallError("--input: its files are of several formats; give those of one")
    return suffixes.pop()


def kind_of_path(path: str) -> str:
    """The format that a file's name says."""
    suffixes = [each for each in Path(path).suffixes if each not in _PACKED]
    kind = FORMATS.get(suffixes[-1].lower()) if suffixes else None
    if kind is None:
        raise CallError(
            f"{path}: its name says no format; name it .csv, .parquet, .jsonl or "
            ".arrow, or state --input-format or --output-format"
        )
    return kind
