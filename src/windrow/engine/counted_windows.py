"""The features of `over` that are answered from value counts, over one window of a block's rows.

    columns -> keys (`value_keys`) -> sorted blocks or links -> loops -> columns of answers

Features of one column and one condition share its keys and their order. Threads answer a block in
pieces. `algorithms/value_counts.py` is the algorithm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra.value_counts import (
    CountDistinct,
    Distinct,
    Interpolation,
    Mode,
    PercentRank,
    Quantiles,
    Question,
    Rank,
    RankMethod,
)
from windrow.algorithms import value_numbers, value_quantiles, value_ranks
from windrow.algorithms.value_trees import TREE, distinct_blocks
from windrow.compiler.kernel import Kernel
from windrow.engine import columns as arrow
from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.named_failures import kernels_named
from windrow.engine.value_blocks import ValueBlocks, value_blocks
from windrow.engine.value_keys import Keys, Links, counted_rows
from windrow.errors import AggregateOverflow
from windrow.planning.features import Feature
from windrow.windows.bounds import Bounds

Array = np.ndarray[Any, Any]


class CountedColumns:
    """The columns of a block as features read them; windows share what is made of them."""

    def __init__(self, columns: Mapping[str, pa.Array]) -> None:
        self.columns = columns
        self._keys: dict[str, Keys] = {}

    def keys(self, feature: Feature) -> Keys:
        """The keys of a feature's column."""
        name = feature.columns[0]
        if name not in self._keys:
            self._keys[name] = Keys(self.columns[name])
        return self._keys[name]

    def counted(self, feature: Feature, present: Array | None) -> Array:
        """The rows that count for a feature."""
        column = self.columns[feature.columns[0]]
        return counted_rows(column, feature.condition, self.columns, present)


class CountedAnswers:
    """The answers of one window to all features that are answered from value counts."""

    def __init__(
        self,
        features: Sequence[Feature],
        columns: CountedColumns,
        present: Array | None,
        size: int,
    ) -> None:
        """Room for so many answers; rows that are not `present` count for none."""
        self._answers: dict[Feature, Answers] = {}
        quantiles: dict[Any, QuantileAnswers] = {}
        masks: dict[Any, Array] = {}
        links: dict[Any, Links] = {}
        for feature in features:
            source = feature.columns[0], feature.condition
            if source not in masks:
                masks[source] = columns.counted(feature, present)
            counted, keys, asks = masks[source], columns.keys(feature), feature.monoid.asks
            assert asks is not None
            if isinstance(asks, Quantiles):
                order = keys.numbers if asks.is_interpolated else keys.ordered
                # One sort serves all quantiles of the values that are sorted alike.
                alike = quantiles.setdefault(
                    (*source, id(order)), QuantileAnswers(keys, order, counted, size)
                )
                alike.add(feature)
                self._answers[feature] = alike
            elif isinstance(asks, Rank | PercentRank):
                self._answers[feature] = RankAnswers(feature, keys.ordered, counted, size)
            else:
                if source not in links:
                    links[source] = Links.of(keys.equal, counted)
                self._answers[feature] = _BY_LINKS[type(asks)](
                    feature, columns, links[source], size
                )
        self._groups = list(dict.fromkeys(self._answers.values()))

    def answer_blocks(self, blocks: ValueBlocks) -> None:
        """Give some answers; threads may give others meanwhile."""
        for group in self._groups:
            group.answer(blocks)

    def column_of(self, feature: Feature, present: Array | None) -> pa.Array:
        """The answers to a feature, once all are given; not `present` ones are of no values."""
        return self._answers[feature].column(feature, present)


