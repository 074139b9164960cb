"""Conditions as text: what they are true of, and what is refused."""

import functools
import pickle

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.algebra.conditions import TABLE, true_of
from tests.support.examples import examples
from windrow.algebra.condition_text import parse


@functools.cache
def duckdb_with_table() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.register("given", TABLE.append_column("row", pa.array(range(TABLE.num_rows))))
    connection.execute("CREATE TABLE numbered AS SELECT * FROM given")
    return connection


def by_duckdb(text: str) -> list[int]:
    query = f"SELECT row FROM numbered WHERE {text} ORDER BY row"
    return [row for (row,) in duckdb_with_table().execute(query).fetchall()]


@pytest.mark.parametrize(
    "text",
    [
        "n = 2", "n <> 2", "n != 2", "n < 2", "n <= 2", "2 < n", "n >= -5", "x > 1e0", "x > .5",
        "n > x", "name = 'a'", "name = 'it''s'", "name < 'b'", "ok", "not ok", "ok = true",
        "OK IS NULL".replace("OK", "ok"), "n is not null", "n in (1, 4, 9)", "n not in (1, 4)",
        "name in ('a', 'c')", "x between 0 and 3", "x not between 0 and 3", "price > 1.75",
        "price = 2", "n = 1 or n = 2 and x is null", "(n = 1 or n = 2) and x is null",
        "not (n = 1 or ok)", "not not ok", "n = null_safe".replace("null_safe", "4"),
        "ts > '2024-05-03'", "ts <= '2024-05-02 00:00:00'", "day = '2024-05-04'",
        f"n < {9 * 10**30}", f"x > -{10**25}", f"n in (1, {2**70})", f"price < {2**64}",
        f"n > {-2**63}", f"n between {-10**20} and {10**20}", f"n = {2**63} or n = 2",
        "day in ('2024-05-04', '2024-05-05')", '"two words" >= 4', "n is null or not n > 1",
    ],
)  # fmt: skip
def test_conditions_are_true_of_what_sql_says(text):
    assert true_of(text) == by_duckdb(text)


SMALL = st.integers(-2, 2)
DIVISORS = st.sampled_from(["2", "3", "-4", "0.5", "1e0"])
SIGNS = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
LEAVES = st.one_of(
    st.sampled_from(["n", "x", "price", "-n", "- -x", "1.5", ".25", "2e0"]), SMALL.map(str)
)
NUMBERS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds("{} {} {}".format, inner, st.sampled_from("+-*"), inner),
        st.builds("{} {} {}".format, inner, st.sampled_from("/%"), DIVISORS),
        st.builds("-({})".format, inner),
        st.builds("({})".format, inner),
    ),
    max_leaves=4,
)
PATTERNS = st.text("ab_%i't\n", max_size=4).map(lambda text: text.replace("'", "''"))
SPANS = st.sampled_from(["interval '1 day'", "interval '36 hours'", "2 * interval '12 hours'"])
TIMES = st.one_of(
    st.sampled_from(["ts", "day", "timestamp '2024-05-03 12:00:00'", "date '2024-05-02'"]),
    st.builds("ts {} {}".format, st.sampled_from("+-"), SPANS),
)
ATOMS = st.one_of(
    st.builds("{} {} {}".format, NUMBERS, SIGNS, NUMBERS),
    st.builds("{} between {} and {}".format, NUMBERS, SMALL, NUMBERS),
    st.builds("{} not in ({}, {})".format, NUMBERS, NUMBERS, SMALL),
    st.builds("{} is not null".format, NUMBERS),
    st.builds("name {} '{}'".format, st.sampled_from(["like", "not like", "ilike"]), PATTERNS),
    st.builds(
        "name like '{}' escape '!'".format, PATTERNS.map(lambda text: text.replace("a", "!%"))
    ),
    st.builds("{} {} {}".format, TIMES, SIGNS, TIMES),
    st.builds("ts - timestamp '2024-05-03' {} {}".format, SIGNS, SPANS),
    st.sampled_from(["ok", "x is null", "n is not null", "n > x"]),
)
TEXTS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds("({} and {})".format, inner, inner),
        st.builds("{} or {}".format, inner, inner),
        st.builds("not {}".format, inner),
    ),
    max_leaves=6,
)


@given(text=TEXTS)
@examples(25)
def test_any_condition_is_true_of_what_sql_says(text):
    found = true_of(text)
    assert found == by_duckdb(text)
    written = str(parse(text))
    assert parse(written) == parse(text)
    assert str(parse(written)) == written


