"""Maps from key to partial are a monoid: folding them is recomputing, however they are grouped."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.over import oracle
from tests.support.over.strategies import KEYS, TEXTS, columns, measure
from tests.support.stream.strategies import MEASURES, VALUES
from windrow.aggregations import CATALOGUE
from windrow.algebra.aggregation import Aggregation
from windrow.algebra.kinds import Kind
from windrow.engine import columns as arrow
from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.maps import SLICE, Maps
from windrow.planning.choose import Wish
from windrow.planning.features import features_of

pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

NAMES = list(MEASURES)


class Case:
    """Events in order of time, and the maps of their slices."""

    def __init__(self, table: pa.Table, key: list[str], slices: list[int]) -> None:
        self.table, self.key = table, key
        self.measures = [measure(name) for name in NAMES]
        found, _places = features_of(table.schema, self.measures, Wish())
        self.features = FeatureColumns(found, set(table.schema.names), as_given=True)
        columns = {name: arrow.whole(table[name]) for name in table.schema.names}
        types = {name: column.type for name, column in columns.items()}
        self.maps = Maps(key, types, self.features)
        self.cells = self.maps.of_events(columns, ["t"], np.array(slices, np.int64))

    def map_of(self, number: int) -> pa.RecordBatch:
        """The map of one slice."""
        return self.cells.filter(pa.array(self.cells[SLICE].to_numpy() == number))

    def answers(self, folded: pa.RecordBatch) -> dict[Any, list[Any]]:
        """What each key's partial is lowered to."""
        rows = folded.to_pylist()
        keys = [tuple(oracle.grouped(row[name]) for name in self.maps.keys) for row in rows]
        assert len(set(keys)) == len(keys)
        return dict(zip(keys, map(self._lowered, rows), strict=True))

    def _lowered(self, row: dict[str, Any]) -> list[Any]:
        product, answers = self.features.product, []
        for index, part in enumerate(product.parts):
            places = product.fields_of(index)
            if self.features.compiled[index].carried:
                answers.append(row[f"value_{places[-1]}"])
                continue
            fields = tuple(row[f"field_{place}"] for place in places)
            condition = product.condition_of(index)
            if condition == "count":
                defined = row[f"field_{product.count_of(index)}"] > 0
            else:
                assert condition is None or part.monoid.defined.test is not None
                partial = fields if isinstance(part.monoid.identity, tuple) else fields[0]
                defined = condition is None or part.monoid.has_answer(partial)
            partial = fields if isinstance(part.monoid.identity, tuple) else fields[0]
            answers.append(part.monoid.lower(partial) if defined else None)
        return answers

    def expected(self) -> dict[Any, list[Any]]:
        held = {name: self.table[name].to_pylist() for name in self.table.schema.names}
        return {
            tuple(oracle.grouped(held[name][rows[0]]) for name in self.key): [
                oracle.aggregate(
                    m.aggregation.name,
                    [[held[column][row] for column in m.columns] for row in rows],
                )
                for m in self.measures
            ]
            for rows in oracle.groups(held, self.key, ["t"], self.table.num_rows)
        }


@st.composite
def cases(draw: st.DrawFn) -> Case:
    size = draw(st.integers(0, 20))
    keys = draw(st.lists(st.sampled_from(list(KEYS)), max_size=2))
    table = {f"k{index}": draw(columns(each, KEYS[each], size)) for index, each in enumerate(keys)}
    table["t"] = pa.array(range(size), pa.int64())
    table["v"] = draw(columns(pa.float64(), VALUES, size))
    table["c"] = draw(columns(pa.string(), TEXTS, size))
    slices = sorted(draw(st.lists(st.integers(0, 5), min_size=size, max_size=size)))
    return Case(pa.table(table), [name for name in table if name.startswith("k")], slices)


@given(cases(), st.data())
@examples(20)
def test_folding_is_recomputing_however_it_is_grouped(case: Case, data: st.DataObject) -> None:
    maps = [case.map_of(number) for number in range(6)]
    while len(maps) > 1:
        place = data.draw(st.integers(0, len(maps) - 2))
        stop = data.draw(st.integers(place + 2, len(maps)))
        maps[place:stop] = [case.maps.fold(maps[place:stop])]
    found, expected = case.answers(maps[0]), case.expected()
    assert found.keys() == expected.keys()
    for key, answers in found.items():
        for name, answer, wanted in zip(NAMES, answers, expected[key], strict=True):
            if name != "max":  # its partial is a rank
                assert oracle.agree(wanted, answer), f"{name} of {key}: {answer} is not {wanted}"


def carries_one_position(aggregation: Aggregation) -> bool:
    """Streams refuse rows of positions, and structs of values that are carried."""
    if not aggregation.inputs[-1].carried:
        return False
    monoid = aggregation.monoid_for((Kind.INTEGER,) * len(aggregation.inputs))
    return not monoid.members and not any(entry.width for entry in monoid.fields)


@pytest.mark.parametrize(
    "name", [name for name, each in CATALOGUE.items() if carries_one_position(each)]
)
def test_a_carried_position_is_the_last_field(name: str) -> None:
    inputs = CATALOGUE[name].inputs
    monoid = CATALOGUE[name].monoid_for((Kind.INTEGER,) * len(inputs))
    lifted = monoid.lift(*[2] * (len(inputs) - 1), 77)
    assert (lifted if isinstance(lifted, tuple) else (lifted,))[-1] == 77


@given(cases())
@examples(15)
def test_a_map_combined_with_none_is_itself(case: Case) -> None:
    whole = case.maps.fold([case.cells])
    again = case.maps.fold([case.maps.empty, whole, case.maps.empty])
    assert repr(again.to_pylist()) == repr(whole.to_pylist())  # NaN is written like NaN
    assert case.maps.fold([]).num_rows == 0
