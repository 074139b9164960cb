"""Show a running query on a page of this machine: rates, batches, late events, state, charts."""

from __future__ import annotations

import argparse
from pathlib import Path

#: what it reads, the core reads; the checkpoint of a stream over an iterator needs windrow[rocksdb]
EXTRA = "rocksdb"
EXAMPLES = """examples:
  windrow watch checkpoint/ answers/
  windrow watch checkpoint/ answers/ progress.jsonl --port 4712
  windrow watch demo-output/
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `windrow watch`."""
    parser.add_argument(
        "places",
        nargs="+",
        type=Path,
        metavar="CHECKPOINT|OUTPUT|LOG",
        help="a checkpoint, of Spark or of a stream over an iterator; the folder of Parquet files "
        "that the answers are written to; the log of wr.log_progress; or a folder that holds them",
    )
    parser.add_argument(
        "--port", type=_port, default=4711, help="of the page (default: 4711; 0 takes a free one)"
    )
    parser.add_argument(
        "--key",
        metavar="COLUMNS",
        help="the columns that tell lines of a chart apart, with commas between them (default: "
        "those in front of window_start)",
    )
    parser.add_argument(
        "--time", metavar="COLUMN", help="the column that charts go along (default: window_end)"
    )
    parser.add_argument("--name", help="which stream of a checkpoint, if it was given a name")


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    from windrow.cli.page.places import require_places
    from windrow.cli.page.server import PageServer
    from windrow.cli.page.watched import Watched
    from windrow.iterators.checkpoint import NAME

    require_places(arguments.places)
    key = None if arguments.key is None else tuple(filter(None, arguments.key.split(",")))
    watched = Watched(arguments.places, key, arguments.time, arguments.name or NAME)
    with PageServer(watched, arguments.port) as server:
        print(f"Open {server.address} in a browser of this machine; Ctrl-C ends it.", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


def _port(text: str) -> int:
    if not (text.isdigit() and int(text) < 2**16):
        raise argparse.ArgumentTypeError(f"{text!r} is no port; give a number below 65536")
    return int(text)
