"""The plan of a call: what it would do and why, for programs; `plan_text` writes it for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from typing import Any

from windrow.planning.choose import ASSUMED_EVENTS, Choice
from windrow.planning.feature_groups import FeatureGroups
from windrow.planning.over_plan import OverPlan
from windrow.planning.placement import Placement
from windrow.planning.plan_text import plan_lines
from windrow.planning.share import Sharing, share
from windrow.planning.shared_answers import shared_answers
from windrow.planning.shared_ranges import shared_ranges
from windrow.planning.slide_plan import SlidePlan
from windrow.planning.stream_plan import StreamPlan
from windrow.planning.wording import listed
from windrow.slicing import TECHNIQUES, cutty


@dataclass(frozen=True)
class Group:
    """Features that go through their windows together.

    Attributes:
        features: what they are called.
        compiled: whether they run as one kernel.
        partial_bytes: how large their partial is, if it is numbers.
        choices: the algorithm of each window, and why.
        together: the windows of `over` that share a pass.
    """

    features: tuple[str, ...]
    compiled: bool
    partial_bytes: int
    choices: dict[str, Choice]
    together: tuple[str, ...] = ()


class Plan:
    """What a call would do, and why: print it, or read it with `to_dict`.

    Attributes:
        call: "over", "slide" or "as_of".
        groups: the features, and the algorithms of their windows; none if Spark's own window
            operator answers.
        placement: where Spark runs the call on a table; None for other data.
        stream: what the call does with a stream; None for other data.
        notes: what the plan assumes.

    >>> import windrow as wr
    >>> plan = wr.plan(order="t", windows=wr.rows(9), aggs=wr.max("x"))
    >>> plan.call, plan.stream
    ('over', None)
    """

    def __init__(
        self,
        resolved: OverPlan | SlidePlan,
        nullable: AbstractSet[str],
        notes: Sequence[str] = (),
        *,
        placement: Placement | None = None,
        stream: StreamPlan | None = None,
    ) -> None:
        """Explain a resolved call.

        Args:
            resolved: the arguments of the call, checked.
            nullable: the columns that may hold nulls.
            notes: what to say at the end, beside what windows wait for.
            placement: where Spark runs it.
            stream: what becomes of a stream.
        """
        self.call = resolved.call
        self.resolved, self.placement, self.stream = resolved, placement, stream
        notes = [*notes, *_of_answers(resolved)]
        if placement is not None and placement.where == "spark":
            self.groups: tuple[Group, ...] = ()
            self.notes = tuple(notes)
            return
        unknown = [
            name
            for name, window in resolved.windows.items()
            if resolved.size_of(name)[0] is None and not window.grows
        ]
        assumed = (
            f"How many events {listed(unknown)} will hold is not known; "
            f"{ASSUMED_EVENTS:,} are assumed.",
        )
        self.notes = (*notes, *(assumed if unknown else ()))
        on_table = self.call != "as_of" and placement is None and stream is None
        self.groups = tuple(_groups(resolved, nullable, shares=on_table))

    @property
    def sharing(self) -> list[tuple[list[str], Sharing]]:
        """How the periodic windows of `slide` share slices, for those in time and those in rows."""
        if not isinstance(self.resolved, SlidePlan):
            return []
        if self.stream is None:
            return self.resolved.sharing
        return [
            (names, share([self.resolved.periodic[name] for name in names]))
            if set(names) <= self._in_slices
            else (names, sharing)
            for names, sharing in self.resolved.sharing
        ]

    @property
    def slices(self) -> list[list[str]]:
        """The windows of `slide` that share slices; windows that events cut are one group."""
        assert isinstance(self.resolved, SlidePlan)
        shared = [
            [names[query] for query in group.queries]
            for names, sharing in self.sharing
            for group in sharing.groups
        ]
        others = [list(calendars) for calendars in self.resolved.calendars.values()]
        cut_by_events = self.resolved.cut_by_events
        return [*shared, *others, *([cut_by_events] if cut_by_events else [])]

    @property
    def techniques(self) -> dict[str, dict[str, dict[str, int]]]:
        """What each technique would take for each periodic window of `slide` by itself."""
        assert isinstance(self.resolved, SlidePlan)
        return {
            name: {
                technique: {
                    "slices_per_slide": each.slices_per_slide(window),
                    "partials_per_window": each.partials_per_window(window),
                }
                for technique, each in TECHNIQUES.items()
            }
            for name, window in self.resolved.periodic.items()
        }

    @property
    def _cut(self) -> str:
        """Where a table is cut into slices."""
        assert isinstance(self.resolved, SlidePlan)
        is_cutty = self.resolved.slices == cutty.NAME
        return "one begins, to read where one ends" if is_cutty else "one begins or ends"

    @property
    def _in_slices(self) -> set[str]:
        """The windows of a stream whose state is partials of slices."""
        assert self.stream is not None
        kept = [group for group in self.stream.groups if group.way.startswith("slices")]
        return {name for group in kept for name in group.windows}

    @property
    def steps(self) -> tuple[str, ...]:
        """The work in its order."""
        if self.placement is not None:
            return self.placement.work
        key, order = listed(self.resolved.key), listed(self.resolved.order)
        by = " and ".join(part for part in (key, order) if part)
        if self.stream is not None:
            return (
                f"put the events into shards by {key}, and pack and shuffle them by shard"
                if key
                else "pack the events and shuffle them to the one shard",
                *self._in_a_shard(by),
                "write the state that answers to come need",
            )
        sort = [f"sort the rows by {by}, unless they are"] if by else []
        if self.call == "slide":
            return (
                *sort,
                *self._policies,
                f"find the rows of every answer and cut where {self._cut}",
                "combine the rows of each slice, once",
                f"go over the slices, {self._once}a window at a time, on all cores",
                *self._counted,
            )
        if self.call == "as_of":
            return (
                *(["leave out the events whose key no query has"] if key else []),
                f"sort queries and events by {by}, unless they are",
                "find the events of each window of each query, in one walk along both",
                "go over the events, a window at a time, in pieces on all cores",
            )
        over = f"go over the rows, {self._once}a window at a time, in pieces on all cores"
        return (*sort, *self._policies, over)

    def _in_a_shard(self, by: str) -> tuple[str, ...]:
        """What a shard does with the events of a batch."""
        assert self.stream is not None
        if any(group.way.startswith("updates") for group in self.stream.groups):
            return (
                "in a shard, drop late events",
                f"put the others among those that their keys have in state, by {by}",
                "answer what they change, and once more what became final",
            )
        return (
            "in a shard, drop late events; the others wait until they are final",
            f"sort the events that are final by {by}",
            *self._policies,
            "answer what became final with them, from them and the state",
        )

    @property
    def _once(self) -> str:
        shares = any(group.together for group in self.groups)
        return "once for all windows that share a pass, " if shares else ""

    @property
    def _counted(self) -> list[str]:
        """The step of `slide` for features that have no partials of slices, if there are any."""
        counts = self.resolved.wish.counts_values
        asked = [str(each) for each in self.resolved.features if counts and each.monoid.asks]
        if not asked:
            return []
        return [f"for {listed(asked)}, go over the rows from answer to answer"]

    @property
    def _policies(self) -> list[str]:
        """The step that asks policies, if there are any."""
        asked = [name for name, window in self.resolved.windows.items() if window.measures]
        if not asked:
            return []
        return [f"ask the policy of {listed(asked)} after every row, in its own tree"]

    def __str__(self) -> str:
        return "\n".join(plan_lines(self))

    def __repr__(self) -> str:
        chosen = {choice.algorithm.NAME for g in self.groups for choice in g.choices.values()}
        by = listed(sorted(chosen)) or "Spark's own window operator"
        return f"<plan of {self.call}: {by}; print it to see why>"

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values, for programs."""
        plan: dict[str, Any] = {
            "call": self.call,
            "key": list(self.resolved.key),
            "order": list(self.resolved.order),
            "groups": [
                {
                    "features": list(group.features),
                    "compiled": group.compiled,
                    "together": list(group.together),
                    "windows": {
                        name: _choice_as_dict(choice) for name, choice in group.choices.items()
                    },
                }
                for group in self.groups
            ],
            "steps": list(self.steps),
            "placement": None,
            "stream": None,
            "notes": list(self.notes),
        }
        if self.placement is not None:
            plan["placement"] = {"where": self.placement.where, "why": self.placement.why}
        if self.stream is not None:
            plan["stream"] = _as_lists(asdict(self.stream))
        if self.call == "slide":
            plan["slices"] = self.slices
            plan["techniques"] = self.techniques
        return plan


