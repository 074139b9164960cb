"""Drawings as SVG text: boxes, words and lines, in few colours, on a light ground of their own.

A drawing has no script and names no other file, so it is the same in a page, in the repository and
on paper. Numbers are rounded, so that the same drawing is the same text on every machine. Drawings
are narrow, at most about 560 units: a phone shows them at two thirds of their size, still legible.
"""

from __future__ import annotations

from html import escape

INK, FAINT, GROUND = "#1f2937", "#6b7280", "#ffffff"
#: what is in the window, what is kept of it, and what has left
INSIDE, KEPT, LEFT = "#dbeafe", "#fde68a", "#f3f4f6"
_FONT = "ui-sans-serif, system-ui, sans-serif"
_MONO = "ui-monospace, monospace"


class Drawing:
    """A drawing of a width and a height, to which shapes are added."""

    def __init__(self, width: float, height: float, title: str) -> None:
        """`title` is what a reader hears who does not see it."""
        self.width, self.height, self.title = width, height, title
        self._shapes: list[str] = []

    def box(
        self, x: float, y: float, width: float, height: float, fill: str, stroke: str = INK
    ) -> None:
        """Add a box with round corners."""
        self._shapes.append(
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" rx="4" '
            f'fill="{fill}" stroke="{stroke}"/>'
        )

    def words(
        self,
        x: float,
        y: float,
        text: str,
        *,
        anchor: str = "middle",
        size: int = 14,
        colour: str = INK,
        code: bool = False,
    ) -> None:
        """Add text; `y` is its base line."""
        font = _MONO if code else _FONT
        self._shapes.append(
            f'<text x="{x:.0f}" y="{y:.0f}" font-family="{font}" font-size="{size}" '
            f'fill="{colour}" text-anchor="{anchor}">{escape(text)}</text>'
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str = INK) -> None:
        """Add a line."""
        self._shapes.append(
            f'<line x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}" stroke="{colour}"/>'
        )

    def text(self) -> str:
        """The file."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:.0f} '
            f'{self.height:.0f}" width="{self.width:.0f}" height="{self.height:.0f}" role="img">'
        )
        ground = f'<rect width="100%" height="100%" fill="{GROUND}"/>'
        return "\n".join(
            [head, f"<title>{escape(self.title)}</title>", ground, *self._shapes, "</svg>\n"]
        )
