"""`windrow run`: files in, answers out; large files pass in batches; nothing is lost."""

import errno
import gzip
import io
import os
import re
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import windrow as wr
from windrow.cli import follow, inputs, run
from windrow.cli.main import main

pytestmark = pytest.mark.usefixtures("interpreted")

ROWS = 60
TABLE = pa.table(
    {
        "ts": pa.array(
            [datetime(2026, 5, 1) + timedelta(seconds=row) for row in range(ROWS)], "timestamp[ns]"
        ),
        "k": [row % 3 for row in range(ROWS)],
        "x": [row * 7 % 11 + 0.125 for row in range(ROWS)],
    }
)
TEXT = "SELECT SUM(x * 2) AS s, MAX(x) FROM t [ROWS 5] GROUP BY k"


def written(folder: Path, kind: str) -> Path:
    path = folder / f"rows.{kind}"
    if kind == "csv":
        pa.csv.write_csv(TABLE, path)
    elif kind == "parquet":
        pq.write_table(TABLE, path)
    elif kind == "jsonl":
        rows = TABLE.to_pandas().assign(ts=lambda frame: frame.ts.astype(str))
        rows.to_json(path, orient="records", lines=True)
    else:
        with pa.ipc.new_file(path, TABLE.schema) as writer:
            writer.write(TABLE)
    return path


def read(path: Path) -> pa.Table:
    if path.suffix == ".csv":
        return pa.csv.read_csv(path)
    if path.suffix == ".parquet":
        return pq.read_table(path)
    return pa.ipc.open_file(path).read_all() if path.suffix == ".arrow" else pa.json.read_json(path)


def in_order(table: pa.Table) -> list:
    table = table.set_column(
        table.column_names.index("ts"), "ts", table["ts"].cast(pa.timestamp("ms"))
    )
    return sorted(map(str, table.to_pylist()))


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "in batches"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "arrow"])
def test_every_format_is_read_and_written(tmp_path, kind, whole, monkeypatch):
    monkeypatch.setattr(run, "WHOLE", 1 << 20 if whole else 0)
    source, target = written(tmp_path, kind), tmp_path / f"answers.{kind}"
    call = ["run", "-e", TEXT, "--input", f"t={source}", "--output", str(target)]
    types = ["--types", "ts=timestamp"] if kind == "jsonl" else []
    assert main([*call, *types]) == 0
    expected = in_order(wr.cql(TEXT, t=TABLE).run())
    found = read(target)
    assert in_order(found) == expected
    assert [each.name for each in tmp_path.iterdir() if each.name[0] == "."] == []


def test_an_output_is_replaced_only_if_asked(tmp_path, capsys):
    source, target = written(tmp_path, "csv"), tmp_path / "answers.csv"
    target.write_text("precious")
    call = ["run", "-e", TEXT, "--input", str(source), "--output", str(target)]
    assert main(call) == 2
    assert "it exists; give --overwrite" in capsys.readouterr().err
    assert target.read_text() == "precious"
    assert main([*call, "--overwrite"]) == 0
    assert target.read_text() != "precious"


