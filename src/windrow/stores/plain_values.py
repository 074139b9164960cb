"""Plain Python values as bytes: what partials of text, decimals and the like are made of.

A value is a tag of one byte and what follows it. Numbers of bytes and of members are written seven
bits to a byte, the lowest first, with the highest bit on all but the last.

    none, true, false       nothing
    integer                 length, two's complement, low byte first
    float                   8 bytes, low byte first
    text, bytes             length, the bytes
    decimal, fraction,
    date, time              length, the text that Python has for it
    span                    an integer: microseconds
    tuple, list, set        count, the members
    map                     count, keys and values in turn
    array, scalar           of numpy: type, shape, the numbers

Reading makes these values and nothing else: no code of a store's is run, and no class is looked up.
A value that is not one of these, such as an object of a class of your own, cannot be written. Bytes
that are not laid out so, to the last one, raise `ValueError`.
"""

from __future__ import annotations

import datetime
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

#: values may lie so deep in one another
_DEEPEST = 100
_MICROSECOND = datetime.timedelta(microseconds=1)
#: the kinds of numpy's numbers: truth values, integers, floats
_NUMBERS = "biuf"


def to_bytes(value: Any) -> bytes:
    """A plain value as bytes; raises `TypeError` for any other, which names its type.

    >>> from_bytes(to_bytes((1, "one", Decimal("1.50"), None)))
    (1, 'one', Decimal('1.50'), None)
    """
    written = bytearray()
    _write(value, written, 0)
    return bytes(written)


def from_bytes(data: bytes | memoryview) -> Any:
    """The value that was written as these bytes; raises `ValueError` if none was."""
    reader = _Reader(memoryview(data))
    value = reader.value(0)
    reader.require_end()
    return value


# Writing -----------------------------------------------------------------------------------------


def _write(value: Any, into: bytearray, depth: int) -> None:
    write = _WRITERS.get(type(value))
    if write is None:
        if not isinstance(value, np.generic):
            _refuse(value)
        write = _write_scalar
    if depth > _DEEPEST:
        raise TypeError(f"values lie more than {_DEEPEST} deep in one another")
    write(value, into, depth)


def _refuse(value: Any) -> NoReturn:
    raise TypeError(f"{value!r} is a {type(value).__name__}")


def _write_count(count: int, into: bytearray) -> None:
    while count > 127:
        into.append(count & 127 | 128)
        count >>= 7
    into.append(count)


def _write_content(tag: bytes, content: bytes, into: bytearray) -> None:
    into += tag
    _write_count(len(content), into)
    into += content


def _constant(tag: bytes) -> Callable[[Any, bytearray, int], None]:
    def write(_value: Any, into: bytearray, _depth: int) -> None:
        into += tag

    return write


def _texted(tag: bytes, text: Callable[[Any], str]) -> Callable[[Any, bytearray, int], None]:
    def write(value: Any, into: bytearray, _depth: int) -> None:
        _write_content(tag, text(value).encode("utf-8", "surrogatepass"), into)

    return write


def _integer_bytes(value: int) -> bytes:
    return value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)


def _write_integer(value: int, into: bytearray, _depth: int) -> None:
    _write_content(b"i", _integer_bytes(value), into)


def _write_float(value: float, into: bytearray, _depth: int) -> None:
    into += b"f" + struct.pack("<d", value)


def _write_bytes(value: bytes, into: bytearray, _depth: int) -> None:
    _write_content(b"b", value, into)


