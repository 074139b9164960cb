"""What a call would do and why, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from itertools import groupby, islice
from textwrap import fill
from typing import Any

from windrow.algebra.durations import words
from windrow.planning.choose import ASSUMED_EVENTS, Choice
from windrow.planning.feature_groups import FeatureGroups
from windrow.planning.over_plan import OverPlan
from windrow.planning.placement import Placement
from windrow.planning.share import counted
from windrow.planning.slide_plan import SlidePlan

_WIDTH = 100
_MOST_WINDOWS = 8


@dataclass(frozen=True)
class Group:
    """Features that go through their windows together.

    Attributes:
        features: what they are called.
        compiled: whether they run as one kernel.
        partial_bytes: how large their partial is, if it is numbers.
        choices: the algorithm of each window, and why.
    """

    features: tuple[str, ...]
    compiled: bool
    partial_bytes: int
    choices: dict[str, Choice]


class Plan:
    """What a call would do, and why: print it, or take it apart with `to_dict`.

    Attributes:
        call: "over" or "slide".
        groups: the features, and the algorithms of their windows.
        placement: where Spark would run it; None for other data.
    """

    def __init__(
        self,
        resolved: OverPlan | SlidePlan,
        nullable: AbstractSet[str],
        notes: Sequence[str] = (),
        placement: Placement | None = None,
    ) -> None:
        """`nullable` names the columns that may hold nulls; `notes` are for the end.

        `placement` is where Spark would run it.
        """
        self.placement = placement
        self.call = "slide" if isinstance(resolved, SlidePlan) else "over"
        self._resolved = resolved
        unknown = [name for name in resolved.windows if resolved.size_of(name)[0] is None]
        assumed = (
            f"How many events {_listed(unknown)} will hold is not known; "
            f"{ASSUMED_EVENTS:,} are assumed.",
        )
        self._notes = (*notes, *(assumed if unknown else ()))
        self.groups = tuple(_groups(resolved, nullable))

    @property
    def steps(self) -> tuple[str, ...]:
        """The work in its order."""
        by = " and ".join(
            part for part in (_listed(self._resolved.key), _listed(self._resolved.order)) if part
        )
        sort = [f"sort the rows by {by}, unless they are"] if by else []
        asking = [name for name, window in self._resolved.windows.items() if window.measures]
        if asking:
            sort.append(f"ask the policy of {_listed(asking)} after every row, in its own tree")
        if isinstance(self._resolved, SlidePlan):
            return (
                *sort,
                "find the rows of every answer and cut where one begins or ends",
                "combine the rows of each slice, once",
                "go over the slices, a window at a time, on all cores",
            )
        return (*sort, "go over the rows, a window at a time, in pieces on all cores")

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        chosen = {choice.algorithm.NAME for g in self.groups for choice in g.choices.values()}
        return f"<plan of {self.call}: {_listed(sorted(chosen))}; print it to see why>"

    def _lines(self) -> Iterator[str]:
        resolved = self._resolved
        windows = "1 window" if len(resolved.windows) == 1 else f"{len(resolved.windows)} windows"
        key = f", for each {_listed(resolved.key)}" if resolved.key else ""
        order = f", ordered by {_listed(resolved.order)}" if resolved.order else ""
        yield f"{self.call}: {windows}{key}{order}"
        for group in self.groups:
            yield ""
            yield from _group_lines(group, "a slice" if self.call == "slide" else "an event")
        if isinstance(resolved, SlidePlan):
            yield from _slice_lines(resolved)
        yield ""
        yield "Work"
        for number, step in enumerate(self.steps, 1):
            yield f"  {number}. {step}"
        if self.placement is not None:
            yield ""
            yield from _placement_lines(self.placement)
        if self._notes:
            yield ""
            for note in self._notes:
                yield fill(note, _WIDTH)

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values, for programs."""
        resolved = self._resolved
        plan: dict[str, Any] = {
            "call": self.call,
            "key": list(resolved.key),
            "order": list(resolved.order),
            "groups": [
                {
                    "features": list(group.features),
                    "compiled": group.compiled,
                    "windows": {
                        name: _choice_as_dict(choice) for name, choice in group.choices.items()
                    },
                }
                for group in self.groups
            ],
            "steps": list(self.steps),
            "placement": None if self.placement is None else asdict(self.placement),
            "notes": list(self._notes),
        }
        if isinstance(resolved, SlidePlan):
            plan["slices"] = [list(group) for group in resolved.groups]
        return plan


def _groups(resolved: OverPlan | SlidePlan, nullable: AbstractSet[str]) -> Iterator[Group]:
    features = FeatureGroups(resolved.features, nullable)
    wish = resolved.wish
    if features.compiled:
        chosen = {name: features.choice(wish, *resolved.size_of(name)) for name in resolved.windows}
        served = next(iter(chosen.values())).served
        yield Group(tuple(map(str, features.compiled)), True, served.partial_bytes, chosen)
    for feature in features.plain:
        chosen = {
            name: features.plain_choice(feature, wish, resolved.size_of(name)[0])
            for name in resolved.windows
        }
        yield Group((str(feature),), False, 0, chosen)


