"""Monoids of plain Python written out as source, so that their functions can be inlined.

`NullSkipping` and `Together` say what is meant. The text says the same without a method, a loop or
a star: a maximum of Python values is

    def combine(older, newer):
        if older is None:
            return newer
        if newer is None:
            return older
        return combine_of(older, newer)

Functions have no `try`: their callers name what fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from windrow.algebra.equality import same
from windrow.algebra.nullable import InvertibleNullSkipping, NullSkipping, Together

#: a text, and what it refers to
Source = tuple[str, dict[str, Any]]


def plain_source(monoid: NullSkipping | Together, inputs: int = 0) -> Source:
    """`identity`, `combine`, `inverse`, `same`, and `lift` and `lower` of a monoid of events.

    Args:
        monoid: the monoid.
        inputs: how many inputs an event has; only `NullSkipping` lifts and lowers.
    """
    # Where None itself is written, Python warns of what is never done to it.
    refers: dict[str, Any] = {"same": same, "no_partial": None}
    lines = list(_written(monoid, "", refers))
    if isinstance(monoid, NullSkipping):
        lines += lift(monoid, "", inputs, refers)
        lines += lower(monoid, "", refers)
    return "\n".join(lines) + "\n", refers


def _written(monoid: Any, tag: str, refers: dict[str, Any]) -> Iterator[str]:
    """The functions of a monoid, whose names end with a tag."""
    if isinstance(monoid, Together):
        for place, part in enumerate(monoid.monoids):
            yield from _written(part, f"{tag}_{place}", refers)
        yield from _of_parts(len(monoid.monoids), tag)
        return
    refers[f"combine_of{tag}"] = monoid.monoid.combine
    counted = isinstance(monoid, InvertibleNullSkipping)
    both = f"combine_of{tag}(older, newer)"
    if counted:
        both = f"(older[0] + newer[0], combine_of{tag}(older[1], newer[1]))"
    yield f"def identity{tag}():"
    yield "    return no_partial"
    yield f"def combine{tag}(older, newer):"
    yield "    if older is None:"
    yield "        return newer"
    yield "    if newer is None:"
    yield "        return older"
    yield f"    return {both}"
    if counted:
        refers[f"inverse_of{tag}"] = monoid.monoid.inverse
        yield f"def inverse{tag}(total, oldest):"
        yield "    if oldest is None:"
        yield "        return total"
        yield "    if total[0] == oldest[0]:"
        yield "        return None"
        yield f"    return (total[0] - oldest[0], inverse_of{tag}(total[1], oldest[1]))"


def _of_parts(parts: int, tag: str) -> Iterator[str]:
    for role, parameters in (
        ("identity", ()), ("combine", ("older", "newer")), ("inverse", ("total", "oldest")),
    ):  # fmt: skip
        calls = []
        for place in range(parts):
            arguments = ", ".join(f"{each}[{place}]" for each in parameters)
            calls.append(f"{role}{tag}_{place}({arguments})")
        yield f"def {role}{tag}({', '.join(parameters)}):"
        yield f"    return ({', '.join(calls)},)"


def lift(monoid: NullSkipping, tag: str, inputs: int, refers: dict[str, Any]) -> Iterator[str]:
    """`lift` of a monoid."""
    names = [f"input_{place}" for place in range(inputs)]
    refers[f"lift_of{tag}"] = monoid.monoid.lift
    given = ", ".join(names)
    lifted, absent = f"lift_of{tag}({given})", f"absent_of{tag}({given})"
    if isinstance(monoid, InvertibleNullSkipping):
        lifted, absent = f"(1, {lifted})", f"(1, {absent})"
    yield f"def lift{tag}({given}):"
    for place in monoid.watched:
        yield f"    if {names[place]} is None:"
        yield "        return None"
    if monoid.missing:
        refers[f"absent_of{tag}"] = monoid.monoid.absent
        for place in monoid.missing:
            yield f"    if {names[place]} is None:"
            yield f"        return {absent}"
    yield f"    return {lifted}"


def lower(monoid: NullSkipping, tag: str, refers: dict[str, Any]) -> Iterator[str]:
    """`lower` of a monoid."""
    own = monoid.monoid
    refers[f"nothing{tag}"] = own.lower(own.identity) if own.answers_nothing else None
    refers[f"lower_of{tag}"] = own.lower
    yield f"def lower{tag}(partial):"
    yield "    if partial is None:"
    yield f"        return nothing{tag}"
    whole = "partial[1]" if isinstance(monoid, InvertibleNullSkipping) else "partial"
    if own.defined.test is not None:
        refers[f"has_answer{tag}"] = own.defined.test
        yield f"    if not has_answer{tag}({whole}):"
        yield "        return None"
    yield f"    return lower_of{tag}({whole})"
