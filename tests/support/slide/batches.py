"""`wr.slide` over batches of a sorted stream."""

from typing import Any

import pyarrow as pa

from tests.support.over.batches import cut
from windrow.engine.slide_batches import slide_batches
from windrow.planning.choose import Wish
from windrow.planning.slide_plan import resolve_slide


def stream(
    table: pa.Table, sizes: list[int], arguments: dict[str, Any], **further: Any
) -> pa.Table:
    """The answers over the rows of a sorted table, batch by batch."""
    settings = {"wish": Wish(), "changes_only": False, **further}
    plan = resolve_slide(table.schema, **arguments, **settings)
    answers = slide_batches(cut(table, sizes), plan, set(table.schema.names))
    return pa.concat_tables([plan.output_schema.empty_table(), *answers])
