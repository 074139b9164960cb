"""Laws, conformance checks and strategies, for windrow's tests and for yours.

`windrow.testing.strategies` needs hypothesis; nothing else here does.
"""

from windrow.testing.conformance import Operation, check_algorithm, check_window
from windrow.testing.counting_monoid import CountingMonoid
from windrow.testing.discovery import kinds_accepted, kinds_apart
from windrow.testing.laws import (
    check_associativity,
    check_commutativity,
    check_exactness,
    check_identity,
    check_in_place,
    check_inverse,
    check_laws,
    check_purity,
    check_selectivity,
    check_shared_fields,
)
from windrow.testing.policy_checks import check_policy
from windrow.testing.subject import Subject

__all__ = [
    "CountingMonoid",
    "Operation",
    "Subject",
    "check_algorithm",
    "check_associativity",
    "check_commutativity",
    "check_exactness",
    "check_identity",
    "check_in_place",
    "check_inverse",
    "check_laws",
    "check_policy",
    "check_purity",
    "check_selectivity",
    "check_shared_fields",
    "check_window",
    "kinds_accepted",
    "kinds_apart",
]
