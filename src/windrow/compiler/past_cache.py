"""Numbers into a large array, past the processor's cache: out of a small one, or a line at once.

    draft    [ 2 048 answers, in the cache ]
                    | 32 bytes at a time
    column   [ . . . . . . . x x x x . . . ]  in memory

A usual store first reads the line of memory that it writes to. Of a column that is written from
front to back, and is much larger than the cache, nothing is there to read. Stores past the cache
leave that out: 2 GB took 66 ms instead of 250, on one core. They need whole lines, so answers are
drafted in the cache first. Loops that gather gain nothing, because they wait for what they read.

A line is eight numbers of 64 bits. Lines go to any places about as fast as from front to back.
"""

from __future__ import annotations

import functools
from typing import Any

#: bytes that are stored at once
_VECTOR = 32
#: numbers in a line, and its bytes
_LINE, _LINE_BYTES = 8, 64


def copy_past_cache(target: Any, place: int, source: Any, begin: int, count: int) -> None:
    """Copy `count` numbers of an array, from `begin` on, to a place of another.

    Both have one type. Call `settle_copies` before another thread may read them.
    """
    target[place : place + count] = source[begin : begin + count]


def write_line(
    target: Any, line: int, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any
) -> None:
    """Write eight unsigned 64-bit numbers to a line of an array, which begins where a line does.

    Call `settle_copies` before another thread may read them.
    """
    target[_LINE * line : _LINE * (line + 1)] = a, b, c, d, e, f, g, h


def settle_copies() -> None:
    """Let what was copied be seen by other threads."""


@functools.cache
def intrinsics() -> dict[Any, Any]:
    """The same for kernels that are compiled."""
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    def past_cache(builder: Any, value: Any, pointer: Any, align: int) -> None:
        stored = builder.store(value, pointer, align=align)
        stored.set_metadata("nontemporal", builder.module.add_metadata([ir.IntType(32)(1)]))

    def copy(
        typing_context: Any, target: Any, place: Any, source: Any, begin: Any, count: Any
    ) -> Any:
        if target.dtype != source.dtype:
            return None

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            width = context.get_abi_sizeof(context.get_data_type(signature.args[0].dtype))
            number = ir.IntType(8 * width)
            vector = ir.VectorType(number, _VECTOR // width)

            def pointer(argument: int) -> Any:
                array_type = signature.args[argument]
                array = context.make_array(array_type)(context, builder, arguments[argument])
                data = builder.bitcast(array.data, number.as_pointer())
                return builder.gep(data, [arguments[argument + 1]])

            into, out_of, size = pointer(0), pointer(2), arguments[4]
            integer = size.type

            def copy_numbers(first: Any, stop: Any) -> None:
                with cgutils.for_range_slice(builder, first, stop, integer(1)) as (index, _):
                    builder.store(
                        builder.load(builder.gep(out_of, [index])), builder.gep(into, [index])
                    )

            # Up to where a vector of the target begins, then vectors, then the rest.
            address = builder.ptrtoint(into, integer)
            ahead = builder.and_(builder.neg(address), integer(_VECTOR - 1))
            ahead = builder.udiv(ahead, integer(width))
            ahead = builder.select(builder.icmp_signed("<", ahead, size), ahead, size)
            vectors = builder.udiv(builder.sub(size, ahead), integer(_VECTOR // width))
            copy_numbers(integer(0), ahead)
            lines, read = (
                builder.bitcast(builder.gep(each, [ahead]), vector.as_pointer())
                for each in (into, out_of)
            )
            with cgutils.for_range(builder, vectors) as loop:
                numbers = builder.load(builder.gep(read, [loop.index]), align=width)
                past_cache(builder, numbers, builder.gep(lines, [loop.index]), _VECTOR)
            copied = builder.add(ahead, builder.mul(vectors, integer(_VECTOR // width)))
            copy_numbers(copied, size)
            return context.get_dummy_value()

        arguments = target, types.intp, source, types.intp, types.intp
        return types.void(*arguments), generate

    def write(
        typing_context: Any, target: Any, line: Any,
        a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any,
    ) -> Any:  # fmt: skip
        numbers = a, b, c, d, e, f, g, h
        if target.dtype != types.uint64 or set(numbers) != {types.uint64}:
            return None

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            vector = ir.VectorType(ir.IntType(64), _LINE)
            whole = vector(ir.Undefined)
            for place, number in enumerate(arguments[2:]):
                whole = builder.insert_element(whole, number, ir.IntType(32)(place))
            lines = builder.bitcast(array.data, vector.as_pointer())
            past_cache(builder, whole, builder.gep(lines, [arguments[1]]), _LINE_BYTES)
            return context.get_dummy_value()

        return types.void(target, types.intp, *numbers), generate

    def settle(typing_context: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            builder.fence("seq_cst")
            return context.get_dummy_value()

        return types.void(), generate

    return {
        copy_past_cache: intrinsic(copy),
        write_line: intrinsic(write),
        settle_copies: intrinsic(settle),
    }
