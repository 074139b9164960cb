"""Columns of Python's texts as codes: small integers, and the different texts.

A column of dtype object holds addresses of Python objects. Libraries that make such columns, as
`pd.read_csv` does, make one object for each different text, or a few. So the addresses are encoded,
five times as fast as texts are hashed, and only the objects behind different addresses are read:

    addresses   0x10  0x38  0x10  0x54  0x38       codes    0  1  0  2  1
    objects     "AA"  "UA"  "AA"  "AA"  "UA"       objects  "AA"  "UA"  "AA"
                                                   codes    0  1  0  0  1    texts  "AA"  "UA"

Where most texts are objects of their own, pandas hashes the texts; Arrow would copy them first.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pyarrow as pa

Array = np.ndarray[Any, Any]

#: so many addresses tell whether objects repeat; rows are searched in blocks of so many
_SAMPLE = 4096


def encoded_texts(column: Any) -> pa.DictionaryArray | None:
    """A pandas column or index of objects as a dictionary of texts; None if others are there."""
    objects = column.to_numpy()
    return _by_address(objects) if _objects_repeat(objects) else _by_text(column)


def _by_address(objects: Array) -> pa.DictionaryArray | None:
    codes = pa.array(_addresses(objects)).dictionary_encode().indices
    texts = _texts(objects[_first_of_each(codes.to_numpy())])
    if texts is None:
        return None
    encoded = texts.dictionary_encode()
    if len(encoded.dictionary) < len(texts):  # several objects of one text, or what is missing
        codes = encoded.indices.take(codes)
    return pa.DictionaryArray.from_arrays(codes, encoded.dictionary)


def _first_of_each(codes: Array) -> Array:
    """The rows at which each code is first; codes are numbered in the order of appearance.

    A code is first where the largest so far rises to it. That is looked up only in blocks in which
    it rises: the largest of a block is found fifty times as fast as that so far of each row.
    """
    begins = np.arange(0, len(codes), _SAMPLE)
    largest = np.maximum.accumulate(np.maximum.reduceat(codes, begins))
    found, known = [], 0
    for begin, last in zip(begins.tolist(), largest.tolist(), strict=True):
        if last >= known:
            so_far = np.maximum.accumulate(codes[begin : begin + _SAMPLE])
            found.append(
                begin + np.searchsorted(so_far, np.arange(known, last + 1, dtype=np.int32))
            )
            known = last + 1
    return np.concatenate(found)


def _by_text(column: Any) -> pa.DictionaryArray | None:
    codes, found = column.factorize()
    texts = _texts(found)
    if texts is None:
        return None
    missing = codes < 0
    indices = pa.array(codes, mask=missing) if missing.any() else pa.array(codes)
    return pa.DictionaryArray.from_arrays(indices, texts)


def _texts(objects: Any) -> pa.Array | None:
    """Objects as texts; None if there are others that are not missing."""
    try:
        texts = pa.array(objects, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return texts if pa.types.is_string(texts.type) else None


def _objects_repeat(objects: Array) -> bool:
    """Whether a column is long, and its beginning tells that few objects stand in it."""
    if len(objects) < 2 * _SAMPLE or not objects.flags.c_contiguous:
        return False
    return len(np.unique(_addresses(objects[:_SAMPLE]))) <= _SAMPLE // 8


def _addresses(objects: Array) -> Array:
    """The addresses of objects; numpy has no view of them."""
    memory = (ctypes.c_char * objects.nbytes).from_address(objects.ctypes.data)
    return np.frombuffer(memoryview(memory), np.intp)
