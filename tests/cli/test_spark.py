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


def test_texts_are_read_as_they_are_in_process(session, tmp_path):
    # Found: on Spark, --types and --encoding did nothing, and a .tsv was one column.
    rows_of = [f"2026-05-01 00:00:0{row}\tgröße\t{row}" for row in range(5)]
    path = tmp_path / "rows.tsv"
    path.write_text("\n".join(["ts\tk\tx", *rows_of]), encoding="latin1")
    call = ["run", "-e", "SELECT SUM(x) AS s FROM t [ROWS 3] GROUP BY k", "-i", f"t={path}",
            "--types", "x=float", "--encoding", "latin1"]  # fmt: skip
    assert main([*call, "--engine", "spark", "-o", str(tmp_path / "there")]) == 0
    assert main([*call, "-o", str(tmp_path / "here.parquet")]) == 0
    found, expected = (pq.read_table(tmp_path / each) for each in ("there", "here.parquet"))
    assert found["k"].to_pylist() == expected["k"].to_pylist()
    assert found["s"].equals(expected["s"])


def test_a_bad_file_is_one_line_and_the_old_answers_stay(session, tmp_path, capsys):
    path, target = tmp_path / "rows.csv", tmp_path / "answers"
    path.write_text("ts,k,x\n2026-05-01 00:00:00,1,1.5\n2026-05-01 00:00:01,1\n")
    target.mkdir()
    (target / "part-0.csv").write_text("precious")
    call = ["run", "-e", SLIDES, "-i", f"t={path}", "--engine", "spark", "-o", str(target)]
    assert main([*call, "--overwrite"]) == 1
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert "rows.csv" in error
    assert [each.name for each in target.iterdir()] == ["part-0.csv"]
    assert {each.name for each in tmp_path.iterdir()} == {"rows.csv", "answers"}


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
