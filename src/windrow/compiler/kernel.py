"""Kernels: algorithm + aggregations + loop = one compiled function.

The product's source, the algorithm's functions and the loop are linked, inlined and compiled (the
README has a drawing). Two of numba's options make this as fast as a loop written by hand:

- `_nrt=False`: numba counts no references on the arrays that cross a call. Counting costs 18 to
  40 ns a round where the round itself takes 2.5. It is safe because kernels allocate nothing. Only
  where a user's combine makes a new array, numba counts.
- `forceinline`: LLVM otherwise leaves `evict` as a call that passes the whole ring on the stack.

With NUMBA_DISABLE_JIT=1 the same linked functions run as plain Python.
"""

from __future__ import annotations

import functools
import threading
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from windrow.compiler import machine_code, past_cache, ring_source, shared_words
from windrow.compiler.argument_types import numba_version, types_in_words
from windrow.compiler.bare_code import BareKernel
from windrow.compiler.bound_code import BoundKernel, bound_in_python
from windrow.compiler.constructors import with_constructors
from windrow.compiler.fingerprint import fingerprint
from windrow.compiler.functions import FunctionCompiler
from windrow.compiler.inlining import inline
from windrow.compiler.interrupts import uninterrupted
from windrow.compiler.linking import link
from windrow.compiler.product_source import ProductSource, Rule
from windrow.compiler.syntax import define
from windrow.compiler.workspaces import with_workspace

if TYPE_CHECKING:
    from windrow.algebra.product import Product

Function = Callable[..., Any]

#: what every kernel's memory is made of, and what that is written in
_SLOTS_SOURCE = ring_source.SOURCE + shared_words.SOURCE
_PRIMITIVES = {
    function.__name__: function
    for function in (
        ring_source.slot_of,
        past_cache.copy_past_cache,
        shared_words.load_word,
        shared_words.store_word,
        shared_words.exchange_word,
        shared_words.yield_core,
        shared_words.sleep_briefly,
    )
}


class Kernel:
    """A driver loop over one algorithm and one product, compiled when it is first called."""

    def __init__(
        self,
        driver: Function,
        algorithm: Sequence[Function],
        product: Product,
        checked: bool,
        rules: Sequence[Rule] = (),
    ) -> None:
        """Link nothing yet.

        Args:
            driver: the loop.
            algorithm: the algorithm's functions.
            product: the aggregations.
            checked: True for a user's functions: a division by zero raises, as in plain Python.
            rules: those of a slide policy, if the loop asks for its verdict.
        """
        *algorithm, driver = map(with_constructors, (*algorithm, driver))
        if product.holds_rows:
            *algorithm, driver = with_workspace([*algorithm, driver])
        self._driver = driver
        self._algorithm = algorithm
        self._product = product
        self._source = ProductSource(product, rules)
        self.checked = checked
        self._call: Function | None = None
        #: the same, not shielded from Ctrl-C
        self._function: Function | None = None
        self._compiling = threading.Lock()

    def __call__(self, *arguments: Any) -> Any:
        """Run the loop."""
        if self._call is None:
            self.prepare(arguments)
        return self._call(*arguments)  # type: ignore[misc]

    def bound(self, *arguments: Any) -> BoundKernel:
        """The loop with arguments that stay, for calls event by event; it returns nothing."""
        self.prepare(arguments)
        if isinstance(self._function, BareKernel):
            return self._function.bound(*arguments)
        return bound_in_python(self._call, arguments)  # type: ignore[arg-type]

    def prepare(self, arguments: tuple[Any, ...]) -> None:
        """Compile for arguments of these types, without running."""
        with self._compiling:
            if self._call is None:
                if machine_code.is_enabled():
                    self._function = self._compile(arguments)
                    self._call = functools.partial(uninterrupted, self._function)
                else:
                    self._call = self._function = self._linked("<product>")

    def _linked(self, path: str) -> types.FunctionType:
        """The loop, linked; `path` is the file of the product's source."""
        namespace: dict[str, Any] = {"__name__": __name__, **_PRIMITIVES, **self._source.globals}
        known = set(namespace)
        define(f"{self._source.text()}\n{_SLOTS_SOURCE}", path, namespace)
        slots = {name: value for name, value in namespace.items() if name not in known}
        slots["__name__"] = __name__
        slots.update(link(self._algorithm, slots))
        loop: types.FunctionType = link([self._driver], slots)[self._driver.__name__]
        return loop

    def _compile(self, arguments: tuple[Any, ...]) -> Function:
        options = {
            "_nrt": self._product.allocates,
            "error_model": "python" if self.checked else "numpy",
        }
        text = self._source.text()
        name = fingerprint(
            machine_code.LAYOUT, numba_version(), text, _SLOTS_SOURCE, types_in_words(arguments),
            options, sorted(self._source.globals.items()), list(self._algorithm), self._driver,
        )  # fmt: skip
        found = machine_code.loaded(name)
        if found is not None:
            return found
        import numba

        signature = tuple(numba.typeof(argument) for argument in arguments)  # type: ignore[no-untyped-call]
        header = f"# {self._driver.__name__}{signature}\n\n{text}\n"
        functions = FunctionCompiler(options)

        def made(path: str) -> types.FunctionType:
            return inline(self._linked(path), functions.own, functions.any)

        return machine_code.load_or_compile(name, header, made, signature, options)
