"""Durations as users write them."""

from datetime import timedelta
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from windrow.algebra.durations import NANOSECONDS, nanoseconds, words

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("duration", "expected"),
    [
        ("1 nanosecond", 1),
        ("10 microseconds", 10_000),
        ("5 milliseconds", 5_000_000),
        ("1 second", SECOND),
        ("10 minutes", 600 * SECOND),
        ("1 hour", 3600 * SECOND),
        ("1 day", 86_400 * SECOND),
        ("2 weeks", 14 * 86_400 * SECOND),
        ("1 hour 30 minutes", 5400 * SECOND),
        ("1 day -1 hour", 23 * 3600 * SECOND),
        ("  90   SECONDS ", 90 * SECOND),
        ("1hour", 3600 * SECOND),
        ("interval 1 hour", 3600 * SECOND),
        ("INTERVAL 1 HOUR", 3600 * SECOND),
        ("Interval 1 Hour", 3600 * SECOND),
        ("1.5 hours", 5400 * SECOND),
        ("0.1 seconds", SECOND // 10),
        # As a float this is 64 nanoseconds off.
        ("1000000.1 days", 86_400_008_640 * SECOND),
        ("5ns", 5),
        ("10us", 10_000),
        ("10µs", 10_000),
        ("10μs", 10_000),
        ("250ms", 250_000_000),
        ("30s", 30 * SECOND),
        ("30 sec", 30 * SECOND),
        ("5min", 300 * SECOND),
        ("5 mins", 300 * SECOND),
        # A minute, as in Polars and pandas' Timedelta.
        ("1m", 60 * SECOND),
        ("1h", 3600 * SECOND),
        ("2 hrs", 7200 * SECOND),
        ("1H", 3600 * SECOND),
        ("1d", 86_400 * SECOND),
        ("1D", 86_400 * SECOND),
        ("2w", 14 * 86_400 * SECOND),
        ("1h30m15s", 5415 * SECOND),
        ("1d 12h", 36 * 3600 * SECOND),
        ("1.5h", 5400 * SECOND),
        ("interval 1h", 3600 * SECOND),
        (timedelta(hours=1), 3600 * SECOND),
        (timedelta(days=-1, microseconds=3), -86_400 * SECOND + 3_000),
        (timedelta(days=999_999_999), 999_999_999 * 86_400 * SECOND),
        (pd.Timedelta("1 day 1 ns"), 86_400 * SECOND + 1),
    ],
    ids=repr,
)
def test_what_a_duration_means(duration: Any, expected: int) -> None:
    assert nanoseconds(duration, "range") == expected


@pytest.mark.parametrize(
    ("duration", "message"),
    [
        ("", "range: '' is no duration; write a number and a unit, as in '10 minutes'"),
        ("1", "range: '1' is no duration"),
        ("hour", "range: 'hour' is no duration"),
        ("P1D", "range: 'P1D' is no duration"),
        ("1 hour, 30 minutes", "range: '1 hour, 30 minutes' is no duration"),
        ("1 fortnight", "range: 'fortnight' in '1 fortnight' is no unit; there are nanoseconds,"),
        ("1ds", "range: 'ds' in '1ds' is no unit"),
        (
            "1x",
            "range: 'x' in '1x' is no unit; there are nanoseconds, microseconds, milliseconds, "
            "seconds, minutes, hours, days, weeks, or short ns, us, ms, s, min (also m), h, d, w",
        ),
        (
            "1M",
            "range: '1M' has no fixed length, because months and years differ; use days, as in "
            "'30 days', or 1min if you mean minutes",
        ),
        ("1mo", "range: '1mo' has no fixed length, because months and years differ; use days, as"),
        ("1q", "range: '1q' has no fixed length"),
        ("1y", "range: '1y' has no fixed length"),
        ("1 month", "range: '1 month' has no fixed length, because months and years differ; use"),
        ("2 years", "range: '2 years' has no fixed length"),
        ("1 day 1 quarter", "range: '1 day 1 quarter' has no fixed length"),
        (5, "range: a duration is a string such as '10 minutes' or a timedelta, not 5"),
        (None, "range: a duration is a string such as '10 minutes' or a timedelta, not None"),
    ],
    ids=repr,
)
def test_what_is_no_duration(duration: Any, message: str) -> None:
    with pytest.raises(wr.InvalidArgument) as caught:
        nanoseconds(duration, "range")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("duration", ["1ns", "1us", "1ms", "1s", "1min", "1m", "1h", "1d", "1w"])
def test_short_units_are_those_of_pandas(duration: str) -> None:
    assert nanoseconds(duration, "range") == pd.Timedelta(duration).value


def test_short_and_long_durations_make_the_same_window() -> None:
    assert wr.time("1h", "5min") == wr.time("1 hour", "5 minutes")
    assert wr.time("1h", every="30s", offset="1s").call() == (
        "time('1 hour', every='30 seconds', offset='1 second')"
    )
    assert wr.time("1h").default_name == "time_1_hour"
    assert wr.session("30s") == wr.session("30 seconds")
    assert wr.policies.at_most_span("1d").call() == wr.policies.at_most_span("1 day").call()


@given(st.integers(1, 10**20))
def test_words_say_the_same_duration(duration: int) -> None:
    assert nanoseconds(words(duration), "range") == duration


@pytest.mark.parametrize("unit", NANOSECONDS)
def test_words_use_the_singular_for_one_alone(unit: str) -> None:
    assert words(NANOSECONDS[unit]) == f"1 {unit}"
    assert words(5 * NANOSECONDS[unit]) == f"5 {unit}s"
