"""Windows over slices: one window, answer after answer, its state kept in between.

Slices are numbered. Windows share the partials of slices (`slice_store.py`); each window takes each
slice from there once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from windrow.algorithms import Algorithm
from windrow.algorithms.optimal_chunk import optimal_chunk_of_rows, optimal_chunk_of_time
from windrow.compiler.kernel import Kernel
from windrow.compiler.kernel_memory import KernelMemory
from windrow.engine import loops, slice_loops
from windrow.engine.feature_columns import FeatureAnswers, FeatureColumns
from windrow.engine.helper_thread import helper_for
from windrow.engine.kernel_window import KernelWindow
from windrow.engine.named_failures import function_named
from windrow.engine.plain_window import PlainWindow
from windrow.engine.shared_answers import SharedSlideKernels
from windrow.planning.features import Feature
from windrow.planning.over_plan import OverPlan
from windrow.planning.shared_answers import shared_answers
from windrow.planning.slide_plan import SlidePlan
from windrow.slicing import cutty
from windrow.work.pace import Pace

Array = np.ndarray[Any, Any]


class Read(NamedTuple):
    """What windows read of slices that were still being filled.

    Attributes:
        partials: what was read.
        places: which of it each answer takes; -1 for none.
    """

    partials: Any
    places: Array


class SliceKernels:
    """The kernels of a plan's compiled features, for windows that share slices."""

    def __init__(
        self, features: FeatureColumns, plan: SlidePlan | OverPlan, windows: Iterable[str]
    ) -> None:
        self.product = features.product
        #: the algorithm of each window
        self.forms: dict[str, Algorithm] = {}
        if features.compiled:
            self.forms = {
                name: features.choice(plan.wish, *plan.size_of(name)).algorithm for name in windows
            }
        self.chunks = {name: chunk_of(plan, name) for name in self.forms}
        self.aggregate = Kernel(slice_loops.aggregate_slices, (), self.product, features.checked)
        #: the same where windows read slices that are still being filled (`slicing/cutty.py`)
        self.aggregate_running = Kernel(
            slice_loops.aggregate_running, (), self.product, features.checked
        )
        self.copy = Kernel(slice_loops.copy_slices, (), self.product, checked=False)
        #: which windows are answered together, and by what
        self.together: dict[str, SharedSlideKernels] = {}
        for names in shared_answers(plan, features) if isinstance(plan, SlidePlan) else ():
            asked = [name for name in names if name in self.forms]
            if len(asked) > 1:
                shared = SharedSlideKernels(self.forms[asked[0]], features)
                self.together |= dict.fromkeys(asked, shared)
        self._reads_running = {name for name in windows if reads_running(plan, name)}
        loops_of = {(form.NAME, self._loop(name)): form for name, form in self.forms.items()}
        #: for each algorithm: the loop over answers, and the move to a larger ring
        self._of_form = {
            (form.NAME, loop): (
                Kernel(loop, form.FUNCTIONS, self.product, features.checked),
                Kernel(loops.move, form.FUNCTIONS, self.product, checked=False),
            )
            for (_, loop), form in loops_of.items()
        }

    def of_window(self, name: str) -> tuple[Kernel, Kernel]:
        """The loop over the answers of a window, and the move to a larger ring."""
        return self._of_form[self.forms[name].NAME, self._loop(name)]

    def _loop(self, name: str) -> Callable[..., Any]:
        return _loop_of(self.forms[name], name in self._reads_running)


def chunk_of(plan: SlidePlan | OverPlan, name: str) -> int:
    """How many slices make the optimal chunk of a window's boundary aggregator; 0 if unknown.

    The slices are there when windows are answered, so time passes by combines: one for each slice,
    and where theorem 2 has it, one for the answer.
    """
    held, slide = plan.slices_of(name) if isinstance(plan, SlidePlan) else (0, 0)
    if not 0 < slide <= held:
        return 0
    if isinstance(plan, SlidePlan) and plan.unit_of(name) == "time":
        return slide * optimal_chunk_of_time(held, slide, combine=1)
    return slide * optimal_chunk_of_rows(held, slide)


def reads_running(plan: SlidePlan | OverPlan, name: str) -> bool:
    """Whether the answers of a window read slices that are still being filled."""
    return isinstance(plan, SlidePlan) and plan.slices == cutty.NAME and name in plan.periodic


