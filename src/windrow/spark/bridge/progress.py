"""What Spark's UI says about the jobs that windrow starts, and how a query's counts are named.

All other jobs are the user's. For those, Spark shows what their plans say (see `source.title`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

#: how many queries over streams have each title
_GIVEN: Counter[str] = Counter()
_ONE_AT_A_TIME = Lock()

_DESCRIPTION = "spark.job.description"


@contextmanager
def job_description(session: Any, text: str) -> Iterator[None]:
    """Describe the jobs that this thread starts meanwhile; a client of Connect tags them."""
    if type(session).__module__.startswith("pyspark.sql.connect."):
        tag = text.replace(",", ";")  # Spark separates tags by commas.
        session.addTag(tag)
        try:
            yield
        finally:
            session.removeTag(tag)
        return
    context = session.sparkContext
    usual = context.getLocalProperty(_DESCRIPTION)
    context.setJobDescription(text)
    try:
        yield
    finally:
        context.setLocalProperty(_DESCRIPTION, usual)


def unique_title(title: str) -> str:
    """A title that no other query of the process has: Spark refuses two of one name in a plan.

    >>> unique_title("windrow slide: max(x)"), unique_title("windrow slide: max(x)")
    ('windrow slide: max(x)', 'windrow slide: max(x) (2)')
    """
    with _ONE_AT_A_TIME:
        _GIVEN[title] += 1
        number = _GIVEN[title]
    return title if number == 1 else f"{title} ({number})"
