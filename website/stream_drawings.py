"""Three drawings of what a shard of a stream keeps: docs/images/stream_*.svg.

Which events wait, which nodes an answer takes and which rows a batch reads follows from the numbers
at the top of each function.
"""

from __future__ import annotations

from pathlib import Path

from website.svg import FAINT, INK, INSIDE, KEPT, LEFT, Drawing

IMAGES = Path(__file__).parent.parent / "docs" / "images"
_EDGE = "#3b82f6"
_BLANK = "#ffffff"


def waiting() -> str:
    """Which events are final, which wait, which are late."""
    events = [2, 9, 5, 14, 21, 17, 26, 7, 33]  # seconds, in order of arrival
    lateness, slide, late_one = 10, 10, 7
    newest = max(events[:-2])  # of the batches before the last two events came
    watermark = newest - lateness
    drawing = Drawing(
        530, 276, "Events by their time: those behind the watermark are final, the others wait"
    )

    def place(second: float) -> float:
        return 24 + 13.5 * second

    drawing.words(24, 26, 'time("20s", every="10s"), lateness="10s"', anchor="start", code=True)
    final = watermark // slide * slide
    drawing.box(place(0), 50, place(final) - place(0), 96, INSIDE, INSIDE)
    drawing.words(place(final / 2), 68, "final: combined")
    drawing.words(place((watermark + 36) / 2), 68, "waiting: kept as they came")
    drawing.line(place(watermark), 44, place(watermark), 160, _EDGE)
    told = f"watermark: {newest} - {lateness} = {watermark} s"
    drawing.words(place(watermark), 178, told, colour=_EDGE)
    for second in range(0, 36, slide):
        drawing.line(place(second), 76, place(second), 146, FAINT)
        drawing.words(
            place(second),
            204,
            f"{second} s",
            anchor="start" if not second else "middle",
            size=13,
            colour=FAINT,
        )
    for number, second in enumerate(events):
        is_late = second == late_one
        is_final = second < final and not is_late
        fill = LEFT if is_late else _BLANK if is_final else KEPT
        top = 118 if is_late else 88
        drawing.box(place(second) - 12, top, 24, 24, fill, FAINT)
        drawing.words(place(second), top + 17, str(number + 1))
    late = f"{events.index(late_one) + 1} came when its slice was final: it is counted and dropped."
    drawing.words(24, 236, "Numbers say in which order events came.", anchor="start")
    drawing.words(24, 258, late, anchor="start")
    return drawing.text()


def slices() -> str:
    """The tree over slices, and what one answer takes of it."""
    count, begin = 8, 1  # slices 1 to 7 are in the window
    drawing = Drawing(
        530, 290, "A tree over eight slices: an answer takes a few nodes instead of all slices"
    )
    width, left, tops = 61, 20, (206, 146, 86)
    drawing.words(left, 30, 'time("70s", every="10s")', anchor="start", code=True)
    taken = set(_cover(begin, count, 0, count))
    for level, top in enumerate(tops):
        size = 2**level
        for first in range(0, count, size):
            is_taken = (first, size) in taken
            fill = KEPT if is_taken else _BLANK
            x = left + width * first
            drawing.box(x + 2, top, width * size - 4, 38, fill, INK if is_taken else FAINT)
            name = f"{10 * first}-{10 * (first + size)} s"
            colour = INK if is_taken else FAINT
            drawing.words(x + width * size / 2, top + 24, name, size=13, colour=colour)
    drawing.line(left + width * begin, 252, left + width * count, 252, _EDGE)
    drawing.words(left + width * (begin + count) / 2, 272,
                  f"the window that ends at {10 * count} s: {len(taken)} partials of each key "
                  f"instead of {count - begin}", colour=_EDGE)  # fmt: skip
    drawing.words(left, 66, "Each box is a map: key → partial. Yellow ones make the answer.",
                  anchor="start")  # fmt: skip
    return drawing.text()


def _cover(begin: int, end: int, first: int, size: int) -> list[tuple[int, int]]:
    """The largest nodes, as first slice and size, that together are slices begin to end."""
    if begin <= first and first + size <= end and size <= 4:
        return [(first, size)]
    if size == 1 or first >= end or first + size <= begin:
        return []
    half = size // 2
    return _cover(begin, end, first, half) + _cover(begin, end, first + half, half)


def rows() -> str:
    """Counted rows: rows are read where windows begin, maps for the rest."""
    blocks = ["abacba", "babcac", "aacbba", "bcabca"]  # keys of rows, oldest block first
    window = 4  # the last rows of each key
    begins = {key: _begin(blocks, key, window) for key in "abc"}
    read = set(begins.values())
    drawing = Drawing(
        566, 276, "Blocks of rows, each with a map: a batch reads rows only where windows begin"
    )
    width, left = 134, 20
    drawing.words(left, 30, f"rows({window}) of keys a, b and c", anchor="start", code=True)
    for number, block in enumerate(blocks):
        x = left + number * width
        is_read = number in read
        # Blocks before the first begin are needed by no window.
        is_needed = number >= min(read)
        drawing.words(x + 61, 62, f"block {number + 1}", colour=FAINT)
        for place, key in enumerate(block):
            fill = KEPT if is_read else _BLANK if is_needed else LEFT
            drawing.box(x + 20.5 * place, 74, 19, 30, fill, FAINT)
            drawing.words(x + 20.5 * place + 9.5, 94, key)
        needs_map = is_needed and number > min(read)
        drawing.box(x, 122, 122, 34, KEPT if needs_map else LEFT, FAINT)
        drawing.words(x + 61, 144, "map of its keys", size=13)
    told = ", ".join(f"{key} in block {block + 1}" for key, block in begins.items())
    lines = (
        "Yellow is read: the rows of the blocks in which a window begins,",
        "and the maps of the blocks behind.",
        f"Windows begin: {told}.",
        "Gray rows are in no window any more: their block is deleted.",
    )
    for number, line in enumerate(lines):
        drawing.words(left, 188 + 24 * number, line, anchor="start")
    return drawing.text()


def _begin(blocks: list[str], key: str, window: int) -> int:
    """The block that holds the oldest row of a key's window."""
    held = 0
    for number in range(len(blocks) - 1, -1, -1):
        held += blocks[number].count(key)
        if held >= window:
            return number
    return 0


DRAWINGS = {
    "stream_waiting.svg": waiting,
    "stream_slices.svg": slices,
    "stream_rows.svg": rows,
}


def draw_streams() -> None:
    """Write the drawings where the pages look for them."""
    for name, drawn in DRAWINGS.items():
        (IMAGES / name).write_text(drawn(), "utf-8")
