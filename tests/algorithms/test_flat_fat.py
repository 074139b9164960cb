"""FlatFAT and the Reactive Aggregator: figures, bounds, holes (Tangwongsan et al. 2015, §4, §5)."""

import math
import random
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.algorithms.resized import Resized
from windrow.algorithms import flat_fat
from windrow.algorithms.plain_memory import PlainArray

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def tree(observed: Resized, width: int) -> str:
    """All nodes of one width, from left to right."""
    leaves = observed.state.leaves
    nodes = range(width, 2 * leaves, 2 * width)
    return " ".join(observed.text(observed.window.ring.tree, node) for node in nodes)


def filled(size: int, *, leaves: int, begin: int = 0) -> Resized:
    """A window of letters, the nodes of whose tree are up to date."""
    observed = Resized(flat_fat, room=leaves, begin=begin)
    observed.fill((LETTERS * 10)[:size])
    observed.call("refresh")
    observed.counting.taken()
    return observed


def update(observed: Resized, positions: list[int], events: Any) -> int:
    """Write events anew; how many combines that takes."""
    places, partials = PlainArray(16 + len(positions)), PlainArray(16 + len(positions))
    for index, (position, event) in enumerate(zip(positions, events, strict=True)):
        places.store(index, position)
        partials.store(index, (event,))
        observed.events[position - observed.state.front] = (event,)
    observed.call("update", places, partials, len(positions))
    return observed.counting.taken()


def bound(leaves: int, changes: int) -> int:
    """Theorem 4.2: the most combines that so many changes may take."""
    return changes * (1 + math.ceil(math.log2(leaves / changes))) if changes else 0


def nodes_above(positions: Iterable[int], leaves: int) -> set[tuple[int, int]]:
    levels = range(1, leaves.bit_length())
    return {(level, position % leaves >> level) for position in positions for level in levels}


# FlatFAT: figures 3 and 4, theorem 4.2 ----------------------------------------------------------


def test_figure_3():
    """Eight leaves; a new tree takes 7 combines, prefix(7) is e, c and the seventh leaf."""
    observed = Resized(flat_fat, room=8)
    observed.fill("12345678")
    assert observed.counting.taken() == 0
    assert observed.query() == 7
    assert tree(observed, 1) == "1 2 3 4 5 6 7 8"
    assert tree(observed, 2) == "12 34 56 78"
    assert tree(observed, 4) == "1234 5678"
    assert tree(observed, 8) == "12345678"
    assert observed.call("prefix", 6) == tuple("1234567")
    assert observed.counting.taken() == 2
    assert observed.query() == 0


def test_figure_4():
    """Writing leaves 1, 2, 4 and 7 changes nodes a, b, d, e, f and g, each once."""
    observed = Resized(flat_fat, room=8)
    observed.fill("12345678")
    observed.query()
    assert update(observed, [0, 1, 3, 6], "ABDG") == 6
    assert tree(observed, 2) == "AB 3D 56 G8"
    assert tree(observed, 4) == "AB3D 56G8"
    assert tree(observed, 8) == "AB3D56G8"
    observed.check()


