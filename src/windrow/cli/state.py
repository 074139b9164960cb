"""Show what the state of a streaming query holds, from its checkpoint."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from windrow.errors import InvalidArgument, StoreError

if TYPE_CHECKING:
    from windrow.stream.inspection import Summary

#: the extra that installs the packages that it needs
EXTRA = "spark"

_HEADINGS = ("shard", "keys", "blocks", "bytes", "waiting", "oldest slice", "newest slice")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: the blocks of each shard, by its label
_Shards = Mapping[int, Mapping[int, bytes]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `windrow state`."""
    parser.add_argument("checkpoint", help="the folder given to the query as checkpointLocation")
    parser.add_argument(
        "--operator",
        type=int,
        help="which stateful operator of the query, counted from 0 (default: all of windrow's)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the query that the state belongs to, and a line for each shard."""
    from windrow.spark.session import local_session
    from windrow.spark.streaming.checkpoint import operators_in, shards_in

    checkpoint: str = arguments.checkpoint
    if "://" not in checkpoint and not Path(checkpoint).is_dir():
        raise InvalidArgument(f"checkpoint: there is no folder {checkpoint}")
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
    return 0


def _summaries(shards: _Shards, checkpoint: str) -> dict[int, Summary]:
    """What each shard holds, by its number."""
    from windrow.spark.streaming.shards import labels
    from windrow.stream.inspection import summary

    found = {}
    numbers = {label: number for number, label in enumerate(labels(_number_of_shards(shards)))}
    for number, label in sorted((numbers[label], label) for label in shards):
        try:
            found[number] = summary(shards[label])
        except StoreError as error:
            problem = str(error).removeprefix("checkpoint: ")
            raise StoreError(f"checkpoint {checkpoint}, shard {number}: {problem}") from None
    return found


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
        print(line)
    rows = [
        (str(number), f"{each.keys:,}", f"{each.blocks:,}", f"{each.bytes:,}", f"{each.waiting:,}",
         _moment(each.oldest), _moment(each.newest))
        for number, each in summaries.items()
    ]  # fmt: skip
    widths = [max(map(len, column)) for column in zip(_HEADINGS, *rows, strict=True)]
    print()
    for row in (_HEADINGS, *rows):
        print("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)))


def _moment(seconds: float | None) -> str:
    return "-" if seconds is None else str((_EPOCH + timedelta(seconds=seconds)).isoformat(" "))
