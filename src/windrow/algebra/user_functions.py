"""The functions of a user's aggregation, and how many arguments they take."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from windrow.algebra.monoid import InPlace, Traits
from windrow.errors import InvalidAggregation


@dataclass(frozen=True, kw_only=True, eq=False)
class UserFunctions:
    """The functions that a user gave, and what the user declared of them."""

    name: str
    identity: Any
    lift: Callable[..., Any]
    combine: Callable[[Any, Any], Any]
    lower: Callable[[Any], Any]
    inverse: Callable[[Any, Any], Any] | None
    defined: Callable[[Any], bool] | None
    in_place: InPlace | None
    equal: Callable[[Any, Any], bool]
    output: pa.DataType | None
    traits: Traits
    example: Any

    def check_signatures(self) -> None:
        """Refuse what is no function, or takes another number of partials."""
        for role, takes in (("combine", 2), ("lower", 1), ("inverse", 2), ("defined", 1)):
            self._check_callable(role, takes)

    def _check_callable(self, role: str, takes: int) -> None:
        function = getattr(self, role)
        if function is None:
            return
        if not callable(function):
            raise InvalidAggregation(
                f"{role} of {self.name!r} must be a function, not {function!r}"
            )
        if accepts(function, takes) is False:
            partials = "one partial" if takes == 1 else "two partials"
            raise InvalidAggregation(
                f"{role} of {self.name!r} must take {partials}, and it takes "
                f"{inspect.signature(function)}"
            )

    @property
    def roles(self) -> tuple[str, ...]:
        """The parameters of lift: one for each column."""
        if not callable(self.lift):
            raise InvalidAggregation(f"lift of {self.name!r} must be a function, not {self.lift!r}")
        if self.in_place is not None:
            return tuple(inspect.signature(self.in_place.lift).parameters)[:-1]
        try:
            parameters = inspect.signature(self.lift).parameters.values()
        except ValueError:
            return ("value",)  # a builtin without a signature
        required = tuple(
            parameter.name
            for parameter in parameters
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
            and parameter.default is parameter.empty
        ) or ("value",)
        if accepts(self.lift, len(required)) is False:
            raise InvalidAggregation(
                f"lift of {self.name!r} must take one argument for each column, and it takes "
                f"{inspect.signature(self.lift)}"
            )
        return required


def accepts(function: Callable[..., Any], count: int) -> bool | None:
    """Whether a function can be called with so many arguments; None if it does not tell."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:
        return None
    return True
