"""Slide policies: how many events a policy leaves in a window, event by event or in blocks.

A policy may ask for something else than the window answers: a sum decides, a maximum is wanted
(Villalba et al. 2019, §3.2). So a policy has a tree of its own, over the partials that it asks for.
After each event the policy searches the tree for events that leave, and evicts them. The windows
that answer, whatever their algorithm, only need to know how many events stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra.aggregation import Measure
from windrow.algebra.compilable import warn_of_plain_python
from windrow.algebra.kinds import Kind
from windrow.algebra.nullable import Together, plain_monoid, without_inverse
from windrow.algebra.plain_source import Source, lift, lower, plain_source
from windrow.algorithms import find
from windrow.compiler.kernel import Kernel
from windrow.compiler.product_source import Rule as CompiledRule
from windrow.compiler.slots import lift_row, verdict
from windrow.engine import columns as arrow
from windrow.engine import loops
from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.kernel_window import KernelWindow
from windrow.engine.named_failures import kernels_named
from windrow.engine.plain_window import PlainMonoid, PlainWindow
from windrow.planning.features import Feature, policy_features
from windrow.windows import PolicyWindow, ticks

Array = np.ndarray[Any, Any]

#: its search for events that leave, and their eviction, take O(log n)
TREE = find("amortized_monoid_tree")


class PolicyMonoid(Together):
    """The monoids that a policy asks for, in plain Python; `beside` goes into the same tree."""

    def __init__(self, window: PolicyWindow, beside: Sequence[PlainMonoid] = ()) -> None:
        self.measures: tuple[Measure, ...] = window.measures
        # No tree that can be searched takes anything out of a partial.
        self.asked = [
            without_inverse(plain_monoid(measure.aggregation, len(measure.columns)))
            for measure in self.measures
        ]
        super().__init__([*self.asked, *beside])
        self._rules = [
            (rule.function, [self.measures.index(measure) for measure in rule.measures])
            for rule in window.rules
        ]

    def lift_asked(self, inputs: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
        """The partials of one event, given the inputs of each measure."""
        return tuple(monoid.lift(*given) for monoid, given in zip(self.asked, inputs, strict=True))

    def source(self, inputs: int) -> Source:
        """The monoids, `lift` of events of one input, `lower` of the last, and `verdict`."""
        text, refers = plain_source(self)
        lines, last = [text], len(self.monoids) - 1
        for place, monoid in enumerate(self.monoids):
            lines += lift(monoid, f"_{place}", inputs, refers)
            lines += lower(monoid, f"_{place}", refers)
        names = ", ".join(f"input_{place}" for place in range(inputs))
        lifted = ", ".join(f"lift_{place}({names})" for place in range(last + 1))
        lines += [f"def lift({names}):", f"    return ({lifted},)"]
        lines += ["def lower(partial):", f"    return lower_{last}(partial[{last}])"]
        lines += self._verdict_source(refers)
        return "\n".join(lines) + "\n", refers

    def _verdict_source(self, refers: dict[str, Any]) -> Iterator[str]:
        yield "def verdict(total, oldest):"
        yield "    known = 0"
        for number, (function, places) in enumerate(self._rules):
            refers[f"rule_{number}"] = function
            wholes = []
            for whole in ("total", "oldest"):
                names = [f"{whole}_{number}_{place}" for place in places]
                for name, place in zip(names, places, strict=True):
                    yield f"    {name} = lower_{place}({whole}[{place}])"
                wholes.append(names)
            nulls = " or ".join(f"{name} is None" for names in wholes for name in names)
            answers = ", ".join(
                names[0] if len(names) == 1 else f"({', '.join(names)})" for names in wholes
            )
            yield f"    if {nulls}:"
            yield "        known = -1"
            yield f"    elif rule_{number}({answers}):"
            yield "        return 1"
        yield "    return known"

    def verdict(self, total: Any, oldest: Any) -> int:
        """Whether some rule lets the oldest part leave; see `windrow.compiler.slots.verdict`."""
        return verdict_of(self._rules, self.asked, total, oldest)


def verdict_of(rules: Sequence[CompiledRule], asked: Sequence[Any], total: Any, oldest: Any) -> int:
    """What rules say of partials in plain Python; `asked` are the monoids of their places."""
    known = True
    for function, places in rules:
        answers = [
            [asked[place].lower(whole[place]) for place in places] for whole in (total, oldest)
        ]
        if any(answer is None for each in answers for answer in each):
            known = False
        elif function(*(each[0] if len(each) == 1 else tuple(each) for each in answers)):
            return 1
    return 0 if known else -1


def let_leave(window: PlainWindow, halves: bool) -> None:
    """Evict the events that leave by the policy; by halves, as long as one leaves."""
    if not halves:
        window.evict_many(window.leaving())
        return
    count = window.half_leaving()
    while count:
        window.evict_many(count)
        count = window.half_leaving()


class PlainCounts:
    """How many rows a policy leaves in each row's window, in plain Python."""

    def __init__(self, window: PolicyWindow) -> None:
        self._monoid = PolicyMonoid(window)
        self._window = PlainWindow(TREE, self._monoid, verdict=self._monoid.verdict)
        self._halves = window.halves

    def of(
        self,
        columns: Mapping[str, pa.Array],
        starts: Array,
        size: int,
        asked_from: Array | None = None,
    ) -> Array:
        """The counts of the next rows; `starts` are those at which a new key begins.

        Rows of a key before its `asked_from` are known to stay: the policy is not asked.
        """
        measures = [measure.columns for measure in self._monoid.measures]
        names_asked = {name for names in measures for name in names}
        values = {name: arrow.python_values(columns[name], name, True) for name in names_asked}
        begins = dict(zip(starts.tolist(), _asked(starts, asked_from).tolist(), strict=True))
        counts = np.empty(size, np.int64)
        asked = 0
        for row in range(size):
            if row in begins:
                self._window.clear()
                asked = begins[row]
            inputs = [tuple(values[name][row] for name in names) for names in measures]
            self._window.insert(self._monoid.lift_asked(inputs))
            if row >= asked:
                let_leave(self._window, self._halves)
            counts[row] = len(self._window)
        return counts


