"""A ruler of slices in plain text, at most 80 columns wide.

      edges   0   2   4
              |---|---|
      Q1          3   3
      Q2              4

Slices are drawn equally wide, because a plan may hold slices of one tick beside slices of a day.
"""

from __future__ import annotations

from collections.abc import Sequence

WIDTH = 80
LONGEST_NAME = 20
MOST_ROWS = 24
NARROWEST = 4


def ruler(
    edges: Sequence[str],
    needed: Sequence[bool],
    rows: Sequence[tuple[str, Sequence[str]]],
    indent: str = "",
) -> list[str]:
    """Lines that show consecutive slices, and rows of marks at their ends.

    Args:
        edges: what to write at each edge; one more than there are slices.
        needed: for each slice, whether a window holds it; the others are drawn as dots.
        rows: for each row its name, and for each slice the mark at its end.
        indent: what each line begins with.
    """
    shown_rows = rows[:MOST_ROWS]
    names = ["edges", *(_short(name) for name, _ in shown_rows)]
    widest_name = max(len(name) for name in names)
    # No more slices than this fit, so only their texts decide how wide a slice is.
    most = WIDTH // NARROWEST
    texts = [*edges[: most + 1], *(text for _, marks in shown_rows for text in marks[:most])]
    cell = max(NARROWEST, *(len(text) + 2 for text in texts))
    left = len(indent) + widest_name + 2 + len(edges[0])
    shown = max(1, min(len(needed), (WIDTH - left) // cell))

    def line(name: str, first: str, marks: Sequence[str], fill: str = " ") -> str:
        cells = "".join(mark.rjust(cell, fill) for mark in marks[:shown])
        return f"{indent}{name:<{widest_name}}  {first.rjust(len(edges[0]))}{cells}".rstrip()

    def row(name: str, marks: Sequence[str]) -> str:
        if any(marks[:shown]) or not any(marks):
            return line(name, "", marks)
        first = next(end for end, mark in zip(edges[1:], marks, strict=True) if mark)
        return f"{indent}{name:<{widest_name}}  first at {first}"

    bars = "".join(("-" if held else ".") * (cell - 1) + "|" for held in needed[:shown])
    lines = [line("edges", edges[0], edges[1:]), line("", "|", [bars])]
    lines += [row(name, marks) for name, (_, marks) in zip(names[1:], shown_rows, strict=True)]
    if len(rows) > MOST_ROWS:
        lines.append(f"{indent}and {len(rows) - MOST_ROWS} more queries")
    if len(needed) > shown:
        lines.append(f"{indent}and {len(needed) - shown:,} more slices, up to {edges[-1]}")
    return lines


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 3] + "..."
