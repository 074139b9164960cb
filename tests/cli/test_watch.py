"""`windrow watch`: what files tell of a query, what its server gives away, and the page."""

import http.client
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from windrow.cli.main import main
from windrow.cli.page import spark_checkpoint, watched
from windrow.cli.page.answers import Answers, reduced
from windrow.cli.page.places import places_in
from windrow.cli.page.server import PageServer
from windrow.cli.page.watched import Watched, rate_of
from windrow.stream.progress_log import Batch, append, newest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
NINE = datetime(2026, 5, 4, 9, tzinfo=UTC)


class Query:
    """The files that a query on Spark would write."""

    def __init__(self, folder: Path, name: str = "q") -> None:
        self.folder, self.name, self.number = folder, name, -1
        for place in (
            "checkpoint/offsets",
            "checkpoint/commits",
            "checkpoint/state/0/0",
            "answers",
        ):
            (folder / place).mkdir(parents=True)
        (folder / "answers" / "_spark_metadata").mkdir()
        (folder / "checkpoint" / "metadata").write_text(json.dumps({"id": name}))

    def batch(self, **answers: list[float]) -> None:
        """A batch with answers of keys, one a second."""
        self.number += 1
        checkpoint, number = self.folder / "checkpoint", str(self.number)
        told = json.dumps({"batchWatermarkMs": 60_000 * self.number})
        (checkpoint / "offsets" / number).write_text(f"v1\n{told}\n{{}}")
        (checkpoint / "state" / "0" / "0" / f"{number}.zip").write_bytes(b"x" * 100)
        self._write_answers(answers)
        (checkpoint / "commits" / number).write_text('v1\n{"nextBatchWatermarkMs":0}')

    def _write_answers(self, answers: dict[str, list[float]]) -> None:
        rows = [
            (key, NINE + timedelta(minutes=self.number, seconds=second), value)
            for key, values in answers.items()
            for second, value in enumerate(values)
        ]
        keys, ends, values = zip(*rows, strict=True) if rows else ([], [], [])
        path = self.folder / "answers" / f"part {self.number}.parquet"
        columns = {"user": pa.array(keys, pa.string()), "window_start": ends, "window_end": ends}
        kind = pa.timestamp("us", "UTC")
        columns = {n: pa.array(c, kind) if "window" in n else c for n, c in columns.items()}
        pq.write_table(pa.table(columns | {"max_x": pa.array(values, pa.float64())}), path)
        entry = self.folder / "answers" / "_spark_metadata" / str(self.number)
        entry.write_text("v1\n" + json.dumps({"path": path.as_uri()}))

    def log(self, events: int, late: int = 0) -> None:
        """A line of the log about the newest batch."""
        ended = (self.folder / "checkpoint" / "commits" / str(self.number)).stat().st_mtime
        done = Batch(self.number, ended, 0.5, events, late, 0, 5_000, 1.0, self.name)
        append(self.folder / "progress.jsonl", done)


@pytest.fixture
def query(tmp_path: Path, interpreted: None) -> Query:
    made = Query(tmp_path / "query")
    made.batch(ann=[1.0, 5.0, 2.0], bob=[7.0])
    made.batch(ann=[3.0])
    return made


# What files tell ---------------------------------------------------------------------------------


def test_a_checkpoint_tells_of_batches_and_answers_of_keys(query: Query) -> None:
    shown = Watched([query.folder]).figures()
    assert [each["number"] for each in shown["batches"]] == [0, 1]
    last = shown["batches"][-1]
    assert (last["watermark"], last["state_bytes"], last["events"]) == (60.0, 200, None)
    assert shown["keys"] == ["ann", "bob"]
    assert shown["columns"] == ["max_x"]
    assert shown["until"] == (NINE + timedelta(minutes=1)).timestamp()
    assert shown["rate"] is None


def test_a_log_adds_what_the_checkpoint_does_not_know(query: Query) -> None:
    query.log(events=400, late=3)
    append(query.folder / "progress.jsonl", Batch(1, 1.0, events=9, query="another"))
    shown = Watched([query.folder / "checkpoint", query.folder / "progress.jsonl"]).figures()
    assert [(each["events"], each["late"]) for each in shown["batches"]] == [(None, None), (400, 3)]
    assert shown["rate"] > 0
    assert shown["keys"] == []
    # Found: bytes on disk stood beside bytes in use while the log lacked the newest batch.
    query.batch(ann=[4.0])
    again = Watched([query.folder / "checkpoint", query.folder / "progress.jsonl"]).figures()
    assert [each["state_bytes"] for each in again["batches"]] == [None, 5_000, None]


