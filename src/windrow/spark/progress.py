"""What Spark's UI says of the jobs that windrow itself starts.

The others are the user's: of those, Spark shows what their plans say (see `source.title`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
