"""Texts are read as trees that write themselves; a wrong text is shown where it is wrong."""

import pytest

import windrow as wr
from tests.support.cql.sentences import Sentences
from windrow.cql.parser import parse_query


def test_the_parser_reads_what_the_grammar_says():
    for seed in range(150):
        statements = parse_query(Sentences(seed).sentence())
        assert parse_query(";".join(each.text for each in statements)) == statements


def test_a_query_is_written_in_one_way():
    text = """-- what is sold
    select sum(price*2), count( * ) as n from "from"[rows 10 slide 5 rows on ts] -- the newest
    where x=1 AND not(y is NULL) group by a,b having n>3 ; ;"""
    assert str(wr.cql(text)) == (
        "SELECT sum(price * 2), count(*) AS n\n"
        'FROM "from" [ROWS 10 SLIDE 5 ON ts]\n'
        "WHERE x = 1 and y is not null\n"
        "GROUP BY a, b\n"
        "HAVING n > 3"
    )


@pytest.mark.parametrize(
    ("text", "line", "place", "said"),
    [
        ("SELCT x FROM t", 1, 0, "SELECT is expected before 'SELCT'; did you mean 'SELECT'?"),
        ("SELECT MAX(x)\nFORM t [ROWS 3]", 2, 0, "FROM is expected before 'FORM'; did you mean"),
        ("SELECT MAX(x)\n  FROM t [RWOS 3]", 2, 10, "one of ROWS, RANGE, DELTA"),
        ("SELECT MAX(x) FROM t [ROWS 3 SLIED 1]", 1, 29, "did you mean 'SLIDE'?"),
        ("SELECT MAX(x FROM t", 1, 13, "')', ',' or an operator is expected before 'FROM'"),
        ("SELECT MAX(x) FROM t [RANGE 1]", 1, 29, "a unit of time, as in RANGE 1 HOUR,"),
        ("SELECT MAX(x) FROM t [RANGE 5 m]", 1, 28, "write MINUTES or MONTHS"),
        ("SELECT MAX(x) FROM t WHERE MAX(x) > 3", 1, 27, "use HAVING for aggregates"),
        ("SELECT MAX(SUM(x)) FROM t", 1, 11, "SUM is inside another aggregate"),
        ("SELECT MAX(x) FROM t GROUP region", 1, 27, "BY is expected before 'region'"),
        ("SELECT MAX(x) FROM t LIMIT 3", 1, 21, "';' or the end is expected"),
        ("SELECT MAX(x) FROM t WHERE x = 'a", 1, 31, "is not understood"),
        ("SELECT 3 +\n", 1, 10, "a column or a value is missing before 'the end'"),
        ("SELECT MAX(x, k => y) FROM t", 1, 19, "a number, a text, true or false is expected"),
        ("", 1, 0, "SELECT is expected before 'the end'"),
    ],
)
def test_an_error_shows_the_line_and_the_place(text, line, place, said):
    with pytest.raises(wr.InvalidArgument) as refused:
        wr.cql(text)
    first, shown, caret = str(refused.value).split("\n")
    assert first.startswith(f"cql: line {line}: ")
    assert said in first
    assert shown == f"    {text.splitlines()[line - 1] if text else ''}"
    assert caret.index("^") == place + 4
