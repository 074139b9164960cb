"""What does not fit its table is refused when the query is made, at its place in the text."""

import datetime as dt

import pyarrow as pa
import pytest

import windrow as wr

pytestmark = pytest.mark.usefixtures("interpreted")

CALLS = pa.table(
    {
        "ts": [dt.datetime(2026, 5, 1) + dt.timedelta(minutes=7 * row) for row in range(9)],
        "len": [float(row * 7 % 11) for row in range(9)],
        "caller": [f"caller {row % 5}" for row in range(9)],
        "region": ["eu" if row % 3 else "us" for row in range(9)],
    }
)
SMALL = wr.policy(lambda total, oldest: total - oldest > 30, of=wr.sum("len"))


@pytest.mark.parametrize(
    ("text", "shown", "said"),
    [
        ("SELECT MX(len) FROM calls [ROWS 3]", "MX", "did you mean 'max'?"),
        ("SELECT AVGG(len) FROM calls [ROWS 3]", "AVGG", "did you mean 'avg'?"),
        ("SELECT MAX(lne) FROM calls [ROWS 3]", "lne", "did you mean 'len'?"),
        ("SELECT MAX(len) FROM cals [ROWS 3]", "cals", "did you mean 'calls'?"),
        ("SELECT MAX(len) FROM calls [POLICY smal]", "[", "there is no policy 'smal'"),
        ("SELECT MAX(len + caller) FROM calls [ROWS 3]", "len", "there is no + of"),
        ("SELECT MAX(len) FROM calls [ROWS 3] WHERE len", "len", "is double and no condition"),
        ("SELECT len, MAX(len) FROM calls [ROWS 3 SLIDE 2]", "len", "an answer is of a window"),
        ("SELECT MAX(len) FROM calls [ROWS 0]", "[", "at least 1 row"),
        ("SELECT MAX(len) FROM calls [ROWS 3, mini => 3]", "[", "ROWS has no such option: mini"),
        ("SELECT len FROM calls [ROWS 3]", "SELECT", "nothing is aggregated"),
        ("SELECT QUANTILE(len, 7) FROM calls [ROWS 3]", "QUANTILE", "q"),
        ("SELECT MAX(len), MAX(len) FROM calls [ROWS 3]", "MAX(len) FROM", "two columns"),
        ("SELECT MAX(len) FROM calls [ROWS 3], [ROWS 3 SLIDE 2]", "[", "answers every event"),
        ("SELECT MAX(len) FROM calls [PARTITION BY len ROWS 3] GROUP BY region", "[", "partition"),
        ("SELECT ISTREAM(MAX(len)) FROM calls [CALENDAR 1 DAY]", "[", "use RSTREAM"),
        ("SELECT MAX(len) FROM calls [SESSION 1 HOUR SLIDE 5]", "[", "leave SLIDE out"),
        ("SELECT 1 + SUM(caller) FROM calls [ROWS 3]", "SUM", "cannot take a column of type"),
        ("SELECT MAX(len) FROM calls [RANGE 1 HOUR ON len]", "[", "measures by a timestamp"),
        ("SELECT MAX(len) FROM calls [DELTA caller 3]", "[", "needs a column of numbers"),
        ("SELECT LAG(len, 5) FROM calls [ROWS 3]", "LAG", "needs a window of 6 rows"),
        ("SELECT LEAD(len) FROM calls [ROWS 3 SLIDE 1]", "LEAD", "looks ahead"),
        ("SELECT 1, MAX(len) + caller AS x FROM calls [ROWS 3]", "MAX", "'MAX(len) + caller'"),
        ("SELECT MAX(len) FROM calls [ROWS 3] HAVING MAX(len) > 'a'", "MAX(len) >", 'HAVING: "MAX'),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_tables_is_refused_at_its_place(text, shown, said):
    with pytest.raises(wr.InvalidArgument) as refused:
        wr.cql(text, calls=CALLS, small=SMALL)
    first, line, caret = str(refused.value).split("\n")
    assert said in first
    assert line[caret.index("^") :].startswith(shown)


def test_one_of_several_times_is_named():
    table = CALLS.append_column("sent", CALLS["ts"])
    with pytest.raises(wr.InvalidArgument, match=r"several columns are times \(ts, sent\)"):
        wr.cql("SELECT MAX(len) FROM calls [ROWS 3]", calls=table)
    query = wr.cql("SELECT MAX(len) FROM calls [ROWS 3 ON sent]", calls=table)
    assert query.run().column_names[0] == "sent"
