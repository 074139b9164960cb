"""From a statement to a call of `wr.over` or `wr.slide`, and the steps before and after it.

    SELECT SUM(price * quantity) / COUNT(*) AS each FROM trades [ROWS 100] WHERE ok GROUP BY stock

    before     filter ok; column "price * quantity"
    call       over(key=["stock"], windows=rows(100), aggs=[sum(price * quantity), count()])
    after      column each = "sum(price * quantity)" / "count(*)"

A window without SLIDE answers every event: `wr.over`. With SLIDE it is `wr.slide`; and so it is for
ISTREAM, which leaves out answers that equal that of the window before of their key.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import pyarrow as pa

from windrow.algebra.condition_expressions import Column
from windrow.algebra.condition_literals import Literal as Value
from windrow.algebra.conditions import Condition, rebuilt
from windrow.algebra.measure import Measure
from windrow.cql.fitting import require_fit
from windrow.cql.names import Names
from windrow.cql.steps import Step
from windrow.cql.tree import Aggregate, Item, Name, Statement, parts_of
from windrow.cql.windows import plain, slides, whole_table, window_of
from windrow.errors import WindrowError
from windrow.planning.slide_plan import END, NAME, START
from windrow.windows import Window

#: the order column of rows that have none: their numbers
ROW = "row"


@dataclass(frozen=True)
class Translated:
    """A statement as a call.

    Attributes:
        statement: the statement.
        call: which call it is.
        before: what is done to rows first.
        key, order, windows, measures: arguments of the call; windows by name.
        named: whether answers tell windows apart by name.
        numbered: whether rows are numbered first, because nothing else orders them.
        changes: whether answers that equal that of the window before of their key are left out.
        columns: the answers' columns: expressions by name, of the call's columns.
        having: the condition that answers have to meet.
        exact: whether the call can tell by its own answers which of them changed.
    """

    statement: Statement
    call: Literal["over", "slide"]
    before: Step
    key: tuple[str, ...]
    order: tuple[str, ...]
    windows: dict[str, Window]
    measures: tuple[Measure, ...]
    named: bool
    numbered: bool
    changes: bool
    having: Any
    items: tuple[tuple[str, Any], ...]
    star: bool
    exact: bool

    def results(self, named: bool) -> list[tuple[str, Any]]:
        """The items by name, as expressions over the call's columns.

        Args:
            named: whether the call's columns are called by their windows, too.
        """
        if self.call == "slide":
            return [(name, self.over_results(root, "")) for name, root in self.items]
        found = []
        for window in self.windows:
            suffix = f"_{window}" if named else ""
            for name, root in self.items:
                shown = f"{name}_{window}" if self.named else name
                found.append((shown, self.over_results(root, suffix)))
        return found

    def condition(self, named: bool) -> Condition | None:
        """HAVING over the call's columns; None without it."""
        if self.having is None:
            return None
        suffix = f"_{next(iter(self.windows))}" if named and self.call == "over" else ""
        return Condition(self.over_results(self.having, suffix), "HAVING")

    def over_results(self, root: Any, suffix: str = "") -> Any:
        """An expression over the call's columns, whose results end so."""
        aliases = dict(self.items)

        def change(part: Any) -> Any:
            if isinstance(part, Aggregate):
                return Column(part.text + suffix)
            if root is self.having and isinstance(part, Name) and part.name in aliases:
                return self.over_results(aliases[part.name], suffix)
            return Column(part.name) if isinstance(part, Name) else None

        return rebuilt(root, change)

    @property
    def leading(self) -> tuple[str, ...]:
        """The columns that every answer begins with."""
        if self.call == "slide":
            return (*((NAME,) if self.named else ()), *self.key, START, END)
        return tuple(dict.fromkeys((*self.key, *self.order[:1])))


def translated(statement: Statement, names: Names, schema: pa.Schema | None) -> Translated:
    """The call that a statement means, on a table of these columns; None if they are not known."""
    return _Translation(statement, names, schema).result()


