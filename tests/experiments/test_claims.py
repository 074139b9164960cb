"""Claims are judged by the numbers alone."""

import pytest

from windrow.experiments.claims import Alike, Better, Flat, Grows, Overtakes
from windrow.experiments.experiment import QUANTILES
from windrow.experiments.results import FigurePoints, Point


def points(**lines):
    return FigurePoints(
        [
            Point("panel", name, x, (value,))
            for name, values in lines.items()
            for x, value in values.items()
        ]
    )


@pytest.mark.parametrize(
    ("mine", "holds"),
    [
        ((20, 30), "holds"),
        ((5, 5), "does not hold"),
        ((20, 5), "in part"),
        ((9.9, 20), "holds"),
        ((10, 10.1), "a tie"),
    ],
)
def test_better_is_better_everywhere(mine, holds):
    claim = Better("fast", "mine", ["theirs"], "twice", why="because")
    found = points(mine=dict(enumerate(mine)), theirs={0: 10, 1: 10})
    verdict = claim.judge(found, higher_is_better=True)
    assert verdict.holds == holds
    assert verdict.why == ("" if holds == "holds" else "because")
    flipped = claim.judge(
        points(mine={x: 1 / each for x, each in enumerate(mine)}, theirs={0: 0.1, 1: 0.1}), False
    )
    assert flipped.holds == holds


def test_the_best_of_the_others_counts():
    found = points(mine={1: 20}, slow={1: 1}, quick={1: 40})
    verdict = Better("fast", "mine", ["slow", "quick"]).judge(found, True)
    assert verdict.holds == "does not hold"
    assert "0.50 times" in verdict.here


def test_only_the_part_of_the_axis_that_is_meant_counts():
    found = points(mine={1: 1, 64: 20}, theirs={1: 10, 64: 10})
    assert Better("fast", "mine", ["theirs"], least_x=16).judge(found, True).holds == "holds"
    assert Better("fast", "mine", ["nobody"]).judge(found, True).holds == "not measured"


def test_a_sentence_tells_where_a_claim_is_ahead_level_and_behind():
    found = points(mine={1: 20, 2: 10, 4: 5}, theirs={1: 10, 2: 10, 4: 10})
    verdict = Better("fast", "mine", ["theirs"]).judge(found, True)
    assert verdict.here == (
        "1.00 times (0.50 to 2.00); ahead at 1 of 3 places, level at 1, behind at panel at 4 (0.50)"
    )
    many = dict.fromkeys(range(1, 6), 5.0) | {9: 20.0}
    found = points(mine=many, theirs=dict.fromkeys(many, 10.0))
    here = Better("fast", "mine", ["theirs"]).judge(found, True).here
    assert "ahead at 1 of 6 places, behind at 5, furthest at panel at 1 (0.50)" in here


def test_level_at_most_places_is_no_victory():
    found = points(mine={1: 10, 2: 10, 4: 20}, theirs={1: 10, 2: 10, 4: 10})
    verdict = Better("fast", "mine", ["theirs"]).judge(found, True)
    assert (verdict.holds, "level at 2" in verdict.here) == ("in part", True)


def test_quantiles_are_compared():
    rounds = ([float(place) for place in range(len(QUANTILES) + 1)],)
    slower = ([2.0 * place for place in range(len(QUANTILES) + 1)],)
    found = FigurePoints([Point("p", "mine", 1, rounds), Point("p", "theirs", 1, slower)])
    verdict = Better("calm", "mine", ["theirs"], by=0.99).judge(found, higher_is_better=False)
    assert verdict.here.startswith("2.00 times")


def test_flat_and_grows():
    found = points(flat={16: 10, 256: 9, 4096: 12}, linear={16: 100, 256: 6.25})
    assert Flat("flat", ["flat"]).judge(found, True).holds == "holds"
    assert Flat("flat", ["flat", "linear"]).judge(found, True).holds == "in part"
    assert Grows("linear", "linear", 1.9, 2.1).judge(found, True).holds == "holds"
    assert Grows("logarithmic", "linear", 1.0, 1.3).judge(found, True).holds == "does not hold"


def test_where_one_overtakes_the_other():
    found = points(tree={4: 1, 16: 3, 64: 2, 256: 8}, again={4: 2, 16: 2, 64: 3, 256: 1})
    claim = Overtakes("breaks even", "tree", "again", 1.0, {"panel": 300.0})
    assert claim.crossing(found, "panel", True) == 256
    assert claim.judge(found, True).holds == "holds"
    assert Overtakes("by ten", "tree", "again", 10.0, {"panel": 9.0}).judge(found, True).here == (
        "panel never"
    )


def test_alike_is_within_a_factor():
    found = points(one={1: 10, 2: 10}, other={1: 11, 2: 30})
    assert Alike("same", "one", "other").judge(found, True).holds == "in part"
    assert Alike("same", "one", "other", within=4).judge(found, True).holds == "holds"
