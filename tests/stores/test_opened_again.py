"""A window in a store is opened as what it was, and as nothing else."""

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from tests.support.stores.affine import AFFINE, expected, lift, open_window
from windrow.element.stored_window import StoredWindow
from windrow.stores import MemoryStore, Store


@pytest.fixture
def stored(interpreted: None) -> Store:
    store = MemoryStore()
    with open_window(store) as window:
        window.insert_many([1, 2, 3])
    return store


class TestRefused:
    def test_another_aggregation(self, stored: Store) -> None:
        with pytest.raises(wr.InvalidArgument, match="stored with aggregation 'affine', not 'sum'"):
            wr.Window.open(stored, "w", wr.sum(), types="int64")

    def test_other_types(self, stored: Store) -> None:
        with pytest.raises(wr.InvalidArgument, match=r"stored with types \['int64'\], not"):
            wr.Window.open(stored, "w", AFFINE, types="int32")

    def test_another_function_of_the_same_name(self, stored: Store) -> None:
        other = wr.aggregation(
            name="affine",
            identity=(1, 0),
            lift=lift,
            combine=lambda older, newer: (older[0] * newer[0], newer[0] * older[1] + newer[1]),
            lower=lambda line: line[1],
        )
        with pytest.raises(wr.InvalidArgument, match="was stored with code"):
            wr.Window.open(stored, "w", other, types="int64")

    def test_an_aggregation_that_is_not_known(self, stored: Store) -> None:
        with pytest.raises(wr.InvalidArgument, match="affine is an aggregation of your own"):
            wr.Window.open(stored, "w")
        with pytest.raises(wr.InvalidArgument, match="no window 'new' is in the store yet"):
            wr.Window.open(stored, "new")

    @pytest.mark.parametrize(
        ("aggregation", "types", "reason"),
        [
            (wr.median, "float64", "a sketch, such as"),
            (wr.count_distinct, "string", "is about all values of the window"),
        ],
        ids=["median", "count_distinct"],
    )
    def test_what_has_no_partials(self, aggregation: Any, types: Any, reason: str) -> None:
        with pytest.raises(wr.NotApplicable, match=reason):
            wr.Window.open(MemoryStore(), "w", aggregation, types=types)

    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            ({"block": 6}, "block: give a power of two from 4 to 65536"),
            ({"block": 2**17}, "block: give a power of two"),
            ({"flush_every": 0}, "flush_every: give a number from 1 on"),
            ({"flush_seconds": -1}, "flush_seconds: give a number from 0 on"),
            ({"flush_every": "often"}, "flush_every: give a number from 1 on"),
            ({"types": "flaot64"}, "types: 'flaot64' is no Arrow type"),
            ({"types": ["int64", "int64"]}, "types: sum has the inputs"),
            ({"types": {"value": "int64"}}, "types: the events of sum have no named columns"),
            ({"types": pa.list_(pa.int64())}, "types: a store takes numbers, times"),
            ({"types": "string"}, r"aggregation: sum\('value'\) cannot take a column of type str"),
            (
                {"algorithm": "two_stacks"},
                "algorithm: windows in stores have amortized_monoid_tree",
            ),
        ],
    )
    def test_options_that_cannot_be(self, options: Any, reason: str) -> None:
        with pytest.raises(wr.InvalidArgument, match=reason):
            wr.Window.open(MemoryStore(), "w", wr.sum(), **options)

    @pytest.mark.parametrize("value", ["1", 1.5, 2**70, [1]])
    def test_values_of_other_types(self, stored: Store, value: Any) -> None:
        window = open_window(stored)
        with pytest.raises(wr.InvalidArgument, match="the window's value is int64"):
            window.insert(value)
        with pytest.raises(wr.InvalidArgument, match="the window's value is int64"):
            window.insert_many([value])
        assert window.query() == expected([1, 2, 3])

    def test_more_evictions_than_events(self, stored: Store) -> None:
        window = open_window(stored)
        with pytest.raises(wr.EmptyWindow, match="4 events are to leave, but the window holds 3"):
            window.evict_many(4)
        window.clear()
        with pytest.raises(wr.EmptyWindow, match="the window holds no events"):
            window.evict()

    def test_a_window_that_is_closed(self, stored: Store) -> None:
        window = open_window(stored)
        window.insert(4)
        window.close()
        window.close()
        uses: list[Callable[[], object]] = [
            lambda: window.insert(1),
            lambda: window.insert_many([1]),
            lambda: window.answer_many([1]),
            window.evict,
            lambda: window.evict_many(0),
            window.clear,
            window.query,
            window.flush,
            window.__enter__,
            lambda: len(window),
        ]
        for use in uses:
            with pytest.raises(wr.StoreError, match=r"the window 'w' in <Mem.* is closed; open it"):
                use()
        assert (window.inserted, window.recovered) == (4, 3)
        assert repr(window).startswith("<Closed window: affine, 'w' in <Mem")
        assert open_window(stored).query() == expected([1, 2, 3, 4])

    def test_a_window_that_is_open_twice(self, stored: Store) -> None:
        first, second = open_window(stored), open_window(stored)
        first.insert_many([5] * 100)
        with pytest.raises(wr.StoreError, match="opened again since"):
            first.flush()
        assert second.query() == expected([1, 2, 3])


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    "data_type", [pa.timestamp("us", "Europe/Berlin"), pa.timestamp("s"), pa.date32(), pa.int32()]
)
def test_a_window_knows_its_types(data_type: pa.DataType) -> None:
    store = MemoryStore()
    integers = pa.int64() if data_type.bit_width == 64 else pa.int32()
    events = pa.array([3, 5, 4], integers).view(data_type)
    with wr.Window.open(store, "w", wr.max(), types=data_type) as window:
        window.insert_many(events)
    assert wr.Window.open(store, "w").query() == events[1].as_py()


