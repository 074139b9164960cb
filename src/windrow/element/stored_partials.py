"""Two ways to hold the partials of a stored window: as numbers, or as plain Python values.

Numbers lie in arrays, and a kernel works on them. Whatever else a partial is made of, such as text
and decimals, lies in an array of objects, and the same loop runs as plain Python. The tree, its
blocks and its header are the same for both; a store gets numbers, or plain values (see
`stores/plain_values.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from windrow.algebra.nullable import NullSkipping, Together
from windrow.algebra.product import Product
from windrow.algorithms import block_rows
from windrow.compiler.kernel import Kernel
from windrow.compiler.kernel_memory import KernelMemory
from windrow.compiler.linking import link
from windrow.compiler.product_source import Rule
from windrow.compiler.slots import Ring
from windrow.element.stored_algorithms import BlockTree
from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.policy_counts import verdict_of
from windrow.errors import InvalidAggregation
from windrow.stores import plain_values
from windrow.stores.layout import Fields, ObjectLayout, PartialLayout

Array = np.ndarray[Any, Any]


class NumberPartials:
    """Partials of numbers, for a kernel: memory, loop and layout.

    Attributes:
        fields: the type of each field and its width, for the window's description.
        identity: the partial of no events, as fields.
    """

    def __init__(
        self, features: FeatureColumns, tree: BlockTree, rules: Sequence[Rule] | None
    ) -> None:
        """`rules` are those of the window's policy, if it has one."""
        product = features.product
        loop, functions = _loop_of(tree, rules)
        checked = features.checked or rules is not None
        self.memory = KernelMemory(product)
        self.loop = Kernel(loop, functions, product, checked, rules or ())
        self.layout = PartialLayout([(field.dtype, field.width) for field in product.fields])
        self.fields = [[field.dtype, field.width] for field in product.fields]
        self.identity = _identity(product)


class ObjectPartials:
    """Partials of plain Python values, for plain Python; see `NumberPartials`."""

    def __init__(
        self, monoids: Sequence[Any], tree: BlockTree, rules: Sequence[Rule] | None, answers: int
    ) -> None:
        """The first `answers` monoids answer; the others are those of the policy."""
        together = Together(monoids)

        def lift_row(columns: Any, _validities: Any, row: int) -> Any:
            return tuple(
                monoid.lift(*(values[row] for values in own))
                for monoid, own in zip(monoids, columns, strict=True)
            )

        def lower_row(into: Any, _defined: Any, row: int, partials: Any) -> None:
            for place in range(answers):
                into[place][row] = monoids[place].lower(partials[place])

        def verdict(total: Any, oldest: Any) -> int:
            return verdict_of(rules or (), monoids, total, oldest)

        loop, functions = _loop_of(tree, rules)
        slots = {
            **_OBJECT_SLOTS,
            "identity": together.identity,
            "combine": together.combine,
            "lift_row": lift_row,
            "lower_row": lower_row,
            "verdict": verdict,
        }
        self.memory = ObjectMemory()
        self.loop: Callable[..., Any] = link([*functions, loop], slots)[loop.__name__]
        self.layout = ObjectLayout()
        self.fields: list[list[Any]] = [["object", 0]]
        self.identity = (_objects([together.identity()]),)


Partials = NumberPartials | ObjectPartials


class ObjectMemory:
    """Memory for plain Python values; a ring is a tuple of one array, as for a single field."""

    def array(self, capacity: int) -> Ring:
        """Room for partials."""
        return (np.full(capacity, None, object),)

    def counters(self, capacity: int) -> Ring:
        """Room for integers."""
        return np.zeros(capacity, np.int64)

    def partials(self, ring: Ring, places: slice | Array) -> Fields:
        """The partials at some places; they are never changed, so they are not copied."""
        return (ring[0][places].copy(),)

    def fill(self, ring: Ring, places: slice | Array, partials: Fields) -> None:
        """Write partials to some places."""
        ring[0][places] = partials[0]

    def workspace(self) -> tuple[Any, ...]:
        """Nothing."""
        return ()


class StorablePartials(NullSkipping):
    """A user's monoid, whose partials have to be values that a store takes."""

    def __init__(self, monoid: NullSkipping) -> None:
        self._own = monoid
        self.monoid, self.name = monoid.monoid, monoid.name

    def lift(self, *inputs: Any) -> Any:
        """The partial of one event, if a store takes it."""
        return self._required(self._own.lift(*inputs))

    def combine(self, older: Any, newer: Any) -> Any:
        """The partial of both, if a store takes it."""
        return self._required(self._own.combine(older, newer))

    def lower(self, partial: Any) -> Any:
        """The answer."""
        return self._own.lower(partial)

    def _required(self, partial: Any) -> Any:
        try:
            plain_values.to_bytes(partial)
        except TypeError as error:
            raise InvalidAggregation(
                f"{self.name}: a store keeps partials of numbers, text, bytes, decimals, times, "
                f"tuples, lists, sets, dicts and arrays of numpy; {error}"
            ) from None
        return partial


def _loop_of(
    tree: BlockTree, rules: Sequence[Rule] | None
) -> tuple[Callable[..., Any], list[Callable[..., Any]]]:
    """The loop over rows, and the functions of the tree that it calls."""
    if rules is None:
        return block_rows.insert_rows, [*tree.FUNCTIONS]
    return block_rows.slide_rows, [*tree.FUNCTIONS, *tree.POLICY_FUNCTIONS]


def _objects(values: Sequence[Any]) -> Array:
    return np.fromiter(values, object, len(values))


def _load(ring: Any, place: int) -> Any:
    return ring[0][place]


def _store(ring: Any, place: int, value: Any) -> None:
    ring[0][place] = value


def _load_integer(ring: Any, place: int) -> int:
    return int(ring[place])


def _store_integer(ring: Any, place: int, number: int) -> None:
    ring[place] = number


_OBJECT_SLOTS: dict[str, Callable[..., Any]] = {
    "load": _load,
    "store": _store,
    "load_integer": _load_integer,
    "store_integer": _store_integer,
}


def _identity(product: Product) -> Fields:
    return tuple(
        np.atleast_1d(product.identity_of(place)) if not entry.width
        else np.atleast_2d(product.identity_of(place))
        for place, entry in enumerate(product.fields)
    )  # fmt: skip