def test_a_query_that_begins_from_nothing_is_shown_from_its_beginning(query: Query) -> None:
    page = Watched([query.folder], rest=0)
    assert page.line("ann", "max_x", 500)[-1][1] == 3.0
    query.batch(cid=[9.0])  # it goes on
    assert page.figures()["keys"] == ["ann", "bob", "cid"]
    shutil.rmtree(query.folder)
    assert page.figures()["batches"] == []
    Query(query.folder, "again").batch(dee=[4.0])
    shown = page.figures()
    assert ([each["number"] for each in shown["batches"]], shown["keys"]) == ([0], ["dee"])


@pytest.mark.usefixtures("interpreted")
def test_the_checkpoint_of_a_stream_over_an_iterator_tells_all_counts(tmp_path: Path) -> None:
    def events(offset: Any) -> Iterator[Any]:
        for minute in range(offset or 0, 3):
            late = NINE - timedelta(hours=minute)
            yield {"t": [NINE + timedelta(minutes=minute), late], "x": [1, 2]}, minute + 1

    page = Watched([tmp_path / "state"], name="days", rest=0)
    stream = wr.slide(
        events, order="t", windows=wr.time("1 minute", every="1 minute"), aggs=wr.sum("x"),
        lateness="0s", checkpoint=wr.Checkpoint(tmp_path / "state", name="days"),
    )  # fmt: skip
    with stream:
        for _answers in stream:
            stream.commit()
            page.figures()
    shown = page.figures()
    assert list(shown["totals"]) == [6, 2, 0]
    assert shown["batches"][-1]["state_bytes"] > 0
    assert sum(each["events"] or 0 for each in shown["batches"][1:]) == 2 * (stream.batches - 2)


def test_a_log_is_read_from_its_end_and_halved(tmp_path: Path) -> None:
    path = tmp_path / "log"
    for number in range(10):
        append(path, Batch(number, float(number)), most_bytes=500)
    assert path.stat().st_size < 1_000
    assert [each.number for each in newest(path, 4)] == [6, 7, 8, 9]
    with path.open("a") as log:
        log.write('{"number": 1}\nnonsense\n[]\n{"number": 10, "ended": 1')  # not whole yet
    assert [each.number for each in newest(path, 5)][-1] == 9
    assert newest(tmp_path / "none", 5) == []


def test_the_rate_is_that_of_the_newest_batches() -> None:
    batches = [Batch(n, ended=10.0 + n, seconds=1.0, events=100) for n in range(30)]
    assert rate_of(batches) == pytest.approx(100)
    assert rate_of([replace(each, seconds=None) for each in batches]) == pytest.approx(100)
    assert rate_of(batches[:1]) == pytest.approx(100)
    assert rate_of([replace(batches[0], seconds=None)]) is None
    assert rate_of([]) is None


def test_a_checkpoint_that_is_removed_while_it_is_read(query: Query) -> None:
    checkpoint = query.folder / "checkpoint"
    (checkpoint / "offsets" / "1").unlink()
    (checkpoint / "metadata").write_text('{"id')
    assert [each.number for each in spark_checkpoint.batches(checkpoint, 9)] == [0]
    assert spark_checkpoint.query_id(checkpoint) == ""