@pytest.mark.parametrize("joined", [" or ", " and "])
def test_chains_of_any_length_and_any_number_of_nots(joined):
    condition = joined.join([*["n = 2"] * 3000, *["not " * 2000 + "not n <> 2"]])
    assert true_of(condition) == [1]
    measure = wr.sum("n").where(condition)
    for _ in range(1500):
        measure = measure.where("n = 2")
    found = wr.over(TABLE, windows=wr.rows(9), aggs=pickle.loads(pickle.dumps(measure)))
    assert found["sum_n"].to_pylist() == [None, 2, 2, 2, 2]
    assert true_of(50 * "(" + condition + 50 * ")") == [1]


def test_times_of_a_zone_are_compared_in_it():
    zoned = pa.table({"ts": TABLE["ts"].cast(pa.timestamp("us", "Europe/Berlin"))})
    # Midnight in Berlin is two hours before midnight UTC.
    assert true_of("ts >= '2024-05-03'", zoned) == [2, 3, 4]
    assert true_of("ts >= '2024-05-03T01:00:00Z'", zoned) == [3, 4]


def test_backquotes_and_case_of_keywords():
    assert true_of("`two words` >= 4 AND NOT n IS NULL") == [3, 4]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        # SQL differs among its engines here; these are Spark's answers without ANSI.
        ("10 / n > 2", [0, 1, 3]),
        ("1 / (n - 4) is null", [2, 3]),
        ("n % (n - 4) is null", [2, 3]),
        ("x % (n - 1) is null", [0, 1, 2]),
        ("price % 0 is null", [0, 1, 2, 3, 4]),
        ("price % 1.5 = 0.99", [3]),
        ("n * 0.1 = 0.4", [3]),
        ("name like 'it\\_s' or name like '_'", [0, 3, 4]),
        ("name like '%''%'", [1]),
        ("day - date '2024-05-01' >= interval 2 days", [2, 3, 4]),
        ("ts - day = '0 seconds' and ts + interval '1' hour > date '2024-05-04'", [3, 4]),
        ("(ts - day) / interval '1 hour' = 0", [0, 1, 2, 3, 4]),
        ("ts - day in ('0 seconds')", [0, 1, 2, 3, 4]),
        ("interval '3 days' / 2 = interval '36 hours' and n > 0", [0, 1, 3]),
        ("-(ts - timestamp '2024-05-03') * 1.5 = interval '36 hours'", [1]),
        (f"n in ({', '.join(map(str, range(2, 3000)))})", [1, 3]),
        ("n in (x, 4)", [3]),
        ("x / 0 > 1 or 0 / 0 is not null", []),
        ("-9223372036854775808 % -1 = 0 and n = 1", [0]),
    ],
)
def test_what_engines_of_sql_do_not_agree_on(text, rows):
    assert true_of(text) == rows
    assert parse(str(parse(text))) == parse(text)


def test_nan_is_equal_to_nothing():
    table = pa.table({"x": [1.0, float("nan"), None]})
    assert true_of("x > 0 or x <= 0 or x = x or x in (1e0)", table) == [0]
    assert true_of("x * 0 <> x - x", table) == [1]


@pytest.mark.parametrize("text", ["n * n > 0", "-n > 0", "n + n > 0", "d * 2 > '1 hour'"])
def test_integers_that_overflow_are_an_error_with_a_way_out(text):
    table = pa.table({"n": [-(2**63)], "d": pa.array([-(2**62) - 1], pa.duration("us"))})
    with pytest.raises(wr.AggregateOverflow, match=r"^where: .* 64 bits in .*; write 1e0 \* for"):
        true_of(text, table)
    assert true_of("1e0 * n * n > 0 and n % 2 = 0", table) == [0]


def test_words_that_begin_literals_name_columns_too():
    names = ["date", "timestamp", "interval", "like", "escape", "and", 'a"b']
    table = pa.table({name: [1, 2] for name in names})
    text = """date = 1 AND timestamp=1 and interval = like and escape < 2 and "and" = `a"b`"""
    assert true_of(text, table) == [0]
    assert str(parse(text)) == (
        'date = 1 and timestamp = 1 and interval = like and escape < 2 and "and" = "a""b"'
    )


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("x>1", "x > 1"),
        ("((x) > (1)) AND NOT ((ok))", "x > 1 and not ok"),
        ("not (x is null)", "x is not null"),
        ("(a + b) + c * (d * e) == 1.50", "a + b + c * (d * e) = 1.5"),
        ("a - (b - c) <> -(3)", "a - (b - c) != -(3)"),
        ("ts>TIMESTAMP '2024-01-01T00:00:00'", "ts > timestamp '2024-01-01 00:00:00'"),
        ("d >= Interval 1 hour 30 minutes", "d >= interval '90 minutes'"),
        ("(a or b) and (c and d)", "(a or b) and c and d"),
    ],
)
def test_one_condition_is_written_in_one_way(text, same):
    assert str(parse(text)) == str(parse(same)) == same


