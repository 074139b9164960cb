"""Operations of a compiled window as functions of machine code that Python calls itself.

A method in Python takes 50 ns before it does anything, and ctypes takes three times as long for a
call. What a compiled window does for one event takes less. So these are builtin functions, like
`len`: Python passes them its objects, and they read and write a desk of words in memory.

    insert        a float or an integer goes into the buffer           count + 1
    evict         leaving + 1
    evict_many    leaving + the number that is given
    query         the kernel is called; the answer becomes an object   count = leaving = 0

Whatever else there is to do, a function in Python does, which stands on the desk too: an event of
another type, a buffer that is full, a window that is empty, a kernel that failed.

What always holds: a function of this file touches nothing but the desk, the buffer, the answer and
the cells, all of which its `self` keeps in memory. It is made only where Python's objects are known
to lie as they are read here (`is_possible`).
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

#: words of the desk that both sides change: how many events wait, how many are to leave, how many
#: are in the ring, and whether the next query has to do more than to read a number
COUNT, LEAVING, HELD, ODD = range(4)
#: addresses on the desk
_BUFFER, _ANSWER, _DEFINED, _WORDS, _CELLS, _KERNEL = range(4, 10)
#: functions in Python on the desk
_INSERT, _SETTLE, _EVICT, _EVICT_MANY, _QUERY, _FAILED = range(10, 16)
#: how many words a desk has
DESK = 16

#: how Python calls a function
_FASTCALL, _KEYWORDS, _NOARGS = 0x80, 0x2, 0x4
#: what every object begins with: a count of references, and its type
_BASE = object.__basicsize__
_FUNCTIONS = {
    "insert": (_FASTCALL, b"insert($self, event, /)\n--\n\nAdd an event at the newest end."),
    "evict": (_NOARGS, b"evict($self, /)\n--\n\nDrop the oldest event."),
    "evict_many": (
        _FASTCALL | _KEYWORDS,
        b"evict_many($self, count)\n--\n\nDrop the oldest `count` events.",
    ),
    "query": (
        _FASTCALL | _KEYWORDS,
        b"query($self, *, range=None)\n--\n\nThe aggregate of all events; None without a value.",
    ),
}


class Fallbacks(NamedTuple):
    """Functions in Python for what is rare."""

    #: takes whatever was inserted
    insert: Callable[..., Any]
    #: empties a buffer that is full
    settle: Callable[[], Any]
    #: raises, because there is no event
    evict: Callable[[], Any]
    #: takes whatever number was given
    evict_many: Callable[..., Any]
    #: takes whatever was asked
    query: Callable[..., Any]
    #: answers after the kernel has failed, or raises
    failed: Callable[[], Any]


class Places(NamedTuple):
    """What the functions read and write."""

    #: the words that both sides change
    desk: Any
    #: the events that wait, the answer, and whether there is one
    buffer: Any
    answer: Any
    defined: Any


def is_possible() -> bool:
    """Whether the objects of this Python lie in memory as the machine code reads them."""
    return (
        sys.implementation.name == "cpython"
        and _BASE == 2 * ctypes.sizeof(ctypes.c_void_p) == 16
        and float.__basicsize__ == _BASE + 8
        and getattr(sys, "_is_gil_enabled", lambda: True)()
    )


def bind(desk: Any, kernel: int, words: Any, cells: Any) -> None:
    """Let the functions of a desk call a kernel; the caller keeps what it is called with.

    Args:
        desk: the words that both sides change.
        kernel: the address of the kernel's entry.
        words: the block of words that it is called with.
        cells: the whole numbers that tell it what to do.
    """
    desk[_KERNEL], desk[_WORDS] = kernel, ctypes.addressof(words)
    desk[_CELLS] = cells.ctypes.data


def event_calls(
    places: Places, fallbacks: Fallbacks, room: int, stop: int, leaving: int
) -> dict[str, Callable[..., Any]]:
    """The functions, over one window.

    Args:
        places: what they read and write; the type of the buffer and the answer decides what
            events and answers are, float64 or int64.
        fallbacks: what they call for the rest.
        room: how many events the buffer holds.
        stop, leaving: the cells that say how many events enter, and how many leave.
    """
    desk = places.desk
    for word, array in (
        (_BUFFER, places.buffer), (_ANSWER, places.answer), (_DEFINED, places.defined),
    ):  # fmt: skip
        desk[word] = array.ctypes.data
    desk[_INSERT:DESK] = list(map(id, fallbacks))
    kinds = places.buffer.dtype.kind, places.answer.dtype.kind
    definitions, _kept = _definitions(*kinds, room, stop, leaving)
    # The first of `self` says where the desk is; the others are what has to live as long.
    behind = (desk.ctypes.data, places, fallbacks)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return {name: make(ctypes.addressof(each), behind, None) for name, each in definitions.items()}


class _Definition(ctypes.Structure):
    """Python's `PyMethodDef`."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )  # fmt: skip


