"""How the tests of `wr.over` run its kernels."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def interpreted() -> Iterator[None]:
    """Run kernels as the Python they are written in: random questions would compile for hours."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("windrow.compiler.kernel.is_enabled", lambda: False)
        yield
