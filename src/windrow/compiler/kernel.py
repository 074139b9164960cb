"""The compiler: algorithm + aggregations + driver loop = one numba kernel.

The product's source, the algorithm's functions and the driver are linked (see `linking`) and
compiled with every call inlined. Two things make this as fast as a loop written by hand:

- `_nrt=False`: numba counts no references on the arrays that cross a call. Counting costs 18 to
  40 ns a round where the round itself takes 2.5. It is safe because kernels allocate nothing; only
  where a user's combine makes a new array is the counting kept.
- `forceinline`: LLVM otherwise leaves `evict` as a call that passes the whole ring on the stack.

numba is imported on the first compilation, not with windrow. With NUMBA_DISABLE_JIT=1 the same
linked functions run as plain Python.
"""

from __future__ import annotations

import functools
import os
import threading
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from windrow.compiler import cache
from windrow.compiler import shared_words as words
from windrow.compiler.constructors import with_constructors
from windrow.compiler.inlining import inline
from windrow.compiler.interrupts import uninterrupted
from windrow.compiler.linking import fingerprint, link
from windrow.compiler.pipeline import kernel_passes
from windrow.compiler.product_source import ProductSource, Rule
from windrow.compiler.syntax import define
from windrow.compiler.workspaces import with_workspace

if TYPE_CHECKING:
    from windrow.algebra.product import Product

Function = Callable[..., Any]

#: kernels by name, so that many tasks in one process load a kernel once
_LOADED: dict[str, Function] = {}
#: loops by function and how their arguments look
_LOOPS: dict[tuple[Any, ...], Function] = {}

_LAYOUT = 2  # of the kernels' files; a new number leaves old files alone

_MEMORY_SOURCE = """
def capacity(ring):
    return ring[0].shape[0]


def release(ring, position):
    pass


def load_integer(integers, position):
    return integers[np.uintp(position) & np.uintp(integers.shape[0] - 1)]


def store_integer(integers, position, integer):
    integers[np.uintp(position) & np.uintp(integers.shape[0] - 1)] = integer
"""

#: what every kernel's memory is made of
_SLOTS_SOURCE = _MEMORY_SOURCE + words.SOURCE


def is_enabled() -> bool:
    """Whether kernels are compiled in this process."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


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
        """Args are the loop, the algorithm's functions, the product; `checked` for user's code.

        With `checked`, a division by zero raises as it does in plain Python. `rules` are those of a
        slide policy, which the loop asks for its verdict.
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
        self._compiling = threading.Lock()

    def __call__(self, *arguments: Any) -> Any:
        """Run the loop."""
        if self._call is None:
            self.prepare(arguments)
        return self._call(*arguments)  # type: ignore[misc]

    def prepare(self, arguments: tuple[Any, ...]) -> None:
        """Compile for arguments of these types, without running."""
        with self._compiling:
            if self._call is None:
                if is_enabled():
                    self._call = functools.partial(uninterrupted, self._compile(arguments))
                else:
                    self._call = self._link(_unchanged)

    def _link(self, finish: Callable[[types.FunctionType], Any], path: str = "<product>") -> Any:
        text = self._source.text() + "\n" + _SLOTS_SOURCE
        namespace: dict[str, Any] = {
            "__name__": __name__,
            **(words.compiled() if is_enabled() else words.PLAIN),
        }
        for name, value in self._source.globals.items():
            namespace[name] = finish(value) if isinstance(value, types.FunctionType) else value
        known = set(namespace)
        define(text, path, namespace)
        supplied = {
            name: finish(value)
            for name, value in namespace.items()
            if name not in known and isinstance(value, types.FunctionType)
        }
        supplied["__name__"] = __name__
        supplied.update(link(self._algorithm, supplied, finish))
        return link([self._driver], supplied)[self._driver.__name__]

    def _compile(self, arguments: tuple[Any, ...]) -> Function:
        import numba

        counts_references = self._product.allocates
        signature = tuple(numba.typeof(argument) for argument in arguments)  # type: ignore[no-untyped-call]
        inlined = Inliner(
            _nrt=counts_references,
            error_model="python" if self.checked else "numpy",
        )
        text = self._source.text()
        name = fingerprint(
            _LAYOUT, numba.__version__, text, _SLOTS_SOURCE, str(signature), inlined.options,
            sorted(self._source.globals.items()), list(self._algorithm), self._driver,
        )  # fmt: skip
        header = f"# {self._driver.__name__}{signature}\n\n{text}\n"
        options = {
            "_nrt": counts_references,
            "error_model": inlined.options["error_model"],
            "no_cfunc_wrapper": True,
            "pipeline_class": kernel_passes(),
        }

        def linked(path: str) -> types.FunctionType:
            return inline(self._link(_unchanged, path), inlined.finished, inlined)

        return load_or_compile(name, header, linked, signature, options)


