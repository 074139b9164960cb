"""What breaks the laws of an aggregation: for each law, a function that looks at some partials.

It returns None where the law holds, and otherwise what is wrong, as lines of a message.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from windrow.algebra.equality import same
from windrow.compiler.slots import Partial
from windrow.testing.examples import shown
from windrow.testing.subject import Subject, is_finite

Equal: TypeAlias = Callable[[Any, Any], bool]


class Law(NamedTuple):
    """A law: its name, the names of its arguments, and what is wrong with some, if anything."""

    name: str
    arguments: tuple[str, ...]
    broken_by: Callable[..., str | None]


def _not_associative(subject: Subject, older: Partial, middle: Partial, newer: Partial) -> Any:
    return _regrouped(subject, subject.equal, older, middle, newer)


def _not_exact(subject: Subject, older: Partial, middle: Partial, newer: Partial) -> Any:
    return _regrouped(subject, same, older, middle, newer)


def _regrouped(
    subject: Subject, equal: Equal, older: Partial, middle: Partial, newer: Partial
) -> str | None:
    return _differ(
        equal,
        "combine(combine(older, middle), newer)",
        subject.combine(subject.combine(older, middle), newer),
        "combine(older, combine(middle, newer))",
        subject.combine(older, subject.combine(middle, newer)),
    )


def _no_identity(subject: Subject, partial: Partial) -> Any:
    identity = subject.identity
    return _differ(
        subject.equal,
        "combine(identity, partial)", subject.combine(identity(), partial),
        "partial", partial,
    ) or _differ(
        subject.equal,
        "combine(partial, identity)", subject.combine(partial, identity()),
        "partial", partial,
    )  # fmt: skip


def _not_invertible(subject: Subject, older: Partial, newer: Partial) -> Any:
    exact = subject.monoid.traits.exact
    total = subject.combine(older, newer)
    if not exact and not all(map(is_finite, (older, newer, total))):
        return None
    return _differ(
        same if exact else subject.equal,
        "inverse(combine(older, newer), older)", subject.inverse(total, older),
        "newer", newer,
    )  # fmt: skip


def _not_commutative(subject: Subject, older: Partial, newer: Partial) -> Any:
    return _differ(
        subject.equal,
        "combine(older, newer)", subject.combine(older, newer),
        "combine(newer, older)", subject.combine(newer, older),
    )  # fmt: skip


def _not_selective(subject: Subject, older: Partial, newer: Partial) -> Any:
    combined = subject.combine(older, newer)
    if subject.equal(combined, older) or subject.equal(combined, newer):
        return None
    return f"    combine(older, newer) = {shown(combined)}, which is neither"


def _not_pure(subject: Subject, older: Partial, newer: Partial) -> Any:
    calls = [("combine", older, newer)]
    if subject.monoid.inverse is not None:
        total = subject.combine(copy.deepcopy(older), copy.deepcopy(newer))
        calls.append(("inverse", total, older))
    for name, *arguments in calls:
        before = copy.deepcopy(arguments)
        getattr(subject, name)(*arguments)
        # Only what can be changed is compared: an object may not know when it equals a copy.
        for was, now in zip(before, arguments, strict=True):
            if isinstance(now, np.ndarray | list | dict | set) and not same(was, now):
                return f"    {name} made {shown(now)} of its argument {shown(was)}"
    return None


def _not_in_place(subject: Subject, older: Partial, newer: Partial) -> Any:
    in_place = subject.monoid.in_place
    assert in_place is not None
    # What a row held before means nothing to combine.
    row = np.full_like(older, 1)
    in_place.combine(older, newer, row)
    if subject.monoid.fields and subject.monoid.fields[0].counted:
        row[1 + row[0] :] = 0
    return _differ(
        same,
        "combine in place", row,
        "combine(older, newer)", subject.combine(older, newer),
    )  # fmt: skip


ASSOCIATIVITY = Law("associativity", ("older", "middle", "newer"), _not_associative)
IDENTITY = Law("identity", ("partial",), _no_identity)
INVERSE = Law("inverse", ("older", "newer"), _not_invertible)
COMMUTATIVITY = Law("commutativity", ("older", "newer"), _not_commutative)
SELECTIVITY = Law("selectivity", ("older", "newer"), _not_selective)
EXACTNESS = Law("exactness", ("older", "middle", "newer"), _not_exact)
PURITY = Law("purity", ("older", "newer"), _not_pure)
IN_PLACE = Law("combining in place", ("older", "newer"), _not_in_place)


def _differ(equal: Equal, left: str, left_value: Any, right: str, right_value: Any) -> str | None:
    if equal(left_value, right_value):
        return None
    lines = [f"    {left} = {shown(left_value)}"]
    if right not in ("partial", "newer"):  # an argument has been shown already
        lines.append(f"    {right} = {shown(right_value)}")
    else:
        lines[0] += f" and not {right}"
    return "\n".join(lines)
