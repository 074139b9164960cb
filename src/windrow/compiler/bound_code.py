"""A kernel whose arguments stay where they are, called with one address.

`BareKernel` passes seven numbers for each array, which takes microseconds. A window that is called
for every event has its arrays at fixed places: so the numbers are written into a block of words
once, and a few instructions of machine code read them from there:

    words      [ results, failure, argument, argument, ... ]
    entry      loads each word, and calls the kernel with them

An entry is made once for each kernel in a process. It keeps the interpreter's lock: what it calls
takes less time than letting go of the lock does.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any

#: a word that is no address and no whole number
_DOUBLE = struct.Struct("<d")
_WORD = struct.Struct("<q")


def entry(address: int, passed: Sequence[str]) -> tuple[int, Any]:
    """Where the code is that calls a kernel, given a block of words; and what keeps it in memory.

    Args:
        address: where the kernel is.
        passed: LLVM's types of what it takes.
    """
    from llvmlite import binding

    module = binding.parse_assembly(_assembly(address, passed))
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_default_triple().create_target_machine()
    engine = binding.create_mcjit_compiler(module, target)
    return int(engine.get_function_address("entry")), engine


def caller(address: int) -> Callable[[Any], Any]:
    """A function that calls an entry."""
    # It is not declared what it takes: then ctypes passes the address of an array fastest.
    return ctypes.PYFUNCTYPE(ctypes.c_int32)(address)


def _assembly(address: int, passed: Sequence[str]) -> str:
    lines = ["define i32 @entry(ptr %words) {"]
    arguments = []
    for number, kind in enumerate(passed):
        lines.append(f"  %at{number} = getelementptr i64, ptr %words, i64 {number}")
        lines.append(f"  %word{number} = load {kind}, ptr %at{number}")
        arguments.append(f"{kind} %word{number}")
    lines.append(f"  %kernel = inttoptr i64 {address} to ptr")
    lines.append(f"  %status = call i32 %kernel({', '.join(arguments)})")
    lines.append("  ret i32 %status")
    lines.append("}")
    return "\n".join(lines)


def words_of(passed: Sequence[Any]) -> Any:
    """What a kernel takes, as a block of words."""
    return (ctypes.c_int64 * len(passed))(*map(_word, passed))


def _word(value: Any) -> int:
    if value is None:
        return 0
    if isinstance(value, float):
        return int(_WORD.unpack(_DOUBLE.pack(value))[0])
    return int(value)


class BoundKernel:
    """A kernel with its arguments: `call(words)` runs it, and is true if it failed.

    Attributes:
        call: a function of ctypes, or of Python.
        words: what it takes.
        error: tells why the last call failed.
        address: where its entry is; None if it is a function of Python.
    """

    def __init__(
        self,
        call: Callable[[Any], Any],
        words: Any,
        error: Callable[[], BaseException],
        kept: Any,
        address: int | None = None,
    ) -> None:
        """`kept` is what has to live as long as the words do."""
        self.call, self.words, self.error, self.address = call, words, error, address
        self._kept = kept


def bound_in_python(function: Callable[..., Any], arguments: tuple[Any, ...]) -> BoundKernel:
    """The same of a function that is not bare machine code."""
    failures: list[BaseException] = []

    def call(words: tuple[Any, ...]) -> bool:
        try:
            function(*words)
        except Exception as error:
            failures[:] = [error]
            return True
        return False

    return BoundKernel(call, arguments, lambda: failures[0], None)
