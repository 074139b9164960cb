"""What `help`, completion and `inspect.signature` tell of an aggregation: how to call it.

    top_k(value: str, /, k: int, *, alias: str | None = None) -> Measure
          columns        parameters  name of the answers

The columns are the aggregation's inputs. The parameters are those of its variant, with their types
and defaults. `aggregations/stub.py` writes the same for type checkers.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from windrow.algebra.kinds import Kind
from windrow.algebra.measure import Measure

if TYPE_CHECKING:
    from windrow.algebra.aggregation import Aggregation


class _LeftOut:
    """The default of a column that may be left out."""

    def __repr__(self) -> str:
        return "..."


LEFT_OUT = _LeftOut()

#: kinds of columns in the order in which they are listed
_TOLD = (
    Kind.FLOAT, Kind.INTEGER, Kind.DECIMAL, Kind.TEXT, Kind.TEMPORAL, Kind.DURATION, Kind.BOOLEAN,
    Kind.NESTED,
)  # fmt: skip
#: what `help` says of such columns
_NOTES = {
    "optional": "optional",
    "carried": "carried",
    "unknown": "may be null",
    "by_order": "the order column if you leave it out",
}


class OfInstance:
    """An attribute that every instance computes when asked, and that its class has of its own.

    `inspect` and `pydoc` read `__signature__` and `__doc__` of a class as well as of an object.
    """

    def __init__(self, of_class: Any, of_instance: Callable[[Any], Any]) -> None:
        self._of_class, self._of_instance = of_class, of_instance

    def __get__(self, instance: Any, _owner: type) -> Any:
        return self._of_class if instance is None else self._of_instance(instance)


def parameters_of(aggregation: Aggregation) -> list[Parameter]:
    """The parameters of an aggregation, with their types and defaults."""
    if aggregation.variant is None:
        return []
    return list(inspect.signature(aggregation.variant, eval_str=True).parameters.values())


def signature_of(aggregation: Aggregation) -> Signature:
    """The call of an aggregation of columns, as in `wr.over`.

    >>> import windrow as wr
    >>> list(signature_of(wr.quantile).parameters)
    ['value', 'q', 'interpolation', 'alias']
    """
    needed = aggregation.columns_needed
    columns = [
        Parameter(
            entry.name,
            Parameter.POSITIONAL_ONLY,
            default=Parameter.empty if place < needed else LEFT_OUT,
            annotation=str,
        )
        for place, entry in enumerate(aggregation.inputs)
    ]
    parameters = parameters_of(aggregation)
    if needed < len(columns) and any(each.default is each.empty for each in parameters):
        # Python has no call in which what is needed follows what may be left out.
        parameters = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in parameters]
    alias = Parameter("alias", Parameter.KEYWORD_ONLY, default=None, annotation=str | None)
    return Signature([*columns, *parameters, alias], return_annotation=Measure)


def help_text(aggregation: Aggregation) -> str:
    """What `help` shows of an aggregation."""
    call = without_modules(f"{aggregation.name}{signature_of(aggregation)}")
    lines = [textwrap.fill(call, 88, subsequent_indent="    "), ""]
    if aggregation.summary:
        sentence = f"{aggregation.summary[0].upper()}{aggregation.summary[1:]}."
        lines += [*textwrap.wrap(sentence, 88), ""]
    lines += ["Columns:", *(f"    {each}" for each in column_texts(aggregation))]
    lines += ["", "Without columns it is for wr.Window, whose events have none."]
    return "\n".join(lines)


def column_texts(aggregation: Aggregation) -> Iterator[str]:
    """The columns of an aggregation, each with the kinds that it takes."""
    for entry in aggregation.inputs:
        kinds = [kind.value for kind in _TOLD if kind in entry.accepts]
        taken = "any" if len(kinds) == len(_TOLD) else ", ".join(kinds)
        notes = [note for role, note in _NOTES.items() if getattr(entry, role)]
        yield f"{entry.name}: {taken}" + (f" ({', '.join(notes)})" if notes else "")


def without_modules(text: str) -> str:
    """Types as a script names them, which imports them.

    >>> without_modules("q: collections.abc.Sequence[float] = 0.5")
    'q: Sequence[float] = 0.5'
    """
    return re.sub(r"\b[a-z_][\w.]*\.(\w+)", r"\1", text)