def _groups(
    resolved: OverPlan | SlidePlan, nullable: AbstractSet[str], *, shares: bool
) -> Iterator[Group]:
    """The groups of features; on a table, windows may share a pass."""
    features = FeatureGroups(resolved.features, nullable, counts=resolved.wish.counts_values)
    wish = resolved.wish
    if features.compiled:
        chosen = {name: features.choice(wish, *resolved.size_of(name)) for name in resolved.windows}
        together: tuple[str, ...] = ()
        if shares and isinstance(resolved, OverPlan):
            shared = shared_ranges(resolved, features)
            if shared is not None:
                chosen, together = chosen | shared.choices, shared.names
        elif shares and isinstance(resolved, SlidePlan):
            together = tuple(name for names in shared_answers(resolved, features) for name in names)
            why = "it was asked for, and answers the windows that share slices in one pass"
            chosen |= {name: replace(chosen[name], why=why) for name in together}
        served = next(iter(chosen.values())).served
        names = tuple(map(str, features.named))
        yield Group(names, True, served.partial_bytes, chosen, together)
    for feature in features.counted:
        counted = {
            name: features.counted_choice(feature, resolved.size_of(name)[0])
            for name in resolved.windows
        }
        yield Group((str(feature),), True, 0, counted)
    for feature in features.plain:
        chosen = {
            name: features.plain_choice(feature, wish, *resolved.size_of(name))
            for name in resolved.windows
        }
        yield Group((str(feature),), False, 0, chosen)


def _of_answers(resolved: OverPlan | SlidePlan) -> Iterator[str]:
    """What `min_rows=` and `empty=` say of answers."""
    for name, window in resolved.windows.items():
        if window.min_rows is not None:
            yield f"The answers of {name} are null until it holds {window.min_rows} (min_rows)."
    if isinstance(resolved, SlidePlan) and resolved.schedules:
        yield (
            f"Windows of {listed(list(resolved.schedules))} without events are answered too, "
            "between a key's first and last window (empty='emit')."
        )


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


def _as_lists(value: Any) -> Any:
    """The same with lists in place of tuples, as JSON has them."""
    if isinstance(value, dict):
        return {name: _as_lists(each) for name, each in value.items()}
    return [_as_lists(each) for each in value] if isinstance(value, list | tuple) else value
