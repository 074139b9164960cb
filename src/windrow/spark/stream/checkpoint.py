"""The state of a stopped or running query, read from its checkpoint."""

from __future__ import annotations

from typing import Any

from pyspark.errors import PySparkException

from windrow.errors import InvalidArgument


def shards_in(session: Any, checkpoint: str, operator: int = 0) -> dict[int, dict[int, bytes]]:
    """The blocks of every shard, by its label, as of the last batch.

    Args:
        session: of Spark.
        checkpoint: the folder that was given to the query as `checkpointLocation`.
        operator: which of the query's stateful operators, counted from 0.
    """
    try:
        table = (
            session.read.format("statestore")
            .option("path", checkpoint)
            .option("operatorId", operator)
            .option("stateVarName", "blocks")
            .load()
            .selectExpr("key.shard", "user_map_key.number", "user_map_value.content")
            .toArrow()
        )
    except PySparkException as error:
        raise InvalidArgument(
            f"checkpoint: {checkpoint} holds no state of windrow's: {error}"
        ) from None
    found: dict[int, dict[int, bytes]] = {}
    for shard, number, content in zip(*(column.to_pylist() for column in table), strict=True):
        found.setdefault(shard, {})[number] = content
    return found
