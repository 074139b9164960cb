"""The algorithms of stored windows, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, cast

from windrow.algorithms import block_log_tree, block_tree
from windrow.algorithms.block_levels import Levels, State
from windrow.errors import InvalidArgument

StoredAlgorithm = Literal["amortized_monoid_tree", "log_monoid_tree"]


class BlockTree(Protocol):
    """What a tree of blocks offers, beside the functions that become kernels."""

    FUNCTIONS: tuple[Callable[..., Any], ...]
    POLICY_FUNCTIONS: tuple[Callable[..., Any], ...]

    def empty(self, bits: int) -> State:
        """A window that never had an event."""

    def allocate(self, memory: Any, bits: int) -> Levels:
        """Room for the tails and heads of all levels."""

    def evict_many(self, state: State, count: int) -> State:
        """Drop the oldest events."""

    def restored(self, state: State) -> State:
        """The state once a header was read, or memory was taken back."""

    def is_possible(self, state: State) -> bool:
        """Whether a window can have come to such a state."""

    def heads_needed(self, state: State) -> range:
        """The levels whose heads have to be in memory."""

    def is_stale(self, state: State, levels: Levels, level: int, block: int) -> bool:
        """Whether a head has to be loaded."""

    def beside(self, bits: int) -> list[int]:
        """The places of single partials that do not belong to a level."""

    def single_of_tail(self, bits: int, level: int) -> list[int]:
        """The places of the single partials beside a tail."""


_TREES: dict[str, BlockTree] = {
    "amortized_monoid_tree": cast(BlockTree, block_tree),
    "log_monoid_tree": cast(BlockTree, block_log_tree),
}


def tree_of(name: str) -> BlockTree:
    """The tree of a name that a store holds; raises `KeyError` for any other."""
    return _TREES[name]


def checked_algorithm(given: Any) -> StoredAlgorithm:
    """A name, if it is that of an algorithm for stored windows."""
    if not isinstance(given, str) or given not in _TREES:
        names = " and ".join(_TREES)
        raise InvalidArgument(f"algorithm: windows in stores have {names}, not {given!r}")
    return cast(StoredAlgorithm, given)
