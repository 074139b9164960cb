"""A monoid: what an aggregation is once the kinds of its inputs are known.

Partials are combined older on the left. A partial is one of

- a scalar, or a flat tuple of scalars: each scalar is a field, a 64-bit float or integer;
- a row of a fixed-width array of such numbers: one wide field;
- any other Python object: no fields, never compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra.value_counts import Question
from windrow.work import memory
from windrow.work.room import sparse_rows

OutputType = Callable[[tuple[pa.DataType, ...]], pa.DataType]


@dataclass(frozen=True)
class Traits:
    """What is known of a combine function beyond associativity.

    Attributes:
        commutative: the order of the arguments does not matter.
        selective: combine returns one of its two arguments.
        exact: combine rounds nothing, so every grouping gives the same partial, and an inverse
            leaves nothing behind of what it removes.
    """

    commutative: bool = False
    selective: bool = False
    exact: bool = False


@dataclass(frozen=True)
class Field:
    """One number of a partial, or one row of numbers.

    Two aggregations over the same columns that name a field alike share it in a product, so a name
    promises a meaning: the same lift and the same combine.

    Attributes:
        width: how many numbers a row has; 0 for one number.
        counted: the first number of a row, an integer, says how many behind it are in use. What
            follows those means nothing, and is neither copied nor compared.
    """

    name: str
    dtype: str
    width: int = 0
    counted: bool = False

    @property
    def nbytes(self) -> int:
        """The memory that it takes in a partial."""
        return int(np.dtype(self.dtype).itemsize) * (self.width or 1)


@dataclass(frozen=True, eq=False)
class InPlace:
    """The functions of a monoid of rows that write into a row they are given.

    Attributes:
        lift: from the inputs of one event, into a row that holds the identity.
        combine: from the rows of two neighbouring runs, into a row that is neither.
        absent: as lift, for an event without a value; see `Monoid`.
    """

    lift: Callable[..., None]
    combine: Callable[[Any, Any, Any], None]
    absent: Callable[..., None] | None = None


def in_new_row(
    identity: np.ndarray[Any, Any], write: Callable[..., None], *, counted: bool = False
) -> Callable[..., Any]:
    """From a function of `InPlace` to one that returns a new row.

    With `counted`, the first number of a row says how many are in use; the others are made 0, so
    that equal partials are equal rows.
    """

    def written(*given: Any) -> Any:
        row = identity.copy()
        write(*given, row)
        if counted:
            row[1 + row[0] :] = 0
        return row

    return written


@dataclass(frozen=True, eq=False)
class Blockwise:
    """A lift and a lower in two halves, of which numpy does one for whole columns at once.

    A kernel takes rows one by one, because a window depends on the one before. What does not, such
    as a logarithm, is five times as fast on whole columns: numpy computes eight at a time.

    Attributes:
        before: done to the first input, a column.
        lift: what is left to do for each event.
        lower: from a partial to a number.
        after: done to all such numbers, and gives the answers.
    """

    before: np.ufunc
    lift: Callable[..., Any]
    lower: Callable[[Any], Any]
    after: np.ufunc


@dataclass(frozen=True, eq=False)
class Lanes:
    """An answer that is made of a row of numbers: a list, or a sketch in bytes.

    Attributes:
        dtype, width: the numbers of a row.
        write: what a kernel calls to lower: from a partial, into a row.
        finish: from the rows of all answers, and the type that was promised, to a column.
        counted: of most rows only the beginning is written, as of counted fields.
    """

    dtype: str
    width: int
    write: Callable[[Any, Any], None]
    finish: Callable[[np.ndarray[Any, Any], pa.DataType], pa.Array]
    counted: bool = False


@dataclass(frozen=True)
class Member:
    """One member of an answer that is a struct.

    Attributes:
        name: its name in the struct.
        output: from the inputs' Arrow types to its type.
        lowered: the number that a compiled lower writes for it.
        carried: the input of which it is a value, if lower gives the position of a row for it.
    """

    name: str
    output: OutputType
    lowered: str = "int64"
    carried: int | None = None


@dataclass(frozen=True, eq=False)
class Defined:
    """Which partials have an answer.

    Attributes:
        test: whether a partial has an answer. If None, any non-empty window has an answer.
        one_value_is_enough: any one value passes the test. Kernels then only test windows that may
            hold no values.
        or_none: lower may return None where there is no answer, as a user's may.
        with_nulls: the monoid to take for inputs with nulls, if its partials tell whether they hold
            a value and those of this monoid do not. Without one, a count of values tells it.
    """

    test: Callable[[Any], bool] | None = None
    one_value_is_enough: bool = True
    or_none: bool = False
    with_nulls: Monoid | None = None


@dataclass(frozen=True, eq=False)
class Monoid:
    """The functions of one aggregation for one combination of input kinds.

    Attributes:
        identity: the partial of no events; combining with it changes nothing.
        lift: from the inputs of one event to a partial.
        combine: from the partials of two neighbouring runs, older first, to that of both.
        lower: from a partial to the answer.
        inverse: `inverse(combine(older, newer), older)` is `newer`; None where there is none.
        absent: from the inputs of an event without a value to a partial: an input that may be
            `unknown` is null, or a condition leaves the event out. By default a condition skips
            such events, and a null is lifted.
        defined: which partials have an answer; by default, those of any non-empty window.
        blockwise: lift and lower in two halves, if a half of them is better done by numpy.
        in_place: lift and combine of rows of arrays that allocate nothing, if there are such.
        fields: how a partial is laid out; empty for Python objects.
        output: from the inputs' Arrow types to the answer's.
        lowered: the number that a compiled lower writes, "float64" or "int64".
        members: of an answer that is a struct; lower returns a tuple with a value for each.
        lanes: what a kernel writes for an answer that is no number and no struct of numbers.
        asks: what it asks of the multiset of a window's values, if that is all it depends on.
    """

    identity: Any
    lift: Callable[..., Any]
    combine: Callable[[Any, Any], Any]
    lower: Callable[[Any], Any]
    output: OutputType
    traits: Traits = field(default_factory=Traits)
    fields: tuple[Field, ...] = ()
    lowered: str = "float64"
    inverse: Callable[[Any, Any], Any] | None = None
    absent: Callable[..., Any] | None = None
    defined: Defined = field(default_factory=Defined)
    blockwise: Blockwise | None = None
    in_place: InPlace | None = None
    members: tuple[Member, ...] = ()
    lanes: Lanes | None = None
    asks: Question | None = None

    def has_answer(self, partial: Any) -> bool:
        """Whether a partial of one value or more has an answer."""
        return self.defined.test is None or self.defined.test(partial)

    @property
    def answers_nothing(self) -> bool:
        """Whether a window without values has an answer, as counts do."""
        return self.defined.test is not None and self.defined.test(self.identity)

    @property
    def for_blocks(self) -> Monoid:
        """The monoid that kernels take, between numpy's halves of lift and lower."""
        if self.blockwise is None:
            return self
        return replace(self, lift=self.blockwise.lift, lower=self.blockwise.lower)

    def room(self, size: int) -> Any:
        """What a kernel writes so many answers to: an array, or one for each member of a struct."""
        if self.lanes is not None:
            make = sparse_rows if self.lanes.counted else _rows
            return make(size, self.lanes.width, self.lanes.dtype)
        if self.members:
            return tuple(memory.empty(size, member.lowered) for member in self.members)
        return memory.empty(size, self.lowered)

    @property
    def is_numeric(self) -> bool:
        """Whether its partials are numbers that a kernel can hold."""
        return bool(self.fields)


def _rows(size: int, width: int, dtype: str) -> np.ndarray[Any, Any]:
    return np.empty((size, width), dtype)


def floats(*names: str) -> tuple[Field, ...]:
    """Fields that hold floats."""
    return tuple(Field(name, "float64") for name in names)


def integers(*names: str) -> tuple[Field, ...]:
    """Fields that hold integers."""
    return tuple(Field(name, "int64") for name in names)


def always(data_type: pa.DataType) -> OutputType:
    """An answer whose type does not depend on the inputs."""
    return lambda _types: data_type


def like_input(index: int) -> OutputType:
    """An answer of the same type as one of the inputs."""
    return lambda types: types[index]


def list_like_input(index: int) -> OutputType:
    """An answer that is a list of values of one of the inputs."""
    return lambda types: pa.list_(types[index])


def struct_of(members: tuple[Member, ...]) -> OutputType:
    """An answer that is a struct."""
    return lambda types: pa.struct([(member.name, member.output(types)) for member in members])
