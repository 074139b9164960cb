"""What Spark's UI says of the jobs that windrow itself starts, and how it names what it counts.

The other jobs are the user's: of those, Spark shows what their plans say (see `source.title`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

#: how many queries over streams have had each title
_GIVEN: Counter[str] = Counter()
_ONE_AT_A_TIME = Lock()

_DESCRIPTION = "spark.job.description"


@contextmanager
def described(session: Any, text: str) -> Iterator[None]:
    """While it lasts, jobs of this thread say what they are for; a client of Connect tags them."""
    if type(session).__module__.startswith("pyspark.sql.connect."):
        tag = text.replace(",", ";")  # of which Spark's lists of tags are made
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


def distinct(title: str) -> str:
    """A title that no other query of the process has: Spark takes no two of one name in one plan.

    >>> distinct("windrow slide: max(x)"), distinct("windrow slide: max(x)")
    ('windrow slide: max(x)', 'windrow slide: max(x) (2)')
    """
    with _ONE_AT_A_TIME:
        _GIVEN[title] += 1
        number = _GIVEN[title]
    return title if number == 1 else f"{title} ({number})"
