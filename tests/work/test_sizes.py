"""Sizes change inside a `with`, for every thread, and are put back."""

import pytest

from windrow.work import sizes
from windrow.work.threads import cores, in_threads


def test_sizes_change_for_a_while() -> None:
    before = sizes.current()
    with sizes.using(cores=3, smallest_piece=2):
        assert (cores(), sizes.current().smallest_piece) == (3, 2)
        with sizes.using(smallest_piece=1):
            assert (cores(), sizes.current().smallest_piece) == (3, 1)
        assert sizes.current().smallest_piece == 2
    assert sizes.current() == before


def test_threads_see_them() -> None:
    with sizes.using(cores=2, most_answers=7):
        assert in_threads(lambda _: sizes.current().most_answers, range(4)) == [7] * 4


def test_an_error_puts_them_back() -> None:
    before = sizes.current()
    with pytest.raises(ZeroDivisionError), sizes.using(cores=5):
        _ = 1 // 0
    assert sizes.current() == before


def test_a_size_that_there_is_not_is_refused() -> None:
    with pytest.raises(TypeError, match="largest_piece"), sizes.using(largest_piece=1):
        pass
