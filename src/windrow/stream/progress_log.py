"""The progress log: a line of JSON for each batch of a query, which `windrow watch` reads.

    {"query": "2f1c…", "number": 7, "ended": 1779958800.5, "seconds": 0.8, "events": 41000, ...}

When a file is full, it becomes `NAME.old`, and a new one begins: together they have two times
`MOST_BYTES` at most. A line is written at once, and counts when its end is there.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

#: a file that is larger becomes the old one: some 40,000 batches
MOST_BYTES = 10_000_000
#: no line is longer; so the newest lines are within this many bytes each
_LONGEST = 1_000


@dataclass(frozen=True)
class Batch:
    """What one batch did. None means that nothing says so.

    Attributes:
        number: its number; the batches of a query are numbered over all restarts.
        ended: when it ended, in seconds since the epoch.
        seconds: how long it took.
        events: events that came.
        late: events that were dropped because they were late.
        untimed: events that were dropped because they have no time.
        state_bytes: how large the state was after it.
        watermark: the watermark of the batch, in seconds since the epoch.
        query: which query it belongs to, where several share a log.
    """

    number: int
    ended: float
    seconds: float | None = None
    events: int | None = None
    late: int | None = None
    untimed: int | None = None
    state_bytes: int | None = None
    watermark: float | None = None
    query: str = ""


def state_in_use(files: int, memory: int) -> int:
    """Bytes of a state store: those of its files, or of its memory until it has written some.

    With changelogs that is at its first snapshot.
    """
    return files or memory


def append(path: Path, batch: Batch, most_bytes: int = MOST_BYTES) -> None:
    """Add a batch to a log; the folder exists."""
    if path.exists() and path.stat().st_size > most_bytes:
        path.replace(_old(path))
    with path.open("a", encoding="utf-8") as log:
        log.write(json.dumps(asdict(batch)) + "\n")


def newest(path: Path, most: int) -> list[Batch]:
    """The last batches of a log, oldest first; lines that are no batches are left out."""
    lines = _last_lines(path, most)
    if len(lines) < most:
        lines = _last_lines(_old(path), most - len(lines)) + lines
    found = (_batch(line) for line in lines)
    return [batch for batch in found if batch is not None]


def _old(path: Path) -> Path:
    return path.with_name(path.name + ".old")


def _last_lines(path: Path, most: int) -> list[str]:
    """Whole lines at the end of a file."""
    try:
        with path.open("rb") as log:
            size = log.seek(0, 2)
            begin = max(0, size - most * _LONGEST)
            log.seek(begin)
            lines = log.read().decode("utf-8", "replace").split("\n")
    except FileNotFoundError:
        return []
    return lines[begin > 0 : -1][-most:]  # the first may be cut; behind the last end is none yet


def _batch(line: str) -> Batch | None:
    try:
        batch = Batch(**json.loads(line))
    except (ValueError, TypeError):
        return None
    whole = isinstance(batch.number, int) and isinstance(batch.ended, int | float)
    return batch if whole else None
