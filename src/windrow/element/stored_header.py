"""The header of a stored window: what the window is, how far it has come, who wrote its blocks.

`stores/layout.py` writes it as bytes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import pyarrow as pa

from windrow.algebra.aggregation import Measure
from windrow.algorithms import block_levels
from windrow.algorithms.block_levels import State
from windrow.compiler.fingerprint import fingerprint
from windrow.element.stored_algorithms import tree_of
from windrow.errors import InvalidArgument, StoreError
from windrow.planning.features import Feature
from windrow.stores.blocks import Writer
from windrow.stores.contract import Key, Store
from windrow.stores.layout import MARK_BYTES, StorePlace, text_of_header
from windrow.windows import PolicyWindow

#: the level of headers in a key, above those of blocks
HEADER_LEVEL = 255

_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


#: the algorithm of windows from before one could be chosen
_FIRST_ALGORITHM = "amortized_monoid_tree"


@dataclass(frozen=True)
class MeasureText:
    """One aggregation of a window, and the columns that it is of."""

    aggregation: str
    #: the name that the aggregation was called by, if it has parameters, and these
    called: str
    parameters: dict[str, Any]
    #: "counted" if events without a value count as such, else "skipped"
    nulls: str
    #: the columns, if events are rows
    columns: list[str]
    #: the name of the answer, if there are several
    name: str

    @classmethod
    def of(cls, feature: Feature, measure: Measure | None) -> MeasureText:
        """Describe a feature; with the measure that it is of, if events are rows."""
        own = feature.aggregation
        return cls(
            own.name,
            own.called,
            # JSON turns a tuple into a list; compare what will be read again.
            json.loads(json.dumps(dict(own.parameters))),
            "skipped" if feature.columns else "counted",
            [] if measure is None else list(measure.columns),
            "" if measure is None else measure.name,
        )

    def checked(self) -> MeasureText:
        """This measure, if its parts have the right types."""
        words = [self.aggregation, self.called, self.nulls, self.name, *self.columns]
        _require_words(*words, *self.parameters.keys())
        return self


@dataclass(frozen=True)
class Description:
    """What a window is, so that you cannot open it as another one.

    A fingerprint of the bytecode of your own functions is compared as well. It differs from one
    Python to the next, so two Pythons compare names, types and fields only.
    """

    measures: list[MeasureText]
    #: the columns of events that are rows; none if events are the inputs of one aggregation
    columns: list[str]
    types: list[str]
    policy: str
    algorithm: str
    fields: list[list[Any]]
    bits: int
    code: str
    python: str = _PYTHON

    @classmethod
    def of(
        cls,
        measures: list[MeasureText],
        schema: pa.Schema,
        policy: PolicyWindow | None,
        algorithm: str,
        fields: list[list[Any]],
        bits: int,
        features: Sequence[Feature],
    ) -> Description:
        """Describe a window; `features` are those of its answers and of its policy."""
        code = [part for each in features for part in _code(each)]
        kept_by = ""
        if policy is not None:
            code += [rule.function for rule in policy.rules]
            of = ", ".join(measure.aggregation.described for measure in policy.measures)
            kept_by = f"{policy.default_name} of {of}"
        is_rows = any(measure.name for measure in measures)
        return cls(
            measures,
            list(schema.names) if is_rows else [],
            list(map(str, schema.types)),
            kept_by,
            algorithm,
            fields,
            bits,
            fingerprint(*code) if code else "",
        )

    @classmethod
    def from_text(cls, text: dict[str, Any]) -> Description:
        """The description of a header, also of one from before windows had several measures."""
        if "measures" not in text:
            parts = ("aggregation", "called", "parameters", "nulls")
            measure = {part: text[part] for part in parts} | {"columns": [], "name": ""}
            rest = {part: each for part, each in text.items() if part not in parts}
            text = {"measures": [measure], "columns": [], "algorithm": _FIRST_ALGORITHM, **rest}
        found = cls(**text)
        _require_words(found.policy, found.code, found.python, found.algorithm)
        _require_words(*found.types, *found.columns)
        measures = [MeasureText(**each).checked() for each in text["measures"]]
        if not measures or (len(measures) > 1 and not found.columns):
            raise ValueError(measures)
        return replace(found, measures=measures)

    def require(self, stored: Description, store: Store, key: Key) -> None:
        """Raise if the window was stored as another."""
        for what, theirs, mine in self._compared(stored):
            if mine != theirs:
                raise InvalidArgument(
                    f"name: the window {key.namespace!r} in {store!r} was stored with {what} "
                    f"{theirs!r}, not {mine!r}; open it as it was, or give another name"
                )

    def _compared(self, stored: Description) -> Iterator[tuple[str, Any, Any]]:
        """What is compared: its name, what is stored and what is wanted."""
        theirs, mine = asdict(stored), asdict(self)
        measures = theirs.pop("measures"), mine.pop("measures")
        names = [[measure["name"] for measure in each] for each in measures]
        yield "measures", names[0], names[1]
        for one, other in zip(*measures, strict=True):
            for what in one:
                yield what, one[what], other[what]
        for what in mine:
            other_python = what == "python" or (what == "code" and self.python != stored.python)
            if not other_python:
                yield what, theirs[what], mine[what]


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
            description = Description.from_text(text["description"])
            state = State(*map(_integer, text["state"]))
            writers = [
                Writer(_integer(since), bytes.fromhex(mark)) for since, mark in text["writers"]
            ]
            tree = tree_of(description.algorithm)
            possible = (
                block_levels.SMALLEST_BITS <= state.bits <= 16
                and state.bits == description.bits
                and tree.is_possible(state)
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


def _require_words(*words: Any) -> None:
    if not all(isinstance(word, str) for word in words):
        raise TypeError(words)


def _integer(number: Any) -> int:
    if type(number) is not int:
        raise TypeError(number)
    return number


def header_key(name: str) -> Key:
    """Where the header of a window is kept."""
    return Key(name, HEADER_LEVEL, 0)