@functools.cache
def _definitions(
    event: str, answer: str, room: int, stop: int, leaving: int
) -> tuple[dict[str, _Definition], Any]:
    """The functions for kinds of events and answers, "f" or "i"; and what keeps their code.

    They are made once in a process, and never freed: Python's functions point to them.
    """
    from llvmlite import binding

    text = "\n".join((_insert(event, room), _evict(), _evict_many(), _query(answer, stop, leaving)))
    module = binding.parse_assembly(text)
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_default_triple().create_target_machine()
    engine = binding.create_mcjit_compiler(module, target)
    definitions = {
        name: _Definition(name.encode(), engine.get_function_address(name), flags, doc)
        for name, (flags, doc) in _FUNCTIONS.items()
    }
    return definitions, engine


# Machine code -------------------------------------------------------------------------------------


def _of_python(name: str) -> str:
    """The address of a function or an object of Python's own."""
    address = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, name))
    return f"inttoptr (i64 {address} to ptr)"


def _function(head: str, blocks: Sequence[str]) -> str:
    desk = f"""
  %address = call ptr {_of_python("PyTuple_GetItem")}(ptr %self, i64 0)
  %desk = call ptr {_of_python("PyLong_AsVoidPtr")}(ptr %address)"""
    return f"define ptr {head} {{{desk}{''.join(blocks)}\n}}\n"


def _load(name: str, word: int, kind: str = "i64") -> str:
    return f"""
  %{name}_at = getelementptr i64, ptr %desk, i64 {word}
  %{name} = load {kind}, ptr %{name}_at"""


def _nothing() -> str:
    """Return None."""
    nothing = _of_python("_Py_NoneStruct")
    return f"""
  call void {_of_python("Py_IncRef")}(ptr {nothing})
  ret ptr {nothing}"""


def _python(name: str, word: int) -> str:
    """Return what a function on the desk returns, which takes nothing."""
    call = _of_python("PyObject_CallNoArgs")
    return f"""{_load(name, word, "ptr")}
  %{name}_returned = call ptr {call}(ptr %{name})
  ret ptr %{name}_returned"""


def _python_with(name: str, word: int, names: str) -> str:
    """The same of a function that takes what this one was given."""
    call = _of_python("PyObject_Vectorcall")
    return f"""{_load(name, word, "ptr")}
  %{name}_returned = call ptr {call}(ptr %{name}, ptr %given, i64 %several, ptr {names})
  ret ptr %{name}_returned"""


def _insert(kind: str, room: int) -> str:
    known = _of_python("PyFloat_Type" if kind == "f" else "PyLong_Type")
    if kind == "f":
        value, c_type = (
            f"""
  %value_at = getelementptr i8, ptr %event, i64 {_BASE}
  %value = load double, ptr %value_at
  br label %keep""",
            "double",
        )
    else:
        convert = _of_python("PyLong_AsLongLongAndOverflow")
        value, c_type = (
            f"""
  %over_at = alloca i32
  %value = call i64 {convert}(ptr %event, ptr %over_at)
  %over = load i32, ptr %over_at
  %fits = icmp eq i32 %over, 0
  br i1 %fits, label %keep, label %other""",
            "i64",
        )
    return _function(
        "@insert(ptr %self, ptr %given, i64 %several)",
        [
            f"""
  %is_one = icmp eq i64 %several, 1
  br i1 %is_one, label %one, label %other
one:
  %event = load ptr, ptr %given
  %type_at = getelementptr i8, ptr %event, i64 {_BASE - 8}
  %type = load ptr, ptr %type_at
  %is_known = icmp eq ptr %type, {known}
  br i1 %is_known, label %convert, label %other
convert:""",
            value,
            "\nkeep:",
            _load("count", COUNT),
            # Room is missing if the buffer could not be emptied: the kernel had failed.
            f"""
  %has_room = icmp ult i64 %count, {room}
  br i1 %has_room, label %write, label %other
write:""",
            _load("buffer", _BUFFER, "ptr"),
            f"""
  %place = getelementptr i64, ptr %buffer, i64 %count
  store {c_type} %value, ptr %place
  %more = add i64 %count, 1
  store i64 %more, ptr %count_at
  %is_full = icmp eq i64 %more, {room}
  br i1 %is_full, label %full, label %done
full:""",
            _python("settle", _SETTLE),
            "\ndone:",
            _nothing(),
            "\nother:",
            _python_with("insert", _INSERT, "null"),
        ],
    )


