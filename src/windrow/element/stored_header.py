"""The header of a stored window: what the window is, how far it has come, who wrote its blocks.

`stores/layout.py` writes it as bytes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from windrow.algorithms import block_tree
from windrow.algorithms.block_tree import State
from windrow.compiler.fingerprint import fingerprint
from windrow.errors import InvalidArgument, StoreError
from windrow.planning.features import Feature
from windrow.stores.blocks import Writer
from windrow.stores.contract import Key, Store
from windrow.stores.layout import MARK_BYTES, StorePlace, text_of_header
from windrow.windows import PolicyWindow

#: the level of headers in a key, above those of blocks
HEADER_LEVEL = 255

_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


@dataclass(frozen=True)
class Description:
    """What a window is, so that you cannot open it as another one.

    A fingerprint of the bytecode of your own functions is compared as well. It differs from one
    Python to the next, so two Pythons compare names, types and fields only.
    """

    aggregation: str
    #: the name that the aggregation was called by, if it has parameters, and these
    called: str
    parameters: dict[str, Any]
    #: "counted" if events without a value count as such, else "skipped"
    nulls: str
    policy: str
    types: list[str]
    fields: list[list[Any]]
    bits: int
    code: str
    python: str = _PYTHON

    @classmethod
    def of(
        cls,
        feature: Feature,
        types: list[str],
        fields: list[list[Any]],
        bits: int,
        policy: PolicyWindow | None,
        asked: Sequence[Feature],
    ) -> Description:
        """Describe a window of one aggregation, and the features that its policy asks for."""
        own = feature.aggregation
        code = [part for each in (feature, *asked) for part in _code(each)]
        kept_by = ""
        if policy is not None:
            code += [rule.function for rule in policy.rules]
            of = ", ".join(measure.aggregation.described for measure in policy.measures)
            kept_by = f"{policy.default_name} of {of}"
        return cls(
            own.name,
            own.called,
            # JSON turns a tuple into a list; compare what will be read again.
            json.loads(json.dumps(dict(own.parameters))),
            "skipped" if feature.columns else "counted",
            kept_by,
            types,
            fields,
            bits,
            fingerprint(*code) if code else "",
        )

    def checked(self) -> Description:
        """This description, if its parts have the right types."""
        words = [self.aggregation, self.called, self.nulls, self.policy, self.code, self.python]
        if not all(
            isinstance(word, str) for word in (*words, *self.types, *self.parameters.keys())
        ):
            raise TypeError(words)
        return self

    def require(self, stored: Description, store: Store, key: Key) -> None:
        """Raise if the window was stored as another."""
        for what, mine in asdict(self).items():
            theirs = getattr(stored, what)
            other_python = what == "python" or (what == "code" and self.python != stored.python)
            if mine != theirs and not other_python:
                raise InvalidArgument(
                    f"name: the window {key.namespace!r} in {store!r} was stored with {what} "
                    f"{theirs!r}, not {mine!r}; open it as it was, or give another name"
                )


@dataclass(frozen=True)
class WindowHeader:
    """A header without its partials."""

    description: Description
    state: State
    writers: list[Writer]

    def to_text(self) -> dict[str, Any]:
        """The header as JSON."""
        return {
            "description": asdict(self.description),
            "state": list(self.state),
            "writers": [[writer.since, writer.mark.hex()] for writer in self.writers],
        }

    @classmethod
    def from_bytes(cls, place: StorePlace, value: bytes) -> WindowHeader:
        """Read a header; raises if it describes no possible window."""
        text = text_of_header(place, value)
        try:
            description = Description(**text["description"]).checked()
            state = State(*map(_integer, text["state"]))
            writers = [
                Writer(_integer(since), bytes.fromhex(mark)) for since, mark in text["writers"]
            ]
            possible = (
                block_tree.SMALLEST_BITS <= state.bits <= 16
                and state.bits == description.bits
                and block_tree.is_possible(state)
                and writers
                and all(len(writer.mark) == MARK_BYTES for writer in writers)
                and writers == sorted(writers)
                and writers[-1].since <= state.end
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            possible = False
        if not possible:
            raise StoreError(
                f"{place.store!r} holds the header of no possible window at {place.key}"
            )
        return cls(description, state, writers)


def _code(feature: Feature) -> tuple[Any, ...]:
    """The functions of your own aggregation; name and parameters suffice for the catalogue's."""
    if not feature.aggregation.custom:
        return ()
    monoid = feature.monoid
    return (monoid.identity, monoid.lift, monoid.combine, monoid.lower, monoid.defined.test)


def _integer(number: Any) -> int:
    if type(number) is not int:
        raise TypeError(number)
    return number


def header_key(name: str) -> Key:
    """Where the header of a window is kept."""
    return Key(name, HEADER_LEVEL, 0)
