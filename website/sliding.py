"""The drawing of a window sliding: docs/images/sliding.svg.

Every line is one call's answer for one row: `wr.over` computes what is drawn.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

import windrow as wr
from website.svg import FAINT, INK, INSIDE, LEFT, Drawing

FILE = Path(__file__).parent.parent / "docs" / "images" / "sliding.svg"
_SECONDS = [0, 2, 3, 6, 7, 9]
_VALUES = [3, 1, 4, 1, 5, 2]
_RANGE = 4
_SCALE, _LEFT, _TOP, _STEP = 38, 30, 78, 46
_SUM, _MAX = 30, 80  # where answers stand, right of the events


def sliding() -> str:
    """The drawing, as SVG."""
    table = pa.table({"t": pa.array(_SECONDS, pa.timestamp("s")), "x": _VALUES})
    window, aggs = wr.time(f"{_RANGE} seconds"), [wr.sum("x"), wr.max("x")]
    answers = wr.over(table, order="t", windows=window, aggs=aggs).to_pylist()
    right = _LEFT + (_SECONDS[-1] + 1) * _SCALE
    drawing = Drawing(
        right + 112,
        _TOP + _STEP * len(_SECONDS) + 14,
        "A window of four seconds slides over six events; each line shows which events it holds "
        "and what it answers",
    )
    drawing.words(_LEFT - 14, 28, 'wr.time("4 seconds")', anchor="start", code=True)
    drawing.words(right + _SUM, 58, "sum")
    drawing.words(right + _MAX, 58, "max")
    for second in range(_SECONDS[-1] + 1):
        drawing.words(_place(second), 58, f"{second} s", size=13, colour=FAINT)
    for row, answer in enumerate(answers):
        _line(drawing, row, answer, right)
    return drawing.text()


def _line(drawing: Drawing, row: int, answer: dict[str, object], right: float) -> None:
    """One row: the window that ends at it, its events, its answers."""
    now, top = _SECONDS[row], _TOP + row * _STEP
    begin = max(_place(now - _RANGE) + 18, 8)
    drawing.box(begin, top - 6, _place(now) + 18 - begin, 40, INSIDE, "#3b82f6")
    for second, value in zip(_SECONDS[: row + 1], _VALUES, strict=False):
        held = now - _RANGE < second <= now
        drawing.box(_place(second) - 14, top, 28, 28, "#ffffff" if held else LEFT, FAINT)
        drawing.words(_place(second), top + 19, str(value), size=15, colour=INK if held else FAINT)
    drawing.words(right + _SUM, top + 19, str(answer["sum_x"]), size=16)
    drawing.words(right + _MAX, top + 19, str(answer["max_x"]), size=16)


def _place(second: float) -> float:
    return _LEFT + second * _SCALE


def draw_sliding() -> None:
    """Write the drawing where the pages look for it."""
    FILE.write_text(sliding(), "utf-8")
