"""A processor as Spark gets it: pickled bytes, which are unpickled when there are rows.

Before a query's first batch, Spark starts a Python process and asks it which states the processor
has. The class below answers that without importing anything of windrow.
"""

from __future__ import annotations

from typing import Any

from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

from windrow.spark.bridge.workers import require_windrow, unpickled
from windrow.spark.streaming.processor import ShardProcessor


def _by_value() -> Any:
    """The class `PickledProcessor`. Because it is local, Spark gets its code, not its name.

    By name, the process that is asked for states would import windrow, numba and pandas: 0.9 of the
    2.4 s that Spark took to plan a query's first batch.
    """
    require, load = require_windrow, unpickled
    # As text, each task would have Spark parse them, twice.
    number = StructType([StructField("number", LongType())])
    content = StructType([StructField("content", BinaryType())])

    class PickledProcessor(StatefulProcessor):
        """A processor as bytes, until there are rows."""

        def __init__(self, pickle: bytes) -> None:
            self._pickle = pickle
            self._processor: Any = None

        def __setstate__(self, state: dict[str, Any]) -> None:
            """Called in the process that it is sent to."""
            require()
            self.__dict__.update(state)

        def init(self, handle: StatefulProcessorHandle) -> None:
            """Called by Spark before any shard."""
            self._handle = handle
            self._blocks = handle.getMapState("blocks", number, content)

        def _unpickled(self) -> Any:
            if self._processor is None:
                self._processor = load(self._pickle)
                self._processor.open(self._handle, self._blocks)
            return self._processor

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:  # noqa: N802,N803
            """Called by Spark with the payloads of a shard."""
            return self._unpickled().take(key, rows, timerValues.getCurrentWatermarkInMs())

        def handleInitialState(  # noqa: N802
            self,
            key: Any,
            initialState: Any,  # noqa: N803
            timerValues: Any,  # noqa: N803
        ) -> None:
            """Called by Spark before the first batch, with payloads of the history."""
            self._unpickled().begin(key, initialState)

        def handleExpiredTimer(  # noqa: N802
            self,
            key: Any,
            timerValues: Any,  # noqa: N803
            expiredTimerInfo: Any,  # noqa: N803
        ) -> Any:
            """Called by Spark when the watermark has reached a shard's timer."""
            return self._unpickled().wake(key, timerValues.getCurrentWatermarkInMs())

        def close(self) -> None:
            """Called by Spark after the last shard."""

    return PickledProcessor


_PickledProcessor = _by_value()


def pickled(processor: ShardProcessor) -> StatefulProcessor:
    """The processor as Spark takes it."""
    content = cloudpickle.dumps(processor)  # type: ignore[no-untyped-call]
    found: StatefulProcessor = _PickledProcessor(content)
    return found