class CompiledCounts:
    """How many rows a policy leaves in each row's window, by a kernel."""

    def __init__(self, features: FeatureColumns, kernel: Kernel) -> None:
        self._features = features
        self._kernel = kernel
        self._window = KernelWindow(TREE, features.product)

    def of(
        self,
        columns: Mapping[str, pa.Array],
        starts: Array,
        size: int,
        asked_from: Array | None = None,
    ) -> Array:
        """The counts of the next rows, as in `PlainCounts`."""
        counts = np.empty(size, np.int64)
        data = *self._features.compiled_block(columns, size, 0), counts
        bounds = starts, _asked(starts, asked_from)
        with kernels_named(self._features.compiled):
            self._window.drive(self._kernel, data, bounds, 0, size)
        return counts


Counts = PlainCounts | CompiledCounts


def _asked(starts: Array, asked_from: Array | None) -> Array:
    """The row of each key from which on a policy is asked; its first by default."""
    return starts if asked_from is None else np.append(asked_from, starts[-1])


class PolicyKernels:
    """A policy compiled for the columns of a table; `counts` starts one stream of rows."""

    def __init__(self, window: PolicyWindow, schema: pa.Schema, nullable: AbstractSet[str]) -> None:
        """`nullable` names the columns that may hold nulls."""
        self._window = window
        self._kernel: Kernel | None = None
        features = policy_features(schema, window)
        if not _are_seen(features, schema, window):
            return
        # A policy looks at single rows, so numpy does none of the work.
        whole = [replace(each, monoid=replace(each.monoid, blockwise=None)) for each in features]
        self._features = FeatureColumns(whole, nullable, as_given=True)
        rules = compiled_rules(window, schema)
        product = self._features.product
        loop = loops.count_held_by_halves if window.halves else loops.count_held
        error = _compile_error(self._features, schema, rules)
        if error is None:
            self._kernel = Kernel(loop, TREE.FUNCTIONS, product, True, rules)
        else:
            warn_of_plain_python("a policy", error)

    def counts(self) -> Counts:
        """A counter of the rows in windows, before the first row."""
        if self._kernel is None:
            return PlainCounts(self._window)
        return CompiledCounts(self._features, self._kernel)


class PolicyCounters:
    """From a policy to what counts its rows, over the columns of one table."""

    def __init__(self, schema: pa.Schema, nullable: AbstractSet[str]) -> None:
        """`nullable` names the columns that may hold nulls."""
        self._schema, self._nullable = schema, nullable
        self._kernels: dict[PolicyWindow, PolicyKernels] = {}

    def __call__(self, window: PolicyWindow) -> Counts:
        """What counts the rows of a policy's windows, before the first."""
        if window not in self._kernels:
            self._kernels[window] = PolicyKernels(window, self._schema, self._nullable)
        return self._kernels[window].counts()


def _are_seen(features: Sequence[Feature], schema: pa.Schema, window: PolicyWindow) -> bool:
    """Whether a kernel has the values that the rules ask for.

    A kernel carries positions in place of some values, and leaves some answers unfinished. And a
    user's function gets times as Python has them, as a user's aggregation does.
    """
    timed = {
        column
        for rule in window.rules
        if rule.in_ticks is None
        for measure in rule.measures
        for column in measure.columns
        if Kind.of(schema.field(column).type).in_ticks
    }
    return not timed and all(
        each.compiled and not each.carried and each.monoid.lanes is None for each in features
    )


def compiled_rules(window: PolicyWindow, schema: pa.Schema) -> list[CompiledRule]:
    """The functions of a policy as a kernel calls them, and the answers that each takes."""
    rules: list[CompiledRule] = []
    for rule, (function, parts) in zip(window.rules, plain_rules(window), strict=True):
        if rule.in_ticks is not None:
            (column,) = {column for measure in rule.measures for column in measure.columns}
            function = rule.in_ticks(ticks.nanoseconds_per_tick(schema.field(column).type))
        rules.append((function, parts))
    return rules


def plain_rules(window: PolicyWindow) -> list[CompiledRule]:
    """The functions of a policy for Python values, and the answers that each takes."""
    places = {
        identified: place
        for place, identified in enumerate(
            dict.fromkeys((each.aggregation, each.columns) for each in window.measures)
        )
    }
    return [
        (rule.function, [places[each.aggregation, each.columns] for each in rule.measures])
        for rule in window.rules
    ]


def _try(columns: Any, validities: Any, size: int) -> int:
    """A loop that asks a policy, to see whether its functions compile."""
    said = 0
    for row in range(size):
        partial = lift_row(columns, validities, row)
        said += verdict(partial, partial)
    return said


def _compile_error(
    features: FeatureColumns, schema: pa.Schema, rules: Sequence[CompiledRule]
) -> Exception | None:
    """Why the functions of a policy cannot be compiled."""
    empty = {name: pa.array([], schema.field(name).type) for name in features.input_columns}
    window = KernelWindow(TREE, features.product)
    kernel = Kernel(_try, (), features.product, True, rules)
    try:
        kernel.prepare((*window.memory.workspace(), *features.compiled_block(empty, 0, 0), 0))
    except Exception as error:  # numba raises many kinds of errors
        return error
    return None
