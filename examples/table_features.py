"""Features of a CSV, and a chart: `python examples/table_features.py [FILE]`.

Without a file it makes one: two days of two power meters, a reading every ten minutes.
"""

from __future__ import annotations

import math
import sys
from datetime import datetime, timedelta
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

import windrow as wr


def write_readings(path: Path) -> None:
    lines = ["meter,ts,watt"]
    for step in range(2 * 144):
        moment = datetime(2026, 5, 4) + timedelta(minutes=10 * step)
        daylight = max(0.0, math.sin((moment.hour - 6 + moment.minute / 60) / 12 * math.pi))
        for meter, idle in (("home", 200), ("shop", 600)):
            burst = 1500 if (7919 * step + idle) % 37 == 0 else 0
            lines.append(f"{meter},{moment},{idle + 900 * daylight + burst:.0f}")
    path.write_text("\n".join(lines) + "\n", "utf-8")


def features_of(readings: pd.DataFrame) -> pd.DataFrame:
    return wr.over(
        readings,
        key="meter",
        order="ts",
        windows={"1h": wr.time("1 hour"), "1d": wr.time("1 day")},
        aggs=[wr.mean("watt"), wr.max("watt"), wr.stddev("watt")],
    )


def draw(features: pd.DataFrame, path: Path) -> None:
    figure, axes = plt.subplots(figsize=(9, 3.5))
    for meter, rows in features.groupby("meter"):
        axes.plot(rows["ts"], rows["mean_watt_1h"], label=f"{meter}, mean of an hour")
    axes.set_ylabel("watt")
    axes.legend()
    figure.savefig(path, dpi=100)
    plt.close(figure)


def main(path: Path | None = None) -> None:
    if path is None:
        path = Path("power.csv")
        write_readings(path)
    features = features_of(pd.read_csv(path, parse_dates=["ts"]))
    features.to_csv("features.csv", index=False)
    draw(features, Path("features.png"))
    added = len(features.columns) - 3
    print(f"{len(features)} rows with {added} features: features.csv, features.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