def load_or_compile(
    name: str,
    text: str,
    make: Callable[[str], Any],
    signature: tuple[Any, ...],
    options: dict[str, Any],
) -> Function:
    """The machine code of a function, from this process, from the cache, or compiled now.

    Args:
        name: what all that the function is made of is known by.
        text: for the file in the cache.
        make: from the path of that file to the function.
        signature: the types of its arguments.
        options: of `numba.njit`.
    """
    import numba

    if name in _LOADED:
        return _LOADED[name]
    path = cache.source_file(name, text)
    function = make(str(path))
    # numba finds its machine code by the file that a function comes from.
    placed = types.FunctionType(
        function.__code__.replace(co_filename=str(path)), function.__globals__, function.__name__
    )
    dispatcher: Any = numba.njit(cache=True, nogil=True, **options)(placed)
    with cache.only_one_process(path):
        dispatcher.compile(signature)
    dispatcher.disable_compile()
    _LOADED[name] = dispatcher
    return dispatcher  # type: ignore[no-any-return]


def compiled_loop(function: Function) -> Function:
    """A loop over arrays, with nothing to link, compiled for the arguments it is called with."""

    def call(*arguments: Any) -> Any:
        if not is_enabled():
            return function(*arguments)
        # Asking numba for the types takes longer than a loop over some thousand rows.
        known = (function, *map(_looks, arguments))
        loop = _LOOPS.get(known)
        if loop is None:
            loop = _LOOPS[known] = _compile_loop(function, arguments)
        return loop(*arguments)

    return call


def _looks(argument: Any) -> Any:
    """What tells the types of two arguments of a loop apart, as far as they are arrays or not."""
    if isinstance(argument, np.ndarray):
        flags = argument.flags
        return argument.dtype, argument.ndim, flags.c_contiguous, flags.writeable, flags.aligned
    return type(argument)


def _compile_loop(function: Function, arguments: tuple[Any, ...]) -> Function:
    import numba

    signature = tuple(numba.typeof(argument) for argument in arguments)  # type: ignore[no-untyped-call]
    name = fingerprint(_LAYOUT, numba.__version__, str(signature), function)
    options = {"_nrt": False, "error_model": "numpy", "no_cfunc_wrapper": True}
    text = f"# {function.__name__}{signature}\n"
    return load_or_compile(name, text, lambda _path: function, signature, options)


class Inliner:
    """Compiles functions so that LLVM inlines them, and the plain functions that they call.

    Only kernels call them, so they get no wrappers for calls from Python and C. numba never gives
    back what it compiled: wrappers take 16 of the 24 MiB that compiling a kernel leaves behind, and
    half of the time (`docs/decisions.md`).
    """

    def __init__(self, **options: Any) -> None:
        """Options are those of `numba.njit`."""
        self.options = {
            "forceinline": True,
            "no_cpython_wrapper": True,
            "no_cfunc_wrapper": True,
            **options,
        }
        self._done: dict[types.FunctionType, Any] = {}

    def __call__(self, function: types.FunctionType) -> Any:
        """The compiled function."""
        import numba

        if function not in self._done:
            self._done[function] = numba.njit(**self.options)(self.with_compiled_helpers(function))
        return self._done[function]

    def finished(self, function: types.FunctionType) -> Any:
        """The compiled function, if all that it calls is compiled."""
        import numba

        return numba.njit(pipeline_class=kernel_passes(), **self.options)(function)

    def with_compiled_helpers(self, function: types.FunctionType) -> types.FunctionType:
        """A copy of the function that calls compiled versions of the functions it calls."""
        helpers = {
            name: self(value)
            for name, value in function.__globals__.items()
            if name in function.__code__.co_names
            and isinstance(value, types.FunctionType)
            and value is not function
        }
        closure = function.__closure__
        return types.FunctionType(
            function.__code__,
            {**function.__globals__, **helpers},
            function.__name__,
            function.__defaults__,
            tuple(map(self._cell, closure)) if closure else None,
        )

    def _cell(self, cell: types.CellType) -> types.CellType:
        return types.CellType(self(cell.cell_contents)) if _is_plain(cell) else cell


def _is_plain(cell: types.CellType) -> bool:
    return isinstance(cell.cell_contents, types.FunctionType)


def _unchanged(function: types.FunctionType) -> types.FunctionType:
    return function
