"""The windows of the suite `iterators` in Pathway: a program for an interpreter that has it.

Prints the seconds from the start of the run to the last answer. All events are there when it
starts, so that it has nothing to wait for.
"""

import json
import sys
import time

import pandas as pd
import pathway as pw


def main(events: int, keys: int) -> None:
    """Max and mean of 60 seconds every second, of each key."""
    numbers = pd.RangeIndex(events).to_series()
    frame = pd.DataFrame({"k": numbers % keys, "ts": numbers // keys, "x": (numbers * 7 % 101) / 7})
    table = pw.debug.table_from_pandas(frame)
    windows = table.windowby(
        table.ts, window=pw.temporal.sliding(hop=1, duration=60), instance=table.k
    )
    answers = windows.reduce(
        k=pw.this._pw_instance,
        end=pw.this._pw_window_end,
        highest=pw.reducers.max(pw.this.x),
        mean=pw.reducers.avg(pw.this.x),
    )
    pw.io.null.write(answers)
    started = time.perf_counter()
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    print(json.dumps({"seconds": time.perf_counter() - started}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
