"""Lines that follow each other: partials that are rows of an array."""

from typing import Any

import numpy as np

import windrow as wr


def lift_line(value: Any, into: Any) -> None:
    into[0] = -1.0 if value < 0 else 1.0
    into[1] = value


def follow_line(older: Any, newer: Any, into: Any) -> None:
    into[0] = older[0] * newer[0]
    into[1] = newer[0] * older[1] + newer[1]


#: x -> slope * x + offset, one after the other: partials are rows of an array, order matters
LINES = wr.aggregation(
    name="line",
    identity=np.array([1.0, 0.0]),
    lift=lift_line,
    combine=follow_line,
    lower=lambda line: line[1],
    in_place=True,
)