@pytest.mark.parametrize("leaves", [2, 4, 8, 16, 32])
def test_theorem_4_2_updates(leaves):
    """(i) n - 1 combines for a new tree, (ii) few for many changes, wherever the ring begins."""
    chance = random.Random(leaves)
    for begin in range(0, leaves, max(1, leaves // 8)):
        observed = Resized(flat_fat, room=leaves, begin=begin)
        observed.fill(range(leaves))
        observed.call("refresh")
        assert observed.counting.taken() == leaves - 1
        for changes in range(leaves + 1):
            for _attempt in range(5):
                places = sorted(chance.sample(range(leaves), changes))
                taken = update(observed, [begin + place for place in places], places)
                above = nodes_above([begin + place for place in places], leaves)
                assert taken == len(above) <= bound(leaves, changes)
                observed.check()


@pytest.mark.parametrize("leaves", [2, 4, 8, 16, 64])
def test_theorem_4_2_queries(leaves):
    """(iii) A prefix or a suffix takes log2(n) combines, twice that if the ring has gone round."""
    observed = filled(leaves, leaves=leaves)
    for index in range(leaves):
        assert observed.call("prefix", index) == observed.subject.fold(observed.events[: index + 1])
        observed.counting.taken()
        assert observed.call("suffix", index) == observed.subject.fold(observed.events[index:])
        observed.counting.taken()
        for function in ("prefix", "suffix"):
            observed.call(function, index)
            assert observed.counting.taken() <= math.log2(leaves)
    gone_round = filled(leaves, leaves=leaves, begin=leaves - 1)
    for index in range(leaves):
        for function in ("prefix", "suffix"):
            gone_round.call(function, index)
            assert gone_round.counting.taken() <= 2 * math.log2(leaves)


def test_changes_since_the_last_query_are_combined_together():
    """Theorem 4.1 for a window: m inserted and evicted events at once, at their common price."""
    chance = random.Random(4)
    for _attempt in range(1000):
        leaves = 2 ** chance.randrange(4, 8)
        size = chance.randrange(leaves // 4, leaves + 1)
        observed = filled(size, leaves=leaves, begin=chance.randrange(3 * leaves))
        inserted = evicted = 0
        for number in range(chance.randrange(40)):
            if chance.random() < 0.5 and len(observed) > leaves // 4:
                observed.evict()
                evicted += 1
            elif len(observed) < leaves:
                observed.insert(number)
                inserted += 1
        changes = min(leaves, inserted + min(2, evicted))
        front, end = observed.state.front, observed.state.end
        changed = [*range(max(front, end - inserted), end), *[front - evicted, front - 1][:evicted]]
        observed.counting.taken()
        observed.call("refresh")
        taken = observed.counting.taken()
        assert taken <= len(nodes_above(changed, leaves)) <= bound(leaves, changes)
        observed.check()
        assert observed.query() <= 2 * math.log2(leaves)


# The Reactive Aggregator: figure 5; Shein et al. 2018, Table 1; resizing -------------------------


def test_figure_5():
    """The window that keeps the latest 4 numbers; unused slots are as they were left."""
    observed = Resized(flat_fat, room=4)
    expected = ["4 - - -", "4 7 - -", "4 7 3 -", "4 7 3 2"]
    for event, slots in zip([4, 7, 3, 2], expected, strict=True):
        observed.insert(event)
        assert tree(observed, 1) == slots
        observed.query()
        assert not flat_fat.is_inverted(observed.state)
    observed.evict()
    observed.query()
    assert tree(observed, 4) == "732"
    assert not flat_fat.is_inverted(observed.state)
    observed.insert(9)
    assert tree(observed, 1) == "9 7 3 2"
    assert flat_fat.is_inverted(observed.state)
    # suffix(front) and prefix(back), after the path of the one leaf has been combined again.
    assert observed.query() == 2 + 2
    assert tree(observed, 4) == "9732"
    assert observed.window.query() == (7, 3, 2, 9)


@pytest.mark.parametrize("size", [2, 4, 16, 64, 256])
def test_table_1(size):
    """Sliding takes log2(n) combines for the tree, and as many again to turn it the right way."""
    observed = filled(size, leaves=size)
    for number in range(2 * size):
        observed.evict()
        observed.insert(number)
        observed.call("refresh")
        assert observed.counting.taken() == math.log2(size)
        assert observed.query() <= math.log2(size)
        assert flat_fat.stored_partials(observed.state) == 2 * size - 1


def test_insert_and_evict_combine_nothing():
    observed = filled(100, leaves=128)
    assert observed.evict() == 0
    assert observed.insert(1) == 0
    assert observed.evict_many(50) == 0
    assert observed.query() <= 2 * math.log2(128) + math.log2(128)


def test_the_ring_doubles_when_full_and_halves_below_a_quarter():
    observed = Resized(flat_fat)
    leaves = []
    for number in range(130):
        observed.insert(number)
        leaves.append(observed.state.leaves)
    assert leaves == [16] * 16 + [32] * 16 + [64] * 32 + [128] * 64 + [256] * 2
    while len(observed):
        observed.evict()
        leaves = observed.state.leaves
        assert leaves == 16 or len(observed) >= leaves / 4
        observed.check()
        observed.query()
        observed.check()
    assert leaves == 16
    observed.fill(range(300))
    assert observed.state.leaves == 512
    observed.evict_many(295)
    assert observed.state.leaves == 16
    observed.query()
    observed.check()


# Holes ------------------------------------------------------------------------------------------


def test_an_event_that_leaves_from_the_middle_makes_a_hole():
    observed = filled(8, leaves=8)
    assert observed.evict_at(2) <= 3
    assert tree(observed, 1) == "a b  d e f g h"
    assert tree(observed, 4) == "abd efgh"
    assert observed.state.holes == 1
    assert observed.evict_at(2) <= 3
    assert (tree(observed, 2), observed.state.holes) == ("ab  ef gh", 2)
    observed.check()
    assert observed.query() == 0
    # The front passes the holes with the last event before them.
    observed.evict()
    observed.evict()
    assert (observed.state.front, observed.state.holes) == (4, 0)
    observed.query()
    observed.check()


def test_the_oldest_and_the_newest_event_leave_as_well():
    observed = filled(5, leaves=16)
    observed.evict_at(4)
    observed.evict_at(0)
    assert (len(observed.window), observed.state.holes) == (3, 1)
    observed.insert("z")
    observed.query()
    observed.check()
    for _event in range(4):
        observed.evict_at(len(observed) - 1)
        observed.query()
        observed.check()
    assert (len(observed.window), observed.state.holes) == (0, 0)
    observed.insert("a")
    observed.query()


def test_an_event_is_inserted_into_a_hole_or_others_move_up():
    observed = filled(8, leaves=16)
    assert observed.insert_at(6, "G") <= bound(16, 3)
    assert observed.query() == 0
    assert tree(observed, 1).startswith("a b c d e f G g h -")
    observed.evict_at(2)
    assert tree(observed, 1).startswith("a b  d e f G g h -")
    assert observed.insert_at(2, "C") <= bound(16, 1)
    assert tree(observed, 1).startswith("a b C d e f G g h -")
    assert observed.state.holes == 0
    observed.evict_at(5)
    # Up to the next hole and no further.
    assert observed.insert_at(3, "D") <= bound(16, 3)
    assert tree(observed, 1).startswith("a b C D d e G g h -")
    assert observed.insert_at(0, "A") <= bound(16, 10)
    assert observed.insert_at(10, "Z") == 0
    observed.query()
    observed.check()
    assert "".join(event for (event,) in observed.events) == "AabCDdeGghZ"


def test_holes_are_closed_when_the_ring_is_full_and_a_quarter_of_it_is_holes():
    observed = filled(16, leaves=16)
    for index in (12, 9, 6):
        observed.evict_at(index)
    observed.insert("A")
    # Three of 16 are less than a quarter, so the ring was doubled, which closes them as well.
    assert (observed.state.leaves, observed.state.holes) == (32, 0)
    observed = filled(16, leaves=16)
    for index in (12, 9, 6, 3):
        observed.evict_at(index)
    observed.insert("A")
    assert (observed.state.leaves, observed.state.holes) == (16, 0)
    assert tree(observed, 1) == "a b c e f h i k l n o p A n o p"
    assert observed.query() <= 15
    observed.check()


def step(observed: Resized, name: str, share: float, event: int) -> None:
    """One operation at some share of the window, which takes no more than the card says."""
    size = len(observed)
    index = int(share * size)
    if name == "insert":
        assert observed.insert(event) == 0
    elif name == "insert_at":
        index = int(share * (size + 1))
        observed.query()
        has_room = observed.call("has_room")
        taken = observed.insert_at(index, event)
        if has_room:
            assert taken <= bound(observed.state.leaves, size - index + 1)
    elif name == "query":
        observed.query()
    elif name == "query_range":
        observed.query()
        assert observed.query_range(index) <= 2 * math.log2(observed.state.leaves)
    elif name == "evict_many":
        assert observed.evict_many(index) == 0
    elif size and name == "evict":
        assert observed.evict() == 0
    elif size and name == "evict_at":
        observed.query()
        leaves = observed.state.leaves
        assert observed.evict_at(index) <= math.log2(leaves)
    assert len(observed.window) == len(observed)
    observed.check()


STEPS = ["insert", "insert_at", "evict", "evict_at", "evict_many", "query", "query_range"]


@given(
    begin=st.integers(0, 40),
    steps=st.lists(st.tuples(st.sampled_from(STEPS), st.floats(0, 0.99)), max_size=60),
)
def test_windows_that_are_not_first_in_first_out(begin, steps):
    observed = Resized(flat_fat, begin=begin)
    for number, (name, share) in enumerate(steps):
        step(observed, name, share, number)
    observed.query()


@pytest.mark.parametrize("seed", range(6))
def test_long_windows_that_are_not_first_in_first_out(seed):
    """They grow and shrink, slide and go round, with more or fewer holes, empty and fill again."""
    chance = random.Random(seed)
    observed = Resized(flat_fat, begin=chance.randrange(100))
    number = 0
    for size in (chance.randrange(150), chance.randrange(20), chance.randrange(90), 0, 12):
        middle = chance.choice([0.02, 0.3, 0.9])
        while len(observed) != size or chance.random() < 0.97:
            grows = len(observed) < size if chance.random() < 0.7 else chance.random() < 0.5
            name = "insert" if grows else "evict"
            if chance.random() < middle:
                name += "_at"
            elif chance.random() < 0.1:
                name = chance.choice(["query", "query_range"])
            step(observed, name, chance.random(), number)
            number += 1


def test_a_window_that_is_not_first_in_first_out():
    """From the outside: nulls, positions that are not there, algorithms that cannot."""
    window = wr.Window(wr.arg_max(), algorithm="flat_fat")
    window.insert_many([(3, "c"), (None, "nothing"), (7, "g")])
    window.insert_at(1, 7, "f")
    assert (window.query(), len(window)) == ("f", 4)
    window.evict_at(1)
    assert window.query() == "g"
    window.evict_at(2)
    assert (window.query(), window.query_range(1), window.query_range(0)) == ("c", None, None)
    with pytest.raises(wr.InvalidArgument, match=r"insert_at: an event of arg_max is"):
        window.insert_at(0, 3)
    for wrong in (-1, 1.5, "0", None):
        with pytest.raises(wr.InvalidArgument, match="position: "):
            window.evict_at(wrong)
        with pytest.raises(wr.InvalidArgument, match="position: "):
            window.insert_at(wrong, 1, "a")
        with pytest.raises(wr.InvalidArgument, match="count: "):
            window.query_range(wrong)
    with pytest.raises(wr.InvalidArgument, match="position: an event can be inserted at 0 to 2"):
        window.insert_at(3, 1, "a")
    with pytest.raises(wr.EmptyWindow, match="evict_at: no event is at 2, the window holds 2"):
        window.evict_at(2)
    with pytest.raises(wr.EmptyWindow, match="query_range: 3 events are asked for"):
        window.query_range(3)
    window.clear()
    assert (window.query(), len(window)) == (None, 0)


def test_operations_that_an_algorithm_does_not_have_are_refused_by_name():
    window = wr.Window(wr.max(), algorithm="two_stacks_lite")
    window.insert_many([4, 5, 3])
    for name, arguments in {"evict_at": (1,), "insert_at": (1, 2), "query_range": (2,)}.items():
        with pytest.raises(wr.NotApplicable, match=f"two_stacks_lite has no {name}; .*flat_fat"):
            getattr(window, name)(*arguments)
    assert (window.query(), len(window)) == (5, 3)
