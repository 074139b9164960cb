"""Answer a query over files: one command, no Python.

Small files are read whole. Others pass in batches, sorted by the column that orders events: then
memory holds windows and a few batches, however large the files are.
"""

from __future__ import annotations

import argparse
import itertools
import queue
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from windrow.cli.inputs import (
    DataError,
    Input,
    blaming,
    inputs_of,
    require_columns,
    title,
    with_types,
)
from windrow.cli.main import CallError
from windrow.cli.outputs import Output, output, require_new
from windrow.cli.progress import Progress
from windrow.errors import InvalidArgument

#: the extra that installs the packages that it needs, on Spark
EXTRA = "spark"
EXAMPLES = """examples:
  windrow run -e "SELECT AVG(price) FROM trades [ROWS 100] GROUP BY stock" --input trades=trades.csv
  windrow run hourly.cql --input 'calls=calls/*.parquet' --output hourly.parquet
  cat calls.csv | windrow run -e "SELECT COUNT(*) FROM calls [RANGE 1 HOUR SLIDE 1 HOUR]" --input -
"""
#: bytes of files that are read whole; larger ones pass in batches
WHOLE = 64 << 20
#: what streams say of rows that no time orders
_NEED_TIMES = ("have no order of their own", "a stream is ordered by a timestamp or a date")
#: batches that wait to be worked on, or to be written, at most
_WAITING = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `windrow run`."""
    add_query(parser)
    parser.add_argument(
        "--output",
        "-o",
        action="append",
        default=[],
        metavar="PATH",
        help="where answers go, one for each statement (default: -, as CSV)",
    )
    parser.add_argument(
        "--output-format",
        choices=("csv", "jsonl", "parquet", "arrow"),
        help="what the name of the output does not say",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace an output that exists")
    parser.add_argument(
        "--lateness",
        help="how much older than the newest row so far a row of a "
        "large file or a stream may be, as in '5 minutes' (default: sorted)",
    )
    parser.add_argument(
        "--engine",
        choices=("process", "spark"),
        default="process",
        help="where the query runs (default: process)",
    )
    parser.add_argument("--master", help="Spark's master, as in local[2] (with --engine spark)")
    parser.add_argument(
        "--stream",
        action="store_true",
        help="the input is a folder that grows: answer as files come, until Ctrl-C; "
        "the output is a folder",
    )
    parser.add_argument("--checkpoint", help="where a stream keeps its state to go on from")
    parser.add_argument(
        "--idle", type=float, metavar="SECONDS", help="end a stream when no file came for so long"
    )
    parser.add_argument("--quiet", "-q", action="store_true", help="no progress")


def add_query(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say what the query is about."""
    parser.add_argument("query", nargs="?", help="a file with the query")
    parser.add_argument("-e", dest="text", metavar="TEXT", help="the query itself")
    parser.add_argument(
        "--input",
        "-i",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="a table: a file, a folder, a pattern, or - for the standard input",
    )
    parser.add_argument(
        "--input-format",
        choices=("csv", "jsonl", "parquet", "arrow"),
        help="what the name of the input does not say",
    )
    parser.add_argument(
        "--types",
        action="append",
        default=[],
        metavar="COLUMN=TYPE,...",
        help="types of columns of CSV and JSON: int, float, text, bool, timestamp, "
        "date (default: found out from the first rows)",
    )
    parser.add_argument("--encoding", default="utf8", help="how a CSV is written (default: utf8)")


def query_text(arguments: argparse.Namespace) -> str:
    """The text of the query."""
    if (arguments.query is None) == (arguments.text is None):
        raise CallError("give a file with a query, or -e and the query itself")
    if arguments.text is not None:
        return str(arguments.text)
    if arguments.query[:7].upper() == "SELECT ":
        raise CallError("give the text of a query as -e TEXT; without -e it is a file")
    with blaming(arguments.query):
        written = Path(arguments.query).read_bytes()
    try:
        return written.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{arguments.query}: a query is in UTF-8, and this is not: {error}"
        ) from None


def tables_of(text: str) -> list[str]:
    """The tables that a query reads, each once."""
    from windrow.cql.parser import parse_query

    return list(dict.fromkeys(each.table.name for each in parse_query(text)))


def run(arguments: argparse.Namespace) -> int:
    """Answer the query."""
    text = query_text(arguments)
    if arguments.engine == "spark" or arguments.stream:
        from windrow.cli.follow import run_elsewhere

        return run_elsewhere(arguments, text, tables_of(text))
    if arguments.checkpoint or arguments.idle is not None:
        raise CallError("--checkpoint and --idle are for --stream")
    inputs = inputs_of(
        arguments.input,
        tables_of(text),
        arguments.input_format,
        arguments.types,
        arguments.encoding,
    )
    statements = _statements(text)
    paths = arguments.output or ["-"] * len(statements)
    if len(paths) != len(statements):
        raise CallError(
            f"--output: {len(statements)} statements have {len(statements)} outputs, not "
            f"{len(paths)}; give --output for each"
        )
    for place, path in enumerate(paths):
        require_new(path, arguments.overwrite)
        if path != "-" and path in paths[:place]:
            raise CallError(f"--output: {path} is given twice; name a file for each statement")
    progress = Progress(sum(each.size for each in inputs), arguments.quiet)
    try:
        with ExitStack() as stack:
            outputs = [
                stack.enter_context(output(path, arguments.output_format, arguments.overwrite))
                for path in paths
            ]
            for given, written in _passes(text, statements, inputs, arguments, progress, outputs):
                _write(given, written)
    except InvalidArgument as error:
        raise with_types(error, inputs) from None
    finally:
        progress.end()
    return 0


