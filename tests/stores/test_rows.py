"""Stored windows of rows: several measures, values of other columns, text and decimals."""

import contextlib
import datetime
import json
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.stores.faults import FAULTS, FaultyStore
from windrow.aggregations import CATALOGUE
from windrow.element.stored_header import HEADER_LEVEL
from windrow.element.stored_window import StoredWindow
from windrow.stores import MemoryStore, Store
from windrow.stores.blocks import VALUES_LEVEL
from windrow.stores.contract import NO_BLOCK, Key
from windrow.stores.layout import StorePlace
from windrow.stores.sealed import seal

ALGORITHMS = ["amortized_monoid_tree", "log_monoid_tree"]
TYPES = {
    "amount": "decimal128(12, 2)",
    "load": "float64",
    "count": "int64",
    "who": "string",
    "at": "timestamp[us]",
}
#: measures, and the columns that they are of; the first are numbers, the second not
NUMBERS = [
    wr.sum("count"),
    wr.mean("load"),
    wr.arg_max("count", "who"),
    wr.first("amount"),
    wr.last("who"),
    wr.m4("load", "at"),
    wr.nth("who", n=2),
    wr.count(),
    wr.count("load").alias("loads"),
]
OBJECTS = [
    wr.sum("amount"),
    wr.max("who"),
    wr.arg_min("who", "at"),
    wr.mean("load"),
    wr.last("amount"),
    wr.m4("amount", "who"),
    wr.concat("who"),
]


def types_of(measures: Any, *more: str) -> dict[str, str]:
    names = [name for measure in measures for name in measure.columns]
    return {name: TYPES[name] for name in dict.fromkeys([*names, *more])}


ROWS = st.fixed_dictionaries(
    {
        "amount": st.none() | st.decimals(-9999, 9999, places=2),
        "load": st.none() | st.integers(-100, 100).map(lambda each: each / 4),
        # Not negative: a policy of sums is not monotone otherwise.
        "count": st.none() | st.integers(0, 50),
        "who": st.none() | st.text("abcß", max_size=3),
        "at": st.none()
        | st.integers(0, 9).map(lambda day: datetime.datetime(2024, 1, 1 + day, 12)),
    }
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.lists(ROWS, min_size=1, max_size=25)),
        st.tuples(st.just("insert one"), ROWS),
        st.tuples(st.just("answer"), st.lists(ROWS, max_size=12)),
        st.tuples(st.just("evict"), st.integers(1, 100)),
        st.tuples(st.just("reopen"), st.booleans()),
    ),
    max_size=14,
)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("measures", [NUMBERS, OBJECTS], ids=["numbers", "objects"])
@pytest.mark.parametrize("slides", [False, True], ids=["", "policy"])
@given(steps=STEPS, algorithm=st.sampled_from(ALGORITHMS))
@examples(10)
def test_answers_are_those_of_a_window_in_memory(
    measures: Any, slides: bool, steps: list[tuple[str, Any]], algorithm: Any
) -> None:
    store = MemoryStore()
    policy = wr.policies.at_most_sum(60, "count") if slides else None
    more = ("count",) if slides else ()

    def opened() -> StoredWindow:
        return wr.Window.open(
            store, "w", measures, types=types_of(measures, *more), policy=policy,
            algorithm=algorithm, block=4, flush_every=9,
        )  # fmt: skip

    stored, in_memory = opened(), wr.Window(measures, policy=policy)
    for step, given_to in steps:
        if step == "evict":
            leaving = len(in_memory) * given_to // 100
            in_memory.evict_many(leaving)
            stored.evict_many(leaving)
        elif step == "reopen":
            stored.close()
            stored = wr.Window.open(store, "w", policy=policy) if given_to else opened()
        else:
            events = [given_to] if step == "insert one" else given_to
            answers = []
            for event in events:
                in_memory.insert(event)
                answers.append(in_memory.query())
            if step == "insert one":
                stored.insert(given_to)
            elif step == "insert":
                stored.insert_many(events)
            else:
                assert stored.answer_many(events).to_pylist() == answers
        assert stored.query() == in_memory.query()
        assert len(stored) == len(in_memory)


