"""Sketches are as accurate as they say, and what they answer other systems can open."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import datasketches
import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from tests.support.aggregations import sketched
from windrow.aggregations.distinct_counts import coupons
from windrow.aggregations.hashing import column_of, hash_128, two_hashes
from windrow.algebra.aggregation import Measure
from windrow.algebra.kinds import Kind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHANCE = np.random.default_rng(8)


def answered(measure: Measure, values: Any) -> Any:
    """The answer of a window of all values."""
    table = pa.table({"id": range(len(values)), "x": values})
    windows = wr.rows(len(table), every=len(table))
    found = wr.slide(table, order="id", windows=windows, aggs=measure)
    return found[measure.name][0].as_py()


# Hashes ------------------------------------------------------------------------------------------

LENGTHS = [0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 200]


def test_texts_of_every_length_are_hashed_as_spark_and_datasketches_hash_them():
    texts = ["ß水a"[: length % 4] + "x" * length for length in LENGTHS]
    expected = [sketched.two_hashes(text) for text in texts]
    assert two_hashes(pa.array(texts)).tolist() == [
        first % 2**32 << 32 | second % 2**32 for first, second in expected
    ]
    told = coupons(pa.array(texts))
    held = np.zeros(512, np.uint8)
    np.maximum.at(held, told & 511, (told >> 26).astype(np.uint8))
    assert held.tolist() == sketched.registers(texts)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["", "a", None, "aß", "x" * 40])[1:],
        pa.array([b"ab", b"cd"], pa.binary(2)),
        pa.array([1, 2**64 - 1], pa.uint64()),
        pa.array([1, None, -1], pa.int8()),
        pa.array([0.5, None, -0.0], pa.float32()),
        pa.array([True, None, False]),
        pa.array([Decimal("1.50"), None, Decimal("-0.00")]),
        pa.array([datetime(2020, 1, 1, 3), None], pa.timestamp("ms")),
        pa.array([date(2020, 1, 1)], pa.date32()),
        pa.array([timedelta(seconds=3)], pa.duration("s")),
        pa.array([8, None, 1_000], pa.int64()).cast(pa.timestamp("ns")),
        pa.array([8, -1], pa.int64()).cast(pa.timestamp("ns", "America/New_York")),
        pa.array([8, -1], pa.int64()).cast(pa.duration("ns")),
    ],
    ids=lambda column: str(column.type),
)
def test_a_value_is_hashed_alike_in_any_column_and_alone(column):
    hashed = zip(*hash_128(column), strict=True)
    for value, found in zip(column.to_pylist(), hashed, strict=True):
        if value is not None:
            (alone,) = zip(*hash_128(column_of(value)), strict=True)
            assert alone == found


def test_what_cannot_be_hashed_is_refused():
    with pytest.raises(wr.InvalidArgument, match="cannot be hashed: give a truth value, a number"):
        wr.Window(wr.approx_distinct()).insert([1, 2])
    with pytest.raises(wr.InvalidArgument, match=r"approx_distinct.* cannot take a column of type"):
        answered(wr.approx_distinct("x"), [[1], [2]])


# How many different values ------------------------------------------------------------------------


@pytest.mark.parametrize("many", [10, 400, 1500, 5000, 100_000])
def test_distinct_counts_are_as_accurate_as_those_of_datasketches(many):
    """By the root of the mean square of 40 errors, which is to be about 1.04 / sqrt(512)."""
    estimate = wr.approx_distinct.monoid_for((Kind.INTEGER,)).lower
    to_bytes = wr.approx_distinct(sketch=True).aggregation.monoid_for((Kind.INTEGER,)).lower
    ours, theirs = [], []
    for start in CHANCE.integers(2**60, size=40):
        told = coupons(pa.array(start + np.arange(many)))
        held = np.zeros(512, np.uint8)
        np.maximum.at(held, told & 511, (told >> 26).astype(np.uint8))
        ours.append(estimate(held) / many - 1)
        theirs.append(datasketches.hll_sketch.deserialize(to_bytes(held)).get_estimate() / many - 1)
    error, their_error = (float(np.sqrt(np.mean(np.square(each)))) for each in (ours, theirs))
    assert error < 1.3 * 1.04 / np.sqrt(512)
    assert error < 1.2 * their_error + 0.002


def test_a_sketch_is_joined_with_one_that_datasketches_made():
    values = [f"user {number}" for number in range(3000)]
    union = datasketches.hll_union(12)
    data = answered(wr.approx_distinct("x", error=0.02, sketch=True), values[:2000])
    union.update(datasketches.hll_sketch.deserialize(data))
    other = datasketches.hll_sketch(12, datasketches.HLL_8)
    for value in values[1000:]:
        other.update(value)
    union.update(other)
    assert union.get_estimate() == pytest.approx(3000, rel=0.05)


@pytest.mark.usefixtures("interpreted")
def test_a_smaller_error_takes_more_registers():
    assert len(answered(wr.approx_distinct("x", error=0.2, sketch=True), [1])) == 40 + 128
    assert len(answered(wr.approx_distinct("x", error=0.01, sketch=True), [1])) == 40 + 2**14
    assert answered(wr.approx_distinct("x"), pa.nulls(1, pa.int64())) == 0


@pytest.mark.parametrize("log_size", [17, 21])
def test_an_error_is_kept_up_to_the_most_registers_that_others_read(log_size: int) -> None:
    error, many = 1.04 / 2 ** (log_size / 2), 300_000
    size = 2**log_size
    told = coupons(pa.array(np.arange(many)))
    held = np.zeros(size, np.uint8)
    np.maximum.at(held, told & (size - 1), (told >> 26).astype(np.uint8))
    sketch = wr.approx_distinct(error=error, sketch=True).aggregation
    monoid = sketch.monoid_for((Kind.INTEGER,))
    assert monoid.identity.shape == (size,)
    opened = datasketches.hll_sketch.deserialize(monoid.lower(held))
    assert opened.lg_config_k == log_size
    assert opened.get_estimate() == pytest.approx(many, rel=4 * error)
    exact = wr.approx_distinct(error=error).aggregation.monoid_for((Kind.INTEGER,))
    assert exact.lower(held) == pytest.approx(many, rel=4 * error)


# Bloom filters and counts -------------------------------------------------------------------------

VALUES = {
    "integer": (np.arange(1000), np.arange(10_000, 30_000)),
    "float": (np.arange(1000) / 7, np.arange(10_000, 30_000) / 7),
    "text": ([f"user {n}" for n in range(1000)], [f"user {n}" for n in range(10_000, 30_000)]),
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("error", [0.03, 0.001])
def test_a_bloom_filter_misses_nothing_and_errs_as_rarely_as_it_says(kind, error):
    values, others = VALUES[kind]
    window = wr.bloom(capacity=1000, error=error).aggregation.monoid_for((Kind.INTEGER,))
    digest = wr.bloom.inputs[0].digest
    total = window.identity
    for lifted in map(window.lift, digest(pa.array(values))):
        total = window.combine(total, lifted)
    held = wr.BloomFilter(window.lower(total))
    assert held.contains(values).all()
    assert values[3] in held
    assert np.mean(held.contains(others)) < 1.5 * error
    assert not held.contains(pa.nulls(1, pa.int64()))[0]


def test_counts_are_never_too_small_and_too_large_as_rarely_as_datasketches_are():
    drawn = CHANCE.zipf(1.3, 5000) % 500
    exact = np.bincount(drawn, minlength=500)
    aggregation = wr.count_min(error=0.01, confidence=0.99).aggregation
    monoid = aggregation.monoid_for((Kind.INTEGER,))
    total = monoid.identity.copy()
    for lifted in map(monoid.lift, aggregation.inputs[0].digest(pa.array(drawn))):
        total += lifted
    counts = wr.CountMin(monoid.lower(total))
    found = counts.counts(np.arange(500))
    library = datasketches.count_min_sketch(7, 200)
    for value in drawn.tolist():
        library.update(value)
    theirs = np.array([library.get_estimate(value) for value in range(500)])
    assert counts.total == 5000
    assert (found >= exact).all()
    assert np.mean(found - exact > 0.01 * 5000) <= 0.01
    assert np.mean(found - exact) < 1.5 * np.mean(theirs - exact) + 1


def test_bytes_that_are_no_sketch_are_refused():
    for open_sketch, name in ((wr.BloomFilter, "Bloom filter"), (wr.CountMin, "count-min sketch")):
        for data in (b"", b"no sketch at all, but long enough to be one"):
            with pytest.raises(wr.InvalidArgument, match=f"data: .* that are no {name}"):
                open_sketch(data)


# On Spark ----------------------------------------------------------------------------------------


@pytest.mark.spark
def test_spark_opens_what_sketches_answer(spark: "SparkSession"):
    values = [f"user {number % 37}" for number in range(200)]
    table = pa.table({"id": range(200), "x": values, "n": [number % 41 for number in range(200)]})
    frame = spark.createDataFrame(table)
    question: dict[str, Any] = {"order": "id", "windows": wr.rows(100, every=100)}
    aggs = [
        wr.approx_distinct("x", sketch=True),
        wr.bloom("x", 100),
        wr.count_min("n"),
    ]
    here = wr.slide(table, **question, aggs=aggs)
    there = wr.slide(frame, **question, aggs=aggs)
    assert there.toArrow().select(here.column_names).to_pylist() == here.to_pylist()
    estimated = there.selectExpr("hll_sketch_estimate(approx_distinct_sketch_x)").collect()
    assert [row[0] for row in estimated] == pytest.approx([37, 37], abs=4)
    java = spark._jvm.org.apache.spark.util.sketch
    answers = here.to_pylist()[-1]
    bloom = java.BloomFilter.readFrom(bytearray(answers["bloom_100_x"]))
    assert all(map(bloom.mightContain, values[100:]))
    assert java.BloomFilter.create(100, 0.01).bitSize() == bloom.bitSize()
    counted = java.CountMinSketch.create(0.05, 0.95, 42)
    for number in table["n"].to_pylist()[100:]:
        counted.addLong(number)
    assert bytes(counted.toByteArray()) == answers["count_min_n"]


@pytest.mark.spark
def test_sketches_of_each_representation_on_spark_as_on_a_table(spark: "SparkSession"):
    """Python objects, a row that is finished to a struct, a list out of a row."""
    chance = np.random.default_rng(3)
    table = pa.table(
        {
            "id": range(60),
            "k": chance.integers(0, 2, 60),
            "x": chance.normal(size=60),
            "c": chance.choice(["a", "b", "c"], 60),
        }
    )
    aggs = [
        wr.approx_quantile("x", [0.1, 0.5]),
        wr.frequent_items("c", 2),
        wr.naive_bayes("c", "x"),
        wr.moment_sketch("x"),
        wr.top_k("x", 2),
    ]
    question: dict[str, Any] = {"key": "k", "order": "id", "windows": wr.rows(9), "aggs": aggs}
    here = wr.over(table, **question)
    there = wr.over(spark.createDataFrame(table), **question).toArrow().sort_by("id")
    for measure in aggs:
        assert there.schema.field(measure.name).type == here.schema.field(measure.name).type
        assert str(there[measure.name].to_pylist()) == str(here[measure.name].to_pylist())


@pytest.mark.spark
def test_spark_counts_texts_in_the_same_places(spark: "SparkSession"):
    counted = spark._jvm.org.apache.spark.util.sketch.CountMinSketch.create(0.05, 0.95, 42)
    window = wr.Window(wr.count_min())
    for text in ("ann", "bob", "ann", "ß水", "", "a longer name than the others"):
        counted.addString(text)
        window.insert(text)
    assert bytes(counted.toByteArray()) == window.query()
