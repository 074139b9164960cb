"""Files as tables and as batches: Parquet, CSV, JSON lines, Arrow; folders, patterns, `-`.

Whatever is wrong with a file is one line that names it: `DataError`.
"""

from __future__ import annotations

import codecs
import glob
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.json

from windrow.cli.main import CallError
from windrow.cli.standard_input import Joined, StandardInput, copied
from windrow.cql.tokens import suggestion
from windrow.errors import InvalidArgument, WindrowError

FORMATS = {
    ".parquet": "parquet", ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".json": "jsonl",
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip
PACKED = (".gz", ".bz2", ".zst")
_TYPES = {
    "int": pa.int64(), "float": pa.float64(), "text": pa.string(), "bool": pa.bool_(),
    "timestamp": pa.timestamp("us"), "date": pa.date32(),
}  # fmt: skip
#: how a file of Arrow's begins that has its index at the end
_ARROW_FILE = b"ARROW1"
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
    except (OSError, pa.ArrowException, UnicodeError, EOFError) as error:
        raise DataError(f"{title(path)}: {_first_line(error)}") from None


def title(path: str) -> str:
    """What a message calls an input."""
    return "the standard input" if path == "-" else path


def _first_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = str(error).strip() or type(error).__name__
    if isinstance(error, UnicodeError):
        return f"it is in another --encoding ({text.splitlines()[0][:150]})"
    for told, meant in _MEANT.items():
        if told in text:
            return meant
    if "CSV parse error" in text:
        text = f"its lines do not all have the same number of fields ({text.splitlines()[0][:150]})"
    return text.splitlines()[0][:300]


#: what Arrow's messages mean to whoever gave the file
_MEANT = {
    "Parquet magic bytes": "it is no Parquet file, or not a whole one",
    "Empty CSV file": "it is empty; the first line of a CSV names its columns",
    "invalid UTF8": "it is not in UTF-8; state --encoding",
    "Not an Arrow file": "it is no Arrow file, or not a whole one",
    "Tried reading schema": "it is no Arrow file, or not a whole one",
    "Expected to": "it is no Arrow file, or not a whole one",
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
        standard: the standard input, if that is what is read.
    """

    name: str
    files: tuple[str, ...]
    kind: str
    types: dict[str, pa.DataType]
    encoding: str = "utf8"
    standard: StandardInput = field(default_factory=StandardInput)

    @property
    def size(self) -> int:
        """The bytes of all files; of the standard input none are known."""
        return sum(Path(each).stat().st_size for each in self.files if each != "-")

    def fits(self, size: int) -> bool:
        """Whether it is a file, or a standard input of at most so many bytes."""
        if self.files != ("-",):
            return True
        with blaming("-"):
            return self.standard.fits(size)

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
            if self.kind == "arrow":
                return self._arrow(path)
            if path == "-":
                from pyarrow.parquet import ParquetFile

                parquet = ParquetFile(copied(self.standard.opened()))
                return parquet.schema_arrow, parquet.iter_batches()
            return _dataset(path, "parquet")

    def _arrow(self, path: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """Arrow's format of streams, or that of files, which has its index at the end."""
        source = self.standard.opened() if path == "-" else open(path, "rb")  # noqa: PTH123, SIM115
        head = source.read(len(_ARROW_FILE))
        if head != _ARROW_FILE:
            stream = pa.ipc.open_stream(Joined(head, source))
            return stream.schema, iter(stream)
        if path != "-":
            return _dataset(path, "arrow")
        opened = pa.ipc.open_file(copied(Joined(head, source)))
        return opened.schema, map(opened.get_batch, range(opened.num_record_batches))

    def _csv(self, path: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        def opened(source: Any, block: int, types: dict[str, pa.DataType]) -> Any:
            return pa.csv.open_csv(
                source,
                read_options=pa.csv.ReadOptions(block_size=block),
                parse_options=pa.csv.ParseOptions(delimiter="\t" if ".tsv" in path else ","),
                convert_options=pa.csv.ConvertOptions(column_types=types),
            )

        source = pa.input_stream(self.standard.opened() if path == "-" else path)
        if self.encoding != "utf8":
            source = pa.transcoding_input_stream(source, self.encoding, "utf8")
        head = source.read(_BLOCK)
        lines = head[: head.rfind(b"\n") + 1] or head
        schema = opened(pa.BufferReader(lines), _BLOCK, self.types).schema
        for each in schema:
            if pa.types.is_binary(each.type):  # Arrow takes texts that it cannot read for bytes
                raise DataError(f"{path}: {each.name!r} is not in UTF-8; state --encoding")
        types = dict(zip(schema.names, schema.types, strict=True))
        return schema, _in_larger(opened(Joined(head, source), _READ, types))

    def _json(self, path: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        options = pa.json.ReadOptions(block_size=_BLOCK)
        stated = pa.schema(list(self.types.items())) if self.types else None
        parse = pa.json.ParseOptions(explicit_schema=stated)
        source = self.standard.opened() if path == "-" else path
        opened = pa.json.open_json(source, read_options=options, parse_options=parse)
        return opened.schema, iter(opened)


def _dataset(path: str, kind: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    from pyarrow.dataset import dataset  # it looks for pandas, which CSV needs none of

    found = dataset(path, format=kind)
    return found.schema, found.to_batches(batch_readahead=2, fragment_readahead=1)


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
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise CallError(f"--encoding: there is no {encoding!r}; say utf8 or latin1") from None
    stated = dict(_type_of(each) for text in types for each in text.split(","))
    for each in given:
        name, sign, path = each.partition("=")
        if not sign:
            if len(tables) != 1:
                raise CallError(f"--input: say which table it is, as in {tables[0]}={each}")
            name, path = tables[0], each
        files = _files(path)
        found.append(Input(name, files, kind or _kind_of(files), stated, encoding))
        if found[-1].name in {each.name for each in found[:-1]}:
            raise CallError(
                f"--input: {name} is given twice; name a folder or a pattern for several files"
            )
        if name not in tables:
            raise CallError(f"--input: the query reads no {name}{suggestion(name, tables)}")
    if sum(each.files == ("-",) for each in found) > 1:
        raise CallError("--input: the standard input is one table; give files for the others")
    if not found:
        raise CallError(f"--input: say where {tables[0]} is, as in --input {tables[0]}=file.csv")
    return found


def require_columns(types: dict[str, pa.DataType], schemas: list[pa.Schema]) -> None:
    """Refuse a type that is stated of a column that no table has."""
    known = [name for schema in schemas for name in schema.names]
    for name in types:
        if name not in known:
            raise CallError(f"--types: there is no column {name!r}{suggestion(name, known)}")


def with_types(error: InvalidArgument, inputs: list[Input]) -> InvalidArgument:
    """The error of a query; if a column was read as text, or has no values, with what to do."""
    line, *shown = str(error).split("\n")
    is_told = any(
        each in line for each in ("of type string", "of type null", "no column holds times")
    )
    if is_told and any(each.kind in ("csv", "jsonl") for each in inputs):
        line += "; or state the type of the column, as in --types x=float"
    return InvalidArgument("\n".join([line, *shown]))


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
    if Path(path).is_fifo():
        raise DataError(f"{path}: it is a pipe; pipe it in, and give - for it")
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
    suffixes = [each for each in Path(path).suffixes if each not in PACKED]
    kind = FORMATS.get(suffixes[-1].lower()) if suffixes else None
    if kind is None:
        raise CallError(
            f"{path}: its name says no format; name it .csv, .parquet, .jsonl or "
            ".arrow, or state --input-format or --output-format"
        )
    return kind
