r"""The functions of a kernel in one module of LLVM.

numba gives every function a module of its own. It optimises that module, makes machine code of it,
links it into the module of each caller, and optimises it there again. A kernel of twenty functions
then has twenty pieces of machine code of which somebody calls one, and its innermost functions go
through LLVM four or five times.

A function that only kernels call needs no machine code. So it stays as numba wrote it until a
kernel wants it:

    combine --> flip --> evict  \
                        insert   }  each with what it calls, optimised  -->  the loop, optimised
                        query   /

The functions that the loop calls are optimised before they are linked into it. If the loop took
them in as they are, LLVM would see all at once, and hot loops seemed to take a little longer
(`docs/decisions.md`). Several loops share them: see `FunctionCompiler.own`.
"""

from __future__ import annotations

import functools
from typing import Any


@functools.cache
def lowering(bare: bool) -> Any:
    """The pass of numba that turns a function into LLVM's language and into machine code.

    Args:
        bare: without numba's wrapper, which takes Python objects (`bare_code.py`).
    """
    from numba import _dynfunc  # type: ignore[attr-defined]
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler_machinery import register_pass
    from numba.core.typed_passes import NativeLowering

    class Library(JITCodeLibrary):
        """A function that is optimised once."""

        def _optimize_functions(self, module: Any) -> None:
            """Nothing: the passes over the whole module do the same."""
            module.data_layout = self._codegen._data_layout

        def _optimize(self, module: Any) -> None:
            passes, builder = self._codegen._module_pass_manager()  # type: ignore[no-untyped-call]
            passes.run(module, builder)

        def _optimize_final_module(self) -> None:
            self._optimize(self._final_module)

    class Inner(Library):
        """A function that only kernels call: it has no machine code."""

        def _ensure_finalized(self) -> None:
            """Nothing: it stays as numba wrote it."""

        def _get_module_for_linking(self) -> Any:
            """The function and all that it calls, optimised."""
            if self._shared_module is None:
                module = self._final_module.clone()
                for library in self._called({}):
                    written = isinstance(library, Inner)
                    called = library._as_written if written else library._get_module_for_linking()
                    module.link_in(called, preserve=True)
                self._optimize(module)
                self._shared_module = _mergeable(module)
            return self._shared_module

        @functools.cached_property
        def _as_written(self) -> Any:
            return _mergeable(self._final_module.clone())

        def _called(self, found: dict[Any, None]) -> dict[Any, None]:
            """The libraries of the functions that it calls, directly or not."""
            for library in self._linking_libraries:
                if library not in found:
                    found[library] = None
                    if isinstance(library, Inner):
                        library._called(found)
            return found

    @register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[no-untyped-call]
    class KernelLowering(NativeLowering):
        _name = "kernel_lowering"

        def run_pass(self, state: Any) -> bool:
            codegen, name = state.targetctx.codegen(), state.func_id.func_qualname
            if not state.flags.no_cpython_wrapper:
                state.library = Library(codegen, name)  # type: ignore[no-untyped-call]
                state.library.enable_object_caching()
                state.flags.no_cpython_wrapper = bare
                return bool(super().run_pass(state))  # type: ignore[no-untyped-call]
            state.library = Inner(codegen, name)  # type: ignore[no-untyped-call]
            state.flags.no_compile = True
            super().run_pass(state)  # type: ignore[no-untyped-call]
            # numba knows a compiled function by the object that Python would call.
            described, environment = state.cr.fndesc, state.cr.env
            entry = _dynfunc.make_function(
                described.lookup_module(), name, "", 0, environment, (state.library,)
            )
            state.targetctx.insert_user_function(entry, described, [state.library])
            state.cr = state.cr._replace(cfunc=entry)
            return True

    return KernelLowering


def _mergeable(module: Any) -> Any:
    """The module, with functions that several modules may define and that go when unused."""
    from llvmlite.binding import Linkage

    for function in module.functions:
        if not function.is_declaration and function.linkage == Linkage.external:
            function.linkage = "linkonce_odr"
    return module
