"""The chart of one machine: its signal with its rolling mean, band and maximum."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

INK, MUTED, FAINT, GRID = "#1f2933", "#616e7c", "#9aa5b1", "#e4e7eb"
SIGNAL, MEAN, MAXIMUM = "#a7b2bd", "#0b6e99", "#d1495b"

#: the machine that is drawn, if it is there, and how much of it
MACHINE = "press-3"
RANGE = timedelta(minutes=6)

GAP = np.timedelta64(2, "s")  # a line across a longer silence would claim readings


def draw(readings: pa.Table, features: pa.Table, *, machine: str, path: Path) -> None:
    """Draw readings of one machine and their features, each by `ts`, to a PNG at `path`.

    The two may be one table, or the features those of fewer moments.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.dates as mdates
    import matplotlib.pyplot as plt

    moments, signal = _with_gaps(readings, "mf01")
    ts, mean, deviation, maximum = _with_gaps(
        features, "mean_mf01_10s", "stddev_mf01_10s", "max_mf01_1min"
    )

    with plt.rc_context({"font.family": "DejaVu Sans", "font.size": 10, "text.color": INK}):
        figure, axes = plt.subplots(figsize=(10, 4.6), dpi=120, layout="constrained")
        axes.plot(moments, signal, color=SIGNAL, linewidth=0.5, label="reading (100 a second)")
        axes.fill_between(
            ts,
            mean - deviation,
            mean + deviation,
            color=MEAN,
            alpha=0.16,
            linewidth=0,
            label="mean ± standard deviation, last 10 s",
        )
        axes.plot(ts, mean, color=MEAN, linewidth=1.8, label="mean, last 10 s")
        axes.plot(ts, maximum, color=MAXIMUM, linewidth=1.4, label="maximum, last minute")
        _mark_silences(axes, readings["ts"].to_numpy())
        _mark_peak(axes, features)

        axes.set_title(
            f"{machine}: power on phase 1 with its rolling mean, band and maximum",
            loc="left",
            fontsize=12.5,
            fontweight="bold",
            pad=30,
        )
        axes.set_ylabel("power (kW)", color=INK)
        axes.set_xlabel(f"time of day (UTC), {ts[0].astype('datetime64[D]')}", color=INK)
        axes.set_xlim(ts[0], ts[-1])
        axes.set_ylim(0, float(np.nanmax(maximum)) * 1.08)
        axes.xaxis.set_major_formatter(mdates.DateFormatter("%H:%M"))
        axes.xaxis.set_major_locator(mdates.MinuteLocator())
        axes.grid(axis="y", color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.tick_params(colors=INK, length=3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(FAINT)
        legend = axes.legend(
            loc="lower left",
            bbox_to_anchor=(-0.008, 1.0),
            ncols=4,
            frameon=False,
            handlelength=1.6,
            columnspacing=1.6,
            borderaxespad=0.2,
            fontsize=9.5,
        )
        legend.legend_handles[0].set_linewidth(1.5)
        figure.savefig(path)
        plt.close(figure)


def _with_gaps(table: pa.Table, *names: str) -> list[npt.NDArray[Any]]:
    """Times and columns, with a missing value wherever the machine was silent."""
    ts = table["ts"].to_numpy()
    silences = np.flatnonzero(np.diff(ts) > GAP) + 1
    columns = [table[name].to_numpy().astype(float) for name in names]
    return [
        np.insert(ts, silences, ts[silences]),
        *(np.insert(column, silences, np.nan) for column in columns),
    ]


def _mark_silences(axes: Any, ts: npt.NDArray[np.datetime64]) -> None:
    """Shade the silences of the machine, and name those that are wide enough for the words."""
    wide = (ts[-1] - ts[0]) / 12
    for place in np.flatnonzero(np.diff(ts) > GAP):
        begin, end = ts[place], ts[place + 1]
        axes.axvspan(begin, end, color=GRID, alpha=0.6, linewidth=0)
        if end - begin > wide:
            middle = begin + (end - begin) / 2
            axes.annotate(
                "no readings",
                (middle, 0.5),
                xycoords=("data", "axes fraction"),
                ha="center",
                va="center",
                color=MUTED,
                fontsize=9,
            )


def _mark_peak(axes: Any, features: pa.Table) -> None:
    """Mark the highest reading, where `arg_max` says it was."""
    row = int(np.nanargmax(features["max_mf01_1min"].to_numpy()))
    peak = features["max_mf01_1min"][row].as_py()
    moment = features["arg_max_mf01_ts_1min"].to_numpy()[row]
    if moment < features["ts"].to_numpy()[0]:  # the window that holds it began before the chart
        return
    clock = str(moment.astype("datetime64[s]"))[-8:]
    begin, end = features["ts"].to_numpy()[[0, -1]]
    at_the_left = moment - begin < (end - begin) / 5
    axes.plot([moment], [peak], "o", color=MAXIMUM, markersize=5)
    axes.annotate(
        f"{peak:.2f} kW at {clock}",
        (moment, peak),
        xytext=(7, 5) if at_the_left else (-7, -3),
        textcoords="offset points",
        ha="left" if at_the_left else "right",
        color=MAXIMUM,
        fontsize=9,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
    )
