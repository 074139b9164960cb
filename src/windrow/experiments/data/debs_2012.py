"""Readings in the shape of the DEBS 2012 Grand Challenge: machines at 100 Hz.

The original has 3 readings of energy and 51 state bits for each of 32 million rows. What matters to
windows is when events come and how their values wander: about 10 ms apart, with gaps, after which
many events leave at once, and bursts. `state` has the bits that the challenge's queries read.

    readings(1_000_000)              generated, the same for the same seed
    readings(1_000_000, "DEBS2012-ChallengeData.txt")    the original, as far as it goes
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from windrow.errors import InvalidArgument
from windrow.experiments.experiment import SEED

Array = np.ndarray[Any, Any]

PERIOD = 10_000_000
#: bits 5 to 10 of the challenge: three sensors, and the valves that follow them
BITS = ("bm05", "bm06", "bm07", "bm08", "bm09", "bm10")
#: where the original file has them: a time, an index, three energies, seven others, then the bits
_TIME, _ENERGY, _FIRST_BIT = 0, (2, 3, 4), 12

#: the original file, if the user has it (`windrow bench --debs-2012`)
original: Path | None = None


def origin() -> list[str]:
    """Where the readings come from, for the description of a run."""
    return ["DEBS 2012: " + ("generated" if original is None else str(original.name))]


@dataclass(frozen=True)
class Readings:
    """Readings of one machine, in the order of time.

    Attributes:
        times: nanoseconds.
        energy: three readings of energy, integers in the original, floats here.
        state: bits by name.
    """

    times: Array
    energy: tuple[Array, Array, Array]
    state: dict[str, Array]


@functools.cache
def readings(rows: int) -> Readings:
    """So many readings: from the original file if there is one, else generated."""
    found = generated(rows) if original is None else loaded(original, rows)
    for column in (found.times, *found.energy, *found.state.values()):
        column.flags.writeable = False
    return found


def generated(rows: int, seed: int = SEED) -> Readings:
    """So many readings; the same seed gives the same."""
    random = np.random.default_rng(seed)
    steps = random.normal(PERIOD, PERIOD / 40, size=rows).clip(PERIOD / 2).astype(np.int64)
    # A gap every ten minutes or so, of up to a minute; a burst after half of them.
    for gap in np.flatnonzero(random.random(rows) < 1 / 60_000):
        silent = int(random.integers(2, 60))
        steps[gap] += silent * 1_000_000_000
        if random.random() < 0.5:
            steps[gap + 1 : gap + 1 + silent * 20] = 300_000
    times = np.cumsum(steps)
    seconds = times / 1e9
    phase = seconds % 30.0
    pressing = phase < 18.0
    load = np.where(pressing, 3.0 + 0.4 * np.sin(phase * 2.1), 0.6)
    wander = 0.2 * np.sin(seconds / 190.0) + 0.05 * np.cumsum(random.normal(size=rows)) / 1e3
    energy = tuple(
        np.round(
            np.maximum(1000 * (share * load + wander + random.normal(0, 0.05, size=rows)), 1.0)
        )
        for share in (1.0, 0.95, 1.08)
    )
    state = {}
    for number, name in enumerate(BITS):
        shifted = phase - 0.35 * (number // 3)
        state[name] = (shifted > 0.4 + 0.5 * (number % 3)) & (shifted < 18.0)
    return Readings(times, (energy[0], energy[1], energy[2]), state)


def loaded(path: Path, rows: int) -> Readings:
    """The first rows of the original file; those that go back in time are left out.

    Raises:
        InvalidArgument: there is no such file, or it has no such columns.
    """
    try:
        with csv.open_csv(
            path,
            read_options=csv.ReadOptions(autogenerate_column_names=True),
            parse_options=csv.ParseOptions(delimiter="\t"),
        ) as reader:
            table = _first_rows(reader, rows)
        times = table.column(_TIME).cast(pa.timestamp("ns")).cast(pa.int64()).to_numpy()
        energy = [table.column(place).cast(pa.float64()).to_numpy() for place in _ENERGY]
        bits = [
            table.column(_FIRST_BIT + number).cast(pa.int64()).to_numpy() != 0
            for number in range(len(BITS))
        ]
    except (OSError, IndexError, pa.ArrowException) as error:
        raise InvalidArgument(
            f"debs_2012: {path} is not the challenge's file, which has a time, an index, three "
            f"readings of energy and states between tabs: {error}"
        ) from error
    kept = times >= np.maximum.accumulate(times)
    first, second, third = (column[kept] for column in energy)
    state = {name: column[kept] for name, column in zip(BITS, bits, strict=True)}
    return Readings(times[kept], (first, second, third), state)


def _first_rows(reader: csv.CSVStreamingReader, rows: int) -> pa.Table:
    batches, found = [], 0
    for batch in reader:
        batches.append(batch)
        found += batch.num_rows
        if found >= rows:
            break
    return pa.Table.from_batches(batches).slice(0, rows).combine_chunks()
