"""Show what the state of a stream holds, from its checkpoint."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from windrow.errors import InvalidArgument, StoreError

if TYPE_CHECKING:
    from windrow.stream.inspection import Summary

#: the extra that installs the packages that it needs
EXTRA = "spark"
EXAMPLES = """examples:
  windrow state checkpoint/
  windrow state checkpoint/ --operator 1
  windrow state redis://localhost:6379/0 --name clicks
"""

_HEADINGS = ("shard", "keys", "blocks", "bytes", "waiting", "oldest slice", "newest slice")
_WINDOW = re.compile(r"window (?P<name>.*?)=(?P<kind>[a-z_]+)\((?P<arguments>.*)\)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: the blocks of each shard, by its label
_Shards = Mapping[int, Mapping[int, bytes]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `windrow state`."""
    parser.add_argument(
        "checkpoint",
        help="the folder given to the query as checkpointLocation, or what was given to a stream "
        "over an iterator as checkpoint=",
    )
    parser.add_argument(
        "--operator",
        type=int,
        help="which stateful operator of Spark's query, counted from 0 (default: all of windrow's)",
    )
    parser.add_argument("--name", help="which stream of a store, if it was given a name")


def run(arguments: argparse.Namespace) -> int:
    """Print the query that the state belongs to, and a line for each shard."""
    checkpoint: str = arguments.checkpoint
    if "://" not in checkpoint and not Path(checkpoint).is_dir():
        raise InvalidArgument(f"checkpoint: there is no folder {checkpoint}")
    if _is_store(checkpoint):
        _show_stream(checkpoint, arguments)
    else:
        _show_spark(checkpoint, arguments)
    return 0


def _is_store(checkpoint: str) -> bool:
    """Whether a stream over an iterator wrote it: Spark's folders are no RocksDB themselves."""
    from windrow.iterators.open_checkpoint import is_rocksdb
    from windrow.stores import is_server

    return is_server(checkpoint) or is_rocksdb(Path(checkpoint))


def _show_stream(checkpoint: str, arguments: argparse.Namespace) -> None:
    from windrow.iterators.checkpoint import NAME
    from windrow.iterators.reading import checkpoint_at
    from windrow.iterators.run import Progress

    if arguments.operator is not None:
        raise InvalidArgument("--operator: it is of Spark's queries, and this is a stream without")
    record, shards = checkpoint_at(checkpoint, arguments.name or NAME)
    if not record.commits:
        print("nothing was committed yet")
        return
    _show({number: _summary(blocks, checkpoint, number) for number, blocks in shards.items()})
    progress = Progress(**record.progress)
    print(f"\noffset     {json.dumps(progress.offset)}")
    print(f"watermark  {_moment(progress.watermark / 1000 if progress.watermark else None)}")
    print(
        f"taken      {progress.batches:,} batches, {progress.events:,} events, "
        f"{progress.late:,} late, {progress.untimed:,} untimed"
    )
    print(f"given      {progress.sequence:,} batches of answers, {record.commits:,} commits")
    if progress.is_over:
        print("the input has ended, and what was left is answered")


def _show_spark(checkpoint: str, arguments: argparse.Namespace) -> None:
    from windrow.spark.failures import told_in_one_line
    from windrow.spark.session import local_session
    from windrow.spark.streaming.checkpoint import operators_in, shards_in

    if arguments.name is not None:
        raise InvalidArgument("--name: it is of streams in a store, and this is Spark's checkpoint")
    with told_in_one_line():
        session = local_session("windrow state", log_file=os.devnull)
    operators = operators_in(session, checkpoint)
    if arguments.operator is not None:
        if arguments.operator not in operators:
            raise InvalidArgument(
                f"--operator: {arguments.operator} is not windrow's in {checkpoint}; windrow's are "
                f"{', '.join(map(str, operators))}"
            )
        operators = [arguments.operator]
    for place, operator in enumerate(operators):
        if len(operators) > 1:
            print("\n" * (place > 0) + f"operator {operator}")
        _show(_summaries(shards_in(session, checkpoint, operator), checkpoint))


def _summaries(shards: _Shards, checkpoint: str) -> dict[int, Summary]:
    """What each shard holds, by its number."""
    from windrow.spark.streaming.shards import labels

    numbers = {label: number for number, label in enumerate(labels(_number_of_shards(shards)))}
    return {
        number: _summary(shards[label], checkpoint, number)
        for number, label in sorted((numbers[label], label) for label in shards)
    }


def _summary(blocks: Mapping[int, bytes], checkpoint: str, number: int) -> Summary:
    """What a shard holds; errors about damage name the checkpoint and the shard."""
    from windrow.stores import shown
    from windrow.stream.inspection import summary

    try:
        return summary(blocks)
    except StoreError as error:
        problem = str(error).removeprefix("checkpoint: ")
        raise StoreError(f"checkpoint {shown(checkpoint)}, shard {number}: {problem}") from None


def _number_of_shards(shards: _Shards) -> int:
    """The number of shards, from the first shard whose description is not damaged."""
    from windrow.stream.inspection import shards_told

    problem = None
    for blocks in shards.values():
        try:
            return shards_told(blocks)
        except StoreError as error:
            problem = error
    raise problem or StoreError("checkpoint: its state has no shards")


def _show(summaries: Mapping[int, Summary]) -> None:
    for line in dict.fromkeys(line for each in summaries.values() for line in each.query):
        print(_readable(line))
    rows = [
        (str(number), f"{each.keys:,}", f"{each.blocks:,}", f"{each.bytes:,}", f"{each.waiting:,}",
         _moment(each.oldest), _moment(each.newest))
        for number, each in summaries.items()
    ]  # fmt: skip
    widths = [max(map(len, column)) for column in zip(_HEADINGS, *rows, strict=True)]
    print()
    for row in (_HEADINGS, *rows):
        print("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)))


def _readable(line: str) -> str:
    """A line of a query's description; windows in words, as `window h: time 1 hour every 1 second`.

    >>> _readable("window h=time('1 hour', every='1 second')")
    'window h: time 1 hour every 1 second'
    """
    window = _WINDOW.fullmatch(line)
    if window is None:
        return line
    arguments = window["arguments"].replace("'", "").replace(", every=", " every ")
    return f"window {window['name']}: {window['kind']} {arguments}".rstrip()


def _moment(seconds: float | None) -> str:
    return "-" if seconds is None else str((_EPOCH + timedelta(seconds=seconds)).isoformat(" "))
