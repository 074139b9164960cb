"""A query over an iterator answers as over a table of the same events."""

import asyncio
import datetime as dt

import pyarrow as pa
import pytest

import windrow as wr

pytestmark = pytest.mark.usefixtures("interpreted")

TABLE = pa.table(
    {
        "ts": [dt.datetime(2026, 5, 1) + dt.timedelta(seconds=row) for row in range(30)],
        "x": [float(row * 7 % 11) for row in range(30)],
        "k": [row % 2 for row in range(30)],
    }
)
TEXT = (
    "SELECT SUM(x * 2) AS s, MAX(x) - MIN(x) AS spread FROM t "
    "[RANGE 10 SECONDS SLIDE 5 SECONDS ON ts] WHERE x > 1 GROUP BY k HAVING s > 20"
)


def batches():
    return (TABLE.slice(first, 7) for first in range(0, 30, 7))


def in_order(table):
    return sorted(table.to_pylist(), key=str)


@pytest.mark.parametrize("schema", [None, TABLE.schema])
def test_a_stream_answers_as_a_table(schema):
    expected = in_order(wr.cql(TEXT, t=TABLE).run())
    stream = wr.cql(TEXT, t=batches(), lateness="0 seconds", schema=schema).run()
    with stream:
        found = pa.Table.from_batches(list(stream))
        assert stream.events == sum(each > 1 for each in TABLE["x"].to_pylist())
    assert in_order(found) == expected
    assert found.schema.equals(stream.schema)
    reader = TABLE.to_reader(max_chunksize=7)
    assert in_order(pa.table(wr.cql(TEXT, t=reader, lateness="0 seconds").run())) == expected

    async def later():
        for each in batches():
            yield each

    async def all_answers():
        answers = wr.cql(TEXT, t=later(), lateness="0 seconds").run()
        return [row async for batch in answers for row in batch.to_pylist()]

    assert sorted(asyncio.run(all_answers()), key=str) == expected


def test_statements_over_a_stream_take_one_pass():
    text = "SELECT MAX(x) FROM t [ROWS 3 ON ts]; SELECT MAX(x) AS top FROM t [ROWS 9 ON ts]"
    few, many = wr.cql(text, t=batches(), lateness="0 seconds").run()
    tables = wr.cql(text, t=TABLE).run()
    assert [pa.Table.from_batches(list(each)).to_pydict() for each in (few, many)] == [
        each.to_pydict() for each in tables
    ]
    with pytest.raises(wr.InvalidArgument, match="is read once"):
        wr.cql(f"{text}; SELECT MIN(x) FROM t [ROWS 4 ON ts]", t=batches(), lateness="0 seconds")


def test_what_a_stream_cannot_do_is_refused():
    with pytest.raises(wr.InvalidArgument, match="name the column that orders events"):
        wr.cql("SELECT MAX(x) FROM t [ROWS 3]", t=batches(), lateness="0 seconds")
    query = wr.cql(
        "SELECT ISTREAM(MAX(x) - MIN(x) AS d) FROM t [ROWS 3 ON ts]", t=batches(), lateness="1 s"
    )
    with pytest.raises(wr.InvalidArgument, match="select every aggregate by itself"):
        query.run()
    with pytest.raises(wr.InvalidArgument, match="checkpoint: is for streams"):
        wr.cql("SELECT MAX(x) FROM t [ROWS 3]", t=TABLE, checkpoint="somewhere").run()


def test_a_stream_goes_on_from_its_checkpoint(tmp_path):
    text = "SELECT SUM(x * 2) AS s FROM t [ROWS 5 ON ts] GROUP BY k"

    def source(offset):
        begin = 0 if offset is None else offset
        for first in range(begin, 30, 7):
            yield TABLE.slice(first, 7), first + 7

    def started():
        kept = wr.Checkpoint(tmp_path / "state")
        return wr.cql(text, t=source, lateness="0 seconds", checkpoint=kept).run()

    rows = []
    with started() as stream:
        rows += next(stream).to_pylist() + next(stream).to_pylist()
        stream.commit()
    with started() as stream:
        rows += [row for batch in stream for row in batch.to_pylist()]
    assert sorted(rows, key=str) == in_order(wr.cql(text, t=TABLE).run())
