"""Doubling: windows of many ranges of rows in one pass, from shared windows of 1, 2, 4, 8 ... rows.

paper      windrow's own; the intervals are those of B-Int (Arasu and Widom 2004), one ending at
           every row; for a combine that selects, the sparse table of range minimum queries (Bender
           and Farach-Colton 2000)
order      rows of a block
requires   an associative combine, nothing else
row        1 combine for each doubling up to the longest range, and for each range:
             1, if combine selects, because then two parts of a window may overlap
             as many as its distance to some shorter range has binary digits that are 1, or, if
             that is less, as the range itself has, less one
space      for each doubling as many partials as ranges look back

Every doubling is an array: at each row the partial of the newest 2^k rows. It comes from the array
below it, at the row and 2^k rows before. A range is put together from such parts. It continues what
a shorter range has put together, if that takes fewer parts than to begin anew.

    ranges 3 and 7:   3 = 1 + 2            7 - 3 = 4, behind the 3

    rows        ...   a   b   c   d   e   f   g
    newest 1                                  |
    newest 2                              |---|
    newest 4                      |-----------|
    3 = [e f] g                       |---|
    7 = [a b c d] [e f g] |---------------|

Nothing depends on the row before, so the loops take many rows at once: the processor combines eight
numbers in one instruction. That is why this is faster than a pass for each range, which combines
less.

Rows go in tiles, whose partials stay in the cache. The answers of one range to a tile are drafted
there, too, and then copied to their column in one piece (see `compiler/past_cache.py`).

A window never reaches beyond the first row of its run. `ages` counts the rows before each row in
its run; where a part would lie before the run, there is none.

Invariants, behind each tile:

1. The array of doubling k holds at its last place the partial of the newest min(2^k, age + 1) rows.
2. It holds the same for as many rows before as `keeps[k]`, if so many have come.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from windrow.algorithms.guarantees import Growth, Guarantees
from windrow.algorithms.plain_memory import Memory
from windrow.compiler.past_cache import settle_copies
from windrow.compiler.places import place_of
from windrow.compiler.slots import Ring, combine, deliver, lift_row, load_at, lower_row, store_at

NAME = "doubling"
#: it answers the rows of whole blocks, and has no insert and evict to call one by one
OF_BLOCKS = True
GUARANTEES = Guarantees(Growth.LOGARITHMIC, lambda events: 3 * events)

Block = Any
Array = np.ndarray[Any, Any]


# What is put together for each range -------------------------------------------------------------


class Part(NamedTuple):
    """The partial of 2^doubling rows, of which the newest is so many rows back."""

    doubling: int
    back: int


class Recipe(NamedTuple):
    """How a window is put together: on what the range of a number has come to, or from nothing."""

    base: int | None
    parts: tuple[Part, ...]

    @property
    def combines(self) -> int:
        """How many combines it takes."""
        return len(self.parts) - (self.base is None)


def parts_of(rows: int, back: int = 0) -> tuple[Part, ...]:
    """The fewest parts of so many rows, the newest first; long parts are old, so none is far back.

    >>> parts_of(6)
    (Part(doubling=1, back=0), Part(doubling=2, back=2))
    """
    parts = []
    for doubling in range(rows.bit_length()):
        if rows >> doubling & 1:
            parts.append(Part(doubling, back))
            back += 1 << doubling
    return tuple(parts)


def recipes_for(ranges: Sequence[int], selective: bool) -> list[Recipe]:
    """How the windows of ascending ranges are put together.

    No recipe continues a doubling: to begin anew with it takes no more.
    """
    recipes: list[Recipe] = []
    for number, extent in enumerate(ranges):
        doubling = extent.bit_length() - 1
        distances = [extent - shorter for shorter in ranges[:number]]
        base = min(range(number), key=lambda each: distances[each].bit_count(), default=None)
        if selective and extent > 1 << doubling:
            overlapping = Part(doubling, 0), Part(doubling, extent - (1 << doubling))
            recipes.append(Recipe(None, overlapping))
        elif base is not None and distances[base].bit_count() < extent.bit_count() - 1:
            recipes.append(Recipe(base, parts_of(distances[base], ranges[base])))
        else:
            recipes.append(Recipe(None, parts_of(extent)))
    return recipes


def kept_rows(recipes: Sequence[Recipe]) -> list[int]:
    """How far back each doubling is looked at."""
    parts = [part for recipe in recipes for part in recipe.parts]
    keeps = [1 << doubling for doubling in range(1 + max(part.doubling for part in parts))]
    for doubling, back in parts:
        keeps[doubling] = max(keeps[doubling], back)
    return keeps


# Memory ------------------------------------------------------------------------------------------


class Tables(NamedTuple):
    """What a kernel reads besides rows: memory, its layout, and recipes, laid out flat.

    Attributes:
        levels: the partials of all doublings, one array behind the other.
        sums: rooms for the windows of a tile: two to work in, then one for each range that another
            continues.
        begins: where each doubling's array begins.
        keeps: how far back it is looked at.
        ends: how much of it is filled.
        ages: how many rows of its run are before each row of a tile; behind them, that of the row
            to come.
        bases: where in `sums` the range is that each range continues; -1 if it begins anew.
        rooms: where in `sums` each range stays for others; -1 if none continues it.
        recipes: where the parts of each range begin.
        doublings, backs: the parts.
    """

    levels: Ring
    sums: Ring
    begins: Array
    keeps: Array
    ends: Array
    ages: Array
    bases: Array
    rooms: Array
    recipes: Array
    doublings: Array
    backs: Array


def allocate(memory: Memory, recipes: Sequence[Recipe], tile: int) -> Tables:
    """Room for windows of such recipes, in tiles of so many rows."""
    keeps = np.array(kept_rows(recipes))
    # What is kept moves to the front when the array is full: each row about once.
    begins = np.concatenate([[0], np.cumsum(2 * keeps + 2 * tile)])
    parts = list(chain.from_iterable(recipe.parts for recipe in recipes))
    continued = sorted({recipe.base for recipe in recipes if recipe.base is not None})
    rooms = {number: (2 + place) * tile for place, number in enumerate(continued)}
    return Tables(
        memory.array(int(begins[-1])),
        memory.array((2 + len(continued)) * tile),
        begins,
        keeps,
        np.zeros(len(keeps), np.int64),
        np.zeros(tile + 1, np.int64),
        np.array([-1 if recipe.base is None else rooms[recipe.base] for recipe in recipes]),
        np.array([rooms.get(number, -1) for number in range(len(recipes))]),
        np.cumsum([0, *(len(recipe.parts) for recipe in recipes)]),
        np.array([part.doubling for part in parts]),
        np.array([part.back for part in parts]),
    )


# Loops -------------------------------------------------------------------------------------------


def age(tables: Tables, starts: Block, begin: int, count: int) -> Any:
    """Count the rows of its run before each row of a tile; the fewest of them."""
    tile = len(tables.ages) - 1
    current = fewest = tables.ages[tile]
    run = place_of(starts, begin)
    for index in range(count):
        if begin + index == starts[run]:
            current = fewest = 0
            run += 1
        tables.ages[index] = current
        current += 1
    tables.ages[tile] = current
    return fewest


def make_room(tables: Tables, count: int) -> None:
    """Move what is kept of the doublings that are full to the front."""
    for doubling in range(len(tables.keeps)):
        begin, end, kept = (
            tables.begins[doubling], tables.ends[doubling], tables.keeps[doubling],
        )  # fmt: skip
        if begin + end + count > tables.begins[doubling + 1]:
            for place in range(kept):
                partial = load_at(tables.levels, begin + end - kept + place)
                store_at(tables.levels, begin + place, partial)
            tables.ends[doubling] = kept


def join(
    target: Ring, place: int, older: Ring, before: int, newer: Ring, behind: int,
    ages: Block, fewest: int, back: int, begin: int, count: int,
) -> None:  # fmt: skip
    """Combine rows of a tile with what lies `back` rows before them, if that is in their run.

    The first loop asks nothing, and combines many rows at once.
    """
    if fewest >= back:
        for index in range(begin, count):
            partial = combine(load_at(older, before + index), load_at(newer, behind + index))
            store_at(target, place + index, partial)
    else:
        for index in range(begin, count):
            partial = load_at(newer, behind + index)
            if ages[index] >= back:
                partial = combine(load_at(older, before + index), partial)
            store_at(target, place + index, partial)


def answer_joined(
    drafts: Block, noted: Block, older: Ring, before: int, newer: Ring, behind: int,
    ages: Block, fewest: int, back: int, begin: int, count: int,
) -> None:  # fmt: skip
    """Draft the answers to what `join` would store."""
    if fewest >= back:
        for index in range(begin, count):
            partial = combine(load_at(older, before + index), load_at(newer, behind + index))
            lower_row(drafts, noted, index, partial)
    else:
        for index in range(begin, count):
            partial = load_at(newer, behind + index)
            if ages[index] >= back:
                partial = combine(load_at(older, before + index), partial)
            lower_row(drafts, noted, index, partial)


def answer_stored(
    drafts: Block, noted: Block, newer: Ring, behind: int, begin: int, count: int
) -> None:
    """Draft the answers to partials as they are."""
    for index in range(begin, count):
        lower_row(drafts, noted, index, load_at(newer, behind + index))


def answer_tile(
    answers: Block, defined: Block, drafts: Block, noted: Block, tables: Tables, places: Block,
    row: int, fewest: int, begin: int, count: int,
) -> None:  # fmt: skip
    """Answer a tile for all ranges; `places` is where the answers of each range begin."""
    tile = len(tables.ages) - 1
    side = 0
    for number in range(len(places)):
        first, stop = tables.recipes[number], tables.recipes[number + 1]
        newer, behind = tables.sums, tables.bases[number]
        if behind < 0:
            doubling = tables.doublings[first]
            newer, behind = tables.levels, tables.begins[doubling] + tables.ends[doubling]
            first += 1
        room = tables.rooms[number]
        for part in range(first, stop):
            doubling, back = tables.doublings[part], tables.backs[part]
            before = tables.begins[doubling] + tables.ends[doubling] - back
            is_last = part + 1 == stop
            if is_last and room < 0:
                answer_joined(
                    drafts, noted, tables.levels, before, newer, behind,
                    tables.ages, fewest, back, begin, count,
                )  # fmt: skip
            else:
                side = tile - side
                target = room if is_last else side
                join(
                    tables.sums, target, tables.levels, before, newer, behind,
                    tables.ages, fewest, back, begin, count,
                )  # fmt: skip
                newer, behind = tables.sums, target
        if first == stop or room >= 0:
            answer_stored(drafts, noted, newer, behind, begin, count)
        deliver(drafts, noted, answers, defined, places[number] + row, begin, count)


def over_ranges(
    columns: Block, validities: Block, answers: Block, defined: Block, drafts: Block, noted: Block,
    tables: Tables, places: Block, starts: Block, answer_from: int, begin: int, stop: int,
) -> int:  # fmt: skip
    """Answer each row from `answer_from` on for all ranges; the rows before only fill windows."""
    tile = len(tables.ages) - 1
    for row in range(begin, stop, tile):
        count = min(tile, stop - row)
        fewest = age(tables, starts, row, count)
        make_room(tables, count)
        level = tables.begins[0] + tables.ends[0]
        for index in range(count):
            store_at(tables.levels, level + index, lift_row(columns, validities, row + index))
        for doubling in range(1, len(tables.keeps)):
            below, half = level, 1 << (doubling - 1)
            level = tables.begins[doubling] + tables.ends[doubling]
            join(
                tables.levels, level, tables.levels, below - half, tables.levels, below,
                tables.ages, fewest, half, 0, count,
            )  # fmt: skip
        first = min(max(answer_from - row, 0), count)
        if first < count:
            answer_tile(answers, defined, drafts, noted, tables, places, row, fewest, first, count)
        for doubling in range(len(tables.keeps)):
            tables.ends[doubling] += count
    settle_copies()  # once, because it waits until all is written
    return stop


#: what the loop calls, callees first
FUNCTIONS = (age, make_room, join, answer_joined, answer_stored, answer_tile)