def test_places_that_tell_of_no_query_or_of_two_are_refused(
    query: Query, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Query(tmp_path / "other")
    calls = {
        "missing": "missing: there is no such file or folder",
        "empty": "empty: it is neither a checkpoint nor a folder of Parquet files",
    }
    (tmp_path / "empty").mkdir()
    for name, problem in calls.items():
        assert main(["watch", str(tmp_path / name)]) == 1
        assert problem in capsys.readouterr().err
    with pytest.raises(wr.InvalidArgument, match="a page shows one query"):
        places_in([query.folder, tmp_path / "other"])


def test_a_port_that_is_taken_is_named(query: Query, capsys: pytest.CaptureFixture[str]) -> None:
    with PageServer(Watched([query.folder])) as server:
        port = str(server.server_address[1])
        assert main(["watch", str(query.folder), "--port", port]) == 1
    assert f"--port {port}: Address already in use" in capsys.readouterr().err


# Lines -------------------------------------------------------------------------------------------


@examples(25)
@given(
    st.lists(st.tuples(st.integers(0, 10**7), st.integers(-9, 9)), min_size=1), st.integers(1, 9)
)
def test_a_line_has_the_extremes_and_ends_of_every_column(
    points: list[tuple[int, int]], width: int
) -> None:
    points.sort()
    kind = pa.timestamp("us")
    times, values = zip(*points, strict=True)
    table = pa.table({"t": pa.array(times, kind), "value": pa.array(values, pa.float64())})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_DISABLE_JIT", "1")
        line = reduced(table, width)
    assert {(round(time * 1e6), value) for time, value in line} <= set(points)
    assert len(line) <= 4 * (width + 1)
    assert (
        [value for _, value in (line[0], line[-1])] == [next(value for value in values), values[-1]]
        or times.count(times[0]) > 1
        or times.count(times[-1]) > 1
    )
    assert {min(values), max(values)} <= {value for _, value in line}


def test_answers_of_m4_are_lines_too(tmp_path: Path, interpreted: None) -> None:
    moments = [NINE.replace(tzinfo=None) + timedelta(seconds=second) for second in range(60)]
    events = pa.table({"k": [None] * 60, "t": moments, "x": [float(n % 7) for n in range(60)]})
    found = wr.slide(
        events, key="k", order="t", windows=wr.time("10s", every="10s"), aggs=wr.m4("x", "t")
    )
    pq.write_table(found, tmp_path / "part-0.parquet")
    answers = Answers(tmp_path)
    answers.look()
    (column,) = answers.columns
    line = answers.line("None", column, 400)
    assert line[0][1] == 0.0
    assert {value for _, value in line} >= {0.0, 6.0}
    assert len(line) <= 24


def test_answers_of_every_row_need_a_time(tmp_path: Path, interpreted: None) -> None:
    table = pa.table(
        {"at": pa.array([3, 1, 2], pa.timestamp("s")), "x": [1, None, 3], "n": [1, 2, 3]}
    )
    pq.write_table(table, tmp_path / "part-0.parquet")
    with pytest.raises(wr.InvalidArgument, match="--time: say which column of at, x, n"):
        Answers(tmp_path).look()
    with pytest.raises(wr.InvalidArgument, match="--time: 'n' is of int64"):
        Answers(tmp_path, time="n").look()
    with pytest.raises(wr.InvalidArgument, match="--key: there is no column 'who'"):
        Answers(tmp_path, ("who",), "at").look()
    assert Watched([tmp_path]).figures()["problem"].startswith("--time: say which column")
    answers = Answers(tmp_path, time="at")
    answers.look()
    assert answers.line("all", "x", 100) == [(2.0, 3.0), (3.0, 1.0)]


def test_a_file_that_is_not_whole_is_read_later(tmp_path: Path) -> None:
    (tmp_path / "part-0.parquet").write_bytes(b"PAR1")
    answers = Answers(tmp_path, time="at")
    answers.look()
    assert answers.rows == 0
    pq.write_table(pa.table({"at": pa.array([1], pa.timestamp("s"))}), tmp_path / "part-0.parquet")
    answers.look()
    assert answers.rows == 1


# The server --------------------------------------------------------------------------------------


@pytest.fixture
def server(query: Query) -> Iterator[PageServer]:
    with PageServer(Watched([query.folder], rest=0)) as serving:
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


Ask = Callable[..., http.client.HTTPResponse]


@pytest.fixture
def ask(server: PageServer) -> Iterator[Ask]:
    host, port = server.server_address[:2]
    asking = http.client.HTTPConnection(str(host), port, timeout=60)

    def response(path: str, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
        asking.close()
        asking.request(method, path, headers=headers)
        return asking.getresponse()

    yield response
    asking.close()


def test_the_server_is_of_this_machine_only(server: PageServer, ask: Ask) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert ask("/", Host="windrow.example:80").status == 403  # a name that somebody led here
    assert ask("/", Host="localhost:1").status == 200


@pytest.mark.parametrize("path", ["/", "/page.js", "/page.css", "/figures", "/nothing"])
def test_no_answer_lets_the_page_load_from_elsewhere(ask: Ask, path: str) -> None:
    response = ask(path)
    policy = response.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'")
    assert "http" not in policy
    assert "*" not in policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py", "/page.js/../../server.py", "/%2e%2e/server.py", "/..%2fserver.py",
        "//etc/passwd", "/etc/passwd", "/server.py", "/__init__.py", "file:///etc/passwd",
        "/page.js%00", "/answers/part%200.parquet",
    ],
)  # fmt: skip
def test_no_path_reaches_another_file(ask: Ask, path: str) -> None:
    response = ask(path)
    assert response.status == 404
    assert response.read() == b"there is no such page\n"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_can_be_changed(ask: Ask, method: str) -> None:
    assert ask("/figures", method).status == 501


