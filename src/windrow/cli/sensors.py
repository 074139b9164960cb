"""A sensor table to try windrow on, shaped like the DEBS 2012 manufacturing data.

Several machines report 100 times a second: the power drawn on three phases (`mf01`, `mf02`,
`mf03`, in kW), three proximity sensors (`bm05`, `bm06`, `bm07`) and the valve that follows each
of them a moment later (`bm08`, `bm09`, `bm10`). The readings are as awkward as real ones:

- gaps: a machine says nothing for seconds or minutes, so 100 rows are not always one second;
- bursts: a stalled network delivers seconds of readings within milliseconds;
- nulls: single readings lost, and a phase's meter off for a while;
- spikes, slow drift from warming up, and wear that grows until a tool is changed.

The same seed gives the same table, whatever the number of rows that are taken from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

SCHEMA = pa.schema(
    [
        ("machine", pa.string()),
        ("ts", pa.timestamp("us", tz="UTC")),
        *((phase, pa.float64()) for phase in ("mf01", "mf02", "mf03")),
        *((bit, pa.bool_()) for bit in ("bm05", "bm06", "bm07", "bm08", "bm09", "bm10")),
    ]
)

START_US = 1_330_333_200_000_000  # 2012-02-27 09:00:00 UTC, a Monday morning shift
PERIOD_US = 10_000  # 100 Hz
IDLE_KW = 0.6


def readings(
    rows: int, *, machines: int = 8, seed: int = 2012, chunk_rows: int = 200_000
) -> Iterator[pa.Table]:
    """Yield `rows` readings, in tables of about `chunk_rows`, each in the order of time.

    Args:
        rows: how many readings in all, shared evenly among the machines.
        machines: how many machines report.
        seed: of the random numbers; the same seed gives the same table.
        chunk_rows: how many readings to make at a time, which bounds memory.
    """
    plant = [_Machine(f"press-{number + 1}", seed, number) for number in range(machines)]
    per_machine = max(1, chunk_rows // machines)
    due = [rows // machines + (number < rows % machines) for number in range(machines)]
    while any(due):
        taken = [min(per_machine, remaining) for remaining in due]
        due = [remaining - count for remaining, count in zip(due, taken, strict=True)]
        parts = [machine.take(count) for machine, count in zip(plant, taken, strict=True) if count]
        yield pa.concat_tables(parts).combine_chunks().sort_by([("ts", "ascending")])


class Plant:
    """Machines at work: what they have reported by a moment is taken as time goes on."""

    def __init__(self, machines: int, seed: int) -> None:
        self._machines = [_Machine(f"press-{n + 1}", seed, n) for n in range(machines)]

    def until(self, moment: int) -> pa.Table:
        """The readings before a moment, in microseconds, that were not taken yet, by time."""
        parts = [machine.take_before(moment) for machine in self._machines]
        return pa.concat_tables(parts).combine_chunks().sort_by([("ts", "ascending")])


@dataclass
class _Schedule:
    """The work cycles of one machine: press for a while, then rest, drawn as time goes on."""

    rng: np.random.Generator
    pace: float
    starts: list[float] = field(default_factory=lambda: [0.0])
    pressing: list[float] = field(default_factory=list)
    levels: list[float] = field(default_factory=list)

    def at(self, seconds: Floats) -> tuple[Ints, Floats, Floats, Floats]:
        """Of each moment: its cycle, the time since the cycle began, its pressing time and load."""
        while self.starts[-1] <= seconds[-1]:
            pressing = self.pace * self.rng.uniform(0.55, 0.75)
            resting = self.pace * self.rng.uniform(0.25, 0.45)
            # Now and then the machine waits for material.
            waiting = self.rng.exponential(40.0) if self.rng.random() < 0.06 else 0.0
            self.pressing.append(pressing)
            self.levels.append(self.rng.choice([2.6, 3.1, 3.8]) * self.rng.normal(1.0, 0.02))
            self.starts.append(self.starts[-1] + pressing + resting + waiting)
        cycle = np.searchsorted(self.starts, seconds, side="right") - 1
        since = seconds - np.asarray(self.starts)[cycle]
        return cycle, since, np.asarray(self.pressing)[cycle], np.asarray(self.levels)[cycle]


class _Machine:
    """One machine: takes readings from where the last ones ended."""

    # Readings are drawn in blocks of this many, so that what is drawn does not depend on how many
    # are taken at a time.
    BLOCK = 10_000

    def __init__(self, name: str, seed: int, number: int) -> None:
        self.name = name
        self.rng = np.random.default_rng([seed, number])
        self.schedule = _Schedule(np.random.default_rng([seed, number, 1]), pace=24 + 3.5 * number)
        self.warm_up = self.rng.uniform(600, 1500)
        self.phase_share = self.rng.normal(1.0, 0.04, size=3)
        self.clock_us = START_US + int(self.rng.integers(0, 5_000_000))
        self.left_over = SCHEMA.empty_table()

    def take(self, count: int) -> pa.Table:
        parts = [self.left_over]
        while sum(part.num_rows for part in parts) < count:
            parts.append(self._block())
        table = pa.concat_tables(parts)
        self.left_over = table.slice(count)
        return table.slice(0, count)

    def take_before(self, moment: int) -> pa.Table:
        parts = [self.left_over]
        while self.clock_us < moment:
            parts.append(self._block())
        table = pa.concat_tables(parts)
        count = int(np.searchsorted(table["ts"].cast("int64").to_numpy(), moment))
        self.left_over = table.slice(count)
        return table.slice(0, count)

    def _block(self) -> pa.Table:
        ts = self._timestamps()
        seconds = (ts - START_US) / 1e6
        cycle, since, pressing, level = self.schedule.at(seconds)
        power = self._power(seconds, cycle, since, pressing, level)
        columns: list[pa.Array] = [
            pa.array([self.name] * self.BLOCK, pa.string()),
            pa.array(ts, pa.timestamp("us", tz="UTC")),
        ]
        for share in self.phase_share:
            phase = np.round(np.maximum(power * share + self._noise(0.03), 0.0), 3)
            columns.append(pa.array(phase, pa.float64(), mask=self._lost()))
        for delay in (0.0, 0.35):  # the sensors, then the valves that follow them
            columns += [
                pa.array((since > 0.4 + delay) & (since < pressing + delay), pa.bool_()),
                pa.array((since > 0.9 + delay) & (since < 0.5 * pressing + delay), pa.bool_()),
                pa.array(
                    (since - delay) % 4.0 < 0.8, pa.bool_(), mask=self.rng.random(self.BLOCK) < 2e-4
                ),
            ]
        return pa.table(columns, schema=SCHEMA)

    def _timestamps(self) -> Ints:
        steps = (
            self.rng.normal(PERIOD_US, 250, size=self.BLOCK).clip(PERIOD_US / 2).astype(np.int64)
        )
        for start in self._happenings(40_000):  # a burst: silence, then all that was held back
            held = int(self.rng.integers(150, 600))
            steps[start] += held * PERIOD_US
            steps[start + 1 : start + held] = self.rng.integers(
                250, 600, len(steps[start + 1 : start + held])
            )
        for start in self._happenings(60_000):  # a gap
            steps[start] += int(self.rng.integers(8, 75) * 1_000_000)
        ts = self.clock_us + np.cumsum(steps)
        self.clock_us = int(ts[-1])
        return ts

    def _power(
        self, seconds: Floats, cycle: Ints, since: Floats, pressing: Floats, level: Floats
    ) -> Floats:
        wear = 1 + 0.004 * (cycle % 45)
        warmth = 0.25 * (1 - np.exp(-seconds / self.warm_up)) + 0.08 * np.sin(seconds / 190)
        ramp = 1 - np.exp(-since / 0.9)
        fall = np.exp(-np.maximum(since - pressing, 0) / 1.6)
        strokes = (
            1 + 0.13 * np.sin(2 * np.pi * since / 1.7) + 0.05 * np.sin(2 * np.pi * since / 0.31)
        )
        inrush = 1.6 * np.exp(-since / 0.35)
        load = level * wear * ramp * fall * np.where(since < pressing, strokes, 1.0)
        power: Floats = IDLE_KW + warmth + load + inrush + self._noise(0.05)
        for start in self._happenings(12_000):  # a spike: the tool hits something hard
            decay = np.exp(-np.arange(40) / 9.0)[: self.BLOCK - start]
            power[start : start + 40] += self.rng.uniform(1.2, 3.2) * decay
        return power

    def _lost(self) -> Flags:
        lost: Flags = self.rng.random(self.BLOCK) < 5e-4
        for start in self._happenings(80_000):  # the meter of one phase is off for a while
            lost[start : start + int(self.rng.integers(50, 800))] = True
        return lost

    def _noise(self, kw: float) -> Floats:
        return self.rng.normal(0.0, kw, size=self.BLOCK)

    def _happenings(self, every: int) -> Ints:
        """Where in a block something happens that happens once in `every` readings."""
        return self.rng.integers(0, self.BLOCK, size=self.rng.poisson(self.BLOCK / every))