# For people ---------------------------------------------------------------------------------------


def _group_lines(group: Group, unit: str) -> Iterator[str]:
    how = "plain Python"
    if group.compiled:
        numbers = counted(group.partial_bytes // 8)
        how = f"compiled, in one pass; a partial is {numbers} number{'s' * (numbers != '1')}"
    yield fill(f"{', '.join(group.features)}: {how}", _WIDTH, subsequent_indent="    ")
    widest = max(map(len, group.choices))
    algorithms = max(len(choice.algorithm.NAME) for choice in group.choices.values())
    for name, choice in islice(group.choices.items(), _MOST_WINDOWS):
        cost = "not measured"
        if choice.nanoseconds is not None:
            cost = f"about {_time(choice.nanoseconds)} {unit}"
        held = f"{counted(choice.partials)} partial{'s' * (choice.partials != 1)}"
        if group.compiled:
            held += f", {_size(choice.bytes)}"
        yield f"  {name:<{widest}}  {choice.algorithm.NAME:<{algorithms}}  {cost}, {held} a key"
    if len(group.choices) > _MOST_WINDOWS:
        yield f"  and {len(group.choices) - _MOST_WINDOWS} more windows"
    for names, choice in _alike(group.choices):
        yield from _reasons(f"{names}: " if len(group.choices) > 1 else "", choice)


def _alike(choices: dict[str, Choice]) -> Iterator[tuple[str, Choice]]:
    """The windows for which the same algorithm was chosen, one after the other."""

    def chosen(item: tuple[str, Choice]) -> str:
        return item[1].algorithm.NAME

    for _algorithm, items in groupby(sorted(choices.items(), key=chosen), key=chosen):
        alike = list(items)
        names = [name for name, _choice in alike]
        shown = _listed(names) if len(names) <= 4 else f"{', '.join(names[:3])} and the others"
        yield shown, alike[0][1]


def _reasons(lead: str, choice: Choice) -> Iterator[str]:
    why = f"{lead}{choice.algorithm.NAME} because {choice.why}"
    if choice.others and choice.nanoseconds and choice.events > 1:
        runner_up = min(choice.others, key=choice.others.__getitem__)
        why += f"; {runner_up} {_compared(choice.others[runner_up] / choice.nanoseconds)}"
    yield fill(why, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    reasons: dict[str, list[str]] = {}
    for name, reason in choice.ruled_out.items():
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        yield fill(
            f"not {_listed(names, 'or')}: {reason}",
            _WIDTH,
            initial_indent="    ",
            subsequent_indent="      ",
        )


def _compared(ratio: float) -> str:
    if ratio < 1 / 1.05:
        return f"would be {1 / ratio:.1f} times as fast on average"
    return "is about as fast" if ratio < 1.05 else f"would take {ratio:.1f} times as long"


def _slice_lines(plan: SlidePlan) -> Iterator[str]:
    yield ""
    yield "Slices"
    for names, sharing in plan.sharing:
        say = words if plan.unit_of(names[0]) == "time" else counted
        for line in sharing.why(names, say):
            yield fill(line, _WIDTH, initial_indent="  ", subsequent_indent="    ")
        diagram = sharing.diagram(names, say)
        if diagram:
            yield ""
            yield from (f"    {line}".rstrip() for line in diagram.splitlines())
    others = [name for name in plan.windows if name not in plan.periodic]
    if others:
        yield f"  {_listed(others)}: cut where the events say"


def _placement_lines(placement: Placement) -> Iterator[str]:
    where = {
        "spark": "Spark's own window operator answers it, and none of the above",
        "chunks": "windrow's tasks answer it, in chunks",
        "keys": "windrow's tasks answer it, key by key",
    }[placement.where]
    yield fill(f"On Spark: {where}: {placement.why}.", _WIDTH)


def _listed(names: Sequence[str], last: str = "and") -> str:
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _time(nanoseconds: float) -> str:
    if nanoseconds < 1000:
        return f"{nanoseconds:.0f} ns"
    return f"{nanoseconds / 1000:.0f} µs"


def _size(count: int) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 10_000 or unit == "GB":
            return f"{count:,} {unit}"
        count = -(-count // 1000)
    raise AssertionError("the last unit is taken for all that is larger")


# For programs -------------------------------------------------------------------------------------


def _choice_as_dict(choice: Choice) -> dict[str, Any]:
    return {
        "algorithm": choice.algorithm.NAME,
        "why": choice.why,
        "events": choice.events,
        "nanoseconds": choice.nanoseconds,
        "partials": choice.partials,
        "bytes": choice.bytes,
        "others": dict(choice.others),
        "ruled_out": dict(choice.ruled_out),
    }
