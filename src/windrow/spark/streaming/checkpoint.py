"""Read the state of a stopped or running query from its checkpoint."""

from __future__ import annotations

import json
from typing import Any

from pyspark.errors import PySparkException

from windrow.errors import InvalidArgument

#: the name of the state variable of windrow's operators
_BLOCKS = "blocks"


def operators_in(session: Any, checkpoint: str) -> list[int]:
    """The numbers of windrow's operators with state in a query.

    Args:
        session: the Spark session.
        checkpoint: the folder that the query has as `checkpointLocation`.
    """
    try:
        rows = session.read.format("state-metadata").load(checkpoint).collect()
    except PySparkException as error:
        raise InvalidArgument(
            f"checkpoint: {checkpoint} is not a checkpoint of Spark: {error}"
        ) from None
    ours = {row.operatorId for row in rows if _is_ours(row)}
    if not ours:
        others = ", ".join(sorted({row.operatorName for row in rows})) or "none"
        raise InvalidArgument(
            f"checkpoint: {checkpoint} holds no state of windrow's; its stateful operators: "
            f"{others}"
        )
    return sorted(ours)


def _is_ours(row: Any) -> bool:
    variables = json.loads(row.operatorProperties or "{}").get("stateVariables", [])
    return any(variable["stateName"] == _BLOCKS for variable in variables)


def shards_in(session: Any, checkpoint: str, operator: int) -> dict[int, dict[int, bytes]]:
    """The blocks of each shard of an operator, by the shard's label, after the last batch."""
    table = (
        session.read.format("statestore")
        .option("path", checkpoint)
        .option("operatorId", operator)
        .option("stateVarName", _BLOCKS)
        .load()
        .selectExpr("key.shard", "user_map_key.number", "user_map_value.content")
        .toArrow()
    )
    found: dict[int, dict[int, bytes]] = {}
    for shard, number, content in zip(*(column.to_pylist() for column in table), strict=True):
        found.setdefault(shard, {})[number] = content
    return found
