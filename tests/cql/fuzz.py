"""Mutated queries: each is refused with a WindrowError or read, and never anything else.

python -m tests.cql.fuzz 100000          # prints counts, the slowest query and the memory taken

Memory is what the process takes beyond what it took before the first query: its resident peak.
`test_fuzz.py` traces what Python takes, for few queries, because tracing takes six times as long.
"""

import datetime as dt
import resource
import sys
import time

import pyarrow as pa

import windrow as wr
from tests.support.cql.mutations import mutated_queries

MOST_BYTES = 100 * 2**20


def examined(text: str, tables: dict) -> bool:
    """Whether a query is right; its text is then read as the same query, and it has a plan."""
    try:
        query = wr.cql(text, **tables)
    except wr.WindrowError:
        try:  # a query that is wrong only about its tables can be written all the same
            query = wr.cql(text)
        except wr.WindrowError:
            return False
        assert wr.cql(str(query)).statements == query.statements, text
        return False
    assert wr.cql(str(query)).statements == query.statements, text
    return True


def tables() -> dict:
    """What the queries are about."""
    moments = [dt.datetime(2024, 5, 1, hour) for hour in range(3)]
    calls = pa.table(
        {
            "ts": moments, "len": [1.0, 2.0, 3.0], "price": [1.5, None, 3.0],
            "quantity": [1, 2, 3], "amount": [3, 1, 2], "caller": ["ann", "bob", "ann"],
            "user": ["ann", "bob", "ann"], "region": ["eu", "us", "eu"],
        }
    )  # fmt: skip
    small = wr.policy(lambda total, oldest: total - oldest > 3, of=wr.sum("len"))
    return {"calls": calls, "price": calls, "amount": calls, "user": calls, "small": small}


def main(count: int, seed: int) -> None:
    """Examine so many queries."""
    given = tables()
    right, slowest, worst = 0, 0.0, ""
    wr.cql("SELECT COUNT(*) FROM calls", **given)
    before = _peak()
    for text in mutated_queries(seed, count):
        began = time.perf_counter()
        right += examined(text, given)
        taken = time.perf_counter() - began
        if taken > slowest:
            slowest, worst = taken, text
    most = _peak() - before
    print(
        f"{count:,} queries, {right:,} of them right; the slowest took {slowest:.3f} s: {worst!r}"
    )
    print(f"{most / 2**20:.1f} MB at most")
    assert most < MOST_BYTES


def _peak() -> int:
    """The most bytes that the process had in memory."""
    kilobytes = 2**10 if sys.platform == "linux" else 1
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * kilobytes


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
