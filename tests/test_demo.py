"""The demo: its readings are what it says they are, and it runs from end to end."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import windrow as wr
from windrow.cli import live, plant, sensors, table
from windrow.cli.figures import Batch, Figures
from windrow.cli.main import main
from windrow.cli.sink import CommittedFiles
from windrow.cli.view import Lines, Screen, view_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def readings() -> pa.Table:
    return pa.concat_tables(sensors.readings(400_000, machines=4))


def of_machine(readings: pa.Table, machine: str) -> pa.Table:
    return readings.filter(pc.equal(readings["machine"], machine))


def test_the_readings_have_the_schema_and_the_count_asked_for(readings: pa.Table) -> None:
    assert readings.schema == sensors.SCHEMA
    assert readings.num_rows == 400_000
    assert len(readings["machine"].unique()) == 4


@pytest.mark.parametrize("rows", [1, 3, 10, 20_001])
def test_any_number_of_readings_can_be_made(rows: int) -> None:
    tables = list(sensors.readings(rows, machines=4, chunk_rows=5_000))
    assert sum(table.num_rows for table in tables) == rows
    assert all(table["ts"].to_pylist() == sorted(table["ts"].to_pylist()) for table in tables)


def test_the_moments_of_a_machine_are_distinct_and_rise(readings: pa.Table) -> None:
    for machine in readings["machine"].unique().to_pylist():
        steps = np.diff(of_machine(readings, machine)["ts"].cast("int64").to_numpy())
        assert steps.min() > 0
        assert np.median(steps) == pytest.approx(sensors.PERIOD_US, rel=0.01)


def test_there_are_gaps_bursts_and_nulls(readings: pa.Table) -> None:
    steps = np.diff(of_machine(readings, "press-1")["ts"].cast("int64").to_numpy())
    assert steps.max() > 5_000_000
    assert (steps < 1_000).sum() > 100
    assert all(readings[phase].null_count for phase in ("mf01", "mf02", "mf03"))


def test_the_same_seed_gives_the_same_readings_however_many_are_taken(readings: pa.Table) -> None:
    few = pa.concat_tables(sensors.readings(10_000, machines=4, chunk_rows=3_000))
    for machine in few["machine"].unique().to_pylist():
        expected = of_machine(readings, machine).slice(0, 2_500)
        assert of_machine(few, machine).combine_chunks().equals(expected.combine_chunks())
    other = pa.concat_tables(sensors.readings(10_000, machines=4, seed=1))
    assert not other["mf01"].equals(few["mf01"])


def test_a_plant_reports_the_same_readings_up_to_a_moment(readings: pa.Table) -> None:
    at_work = sensors.Plant(4, seed=2012)
    moments = [sensors.START_US + seconds * 10**6 for seconds in (3, 4, 60)]
    taken = [at_work.until(moment) for moment in moments]
    together = pa.concat_tables(taken).combine_chunks()
    end = pa.scalar(moments[-1], pa.int64()).cast(readings["ts"].type)
    assert together.equals(readings.filter(pc.less(readings["ts"], end)).combine_chunks())


def test_the_network_loses_nothing_and_delays_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plant, "_DELAYS", {0: 0.7, 1: 0.2, 3: 0.1})
    network = plant._Network(seed=1)
    sent = [pa.table({"number": range(begin, begin + 100)}) for begin in range(0, 600, 100)]
    came = [network.delivered(now, each) for now, each in enumerate(sent)]
    came += [network.delivered(now, sent[0].slice(0, 0)) for now in range(6, 9)]
    assert came[0].num_rows < 100
    assert sorted(pa.concat_tables(came)["number"].to_pylist()) == list(range(600))


# How it looks ------------------------------------------------------------------------------------

ROW = {
    "window_end": datetime(2012, 2, 27, 9, 5, tzinfo=UTC), "count_mf01": 1000, "mean_mf01": 1.5,
    "stddev_mf01": 0.25, "max_mf01": 6.125,
    "arg_max_mf01_ts": datetime(2012, 2, 27, 9, 4, 1, tzinfo=UTC),
}  # fmt: skip


def some_figures() -> Figures:
    figures = Figures()
    figures.batches = [Batch(0, 8_000, 0, 0, 4.0, 2_000_000, 1_000_000),
                       Batch(1, 90_000, 3, 480, 1.5, 8_000_000, 2_000_000),
                       Batch(2, 0, 0, 80, 0.5, 8_000_000, 1_000)]  # fmt: skip
    figures.until = ROW["window_end"]  # type: ignore[assignment]
    figures.newest = {f"press-{n}": {"10s": ROW, "1min": ROW} for n in range(1, 12)}
    figures.newest["press-2"].pop("10s")
    return figures


@pytest.mark.parametrize("terminal", [True, False])
def test_views(terminal: bool) -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=90, height=40, highlight=False)
    for figures in (Figures(), some_figures()):
        with view_of(console, figures, 45) as view:
            assert isinstance(view, Screen if terminal else Lines)
            view.update()
    shown = out.getvalue()
    assert "98,000 events in 3 batches: 560 windows answered, 3 events late" in shown
    if terminal:
        assert "60,000 a second" in shown
        assert "09:04:01.000" in shown
        assert "and 3 machines more" in shown
    else:
        assert "batch 1: 90,000 events in 1.5 s" in shown


def test_the_demo_ends_when_it_is_time_and_there_is_something_to_draw() -> None:
    figures = Figures(begun=time.monotonic() - 50)
    assert not figures.is_over(45)
    figures.until = datetime(2012, 2, 27, tzinfo=UTC)
    assert figures.is_over(45)
    assert not figures.is_over(60)
    assert not figures.is_over(None)


def test_without_java_the_demo_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_java(*_: Any, log_file: Path, **__: Any) -> None:
        log_file.write_text("JAVA_HOME is not set\n\n")
        raise RuntimeError("[JAVA_GATEWAY_EXITED]")

    monkeypatch.setattr("windrow.spark.session.local_session", no_java)
    assert main(["demo", "--output", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("windrow demo: Spark did not start. It needs Java 17 or newer")
    assert said.endswith("ends with: JAVA_HOME is not set\n")


def test_where_nothing_can_be_written_the_demo_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert main(["demo", "--output", str(tmp_path / "file")]) == 1
    assert "File exists" in capsys.readouterr().err


def test_a_plant_that_cannot_write_says_so(tmp_path: Path) -> None:
    with plant.PlantProcess(tmp_path / "missing", plant.Pace(1, 1, 1.0)) as process:
        assert process._failure.poll(60)
        with pytest.raises(wr.WindrowError, match="readings could not be written"):
            process.require_alive()


# From end to end ---------------------------------------------------------------------------------


@pytest.mark.spark
def test_the_live_demo_until_it_is_interrupted(tmp_path: Path) -> None:
    # In a process of its own: it starts and stops the Spark session of its process. Ctrl-C reaches
    # all processes of a terminal, so all of a group.
    # Of this seed no reading is late in the first 200 seconds, so that all answers are a table's.
    asked = ["--page", "--forever", "--machines", "3", "--speed", "1", "--seed", "1"]
    with subprocess.Popen(
        [sys.executable, "-m", "windrow.cli", "demo", *asked],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        address = ""
        for line in process.stdout:
            address = line.split()[1] if line.startswith("Open http") else address
            if "windows answered" in line and " 0 windows answered" not in line:
                with urlopen(f"{address}figures", timeout=60) as page:
                    figures = json.load(page)
                os.killpg(process.pid, signal.SIGINT)
                break
        rest, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert errors == ""
    assert "docs/streaming.md" in rest
    assert [path.name for path in tmp_path.iterdir()] == ["demo-output"]
    output = tmp_path / "demo-output"
    assert figures["rate"] > 0
    assert "1min · press-1" in figures["keys"]
    *done, _newest = figures["batches"]  # the newest may lack its figures
    assert all(each["events"] is not None for each in done)
    assert done[-1]["state_bytes"] > 0
    assert (output / "chart.png").stat().st_size > 10_000

    answers = CommittedFiles(output / "answers").take()
    assert answers is not None
    written = pq.read_table(output / "readings")
    expected = live.live_windows(written, None)
    newest = pc.max(answers["window_end"])
    expected = expected.filter(pc.less_equal(expected["window_end"], newest))
    by = ["window", "machine", "window_start"]
    pd.testing.assert_frame_equal(comparable(answers, by), comparable(expected, by))


@pytest.mark.spark
@pytest.mark.compiled
def test_the_demo_of_a_table(spark: "SparkSession", tmp_path: Path) -> None:
    out = io.StringIO()
    size = table.Size(60_000, 4, 2012)
    console = Console(file=out, width=100, highlight=False)
    table.make_readings(console, tmp_path, size)
    setting = "spark.sql.parquet.outputTimestampType"  # as in the session of the demo
    usual = spark.conf.get(setting)
    spark.conf.set(setting, "TIMESTAMP_MICROS")
    table.show(console, spark, tmp_path, size)
    spark.conf.set(setting, usual)
    assert "readings a second" in out.getvalue()
    assert (tmp_path / "chart.png").stat().st_size > 10_000

    # Spark hands over 10,000 rows at a time: a machine's readings come in several batches.
    answers = pq.read_table(tmp_path / "features")
    in_process = table.rolling_features(pq.read_table(tmp_path / "readings"))
    assert answers.column_names == in_process.column_names
    by = ["machine", "ts"]
    pd.testing.assert_frame_equal(comparable(answers, by), comparable(in_process, by))


def comparable(features: pa.Table, by: list[str]) -> pd.DataFrame:
    frame: pd.DataFrame = features.to_pandas().sort_values(by, ignore_index=True)
    return frame