@pytest.mark.compiled
def test_compiled_windows_and_windows_of_objects_agree(store: Store) -> None:
    """On every store, with both algorithms: text makes all measures plain Python."""
    chance, size = np.random.default_rng(1), 3_000
    table = pa.table(
        {
            "count": chance.integers(0, 1000, size),
            "who": pa.array(chance.integers(0, 500, size)).cast(pa.string()),
        }
    )
    measures = [wr.max("count"), wr.arg_max("count", "who"), wr.first("who")]
    policy = wr.policies.at_most_sum(20_000, "count")
    answers = []
    for number, algorithm in enumerate([*ALGORITHMS, "log_monoid_tree"]):
        own = [*measures, wr.max("who")] if number == 2 else measures
        window = wr.Window.open(
            store, f"w{number}", own, types=types_of(measures), policy=policy, block=16,
            algorithm=algorithm, flush_every=700,
        )  # fmt: skip
        with window:
            found = window.answer_many(table)
        with wr.Window.open(store, f"w{number}", own, policy=policy) as window:
            assert window.query() == found.slice(size - 1).to_pylist()[0]
        answers.append(found.select(["max_count", "arg_max_count_who", "first_who"]))
    assert answers[0] == answers[1] == answers[2]
    # Values of events that have left are deleted.
    assert len(store.blocks("w0", VALUES_LEVEL, 0, NO_BLOCK)) <= 20


