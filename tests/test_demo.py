"""The demo: its table is what it says it is, and it runs from end to end."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from windrow.cli import sensors
from windrow.cli.demo import rolling_features


@pytest.fixture(scope="module")
def readings() -> pa.Table:
    return pa.concat_tables(sensors.readings(400_000, machines=4))


def of_machine(table: pa.Table, machine: str) -> pa.Table:
    return table.filter(pc.equal(table["machine"], machine))


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


@pytest.mark.spark
def test_the_demo_runs_from_end_to_end(tmp_path: Path) -> None:
    # In a process of its own: it starts and stops the Spark session of its process.
    done = subprocess.run(
        [sys.executable, "-m", "windrow.cli", "demo", "--rows", "240000", "--output", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "readings a second" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["out"]

    # Spark hands over 10,000 rows at a time: a machine's readings come in several batches.
    readings = pq.read_table(tmp_path / "out" / "readings")
    answers = pq.read_table(tmp_path / "out" / "features")
    in_process = rolling_features(readings)
    assert answers.column_names == in_process.column_names
    pd.testing.assert_frame_equal(comparable(answers), comparable(in_process))
    assert (tmp_path / "out" / "chart.png").stat().st_size > 10_000


def comparable(features: pa.Table) -> pd.DataFrame:
    return features.sort_by([("machine", "ascending"), ("ts", "ascending")]).to_pandas()
