"""What a compiled `wr.Window` is made of: typed inputs, a product, an algorithm, kernels."""

from __future__ import annotations

import types as python_types
from collections.abc import Callable, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra.product import Product
from windrow.compiler import machine_code
from windrow.compiler.kernel import Kernel
from windrow.element.compiled_measures import CompiledMeasures
from windrow.element.stored_measures import Measures
from windrow.element.typed_inputs import Types
from windrow.engine import element_loops, loops
from windrow.engine.combine_time import combine_nanoseconds
from windrow.engine.feature_columns import FeatureAnswers, FeatureColumns
from windrow.engine.helper_thread import helper_for
from windrow.engine.row_windows import kernel_for
from windrow.planning import costs
from windrow.planning.choose import Wish, combine_of, helped, offers
from windrow.windows import PolicyWindow
from windrow.work.threads import cores

Array = np.ndarray[Any, Any]
#: what a kernel reads: columns, and which rows of them are valid
Read = tuple[tuple[Array, ...], tuple[Array, ...]]


class CompiledProgram:
    """Measures of events of certain types, and the policy of their window, if any.

    The partials of the policy lie in the same window: the product is of all, the answers first.
    """

    def __init__(
        self, measures: Measures, types: Types, policy: PolicyWindow | None, wish: Wish
    ) -> None:
        self.name, self._asked = (
            str(measures),
            CompiledMeasures(measures, types, policy, wish),
        )
        self.inputs = self._asked.inputs
        columns = set(self.inputs.schema.names)
        self.features = FeatureColumns(self._asked.features, columns, as_given=True)
        self.product = self.features.product
        self.choice = self.features.choice(wish, None, costs.SLIDING)
        if policy is None and _may_be_helped(wish):
            self.choice = helped(self.choice, self._combine())
        self.algorithm = self.choice.algorithm
        self._policy = self._asked.policy
        self.checked = self.features.checked or policy is not None
        takes = [*self.inputs.types, self._asked.names]
        self._takes_float = takes == [pa.float64(), None] and not self.features.checked
        self._loops = BlockLoops(self, self.features)
        self._bare_loops = None
        if (bare := self.product.without_nulls()) is not None:
            features = copy(self.features)
            features.product = bare
            self._bare_loops = BlockLoops(self, features)
        #: a second thread for blocks of events, if the algorithm has work for one
        self.helper = helper_for(self.algorithm, self.product, self.checked)

    def _combine(self) -> float:
        """About how many nanoseconds a combine takes."""
        if self.product.holds_rows or self.features.checked:
            schema = self.inputs.schema
            return combine_nanoseconds(self.features, [(each.name, each.type) for each in schema])
        return combine_of(self.choice.served)

    @property
    def in_any_order(self) -> bool:
        """Whether events may come in any order of their times."""
        return offers(self.algorithm, "insert_at_time")

    def kernel(
        self, loop: Callable[..., Any], product: Product, *functions: Callable[..., Any]
    ) -> Kernel:
        """A loop, joined with the algorithm and a product."""
        functions = (*self.algorithm.FUNCTIONS, *functions)
        return Kernel(loop, functions, product, self.checked, self._asked.rules)

    def insert_loop(self) -> Callable[..., Any]:
        """The loop that inserts rows."""
        if self.in_any_order:
            return element_loops.insert_rows_in_any_order
        if self._policy is None:
            return element_loops.insert_rows
        if self._policy.halves:
            return element_loops.insert_rows_by_halves
        return element_loops.insert_rows_by_policy

    def serving(self) -> Kernel:
        """The kernel of single events."""
        insert = _called("insert_waiting", self.insert_loop())
        states = element_loops.state_functions(self.algorithm)
        return self.kernel(element_loops.serve, self.product, insert, *states)

    def loops(self, columns: Sequence[pa.Array]) -> BlockLoops:
        """The loops over a block of events: most blocks have no nulls, and are not asked."""
        has_nulls = any(column.null_count for column in columns)
        return self._loops if has_nulls or self._bare_loops is None else self._bare_loops

    def block(self, columns: Sequence[pa.Array]) -> Read:
        """Columns of events as the arrays that kernels read."""
        return self._loops.block(columns)

    def checked_event(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The values of one event, checked; a function of the user's takes them on trial."""
        # Of what Arrow would look at for microseconds, most is a float where floats are wanted.
        if len(inputs) == 1 and type(inputs[0]) is float and self._takes_float:
            return inputs
        values = self.inputs.event(inputs)
        if self.features.checked:
            self._asked.require_lifted(values)
        return values

    def block_of_events(self, events: Sequence[tuple[Any, ...]]) -> Read:
        """The same of single events."""
        return self.block(self.inputs.columns_of(events))

    def python_answer(self, answers: FeatureAnswers) -> Any:
        """The first answer, as Python has it; a dict of answers if events are rows."""
        found = self.columns(self.features, answers)
        if self._asked.names is None:
            return found[0][0].as_py()
        names = zip(self._asked.names, found, strict=True)
        return {name: column[0].as_py() for name, column in names}

    def columns(self, features: FeatureColumns, answers: FeatureAnswers) -> list[pa.Array]:
        """The answers that a kernel has written, as a column for each measure."""
        return [features.result(answers, each, _carries_nothing) for each in self._asked.answers]

    def block_answer(self, features: FeatureColumns, answers: FeatureAnswers) -> Any:
        """The same as one column, or as a table if events are rows."""
        columns = self.columns(features, answers)
        if self._asked.names is None:
            return columns[0]
        return pa.table(dict(zip(self._asked.names, columns, strict=True)))

    def answers(self, size: int) -> FeatureAnswers:
        """Room for the answers of so many events."""
        return self.features.answers(size)

    def answers_as_numbers(self) -> bool:
        """Whether Python's number of an answer is the answer."""
        if self._asked.names is not None:
            return False
        (answer,) = self._asked.answers
        monoid, wanted = answer.monoid, _NUMBERS.get(answer.type)
        return not monoid.members and monoid.lanes is None and monoid.lowered == wanted

    def buffers(self, size: int) -> tuple[list[Array], list[Array]]:
        """Room for so many events, as `block` gives them: all are valid at first."""
        columns, validities = self.block([pa.array([], each) for each in self.inputs.types])
        return (
            [np.zeros((size, *column.shape[1:]), column.dtype) for column in columns],
            [np.ones(size, np.bool_) for _ in validities],
        )

    def places(self) -> list[tuple[int | None, int | None]] | None:
        """For each input, its place in such columns, and in what tells which are valid.

        None if numbers of Python cannot be written there as they are.
        """
        slots, nullable = self.features.slots, self.product.nullable_columns
        if any(slot.condition or slot.digest for slot in slots):
            return None
        if not all(data_type in _NUMBERS for data_type in self.inputs.types):
            return None
        found: list[tuple[int | None, int | None]] = []
        for name in self.inputs.schema.names:
            read = [index for index, slot in enumerate(slots) if slot.column == name]
            if not read:
                found.append((None, None))
            elif len(read) > 1:
                return None
            else:
                (index,) = read
                found.append((index, nullable.index(index) if index in nullable else None))
        return found


class BlockLoops:
    """The loops over blocks of events, and what they read and write."""

    def __init__(self, program: CompiledProgram, features: FeatureColumns) -> None:
        """`features` knows whether the blocks hold nulls."""
        self._program, self._features = program, features

    @cached_property
    def inserting(self) -> Kernel:
        """The loop that inserts rows."""
        return self._program.kernel(self._program.insert_loop(), self._features.product)

    @cached_property
    def inserting_sorted(self) -> Kernel:
        """The loop that inserts rows in the order of their times, among those of the window."""
        return self._program.kernel(element_loops.insert_sorted_rows, self._features.product)

    @cached_property
    def sliding(self) -> Kernel:
        """The loop that slides by one event after the other: that of `wr.over` of rows."""
        program = self._program
        return kernel_for(
            loops.over_rows, program.algorithm, self._features.product, program.checked
        )

    def block(self, columns: Sequence[pa.Array]) -> Read:
        """Columns of events as the arrays that kernels read."""
        named = dict(zip(self._program.inputs.schema.names, columns, strict=True))
        return self._features.compiled_block(named, len(columns[0]), 0)

    def answers(self, size: int) -> FeatureAnswers:
        """Room for the answers of so many events."""
        return self._features.answers(size)

    def result(self, answers: FeatureAnswers) -> pa.Array | pa.Table:
        """The answers that a kernel has written: a column, or a table if events are rows."""
        return self._program.block_answer(self._features, answers)


def _may_be_helped(wish: Wish) -> bool:
    """Whether the planner may look for work for a second core."""
    return (
        wish.algorithm is None
        and wish.prefer == "throughput"
        and cores() > 1
        and machine_code.is_enabled()
    )


_NUMBERS = {pa.float64(): "float64", pa.int64(): "int64"}


def written(answers: FeatureAnswers) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """What a kernel writes answers to."""
    return tuple(answers.values), tuple(answers.defined)


def _called(name: str, function: Any) -> Callable[..., Any]:
    """The function under another name: the one that a loop calls it by."""
    return python_types.FunctionType(function.__code__, function.__globals__, name)


def _carries_nothing(column: str, positions: pa.Array) -> pa.Array:
    raise AssertionError(f"{column}: carried inputs are refused when the window is made")
