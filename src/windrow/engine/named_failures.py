"""Errors that rows cause in a computation, with the name of the feature: `sum(amount)`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from windrow.algebra.failures import FAILURES, named
from windrow.errors import InvalidAggregation, WindrowError
from windrow.planning.features import Feature


@contextmanager
def kernels_named(features: Iterable[Feature]) -> Iterator[None]:
    """Name the features that an error in a kernel may come from."""
    try:
        yield
    except WindrowError:
        raise
    except FAILURES as error:
        raise named(" or ".join(map(str, _suspects(list(features), error))), error) from error


@contextmanager
def function_named(feature: Feature) -> Iterator[None]:
    """Name the feature whose plain Python raises an error."""
    try:
        yield
    except FAILURES as error:  # also windrow's own errors of these kinds: they name no columns
        raise named(str(feature), error) from error
    except WindrowError:
        raise
    except (TypeError, ValueError) as error:
        raise InvalidAggregation(f"{feature} cannot be computed of this data: {error}") from error


def _suspects(features: list[Feature], error: BaseException) -> list[Feature]:
    """The features whose functions raise this error, or else those of the user."""
    compiled = [feature for feature in features if feature.compiled]
    raising = [feature for feature in compiled if str(error) in _constants(feature.monoid.lower)]
    return raising or [each for each in compiled if each.aggregation.custom] or compiled


def _constants(function: Callable[..., Any]) -> tuple[Any, ...]:
    code = getattr(function, "__code__", None)
    return () if code is None else code.co_consts
