"""Plots as SVG: one for each panel of a figure, small enough for a phone."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from windrow.experiments.claims import number
from windrow.experiments.experiment import LATENCY_LABEL, QUANTILES, SPIKE, Figure
from windrow.experiments.report.names import label_of, style_of
from windrow.experiments.results import FigurePoints, Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH, _HEIGHT = 5.4, 3.5
_MARKERS = "osD^vPX*<>"


def panel_plot(figure: Figure, points: FigurePoints, panel: str) -> str:
    """One panel as SVG; an empty text if nothing of it was measured."""
    series = [name for name in points.series(panel) if points.line(panel, name)]
    if not series:
        return ""
    draw = {"lines": _lines, "latencies": _violins, "bars": _bars}[figure.shape]
    if any(point.has_quantiles for name in series for point in points.line(panel, name)):
        draw = _violins
    with _canvas(f"{figure.name} {panel}", _height(draw, len(series))) as (axes, written):
        draw(axes, figure, points, panel, series)
        axes.set_title(panel, fontsize=11, loc="left")
        axes.grid(alpha=0.25, linewidth=0.6)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    return _inline(written.getvalue())


def _height(draw: Any, series: int) -> float:
    if draw is _violins:
        return 1.15 + 0.42 * series
    return _HEIGHT + 0.21 * ((series + 1) // 2)


@contextmanager
def _canvas(salt: str, height: float) -> Iterator[tuple[Axes, io.StringIO]]:
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    settings = {"svg.fonttype": "none", "svg.hashsalt": salt, "font.size": 10,
                "font.family": "sans-serif"}  # fmt: skip
    written = io.StringIO()
    with rc_context(settings):
        canvas = Canvas(figsize=(_WIDTH, height), layout="constrained")
        FigureCanvasSVG(canvas)
        yield canvas.add_subplot(), written
        canvas.savefig(written, format="svg", metadata={"Date": None, "Creator": None})


def _inline(svg: str) -> str:
    """The element alone, as wide as the page lets it be."""
    return svg[svg.index("<svg") :].replace("<svg", '<svg class="plot"', 1)


def _lines(axes: Axes, figure: Figure, points: FigurePoints, panel: str, series: list[str]) -> None:
    for place, name in enumerate(series):
        line = points.line(panel, name)
        style = style_of(name)
        x = [point.x for point in line]
        axes.plot(
            x, [point.median for point in line], color=style.colour, label=label_of(name),
            linestyle="--" if style.is_peer else "-", linewidth=1.4,
            marker=_MARKERS[place % len(_MARKERS)], markersize=4,
        )  # fmt: skip
        if len(line) > 1:
            low, high = [point.low for point in line], [point.high for point in line]
            axes.fill_between(x, low, high, color=style.colour, alpha=0.12, linewidth=0)
    _scale(axes, figure, [point.x for name in series for point in points.line(panel, name)])
    _legend(axes)


def _scale(axes: Axes, figure: Figure, x: list[Any]) -> None:
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    axes.set_yscale(figure.y_scale)
    _numbers_beside(axes, figure)
    if any(isinstance(each, str) for each in x):
        return
    if figure.x_scale == "log":
        axes.set_xscale("log", base=2 if min(x) >= 1 and _are_powers(x) else 10)
    if len(set(x)) <= 12:
        ticks = sorted(set(x))
        axes.set_xticks(ticks, [_short(each) for each in ticks], fontsize=9)
        axes.minorticks_off()


def _numbers_beside(axes: Axes, figure: Figure) -> None:
    """The numbers of the vertical axis."""
    if figure.y_scale == "linear":
        axes.set_ylim(bottom=0)
        return
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axes.get_ylim()
    # Lines that stay within two powers of ten have more than one number beside them.
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _place: _short(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _are_powers(x: list[Any]) -> bool:
    return all(float(np.log2(each)).is_integer() for each in x if each > 0)


def _short(value: float) -> str:
    """A number in few characters: 4096 is 2^12 and 65,536 is 2^16, as the papers write them."""
    if value >= 1024 and float(np.log2(value)).is_integer():
        exponent = str(int(np.log2(value)))
        return "2" + exponent.translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{value:g}" if value < 10_000 else number(value)


def _legend(axes: Axes) -> None:
    axes.figure.legend(loc="outside lower center", ncols=2, fontsize=9, frameon=False)


def _violins(
    axes: Axes, figure: Figure, points: FigurePoints, panel: str, series: list[str]
) -> None:
    """One above the other: as wide as many rounds took so long, with the tail as a line."""
    rows = [(name, point) for name in series for point in points.line(panel, name)]
    for place, (name, point) in enumerate(reversed(rows)):
        colour = style_of(name).colour
        _violin(axes, place, point, colour)
    several = len({point.x for _name, point in rows}) > 1
    labels = [f"{label_of(name)}, {point.x}" if several else label_of(name) for name, point in rows]
    axes.set_yticks(range(len(rows)), labels[::-1])
    axes.set_xscale("log")
    axes.set_xlabel(f"{LATENCY_LABEL} (bar: median; right end: spike)")
    from matplotlib.ticker import FuncFormatter, LogLocator

    axes.xaxis.set_major_locator(LogLocator(numticks=8))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _place: _thousands(value)))


def _thousands(value: float) -> str:
    return (
        f"{value / 1e6:g}M"
        if value >= 1e6
        else f"{value / 1e3:g}k"
        if value >= 1e3
        else f"{value:g}"
    )


def _violin(axes: Axes, place: int, point: Point, colour: str) -> None:
    values = np.array([max(point.quantile(share), 0.1) for share in QUANTILES])
    logs, shares = np.log10(values), np.array(QUANTILES)
    # Time stamps are coarse: each quantile is taken as a small hill, and their sum is the shape.
    body = (shares >= 0.01) & (shares <= 0.99)
    weights = np.gradient(shares[body])
    grid = np.linspace(logs[body][0] - 0.15, logs[body][-1] + 0.15, 120)
    hills = np.exp(-0.5 * ((grid[:, None] - logs[body][None, :]) / 0.04) ** 2)
    density = (hills * weights).sum(axis=1)
    width = 0.4 * np.sqrt(density / density.max())
    axes.fill_between(10**grid, place - width, place + width, color=colour, alpha=0.6, linewidth=0)
    spike = max(point.quantile(SPIKE), values[0])
    axes.plot([values[0], spike], [place, place], color=colour, linewidth=1.2)
    middle = point.quantile(0.5)
    axes.plot([middle, middle], [place - 0.3, place + 0.3], color="black", linewidth=1.4)
    axes.plot(spike, place, marker="|", markersize=11, markeredgewidth=1.6, color=colour)


def _bars(axes: Axes, figure: Figure, points: FigurePoints, panel: str, series: list[str]) -> None:
    groups = list(dict.fromkeys(point.x for name in series for point in points.line(panel, name)))
    width = 0.8 / len(series)
    for place, name in enumerate(series):
        line = points.line(panel, name)
        left = [groups.index(point.x) + place * width for point in line]
        middle = [point.median for point in line]
        spread = [
            [point.median - point.low for point in line],
            [point.high - point.median for point in line],
        ]
        axes.bar(
            left, middle, width, yerr=spread, color=style_of(name).colour, label=label_of(name),
            error_kw={"elinewidth": 0.8}, hatch="//" if style_of(name).is_peer else None,
        )  # fmt: skip
    axes.set_ylabel(figure.y_label)
    axes.set_xlabel(figure.x_label)
    axes.set_yscale(figure.y_scale)
    _numbers_beside(axes, figure)
    middle_of_group = 0.4 - width / 2
    labels = [each if isinstance(each, str) else _short(each) for each in groups]
    axes.set_xticks([each + middle_of_group for each in range(len(groups))], labels, fontsize=9)
    _legend(axes)
