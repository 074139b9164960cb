"""Labels with the features of their moment: `python examples/training_data.py`.

A label says what was known to be true at a moment. Its features may hold what came before that
moment, and nothing else. `wr.as_of` answers just that, from several sources in one call.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import pandas as pd

import windrow as wr

START = datetime(2026, 5, 4, 8)


def at(*minutes: int) -> list[datetime]:
    return [START + timedelta(minutes=minute) for minute in minutes]


def training_data() -> pd.DataFrame:
    payments = pd.DataFrame(
        {
            "user": ["ann", "ann", "bob", "ann", "bob"],
            "ts": at(0, 30, 40, 95, 100),
            "amount": [12.0, 30.0, 8.0, 400.0, 9.0],
        }
    )
    logins = pd.DataFrame(
        {"user": ["ann", "bob", "ann"], "ts": at(1, 35, 94), "country": ["DE", "FR", "RO"]}
    )
    labels = pd.DataFrame(
        {"user": ["ann", "bob", "ann"], "ts": at(90, 90, 120), "fraud": [0, 0, 1]}
    )
    return wr.as_of(
        labels,
        {"payments": payments, "logins": logins},
        key="user",
        order="ts",
        windows={
            "1h": wr.time("1 hour", closed="left"),
            "30d": wr.time("30 days", closed="left"),
        },
        aggs={
            "payments": [wr.count(), wr.max("amount")],
            "logins": wr.last("country"),
        },
    )


def main() -> None:
    print(training_data().to_string(index=False))


if __name__ == "__main__":
    main()
