"""`windrow run` on Spark, and over folders that grow.

A stream takes files in the order of their names, and each once. Its output is a folder: a file for
each batch of answers, numbered, so that a restarted stream writes the same files again.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from windrow.cli.inputs import (
    Batches,
    DataError,
    Input,
    blaming,
    inputs_of,
    kind_of_path,
    require_columns,
)
from windrow.cli.main import CallError
from windrow.cli.outputs import output
from windrow.cli.spark_output import output_folder, require_new_folder

#: seconds between two looks at a folder
_PAUSE = 0.5


def run_elsewhere(arguments: argparse.Namespace, text: str, tables: list[str]) -> int:
    """Answer the query on Spark or over a stream."""
    if len(arguments.output) > 1:
        raise CallError("--output: on Spark and for streams, give one statement and one output")
    path = arguments.output[0] if arguments.output else "-"
    if arguments.stream and (path == "-" or len(arguments.input) != 1):
        raise CallError("--stream: give one --input, a folder, and --output, another folder")
    if arguments.stream and _folder_of(arguments) == Path(path).resolve():
        raise CallError("--output: it is the folder of the input; answers would be read as events")
    if arguments.engine == "spark":
        from windrow.spark.failures import told_in_one_line

        with told_in_one_line():
            return _on_spark(arguments, text, tables, path)
    return _stream(arguments, text, tables, path)


def _folder_of(arguments: argparse.Namespace) -> Path:
    """The folder that a stream follows."""
    _name, sign, path = arguments.input[0].partition("=")
    return Path(path if sign else _name).resolve()


# In process --------------------------------------------------------------------------------------


def _stream(arguments: argparse.Namespace, text: str, tables: list[str], path: str) -> int:
    from windrow.cql.query import cql

    target = Path(path)
    old = _replaced(target, arguments)
    folder = _Folder(arguments, tables)
    with blaming(path):
        target.mkdir(exist_ok=True)
    kind = arguments.output_format or "parquet"
    given: dict[str, Any] = {folder.name: folder.batches_after}
    stream = cql(
        text,
        lateness=arguments.lateness or "0 seconds",
        schema=folder.schema,
        checkpoint=_checkpoint(arguments.checkpoint),
        **given,
    ).run()
    for each in old:
        each.unlink()
    with stream:
        try:
            for batch in stream:
                name = str(target / f"part-{stream.sequence:09d}.{kind}")
                with output(name, kind, overwrite=True) as written:
                    written.begin(batch.schema)
                    written.write(batch)
                if arguments.checkpoint:
                    stream.commit()
            if arguments.checkpoint:
                stream.commit()
        except KeyboardInterrupt:  # what is not written yet is not committed: it comes again
            pass
        if not arguments.quiet:
            print(f"{stream.events:,} events, {stream.late:,} late", file=sys.stderr)
    return 0


def _replaced(target: Path, arguments: argparse.Namespace) -> list[Path]:
    """The answers of another run, which are refused unless they may be replaced."""
    if target.exists() and not target.is_dir():
        raise DataError(f"{target}: it is a file; a stream writes a folder")
    if not target.parent.is_dir():
        raise DataError(f"{target}: there is no folder {target.parent}")
    state = arguments.checkpoint and Path(arguments.checkpoint)
    if state and state.is_dir() and any(state.iterdir()):
        return []
    old = list(target.glob("part-*.*"))
    if old and not arguments.overwrite:
        raise CallError(
            f"{target}: it holds answers of another run; give the --checkpoint of that run to go "
            "on with it, or --overwrite to replace them"
        )
    return old


def _checkpoint(place: str | None) -> Any:
    """The checkpoint; a stream that ends goes on with more files."""
    if place is None:
        return None
    from windrow.iterators.checkpoint import Checkpoint

    return Checkpoint(place, at_end="wait")


class _Folder:
    """A folder that grows, and the batches of its files."""

    def __init__(self, arguments: argparse.Namespace, tables: list[str]) -> None:
        self._arguments, self._tables = arguments, tables
        name, sign, path = arguments.input[0].partition("=")
        self.name: str = name if sign else tables[0]
        self._path = Path(path if sign else name)
        if not self._path.is_dir():
            raise DataError(f"{self._path}: there is no such folder; a stream follows a folder")
        first = next(self._files_after(""), None)
        if first is None:
            raise DataError(
                f"{self._path}: no file came, and the first says which columns there are"
            )
        self.schema = self._opened(first).schema

    def batches_after(self, offset: Any) -> Iterator[tuple[pa.RecordBatch, str]]:
        """The batches of files whose names follow; the last of a file carries its name."""
        done = offset or ""
        for file in self._files_after(done):
            before, waiting = done, None
            for batch in self._opened(file).rows:
                if waiting is not None:
                    yield waiting, before
                waiting = batch
            done = file.name
            if waiting is not None:
                yield waiting, done

    def _files_after(self, done: str) -> Iterator[Path]:
        """Files as they come, by name; ends if none came for as long as --idle says."""
        idle, came = self._arguments.idle, time.monotonic()
        seen: set[str] | None = None
        while True:
            names = sorted(
                each.name
                for each in os.scandir(self._path)
                if each.is_file() and each.name[0] not in "._"
            )
            new = [each for each in names if each > done]
            for name in () if seen is None else {*names} - seen - {*new}:
                print(
                    f"windrow run: {self._path / name}: it came after {done}, and files are taken "
                    "in the order of their names; it is left out",
                    file=sys.stderr,
                )
            seen = {*names}
            for name in new:
                yield self._path / name
                done, came = name, time.monotonic()
            if not new:
                if idle is not None and time.monotonic() - came >= idle:
                    return
                time.sleep(_PAUSE if idle is None else min(_PAUSE, idle))

    def _opened(self, file: Path) -> Batches:
        arguments = self._arguments
        given = f"{self.name}={file}"
        (found,) = inputs_of(
            [given], self._tables, arguments.input_format, arguments.types, arguments.encoding
        )
        return replace(found, name=self.name).batches()


# Spark -------------------------------------------------------------------------------------------


def _on_spark(arguments: argparse.Namespace, text: str, tables: list[str], path: str) -> int:
    from windrow.cql.query import cql
    from windrow.spark.bridge.schema import arrow_of
    from windrow.spark.files import FORMATS
    from windrow.spark.session import STREAMING, local_session

    inputs = inputs_of(
        arguments.input, tables, arguments.input_format, arguments.types, arguments.encoding
    )
    if path != "-" and not arguments.stream:
        require_new_folder(path, arguments.overwrite)
    kind = arguments.output_format or ("csv" if path == "-" else _spark_kind(path))
    if kind not in FORMATS:
        raise CallError("--output-format: Spark writes csv, jsonl and parquet")
    if arguments.stream and not arguments.checkpoint:
        raise CallError("--checkpoint: a stream on Spark keeps its state in a folder; name one")
    settings = {"spark.master": arguments.master} if arguments.master else {}
    options: dict[str, Any] = {}
    if arguments.stream:
        settings |= STREAMING
        options = {"lateness": arguments.lateness or "0 seconds"}
    session = local_session("windrow run", log_file=os.devnull, **settings)
    frames = {each.name: _frame(session, each, arguments) for each in inputs}
    require_columns(inputs[0].types, [arrow_of(each) for each in frames.values()])
    answers = cql(text, **options, **frames).run()
    if isinstance(answers, list):
        raise CallError("--engine spark: give one statement")
    if arguments.stream:
        _write_stream(answers, FORMATS[kind], path, arguments)
    elif path == "-":
        found = answers.toArrow()
        with output("-", kind, overwrite=True) as written:
            written.begin(found.schema)
            written.write(found)
    else:
        with output_folder(path) as folder:
            answers.write.format(FORMATS[kind]).option("header", True).save(folder)
    return 0


def _spark_kind(path: str) -> str:
    return kind_of_path(path) if Path(path).suffix else "parquet"


def _frame(session: Any, source: Input, arguments: argparse.Namespace) -> Any:
    """The DataFrame of an input; a stream has the columns that its first files have."""
    from windrow.spark.files import FORMATS, read_files

    if source.kind not in FORMATS:
        raise CallError(f"--input: Spark reads csv, jsonl and parquet, not {source.kind}")
    if source.files == ("-",):
        raise CallError("--input: Spark reads files, and not the standard input")
    follow = str(_folder_of(arguments)) if arguments.stream else None
    found = read_files(
        session,
        source.files,
        source.kind,
        types=source.types,
        encoding=source.encoding,
        follow=follow,
    )
    if not found.columns:
        raise DataError(f"{source.files[0]}: it has no columns")
    return found


def _write_stream(answers: Any, form: str, path: str, arguments: argparse.Namespace) -> None:
    writer = answers.writeStream.format(form).option("path", path)
    writer = writer.option("checkpointLocation", arguments.checkpoint).option("header", True)
    if arguments.idle is not None:
        writer = writer.trigger(availableNow=True)
    running = writer.start()
    try:
        running.awaitTermination()
    except KeyboardInterrupt:
        running.stop()