def _evict() -> str:
    return _function(
        "@evict(ptr %self, ptr %ignored)",
        [
            _load("count", COUNT),
            _load("held", HELD),
            _load("leaving", LEAVING),
            """
  %events = add i64 %held, %count
  %is_empty = icmp eq i64 %events, %leaving
  br i1 %is_empty, label %empty, label %one
one:
  %more = add i64 %leaving, 1
  store i64 %more, ptr %leaving_at""",
            _nothing(),
            "\nempty:",
            _python("evict", _EVICT),
        ],
    )


def _evict_many() -> str:
    known, convert = _of_python("PyLong_Type"), _of_python("PyLong_AsLongLongAndOverflow")
    return _function(
        "@evict_many(ptr %self, ptr %given, i64 %several, ptr %names)",
        [
            f"""
  %is_one = icmp eq i64 %several, 1
  %is_unnamed = icmp eq ptr %names, null
  %is_plain = and i1 %is_one, %is_unnamed
  br i1 %is_plain, label %one, label %other
one:
  %number = load ptr, ptr %given
  %type_at = getelementptr i8, ptr %number, i64 {_BASE - 8}
  %type = load ptr, ptr %type_at
  %is_known = icmp eq ptr %type, {known}
  br i1 %is_known, label %convert, label %other
convert:
  %over_at = alloca i32
  %going = call i64 {convert}(ptr %number, ptr %over_at)
  %over = load i32, ptr %over_at
  %fits = icmp eq i32 %over, 0""",
            _load("count", COUNT),
            _load("held", HELD),
            _load("leaving", LEAVING),
            """
  %known = add i64 %held, %count
  %events = sub i64 %known, %leaving
  %is_natural = icmp sge i64 %going, 0
  %are_there = icmp sle i64 %going, %events
  %is_possible = and i1 %is_natural, %are_there
  %is_right = and i1 %is_possible, %fits
  br i1 %is_right, label %leave, label %other
leave:
  %more = add i64 %leaving, %going
  store i64 %more, ptr %leaving_at""",
            _nothing(),
            "\nother:",
            _python_with("evict_many", _EVICT_MANY, "%names"),
        ],
    )


def _query(kind: str, stop: int, leaving: int) -> str:
    c_type = "double" if kind == "f" else "i64"
    convert = _of_python("PyFloat_FromDouble" if kind == "f" else "PyLong_FromLongLong")
    return _function(
        "@query(ptr %self, ptr %given, i64 %several, ptr %names)",
        [
            _load("odd", ODD),
            """
  %is_bare = icmp eq i64 %several, 0
  %is_unnamed = icmp eq ptr %names, null
  %is_even = icmp eq i64 %odd, 0
  %is_plain = and i1 %is_bare, %is_unnamed
  %is_simple = and i1 %is_plain, %is_even
  br i1 %is_simple, label %simple, label %other
simple:""",
            _load("count", COUNT),
            _load("leaving", LEAVING),
            _load("cells", _CELLS, "ptr"),
            _load("kernel", _KERNEL, "ptr"),
            _load("words", _WORDS, "ptr"),
            f"""
  %entering = getelementptr i64, ptr %cells, i64 {stop}
  store i64 %count, ptr %entering
  %going = getelementptr i64, ptr %cells, i64 {leaving}
  store i64 %leaving, ptr %going
  %status = call i32 %kernel(ptr %words)
  %is_done = icmp eq i32 %status, 0
  br i1 %is_done, label %done, label %failed
done:""",
            _load("held", HELD),
            """
  %grown = add i64 %held, %count
  %left = sub i64 %grown, %leaving
  store i64 %left, ptr %held_at
  store i64 0, ptr %count_at
  store i64 0, ptr %leaving_at""",
            _load("defined", _DEFINED, "ptr"),
            _load("answer", _ANSWER, "ptr"),
            f"""
  %there = load i8, ptr %defined
  %is_there = icmp ne i8 %there, 0
  br i1 %is_there, label %number, label %nothing
number:
  %value = load {c_type}, ptr %answer
  %object = call ptr {convert}({c_type} %value)
  ret ptr %object
nothing:""",
            _nothing(),
            "\nfailed:",
            _python("failure", _FAILED),
            "\nother:",
            _python_with("query", _QUERY, "%names"),
        ],
    )
