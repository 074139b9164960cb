"""What Spark's checkpoint says of batches, read from its files without Spark.

    metadata     the query's id
    offsets/N    written when batch N begins: its watermark
    commits/N    written when batch N has ended

Batches are as many as Spark keeps, by default 100. How many events came, no file says: that is in
the progress log.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from windrow.stream.progress_log import Batch


def query_id(checkpoint: Path) -> str:
    """The query that the checkpoint belongs to; empty if it does not say so yet."""
    return str(_json(checkpoint / "metadata").get("id", ""))


def batches(checkpoint: Path, most: int) -> list[Batch]:
    """The newest batches that ended, oldest first; the state's size is that of the newest."""
    ended = sorted(int(each.name) for each in _entries(checkpoint / "commits"))[-most:]
    found = [each for number in ended if (each := _batch(checkpoint, number)) is not None]
    if found:
        found[-1] = Batch(**{**vars(found[-1]), "state_bytes": _size(checkpoint / "state")})
    return found


def _batch(checkpoint: Path, number: int) -> Batch | None:
    try:
        began = (checkpoint / "offsets" / str(number)).stat().st_mtime
        ended = (checkpoint / "commits" / str(number)).stat().st_mtime
    except FileNotFoundError:  # Spark has just removed it, or somebody the whole checkpoint
        return None
    watermark = _json(checkpoint / "offsets" / str(number)).get("batchWatermarkMs")
    return Batch(
        number,
        ended,
        seconds=max(0.0, ended - began),
        watermark=watermark / 1000 if watermark else None,
    )


def _entries(folder: Path) -> list[Path]:
    try:
        return [each for each in folder.iterdir() if each.name.isdigit()]
    except FileNotFoundError:
        return []


def _json(path: Path) -> dict[str, Any]:
    """The first object of a file; Spark writes a line with a version in front of it."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError:
        return {}
    for line in lines:
        if line.startswith("{"):
            try:
                return dict(json.loads(line))
            except ValueError:
                return {}
    return {}


def _size(folder: Path) -> int:
    """The bytes of all files below a folder; files may go meanwhile."""
    total = 0
    for place, _folders, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(place) / name).stat().st_size
            except FileNotFoundError:
                continue
    return total
