"""What contestants are called and which colour they have: the same in every plot."""

from __future__ import annotations

import hashlib
from typing import NamedTuple


class Style(NamedTuple):
    """How a contestant is drawn; peers have dashed lines."""

    label: str
    colour: str
    is_peer: bool = False


_STYLES = {
    "two_stacks_lite": Style("Two-Stacks Lite", "#1f77b4"),
    "two_stacks": Style("Two-Stacks", "#6baed6"),
    "daba_lite": Style("DABA Lite", "#d62728"),
    "daba": Style("DABA", "#ff9896"),
    "flat_fit": Style("FlatFIT", "#9467bd"),
    "finger_tree": Style("FiBA", "#2ca02c"),
    "flat_fat": Style("FlatFAT (Reactive Aggregator)", "#8c564b"),
    "base_intervals": Style("base intervals", "#c49c94"),
    "recompute": Style("recomputation", "#7f7f7f"),
    "subtract_on_evict": Style("subtract on evict", "#bcbd22"),
    "slick_deque_inv": Style("SlickDeque (Inv)", "#e6b400"),
    "slick_deque_non_inv": Style("SlickDeque (Non-Inv)", "#ff7f0e"),
    "sequential_boundary": Style("SBA", "#17becf"),
    "parallel_boundary": Style("PBA", "#08519c"),
    "log_monoid_tree": Style("Log MTA", "#74c476"),
    "amortized_monoid_tree": Style("Amortized MTA", "#006d2c"),
    "log_monoid_tree in RocksDB": Style("Log MTA in RocksDB", "#fd8d3c"),
    "amortized_monoid_tree in RocksDB": Style("Amortized MTA in RocksDB", "#a63603"),
    "wr.over": Style("wr.over, one core", "#000000"),
    "wr.over, all cores": Style("wr.over, all cores", "#444444"),
    "doubling": Style("doubling (what wr.over plans)", "#000000"),
    "C++ ring": Style("C++ ring (Two-Stacks Lite)", "#636363", is_peer=True),
    "pandas": Style("pandas", "#150458", is_peer=True),
    "Polars": Style("Polars", "#0075ff", is_peer=True),
    "DuckDB": Style("DuckDB", "#d4a800", is_peer=True),
    "bottleneck": Style("bottleneck", "#c2185b", is_peer=True),
    "numbagg": Style("numbagg", "#00897b", is_peer=True),
    "chDB": Style("chDB", "#ef6c00", is_peer=True),
    "Spark": Style("Spark", "#e25a1c", is_peer=True),
    "Pathway": Style("Pathway", "#7b1fa2", is_peer=True),
    "Flink": Style("Flink", "#e6526f", is_peer=True),
}


def style_of(series: str) -> Style:
    """The style of a contestant; one that has none gets a colour by its name.

    >>> style_of("daba").label, style_of("Polars").is_peer
    ('DABA', True)
    """
    if series in _STYLES:
        return _STYLES[series]
    digest = hashlib.sha256(series.encode()).hexdigest()
    return Style(series, f"#{int(digest[:6], 16) & 0xBFBFBF:06x}")


def label_of(series: str) -> str:
    """The name that people read; those of others are marked as peers."""
    style = style_of(series)
    return f"{style.label} (peer)" if style.is_peer else style.label