class CountedWindow(CountedAnswers):
    """One window of `over` over the rows of a table."""

    def __init__(
        self, features: Sequence[Feature], columns: CountedColumns, bounds: Bounds, size: int
    ) -> None:
        """Over a table of so many rows."""
        super().__init__(features, columns, bounds.present, size)
        self._bounds, self._size = bounds, size

    def answer(self, begin: int, stop: int) -> None:
        """Answer the rows from `begin` to `stop`; threads may answer others meanwhile."""
        for blocks in value_blocks(self._bounds, self._size, begin, stop):
            self.answer_blocks(blocks)

    def column(self, feature: Feature) -> pa.Array:
        """The answers to a feature, once all rows are answered."""
        return self.column_of(feature, self._bounds.present)


class Answers:
    """The answers to features, and the loop that finds them."""

    def answer(self, blocks: ValueBlocks) -> None:
        """Answer some rows."""
        raise NotImplementedError

    def column(self, feature: Feature, present: Array | None) -> pa.Array:
        """The answers to a feature; those of rows that are not present are of no values."""
        raise NotImplementedError


class QuantileAnswers(Answers):
    """All quantiles of one column: numbers, keys or rows."""

    def __init__(self, keys: Keys, order: Array, counted: Array, size: int) -> None:
        self._keys, self._order, self._counted, self._size = keys, order, counted, size
        self._features: dict[Feature, range] = {}
        self._asked: list[tuple[float, int, int]] = []

    def add(self, feature: Feature) -> None:
        """One feature more, before any is answered."""
        asks: Any = feature.monoid.asks
        if asks.is_interpolated:
            written = self._keys.decoding
        else:
            written = value_quantiles.KEY if self._keys.are_values else value_quantiles.ROW
        between = get_args(Interpolation).index(asks.interpolation)
        begin = len(self._asked)
        self._asked += [(share, between, written) for share in asks.shares]
        self._features[feature] = range(begin, len(self._asked))
        shape = len(self._asked), self._size
        self._defined = np.empty(self._size, np.bool_)
        self._numbers, self._found = np.empty(shape, np.float64), np.empty(shape, np.int64)

    def answer(self, blocks: ValueBlocks) -> None:
        """Sort once, and go over the rows for each share: its pointer stays in a register."""
        shares, *codes = map(np.array, zip(*self._asked, strict=True))
        asked = shares, *codes, self._defined, self._numbers, self._found
        blocks.quantiles(self._order, self._counted, asked)

    def column(self, feature: Feature, present: Array | None) -> pa.Array:
        """Numbers or values, or lists of them."""
        asks: Any = feature.monoid.asks
        defined = self._defined if present is None else self._defined & present
        found = [self._one(place, defined, feature) for place in self._features[feature]]
        return _lists(found, defined, feature.type) if asks.several else found[0]

    def _one(self, place: int, defined: Array, feature: Feature) -> pa.Array:
        written = self._asked[place][2]
        if written == value_quantiles.KEY:
            return self._keys.values_of(self._found[place], defined, str(feature))
        if written == value_quantiles.ROW:
            return _taken(self._keys.column, self._found[place], defined)
        return arrow.answers_to_arrow(self._numbers[place], defined, pa.float64(), str(feature))


class RankAnswers(Answers):
    """Ranks of current rows."""

    def __init__(self, feature: Feature, order: Array, counted: Array, size: int) -> None:
        self._order, self._counted = order, counted
        asks = feature.monoid.asks
        self._written, self._descending = value_ranks.PERCENT, 0
        if isinstance(asks, Rank):
            self._written = get_args(RankMethod).index(asks.method)
            self._descending = int(asks.descending)
        self._defined = np.empty(size, np.bool_)
        self._numbers, self._found = np.empty(size, np.float64), np.empty(size, np.int64)

    def answer(self, blocks: ValueBlocks) -> None:
        """Count the places below a row's."""
        written = self._written, self._descending, self._defined, self._numbers, self._found
        blocks.ranks(self._order, self._counted, written)

    def column(self, feature: Feature, present: Array | None) -> pa.Array:
        """Numbers; null where the row has no value."""
        defined = self._defined if present is None else self._defined & present
        fractions = self._written in (value_ranks.AVERAGE, value_ranks.PERCENT)
        numbers = self._numbers if fractions else self._found
        return arrow.answers_to_arrow(numbers, defined, feature.type, str(feature))


