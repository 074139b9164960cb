"""numba's passes, as far as kernels need them.

numba runs 27 passes on every function. Many look for what windrow's own functions never contain:
closures, `with` blocks, array expressions, parallel loops. Without those passes a kernel takes a
tenth less time to compile. Where variables end, they need not say either: nobody counts references
there. A user's function gets all of numba's passes.

`pipeline_class` is numba's documented way to choose passes ("Customizing the Compiler").
"""

from __future__ import annotations

import functools
from typing import Any

from windrow.compiler.one_module import lowering


@functools.cache
def kernel_passes(bare: bool = False) -> Any:
    """For `numba.njit(pipeline_class=...)`.

    Args:
        bare: a kernel that is called without numba (`bare_code.py`).
    """
    from numba.core import typed_passes as typed
    from numba.core import untyped_passes as untyped
    from numba.core.compiler import CompilerBase
    from numba.core.compiler_machinery import PassManager, register_pass

    @register_pass(mutates_CFG=False, analysis_only=True)  # type: ignore[no-untyped-call]
    class EndsOfLifetimes(typed.IRLegalization):
        """Marks where variables end. Only who counts references needs to know."""

        _name = "ends_of_lifetimes"

        def run_pass(self, state: Any) -> bool:
            return bool(state.flags.nrt and super().run_pass(state))  # type: ignore[no-untyped-call]

    class KernelPasses(CompilerBase):
        def define_pipelines(self) -> list[Any]:
            passes = PassManager("kernel")  # type: ignore[no-untyped-call]
            for kind, purpose in (
                (untyped.TranslateByteCode, "from bytecode to numba's representation"),
                (untyped.FixupArgs, "parameters"),
                (untyped.IRProcessing, "control flow and lifetimes"),
                (untyped.GenericRewrites, "constant indices of tuples"),
                (untyped.ReconstructSSA, "one assignment for each variable"),
                (typed.NopythonTypeInference, "types"),
                (typed.PreLowerStripPhis, "assignments where branches meet"),
                (typed.InlineOverloads, "numba's own functions"),
                (EndsOfLifetimes, "where variables end"),
                (typed.AnnotateTypes, "what the cache keeps"),
                (lowering(bare), "LLVM"),
                (typed.NoPythonBackend, "the compiled function"),
            ):
                passes.add_pass(kind, purpose)  # type: ignore[no-untyped-call]
            passes.finalize()  # type: ignore[no-untyped-call]
            return [passes]

    return KernelPasses
