"""Words that two threads share.

Inside a kernel, a 64-bit integer of an array is read, written and exchanged atomically and in
order: what a thread wrote before it publishes a word is seen by a thread that has watched the word
change. numba has no such operations outside of its own thread pools, so they are made of LLVM's.
Plain Python, which runs in one thread, reads and writes as usual.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

#: how often a word is looked at again at once, and then with the core given up in between; after
#: that the thread sleeps in between
SPINS = 64
YIELDS = 1024
_MICROSECONDS_OF_SLEEP = 20

#: slots of algorithms, in terms of the functions below
SOURCE = f"""
def watch(words, place):
    return load_word(words, place)


def publish(words, place, word):
    store_word(words, place, word)


def claim(words, place, expected, word):
    return exchange_word(words, place, expected, word)


def pause(attempt):
    if attempt > {YIELDS}:
        sleep_briefly()
    elif attempt > {SPINS}:
        yield_core()
"""


def load_word(words: Any, place: int) -> int:
    """The word, as it was published last."""
    return int(words[place])


def store_word(words: Any, place: int, word: int) -> None:
    """Write a word, after all that was written before."""
    words[place] = word


def exchange_word(words: Any, place: int, expected: int, word: int) -> bool:
    """Write a word if it is as expected, and tell whether it was."""
    if words[place] != expected:
        return False
    words[place] = word
    return True


def yield_core() -> None:
    """Let another thread run."""


def sleep_briefly() -> None:
    """Sleep for some microseconds."""


@functools.cache
def intrinsics() -> dict[Any, Any]:
    """The same for kernels that are compiled."""
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    def pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_type = signature.args[0]
        array = context.make_array(array_type)(context, builder, arguments[0])
        return cgutils.get_item_pointer(  # type: ignore[no-untyped-call]
            context, builder, array_type, array, [arguments[1]], wraparound=False
        )

    def load(typing_context: Any, words: Any, place: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            address = pointer(context, builder, signature, arguments)
            return builder.load_atomic(address, ordering="acquire", align=8)

        return types.int64(words, types.intp), generate

    def store(typing_context: Any, words: Any, place: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            address = pointer(context, builder, signature, arguments)
            builder.store_atomic(arguments[2], address, ordering="release", align=8)
            return context.get_dummy_value()

        return types.void(words, types.intp, types.int64), generate

    def exchange(typing_context: Any, words: Any, place: Any, expected: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            address = pointer(context, builder, signature, arguments)
            result = builder.cmpxchg(address, arguments[2], arguments[3], "acq_rel", "acquire")
            return builder.extract_value(result, 1)

        return types.boolean(words, types.intp, types.int64, types.int64), generate

    def call_system(name: str, *numbers: int) -> Callable[[Any], Any]:
        integer = ir.IntType(32)

        def call(typing_context: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                if os.name == "posix":  # elsewhere a thread just looks again
                    kind = ir.FunctionType(integer, [integer] * len(numbers))
                    function = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
                        builder.module, kind, name
                    )
                    builder.call(function, [integer(number) for number in numbers])
                return context.get_dummy_value()

            return types.void(), generate

        return call

    return {
        load_word: intrinsic(load),
        store_word: intrinsic(store),
        exchange_word: intrinsic(exchange),
        yield_core: intrinsic(call_system("sched_yield")),
        sleep_briefly: intrinsic(call_system("usleep", _MICROSECONDS_OF_SLEEP)),
    }
