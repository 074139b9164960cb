"""Readings in the shape of the DEBS 2014 Grand Challenge: smart plugs in houses.

A plug reports its power now, or its work so far, about once a second. Plugs are not equal: some
report more often. The original's first ten million rows have 14 plugs with a slight skew, and so
have these.

    readings(1_000_000)    generated, the same for the same seed; the original if there is one
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from windrow.errors import InvalidArgument
from windrow.experiments.experiment import SEED

PLUGS = 14
_NAMES = ("id", "timestamp", "value", "property", "plug_id", "household_id", "house_id")

#: the original file, if the user has it (`windrow bench --debs-2014`)
original: Path | None = None


def origin() -> list[str]:
    """Where the readings come from, for the description of a run."""
    return ["DEBS 2014: " + ("generated" if original is None else str(original.name))]


def readings(rows: int, plugs: int = PLUGS) -> pa.Table:
    """So many readings: `plug`, `t` in seconds, and `power` in watts, in the order of time."""
    return generated(rows, plugs) if original is None else loaded(original, rows)


def generated(rows: int, plugs: int = PLUGS, seed: int = SEED) -> pa.Table:
    """So many readings; the same seed gives the same."""
    random = np.random.default_rng(seed)
    share = random.uniform(0.7, 1.3, size=plugs)
    plug = random.choice(plugs, size=rows, p=share / share.sum())
    seconds = np.sort(random.integers(0, max(1, rows // plugs), size=rows))
    base = random.uniform(2, 120, size=plugs)[plug]
    switched_on = ((seconds // 1800 + plug) % 5) < 2
    power = np.round(base * (1 + 8 * switched_on) + np.abs(random.normal(0, 2, size=rows)), 3)
    return pa.table({"plug": plug, "t": seconds, "power": power})


def loaded(path: Path, rows: int) -> pa.Table:
    """The first rows of the original file that tell a power.

    Raises:
        InvalidArgument: there is no such file, or it has no such columns.
    """
    parts, found = [], 0
    try:
        with csv.open_csv(path, read_options=csv.ReadOptions(column_names=_NAMES)) as reader:
            for batch in reader:
                table = pa.Table.from_batches([batch])
                parts.append(table.filter(np.asarray(table["property"]) == 1))
                found += parts[-1].num_rows
                if found >= rows:
                    break
        table = pa.concat_tables(parts).slice(0, rows)
        plug = (
            np.asarray(table["house_id"]) * 1_000_000
            + np.asarray(table["household_id"]) * 1000
            + np.asarray(table["plug_id"])
        )
    except (OSError, KeyError, pa.ArrowException) as error:
        raise InvalidArgument(
            f"debs_2014: {path} is not the challenge's file, which has {', '.join(_NAMES)} "
            f"between commas: {error}"
        ) from error
    columns = {"plug": plug, "t": table["timestamp"], "power": table["value"].cast(pa.float64())}
    return pa.table(columns)