class _Translation:
    def __init__(self, statement: Statement, names: Names, schema: pa.Schema | None) -> None:
        self._statement, self._names, self._schema = statement, names, schema
        self._computed: dict[str, Condition] = {}

    def result(self) -> Translated:
        statement = self._statement
        sliding = self._slides()
        changes = statement.stream == "istream"
        each_event = changes and not sliding
        call: Literal["over", "slide"] = "slide" if sliding or changes else "over"
        windows = self._windows(each_event)
        key = self._key()
        order = self._order()
        numbered = not order and call == "slide"
        items = self._items(call, key, order)
        having = self._having(call, key)
        measures = tuple(map(self._measure, statement.aggregates))
        if not measures:
            raise self._names.fail(statement.place, "nothing is aggregated; select COUNT(*) or so")
        where = () if statement.where is None else (Condition(statement.where, "WHERE"),)
        order = order or ((ROW,) if numbered else ())
        before = Step(where, self._computed)
        found = Translated(
            statement, call, before, key, order, windows, measures,
            len(windows) > 1 or any(each.name is not None for each in statement.windows),
            numbered, changes, having, items,
            any(item.expression is None for item in statement.items),
            self._is_exact(),
        )  # fmt: skip
        if self._schema is not None:
            require_fit(found, self._names, self._schema)
        return found

    # Windows, key and order ----------------------------------------------------------------------

    def _slides(self) -> bool:
        windows = self._statement.windows
        if not windows:
            return True
        found = {slides(each) for each in windows}
        if len(found) > 1:
            other = next(each for each in windows if not slides(each))
            raise self._names.fail(
                other.place,
                "this window answers every event, and another of the statement slides; write "
                "SLIDE for both, or two statements",
            )
        return found.pop()

    def _windows(self, each_event: bool) -> dict[str, Window]:
        written = self._statement.windows
        if not written:
            made = whole_table()
            return {made.default_name: made}
        found: dict[str, Window] = {}
        for each in written:
            window = window_of(each, self._names, each_event)
            name = each.name or window.default_name
            if name in found:
                raise self._names.fail(each.place, f"two windows are called {name!r}; write AS")
            found[name] = window
        return found

    def _key(self) -> tuple[str, ...]:
        statement = self._statement
        grouped = tuple(each.name for each in statement.keys)
        for each in statement.windows:
            partition = tuple(name.name for name in each.partition)
            if partition and grouped and {*partition} != {*grouped}:
                raise self._names.fail(
                    each.place,
                    f"the window is partitioned by {', '.join(partition)} and the answers are "
                    f"grouped by {', '.join(grouped)}; windrow keeps both by the same columns",
                )
            grouped = grouped or partition
        return tuple(dict.fromkeys(grouped))

    def _order(self) -> tuple[str, ...]:
        """The columns of ON, or the only column of times."""
        windows = self._statement.windows
        stated = [each for each in windows if each.order]
        told = {tuple(name.name for name in each.order) for each in stated}
        if len(told) > 1:
            raise self._names.fail(stated[1].place, "the windows of a statement have one order")
        if told:
            return told.pop()
        place = windows[0].place if windows else self._statement.place
        if self._schema is None:
            raise self._names.fail(
                place, "name the column that orders events, as in [ROWS 10 ON ts], or state schema="
            )
        times = [each.name for each in self._schema if _is_time(each.type)]
        if len(times) > 1:
            raise self._names.fail(
                place,
                f"several columns are times ({', '.join(times)}); say which of them orders events, "
                f"as in [... ON {times[0]}]",
            )
        if not times and any(each.kind in ("range", "session", "calendar") for each in windows):
            raise self._names.fail(place, "no column holds times; name one, as in [... ON ts]")
        return tuple(times)

    # Items and measures --------------------------------------------------------------------------

    def _items(
        self, call: str, key: tuple[str, ...], order: tuple[str, ...]
    ) -> tuple[tuple[str, Any], ...]:
        leading = {START, END} if call == "slide" else {*order[:1]}
        found: dict[str, Any] = {}
        for item in self._statement.items:
            if item.expression is None:
                self._require_over(call, item.place, "*")
                continue
            for part in _names_beside(item.expression):
                if part.name not in {*key, *leading}:
                    self._require_over(call, part.place, part.name)
            bare = isinstance(item.expression, Name) and item.alias is None
            if bare and item.expression.name in {*key, *leading}:
                continue
            name = item.alias or self._default_name(item)
            if name in found or name in {*key, *leading}:
                raise self._names.fail(item.place, f"two columns are called {name!r}; write AS")
            found[name] = item.expression
        return tuple(found.items())

    def _require_over(self, call: str, place: int, name: str) -> None:
        if call == "slide":
            what = "all columns are" if name == "*" else f"{name!r} is"
            raise self._names.fail(
                place,
                f"{what} of one event, and an answer is of a window: aggregate, as in "
                f"LAST({'x' if name == '*' else name}), or name it in GROUP BY",
            )

    def _default_name(self, item: Item) -> str:
        root = item.expression
        if isinstance(root, Name):
            return root.name
        simple = Name | Value
        if isinstance(root, Aggregate) and all(isinstance(each, simple) for each in root.arguments):
            return self._made(root).name
        return str(root.text)

    def _having(self, call: str, key: tuple[str, ...]) -> Any:
        having = self._statement.having
        if having is None:
            return None
        if call == "over" and len(self._statement.windows) > 1:
            raise self._names.fail(
                self._statement.place,
                "HAVING is about one window, and this statement has several; write a statement "
                "for each",
            )
        known = {*key, START, END, *(item.alias for item in self._statement.items)}
        for part in _names_beside(having):
            if part.name not in known:
                self._require_over(call, part.place, part.name)
        return having

    def _measure(self, aggregate: Aggregate) -> Measure:
        return self._made(aggregate).alias(aggregate.text)

    def _made(self, aggregate: Aggregate) -> Measure:
        aggregation = self._names.aggregation(aggregate)
        columns: list[str] = []
        following: list[Any] = []
        most = len(aggregation.inputs)
        takes = aggregation.variant is not None
        for place, argument in enumerate(aggregate.arguments):
            literal = isinstance(argument, Value)
            is_column = place < most and not following
            if literal and takes and place >= aggregation.columns_needed:
                is_column = False
            if is_column:
                columns.append(self._column(argument))
            elif literal:
                following.append(plain(argument))
            else:
                raise self._names.fail(
                    aggregate.place,
                    f"{aggregation.name} takes {most} column{'s' * (most != 1)}"
                    + (", and then numbers, texts, true or false" if takes else ""),
                )
        try:
            options = {name: plain(value) for name, value in aggregate.options}
            measure = aggregation(*columns, *following, **options)
            if aggregate.distinct:
                measure = measure.over_distinct()
        except WindrowError as error:
            raise self._names.fail(aggregate.place, str(error)) from None
        if aggregate.condition is not None:
            condition = Condition(aggregate.condition, "FILTER").with_columns(str)
            measure = replace(measure, condition=condition)
        return measure

    def _column(self, argument: Any) -> str:
        """The column of an argument; an expression is computed before the call."""
        if isinstance(argument, Name):
            return argument.name
        name = str(argument.text)
        while self._schema is not None and name in self._schema.names:
            name += "_"
        self._computed[name] = Condition(argument, "SELECT")
        return name

    # Checks --------------------------------------------------------------------------------------

    def _is_exact(self) -> bool:
        """Whether no aggregate changes without an item that changes."""
        roots = [item.expression for item in self._statement.items]
        shown = {each for each in roots if isinstance(each, Aggregate)}
        return {*self._statement.aggregates} <= shown


def _names_beside(root: Any) -> list[Name]:
    """The columns of an expression that stand in no aggregate."""
    within = {
        id(part) for each in parts_of(root) if isinstance(each, Aggregate)
        for part in parts_of(each)
    }  # fmt: skip
    return [each for each in parts_of(root) if isinstance(each, Name) and id(each) not in within]


def _is_time(data_type: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(data_type) or pa.types.is_date(data_type))
