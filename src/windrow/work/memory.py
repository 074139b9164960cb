"""Large arrays, in memory that later arrays get.

    empty(4_000_000, float)  ->  an array  ->  nobody holds it any more  ->  kept
            ^                                                                  |
            +------------------------------------------------------------------+

Fresh memory is slow: the system hands it over page by page, and clears each. To write 2 GB takes
0.02 s in memory that is there, and 0.14 s in fresh memory (one core). So memory stays for later
arrays. The system may take it back whenever it is short of memory, without asking: what is kept is
marked as free (`MADV_FREE`).

Memory comes from the system in regions. An array gets a part of one that is kept, the smallest that
is large enough, or else a region of its own. Parts that lie side by side become one again.

    region   [ an array | kept          | an array | kept ]

An array that comes from here is like any other: it may be a part of a result, for as long as
somebody holds that.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import sys
import threading
from bisect import insort
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from windrow.errors import InvalidArgument
from windrow.work import sizes

Array = np.ndarray[Any, Any]
#: where a part of a region begins and ends
_Part = tuple[int, int]

#: the environment variable that says how many bytes are kept, at most
SETTING = "WINDROW_KEPT_BYTES"
#: without it, no more is kept than this, however much memory the machine has
_MOST = 2**32
#: the system's large pages, which it is asked for where an array fills two
_LARGE_PAGE = 2**21
#: what smaller arrays are counted in
_SMALL_PAGE = 2**16


def empty(size: int, dtype: Any) -> Array:
    """An array of any values."""
    dtype = np.dtype(dtype)
    nbytes = size * dtype.itemsize
    if nbytes < sizes.current().smallest_kept or not nbytes or not _is_possible():
        return np.empty(size, dtype)
    return np.asarray(_Lent(*_POOL.take(nbytes), nbytes)).view(dtype)


class _Region:
    """Memory of the system, which it gets back when nobody holds this."""

    def __init__(self, nbytes: int, page: int) -> None:
        self.memory = mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if page == _LARGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE"):
            self.memory.madvise(mmap.MADV_HUGEPAGE)
        #: all parts are so many bytes, or some times as many
        self.page = page
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        #: the parts that no array has, in their order
        self.kept: list[_Part] = []
        #: whether arrays may get parts of it
        self.is_open = True

    def keep(self, part: _Part) -> None:
        """Take back a part; the system may have its memory."""
        begin, stop = part
        if not self.is_open:
            self.memory.madvise(mmap.MADV_DONTNEED, begin, stop - begin)
            return
        self.memory.madvise(mmap.MADV_FREE, begin, stop - begin)
        for beside in [each for each in self.kept if each[1] == begin or each[0] == stop]:
            self.kept.remove(beside)
            begin, stop = min(begin, beside[0]), max(stop, beside[1])
        insort(self.kept, (begin, stop))

    def close(self) -> None:
        """Give the system what is kept; it gets the rest once arrays are gone."""
        self.is_open = False
        for begin, stop in self.kept:
            self.memory.madvise(mmap.MADV_DONTNEED, begin, stop - begin)


class _Lent:
    """What an array and its parts hold: memory that is kept once they are gone."""

    def __init__(self, region: _Region, part: _Part, nbytes: int) -> None:
        self._region, self._part = region, part
        self.__array_interface__ = {
            "data": (region.address + part[0], False),
            "shape": (nbytes,),
            "typestr": "|u1",
            "version": 3,
        }

    def __del__(self, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_ending():  # then this module may have lost its names
            _POOL.give_back(self._region, self._part)


class _Pool:
    """The regions of this process.

    Objects die at any moment, in any thread: also in a thread that is at work here. So what comes
    back first waits in a queue.
    """

    def __init__(self) -> None:
        self._returned: deque[tuple[_Region, _Part]] = deque()
        #: those of which parts are kept; the ones that were used last come last
        self._regions: list[_Region] = []
        self._lock = threading.Lock()

    def take(self, nbytes: int) -> tuple[_Region, _Part]:
        """A part of a region that is kept, or a new region."""
        page = _LARGE_PAGE if nbytes >= 2 * _LARGE_PAGE else _SMALL_PAGE
        nbytes = -(-nbytes // page) * page
        with self._lock:
            self._settle()
            fitting = [
                (stop - begin, place, begin)
                for place, region in enumerate(self._regions)
                for begin, stop in region.kept
                if stop - begin >= nbytes and region.page == page
            ]
            if fitting:
                length, place, begin = min(fitting)
                region = self._regions[place]
                region.kept.remove((begin, begin + length))
                if length > nbytes:
                    insort(region.kept, (begin + nbytes, begin + length))
                if not region.kept:
                    del self._regions[place]
                return region, (begin, begin + nbytes)
            try:
                return _Region(nbytes, page), (0, nbytes)
            except (OSError, MemoryError):  # what is kept may be what is missing
                self._shrink(0)
                return _Region(nbytes, page), (0, nbytes)

    def give_back(self, region: _Region, part: _Part) -> None:
        """Keep a part that no array has any more."""
        self._returned.append((region, part))
        if self._lock.acquire(blocking=False):
            try:
                self._settle()
            finally:
                self._lock.release()

    def _settle(self) -> None:
        while self._returned:
            region, part = self._returned.popleft()
            region.keep(part)
            if region in self._regions:
                self._regions.remove(region)
            if region.is_open:
                self._regions.append(region)
        self._shrink(_most_kept())

    def _shrink(self, most: int) -> None:
        """Keep no more than so many bytes: regions that were not used for long are closed."""
        kept = [sum(stop - begin for begin, stop in each.kept) for each in self._regions]
        excess = sum(kept) - most
        for region, of_region in list(zip(self._regions, kept, strict=True)):
            if excess > 0:
                self._regions.remove(region)
                region.close()
                excess -= of_region

    @property
    def kept_bytes(self) -> int:
        """How much memory is kept."""
        with self._lock:
            self._settle()
            return sum(stop - begin for each in self._regions for begin, stop in each.kept)


_POOL = _Pool()


def _most_kept() -> int:
    wanted = sizes.current().most_kept
    return _default_most() if wanted is None else wanted


@functools.cache
def _default_most() -> int:
    """What the environment says, or an eighth of the machine's memory."""
    wanted = os.environ.get(SETTING)
    if not wanted:
        return min(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 8, _MOST)
    if not wanted.isdecimal():
        raise InvalidArgument(f"{SETTING}: a number of bytes is needed, not {wanted!r}")
    return int(wanted)


@functools.cache
def _is_possible() -> bool:
    """Whether this system can take back memory that is only kept."""
    return hasattr(mmap, "MADV_FREE")
