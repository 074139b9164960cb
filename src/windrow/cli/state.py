"""Show what the state of a streaming query holds, from its checkpoint."""

from __future__ import annotations

import argparse
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from windrow.errors import InvalidArgument

_HEADINGS = ("shard", "keys", "blocks", "bytes", "waiting", "oldest slice", "newest slice")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the subcommand is told."""
    parser.add_argument("checkpoint", help="the folder given to the query as checkpointLocation")
    parser.add_argument(
        "--operator", type=int, default=0, help="which stateful operator of the query (default 0)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print a line for each shard, and the query that the state was made by."""
    from windrow.runtime.stream.inspect import summary
    from windrow.spark.session import local_session
    from windrow.spark.stream.checkpoint import shards_in

    checkpoint: str = arguments.checkpoint
    if "://" not in checkpoint and not Path(checkpoint).is_dir():
        raise InvalidArgument(f"checkpoint: there is no folder {checkpoint}")
    session = local_session("windrow state", log_file=os.devnull)
    shards = shards_in(session, checkpoint, arguments.operator)
    summaries = {label: summary(blocks) for label, blocks in sorted(shards.items())}
    for line in dict.fromkeys(line for each in summaries.values() for line in each.query):
        print(line)
    rows = [
        (str(label), f"{each.keys:,}", f"{each.blocks:,}", f"{each.bytes:,}", f"{each.waiting:,}",
         _moment(each.oldest), _moment(each.newest))
        for label, each in summaries.items()
    ]  # fmt: skip
    widths = [max(map(len, column)) for column in zip(_HEADINGS, *rows, strict=True)]
    print()
    for row in (_HEADINGS, *rows):
        print("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)))
    return 0


def _moment(seconds: float | None) -> str:
    return "-" if seconds is None else str((_EPOCH + timedelta(seconds=seconds)).isoformat(" "))
