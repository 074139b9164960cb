"""What a finger tree keeps, as the nodes of each level, from the root down.

The tree lies in arrays (`algorithms/finger_nodes.py`). An entry of a leaf is an event. An entry of
an inner node is the partial of its child, unless the child is the first or the last of its level:
then it is a dot, because only the spines know that part.
"""

from __future__ import annotations

from typing import Any

from windrow.algorithms.finger_nodes import COUNT, HEIGHT, KNOWN, LEFT, MIDDLE, RIGHT, WIDTH

#: stands for a child of a spine
UNKNOWN = "·"


def levels_of(ring: Any) -> list[tuple[str, dict[int, list[str]]]]:
    """The entries of each node by level, each level with its name."""
    places, known, children = (each.values for each in (ring.places, ring.nodes, ring.children))
    height = places[HEIGHT]
    row, found = [places[RIGHT + height]], []
    for level in range(height, -1, -1):
        counts = [known[KNOWN * node + COUNT] for node in row]
        entries = {
            place: [
                _entry(ring, WIDTH * node + slot, row, level, (place, slot), counts)
                for slot in range(counts[place])
            ]
            for place, node in enumerate(row)
        }
        name = "leaves" if level == 0 else "root" if level == height else f"level {level}"
        found.append((name, entries))
        row = [
            children[WIDTH * node + slot]
            for node, count in zip(row, counts, strict=True)
            for slot in range(count)
        ]
    return found


def fingers_of(ring: Any) -> dict[str, str]:
    """What a query combines."""
    spines, height = ring.spines.values, ring.places.values[HEIGHT]
    if height == 0:
        return {"all": spines[MIDDLE]}
    return {"left": spines[LEFT], "middle": spines[MIDDLE], "right": spines[RIGHT]}


def _entry(
    ring: Any, position: int, row: list[int], level: int, at: tuple[int, int], counts: list[int]
) -> str:
    """An event, the partial of a child, or a dot for a child on a spine."""
    first, last = (0, 0), (len(row) - 1, counts[-1] - 1)
    on_spine = level > 0 and at in (first, last)
    return UNKNOWN if on_spine else str(ring.partials.values[position])
