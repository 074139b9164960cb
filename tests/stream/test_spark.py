"""`wr.slide` on streaming DataFrames answers what it answers on tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.slide import oracle
from tests.support.spark.types import EVERY_TYPE, ORDERED
from tests.support.stream.events import events
from tests.support.stream.files import answers_in, counted, read_stream, run_to_end, write_batches
from windrow.cli.main import main

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

WINDOWS = {
    "fast": wr.time("10 seconds", every="2 seconds"),
    "slow": wr.time("1 minute", every="15 seconds", offset="5 seconds", min_rows=5),
}
AGGS = [wr.max("x"), wr.sum("n"), wr.count("x"), wr.arg_max("x", "place"), wr.last("place")]
KEY = ["user", "zone"]
#: columns of plain values that files hold
PLAIN = [*(name for name in ORDERED if name != "clock"), "with.dot", "UPPER"]


@pytest.mark.compiled
def test_answers_are_those_of_a_table(
    streaming: "SparkSession", tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also when some shards get no more events, and events come late."""
    batches = [events(0, 100, 140, 300), events(1, 131, 170, 300), events(2, 165, 300, 50)]
    late = events(3, 100, 110, 7)
    # The watermark is 10 seconds behind the batch before: 130, 160, 290; in the end, behind all.
    write_batches(tmp_path / "events", [*batches, late, events(4, 1000, 1001, 1)])
    stream = read_stream(streaming, tmp_path / "events")
    answers = stream.transform(
        lambda frame: wr.slide(
            frame, key=KEY, order=["ts", "place"], windows=WINDOWS, aggs=AGGS, lateness="10 seconds"
        )
    )
    query = run_to_end(answers, tmp_path / "answers")
    counts = counted(query)
    assert counts["late"] == late.num_rows
    assert counts["events"] == sum(batch.num_rows for batch in batches) + late.num_rows + 1
    table = pa.concat_tables(batches)
    expected = wr.slide(table, key=KEY, order=["ts", "place"], windows=WINDOWS, aggs=AGGS)
    found = answers_in(streaming, tmp_path / "answers")
    assert found.schema.names == expected.schema.names
    ordered = found.sort_by([("window_start", "ascending")])
    oracle.assert_agrees(oracle.rows_of(expected), ordered, KEY)
    # The last event of all waits, alone.
    assert main(["state", f"{tmp_path / 'answers'}-checkpoint"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert "shards=2" in shown
    assert "window fast: time 10 seconds every 2 seconds" in shown
    rows = [line.split()[:5] for line in shown[shown.index("") + 2 :]]
    assert [row[0] for row in rows] == ["0", "1"]
    assert sum(int(row[1]) for row in rows) == 1
    assert sum(int(row[4]) for row in rows) == 1
    assert any("1970-01-01 00:16:42+00:00" in line for line in shown)
    for wrong, message in (
        ([f"{tmp_path / 'answers'}-checkpoint", "--operator", "7"],
         f"--operator: 7 is not windrow's in {tmp_path / 'answers'}-checkpoint; windrow's are 0"),
        ([str(tmp_path / "events")],
         f"checkpoint: {tmp_path / 'events'} holds no state of windrow's; its stateful operators: "
         "none"),
    ):  # fmt: skip
        assert main(["state", *wrong]) == 1
        assert capsys.readouterr().err == f"windrow state: {message}\n"


def test_names_that_windrow_has_itself(
    streaming: "SparkSession", tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A column called as one of windrow's, and two queries of one title in one of Spark's.

    A window has a name though it is the only one, and those without events are answered.
    """
    names = {"user": "Shard", "n": "payload", "x": "newest"}
    renamed = [
        batch.rename_columns([names.get(name, name) for name in batch.column_names])
        for batch in (events(0, 100, 140, 300), events(4, 1000, 1001, 40))
    ]
    write_batches(tmp_path / "events", renamed)
    stream = read_stream(streaming, tmp_path / "events")
    asked: dict[str, Any] = {
        "key": "Shard", "order": "ts", "windows": {"fast": WINDOWS["fast"]}, "empty": "emit",
        "aggs": [wr.max("newest", alias="rows"), wr.sum("payload", alias="counted")],
    }  # fmt: skip
    parts = [stream.where("Shard < 7"), stream.where("Shard >= 7")]
    one, other = (wr.slide(each, lateness="10 seconds", **asked) for each in parts)
    query = run_to_end(one.union(other), tmp_path / "answers")
    titles = sorted(query.recentProgress[0]["observedMetrics"])
    assert len(titles) == 2
    assert titles[1].startswith(titles[0].partition(" (")[0])
    expected = wr.slide(renamed[0], **asked)
    found = answers_in(streaming, tmp_path / "answers")
    by = [("window_start", "ascending"), ("Shard", "ascending")]
    assert found.sort_by(by).to_pylist() == expected.sort_by(by).to_pylist()
    assert main(["state", f"{tmp_path / 'answers'}-checkpoint"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line for line in shown if line.startswith("operator")] == ["operator 0", "operator 1"]


@pytest.mark.parametrize(
    "windows",
    [
        {"short": wr.time("5 seconds", min_rows=2), "long": wr.time("30 seconds", closed="both")},
        {
            "rows": wr.rows(5, min_rows=3, of="values"),
            "visit": wr.session("4 seconds"),
            "long": wr.time("30 seconds"),
        },
        {
            "all": wr.expanding(),
            "before": wr.time("30 seconds", closed="left"),
            "soon": wr.time(before="5 seconds", after="20 seconds"),
        },
    ],
    ids=list,
)
def test_over_gives_every_event_once(
    streaming: "SparkSession", tmp_path: Path, windows: dict[str, Any]
) -> None:
    batches = [events(10, 100, 140, 200), events(11, 131, 170, 200)]
    write_batches(tmp_path / "events", [*batches, events(12, 1000, 1001, 1)])
    asked = {
        "key": KEY, "order": ["ts", "place", "n"],
        "windows": windows, "aggs": [wr.max("x"), wr.sum("n"), wr.arg_max("x", "place")],
    }  # fmt: skip
    stream = read_stream(streaming, tmp_path / "events")
    run_to_end(wr.over(stream, lateness="10 seconds", **asked), tmp_path / "answers")
    expected = wr.over(pa.concat_tables(batches), **asked)
    found = answers_in(streaming, tmp_path / "answers")
    assert found.schema.names == expected.schema.names
    by_everything = [(name, "ascending") for name in ("ts", "user", "zone", "n", "place", "x")]
    for name in expected.schema.names:
        ours, table = found.sort_by(by_everything), expected.sort_by(by_everything)
        assert ours[name].to_pylist() == table[name].to_pylist(), name


@pytest.mark.parametrize("names", [PLAIN, ["list", "map", "struct"]])
def test_columns_of_every_type(streaming: "SparkSession", tmp_path: Path, names: list[str]) -> None:
    """Those of plain values leave as they are, nested ones as bytes."""
    columns = [f"{EVERY_TYPE[name]} AS `{name}`" for name in names]
    ids = streaming.range(41).selectExpr("id", "id % 3 AS k", *columns)
    # The last one makes the others final.
    rows = ids.selectExpr("*", "timestamp_seconds(IF(id = 40, 1000, id)) AS ts")
    rows.coalesce(1).write.parquet(str(tmp_path / "events"))
    rows = streaming.read.parquet(str(tmp_path / "events"))
    stream = streaming.readStream.schema(rows.schema).parquet(str(tmp_path / "events"))
    answers = wr.over(
        stream, key="k", order="ts", windows=wr.rows(3), aggs=wr.count(), lateness="1 second"
    )
    run_to_end(answers, tmp_path / "answers")
    found = streaming.read.parquet(str(tmp_path / "answers"))
    # The order column has a watermark, which Spark notes in files too.
    assert [(each.name, each.dataType) for each in found.schema[:-1]] == [
        (each.name, each.dataType) for each in rows.schema
    ]
    # As text, in which NaN is NaN.
    written = found.toArrow().sort_by("id"), rows.where("id < 40").toArrow().sort_by("id")
    ours, theirs = (table.select(rows.columns).to_pylist() for table in written)
    assert list(map(str, ours)) == list(map(str, theirs))


def test_windows_of_every_kind(
    streaming: "SparkSession", tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Answered from the rows of keys, also of a key that gets no more events."""
    batches = [events(20, 100, 140, 200), events(21, 131, 170, 200)]
    untimed = events(22, 131, 170, 3).set_column(0, "ts", pa.nulls(3, batches[0].schema[0].type))
    write_batches(tmp_path / "events", [*batches, untimed, events(23, 1000, 1001, 1)])
    asked: dict[str, Any] = {
        "key": KEY, "order": ["ts", "place", "n"],
        "windows": {
            "rows": wr.rows(7, every=3), "clock": wr.rows(5, every="20 seconds"),
            "visits": wr.session("4 seconds"), "far": wr.delta("n", 4, every=2),
            "periodic": wr.time("1 minute", every="15 seconds"),
            "so_far": wr.expanding(every=5), "ticks": wr.expanding(every="20 seconds"),
        },
        "aggs": [
            wr.max("x"), wr.last("place"), wr.collect("n"), wr.count(),
            wr.median("x"), wr.count_distinct("place"),
        ],
    }  # fmt: skip
    stream = read_stream(streaming, tmp_path / "events")
    query = run_to_end(wr.slide(stream, lateness="10 seconds", **asked), tmp_path / "answers")
    assert counted(query)["untimed"] == 3
    expected = wr.slide(pa.concat_tables(batches), **asked)
    found = answers_in(streaming, tmp_path / "answers")
    assert found.schema.names == expected.schema.names
    ordered = found.sort_by([("window_end", "ascending"), ("window_start", "ascending")])
    oracle.assert_agrees(oracle.rows_of(expected), ordered, KEY)
    assert main(["state", f"{tmp_path / 'answers'}-checkpoint"]) == 0
    shown = capsys.readouterr().out
    assert "rows=[user: int64, zone: string, ts: timestamp[us, tz=UTC], " in shown
    assert "1970-01-01 00:16:4" in shown


def test_a_watermark_of_its_own_and_no_key(streaming: "SparkSession", tmp_path: Path) -> None:
    batches = [events(5, 100, 140, 40), events(6, 135, 160, 40), events(7, 900, 901, 1)]
    write_batches(tmp_path / "events", batches)
    stream = read_stream(streaming, tmp_path / "events").withWatermark("ts", "30 seconds")
    asked = {"order": "ts", "windows": wr.time("20 seconds", every="5 seconds")}
    answers = wr.slide(stream, aggs=wr.mean("n"), **asked)
    run_to_end(answers, tmp_path / "answers")
    expected = wr.slide(pa.concat_tables(batches[:2]), aggs=wr.mean("n"), **asked)
    ordered = answers_in(streaming, tmp_path / "answers").sort_by([("window_start", "ascending")])
    oracle.assert_agrees(oracle.rows_of(expected), ordered, [])


def test_for_each_batch_by_the_clock(streaming: "SparkSession", tmp_path: Path) -> None:
    """A processing-time trigger, and a sink that is the user's function."""
    batches = [events(13, 100, 140, 100), events(14, 130, 170, 100), events(15, 900, 901, 1)]
    write_batches(tmp_path / "events", batches)
    asked = {"key": KEY, "order": ["ts", "place"], "windows": WINDOWS, "aggs": AGGS}
    stream = read_stream(streaming, tmp_path / "events")
    found: dict[int, pa.Table] = {}

    def take(answers: "DataFrame", number: int) -> None:
        found[number] = answers.toArrow()

    query = (
        wr.slide(stream, lateness="10 seconds", **asked)
        .writeStream.foreachBatch(take)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(processingTime="100 milliseconds")
        .start()
    )
    query.processAllAvailable()
    query.stop()
    expected = wr.slide(pa.concat_tables(batches[:2]), **asked)
    ordered = pa.concat_tables(found.values()).sort_by([("window_start", "ascending")])
    oracle.assert_agrees(oracle.rows_of(expected), ordered, KEY)


def test_another_query_on_an_old_checkpoint(streaming: "SparkSession", tmp_path: Path) -> None:
    from pyspark.errors import StreamingQueryException

    write_batches(tmp_path / "events", [events(8, 100, 140, 40)])
    stream = read_stream(streaming, tmp_path / "events")
    asked = {"key": KEY, "order": "ts", "aggs": wr.sum("n"), "lateness": "1 second"}
    run_to_end(
        wr.slide(stream, windows=wr.time("20 seconds", every="5 seconds"), **asked),
        tmp_path / "answers",
    )
    write_batches(tmp_path / "events", [events(9, 140, 150, 5)], first=1)
    for windows, shards, difference in (
        (wr.time("30 seconds", every="5 seconds"), 2, "is now window time_30_seconds="),
        (wr.time("20 seconds", every="5 seconds"), 3, "was shards=2; is now shards=3. Go on with"),
    ):
        changed = wr.slide(stream, windows=windows, shards=shards, **asked)
        with pytest.raises(StreamingQueryException, match=difference):
            run_to_end(changed, tmp_path / "answers")


def test_a_further_batch_compiles_no_java(streaming: "SparkSession", tmp_path: Path) -> None:
    """Generated code that held numbers of its batch would be compiled again with every batch."""
    metrics = streaming._jvm.org.apache.spark.metrics.source.CodegenMetrics

    def compiled(batches: int) -> int:
        folder = tmp_path / f"{batches}"
        write_batches(folder, [events(number, 100, 110, 20) for number in range(batches)])
        answers = wr.slide(
            read_stream(streaming, folder), key=KEY, order="ts", windows=WINDOWS["fast"],
            aggs=wr.max("x"), lateness="10 seconds",
        )  # fmt: skip
        before = metrics.METRIC_COMPILATION_TIME().getCount()
        run_to_end(answers, tmp_path / f"answers {batches}")
        return int(metrics.METRIC_COMPILATION_TIME().getCount() - before)

    compiled(1)
    few, more = compiled(2), compiled(7)
    assert more - few < 5