def test_lines_are_answered_and_wrong_questions_refused(ask: Ask) -> None:
    points = json.loads(ask("/line?key=ann&column=max_x&width=700").read())["points"]
    assert [value for _, value in points] == [1.0, 5.0, 2.0, 3.0]
    assert json.loads(ask("/line?key=nobody&column=max_x&width=700").read())["points"] == []
    assert json.loads(ask("/line?key=ann&column=nothing&width=700").read())["points"] == []
    assert json.loads(ask("/line?key=ann&column=max_x&width=-1").read())["points"]
    assert ask("/line?key=ann&width=x").status == 400
    assert ask("/", "HEAD").read() == b""


def test_the_files_of_the_page_name_no_other_host() -> None:
    folder = Path(watched.__file__).parent
    for name in ("index.html", "page.js", "page.css"):
        text = (folder / name).read_text("utf-8")
        assert re.findall(r"https?://[^\s\"]+", text) in ([], ["http://www.w3.org/2000/svg"])
        assert "innerHTML" not in text


# The page ----------------------------------------------------------------------------------------


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")
def test_a_browser_shows_a_query_that_goes_on_and_starts_again(
    query: Query, server: PageServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # The page's clock runs ahead of ours, so the query goes on whenever the page asks.
    seen, figures = [], server.watched.figures

    def going_on() -> Any:
        seen.append(1)
        if len(seen) == 3:
            query.batch(**{"<b>ann</b>": [8.0, 9.0]})
            query.log(events=1_234, late=5)
        if len(seen) == 6:
            shutil.rmtree(query.folder)
        if len(seen) == 8:
            again = Query(query.folder, "again")
            for _ in range(2):
                again.batch(**{"<b>zoe</b>": [4.0, 6.0, 5.0]})
                again.log(events=77_000, late=3)
            # Found: late events were not known until the log had the newest batch.
            again.batch(**{"<b>zoe</b>": [7.0, 6.0, 5.0]})
        return figures()

    monkeypatch.setattr(server.watched, "figures", going_on)
    charts = [{"key": "<b>zoe</b>", "column": "max_x"}]
    net = tmp_path / "net.json"
    ran = subprocess.run(
        [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--disable-background-networking", "--disable-component-update", "--no-first-run",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # a browser's own requests
            f"--user-data-dir={tmp_path / 'profile'}", f"--log-net-log={net}",
            "--virtual-time-budget=30000", "--dump-dom",
            f"{server.address}#{quote(json.dumps(charts))}",
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    shown = ran.stdout
    assert len(seen) > 8
    assert "wr.log_progress" not in shown
    assert "154,000" in shown  # of the query that began again
    assert "1,234" not in shown
    assert "0.0039% of 154,000" in shown
    assert '<option value="&lt;b&gt;zoe&lt;/b&gt;">' in shown  # a name is text, not HTML
    assert len(re.findall(r'<path class="line" d="M[\d.,LM-]+"', shown)) == 1
    asked = set(re.findall(r'"initiator":"(http[^"]*)".*?"url":"([^"]*)"', net.read_text()))
    assert {url for _, url in asked} >= {f"{server.address}figures"}
    assert {url for _, url in asked if not url.startswith(server.address)} == set()
