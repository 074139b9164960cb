"""Slide policies of a `wr.Window`, several dimensions in one window, and what is refused."""

from typing import Any

import pytest
from hypothesis import given

import windrow as wr
from tests.support.over.policies import NAMES, NUMBERS, POLICIES, table, values, windows
from windrow.testing import check_policy

# Window -----------------------------------------------------------------------------------------


def test_the_running_example():
    """Villalba et al. 2019, §3.2: no more than 10 in all, and the answer is the maximum."""
    window = wr.Window(wr.max(), policy=wr.policies.at_most_sum(10))
    window.insert_many([2, 2, 3, 3])
    assert (window.query(), len(window)) == (3, 4)
    window.insert(4)
    assert (window.query(), len(window)) == (4, 3)


def test_listing_1():
    """Timestamps in milliseconds, of which an hour stays."""
    hour = wr.policy(lambda total, oldest: total - oldest >= 3_600_000, of=wr.max())
    window = wr.Window(wr.collect(), policy=hour)
    window.insert_many([0, 1_800_000, 3_599_999])
    assert len(window) == 3
    window.insert(3_600_000)
    assert window.query() == [1_800_000, 3_599_999, 3_600_000]
    window.insert(9_000_000)
    assert window.query() == [9_000_000]


def test_listing_3():
    """Each event brings the size that the window is to have."""
    sized = wr.policy(
        lambda total, oldest: total[0] - oldest[0] >= total[1],
        of=[wr.count(), wr.last("size")],
    )
    window = wr.Window([wr.collect("name")], policy=sized)
    for name, size in zip("abcdefg", [3, 3, 3, 3, 2, 5, 5], strict=True):
        window.insert({"name": name, "size": size})
        if name == "d":
            assert window.query() == {"collect_name": ["b", "c", "d"]}
        if name == "e":
            assert window.query() == {"collect_name": ["d", "e"]}
    assert window.query() == {"collect_name": list("defg")}


@given(NAMES, NUMBERS)
def test_window(name, numbers):
    policy, leaving = POLICIES[name]
    window = wr.Window([wr.collect("x"), wr.count()], policy=policy)
    for number, held in zip(numbers, windows(leaving, numbers), strict=True):
        window.insert({"x": number})
        assert len(window) == len(held)
        assert window.query() == {"collect_x": values(held), "count": len(held)}


def test_events_may_leave_a_window_by_hand_as_well():
    window = wr.Window(wr.sum(), policy=wr.policies.at_most_sum(10))
    window.insert_many([3, 3, 3])
    window.evict()
    window.insert(4)
    assert (window.query(), len(window)) == (10, 3)
    window.clear()
    window.insert(9)
    assert (window.query(), len(window)) == (9, 1)


def test_several_dimensions():
    window = wr.Window([wr.mean("speed"), wr.max("heat"), wr.arg_max("heat", "name")])
    window.insert_many(
        [{"speed": 1, "heat": 7, "name": "a"}, {"speed": None, "heat": 9, "name": "b"}]
    )
    assert window.query() == {"mean_speed": 1.0, "max_heat": 9, "arg_max_heat_name": "b"}
    window.evict()
    assert window.query() == {"mean_speed": None, "max_heat": 9, "arg_max_heat_name": "b"}


# Monotone or not --------------------------------------------------------------------------------


@given(NAMES, NUMBERS)
def test_ready_made_policies_are_monotone(name, numbers):
    check_policy(POLICIES[name][0], [{"x": number} for number in numbers])


def test_a_policy_that_is_not_monotone_is_shown():
    """A sum of numbers that may be negative lets go of a part and not of a shorter one."""
    with pytest.raises(wr.LawViolation, match=r"of the window \[-9, 8, 7\] it lets the oldest 2"):
        check_policy(wr.policies.at_most_sum(13), [-9, 8, 7])


# What is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: wr.policy(3, of=wr.max("x")), "function: give function"),
        (lambda: wr.policy(lambda total: True, of=wr.max("x")), "function: it takes two"),
        (lambda: wr.policy(max, of="x"), "of: give an aggregation"),
        (lambda: wr.policy(max, of=[]), "of: at least one"),
        (lambda: wr.policy(max, of=["x"]), "of: give aggregations"),
        (lambda: wr.policy(max, of=wr.max("x"), oldest="third"), "oldest: 'any' or 'half'"),
        (lambda: wr.policies.at_most_events(0), "events: a window holds at least 1"),
        (lambda: wr.policies.at_most_sum("ten"), "limit: a number is needed"),
        (lambda: wr.policies.at_most_span("0 seconds", "t"), "span: a window's span is more"),
        (lambda: wr.policies.adaptive(risk=1), "risk: a number between 0 and 1"),
        (lambda: wr.policies.since_max(3), "column: the name of a column"),
        (lambda: wr.policies.adaptive() | wr.policies.since_max(), "policies: one that drops"),
        (
            lambda: wr.policies.since_max(every=2) | wr.policies.since_max(),
            "every: two policies that are joined",
        ),
        (lambda: wr.Window(wr.max(), policy=wr.rows(3)), "policy: give one as"),
        (
            lambda: wr.Window(wr.max(), policy=wr.policy(max, of=wr.arg_max())),
            "policy: arg_max takes 2 inputs",
        ),
        (
            lambda: wr.Window([wr.max("x")], policy=wr.policies.since_max()),
            r"policy: max\(\) names no column",
        ),
        (lambda: wr.Window([wr.max("x"), wr.max("x")]), "two answers would be called 'max_x'"),
        (lambda: wr.Window([wr.max("x")]).insert(3), "is one mapping from columns"),
        (lambda: wr.Window([wr.max("x")]).insert({"y": 3}), "the event has no 'x'"),
    ],
)
def test_refused(make, message):
    with pytest.raises(wr.InvalidArgument, match=message):
        make()


def test_refused_over_a_table():
    def over(window: Any) -> None:
        wr.over(table([1, 2]), order="t", windows=window, aggs=[wr.count()])

    with pytest.raises(wr.InvalidArgument, match=r"in the policy's of=, there is no column 'y'"):
        over(wr.policies.since_max("y"))
    with pytest.raises(wr.InvalidArgument, match=r"in the policy's of=, max\(\) names no column"):
        over(wr.policies.since_max())
    with pytest.raises(wr.InvalidArgument, match="windows: a time window measures by a timestamp"):
        over(wr.policies.at_most_span("1 hour", "x"))
    with pytest.raises(wr.InvalidArgument, match=r"says every=, which is for wr\.slide"):
        over(wr.policies.since_max("x", every=2))
    with pytest.raises(wr.InvalidArgument, match=r"does not say when it answers; give every="):
        wr.slide(table([1]), order="t", windows=wr.policies.since_max("x"), aggs=[wr.count()])


def test_a_policy_needs_a_tree():
    message = (
        "policy: daba_lite cannot find how many events are to leave; log_monoid_tree, "
        "amortized_monoid_tree can"
    )
    with pytest.raises(wr.NotApplicable, match=message):
        wr.Window(wr.max(), policy=wr.policies.since_max(), algorithm="daba_lite").insert(1)
    window = wr.Window(wr.max(), policy=wr.policies.since_max(), algorithm="log_monoid_tree")
    window.insert_many([1, 3, 2])
    assert len(window) == 2