#: each with what it is asked of, and the same with another parameter
PARAMETERS: list[tuple[wr.Measure, wr.Measure, Any]] = [
    (wr.ewm_mean(half_life=100), wr.ewm_mean(half_life=1), "float64"),
    (
        wr.ewm_mean(half_life="10 seconds"),
        wr.ewm_mean(half_life="1 second"),
        ["float64", "timestamp[us]"],
    ),
    (
        wr.ewm_mean(half_life=datetime.timedelta(hours=1)),
        wr.ewm_mean(half_life=datetime.timedelta(hours=2)),
        ["float64", "timestamp[s]"],
    ),
    (wr.top_k(k=5), wr.top_k(k=np.int64(4)), "int64"),
    (wr.bottom_k(k=np.int64(2)), wr.top_k(k=2), "float64"),
    (wr.longest_run_above(threshold=0.5), wr.longest_run_above(threshold=0.6), "float64"),
    (wr.variance(population=True), wr.variance(), "float64"),
    (wr.variance(population=False), wr.variance(population=True), "float64"),
    (wr.approx_distinct(error=0.2), wr.approx_distinct(error=0.1), "int64"),
    (wr.approx_distinct(error=0.2, sketch=True), wr.approx_distinct(sketch=True), "int64"),
    (wr.bloom(capacity=100), wr.bloom(capacity=100, error=0.2), "int64"),
    (wr.count_min(error=0.2), wr.count_min(error=0.2, confidence=0.5), "int64"),
    (wr.moment_sketch(q=[0.25, 0.5]), wr.moment_sketch(q=0.25), "float64"),
]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("measure", "other", "types"), PARAMETERS, ids=lambda each: str(getattr(each, "name", ""))
)
def test_parameters_are_stored(measure: wr.Measure, other: wr.Measure, types: Any) -> None:
    store, one_input = MemoryStore(), isinstance(types, str)
    numbers = [3, 5, 4, 1, 5, 2]
    times = [datetime.datetime(2024, 1, 1, 0, 0, 2 * second) for second in range(6)]
    with wr.Window.open(store, "w", measure, types=types, block=4) as window:
        window.insert_many(numbers if one_input else list(zip(numbers, times, strict=True)))
        answer = window.query()
    for again in (None, measure):
        with wr.Window.open(store, "w", again) as window:
            assert window.query() == answer
    with pytest.raises(wr.InvalidArgument, match=r"was stored with (aggregation|parameters)"):
        wr.Window.open(store, "w", other)


@pytest.mark.usefixtures("interpreted")
def test_parameters_of_a_policy_are_stored() -> None:
    def policy(half_life: int) -> Any:
        below = wr.ewm_mean(half_life=half_life)
        return wr.policy(lambda total, oldest: oldest < total, of=below)

    store = MemoryStore()
    with wr.Window.open(store, "w", wr.sum(), policy=policy(5)) as window:
        window.insert_many([1.0, 2.0])
    with wr.Window.open(store, "w", policy=policy(5)) as window:
        assert window.recovered == 2
    with pytest.raises(wr.InvalidArgument, match=r"policy of ewm_mean\(half_life=5\)', not"):
        wr.Window.open(store, "w", policy=policy(6))


@pytest.mark.usefixtures("interpreted")
def test_functions_that_a_policy_asks_are_compared() -> None:
    def policy(step: int) -> Any:
        counted = wr.aggregation(
            name="counted", identity=0, lift=lambda value: step, combine=lambda a, b: a + b
        )
        return wr.policy(lambda total, oldest: total - oldest >= 4, of=counted())

    store = MemoryStore()
    with wr.Window.open(store, "w", wr.sum(), policy=policy(1)) as window:
        window.insert_many([1.0, 2.0])
    with pytest.raises(wr.InvalidArgument, match="was stored with code"):
        wr.Window.open(store, "w", policy=policy(2))


def test_a_folder_is_opened_and_closed_with_its_window(tmp_path: Path, interpreted: None) -> None:
    for count in (0, 3, 6):
        window: StoredWindow
        with wr.Window.open(tmp_path / "folder", "w", wr.sum()) as window:
            assert window.recovered == count
            window.insert_many([1.0, 2.0, 3.0])
    with wr.Window.open(str(tmp_path / "folder"), "w") as window:
        assert window.query() == 18.0
        assert repr(window).startswith("<Window of 9 events: sum, 'w' in <RocksDBStore")