def test_folders_patterns_standard_input_and_query_files(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in range(3):
        pa.csv.write_csv(TABLE.slice(number * 20, 20), folder / f"part{number}.csv")
    query = tmp_path / "query.cql"
    query.write_text(TEXT)
    expected = wr.cql(TEXT, t=TABLE).run().num_rows + 1
    for given in (str(folder), str(folder / "part*.csv")):
        assert main(["run", str(query), "--input", f"t={given}"]) == 0
        assert len(capsys.readouterr().out.splitlines()) == expected
    whole = b"".join((folder / "part0.csv").read_bytes().splitlines(keepends=True))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(whole)))
    assert main(["run", str(query), "--input", "-"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 21


def piped(path: Path) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(path.read_bytes()))


@pytest.mark.parametrize("kind", ["parquet", "arrow", "jsonl", "stream"])
def test_any_format_is_piped(tmp_path, capsys, monkeypatch, kind):
    # Found: Parquet and files of Arrow's were read as a stream of Arrow's, from the middle.
    call = ["run", "-e", "SELECT MAX(x) AS top FROM t [ROWS 1]", "--input-format"]
    if kind == "stream":
        path = tmp_path / "rows.arrow"
        with pa.ipc.new_stream(path, TABLE.schema) as writer:
            writer.write(TABLE)
        assert main([*call, "arrow", "-i", str(path)]) == 0
        assert len(capsys.readouterr().out.splitlines()) == ROWS + 1
    else:
        path = written(tmp_path, kind)
    for most in (1 << 20, 0):
        monkeypatch.setattr(run, "WHOLE", most)
        monkeypatch.setattr(sys, "stdin", piped(path))
        assert main([*call, kind.replace("stream", "arrow"), "-i", "-"]) == 0
        assert len(capsys.readouterr().out.splitlines()) == ROWS + 1


def test_a_small_standard_input_is_a_file(tmp_path, capsys, monkeypatch):
    """It is read for every statement, in any order, and also whole."""
    path = tmp_path / "rows.csv"
    pa.csv.write_csv(TABLE.take([*range(30, 60), *range(30)]), path)
    text = "SELECT SUM(x) AS s FROM t GROUP BY k; SELECT COUNT(*) AS n FROM t [SESSION 3 SECONDS]"
    monkeypatch.setattr(sys, "stdin", piped(path))
    assert main(["run", "-e", text, "-i", "-"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4 + 2
    monkeypatch.setattr(run, "WHOLE", 100)
    monkeypatch.setattr(sys, "stdin", piped(path))
    text = "SELECT COUNT(*) AS n FROM t [ROWS 2]; SELECT COUNT(*) AS n FROM t [SESSION 3 SECONDS]"
    assert main(["run", "-e", text, "-i", "-", "--lateness", "1 hour"]) == 1
    assert "the standard input: it can be read only once" in capsys.readouterr().err


def test_a_packed_name_is_a_packed_file(tmp_path, capsys):
    # Found: plain text under the name `answers.csv.gz`.
    call = ["run", "-e", TEXT, "-i", f"t={written(tmp_path, 'csv')}", "-o"]
    assert main([*call, str(tmp_path / "answers.csv.gz")]) == 0
    assert gzip.decompress((tmp_path / "answers.csv.gz").read_bytes()).count(b"\n") == ROWS + 1
    assert main([*call, str(tmp_path / "answers.csv.bz2")]) == 2
    assert main([*call, str(tmp_path / "answers.parquet.gz")]) == 2
    assert "packed as .csv.gz and .jsonl.gz only" in capsys.readouterr().err


def test_rows_that_are_left_out_are_told(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    path.write_text("ts,x\n2026-05-01 00:00:09,1\n,2\n2026-05-01 00:00:01,3\n")
    call = ["run", "-e", "SELECT SUM(x) AS s FROM t [ROWS 3]", "-i", str(path), "-q"]
    assert main([*call, "--lateness", "1 minute"]) == 0
    assert capsys.readouterr().err == "windrow run: 1 rows without a time are left out\n"


@pytest.mark.parametrize("encoding", ["utf8", "utf-16"])
def test_a_csv_is_read_in_small_pieces(tmp_path, capsys, monkeypatch, encoding):
    """The types of its columns are those of many rows, not of the first piece."""
    monkeypatch.setattr(run, "WHOLE", 0)
    monkeypatch.setattr(inputs, "_READ", 64)
    path, begin = tmp_path / "rows.csv", datetime(2026, 5, 1)
    values = [row if row < 50 else row + 0.5 for row in range(60)]
    rows = [f"{begin + timedelta(seconds=row)},{value}\n" for row, value in enumerate(values)]
    path.write_text("".join(["ts,x\n", *rows]), encoding=encoding)
    call = ["run", "-e", "SELECT MAX(x) AS top FROM t [ROWS 1]", "--encoding", encoding, "--input"]
    piped = io.TextIOWrapper(io.BytesIO(path.read_bytes()))
    monkeypatch.setattr(sys, "stdin", piped)
    for given in (str(path), "-"):
        assert main([*call, given]) == 0
        answers = capsys.readouterr().out.splitlines()[1:]
        assert [float(line.split(",")[-1]) for line in answers] == values


def test_a_reader_that_has_read_enough_is_no_failure(tmp_path, capsys, monkeypatch):
    # Found: `windrow run ... | head` ended with "-: Broken pipe" and exit code 1.
    reading, writing = os.pipe()
    os.close(reading)
    call = ["run", "-e", TEXT, "--input", f"t={written(tmp_path, 'csv')}"]
    with open(writing, "w") as closed:  # noqa: PTH123 - a pipe has no path
        monkeypatch.setattr(sys, "stdout", closed)
        assert main(call) == 0
    assert capsys.readouterr().err == ""


def test_statements_have_outputs_of_their_own(tmp_path, monkeypatch):
    source = written(tmp_path, "parquet")
    text = f"{TEXT}; SELECT MIN(x) FROM t [ROWS 3]; SELECT MIN(x) AS low FROM t [ROWS 9]"
    outputs = [str(tmp_path / f"{name}.parquet") for name in "abc"]
    expected = wr.cql(text, t=TABLE).run()
    for most in (1 << 20, 0):
        monkeypatch.setattr(run, "WHOLE", most)
        given = [part for path in outputs for part in ("-o", path)]
        assert main(["run", "-e", text, "-i", str(source), *given, "--overwrite"]) == 0
        for path, table in zip(outputs, expected, strict=True):
            assert in_order(pq.read_table(path)) == in_order(table)
    assert main(["run", "-e", text, "-i", str(source), "-o", outputs[0], "--overwrite"]) == 2


def test_rows_out_of_order_are_refused_in_batches(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(run, "WHOLE", 0)
    path = tmp_path / "rows.parquet"
    pq.write_table(TABLE.take([*range(30, 60), *range(30)]), path, row_group_size=30)
    call = ["run", "-e", TEXT, "-i", str(path), "-o", str(tmp_path / "out.csv")]
    assert main(call) == 1
    said = capsys.readouterr().err
    assert "its rows are not sorted by time (30 come late)" in said
    assert not (tmp_path / "out.csv").exists()
    assert main([*call, "--lateness", "1 hour"]) == 0
    assert pa.csv.read_csv(tmp_path / "out.csv").num_rows == ROWS


# Bad files ----------------------------------------------------------------------------------------


def _truncated(folder):
    path = written(folder, "parquet")
    path.write_bytes(path.read_bytes()[:-20])
    return path


def _encoded(folder):
    path = folder / "rows.csv"
    path.write_bytes("ts,k,x\n2026-05-01 00:00:00,ä,1.5\n".encode("latin1"))
    return path


def _ragged(folder):
    path = folder / "rows.csv"
    path.write_text("ts,k,x\n2026-05-01 00:00:00,1,1.5\n2026-05-01 00:00:01,1\n")
    return path


def _empty_folder(folder):
    path = folder / "nothing"
    path.mkdir()
    return path


def _not_json(folder):
    path = folder / "rows.jsonl"
    path.write_text('{"ts": "2026')
    return path


def _empty_arrow(folder):
    path = folder / "rows.arrow"
    path.touch()
    return path


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (_truncated, "not a whole one"),
        (_encoded, "is not in UTF-8; state --encoding"),
        (_ragged, "same number of fields"),
        (_empty_folder, "holds no file"),
        (_not_json, "rows.jsonl: "),
        (_empty_arrow, "it is no Arrow file"),
        (lambda folder: folder / "missing.csv", "there is no such file"),
    ],
    ids=["truncated", "encoding", "ragged", "empty folder", "json", "arrow", "missing"],
)
def test_a_bad_file_is_one_clear_line(tmp_path, capsys, make, said):
    source, target = make(tmp_path), tmp_path / "answers.csv"
    target.write_text("precious")
    code = main(["run", "-e", TEXT, "-i", f"t={source}", "-o", str(target), "--overwrite"])
    error = capsys.readouterr().err
    assert code == 1, error
    assert len(error.splitlines()) == 1
    assert re.search(said, error), error
    assert target.read_text() == "precious"
    assert [each.name for each in tmp_path.iterdir() if each.name[0] == "."] == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES], ids=["disk full", "no permission"])
def test_what_cannot_be_written_leaves_what_was_there(tmp_path, capsys, monkeypatch, code):
    source, target = written(tmp_path, "csv"), tmp_path / "answers.csv"
    target.write_text("precious")

    def fails(*_arguments):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fails)
    call = ["run", "-e", TEXT, "-i", str(source), "-o", str(target), "--overwrite"]
    assert main(call) == 1
    assert capsys.readouterr().err == f"windrow run: {target}: {os.strerror(code)}\n"
    assert target.read_text() == "precious"
    assert [each.name for each in tmp_path.iterdir() if each.name[0] == "."] == []


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (["-e", "SELCT 1"], "cql: line 1: SELECT is expected"),
        ([], "give a file with a query"),
        (["-e", TEXT], "--input: say where t is"),
        (["-e", TEXT, "-i", "t=x.what"], "x.what"),
        (["-e", TEXT, "--checkpoint", "c", "-i", "x.csv"], "are for --stream"),
        (["-e", TEXT, "-i", "t=rows.csv", "--types", "x=huge"], "types are int, float"),
        (["-e", TEXT, "-i", "rows.csv", "--types", "tss=float"], "did you mean 'ts'"),
        (["-e", TEXT, "-i", "rows.csv", "--encoding", "klingon"], "there is no 'klingon'"),
        (["-e", TEXT, "-i", "rows.csv", "--lateness", "soon"], "'soon' is no duration"),
        (["-e", TEXT, "-i", "t=rows.csv", "-i", "t=rows.csv"], "t is given twice"),
        (["-e", TEXT, "-i", "t=rows.csv", "-i", "u=rows.csv"], "the query reads no u"),
        (["-e", f"{TEXT};{TEXT}", "-i", "rows.csv", "-o", "a.csv", "-o", "a.csv"], "given twice"),
    ],
)
def test_a_wrong_call_ends_with_2(tmp_path, capsys, monkeypatch, call, said):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "csv")
    (tmp_path / "x.what").write_text("")
    assert main(["run", *call]) == 2
    assert said in capsys.readouterr().err


