"""Which files tell of a query, among those that `windrow watch` is given.

    a folder with offsets/      Spark's checkpoint: batches, the watermark, the state's size
    a folder that is RocksDB    the checkpoint of a stream over an iterator: all counts
    a folder of Parquet files   answers
    a file                      a progress log (`wr.log_progress`): all counts of a query on Spark
    a folder with some of them  as `windrow demo` writes it

A query may start, stop and start from nothing while the page is open. So places are looked for
again whenever the page asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from windrow.errors import InvalidArgument
from windrow.iterators.open_checkpoint import is_rocksdb

#: how the demo calls its log; in a folder that holds several places, a log has this name
LOG = "progress.jsonl"
#: the log of Spark's file sink, which says which files are answers
SINK_LOG = "_spark_metadata"


@dataclass(frozen=True)
class Places:
    """Where a query's files are; None where there is none."""

    spark: Path | None = None
    stream: Path | None = None
    answers: Path | None = None
    log: Path | None = None

    @property
    def names(self) -> list[str]:
        """What was found, in words."""
        return [f"{kind}: {path}" for kind, path in vars(self).items() if path is not None]


def places_in(given: Sequence[Path]) -> Places:
    """The places among these paths, or within those that hold some."""
    found: dict[str, Path] = {}
    for path in given:
        for kind, place in _kinds(path):
            before = found.setdefault(kind, place)
            if before != place:
                raise InvalidArgument(
                    f"{place}: a page shows one query, and {before} is another's; give one of them"
                )
    return Places(**found)


def require_places(given: Sequence[Path]) -> None:
    """Refuse paths that do not exist or tell of no query."""
    for path in given:
        if not path.exists():
            raise InvalidArgument(f"{path}: there is no such file or folder")
        if not any(_kinds(path)):
            raise InvalidArgument(
                f"{path}: it is neither a checkpoint nor a folder of Parquet files, and holds "
                "none; give the query's checkpointLocation, the folder of its answers, or both"
            )
    places_in(given)


def _kinds(path: Path) -> Iterator[tuple[str, Path]]:
    own = _kind(path)
    if own is not None:
        yield own, path
    elif path.is_dir():
        for child in sorted(path.iterdir()):
            kind = _kind(child)
            # Beside answers lie the events that they are about: in Parquet files, too.
            if kind == "answers" and not (child / SINK_LOG).is_dir():
                continue
            if kind is not None and (kind != "log" or child.name == LOG):
                yield kind, child


def _kind(path: Path) -> str | None:
    if path.is_file():
        return "log"
    if (path / "offsets").is_dir() and (path / "metadata").is_file():
        return "spark"
    if (path / SINK_LOG).is_dir() or any(path.glob("*.parquet")):
        return "answers"
    return "stream" if path.is_dir() and is_rocksdb(path) else None
