"""From a plan to the query that runs in each shard, and what `wr.plan` says about it."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from windrow.planning.delivery import FINAL_ONLY, Delivery
from windrow.planning.over_plan import OverPlan
from windrow.planning.slide_plan import SlidePlan
from windrow.planning.stream_plan import StreamPlan, history_kept, late_events, watermark_behind
from windrow.stream.over_stream import StreamOver
from windrow.stream.query import StreamQuery
from windrow.stream.slide_stream import StreamSlide
from windrow.stream.updates.over_updates import OverUpdates
from windrow.stream.updates.slide_updates import SlideUpdates


def query_of(
    plan: SlidePlan | OverPlan,
    nullable: AbstractSet[str],
    shards: int,
    live: bool = False,
    delivery: Delivery = FINAL_ONLY,
) -> StreamQuery:
    """The query of a plan.

    Args:
        plan: what is asked.
        nullable: the columns that may hold nulls.
        shards: among how many shards the keys are spread.
        live: whether state stays in this process, and never becomes bytes.
        delivery: how answers are given.
    """
    query = _query_of(plan, nullable, shards, live, delivery)
    query.keeps_late = delivery.side
    return query


def _query_of(
    plan: SlidePlan | OverPlan,
    nullable: AbstractSet[str],
    shards: int,
    live: bool,
    delivery: Delivery,
) -> StreamQuery:
    if isinstance(plan, SlidePlan):
        if delivery.updates:
            return SlideUpdates(plan, nullable, shards, delivery.allowed)
        return StreamSlide(plan, nullable, shards, live)
    if delivery.updates:
        return OverUpdates(plan, nullable, shards, delivery.allowed)
    return StreamOver(plan, nullable, shards, live)


def plan_stream(
    plan: SlidePlan | OverPlan,
    nullable: AbstractSet[str],
    shards: int | None,
    why_shards: str,
    *,
    delay: int | None,
    is_own: bool,
    has_history: bool,
    in_process: bool = False,
    keeps_state: bool = True,
    delivery: Delivery = FINAL_ONLY,
) -> StreamPlan:
    """What a call does with a stream.

    Args:
        plan: what is asked.
        nullable: the columns that may hold nulls.
        shards: in how many parts keys are kept; None if that is not known.
        why_shards: the reason for this number.
        delay: how far the watermark is behind, in milliseconds; None if that is not known.
        is_own: whether the stream has a watermark without the call's lateness.
        has_history: whether the stream goes on from a table.
        in_process: whether the stream is an iterator.
        keeps_state: whether a checkpoint keeps state.
        delivery: how answers are given.
    """
    query = query_of(plan, nullable, shards or 1, not keeps_state, delivery)
    call = "slide" if isinstance(plan, SlidePlan) else "over"
    description = tuple(query.description) if keeps_state else ()
    counted = ("stream.late",) if in_process else ()
    return StreamPlan(
        shards,
        why_shards,
        tuple(query.describe()),
        watermark_behind(plan.order[0], delay, is_own),
        late_events(query.is_of_moments, is_own, delivery, *counted),
        history_kept(call) if has_history else None,
        description if shards else ("the number of shards", *description[1:]),
    )
