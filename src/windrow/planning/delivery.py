"""How a stream gives its answers: when they are final or at once, and what becomes of late events.

emit="final"      [ window ]              answer
emit="updates"    [ window ]  0 . 1 . . 2 . final
                       time ----- watermark ---- allowed_lateness ---->
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

import pyarrow as pa

from windrow.algebra.durations import NANOSECONDS, nanoseconds
from windrow.algebra.kinds import plain_type
from windrow.algebra.literals import require_one_of
from windrow.errors import InvalidArgument

#: when answers are given
Emit = Literal["final", "updates"]
#: what becomes of late events
Late = Literal["drop", "side"]

#: columns of answers with revisions, and the one that holds late events
REVISION, FINAL, LATE = "revision", "final", "late"


@dataclass(frozen=True)
class Delivery:
    """How a stream gives its answers.

    Attributes:
        updates: whether answers are given at once, and revised.
        allowed: how far behind the watermark events still revise answers, in milliseconds.
        side: whether late events are given as rows.
    """

    updates: bool = False
    allowed: int = 0
    side: bool = False

    @classmethod
    def of(cls, emit: object, allowed_lateness: str | timedelta | None, late: object) -> Delivery:
        """Check the arguments of a call."""
        require_one_of(Emit, "emit", emit)
        require_one_of(Late, "late", late)
        allowed = 0
        if allowed_lateness is not None:
            allowed = nanoseconds(allowed_lateness, "allowed_lateness")
            millisecond = NANOSECONDS["millisecond"]
            if allowed < 0 or allowed % millisecond:
                raise InvalidArgument(
                    "allowed_lateness: give a number of milliseconds that is not negative, not "
                    f"{allowed_lateness!r}"
                )
            if emit != "updates":
                raise InvalidArgument(
                    "allowed_lateness: corrects answers that were given, so say emit='updates'; "
                    "with emit='final', give a longer lateness="
                )
            allowed //= millisecond
        return cls(emit == "updates", allowed, late == "side")

    def columns(self, answers: pa.Schema, events: pa.Schema) -> pa.Schema:
        """The columns of answers to such events, with what the delivery adds."""
        added = [pa.field(REVISION, pa.int64()), pa.field(FINAL, pa.bool_())] * self.updates
        if self.side:
            # A struct cannot be filtered if one of its columns is run-end encoded or a view.
            fields = [pa.field(field.name, plain_type(field.type)) for field in events]
            answers = pa.schema([field.with_nullable(True) for field in answers])
            added.append(pa.field(LATE, pa.struct(fields)))
        self._require_new([field.name for field in added], answers.names)
        return pa.schema([*answers, *added])

    def _require_new(self, added: Iterable[str], names: Iterable[str]) -> None:
        for name in set(added) & set(names):
            argument = "late" if name == LATE else "emit"
            raise InvalidArgument(
                f"{argument}: adds a column {name!r} to the answers, which have one already; give "
                "the aggregation an alias=, or rename the column of data"
            )

    def rows(self, answers: pa.Table, schema: pa.Schema) -> pa.Table:
        """Answers with an empty column for late events, if there is one."""
        if not self.side:
            return answers
        return answers.append_column(LATE, pa.nulls(answers.num_rows, schema.field(LATE).type))


def late_rows(events: pa.Table, schema: pa.Schema) -> pa.Table:
    """Late events as rows of a result with this schema: all other columns are null.

    Their columns are in plain types (see `plain_type`).
    """
    size, held = events.num_rows, schema.field(LATE).type
    columns = [pa.concat_arrays(events[field.name].chunks).cast(field.type) for field in held]
    late = pa.StructArray.from_arrays(columns, fields=list(held))
    return pa.table(
        [late if field.name == LATE else pa.nulls(size, field.type) for field in schema],
        schema=schema,
    )


#: answers once, when they are final; late events are dropped
FINAL_ONLY = Delivery()
