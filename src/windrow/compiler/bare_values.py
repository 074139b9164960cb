"""Arguments and results of kernels as numbers and addresses, as numba passes them.

    an array   two references that kernels do not look at, how many values, the size of one, the
               address, the shape, the strides
    a tuple    its members, one after the other
    a number   itself

A description is made of lists and texts, so that a file can hold it:

    ["array", "<f8", 1, "C"]   "int64"   "float64"   "bool"   ["tuple", ...]   ["like", [5], ...]

The last is a result that is a named tuple of the class of an argument: here of the sixth.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

#: what a file holds of the type of an argument or a result
Described = Any
#: from an argument to what is passed for it
Packed = Callable[[Any], tuple[Any, ...]]

_NUMBERS = {"int64": "i64", "float64": "double", "bool": "i8"}


class NotDescribed(Exception):
    """A kernel that takes or returns something else."""


# From numba's types -----------------------------------------------------------------------------


def described(arguments: Sequence[Any], returned: Any) -> tuple[Described, Described]:
    """The descriptions of a kernel's arguments and result, from numba's types."""
    found = ["tuple", *map(_argument, arguments)]
    return found, "none" if str(returned) == "none" else _result(returned, arguments)


def _argument(kind: Any) -> Described:
    if hasattr(kind, "ndim") and hasattr(kind, "layout"):
        if not kind.aligned:
            raise NotDescribed(kind)
        from numba.np.numpy_support import as_dtype

        return ["array", as_dtype(kind.dtype).str, kind.ndim, kind.layout]
    if hasattr(kind, "types"):
        return ["tuple", *map(_argument, kind.types)]
    return _number(kind)


def _result(kind: Any, arguments: Sequence[Any]) -> Described:
    if not hasattr(kind, "types"):
        return _number(kind)
    members = [_result(each, arguments) for each in kind.types]
    if not hasattr(kind, "instance_class"):
        return ["tuple", *members]
    if kind not in arguments:
        raise NotDescribed(kind)
    return ["like", arguments.index(kind), *members]


def _number(kind: Any) -> str:
    if str(kind) not in _NUMBERS:
        raise NotDescribed(kind)
    return str(kind)


# Arguments --------------------------------------------------------------------------------------


class packer:  # noqa: N801 - used as a function
    """Passes arguments of a description."""

    def __init__(self, description: Described) -> None:
        self._description = description
        self._packed = _packing(description)

    def __call__(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """What is passed for the arguments."""
        return self._packed(arguments)

    def require(self, passed: Sequence[str]) -> None:
        """Refuse a description that says something else than LLVM does of what is passed."""
        if list(_leaves(self._description)) != list(passed):
            raise NotDescribed(passed)


def _leaves(description: Described) -> Sequence[str]:
    if isinstance(description, str):
        return [_NUMBERS[description]]
    if description[0] == "array":
        return ["ptr", "ptr", "i64", "i64", "ptr", *["i64"] * (2 * description[2])]
    return [leaf for each in description[1:] for leaf in _leaves(each)]


def _packing(description: Described) -> Packed:
    if isinstance(description, str):
        return lambda number: (number,)
    kind, *others = description
    if kind == "array":
        return _array_packing(*others)
    members = [_packing(each) for each in others]

    def packed(given: tuple[Any, ...]) -> tuple[Any, ...]:
        passed: list[Any] = []
        for pack, each in zip(members, given, strict=True):
            passed += pack(each)
        return tuple(passed)

    return packed


def _array_packing(data_type: str, dimensions: int, layout: str) -> Packed:
    wanted, contiguous = np.dtype(data_type), layout == "C"
    size = wanted.itemsize

    def packed(array: Any) -> tuple[Any, ...]:
        if (
            array.dtype != wanted
            or array.ndim != dimensions
            or (contiguous and not array.flags.c_contiguous)
        ):
            raise TypeError(
                f"the kernel takes {dimensions}-dimensional arrays of {wanted}, not "
                f"{array.ndim}-dimensional ones of {array.dtype}"
            )
        return (None, None, array.size, size, address(array), *array.shape, *array.strides)

    return packed


def _address_in(array: Any) -> Any:
    """The address of an array's values, which numpy keeps behind the head of the object."""
    return ctypes.c_void_p.from_address(id(array) + object.__basicsize__).value


def _address_by_numpy(array: Any) -> Any:
    """The same, asked for: it takes ten times as long."""
    return array.ctypes.data


_EXAMPLE = np.zeros(1)
address = _address_in if _address_in(_EXAMPLE) == _EXAMPLE.ctypes.data else _address_by_numpy


# Results ----------------------------------------------------------------------------------------


class unpacker:  # noqa: N801 - used as a function
    """Makes results of a description."""

    def __init__(self, description: Described) -> None:
        self._description = description
        leaves = [] if description == "none" else list(_leaves(_without_likes(description)))
        if len(leaves) > 1 and "i8" in leaves:
            raise NotDescribed(description)
        # numbers of 8 bytes follow each other without a gap
        letters = {"i64": "q", "double": "d", "i8": "?"}
        self._layout = struct.Struct("<" + "".join(letters[leaf] for leaf in leaves))
        #: memory for the results of a call, aligned as they are
        self.room = ctypes.c_int64 * max(len(leaves), 1)

    def __call__(self, results: Any, arguments: tuple[Any, ...]) -> Any:
        """The results in memory as Python objects."""
        if self._description == "none":
            return None
        numbers = iter(self._layout.unpack_from(results))
        return _made(self._description, numbers, arguments)


def _without_likes(description: Described) -> Described:
    if isinstance(description, str):
        return description
    members = description[2:] if description[0] == "like" else description[1:]
    return ["tuple", *map(_without_likes, members)]


def _made(description: Described, numbers: Any, arguments: tuple[Any, ...]) -> Any:
    if isinstance(description, str):
        return next(numbers)
    if description[0] == "like":
        members = [_made(each, numbers, arguments) for each in description[2:]]
        return type(arguments[description[1]])(*members)
    return tuple(_made(each, numbers, arguments) for each in description[1:])