def _loop_of(form: Algorithm, running: bool) -> Callable[..., Any]:
    """The loop over answers for windows of an algorithm."""
    if running:
        return slice_loops.answer_running
    evicts = form.GUARANTEES.evicts
    return slice_loops.answer_windows if evicts else slice_loops.answer_growing


def aggregate_paced(kernel: Callable[[int, int], None], cuts: Array, begin: int, stop: int) -> None:
    """Combine the rows of the slices from `begin` to `stop` by a kernel, in pieces of rows."""
    pace = Pace()
    while begin < stop:
        row = pace.end(int(cuts[begin]), int(cuts[stop]))
        # A slice is never cut: the piece ends behind the slice that holds the row.
        end = max(int(np.searchsorted(cuts, row)), begin + 1)
        kernel(begin, min(end, stop))
        begin = end


class CompiledSliceWindow:
    """One window of all compiled features, driven by a kernel."""

    def __init__(self, kernels: SliceKernels, name: str, memory: KernelMemory) -> None:
        """`memory` holds the partials of the slices; windows share it."""
        form = kernels.forms[name]
        self._loop, move = kernels.of_window(name)
        self.helper = helper_for(form, kernels.product, self._loop.checked)
        self._window = KernelWindow(
            form, kernels.product, memory=memory.for_window(), move=move,
            helper=self.helper, chunk=kernels.chunks.get(name, 0),
        )  # fmt: skip

    @property
    def end(self) -> int:
        """The slice behind the newest that was taken."""
        return int(self._window.state.end)

    def answer(
        self,
        partials: Any,
        answers: FeatureAnswers,
        firsts: Array,
        stops: Array,
        begin: int,
        stop: int,
        read: Read | None = None,
        alone: bool = True,
    ) -> None:
        """Write the answers from `begin` to `stop`, over the slices from firsts to stops.

        `alone` says whether no other thread works at the same time.
        """
        self._window.alone = alone
        running, reads = ((), ()) if read is None else ((read.partials,), (read.places,))
        data = partials, *running, tuple(answers.values), tuple(answers.defined)
        self._window.drive(self._loop, data, (firsts, stops, *reads), begin, stop)


class PlainSliceWindow:
    """One window of one feature whose partials are Python objects."""

    def __init__(
        self, features: FeatureColumns, feature: Feature, plan: SlidePlan, name: str
    ) -> None:
        monoid, _inputs = features.plain_part(feature)
        form = features.plain_choice(feature, plan.wish, *plan.size_of(name)).algorithm

        def lower_row(values: list[Any], _defined: Any, row: int, partial: Any) -> None:
            values[row] = monoid.lower(partial)

        self._feature, self._window = feature, PlainWindow(form, monoid)
        loop = _loop_of(form, reads_running(plan, name))
        self._loop = self._window.linked(loop, lower_row=lower_row)

    @property
    def end(self) -> int:
        """The slice behind the newest that was taken."""
        return int(self._window.state.end)

    def answer(
        self,
        partials: Any,
        answers: list[Any],
        firsts: Array,
        stops: Array,
        read: Read | None = None,
    ) -> None:
        """Write all answers, over the slices from firsts to stops."""
        running, reads = ((), ()) if read is None else ((read.partials,), (read.places.tolist(),))
        bounds = firsts.tolist(), stops.tolist(), *reads
        data = partials, *running, answers, ()
        with function_named(self._feature):
            self._window.drive(self._loop, data, bounds, 0, len(stops))


def plain_partials(
    features: FeatureColumns, index: int, block: tuple[Any, ...], cuts: Array, readings: Array
) -> tuple[list[Any], list[Any]]:
    """The partials of the slices between cuts, and before readings, for one plain feature."""
    monoid, inputs = features.plain_part(features.plain[index])
    partials, running = [], []
    read = set(readings.tolist())
    with function_named(features.plain[index]):
        for first, stop in pairwise(cuts.tolist()):
            partial = monoid.identity()
            for row in range(first, stop):
                if row in read:
                    running.append(partial)
                lifted = monoid.lift(*(block[place][row] for place in inputs))
                partial = monoid.combine(partial, lifted)
            partials.append(partial)
    return partials, running
