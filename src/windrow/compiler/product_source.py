"""A product written out as Python source, after the Reactive Aggregator's code generation.

See Tangwongsan et al. 2015, §5.3.

The text defines what algorithms and drivers call (`identity`, `combine`, `load`, `lift_row`, ...)
for one number of columns and one layout of fields; the parts' own functions are its globals. A
partial is one value per field, bare if there is one field, else a tuple.

A row of an array is no value that fits a register. Rows live in a workspace, one array for each
wide field, and a partial holds the number of its row. `windrow.compiler.workspaces` hands
the workspace through as the first parameter, `rows`, of every function that reads or makes rows.
Row 0 is the identity; then come scratch rows that `combine` and `lift_row` take turns to write, as
many again for a second thread, rows in which `hold` keeps the partials of a state, two for each of
its fields, used in turn, and the rows of the rings. Last in the workspace is whose turn it is: the
scratch row to write next, which the second thread has for itself, and for each field of a state the
row that was held last, which every window has for itself. So nothing is allocated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from windrow.algebra.monoid import Monoid
    from windrow.algebra.product import Product

#: rows of the workspace: scratch for combine's results, and two for each field of a state. A query
#: of a tree keeps one result while it combines as many times as the tree has levels.
SCRATCH = 64
HELD = 32
#: rows before the first that is held: the identity and the scratch rows of two threads
HELD_FROM = 1 + 2 * SCRATCH


#: a function of a slide policy, and the parts of the product whose answers it takes
Rule = tuple[Callable[[Any, Any], bool], Sequence[int]]


class ProductSource:
    """The source of a product, and what it refers to."""

    def __init__(self, product: Product, rules: Sequence[Rule] = ()) -> None:
        """With `rules`, those of a slide policy, the source defines `verdict` as well."""
        self._product = product
        self._rules = rules
        self._fields = product.fields
        self._wide = [place for place, entry in enumerate(self._fields) if entry.width]

    @property
    def globals(self) -> dict[str, Any]:
        """What the text refers to."""
        names: dict[str, Any] = {"np": np}
        for index, part in enumerate(self._product.members):
            for role, function in _functions_of(part.monoid).items():
                if function is not None:
                    names[f"{role}_{index}"] = function
        for place, entry in enumerate(self._fields):
            if not entry.width:
                names[f"identity_{place}"] = self._product.identity_of(place)
        names |= {f"rule_{number}": function for number, (function, _) in enumerate(self._rules)}
        return names

    def text(self) -> str:
        """The source."""
        parts = [
            self._identity(),
            self._combine("combine", "older", "newer"),
            self._same(),
            self._load(),
            self._store(),
            *([] if self._wide else [self._load_at(), self._store_at(), self._deliver()]),
            self._lift_row(),
            self._lower_row(),
        ]
        if self._product.is_invertible:
            parts.append(self._combine("inverse", "total", "oldest"))
        if self._wide:
            parts.append(self._hold())
        if self._rules:
            parts.append(self._verdict())
        return "\n\n\n".join("\n".join(lines) for lines in parts)

    # Words ---------------------------------------------------------------------------------------

    def _each(self, text: Callable[[int], str]) -> str:
        """A partial from one expression per field."""
        parts = [text(place) for place in range(len(self._fields))]
        return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"

    def _field(self, whole: str, place: int) -> str:
        return whole if len(self._fields) == 1 else f"{whole}[{place}]"

    def _partial_of(self, index: int, whole: str) -> str:
        """The partial of one member, taken out of the product's."""
        parts = [
            self._row(place, self._field(whole, place))
            if self._fields[place].width
            else self._field(whole, place)
            for place in self._product.fields_of(index)
        ]
        return f"({', '.join(parts)},)" if self._is_tuple(index) else parts[0]

    def _is_tuple(self, index: int) -> bool:
        return isinstance(self._product.members[index].monoid.identity, tuple)

    def _rows(self, *parameters: str) -> str:
        return ", ".join(("rows", *parameters) if self._wide else parameters)

    def _row(self, place: int, number: str) -> str:
        return f"rows[{self._wide.index(place)}][np.uintp({number})]"

    def _copy(self, place: int, target: str, source: str) -> Iterator[str]:
        yield f"target, source = {self._row(place, target)}, {source}"
        yield f"for lane in range({self._lanes(place, 'source')}):"
        yield "    target[lane] = source[lane]"

    def _lanes(self, place: int, row: str) -> str:
        """How many numbers of a row mean something."""
        entry = self._fields[place]
        return f"1 + {row}[0]" if entry.counted else str(entry.width)

    def _assign(self, index: int, places: list[int], call: str, arguments: str) -> Iterator[str]:
        """Take the fields that a member brings out of what its function makes."""
        own = self._product.fields_of(index)
        if self._fields[own[0]].width:
            row = f"f{own[0]}"
            yield "turn = rows[-1][0]"
            yield f"rows[-1][0] = turn & {-SCRATCH} | (turn + 1) & {SCRATCH - 1}"
            yield f"{row} = 1 + turn"
            if self._product.members[index].monoid.in_place is None:
                yield from self._copy(own[0], row, f"{call}({arguments})")
                return
            if not call.startswith("combine"):
                yield from self._copy(own[0], row, self._row(own[0], "0"))
            yield f"{call}({arguments}, {self._row(own[0], row)})"
            return
        yield f"part = {call}({arguments})"
        for place in places:
            value = f"part[{own.index(place)}]" if self._is_tuple(index) else "part"
            whole = self._fields[place].dtype != "float64"
            yield f"f{place} = {_whole(value) if whole else f'float({value})'}"

    # Functions -----------------------------------------------------------------------------------

    def _identity(self) -> Iterator[str]:
        yield "def identity():"
        yield f"    return {self._each(self._identity_of)}"

    def _identity_of(self, place: int) -> str:
        return "0" if self._fields[place].width else f"identity_{place}"

    def _combine(self, role: str, left: str, right: str) -> Iterator[str]:
        yield f"def {role}({self._rows(left, right)}):"
        for index, places in self._product.combining:
            arguments = f"{self._partial_of(index, left)}, {self._partial_of(index, right)}"
            yield from _indented(self._assign(index, places, f"{role}_{index}", arguments))
        yield f"    return {self._each(lambda place: f'f{place}')}"

    def _same(self) -> Iterator[str]:
        yield f"def same({self._rows('left', 'right')}):"
        for place, entry in enumerate(self._fields):
            left, right = self._field("left", place), self._field("right", place)
            indent = "    "
            if entry.width:
                yield f"    for lane in range({self._lanes(place, self._row(place, left))}):"
                left, right = f"{self._row(place, left)}[lane]", f"{self._row(place, right)}[lane]"
                indent = "        "
            # Not a number is the same as not a number.
            differ = f"{left} != {right}"
            if np.dtype(entry.dtype).kind == "f":
                differ += f" and ({left} == {left} or {right} == {right})"
            yield f"{indent}if {differ}:"
            yield f"{indent}    return False"
        yield "    return True"

    def _load(self) -> Iterator[str]:
        yield "def load(ring, position):"
        yield "    slot = slot_of(ring[0], position)"
        yield f"    return {self._each(lambda place: f'ring[{place}][slot]')}"

    def _store(self) -> Iterator[str]:
        yield f"def store({self._rows('ring', 'position', 'partial')}):"
        yield "    slot = slot_of(ring[0], position)"
        for place, entry in enumerate(self._fields):
            value, target = self._field("partial", place), f"ring[{place}][slot]"
            if entry.width:
                yield from _indented(self._copy(place, target, self._row(place, value)))
            else:
                yield f"    {target} = {value}"

    def _load_at(self) -> Iterator[str]:
        yield "def load_at(ring, place):"
        yield "    at = np.uintp(place)"
        yield f"    return {self._each(lambda place: f'ring[{place}][at]')}"

    def _store_at(self) -> Iterator[str]:
        yield "def store_at(ring, place, partial):"
        yield "    at = np.uintp(place)"
        for place in range(len(self._fields)):
            yield f"    ring[{place}][at] = {self._field('partial', place)}"

    def _hold(self) -> Iterator[str]:
        yield "def hold(rows, number, partial):"
        # The two rows of a field differ in the last bit.
        yield "    held = rows[-1][1 + number] ^ 1"
        yield "    rows[-1][1 + number] = held"
        for place, entry in enumerate(self._fields):
            value = self._field("partial", place)
            if entry.width:
                yield f"    f{place} = held"
                yield from _indented(self._copy(place, f"f{place}", self._row(place, value)))
            else:
                yield f"    f{place} = {value}"
        yield f"    return {self._each(lambda place: f'f{place}')}"

    def _lift_row(self) -> Iterator[str]:
        yield f"def lift_row({self._rows('columns', 'validities', 'row')}):"
        yield "    at = np.uintp(row)"
        for index, places in self._product.combining:
            part = self._product.members[index]
            inputs = ", ".join(f"columns[{column}][at]" for column in part.inputs)
            lines = list(self._assign(index, places, f"lift_{index}", inputs))
            if part.missing:
                absent = self._assign(index, places, f"absent_{index}", inputs)
                lines = list(self._if_valid(part.missing, lines, absent))
            if part.nullable:
                nothing = (f"f{place} = {self._identity_of(place)}" for place in places)
                lines = list(self._if_valid(part.nullable, lines, nothing))
            yield from _indented(lines)
        yield f"    return {self._each(lambda place: f'f{place}')}"

    def _if_valid(
        self, columns: Sequence[int], then: Iterable[str], otherwise: Iterable[str]
    ) -> Iterator[str]:
        """Some lines if all columns are valid in a row, or else others."""
        known = self._product.nullable_columns
        valid = " and ".join(f"validities[{known.index(column)}][at]" for column in columns)
        yield f"if {valid}:"
        yield from _indented(then)
        yield "else:"
        yield from _indented(otherwise)

    def _lower_row(self) -> Iterator[str]:
        yield f"def lower_row({self._rows('answers', 'defined', 'row', 'partial')}):"
        yield "    at = np.uintp(row)"
        for index in range(len(self._product.parts)):
            argument = self._partial_of(index, "partial")
            answer = list(self._answer(index, f"lower_{index}({argument})"))
            condition = self._condition(index, "partial")
            if condition is None:
                yield from _indented(answer)
                continue
            yield f"    if {condition}:"
            yield from _indented(answer, "        ")
            yield "    else:"
            yield f"        defined[{index}][at] = False"

    def _deliver(self) -> Iterator[str]:
        """Copy drafted answers of some rows into their columns."""
        yield "def deliver(drafts, noted, answers, defined, place, begin, count):"
        for index, part in enumerate(self._product.parts):
            members = [f"[{place}]" for place in range(len(part.monoid.members))]
            arrays = [("answers", "drafts", member) for member in members or [""]]
            if self._product.conditional[index]:
                arrays.append(("defined", "noted", ""))
            for column, draft, member in arrays:
                into, out_of = f"{column}[{index}]{member}", f"{draft}[{index}]{member}"
                yield f"    copy_past_cache({into}, place + begin, {out_of}, begin, count - begin)"

    def _condition(self, index: int, whole: str) -> str | None:
        """When a part has an answer; None if always."""
        condition = self._product.condition_of(index)
        if condition == "count":
            return f"{self._field(whole, self._product.count_of(index))} > 0"
        return condition and f"defined_{index}({self._partial_of(index, whole)})"

    def _verdict(self) -> Iterator[str]:
        """Some rule lets the oldest part leave, or all let it stay, or one has no answers."""
        yield f"def verdict({self._rows('total', 'oldest')}):"
        yield "    known = True"
        for number, (_function, parts) in enumerate(self._rules):
            wholes = ("total", "oldest")
            conditions = [self._condition(index, whole) for whole in wholes for index in parts]
            arguments = ", ".join(self._answers_of(parts, whole) for whole in wholes)
            yield f"    if {' and '.join(filter(None, conditions)) or True}:"
            yield f"        if rule_{number}({arguments}):"
            yield "            return 1"
            yield "    else:"
            yield "        known = False"
        yield "    return 0 if known else -1"

    def _answers_of(self, parts: Sequence[int], whole: str) -> str:
        """The answers of parts as a rule takes them: one bare, several as a tuple."""
        answers = [f"lower_{index}({self._partial_of(index, whole)})" for index in parts]
        return answers[0] if len(answers) == 1 else f"({', '.join(answers)})"

    def _answer(self, index: int, lowered: str) -> Iterator[str]:
        """Write an answer, and that there is one where there may be none."""
        monoid = self._product.parts[index].monoid
        if monoid.lanes is not None:
            yield f"{lowered.removesuffix(')')}, answers[{index}][at])"
            if self._product.conditional[index]:
                yield f"defined[{index}][at] = True"
            return
        answer = f"answer_{index}"  # a name for each, because each has a type of its own
        yield f"{answer} = {lowered}"
        if not monoid.defined.or_none:
            yield from self._write(index, answer)
            if self._product.conditional[index]:
                yield f"defined[{index}][at] = True"
            return
        yield f"if {answer} is None:"
        yield f"    defined[{index}][at] = False"
        yield "else:"
        yield from _indented(self._write(index, answer))
        yield f"    defined[{index}][at] = True"

    def _write(self, index: int, answer: str) -> Iterator[str]:
        """Write a number, or each member of a struct."""
        monoid = self._product.parts[index].monoid
        if not monoid.members:
            yield f"answers[{index}][at] = {_number(answer, monoid.lowered)}"
        for place, member in enumerate(monoid.members):
            value = _number(f"{answer}[{place}]", member.lowered)
            yield f"answers[{index}][{place}][at] = {value}"


def _functions_of(monoid: Monoid) -> dict[str, Callable[..., Any] | None]:
    """The functions of a monoid that a kernel calls, by role."""
    writing = monoid.in_place or monoid
    return {
        "lift": writing.lift,
        "absent": writing.absent,
        "combine": writing.combine,
        "inverse": monoid.inverse,
        "lower": monoid.lower if monoid.lanes is None else monoid.lanes.write,
        "defined": monoid.defined.test,
    }


def _indented(lines: Any, indent: str = "    ") -> Iterator[str]:
    for line in lines:
        yield indent + line


def _number(value: str, lowered: str) -> str:
    return _whole(value) if lowered == "int64" else value


def _whole(value: str) -> str:
    """An integer, unchanged; a float, which would be cut off where integers are kept, is refused.

    Integers alone know `|`: a kernel of floats does not compile (see `windrow.algebra.compilable`).
    """
    return f"{value} | 0"
