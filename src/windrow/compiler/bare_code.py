"""Kernels without numba, which takes longer to load than most calls take.

numba makes two functions of a kernel: one on numbers and addresses, and one on Python objects,
which unpacks arguments, calls the first and packs its results:

    Python objects -> wrapper -> numbers and addresses -> kernel

The second needs numba, and LLVM takes a sixth of the time of a kernel for it. So kernels are
compiled without it, and the cache keeps the machine code with a description of the kernel's
arguments. A process that finds it there loads it with llvmlite alone. Either way, windrow passes
numbers and addresses itself.

What always holds:

1. Only the kernel is called. What a wrapper wants of numba, if there is one, has other names in
   the file, which stand for `abort`: numba finds its own names as it left them.
2. A kernel that refers to anything but itself and the C library is not kept here.
3. A file that is damaged counts as missing, as one for another processor does.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import struct
import sys
import threading
import zlib
from pathlib import Path
from typing import Any

from windrow.compiler.bare_values import Described, NotDescribed, described, packer, unpacker
from windrow.compiler.bound_code import BoundKernel, caller, entry, words_of

#: numba's names of wrappers
_WRAPPER = "_ZN7cpython"
_SIZE = struct.Struct("<II")
#: how names begin that stand for `abort`
_UNUSED = "bare_"
#: what ctypes passes for a type of LLVM
_C_TYPES: dict[str, Any] = {
    "ptr": ctypes.c_void_p, "i64": ctypes.c_int64, "double": ctypes.c_double, "i8": ctypes.c_int8,
    "i32": ctypes.c_int32, "float": ctypes.c_float,
}  # fmt: skip
#: how many arguments ctypes passes at most
_MOST_ARGUMENTS = 1024
_loading = threading.Lock()


def is_possible() -> bool:
    """Whether this process calls kernels without numba."""
    settings = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")
    return sys.platform == "linux" and not any(os.environ.get(name) for name in settings)


# Keep -------------------------------------------------------------------------------------------


def keep(place: Path, compiled: Any) -> BareKernel | None:
    """Write the machine code of a kernel that numba has just compiled, and give the kernel.

    A kernel that cannot do without numba is not written, and is None.

    Args:
        place: where, beside other files of the kernel.
        compiled: numba's result.
    """
    import json

    path, library = _file(place), compiled.library
    try:
        code, unused = _renamed(library)
        head = {**_head(compiled), "unused": unused, "crc": zlib.crc32(code)}
        kernel = BareKernel(head, compiled, library.get_pointer_to_function(head["symbol"]))
    except (NotDescribed, AttributeError, RuntimeError, ValueError):
        return None  # of another version of numba, perhaps
    text = json.dumps(head).encode()
    temporary = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    temporary.write_bytes(_SIZE.pack(len(text), zlib.crc32(text)) + text + code)
    temporary.replace(path)
    return kernel


def _head(compiled: Any) -> dict[str, Any]:
    module, symbol = compiled.library._final_module, compiled.fndesc.llvm_func_name
    arguments, returned = described(compiled.signature.args, compiled.signature.return_type)
    passed = [str(each.type) for each in module.get_function(symbol).arguments]
    _require_leaves(arguments, passed)
    return {
        "symbol": symbol,
        "passed": passed,
        "arguments": arguments,
        "returned": returned,
    }


def _require_leaves(arguments: Described, passed: list[str]) -> None:
    """Refuse arguments that numba passes in another way than this file does."""
    if unknown := set(passed) - set(_C_TYPES):
        raise NotDescribed(unknown)
    if len(passed) > _MOST_ARGUMENTS:
        raise NotDescribed(f"{len(passed)} arguments")
    packer(arguments).require(passed[2:])


def _renamed(library: Any) -> tuple[bytes, list[str]]:
    """The machine code, in which what the wrapper wants of numba has other names, and those."""
    code, names = library._get_compiled_object(), []
    for name in _unused(library._final_module):
        other = _UNUSED + name[len(_UNUSED) :]
        code = code.replace(f"\0{name}\0".encode(), f"\0{other}\0".encode())
        names.append(other)
    return code, names


def _unused(module: Any) -> list[str]:
    """What only the wrapper refers to, and the C library and Python do not have.

    Refuses a kernel that refers to more than the C library itself.
    """
    declared = {
        each.name
        for each in (*module.functions, *module.global_variables)
        if each.is_declaration and not each.name.startswith("llvm.")
    }
    own = [each for each in module.functions if not each.is_declaration]
    text = "\n".join(str(each) for each in own if not each.name.startswith(_WRAPPER))
    used = declared & set(re.findall(r'@"?([\w.$]+)', text))
    library = ctypes.CDLL(None)
    if missing := [name for name in used if name.startswith("Py") or not hasattr(library, name)]:
        raise NotDescribed(missing)
    return [name for name in sorted(declared - used) if not hasattr(library, name)]


# Load -------------------------------------------------------------------------------------------


class BareKernel:
    """A kernel that is called without numba."""

    def __init__(self, head: dict[str, Any], engine: Any, address: int) -> None:
        self._engine, self._address, self._passed = engine, address, head["passed"]
        types = [_C_TYPES[each] for each in self._passed]
        self._call = ctypes.CFUNCTYPE(ctypes.c_int32, *types)(address)
        self._pack = packer(head["arguments"])
        self._unpack = unpacker(head["returned"])

    def __call__(self, *arguments: Any) -> Any:
        """Run the loop; the interpreter lock is free meanwhile."""
        results, failure = self._unpack.room(), ctypes.c_void_p()
        status = self._call(
            ctypes.addressof(results), ctypes.addressof(failure), *self._pack(arguments)
        )
        if status > 0:
            raise _raised(failure.value)
        return self._unpack(results, arguments)

    def bound(self, *arguments: Any) -> BoundKernel:
        """The kernel with arguments that stay; it must return nothing."""
        failure, results = ctypes.c_void_p(), self._unpack.room()
        places = ctypes.addressof(results), ctypes.addressof(failure)
        words = words_of([*places, *self._pack(arguments)])
        address, _engine = self._entry
        kept = results, arguments, self
        return BoundKernel(caller(address), words, lambda: _raised(failure.value), kept, address)

    @functools.cached_property
    def _entry(self) -> tuple[Any, Any]:
        return entry(self._address, self._passed)


class _Failure(ctypes.Structure):
    """What a kernel says of an exception: it lies in the machine code, pickled."""

    _fields_ = (("text", ctypes.c_void_p), ("size", ctypes.c_int32))


def _raised(address: int | None) -> BaseException:
    import pickle

    assert address is not None
    failure = _Failure.from_address(address)
    kind, arguments, _place = pickle.loads(ctypes.string_at(failure.text, failure.size))
    found: BaseException = kind(*arguments)
    return found


def load(place: Path) -> BareKernel | None:
    """The kernel that is kept there; None if there is none for this processor."""
    import json

    try:
        data = _file(place).read_bytes()
        size, crc = _SIZE.unpack_from(data)
        text, code = data[_SIZE.size :][:size], data[_SIZE.size + size :]
        if zlib.crc32(text) != crc:
            return None
        head = json.loads(text)
    except (OSError, ValueError, struct.error):
        return None
    if zlib.crc32(code) != head["crc"]:
        return None
    if not all(name.startswith(_UNUSED) for name in head["unused"]):
        return None  # of a windrow that let numba's own names stand for `abort`
    with _loading:
        return BareKernel(head, *_in_memory(head, code))


def _in_memory(head: dict[str, Any], code: bytes) -> tuple[Any, int]:
    """What keeps the machine code in memory, and where the kernel is.

    Kernels that two processes compiled may have one name, so each has an engine of its own.
    """
    from llvmlite import binding

    stop = ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p).value
    for name in head["unused"]:
        binding.add_symbol(name, stop)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _target())
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine, int(engine.get_function_address(head["symbol"]))


def _target() -> Any:
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_default_triple().create_target_machine()


def _file(place: Path) -> Path:
    """The file for this processor: machines that are not alike may share the cache."""
    return place.with_suffix(f".{_processor():08x}.bare")


@functools.cache
def _processor() -> int:
    from llvmlite import binding

    features = binding.get_host_cpu_features().flatten()
    told = (binding.get_process_triple(), binding.get_host_cpu_name(), features)
    return zlib.crc32(" ".join(told).encode())
