"""Fingerprints name kernels on disk: equal for what does the same, different for all else."""

import math
import os
import subprocess
import sys
import types
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from windrow.compiler.fingerprint import fingerprint


def scaled(factor: Any) -> Callable[[Any], Any]:
    return lambda x: x * factor


def with_global(**names: Any) -> Callable[[Any], Any]:
    namespace = dict(names)
    exec("def function(x):\n    return x * FACTOR", namespace)
    return namespace["function"]


def helped_by(helper: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: helper(x)


def f(x):
    return x + 1


def g(x):
    return x - 1


def test_equal_functions_have_equal_fingerprints():
    assert fingerprint(scaled(2)) == fingerprint(scaled(2))
    assert fingerprint(with_global(FACTOR=3)) == fingerprint(with_global(FACTOR=3))
    assert fingerprint(lambda x: x + 1) == fingerprint(lambda x: x + 1)


def test_what_a_function_refers_to_is_part_of_it():
    different = [
        scaled(2),
        scaled(2.0),
        scaled(3),
        with_global(FACTOR=2),
        with_global(FACTOR=3),
        with_global(FACTOR=np.array([2, 3])),
        with_global(FACTOR=np.array([2, 4])),
        helped_by(scaled(2)),
        helped_by(scaled(3)),
        lambda x, factor=2: x * factor,
        lambda x, factor=3: x * factor,
        lambda x: x + 0.0,
        lambda x: x - -0.0,
        lambda x: math.exp(x),
        lambda x: math.log(x),
    ]
    for one, other in combinations(different, 2):
        assert fingerprint(one) != fingerprint(other)


def test_which_function_stands_where_is_part_of_it():
    """first(a), last(b), first(c) got the kernel of first(a), last(b), last(c)."""
    assert fingerprint([f, g, f]) != fingerprint([f, g, g])
    assert fingerprint([f, g]) != fingerprint([g, f])


def test_what_is_taken_out_of_a_module_is_part_of_it():
    """A constant of the user's own module is a constant of the kernel."""

    def with_module(factor: Any) -> Callable[[Any], Any]:
        settings = types.ModuleType("settings")
        settings.FACTOR = factor
        namespace = {"settings": settings}
        exec("def function(x):\n    return x * settings.FACTOR", namespace)
        return namespace["function"]

    assert fingerprint(with_module(2)) == fingerprint(with_module(2))
    assert fingerprint(with_module(2)) != fingerprint(with_module(3))


def test_a_function_may_call_itself():
    namespace: dict[str, Any] = {}
    exec("def down(n):\n    return n if n < 1 else down(n - 1)", namespace)
    assert fingerprint(namespace["down"]) == fingerprint(namespace["down"])


def test_a_fingerprint_is_the_same_in_every_process():
    code = (
        "from windrow.compiler.fingerprint import fingerprint\n"
        "print(fingerprint(lambda x: x in {'a', 'b', 'c', 'd'}, ('n', 1.5, None)))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1
