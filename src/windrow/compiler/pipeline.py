"""numba's passes, as far as kernels need them.

numba runs 27 passes on every function. Many look for what windrow's own functions never contain:
closures, `with` blocks, array expressions, parallel loops. Without those passes a kernel takes a
tenth less time to compile. A user's function gets all of numba's passes.

`pipeline_class` is numba's documented way to choose passes ("Customizing the Compiler").
"""

from __future__ import annotations

import functools
from typing import Any

from windrow.compiler.one_module import lowering


@functools.cache
def kernel_passes() -> Any:
    """For `numba.njit(pipeline_class=...)`."""
    from numba.core import typed_passes as typed
    from numba.core import untyped_passes as untyped
    from numba.core.compiler import CompilerBase
    from numba.core.compiler_machinery import PassManager

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
                (typed.IRLegalization, "lifetimes, again"),
                (typed.AnnotateTypes, "what the cache keeps"),
                (lowering(), "LLVM"),
                (typed.NoPythonBackend, "the compiled function"),
            ):
                passes.add_pass(kind, purpose)  # type: ignore[no-untyped-call]
            passes.finalize()  # type: ignore[no-untyped-call]
            return [passes]

    return KernelPasses
