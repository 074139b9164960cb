"""A user's functions, tried on a few values before any column is known."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from windrow.algebra import probing
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.shapes import fits, is_flat, is_number
from windrow.algebra.user_functions import UserFunctions
from windrow.errors import InvalidAggregation

#: the kinds of values that functions are tried on
_TRIED = (Kind.FLOAT, Kind.INTEGER, Kind.TEXT, Kind.TEMPORAL, Kind.DURATION, Kind.NESTED)

Examples = Sequence[tuple[Any, ...]]


class Trial:
    """Calls a user's functions on examples, and says what is wrong."""

    def __init__(self, functions: UserFunctions) -> None:
        self._own = functions

    def check(self, laws: bool) -> None:
        """Refuse functions that do not fit together, as far as examples can tell.

        With `laws`, refuse functions that break a law on one of them, too.
        """
        refusals = []
        for kinds, examples in self._examples():
            stage, refusal = self.refusal(examples)
            if refusal is None and laws:
                stage, refusal = stage + 1, self._flaw(kinds, examples)
            if refusal is None:
                return
            refusals.append((stage, refusal))
        # The values on which the functions got furthest are those that they are for.
        stage, refusal = max(refusals, key=lambda entry: entry[0])
        if stage == 0 and self._own.example is None:
            raise InvalidAggregation(
                f"{refusal}; it fails on numbers, strings, times and lists alike: "
                "correct it, or give example=, one input that it takes"
            )
        raise refusal

    def _examples(self) -> Iterator[tuple[tuple[Kind, ...], Examples]]:
        """Pairs of events to try the functions on, until they take one, and their kinds."""
        columns = len(self._own.roles)
        if self._own.example is not None:
            yield (), self._given_example()
            return
        # More than three columns of different kinds are too many to try: all of one kind then.
        mixed = itertools.product(_TRIED, repeat=columns) if columns <= 3 else ()
        for kinds in (*((kind,) * columns for kind in _TRIED), *mixed):
            yield kinds, _examples_of(kinds)

    def _given_example(self) -> Examples:
        one = len(self._own.roles) == 1
        return [(self._own.example,) if one else tuple(self._own.example)] * 2

    def refusal(self, examples: Examples) -> tuple[int, InvalidAggregation | None]:
        """What is wrong with the functions for such events, and how far they got."""
        stage = 0
        try:
            lifted = [self._call("lift", *example) for example in examples]
            stage += 1
            self._check_lifted(lifted)
            stage += 1
            combined = self.combined(lifted)
            stage += 1
            self._check_combined(lifted, combined)
            stage += 1
            self._check_others(lifted, combined[-1])
        except InvalidAggregation as refusal:
            return stage, refusal
        return stage, None

    def _flaw(self, kinds: tuple[Kind, ...], examples: Examples) -> InvalidAggregation | None:
        """An example that breaks a law, if there is one among a few."""
        events = probing.events_of(kinds) if kinds else [*examples, *examples]
        try:
            with np.errstate(all="ignore"):
                partials = [self._own.lift(*event) for event in events]
                found = probing.why_not_associative(self._own.combine, self._own.equal, partials)
                law = "combine of {!r} is not associative: {}"
                if found is None and self._own.inverse is not None:
                    found = probing.why_no_inverse(
                        self._own.inverse,
                        self._own.combine,
                        self._own.equal,
                        partials,
                    )
                    law = "inverse of {!r} does not undo combine: {}"
        except Exception:  # on values that the functions may not be for
            return None
        if found is None:
            return None
        return InvalidAggregation(
            f"{law.format(self._own.name, found)}; correct it, or leave this check "
            f"out with check=False"
        )

    def _call(self, role: str, *arguments: Any) -> Any:
        before = copy.deepcopy(arguments)
        try:
            result = getattr(self._own, role)(*arguments)
        except Exception as error:
            shown = ", ".join(map(repr, before))
            raise InvalidAggregation(
                f"{role} of {self._own.name!r} fails: {role}({shown}) raises "
                f"{type(error).__name__}: {error}"
            ) from error
        for old, new in zip(before, arguments, strict=True):
            if isinstance(new, np.ndarray | list | dict | set) and not same(old, new):
                raise InvalidAggregation(
                    f"{role} of {self._own.name!r} changes its argument {old!r} into {new!r}: "
                    "it must leave its arguments alone and return a new value"
                )
        return result

    def _check_lifted(self, lifted: Sequence[Any]) -> None:
        for partial in lifted:
            if not fits(self._own.identity, partial):
                raise InvalidAggregation(
                    f"identity of {self._own.name!r} is {self._own.identity!r} but lift "
                    f"returns {partial!r}: "
                    "both must be partials of one shape"
                )

    def combined(self, lifted: Sequence[Any]) -> list[Any]:
        """Each example with the identity on either side, and then both examples combined."""
        first, second = lifted
        pairs = (
            (self._own.identity, first),
            (first, self._own.identity),
            (first, second),
        )
        return [self._call("combine", older, newer) for older, newer in pairs]

    def _check_combined(self, lifted: Sequence[Any], combined: Sequence[Any]) -> None:
        first = lifted[0]
        for partial in combined:
            if not fits(self._own.identity, partial):
                raise InvalidAggregation(
                    f"combine of {self._own.name!r} returns {partial!r} where its arguments are "
                    f"partials like {first!r}: it must return a partial of the same shape"
                )
        if not (is_number(first) or is_flat(first) or isinstance(first, np.ndarray)):
            return  # an object may not know when it equals another
        for call, partial in zip(
            (f"combine(identity, {first!r})", f"combine({first!r}, identity)"),
            combined,
            strict=False,
        ):
            if not self._own.equal(partial, first):
                raise InvalidAggregation(
                    f"identity of {self._own.name!r} is {self._own.identity!r}, but {call} returns "
                    f"{partial!r}: combining with the identity must change nothing"
                )

    def _check_others(self, lifted: Sequence[Any], combined: Any) -> None:
        """Lower, inverse and defined take the partials that lift and combine make."""
        if self._own.defined is None or self._call("defined", combined):
            self._call("lower", combined)
        if self._own.inverse is not None:
            rest = self._call("inverse", combined, lifted[0])
            if not fits(self._own.identity, rest):
                raise InvalidAggregation(
                    f"inverse of {self._own.name!r} returns {rest!r} where its arguments "
                    f"are partials "
                    f"like {combined!r}: it must return a partial of the same shape"
                )

    def examples_of(self, kinds: Sequence[Kind]) -> Examples:
        """Two events of these kinds, or the example that the user gave."""
        return _examples_of(kinds) if self._own.example is None else self._given_example()


def _examples_of(kinds: Sequence[Kind]) -> Examples:
    return list(zip(*(kind.examples for kind in kinds), strict=True))
