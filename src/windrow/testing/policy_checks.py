"""Checks of slide policies: whether what they let leave, they let leave in parts as well."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from windrow.element.lifting import ValueEvents
from windrow.engine.policy_counts import PolicyMonoid
from windrow.errors import LawViolation
from windrow.windows import PolicyWindow
from windrow.windows.policy import require_policy


def check_policy(policy: PolicyWindow, events: Iterable[Any]) -> None:
    """Check that a policy is monotone, on the windows that these events lead to.

    A policy that lets the oldest events of a window leave must let fewer of them leave as well,
    because windrow asks about parts of its own choice. After each event every part is asked about,
    which takes as many verdicts as the window has events.

    Args:
        policy: what `wr.policy` or `wr.policies` made.
        events: values; or mappings from columns to values, if the policy names columns.

    Raises:
        LawViolation: with the window, the part that leaves and the shorter part that stays.

    >>> import windrow as wr
    >>> check_policy(wr.policies.since_max(), [1, 5, 2, 3])
    >>> even = wr.policy(lambda total, oldest: oldest % 2 == 0, of=wr.count())
    >>> check_policy(even, "abc")
    Traceback (most recent call last):
    ...
    windrow.errors.LawViolation: the policy is not monotone: of the window ['a', 'b'] it lets the \
oldest 2 leave (total 2, oldest 2), but not the oldest 1 (total 2, oldest 1)
    """
    require_policy(policy)
    monoid = PolicyMonoid(policy)
    window: list[tuple[Any, Any]] = []
    for event in events:
        window.append((event, monoid.lift_asked(_inputs(monoid, event))))
        if policy.halves:
            continue
        del window[: _leaving(monoid, window)]


def _inputs(monoid: PolicyMonoid, event: Any) -> list[tuple[Any, ...]]:
    if isinstance(event, Mapping):
        return [tuple(event[name] for name in measure.columns) for measure in monoid.measures]
    values = ValueEvents(monoid.measures[0].aggregation)
    return [values.inputs_of(measure, (event,)) for measure in monoid.measures]


def _leaving(monoid: PolicyMonoid, window: list[tuple[Any, Any]]) -> int:
    """How many of the oldest events leave, once each number of them has been asked about."""
    parts, oldest = [], monoid.identity()
    for _event, partial in window:
        oldest = monoid.combine(oldest, partial)
        parts.append(oldest)
    total = parts[-1]
    stays: int | None = None
    leaving = 0
    for count, part in enumerate(parts, 1):
        said = monoid.verdict(total, part)
        if said == 0 and stays is None:
            stays = count
        if said > 0 and stays is not None:
            raise LawViolation(
                f"the policy is not monotone: of the window {[event for event, _ in window]!r} it "
                f"lets the oldest {count} leave ({_shown(monoid, total, part)}), but not the "
                f"oldest {stays} ({_shown(monoid, total, parts[stays - 1])})"
            )
        if said > 0:
            leaving = count
    return leaving


def _shown(monoid: PolicyMonoid, total: Any, oldest: Any) -> str:
    shown = []
    for name, whole in (("total", total), ("oldest", oldest)):
        answers = [each.lower(partial) for each, partial in zip(monoid.asked, whole, strict=True)]
        shown.append(f"{name} {answers[0] if len(answers) == 1 else tuple(answers)!r}")
    return ", ".join(shown)