def _write_span(value: datetime.timedelta, into: bytearray, _depth: int) -> None:
    _write_content(b"u", _integer_bytes(value // _MICROSECOND), into)


def _moment(value: datetime.datetime) -> str:
    """A moment by the clock of its zone, which side of a turned clock it is on, and the zone."""
    zone = value.tzinfo
    if zone is None:
        name = ""
    elif isinstance(zone, ZoneInfo) and zone.key is not None:
        name = zone.key
    elif zone is datetime.UTC:
        name = "+"
    else:
        _refuse(value)
    return f"{value.fold}{value.replace(tzinfo=None).isoformat()}|{name}"


def _clock(value: datetime.time) -> str:
    if value.tzinfo is not None:
        _refuse(value)
    return value.isoformat()


def _members(tag: bytes) -> Callable[[Any, bytearray, int], None]:
    def write(values: Any, into: bytearray, depth: int) -> None:
        into += tag
        _write_count(len(values), into)
        for each in values:
            _write(each, into, depth + 1)

    return write


def _write_map(values: dict[Any, Any], into: bytearray, depth: int) -> None:
    into += b"{"
    _write_count(len(values), into)
    for key, value in values.items():
        _write(key, into, depth + 1)
        _write(value, into, depth + 1)


def _write_array(values: Any, into: bytearray, _depth: int) -> None:
    if values.dtype.kind not in _NUMBERS:
        _refuse(values)
    low_first = values.astype(values.dtype.newbyteorder("<"))
    _write_content(b"a", low_first.dtype.str.encode(), into)
    _write_count(values.ndim, into)
    for extent in values.shape:
        _write_count(extent, into)
    into += low_first.tobytes()


def _write_scalar(value: Any, into: bytearray, depth: int) -> None:
    into += b"g"
    _write_array(np.asarray(value), into, depth)


_WRITERS: dict[type, Callable[[Any, bytearray, int], None]] = {
    type(None): _constant(b"n"),
    bool: lambda value, into, _depth: into.extend(b"T" if value else b"F"),
    int: _write_integer,
    float: _write_float,
    str: _texted(b"s", str),
    bytes: _write_bytes,
    Decimal: _texted(b"d", str),
    Fraction: _texted(b"q", str),
    datetime.date: _texted(b"D", datetime.date.isoformat),
    datetime.time: _texted(b"t", _clock),
    datetime.datetime: _texted(b"m", _moment),
    datetime.timedelta: _write_span,
    tuple: _members(b"("),
    list: _members(b"["),
    frozenset: _members(b"<"),
    set: _members(b"S"),
    dict: _write_map,
    np.ndarray: _write_array,
}


# Reading -----------------------------------------------------------------------------------------


class _Reader:
    """Bytes, and how far they have been read."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._at = 0

    def require_end(self) -> None:
        if self._at != len(self._data):
            raise ValueError("there are more bytes than a value has")

    def value(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError("values lie too deep in one another")
        tag = bytes(self._taken(1))
        if tag in _CONSTANTS:
            return _CONSTANTS[tag]
        if tag in _GATHERED:
            return _GATHERED[tag](self.value(depth + 1) for _ in range(self._count()))
        if tag == b"{":
            pairs = [(self.value(depth + 1), self.value(depth + 1)) for _ in range(self._count())]
            try:
                return dict(pairs)
            except TypeError as error:
                raise ValueError(str(error)) from None
        if tag == b"f":
            return struct.unpack("<d", self._taken(8))[0]
        if tag == b"a":
            return self._array()
        if tag == b"g":
            if bytes(self._taken(1)) != b"a":
                raise ValueError("a scalar has no number")
            return self._array()[()]
        if tag not in _READERS:
            raise ValueError(f"no value begins with {tag!r}")
        try:
            return _READERS[tag](bytes(self._taken(self._count())))
        except (ArithmeticError, ZoneInfoNotFoundError, OSError) as error:  # a zone may be a folder
            raise ValueError(str(error)) from None

    def _taken(self, size: int) -> memoryview:
        found = self._data[self._at : self._at + size]
        if len(found) != size:
            raise ValueError("a value is cut off")
        self._at += size
        return found

    def _count(self) -> int:
        count = shift = 0
        while True:
            (byte,) = self._taken(1)
            count |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
            if shift > 63:
                raise ValueError("a count has too many digits")
        # Every member takes a byte at least, so no count asks for more memory than there are bytes.
        if count > len(self._data):
            raise ValueError("a count is larger than the bytes that follow")
        return count

    def _array(self) -> Any:
        name = bytes(self._taken(self._count())).decode("ascii")
        try:
            dtype = np.dtype(name)
        except (TypeError, SyntaxError, ValueError) as error:
            raise ValueError(str(error)) from None
        if dtype.kind not in _NUMBERS or dtype.str != name:
            raise ValueError(f"an array has no numbers but {name}")
        shape = [self._count() for _ in range(self._count())]
        size = dtype.itemsize
        for extent in shape:
            size *= extent
        # A copy, because what is read from a store cannot be written to.
        return np.frombuffer(self._taken(size), dtype).reshape(shape).copy()


def _integer(content: bytes) -> int:
    return int.from_bytes(content, "little", signed=True)


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")


def _moment_of(content: bytes) -> datetime.datetime:
    text, _, zone = _text(content).partition("|")
    found = datetime.datetime.fromisoformat(text[1:])
    if text[:1] not in ("0", "1") or found.tzinfo is not None:
        raise ValueError(f"{text!r} is no moment")
    known = None if not zone else datetime.UTC if zone == "+" else ZoneInfo(zone)
    return found.replace(fold=int(text[0]), tzinfo=known)


_CONSTANTS = {b"n": None, b"T": True, b"F": False}


def _hashed(kind: type) -> Callable[[Any], Any]:
    def gathered(members: Any) -> Any:
        try:
            return kind(members)
        except TypeError as error:
            raise ValueError(str(error)) from None

    return gathered


_GATHERED: dict[bytes, Callable[[Any], Any]] = {
    b"(": tuple,
    b"[": list,
    b"<": _hashed(frozenset),
    b"S": _hashed(set),
}
_READERS: dict[bytes, Callable[[bytes], Any]] = {
    b"i": _integer,
    b"s": _text,
    b"b": bytes,
    b"d": lambda content: Decimal(_text(content)),
    b"q": lambda content: Fraction(_text(content)),
    b"D": lambda content: datetime.date.fromisoformat(_text(content)),
    b"t": lambda content: datetime.time.fromisoformat(_text(content)),
    b"m": _moment_of,
    b"u": lambda content: _integer(content) * _MICROSECOND,
}
