"""`windrow run --engine spark` answers as in process, over files and over a folder that grows."""

from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from windrow.cli.main import main

pytestmark = pytest.mark.spark

TABLE = pa.table(
    {
        "ts": pa.array([datetime(2026, 5, 1) + timedelta(seconds=row) for row in range(60)]),
        "k": [row % 3 for row in range(60)],
        "x": [row * 7 % 11 + 0.125 for row in range(60)],
    }
)
SLIDES = "SELECT SUM(x * 2) AS s FROM t [RANGE 10 SECONDS SLIDE 5 SECONDS] WHERE x > 1 GROUP BY k"


@pytest.fixture
def session(streaming):
    """The session of the tests, which the command finds; its settings are put back."""
    name = "spark.sql.shuffle.partitions"
    before = streaming.conf.get(name)
    yield streaming
    streaming.conf.set(name, before)


def rows(path):
    return sorted(map(str, pq.read_table(path).to_pylist()))


def test_files(session, tmp_path):
    pq.write_table(TABLE, tmp_path / "in.parquet")
    call = ["run", "-e", SLIDES, "-i", f"t={tmp_path / 'in.parquet'}"]
    assert main([*call, "-o", str(tmp_path / "here.parquet")]) == 0
    spark = [*call, "--engine", "spark", "-o", str(tmp_path / "there")]
    assert main(spark) == 0
    assert rows(tmp_path / "there") == rows(tmp_path / "here.parquet")
    assert main(spark) == 2  # it exists


def test_a_folder_that_grows(session, tmp_path, capsys):
    (tmp_path / "in").mkdir()
    pq.write_table(TABLE, tmp_path / "in" / "a.parquet")
    call = ["run", "-e", SLIDES, "-i", f"t={tmp_path / 'in'}", "--stream", "--engine", "spark",
            "--idle", "0", "-o", str(tmp_path / "there")]  # fmt: skip
    assert main(call) == 2
    assert "--checkpoint" in capsys.readouterr().err
    assert main([*call, "--checkpoint", str(tmp_path / "checkpoint")]) == 0
    here = str(tmp_path / "here.parquet")
    assert main(["run", "-e", SLIDES, "-i", f"t={tmp_path / 'in'}", "-o", here]) == 0
    found, expected = rows(tmp_path / "there"), rows(here)
    assert 20 < len(found) < len(expected)  # the last windows are not final
    assert set(found) < set(expected)
