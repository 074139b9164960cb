"""`wr.warm_up` takes the arguments of the call that it prepares, and refuses others."""

from typing import Any

import pyarrow as pa
import pytest

import windrow as wr

COLUMNS = pa.schema([("k", pa.string()), ("t", pa.timestamp("us")), ("x", pa.float64())])
ASKED: dict[str, Any] = {
    "key": "k", "order": "t", "aggs": wr.sum("x"),
    "windows": wr.time("1 hour", every="10 minutes"),
}  # fmt: skip
REVISED = {"lateness": "1 second", "emit": "updates", "allowed_lateness": "1 minute"}


@pytest.mark.parametrize(
    "more",
    [
        {**REVISED, "late": "side", "shards": 2, "checkpoint": "never/opened", "history": None},
        {**REVISED, "call": "over", "windows": wr.rows(3)},
        {"slices": "panes", "max_answers": 10**6, "schema": None},
        {"call": "as_of", "windows": wr.rows(3)},
    ],
)
def test_it_takes_what_the_call_takes(more: dict[str, Any]) -> None:
    assert wr.warm_up(COLUMNS, **{**ASKED, **more}).seconds > 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"emitt": "updates"}, "emitt: wr.slide takes no such argument"),
        ({"call": "over", "empty": "emit"}, "empty: wr.over takes no such argument"),
        ({"emit": "updates"}, "emit: is for streams; say lateness=, too"),
        ({**REVISED, "emit": "update"}, "emit: 'final' or 'updates', not 'update'"),
        ({**REVISED, "windows": wr.rows(3, every=1)}, "emit: 'updates' needs windows by a clock"),
        ({"call": "as_of", "lateness": "1 second"}, "lateness: streams of wr.as_of cannot be warm"),
    ],
)
def test_it_refuses_what_the_call_refuses(more: dict[str, Any], message: str) -> None:
    with pytest.raises(wr.InvalidArgument) as refusal:
        wr.warm_up(COLUMNS, **{**ASKED, **more})
    assert str(refusal.value).startswith(message)
