"""Points, one JSON line each: the file that an interrupted run goes on from.

The first line tells of the run: grid, seed, versions, machine. A line follows for each finished
group, and one for each of its points:

    {"run": {"grid": "quick", ...}}
    {"paper": "in_order_2021", "figure": "fig_10", "panel": "sum", "series": "daba", "x": 16,
     "rounds": [140.2, 139.8, 141.0]}
    {"paper": ..., "figure": ..., "panel": "sum", "x": 16, "finished": 1.4}

The last is written when all points of the group are. A group without it is measured again, and
its points count from the last time.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from windrow.errors import InvalidArgument
from windrow.experiments.experiment import QUANTILES, SPIKE, Reading

#: paper, figure, panel, x
GroupKey = tuple[str, str, str, float | str]


@dataclass(frozen=True)
class Point:
    """What one contestant did at one place: its rounds, or why there are none."""

    panel: str
    series: str
    x: float | str
    rounds: tuple[Reading, ...] = ()
    gap: str | None = None

    @property
    def median(self) -> float:
        """The median of the rounds; of latencies, their median."""
        return statistics.median(self._values(0.5))

    @property
    def low(self) -> float:
        """The lowest round."""
        return min(self._values(0.5))

    @property
    def high(self) -> float:
        """The highest round."""
        return max(self._values(0.5))

    @property
    def has_quantiles(self) -> bool:
        """Whether a round is a distribution."""
        return bool(self.rounds) and isinstance(self.rounds[0], list)

    def quantile(self, share: float) -> float:
        """A quantile of the latencies: the median over the rounds."""
        return statistics.median(self._values(share))

    def _values(self, share: float) -> list[float]:
        place = (*QUANTILES, SPIKE).index(share)
        return [each[place] if isinstance(each, list) else each for each in self.rounds]


@dataclass
class FigurePoints:
    """The points of one figure."""

    points: list[Point] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def panels(self) -> list[str]:
        """The panels, in the order in which they were measured."""
        return list(dict.fromkeys(point.panel for point in self.points))

    def series(self, panel: str) -> list[str]:
        """The contestants of a panel."""
        return list(dict.fromkeys(point.series for point in self.points if point.panel == panel))

    def line(self, panel: str, series: str) -> list[Point]:
        """The points of a contestant that were measured, in their order."""
        return [
            point
            for point in self.points
            if point.panel == panel and point.series == series and point.rounds
        ]

    def gaps(self) -> dict[str, list[str]]:
        """For each reason, the contestants that are missing somewhere."""
        found: dict[str, list[str]] = {}
        for point in self.points:
            if point.gap is not None and point.series not in found.setdefault(point.gap, []):
                found[point.gap].append(point.series)
        return found


class Results:
    """The file of a run: what is done, and where more is written."""

    def __init__(self, path: Path, run: dict[str, Any]) -> None:
        """Open the file, or begin it with a line about the run."""
        self._path = path
        self.run = run
        self._finished: dict[GroupKey, float] = {}
        self._points: dict[GroupKey, dict[str, Point]] = {}
        if path.exists():
            self._read()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write([{"run": run}])

    def _read(self) -> None:
        text = self._path.read_text(encoding="utf-8")
        # A process that was killed while it wrote leaves half a line, which is cut off.
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self._path.write_text(whole, encoding="utf-8")
        lines = [json.loads(line) for line in whole.splitlines()]
        if not lines or "run" not in lines[0]:
            raise InvalidArgument(f"output: {self._path} is not a file of this command")
        before = lines[0]["run"]
        for what in ("grid", "seed", "data", "windrow", "machine"):
            if before.get(what) != self.run.get(what):
                raise InvalidArgument(
                    f"output: {self._path} was measured with another {what} "
                    f"({before.get(what)!r}); choose another folder, or begin anew with --fresh"
                )
        self.run = before
        for line in lines[1:]:
            self._take(line)

    def _take(self, line: dict[str, Any]) -> None:
        key = (line["paper"], line["figure"], line["panel"], line["x"])
        if "finished" in line:
            self._finished[key] = line["finished"]
            return
        point = Point(
            line["panel"], line["series"], line["x"], tuple(line.get("rounds", ())), line.get("gap")
        )
        self._points.setdefault(key, {})[point.series] = point

    def is_finished(self, key: GroupKey) -> bool:
        """Whether a group need not be measured again."""
        return key in self._finished

    def add(self, key: GroupKey, points: Iterable[Point], seconds: float) -> None:
        """Write down a group, all of it or nothing."""
        paper, figure, panel, x = key
        place = {"paper": paper, "figure": figure, "panel": panel}
        lines: list[dict[str, Any]] = []
        for point in points:
            told = {"gap": point.gap} if point.gap else {"rounds": list(point.rounds)}
            lines.append({**place, "series": point.series, "x": x, **told})
        lines.append({**place, "x": x, "finished": round(seconds, 3)})
        self._write(lines)
        for line in lines:
            self._take(line)

    def _write(self, lines: list[dict[str, Any]]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(line) + "\n" for line in lines))

    def figure(self, paper: str, figure: str) -> FigurePoints:
        """All points of a figure so far."""
        found = FigurePoints()
        for key in self._of(paper, figure):
            found.points += self._points.get(key, {}).values()
            found.seconds += self._finished[key]
        return found

    def _of(self, paper: str, figure: str) -> Iterator[GroupKey]:
        return (key for key in self._finished if key[:2] == (paper, figure))
