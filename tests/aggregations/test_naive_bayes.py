"""Naive Bayes learns from the events before the newest, and judges it."""

import math

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr


def judged(window: wr.Window) -> dict[object, float]:
    return {each["label"]: each["probability"] for each in window.query()}


def test_two_clouds_are_told_apart_and_those_between_are_not():
    chance = np.random.default_rng(6)
    window = wr.Window(wr.naive_bayes("cloud", "x", "y"))
    for _ in range(300):
        window.insert("left", chance.normal(-1), chance.normal(0))
        window.insert("right", chance.normal(1), chance.normal(0))
    window.insert(None, -2.0, 0.0)
    # Of two normal distributions one apart from zero, the odds at x are exp(2 x) to one.
    assert judged(window)["left"] == pytest.approx(1 / (1 + math.exp(-4)), abs=0.02)
    window.insert(None, 0.0, 0.0)
    assert judged(window)["left"] == pytest.approx(0.5, abs=0.05)


def test_texts_are_counted_once_more_than_they_came():
    window = wr.Window(wr.naive_bayes("spam", "word"))
    window.insert_many([(True, "win"), (True, "win"), (False, "lunch"), (None, "win")])
    # Two classes of two and one of three events; two words: 3/4 and 1/3 are likely to be "win".
    spam, ham = 2 / 3 * 3 / 4, 1 / 3 * 1 / 3
    assert judged(window) == {
        True: pytest.approx(spam / (spam + ham)),
        False: pytest.approx(ham / (spam + ham)),
    }


def test_an_event_is_not_judged_by_its_own_class():
    window = wr.Window(wr.naive_bayes())
    window.insert("a", 1.0)
    assert window.query() is None
    window.insert("b", 1.0)
    assert judged(window) == {"a": 1.0}
    window.evict()
    assert window.query() is None


@pytest.mark.usefixtures("interpreted")
def test_rows_without_a_class_are_judged_and_rows_without_a_feature_are_left_out():
    table = pa.table(
        {
            "id": range(6),
            "class": ["a", "b", None, "a", None, None],
            "x": [0.0, 9.0, 0.5, None, 8.0, math.nan],
        }
    )
    found = wr.over(table, order="id", windows=wr.rows(6), aggs=wr.naive_bayes("class", "x"))
    answers = [
        None if each is None else [(row["label"], round(row["probability"], 6)) for row in each]
        for each in found["naive_bayes_class_x"].to_pylist()
    ]
    assert answers[0] is None
    assert answers[1] == [("a", 1.0)]
    assert answers[2] == [("a", 1.0), ("b", 0.0)]
    assert answers[3] == answers[2]
    assert answers[4] == [("b", 1.0), ("a", 0.0)]
    assert answers[5] == [("a", 0.5), ("b", 0.5)]


def test_columns_are_checked():
    when = pa.array([1], pa.timestamp("s"))
    table = pa.table({"class": [1.5], "kind": ["a"], "x": [1.0], "when": when})
    with pytest.raises(wr.InvalidArgument, match=r"naive_bayes\('class'\) cannot take .* double"):
        wr.over(table, windows=wr.rows(2), aggs=wr.naive_bayes("class", "x"))
    with pytest.raises(wr.InvalidArgument, match=r"naive_bayes\('when'\) cannot take"):
        wr.over(table, windows=wr.rows(2), aggs=wr.naive_bayes("kind", "x", "when"))
    with pytest.raises(wr.InvalidArgument, match=r"takes 2 columns \(label, feature\), not 1"):
        wr.naive_bayes("class")
