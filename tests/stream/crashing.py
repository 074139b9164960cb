"""A streaming query to be killed: `python -m tests.stream.crashing FOLDER`.

It reads FOLDER/events, writes FOLDER/answers, and ends when there are no more events.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import windrow as wr
from tests.stream.conftest import PROVIDER, ROCKSDB
from tests.stream.files import read_stream, run_to_end

#: what is asked, also of the table that the answers are compared with
ASKED: dict[str, Any] = {
    "key": ["user", "zone"],
    "order": ["ts", "place"],
    "windows": {
        "fast": wr.time("10 seconds", every="2 seconds"),
        "slow": wr.time("1 minute", every="15 seconds"),
    },
    "aggs": [wr.max("x"), wr.sum("n"), wr.count("x"), wr.arg_max("x", "place")],
}


def main(folder: Path) -> None:
    from windrow.spark.session import local_session

    session = local_session(
        "windrow crashes",
        cores=2,
        log_file=folder / "spark.log",
        **{PROVIDER: ROCKSDB, "spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g"},
    )
    stream = read_stream(session, folder / "events")
    run_to_end(wr.slide(stream, lateness="10 seconds", **ASKED), folder / "answers")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