def test_a_folder_that_grows_is_answered_once(tmp_path, capsys):
    folder, out, state = tmp_path / "in", tmp_path / "out", tmp_path / "state"
    folder.mkdir()
    text = "SELECT SUM(x) AS s FROM t [ROWS 5 ON ts] GROUP BY k"
    call = ["run", "-e", text, "--stream", "-i", f"t={folder}", "-o", str(out), "--checkpoint",
            str(state), "--idle", "0"]  # fmt: skip
    for number in range(3):
        pq.write_table(TABLE.slice(number * 20, 20), folder / f"{number}.parquet")
        assert main(call) == 0
    found = pa.concat_tables(pq.read_table(each) for each in sorted(out.iterdir()))
    expected = wr.cql(text, t=TABLE).run().to_pylist()
    assert len(expected) - 3 <= found.num_rows <= len(expected)
    assert {str(row) for row in found.to_pylist()} <= set(map(str, expected))
    assert len({str(row) for row in found.to_pylist()}) == found.num_rows
    assert main(["state", str(state)]) == 0
    assert "window rows_5: rows 5" in capsys.readouterr().out


def _grown(tmp_path, *more):
    (tmp_path / "in").mkdir(exist_ok=True)
    pq.write_table(TABLE, tmp_path / "in" / "b.parquet")
    text = "SELECT SUM(x) AS s FROM t [ROWS 5 ON ts] GROUP BY k"
    call = ["run", "-e", text, "--stream", "-i", f"t={tmp_path / 'in'}", "--idle", "0"]
    return main([*call, "-o", str(tmp_path / "out"), *more])


