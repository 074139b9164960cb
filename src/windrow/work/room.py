"""Arrays that take memory only where they are written.

numpy asks for pages of 2 MiB where it can. That is fast for arrays that are written from end to
end. Of long rows that are written at their beginnings it would make all memory.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

#: Linux's number of the flag, which Python 3.11 does not name
_MAP_NORESERVE = 0x4000
#: smaller arrays are not worth a call of the system
_LEAST_BYTES = 2**20


def sparse_rows(rows: int, width: int, dtype: Any) -> np.ndarray[Any, Any]:
    """Rows of zeros, to be written at their beginnings."""
    nbytes = rows * width * np.dtype(dtype).itemsize
    advice = getattr(mmap, "MADV_NOHUGEPAGE", None)
    if nbytes < _LEAST_BYTES or advice is None:
        return np.zeros((rows, width), dtype)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
    memory = mmap.mmap(-1, nbytes, flags=flags)
    memory.madvise(advice)
    return np.frombuffer(memory, dtype).reshape(rows, width)
