"""What a statement asks of its table's columns, checked where the text asks it.

    SELECT SUM(caller) FROM calls [ROWS 3]
           ^ sum cannot take a column of type string

The Python call checks its arguments, too. It knows no places in a text, and is made when the query
runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from windrow.algebra.conditions import Condition
from windrow.cql.names import Names
from windrow.cql.tree import Aggregate, Name, Statement, WindowText, parts_of
from windrow.errors import WindrowError
from windrow.planning.choose import Wish
from windrow.planning.current_row import require_current_row, require_newest_row
from windrow.planning.features import feature_of, measures_of
from windrow.planning.over_plan import laid_over, plain_schema, require_sortable, require_window
from windrow.planning.slide_plan import END, NAME, START

if TYPE_CHECKING:
    from windrow.cql.translation import Translated

#: the argument of a Python call that a message begins with
_ARGUMENT = re.compile(r"^(aggs|windows|order|where): ")


def require_fit(found: Translated, names: Names, schema: pa.Schema) -> None:
    """Refuse what the columns of a table do not suit: names, windows, aggregates, expressions."""
    _require_columns(found.statement, names, schema)
    computed = _require_steps(found, names, schema)
    rows = plain_schema(pa.schema([*schema, *computed]))
    answers = list(_require_aggregates(found, names, rows, _require_windows(found, names, rows)))
    _require_items(found, names, pa.schema([*_beside(found, rows), *answers]))


def _require_columns(statement: Statement, names: Names, schema: pa.Schema) -> None:
    own = {START, END, *(item.alias for item in statement.items)}
    asked = [*statement.keys, *_marks(statement.windows)]
    for window in statement.windows:
        asked += [*window.partition, *window.order]
    for root in (*(item.expression for item in statement.items), statement.where):
        asked += [part for part in parts_of(root) if isinstance(part, Name)]
    asked += [
        part
        for part in parts_of(statement.having)
        if isinstance(part, Name) and part.name not in own
    ]
    asked = [each for each in asked if each.name not in (START, END)]
    names.require_columns(asked, schema.names)


def _marks(windows: tuple[WindowText, ...]) -> list[Name]:
    """The columns by which windows of deltas and punctuations begin."""
    return [
        Name(each.column, each.place)
        for each in windows
        if each.column is not None and each.kind in ("delta", "punctuated")
    ]


def _require_steps(found: Translated, names: Names, schema: pa.Schema) -> list[pa.Field]:
    """The columns that are computed of rows, and their numbers."""
    for condition in found.before.filters:
        with _placed(names, _place(condition.root, found)):
            condition.check(schema)
    fields = []
    for name, expression in found.before.columns.items():
        with _placed(names, _place(expression.root, found)):
            fields.append(pa.field(name, expression.type_in(schema)))
    return [*fields, pa.field(found.order[0], pa.int64())] if found.numbered else fields


def _require_windows(found: Translated, names: Names, rows: pa.Schema) -> dict[str, Any]:
    """The windows as they are over the order column."""
    laid = dict(found.windows)
    for written, name in zip(found.statement.windows, found.windows, strict=False):
        with _placed(names, written.place):
            require_sortable(rows, found.order)
            require_window(rows, found.order, laid[name])
            one = {name: laid[name]}
            laid |= laid_over(rows, found.order, one, slides=found.call == "slide")
    return laid


def _require_aggregates(
    found: Translated, names: Names, rows: pa.Schema, windows: dict[str, Any]
) -> Iterator[pa.Field]:
    """The columns of the call's answers."""
    for aggregate, measure in zip(found.statement.aggregates, found.measures, strict=True):
        with _placed(names, aggregate.place):
            (ordered,) = measures_of(measure, found.order)
            if found.call == "slide":
                require_newest_row(windows, [ordered], "windows that slide")
            else:
                require_current_row(windows, [ordered])
            yield pa.field(aggregate.text, feature_of(rows, ordered, Wish()).type)


def _beside(found: Translated, rows: pa.Schema) -> list[pa.Field]:
    """The columns of answers beside aggregates."""
    if found.call == "over":
        return list(rows)
    order = rows.field(found.order[0]).type
    keys = [rows.field(name) for name in found.key]
    return [*keys, pa.field(START, order), pa.field(END, order), pa.field(NAME, pa.string())]


def _require_items(found: Translated, names: Names, answers: pa.Schema) -> None:
    asked = [("SELECT", root) for _name, root in found.items]
    if found.having is not None:
        asked.append(("HAVING", found.having))
    for part, root in asked:
        condition = Condition(found.over_results(root), part)
        with _placed(names, _place(root, found), (repr(condition.text), repr(root.text))):
            (condition.check if part == "HAVING" else condition.type_in)(answers)


def _place(root: Any, found: Translated) -> int:
    """Where an expression stands: where its first name does."""
    places = (each.place for each in parts_of(root) if isinstance(each, Name | Aggregate))
    return next(places, found.statement.place)


@contextmanager
def _placed(names: Names, place: int, spelt: tuple[str, str] = ("", "")) -> Iterator[None]:
    """Errors of a call's argument become errors of a place, in the spelling of the text."""
    try:
        yield
    except WindrowError as error:
        raise names.fail(place, _ARGUMENT.sub("", str(error)).replace(*spelt, 1)) from None
