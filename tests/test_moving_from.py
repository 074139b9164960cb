"""Flink and tempo answer what the pages about moving from them say.

Neither goes into one environment with windrow: environment variables name interpreters that have
them. Without those, the tests of the docs still run windrow's side.
"""

from pathlib import Path

import pyarrow.csv

from tests.support.docs.elsewhere import answers_of, first_block, pairs_of, sorted_rows

PAGES = Path(__file__).parent.parent / "docs" / "moving_from"

FLINK = """
import json, sys
from pyflink.table import EnvironmentSettings, TableEnvironment

statements = json.load(sys.stdin)
flink = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
flink.get_config().set("parallelism.default", "1")
create, *queries = statements
flink.execute_sql(create)
answers = []
for query in queries:
    with flink.execute_sql(query).collect() as rows:
        answers.append([list(row) for row in rows])
print(json.dumps(answers, default=lambda value: value.isoformat()))
"""


def test_flink_answers_as_the_page_says(tmp_path: Path, interpreted: None) -> None:
    page, namespace = PAGES / "flink_sql.md", {}
    pairs = pairs_of(page, "sql", namespace)
    events = tmp_path / "bids.csv"
    options = pyarrow.csv.WriteOptions(include_header=False, quoting_style="none")
    pyarrow.csv.write_csv(namespace["bids"], events, options)
    create = first_block(page, "sql").replace("bids.csv", events.as_uri())
    statements = [create, *(pair.other for pair in pairs)]
    answers = answers_of("WINDROW_FLINK_PYTHON", "apache-flink", FLINK, statements)
    assert len(answers) == 6
    for pair, answer in zip(pairs, answers, strict=True):
        assert answer
        assert sorted_rows(answer) == pair.windrow, pair.other


TEMPO = """
import ast, json, sys
from datetime import datetime
from pyspark.sql import SparkSession

told = json.load(sys.stdin)
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.sql.session.timeZone", "UTC")
spark = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
names = {}
for name, rows in told["tables"].items():
    rows = [{**row, "ts": datetime.fromisoformat(row["ts"])} for row in rows]
    names[name] = spark.createDataFrame(rows)
answers = []
for code in told["blocks"]:
    *first, last = ast.parse(code).body
    if not isinstance(last, ast.Expr):
        exec(code, names)
        continue
    exec(compile(ast.Module(first, []), "page", "exec"), names)
    found = eval(compile(ast.Expression(last.value), "page", "eval"), names)
    answers.append([list(row) for row in found.collect()])
print(json.dumps(answers, default=lambda value: value.isoformat()))
"""


def test_tempo_answers_as_the_page_says(interpreted: None) -> None:
    page, namespace = PAGES / "tempo.md", {}
    pairs = pairs_of(page, "python tempo", namespace)
    tables = {
        name: [row | {"ts": row["ts"].isoformat()} for row in namespace[name].to_pylist()]
        for name in ("ticks", "trades")
    }
    blocks = [first_block(page, "python tempo"), *(pair.other for pair in pairs)]
    told = {"tables": tables, "blocks": blocks}
    answers = answers_of("WINDROW_TEMPO_PYTHON", "dbl-tempo", TEMPO, told)
    assert len(answers) == 6
    for pair, answer in zip(pairs, answers, strict=True):
        assert answer
        assert sorted_rows(answer) == pair.windrow, pair.other