def test_arithmetic_of_any_length_and_nesting_to_the_limit():
    assert true_of("n" + " + 1" * 3000 + " = 3001") == [0]
    assert true_of("- " * 3001 + "n = 5") == [4]
    nested = "n"
    for _ in range(12):
        nested = f"(1 * -({nested} - 1) + 1)"
    deepest = 25 * "(not (ok and " + "n > 0" + 25 * "))"
    assert true_of(f"{nested} = n and n > 0") == true_of("n > 0")
    assert true_of(deepest) == by_duckdb(deepest)
    assert pickle.loads(pickle.dumps(parse(deepest))) == parse(deepest)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n >", "a column or a value is missing before 'the end' in 'n >'"),
        ("", "a column or a value is missing"),
        ("n ~ 3", "'~' is not understood"),
        ("n = 3 x", "'x' is one too many"),
        ("(n = 3", "')' is missing before 'the end'"),
        ("n is 3", "'null' is missing before '3'"),
        ("n in ()", "a column or a value is missing before ')'"),
        ("n not 3", "'in' or 'between' is missing"),
        ("n = - ", "a column or a value is missing before 'the end'"),
        ("n * / 2 > 1", "a column or a value is missing before '/'"),
        ("1 < n < 3", "compare two values at a time, and join with 'and'"),
        ("n = null", "nothing equals null; write 'is null' or 'is not null'"),
        ("name like n", "a pattern in quotes is missing before 'n'"),
        ("name like 'a' escape '..'", "an escape is one character, not '..'"),
        ("name like 'a!' escape '!'", "the pattern 'a!' ends with its escape"),
        ("ts > timestamp 'soon'", "'soon' is no timestamp; write timestamp '2024-01-31 12:00:00'"),
        ("day = date '2024-02-30'", "'2024-02-30' is no date; write date '2024-01-31'"),
        ("ts - ts > interval '1 month'", "has no fixed length, because months and years differ"),
        ("ts - ts > interval 3", "'3' is no duration; write a number and a unit"),
        ("n = " + 5000 * "9", "a number has more than 76 digits; write it as a float, as 1e80, in"),
        (3000 * "(" + "ok" + 3000 * ")", "parentheses are nested more than 50 deep"),
    ],
)
def test_what_is_no_condition_is_refused_when_it_is_written(text, message):
    with pytest.raises(wr.InvalidArgument) as refusal:
        wr.sum("n").where(text)
    assert message in str(refusal.value)
    assert str(refusal.value).startswith("where: ")
    assert "write conditions such as" in str(refusal.value)


def test_a_caret_points_to_what_is_wrong():
    with pytest.raises(wr.InvalidArgument) as refusal:
        wr.sum("n").where("n = 1 and" + 30 * "\n  ok and" + " n >> 3 or ok")
    _message, shown, caret = str(refusal.value).splitlines()
    assert shown[caret.index("^") :].startswith("> 3 or ok")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q = 1", "where: there is no column 'q'; there are n, x"),
        ("n", "where: 'n' is int64 and no condition"),
        ("name > 3", "where: 'name > 3' cannot be computed"),
        ("ts > 'soon'", "cannot be computed: 'soon' is no time; write it as in '2024-01-31"),
        ("name + 1 > 3", "there is no + of string and int64"),
        (
            "day + 1 > ts",
            "there is no + of date32[day] and int64; write days as in interval '3 days'",
        ),
        ("ts - '2024-05-01' > '1 day'", "write times as in timestamp '2024-01-31 12:00:00'"),
        ("ts * 2 > ts", "there is no * of timestamp[us] and int64"),
        ("n like 'a%'", "cannot be computed"),
        ("not n", "cannot be computed"),
    ],
)
def test_what_the_table_cannot_answer_is_refused_when_the_call_is_made(text, message):
    with pytest.raises(wr.InvalidArgument) as refusal:
        wr.over(TABLE, windows=wr.rows(2), aggs=wr.sum("n").where(text))
    assert message in str(refusal.value)


def test_a_condition_is_a_text():
    with pytest.raises(wr.InvalidArgument, match="where: a condition is a text, not True"):
        wr.sum("n").where(True)


@pytest.mark.parametrize("text", ["x > 1e-3", "x in (1, (y or z))"])
def test_what_is_written_is_read_as_the_same(text):
    # Found: by mutated queries. Floats were written as decimals, lists without parentheses.
    condition = parse(text)
    assert parse(condition.text) == condition
