"""A plan as text for people, at most 100 columns wide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from textwrap import fill
from typing import TYPE_CHECKING

from windrow.algebra.durations import words
from windrow.planning.choose import Choice
from windrow.planning.placement import Placement
from windrow.planning.slide_plan import SlidePlan
from windrow.planning.wording import counted, listed, size, time_taken
from windrow.slicing import cutty, pairs, panes
from windrow.windows.calendar_lengths import length_words

if TYPE_CHECKING:
    from windrow.planning.explain import Group, Plan

_WIDTH = 100
_MOST_WINDOWS = 8


def plan_lines(plan: Plan) -> Iterator[str]:
    """All lines of a plan."""
    resolved, stream = plan.resolved, plan.stream
    windows = "1 window" if len(resolved.windows) == 1 else f"{len(resolved.windows)} windows"
    key = f", for each {listed(resolved.key)}" if resolved.key else ""
    order = f", ordered by {listed(resolved.order)}" if resolved.order else ""
    data = "" if stream is None else " on a stream"
    yield f"{plan.call}{data}: {windows}{key}{order}"
    for group in plan.groups:
        yield ""
        yield from _group_lines(
            group, "a slice" if plan.call == "slide" else "an event", stream is None
        )
    if plan.groups and isinstance(resolved, SlidePlan):
        yield from _slice_lines(plan, resolved)
    yield from _section("Work", ((2, f"{n}. {step}") for n, step in enumerate(plan.steps, 1)))
    if plan.placement is not None:
        yield ""
        yield _placement_line(plan.placement)
    if stream is not None:
        yield from _section("State", stream.state_lines())
        yield from _section("Answers", stream.answer_lines())
        yield from _section("Checkpoint", stream.checkpoint_lines())
    if plan.notes:
        yield ""
        for note in plan.notes:
            yield fill(note, _WIDTH)


def _section(title: str, lines: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Lines under a title, each with its indent."""
    yield ""
    yield title
    for indent, line in lines:
        yield _filled(line, indent)


def _filled(line: str, indent: int) -> str:
    return fill(line, _WIDTH, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2))


# Algorithms --------------------------------------------------------------------------------------


def _group_lines(group: Group, unit: str, is_kept: bool) -> Iterator[str]:
    """The algorithms of a group; if `is_kept`, with what their windows keep of a key."""
    how = "plain Python"
    if group.compiled and not group.partial_bytes:
        how = "compiled, from the counts of values"
    elif group.compiled:
        numbers = counted(group.partial_bytes // 8)
        how = f"compiled, in one pass; a partial is {numbers} number{'s' * (numbers != '1')}"
    yield fill(f"{', '.join(group.features)}: {how}", _WIDTH, subsequent_indent="    ")
    widest = max(map(len, group.choices))
    algorithms = max(len(choice.algorithm.NAME) for choice in group.choices.values())
    for name, choice in islice(group.choices.items(), _MOST_WINDOWS):
        cost = "not measured"
        if choice.nanoseconds is not None:
            cost = f"about {time_taken(choice.nanoseconds)} {unit}"
        held = ""
        if is_kept:
            partials = f"{counted(choice.partials)} partial{'s' * (choice.partials != 1)}"
            held = f", {partials}{f', {size(choice.bytes)}' if group.compiled else ''} a key"
        if group.compiled and not group.partial_bytes:
            held = " by itself: the rows of a few windows are sorted at once"
        yield f"  {name:<{widest}}  {choice.algorithm.NAME:<{algorithms}}  {cost}{held}"
    if len(group.choices) > _MOST_WINDOWS:
        yield f"  and {len(group.choices) - _MOST_WINDOWS} more windows"
    for names, choice in _alike(group.choices):
        yield from _reasons(f"{names}: " if len(group.choices) > 1 else "", choice)


def _alike(choices: dict[str, Choice]) -> Iterator[tuple[str, Choice]]:
    """The windows that have the same algorithm, one algorithm after the other."""

    def chosen(item: tuple[str, Choice]) -> str:
        return item[1].algorithm.NAME

    for _algorithm, items in groupby(sorted(choices.items(), key=chosen), key=chosen):
        alike = list(items)
        names = [name for name, _choice in alike]
        shown = listed(names) if len(names) <= 4 else f"{', '.join(names[:3])} and the others"
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
        yield _filled(f"not {listed(names, 'or')}: {reason}", 4)


def _compared(ratio: float) -> str:
    if ratio < 1 / 1.05:
        return f"would be {1 / ratio:.1f} times as fast on average"
    return "is about as fast" if ratio < 1.05 else f"would take {ratio:.1f} times as long"


# Slices, and where it runs -----------------------------------------------------------------------


#: where the techniques cut that are not the edges of a shared plan
_CUTS: dict[str | None, str] = {
    cutty.NAME: "cut where windows begin; a slice that a window ends in is read as it is there",
    panes.NAME: "cut where windows begin or end, and at every multiple of the greatest common "
    "divisor of range and slide",
}


def _slice_lines(plan: Plan, resolved: SlidePlan) -> Iterator[str]:
    yield ""
    yield "Slices"
    for names, sharing in plan.sharing:
        if resolved.slices in _CUTS:
            line = f"{listed(names)}: {_CUTS[resolved.slices]}"
            yield fill(line, _WIDTH, initial_indent="  ", subsequent_indent="    ")
            continue
        say = words if resolved.unit_of(names[0]) == "time" else counted
        for line in sharing.why(names, say):
            yield fill(line, _WIDTH, initial_indent="  ", subsequent_indent="    ")
        diagram = sharing.diagram(names, say)
        if diagram:
            yield ""
            yield from (f"    {line}".rstrip() for line in diagram.splitlines())
    for timezone, slices in resolved.calendar_slices.items():
        names = list(resolved.calendars[timezone])
        most = max(resolved.size_of(name)[0] or 1 for name in names)
        clock = "" if timezone is None else f" of {timezone}"
        line = (
            f"{listed(names)}: slices of {length_words(slices.slide)} by the calendar{clock}, "
            f"at most {counted(most)} in a window"
        )
        yield fill(line, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    if resolved.cut_by_events:
        yield f"  {listed(resolved.cut_by_events)}: cut where the events say"
    yield from _technique_lines(plan, resolved)


def _technique_lines(plan: Plan, resolved: SlidePlan) -> Iterator[str]:
    """What the techniques take, where they differ or the call names one."""
    for name, taken in islice(plan.techniques.items(), _MOST_WINDOWS):
        if resolved.slices is None and len({tuple(each.items()) for each in taken.values()}) == 1:
            continue
        cut = resolved.slices or pairs.NAME
        each = [
            f"{technique} {counted(found['slices_per_slide'])} and "
            f"{counted(found['partials_per_window'])}"
            for technique, found in taken.items()
        ]
        why = "asked for" if resolved.slices else "the default"
        line = f"{name}: slices per slide and partials per answer: {', '.join(each)}; {cut} {why}"
        yield fill(line, _WIDTH, initial_indent="  ", subsequent_indent="    ")


def _placement_line(placement: Placement) -> str:
    where = {
        "spark": "Spark's own window operator answers it",
        "chunks": "windrow's tasks answer it, in chunks",
        "keys": "windrow's tasks answer it, key by key",
        "slices": "windrow's tasks answer it, from slices",
    }[placement.where]
    return fill(f"On Spark: {where}: {placement.why}.", _WIDTH)
