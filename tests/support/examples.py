"""How many examples the test of a property draws."""

import hypothesis

#: what a test draws that names no number, with `make test` and with `make seeds`
USUAL, SEEDS = 50, 300


def examples(number: int, **others: object) -> hypothesis.settings:
    """Draw so many with `make test`, and six times as many, new ones, with `make seeds`."""
    times = hypothesis.settings.default.max_examples // USUAL
    return hypothesis.settings(max_examples=number * times, **others)