def test_a_folder_of_answers_is_replaced_only_if_asked(tmp_path, capsys):
    # Found: a second stream wrote its answers over and beside those of the first.
    assert _grown(tmp_path) == 0
    stale = tmp_path / "out" / "part-000000099.parquet"
    stale.write_text("precious")
    assert _grown(tmp_path) == 2
    assert _grown(tmp_path, "--checkpoint", str(tmp_path / "state")) == 2
    assert "it holds answers of another run" in capsys.readouterr().err
    assert stale.read_text() == "precious"
    assert _grown(tmp_path, "--checkpoint", str(tmp_path / "state"), "--overwrite") == 0
    assert not stale.exists()
    assert _grown(tmp_path, "--checkpoint", str(tmp_path / "state")) == 0
    (tmp_path / "out").rename(tmp_path / "elsewhere")
    (tmp_path / "out").write_text("a file")
    assert _grown(tmp_path) == 1


def test_what_ctrl_c_leaves_unwritten_is_answered_again(tmp_path, monkeypatch):
    # Found: answers that Ctrl-C met while they were written were committed, and lost.
    state, written_by = ["--checkpoint", str(tmp_path / "state")], follow.output

    def interrupted(*_arguments, **_more):
        raise KeyboardInterrupt

    monkeypatch.setattr(follow, "output", interrupted)
    assert _grown(tmp_path, *state) == 0
    monkeypatch.setattr(follow, "output", written_by)
    assert _grown(tmp_path, *state) == 0
    assert pq.read_table(tmp_path / "out").num_rows >= ROWS - 3


def test_a_file_that_comes_too_late_is_told(tmp_path, capsys, monkeypatch):
    original = time.sleep

    def slept(seconds):
        pq.write_table(TABLE, tmp_path / "in" / "a.parquet")
        original(seconds)

    monkeypatch.setattr(follow.time, "sleep", slept)
    assert _grown(tmp_path, "--idle", "0.01") == 0
    said = capsys.readouterr().err
    assert "a.parquet: it came after b.parquet" in said
    assert said.count("it is left out") == 1