def _statements(text: str) -> list[str]:
    from windrow.cql.parser import parse_query

    return [each.text for each in parse_query(text)]


def _passes(
    text: str,
    statements: list[str],
    inputs: list[Input],
    arguments: argparse.Namespace,
    progress: Progress,
    outputs: list[Output],
) -> Iterator[tuple[list[Any], list[Output]]]:
    """Answers of statements and where they go; as few passes over the files as can be."""
    small = progress.size <= WHOLE and all(each.fits(WHOLE) for each in inputs)
    if small and not arguments.lateness:
        yield _whole(text, inputs, progress, len(statements)), outputs
        return
    try:
        yield [*_streamed(text, inputs, arguments, progress, len(statements))], outputs
    except _Untimed as error:
        if arguments.lateness or inputs[0].files == ("-",):
            raise
        print(f"windrow run: {error}; it is read whole", file=sys.stderr)
        yield _whole(text, inputs, progress, len(statements)), outputs
    except InvalidArgument as error:
        if "is read once" not in str(error):
            raise
        for statement, written in zip(statements, outputs, strict=True):
            yield [*_streamed(statement, inputs, arguments, progress, 1)], [written]


class _Untimed(CallError):
    """Batches of rows that no time orders."""


def _whole(text: str, inputs: list[Input], progress: Progress, count: int) -> list[Any]:
    """The answers to files that are read whole."""
    from windrow.cql.query import cql

    tables = {each.name: each.table() for each in inputs}
    require_columns(inputs[0].types, [each.schema for each in tables.values()])
    progress.rows = sum(each.num_rows for each in tables.values())
    found = cql(text, **tables).run()
    return list(found) if count > 1 else [found]


def _streamed(
    text: str, inputs: list[Input], arguments: argparse.Namespace, progress: Progress, count: int
) -> list[Any]:
    """The answers to files that pass in batches."""
    from windrow.cql.query import cql

    if len(inputs) > 1:
        raise CallError(
            "--input: large files are answered one table at a time; run a query for each"
        )
    (source,) = inputs
    batches = source.batches()
    require_columns(source.types, [batches.schema])
    lateness = arguments.lateness or "0 seconds"
    given: dict[str, Any] = {source.name: progress.counted(_ahead(batches.rows))}
    try:
        found = cql(text, lateness=lateness, schema=batches.schema, **given).run()
    except InvalidArgument as error:
        if not any(each in str(error) for each in _NEED_TIMES):
            raise
        raise _Untimed(
            f"{title(source.files[0])}: it is answered in batches, by a column of times, and "
            "no such column orders its rows"
        ) from None
    streams = found if count > 1 else [found]
    return [_sorted(each, source, arguments.lateness) for each in streams]


def _sorted(stream: Any, source: Input, lateness: str | None) -> Iterator[Any]:
    """The answers; refuses rows that come out of order."""
    yield stream.schema
    for batch in stream:
        if stream.late and lateness is None:
            break
        yield batch
    if stream.late and lateness is None:
        files = ", ".join(map(title, source.files[:3]))
        raise DataError(
            f"{files}: its rows are not sorted by time ({stream.late:,} come "
            "late); sort them, or give --lateness, as in --lateness '5 minutes'"
        )
    for count, why in ((stream.late, "later than --lateness"), (stream.untimed, "without a time")):
        if count:
            print(f"windrow run: {count:,} rows {why} are left out", file=sys.stderr)


def _ahead(batches: Iterable[Any]) -> Iterator[Any]:
    """The batches, read by a thread of their own while others are worked on."""
    waiting: queue.Queue[Any] = queue.Queue(_WAITING)
    ended = threading.Event()
    end = object()

    def put(item: Any) -> bool:
        while not ended.is_set():
            try:
                waiting.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def read() -> None:
        try:
            for batch in batches:
                if not put(batch):
                    return
            put(end)
        except BaseException as error:  # it is raised where the batches are taken
            put(error)

    threading.Thread(target=read, daemon=True).start()
    try:
        while (item := waiting.get()) is not end:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        ended.set()


def _write(given: list[Any], outputs: list[Output]) -> None:
    """Write answers: tables, or streams in step with each other."""
    if all(hasattr(each, "column_names") for each in given):
        for table, written in zip(given, outputs, strict=True):
            with blaming(written.path):
                written.begin(table.schema)
                written.write(table)
        return
    streams = [_ahead(each) if len(given) == 1 else iter(each) for each in given]
    for schema, written in zip(map(next, streams), outputs, strict=True):
        written.begin(schema)
    for batches in itertools.zip_longest(*streams):
        for batch, written in zip(batches, outputs, strict=True):
            if batch is not None:
                with blaming(written.path):
                    written.write(batch)
