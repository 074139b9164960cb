"""A window reads as the call that makes it."""

import pytest

import windrow as wr


@pytest.mark.parametrize(
    "call",
    [
        "rows(9)",
        "rows(9, every=4)",
        "rows(5, every='20 seconds')",
        "rows(9, current=False)",
        "rows(before=5, after=4)",
        "rows(after=4)",
        "time('1 hour')",
        "time('1 hour', closed='neither', ties='peers')",
        "time(before='1 hour', after='90 seconds', closed='left')",
        "time(before='1 hour')",
        "time('1 hour', closed='both', ties='peers')",
        "time('90 seconds', every='5 seconds')",
        "time('90 seconds', every='5 seconds', offset='-2 seconds')",
        "time('1 nanosecond', every=7)",
        "delta('n', 2.5, every=2)",
        "punctuated('ends')",
        "session('20 minutes')",
    ],
)
def test_what_it_says_is_what_it_is(call: str) -> None:
    window = eval(call, vars(wr).copy())
    assert window.call() == call