class DistinctCounts(Answers):
    """Numbers of different values."""

    def __init__(self, feature: Feature, columns: CountedColumns, links: Links, size: int) -> None:
        self._links, self._found = links, np.empty(size, np.int64)

    def answer(self, blocks: ValueBlocks) -> None:
        """A row counts unless its value is in the window before it."""
        blocks.distinct_counts(self._links, self._found)

    def column(self, feature: Feature, present: Array | None) -> pa.Array:
        """Counts; of no values, 0."""
        return pa.array(self._found if present is None else np.where(present, self._found, 0))


class ModeAnswers(Answers):
    """Rows of the most frequent values."""

    def __init__(self, feature: Feature, columns: CountedColumns, links: Links, size: int) -> None:
        self._asks: Any = feature.monoid.asks
        self._column = columns.keys(feature).column
        self._links, self._found = links, np.empty(size, np.int64)

    def answer(self, blocks: ValueBlocks) -> None:
        """A tournament of counts."""
        blocks.modes(self._links, (self._asks.limit or 0, self._found))

    def column(self, feature: Feature, present: Array | None) -> pa.Array:
        """The values of the rows."""
        if (self._found == value_numbers.TOO_MANY).any():
            raise AggregateOverflow(
                f"{feature}: a window holds more than limit={self._asks.limit} different values"
            )
        defined = self._found >= 0
        defined = defined if present is None else defined & present
        return _taken(self._column, self._found, defined)


class DistinctAnswers(Answers):
    """What an aggregation answers of different values: its partials in a tree."""

    def __init__(self, feature: Feature, columns: CountedColumns, links: Links, size: int) -> None:
        assert feature.of_all is not None
        self._of_all, self._links = feature.of_all, links
        self._features = FeatureColumns([feature.of_all], set())
        rows = len(columns.columns[feature.columns[0]])
        self._read = self._features.compiled_block(columns.columns, rows, 0)
        self._found = self._features.answers(size)
        self._filled = np.empty(size, np.bool_)
        product, checked = self._features.product, self._features.checked
        self._kernel = Kernel(distinct_blocks, TREE, product, checked)

    def answer(self, blocks: ValueBlocks) -> None:
        """A tree over the rows of a block, in which the first row of each value has a leaf."""
        data = *self._read, tuple(self._found.values), tuple(self._found.defined)
        with kernels_named([self._of_all]):
            blocks.distinct(self._kernel, data, self._links, self._features.product, self._filled)

    def column(self, feature: Feature, present: Array | None) -> pa.Array:
        """As the same of all values."""
        self._found.present = self._filled if present is None else self._filled & present
        self._found.settle()
        return self._features.result(self._found, self._of_all, _no_carried)


def _no_carried(name: str, positions: pa.Array) -> pa.Array:
    raise AssertionError("what is carried has no different values")


_BY_LINKS: dict[type[Question], Any] = {
    CountDistinct: DistinctCounts, Mode: ModeAnswers, Distinct: DistinctAnswers,
}  # fmt: skip


def _taken(column: pa.Array, rows: Array, defined: Array) -> pa.Array:
    """The values at some rows; null where none is defined."""
    return column.take(pa.array(rows, pa.int64(), mask=~defined))


def _lists(columns: Sequence[pa.Array], defined: Array, data_type: pa.DataType) -> pa.Array:
    """A list in each row, of its values in all columns; null where none is defined."""
    size, several = len(defined), len(columns)
    places = np.arange(size)[:, np.newaxis] + size * np.arange(several)
    values = pa.concat_arrays(columns).take(pa.array(places[defined].ravel()))
    offsets = np.concatenate([[0], np.cumsum(defined)]) * several
    lists = pa.ListArray.from_arrays(offsets.astype(np.int32), values, type=data_type)
    return lists if defined.all() else pc.if_else(pa.array(defined), lists, None)
