"""What docs/aggregations.md says of every aggregation: columns, parameters, nulls, types.

The page is what users read, so it is what calls are drawn from and answers are held against. An
aggregation that is added to it takes part by itself, once its own file says what is `expected` of
it, or `aggregates.py` does.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "aggregations.md"
NUMBERS = {
    "int64": "pa.int64()",
    "double": "pa.float64()",
    "binary": "pa.binary()",
    "bool": "pa.bool_()",
}


@dataclass(frozen=True)
class Input:
    """A column that an aggregation takes."""

    role: str
    kinds: frozenset[str] | None  # None for any
    optional: bool
    skipped: bool

    def takes(self, kind: str) -> bool:
        """Whether a column of a kind may be given."""
        return self.kinds is None or kind in self.kinds


@dataclass(frozen=True)
class Entry:
    """A line of the table."""

    name: str
    parameters: tuple[str, ...]
    inputs: tuple[Input, ...]
    objects: bool
    answer: str
    of_none: int | None

    def type_of(self, kinds: list[str], types: list[str]) -> str | None:
        """The type of the answer for columns of these kinds and types; None if it is nested."""
        if self.answer.startswith(("list", "struct")):
            return None
        for choice in self.answer.split("; "):
            told, _, listed = choice.partition(" for ")
            if not listed or (kinds and kinds[0] in listed.split(", ")):
                return self._written(told, types)
        return None

    def _written(self, told: str, types: list[str]) -> str:
        if told.startswith("as "):
            roles = [each.role for each in self.inputs]
            return types[roles.index(told.removeprefix("as "))]
        if told.startswith("decimal"):
            scale = types[0].rstrip(")").split(", ")[1]
            return (
                f"pa.decimal256(76, {scale})"
                if "256" in types[0]
                else f"pa.decimal128(38, {scale})"
            )
        if told.startswith("duration"):
            # Dates are whole days, which have no type of their own.
            if "int" in types[-1]:
                return NUMBERS["int64"]
            unit = types[-1].split("'")[1] if "'" in types[-1] else None
            return f"pa.duration({unit!r})" if unit else "a number of days"
        return NUMBERS[told]


#: an aggregation of one's own, which is in no table; see `calls.OWN`
OWN = Entry("own", (), (Input("value", frozenset({"float"}), False, True),), False, "double", None)


@functools.cache
def catalogue() -> dict[str, Entry]:
    """All aggregations by name, one of the user's own among them."""
    found = {"own": OWN}
    for line in PAGE.read_text().splitlines():
        if line.startswith("| `") and line.count(" | ") >= 7:
            entry = _entry([cell.strip() for cell in line.strip().strip("|").split(" | ")])
            found[entry.name] = entry
    return found


def _entry(cells: list[str]) -> Entry:
    call, _summary, columns, _traits, partial, answer, nulls = cells[:7]
    match = re.fullmatch(r"`(\w+)\((.*)\)`", call)
    assert match, call
    given = match[2].split(", ") if match[2] else []
    skipped, none = re.fullmatch(r"(.*); (\w+) if nothing is left", nulls).groups()  # type: ignore[union-attr]
    skipped = skipped.removeprefix("skipped in ")
    return Entry(
        match[1],
        tuple(each.rstrip("=") for each in given if each.endswith("=")),
        tuple(_input(each, skipped.split(" and ")) for each in columns.split("; ")),
        partial == "Python objects",
        answer,
        0 if none == "0" else None,
    )


def _input(text: str, skipped: list[str]) -> Input:
    role, _, said = text.partition(": ")
    kinds = re.sub(r" \(.*\)", "", said)
    return Input(
        role,
        None if kinds == "any" else frozenset(kinds.split(", ")),
        "(optional)" in said,
        role in skipped,
    )
