"""A processor as it is sent to Spark: bytes, which are opened where there are rows.

Before a query's first batch, Spark starts a Python process of its own and asks it which states
there are. For that it takes the class below and nothing else of windrow.
"""

from __future__ import annotations

from typing import Any

from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from windrow.spark.bridge.workers import opened, require_windrow
from windrow.spark.streaming.processor import ShardProcessor


def _sealed() -> Any:
    """The class `Sealed`. As that of a function it is sent with its code, not by its module's name.

    By name, the process that is asked for states would import windrow, numba and pandas for it: 0.9
    of the 2.4 s that a query's first batch was planned for.
    """
    require, load = require_windrow, opened

    class Sealed(StatefulProcessor):
        """A processor as bytes, until there are rows."""

        def __init__(self, content: bytes) -> None:
            self._content = content
            self._processor: Any = None

        def __setstate__(self, state: dict[str, Any]) -> None:
            """Called where it arrives."""
            require()
            self.__dict__.update(state)

        def init(self, handle: StatefulProcessorHandle) -> None:
            """Called by Spark before any shard."""
            self._handle = handle
            self._blocks = handle.getMapState("blocks", "number long", "content binary")

        def _opened(self) -> Any:
            if self._processor is None:
                self._processor = load(self._content)
                self._processor.open(self._handle, self._blocks)
            return self._processor

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:  # noqa: N802,N803
            """Called by Spark with the payloads of a shard."""
            return self._opened().take(key, rows, timerValues.getCurrentWatermarkInMs())

        def handleInitialState(  # noqa: N802
            self,
            key: Any,
            initialState: Any,  # noqa: N803
            timerValues: Any,  # noqa: N803
        ) -> None:
            """Called by Spark before the first batch, with payloads of the table before."""
            self._opened().begin(key, initialState)

        def handleExpiredTimer(  # noqa: N802
            self,
            key: Any,
            timerValues: Any,  # noqa: N803
            expiredTimerInfo: Any,  # noqa: N803
        ) -> Any:
            """Called by Spark when the watermark has reached a shard's timer."""
            return self._opened().wake(key, timerValues.getCurrentWatermarkInMs())

        def close(self) -> None:
            """Called by Spark after the last shard."""

    return Sealed


_SEALED = _sealed()


def sealed(processor: ShardProcessor) -> StatefulProcessor:
    """The processor as Spark takes it."""
    found: StatefulProcessor = _SEALED(cloudpickle.dumps(processor))  # type: ignore[no-untyped-call]
    return found
