"""A trace as a drawing: after each step, what stands in memory, and the state beside it.

A queue is a row of boxes by position. A tree is a row for each level: the node of number p stands
for w slots from (p - w) / 2 on, where w is the lowest bit of p (see `algorithms/flat_tree.py`).
A level of a B-tree is a row of nodes, each a group of boxes.
What is in the window is blue; what is no longer in it, or only in part, is gray.
"""

from __future__ import annotations

import textwrap
from typing import Any

from website.svg import FAINT, GROUND, INK, INSIDE, LEFT, Drawing
from website.traces import Kept, Room

_CELL, _ROW, _GAP, _MARGIN, _NAMES = 46, 30, 20, 12, 76
#: the state beside the memory: characters and height of a line
_LETTERS, _LINE = 64, 17
_SLOTS = 8
#: an event in a leaf, the partial of a child, and the gap between two nodes
_LETTER, _CHILD, _APART = 25, 46, 12
_INTEGERS, _NODES = "integers", "nodes"
#: arrays whose length the state knows
_STACKS = ("stack", "tails")


def can_draw(steps: list[Kept]) -> bool:
    """Whether all memory is queues, trees and stacks; other layouts would be drawn wrongly."""
    rooms = [room for kept in steps for room in kept.rooms]
    return all(
        room.kind in ("queue", _INTEGERS, _NODES) or _is_tree(room) or room.name in _STACKS
        for room in rooms
    )


def draw_trace(name: str, steps: list[Kept]) -> str:
    """The drawing, as SVG."""
    heights = [_height(kept) for kept in steps]
    drawing = Drawing(
        _MARGIN * 2 + _NAMES + _SLOTS * _CELL + 20,
        sum(heights) + _MARGIN,
        f"What {name} keeps after each step of a small trace",
    )
    top: float = _MARGIN
    for kept, height in zip(steps, heights, strict=True):
        _draw_step(drawing, top, kept)
        top += height
    return drawing.text()


def _height(kept: Kept) -> float:
    rooms = sum(_ROW * _rows(room) for room in kept.rooms)
    return 24 + rooms + 3 + _LINE * len(_state(kept)) + _GAP


def _state(kept: Kept) -> list[str]:
    state = ", ".join(f"{name} {_told(value)}" for name, value in kept.state.items())
    return textwrap.wrap(state, _LETTERS)


def _is_tree(room: Room) -> bool:
    return room.name in ("tree", "nodes") or (room.name == "slots" and room.kind == "array")


def _rows(room: Room) -> int:
    if not _is_tree(room):
        return 1
    return max(_width(place) for place in room.values if place).bit_length()


def _width(place: int) -> int:
    return place & -place


def _draw_step(drawing: Drawing, top: float, kept: Kept) -> None:
    combines = "1 combine" if kept.combines == 1 else f"{kept.combines} combines"
    drawing.words(_MARGIN, top + 14, kept.step, anchor="start", size=15)
    right = drawing.width - _MARGIN
    answer = f"answer {_told(kept.answer)}, {combines}"
    drawing.words(right, top + 14, answer, anchor="end")
    top += 24
    for room in kept.rooms:
        drawing.words(_MARGIN, top + 19, room.name, anchor="start", size=13, colour=FAINT)
        _draw_room(drawing, top, room, kept.events)
        top += _ROW * _rows(room)
    for text in _state(kept):
        drawing.words(_MARGIN, top + 14, text, anchor="start", size=12, code=True)
        top += _LINE
    line = top + 3 + _GAP / 2
    drawing.line(_MARGIN, line, right, line, LEFT)


def _draw_nodes(drawing: Drawing, top: float, room: Room, events: str) -> None:
    cell = (
        _LETTER if all(len(each) == 1 for node in room.values.values() for each in node) else _CHILD
    )
    left: float = _MARGIN + _NAMES
    for entries in room.values.values():
        for entry in entries:
            held = set(entry) <= set(events)
            drawing.box(left, top, cell - 2, _ROW - 6, INSIDE if held else LEFT, FAINT)
            drawing.words(
                left + cell / 2 - 1, top + 17, _told(entry), colour=INK if held else FAINT
            )
            left += cell
        left += _APART


def _draw_room(drawing: Drawing, top: float, room: Room, events: str) -> None:
    if room.kind == _NODES:
        _draw_nodes(drawing, top, room, events)
        return
    rows = _rows(room)
    for place, value in sorted(room.values.items()):
        begin, width, row = place, 1, 0
        if _is_tree(room):
            if not place:
                continue  # the identity, for nodes that are not used
            width = _width(place)
            begin, row = (place - width) // 2, rows - width.bit_length()
        held = room.kind != _INTEGERS and value and set(value) <= set(events)
        fill = GROUND if room.kind == _INTEGERS else INSIDE if held else LEFT
        left = _MARGIN + _NAMES + begin * _CELL
        drawing.box(left, top + row * _ROW, width * _CELL - 6, _ROW - 6, fill, FAINT)
        colour = INK if held or room.kind == _INTEGERS else FAINT
        middle = left + (width * _CELL - 6) / 2
        drawing.words(middle, top + row * _ROW + 17, _told(value), colour=colour)


def _told(value: Any) -> str:
    """A partial by its first and last event; nothing as a dash."""
    text = str(value)
    if not text:
        return "–"
    return text if len(text) < 3 or text.isdigit() else f"{text[0]}..{text[-1]}"
