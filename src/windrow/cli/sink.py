"""What Spark's file sink has committed, read from its log without Spark.

An interrupted batch leaves files in the folder that are in no log. They are not answers.
"""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.parquet as pq


class CommittedFiles:
    """The files of a sink, taken as they are committed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._taken: set[str] = set()

    def take(self) -> pa.Table | None:
        """What was committed since the last call; None if nothing was."""
        new = sorted(committed(self._folder).keys() - self._taken)
        self._taken.update(new)
        tables = [pq.read_table(path) for path in new]
        filled = [table for table in tables if table.num_rows]
        return pa.concat_tables(filled) if filled else None


def committed(folder: Path) -> dict[str, None]:
    """The paths of all files, in the order of their batches.

    Every tenth entry of the log, `19.compact`, repeats all before: it and those after it say all.
    """
    entries = {entry.name: entry for entry in (folder / "_spark_metadata").glob("[0-9]*")}
    numbers = sorted({int(name.partition(".")[0]) for name in entries})
    whole = [number for number in numbers if f"{number}.compact" in entries]
    files: dict[str, None] = {}
    for number in numbers[numbers.index(whole[-1]) if whole else 0 :]:
        entry = entries.get(f"{number}.compact", entries.get(str(number)))
        if entry is not None:
            files.update(dict.fromkeys(_files_of(entry)))
    return files


def _files_of(entry: Path) -> list[str]:
    """The files of an entry, whose first line is a version; Spark may have just removed it."""
    try:
        lines = entry.read_text().splitlines()[1:]
    except FileNotFoundError:
        return []
    return [unquote(urlparse(json.loads(line)["path"]).path) for line in lines]
