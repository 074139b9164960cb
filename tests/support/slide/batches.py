"""`wr.slide` over batches of a sorted stream."""

from typing import Any

import pyarrow as pa

from tests.support.over.batches import cut
from windrow.engine.slide_batches import slide_batches
from windrow.planning.choose import Wish
from windrow.planning.slide_plan import resolve_slide
from windrow.work import sizes as work_sizes


def stream(
    table: pa.Table, sizes: list[int], arguments: dict[str, Any], **further: Any
) -> pa.Table:
    """The answers over the rows of a sorted table, batch by batch."""
    settings = {"wish": Wish(), "changes_only": False, **further}
    plan = resolve_slide(table.schema, **arguments, **settings)
    with work_sizes.using(smallest_block=1):  # so that rows are held from batch to batch
        answers = list(slide_batches(cut(table, sizes), plan, set(table.schema.names)))
    found = [each for each in answers if each is not None]
    return pa.concat_tables([plan.output_schema.empty_table(), *found])
