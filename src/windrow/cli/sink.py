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
        new = sorted(_committed(self._folder) - self._taken)
        self._taken.update(new)
        tables = [pq.read_table(path) for path in new]
        filled = [table for table in tables if table.num_rows]
        return pa.concat_tables(filled) if filled else None


def _committed(folder: Path) -> set[str]:
    """The paths of all files; every tenth entry of the log repeats those before."""
    log = folder / "_spark_metadata"
    entries = [each for each in log.glob("*") if not each.name.startswith(".")]
    lines = [line for entry in entries for line in entry.read_text().splitlines()[1:]]
    return {unquote(urlparse(json.loads(line)["path"]).path) for line in lines}
