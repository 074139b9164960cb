"""The invariants of a finger tree, checked node by node; see `finger_tree` for their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from windrow.algorithms.finger_nodes import (
    COUNT,
    FREE,
    FRESH,
    HEIGHT,
    KNOWN,
    LEAST,
    LEFT,
    LEVEL,
    MIDDLE,
    MOST,
    NEXT,
    RIGHT,
    SIZE,
    STALE_LEFT,
    STALE_MIDDLE,
    STALE_RIGHT,
    WIDTH,
    Nodes,
)
from windrow.compiler.slots import Partial, Ring

#: the oldest event of a node, and behind its newest
Span = tuple[int, int]


class CheckedTree:
    """A tree whose nodes are read once, with the events below each."""

    def __init__(self, ring: Nodes, load: Callable[[Ring, int], Any]) -> None:
        self.ring, self._load = ring, load
        self.height = self.place(HEIGHT)
        self.spans: dict[int, Span] = {}
        self.levels: list[list[int]] = [[] for _ in range(self.height + 1)]
        self.times: list[Any] = []
        self.partials: list[Partial] = []
        self._read(self.place(RIGHT + self.height), self.height)

    def _read(self, node: int, level: int) -> None:
        assert node not in self.spans, f"invariant 6: node {node} is in the tree twice"
        assert self.known(node, LEVEL) == level, f"invariant 1: node {node} is at another level"
        self.levels[level].append(node)
        begin = len(self.times)
        self.spans[node] = begin, begin
        for slot in range(self.known(node, COUNT)):
            if level > 0:
                self._read(self.child(node, slot), level - 1)
            else:
                self.times.append(self.time(node, slot))
                self.partials.append(self.partial(node, slot))
        self.spans[node] = begin, len(self.times)

    def place(self, place: int) -> int:
        """An integer beside the nodes."""
        return int(self._load(self.ring.places, place))

    def known(self, node: int, what: int) -> int:
        """The count, level or size of a node, or the next free one."""
        return int(self._load(self.ring.nodes, KNOWN * node + what))

    def child(self, node: int, slot: int) -> int:
        """The child that an entry is."""
        return int(self._load(self.ring.children, WIDTH * node + slot))

    def time(self, node: int, slot: int) -> Any:
        """The time of an entry."""
        return self._load(self.ring.times, WIDTH * node + slot)

    def partial(self, node: int, slot: int) -> Partial:
        """The partial of an entry."""
        return self._load(self.ring.partials, WIDTH * node + slot)

    def spine(self, place: int) -> Partial:
        """A partial of a spine, or the middle."""
        return self._load(self.ring.spines, place)

    def entries(self) -> Iterator[tuple[int, int, int]]:
        """The inner entries: node, slot, child."""
        for level in self.levels[1:]:
            for node in level:
                for slot in range(self.known(node, COUNT)):
                    yield node, slot, self.child(node, slot)

    def free(self) -> Iterator[int]:
        """The nodes in the list of free nodes, and all below them."""
        node = self.place(FREE) - 1
        while node >= 0:
            yield from self._below(node)
            node = self.known(node, NEXT) - 1

    def _below(self, node: int) -> Iterator[int]:
        yield node
        if self.known(node, LEVEL) > 0:
            for slot in range(self.known(node, COUNT)):
                yield from self._below(self.child(node, slot))


def check_invariants(
    state: Any,
    ring: Nodes,
    events: Sequence[Partial],
    load: Callable[[Ring, int], Any],
    fold: Callable[[Sequence[Partial]], Partial],
    equal: Callable[[Partial, Partial], bool],
) -> None:
    """Assert invariants 1 to 6 for a window of these lifted events."""
    assert state.end - state.front == len(events) <= state.room, "invariant 1"
    if not events:
        return
    tree = CheckedTree(ring, load)
    assert len(tree.partials) == len(events), "invariant 1"
    for index, (stored, event) in enumerate(zip(tree.partials, events, strict=True)):
        assert equal(stored, event), f"invariant 1 at event {index}"
    check_shape(tree)
    check_times(tree)
    for node, slot, child in tree.entries():
        begin, stop = tree.spans[child]
        if child not in (tree.levels[tree.known(child, LEVEL)][end] for end in (0, -1)):
            stored = tree.partial(node, slot)
            assert equal(stored, fold(events[begin:stop])), f"invariant 3 at node {child}"
            assert tree.known(child, SIZE) == stop - begin, f"invariant 3 at node {child}"
    check_spines(tree, events, fold, equal)
    free = list(tree.free())
    assert len(set(free)) == len(free), "invariant 6: a node is free twice"
    assert sorted([*free, *tree.spans]) == list(range(tree.place(FRESH))), "invariant 6"
    for mark in (STALE_LEFT, STALE_RIGHT, STALE_MIDDLE):
        assert tree.place(mark) == 0, "invariant 6: something is stale"


def check_shape(tree: CheckedTree) -> None:
    """Assert the rest of invariant 1."""
    root = tree.levels[-1][0]
    for node in tree.spans:
        fewest = LEAST if node != root else 2 if tree.height > 0 else 1
        assert fewest <= tree.known(node, COUNT) <= MOST, f"invariant 1 at node {node}"


def check_times(tree: CheckedTree) -> None:
    """Assert invariant 2."""
    assert tree.times == sorted(tree.times), "invariant 2"
    for node, slot, child in tree.entries():
        begin, _stop = tree.spans[child]
        if begin > 0:
            time = tree.time(node, slot)
            assert not time < tree.times[begin - 1], f"invariant 2 at node {child}"
            assert not tree.times[begin] < time, f"invariant 2 at node {child}"


def check_spines(
    tree: CheckedTree,
    events: Sequence[Partial],
    fold: Callable[[Sequence[Partial]], Partial],
    equal: Callable[[Partial, Partial], bool],
) -> None:
    """Assert invariants 4 and 5."""
    middle = [0, len(events)]
    for level, nodes in enumerate(tree.levels):
        assert tree.place(LEFT + level) == nodes[0], f"invariant 4 at level {level}"
        assert tree.place(RIGHT + level) == nodes[-1], f"invariant 4 at level {level}"
    if tree.height > 0:
        root = tree.levels[-1][0]
        last = tree.known(root, COUNT) - 1
        middle = [tree.spans[tree.child(root, 0)][1], tree.spans[tree.child(root, last)][0]]
    for level in range(tree.height):
        begin = tree.spans[tree.levels[level - 1][0]][1] if level > 0 else 0
        stop = tree.spans[tree.levels[level - 1][-1]][0] if level > 0 else len(events)
        left, right = tree.spine(LEFT + level), tree.spine(RIGHT + level)
        assert equal(left, fold(events[begin : middle[0]])), f"invariant 5 at level {level}"
        assert equal(right, fold(events[middle[1] : stop])), f"invariant 5 at level {level}"
    assert equal(tree.spine(MIDDLE), fold(events[slice(*middle)])), "invariant 5: the middle"