@pytest.mark.usefixtures("interpreted")
def test_decimals_and_text_of_one_aggregation() -> None:
    store = MemoryStore()
    amounts = [Decimal("10.25"), None, Decimal("-3.50"), Decimal("99999999999999999999.75")] * 9
    kinds: list[tuple[Any, str, list[Any], Any]] = [
        (wr.sum(), "decimal128(24, 2)", amounts, sum(each for each in amounts if each)),
        (wr.max(), "decimal256(60, 2)", amounts, amounts[3]),
        (wr.min(), "string", ["b", "", None, "a"] * 9, ""),
        (wr.first(), "large_string", [None, "b", "a"] * 9, "b"),
        (wr.last(), "binary", [b"1", b"\x00", None] * 9, b"\x00"),
        (wr.concat(), "string", list("sliding windows"), "sliding windows"),
        (wr.collect(), "date32[day]", [datetime.date(2024, 1, 2)], [datetime.date(2024, 1, 2)]),
    ]
    for number, (aggregation, data_type, events, answer) in enumerate(kinds):
        name = f"w{number}"
        with wr.Window.open(store, name, aggregation, types=data_type, block=4) as window:
            window.insert_many(events[: len(events) // 2])
            for event in events[len(events) // 2 :]:
                window.insert(event)
            assert window.query() == answer
        with wr.Window.open(store, name) as window:
            assert (window.query(), len(window)) == (answer, len(events))


#: columns that an aggregation may take, one or two
INPUTS = (["f"], ["i"], ["b"], ["s"], ["f", "t"], ["i", "s"], ["f", "i"], ["i", "b"], ["s", "i"])


@pytest.mark.usefixtures("interpreted")
@pytest.mark.filterwarnings("ignore::windrow.errors.PlainPythonWarning")
def test_the_catalogue_beside_text() -> None:
    """Text beside a measure of numbers makes it plain Python, with the same answers."""
    chance, size = np.random.default_rng(0), 30
    absent = chance.random((3, size)) < 0.2
    columns = {
        "f": pa.array(chance.normal(size=size), mask=absent[0]),
        "i": pa.array(chance.integers(0, 9, size), mask=absent[1]),
        "b": pa.array(chance.random(size) > 0.5, mask=absent[2]),
        "t": pa.array(np.arange(size)).cast(pa.timestamp("us")),
        "s": pa.array(chance.integers(0, 9, size)).cast(pa.string()),
    }
    events, asked = pa.table(columns), 0
    for aggregation in CATALOGUE.values():
        for names in INPUTS:
            try:
                own = aggregation(*names).alias("own")
                types = {name: columns[name].type for name in [*names, "s"]}
                together = [own, wr.max("s").alias("text")]
                store = MemoryStore()
                windows = [
                    wr.Window.open(
                        store, "alone", [own], types={name: types[name] for name in names}, block=4
                    ),
                    wr.Window.open(store, "beside", together, types=types, block=4),
                ]
            except wr.WindrowError:  # other inputs, or about all values
                continue
            found = []
            for window in windows:
                window.insert_many(events)
                window.evict_many(7)
                window.close()
                name = window._key.namespace
                found.append(wr.Window.open(store, name).query()["own"])
            assert aggregation.equal(*found), (own, found)
            asked += 1
            break
    assert asked > 60


@pytest.mark.usefixtures("interpreted")
def test_the_answer_is_kept_until_an_event_comes_or_leaves() -> None:
    """Villalba et al. 2019, §5.2."""
    combined = 0

    def counted(older: int, newer: int) -> int:
        nonlocal combined
        combined += 1
        return older + newer

    counting = wr.aggregation(name="counted", identity=0, lift=lambda x: x, combine=counted)
    window = wr.Window.open(MemoryStore(), "w", counting, types="int64", block=4)
    changes: list[Any] = [
        lambda: window.insert_many(range(50)),
        lambda: window.insert(1),
        window.evict,
        lambda: window.evict_many(7),
        lambda: window.answer_many([3]),
    ]
    for change in changes:
        change()
        answer = window.query()
        combined = 0
        window.flush()
        window.insert_many([])
        window.evict_many(0)
        assert window.query() == answer
        assert not combined
        window.insert_many([1])
        assert window.query() == answer + 1
        assert combined
    lists = wr.Window.open(MemoryStore(), "w", wr.top_k(k=2))
    lists.insert(1)
    lists.query().append(5)
    assert lists.query() == [1.0]


@pytest.mark.usefixtures("interpreted")
@given(
    st.lists(st.lists(ROWS, max_size=20), min_size=1, max_size=5),
    st.lists(st.sampled_from([None, None, *FAULTS]), max_size=40),
    st.sampled_from([NUMBERS, OBJECTS]),
    st.sampled_from(ALGORITHMS),
)
@examples(15)
def test_a_store_that_fails(
    pieces: list[list[Any]], faults: list[str | None], measures: Any, algorithm: Any
) -> None:
    store = FaultyStore()
    policy = wr.policies.at_most_events(15)
    stored = wr.Window.open(
        store, "w", measures, types=types_of(measures), policy=policy, block=4,
        algorithm=algorithm, flush_every=None, flush_seconds=None,
    )  # fmt: skip
    in_memory = wr.Window(measures, policy=policy)
    store.faults = iter(faults)
    for events in pieces:
        before = stored.inserted
        try:
            stored.answer_many(events)
            stored.flush()
            stored.query()
        except wr.StoreError:
            pass
        in_memory.insert_many(events[: stored.inserted - before])
    store.faults = iter(())
    assert stored.query() == in_memory.query()
    stored.close()
    assert wr.Window.open(store, "w", policy=policy).query() == in_memory.query()


@pytest.mark.usefixtures("interpreted")
class TestEvents:
    def test_of_many_shapes(self) -> None:
        measures = [wr.sum("x").alias("total"), wr.last("y")]
        types = {"y": "string", "x": "int64"}
        window = wr.Window.open(MemoryStore(), "w", measures, types=types)
        window.insert({"x": 1, "y": "a", "other": object()})
        window.insert_many([{"y": "b", "x": 2}])
        window.insert_many(pa.table({"other": [0], "x": [4], "y": ["c"]}))
        window.insert_many({"x": np.array([8]), "y": ["d"]})
        assert window.query() == {"total": 15, "last_y": "d"}
        answers = window.answer_many({"x": [16, 32], "y": ["e", None]})
        assert answers.to_pydict() == {"total": [31, 63], "last_y": ["e", "e"]}
        assert window.answer_many([]).schema == answers.schema
        assert repr(window).startswith("<Window of 6 events: sum(x), last(y), 'w' in")

    @pytest.mark.parametrize(
        ("event", "reason"),
        [
            ((1, 2), "is one mapping from columns to values"),
            ((3,), "is one mapping from columns to values"),
            (({"x": 1},), "insert: the event has no 'y'; it has 'x'"),
            (({"x": "a", "y": 1},), "the window's x is double, and these values cannot be"),
        ],
    )
    def test_that_are_refused(self, event: Any, reason: str) -> None:
        window = wr.Window.open(MemoryStore(), "w", [wr.sum("x"), wr.max("y")])
        with pytest.raises(wr.InvalidArgument, match=reason):
            window.insert(*event)
        assert window.query() == {"sum_x": None, "max_y": None}

    def test_columns_of_different_lengths(self) -> None:
        window = wr.Window.open(MemoryStore(), "w", [wr.sum("x"), wr.max("y")])
        with pytest.raises(wr.InvalidArgument, match="different lengths: 2, 1"):
            window.insert_many({"x": [1, 2], "y": [1]})
        with pytest.raises(wr.InvalidArgument, match="events: the table has no 'y'; it has 'x'"):
            window.insert_many(pa.table({"x": [1]}))


@pytest.mark.usefixtures("interpreted")
class TestRefused:
    @pytest.mark.parametrize(
        ("measures", "options", "reason"),
        [
            ([], {}, "aggregation: give an aggregation such as wr.max"),
            ("max", {}, "aggregation: give an aggregation such as wr.max"),
            ([wr.count()], {}, "the measures name no column"),
            ([wr.max(), wr.sum("x")], {}, "names no column, and the window's events are rows"),
            ([wr.max("x"), wr.max("x")], {}, "two answers would be called 'max_x'"),
            ([wr.max("x").where("y > 1")], {}, "a condition on columns is for"),
            ([wr.max("x")], {"types": {"y": "int64"}}, "types: the columns of the events are 'x'"),
            ([wr.max("x")], {"types": ["int64"]}, "types: the columns of the events are 'x'"),
            ([wr.max("x")], {"policy": wr.policies.since_max()}, "policy: max.. names no column"),
        ],
    )
    def test_what_cannot_be(self, measures: Any, options: Any, reason: str) -> None:
        with pytest.raises(wr.InvalidArgument, match=reason):
            wr.Window.open(MemoryStore(), "w", measures, **options)

    def test_a_policy_of_values(self) -> None:
        policy = wr.policy(lambda total, oldest: total != oldest, of=wr.last("x"))
        with pytest.raises(wr.NotApplicable, match="policy: last answers with the value of an"):
            wr.Window.open(MemoryStore(), "w", [wr.max("x")], policy=policy)

    @pytest.mark.parametrize(
        ("measures", "types", "options", "reason"),
        [
            ([wr.max("x")], {"x": "int64"}, {}, r"stored with measures \['max_x', 'last_y'\]"),
            ([wr.max("x"), wr.last("z").alias("last_y")], {"x": "int64", "z": "string"}, {},
             r"stored with columns \['y'\], not \['z'\]"),
            ([wr.min("x").alias("max_x"), wr.last("y")], None, {}, "aggregation 'max', not 'min'"),
            (None, {"x": "int64", "y": "binary"}, {}, "stored with types"),
            (None, None, {"algorithm": "log_monoid_tree"}, "algorithm 'amortized_monoid_tree'"),
            (wr.max(), "int64", {}, "stored with measures"),
        ],
    )  # fmt: skip
    def test_another_window(self, measures: Any, types: Any, options: Any, reason: str) -> None:
        store = MemoryStore()
        wr.Window.open(store, "w", [wr.max("x"), wr.last("y")], types={"x": "int64", "y": "string"})
        with pytest.raises(wr.InvalidArgument, match=reason):
            wr.Window.open(store, "w", measures, types=types, **options)

    @pytest.mark.filterwarnings("ignore::windrow.errors.PlainPythonWarning")
    def test_partials_that_are_objects(self) -> None:
        class Total:
            def __init__(self, text: str) -> None:
                self.text = text

        total = wr.aggregation(
            name="total",
            identity=Total(""),
            lift=Total,
            combine=lambda older, newer: Total(older.text + newer.text),
            lower=lambda partial: partial.text,
            output=pa.string(),
        )
        window = wr.Window.open(MemoryStore(), "w", total, types="string")
        with pytest.raises(wr.InvalidAggregation, match=r"a store keeps partials of .* is a Total"):
            window.insert_many(["a"])
        assert len(window) == 0

    @pytest.mark.filterwarnings("ignore::windrow.errors.PlainPythonWarning")
    def test_plain_partials_of_ones_own(self) -> None:
        longest = wr.aggregation(
            name="longest",
            identity=("", 0),
            lift=lambda text: (text, 1),
            combine=lambda older, newer: (max(older[0], newer[0], key=len), older[1] + newer[1]),
            lower=lambda partial: partial[0],
            output=pa.string(),
        )
        store = MemoryStore()
        with wr.Window.open(store, "w", longest, types="string", block=4) as window:
            window.insert_many(["a", "bcd", "ef"] * 10)
        with wr.Window.open(store, "w", longest) as window:
            window.evict_many(29)
            assert window.query() == "ef"


def test_headers_from_before_are_read(interpreted: None) -> None:
    """A window had one aggregation and one algorithm, and no values."""
    store, key = MemoryStore(), Key("w", HEADER_LEVEL, 0)
    with wr.Window.open(store, "w", wr.mean(), block=4) as window:
        window.insert_many(np.arange(100.0))
        window.evict_many(30)
        answer = window.query()
    (value,) = store.get_many([key])
    assert value is not None
    length = int.from_bytes(value[9:13])
    text, rest = json.loads(value[13 : 13 + length]), value[13 + length :]
    assert text.pop("values") == 0
    (measure,) = text["description"].pop("measures")
    del measure["columns"], measure["name"]
    del text["description"]["columns"], text["description"]["algorithm"]
    text["description"] |= measure
    assert sorted(text["description"]) == [
        "aggregation", "bits", "called", "code", "fields", "nulls", "parameters", "policy",
        "python", "types",
    ]  # fmt: skip
    encoded = json.dumps(text).encode()
    old = seal(StorePlace(store, key), len(encoded).to_bytes(4) + encoded + rest)
    store.put_many({key: old})
    with wr.Window.open(store, "w") as window:
        assert (window.query(), len(window)) == (answer, 70)


@pytest.mark.usefixtures("interpreted")
class TestHostileBytes:
    """Blocks of values and of objects are refused like those of numbers."""

    def filled(self, measures: Any) -> tuple[MemoryStore, StoredWindow]:
        store = MemoryStore()
        types = types_of(measures)
        with wr.Window.open(store, "w", measures, types=types, block=4) as window:
            window.insert_many(
                {"who": list("abcdefghijk"), "count": range(11), "amount": [Decimal(1)] * 11}
            )
            window.evict()  # what never evicted reads nothing
        return store, wr.Window.open(store, "w")

    @pytest.mark.parametrize(
        ("measures", "level"),
        [
            ([wr.first("who"), wr.sum("count")], VALUES_LEVEL),
            ([wr.max("who"), wr.sum("amount")], 0),
        ],
    )
    def test_any_bytes(self, measures: Any, level: int) -> None:
        store, window = self.filled(measures)
        key = Key("w", level, 0)
        (value,) = store.get_many([key])
        assert value is not None
        mark, body = value[9:17], value[17:]
        place = StorePlace(store, key)
        noises = [b"", b"n", b"[\x00", b"[\x04nnnn"[:-1], body[:-9], body + bytes(8), bytes(64)]
        for bit in range(0, 8 * len(body), 29):
            flipped = bytearray(body)
            flipped[bit // 8] ^= 1 << bit % 8
            noises.append(bytes(flipped))
        for noise in noises:
            store.put_many({key: seal(place, mark + noise)})
            window = wr.Window.open(store, "w")
            # Bytes of the right layout are other values, as with numbers; text for a number fails.
            expected = (wr.WindrowError, TypeError) if level == 0 else wr.WindrowError
            with contextlib.suppress(expected):
                window.query()
        for noise in noises[:7]:
            store.put_many({key: seal(place, mark + noise)})
            with pytest.raises(wr.StoreError, match=f"corrupt bytes at 'w' level {level}"):
                wr.Window.open(store, "w").query()

    def test_header_without_its_values(self) -> None:
        store, _window = self.filled([wr.first("who"), wr.sum("count")])
        key = Key("w", HEADER_LEVEL, 0)
        (value,) = store.get_many([key])
        assert value is not None
        length = int.from_bytes(value[9:13])
        text = json.loads(value[13 : 13 + length])
        rest = value[13 + length :]
        for values, kept in ((10**6, rest), (-1, rest), ("1", rest), (0, rest), (8, rest[:-8])):
            encoded = json.dumps({**text, "values": values}).encode()
            changed = seal(StorePlace(store, key), len(encoded).to_bytes(4) + encoded + kept)
            store.put_many({key: changed})
            with pytest.raises(wr.StoreError, match="at 'w' level 255"):
                wr.Window.open(store, "w")
