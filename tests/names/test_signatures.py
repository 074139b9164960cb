"""What `help`, completion and `inspect.signature` tell of aggregations and windows."""

import inspect
import pydoc
from typing import Any, get_type_hints

import pytest

import windrow as wr
from windrow.aggregations import OFFERED, VARIANTS
from windrow.algebra.signatures import parameters_of

OWN = wr.aggregation(
    name="own",
    identity=(0.0, 0.0),
    lift=lambda price, amount: (price * amount, amount),
    combine=lambda older, newer: (older[0] + newer[0], older[1] + newer[1]),
    lower=lambda partial: partial[0] / partial[1],
)


def test_signatures_are_those_of_the_calls() -> None:
    told = {
        name: str(inspect.signature(getattr(wr, name))).replace(f"{wr.Measure.__module__}.", "")
        for name in ("max", "top_k", "count", "ewm_mean", "rank")
    }
    assert told == {
        "max": "(value: str, /, *, alias: str | None = None) -> Measure",
        "top_k": "(value: str, /, k: int, *, alias: str | None = None) -> Measure",
        "count": "(value: str = ..., /, *, alias: str | None = None) -> Measure",
        "ewm_mean": "(value: str, time: str = ..., /, *, half_life: float | str | "
        "datetime.timedelta, alias: str | None = None) -> Measure",
        "rank": "(value: str, /, method: Literal['min', 'max', 'average', 'dense'] = 'min', "
        "descending: bool = False, *, alias: str | None = None) -> Measure",
    }


@pytest.mark.parametrize("aggregation", [*OFFERED, OWN], ids=lambda each: each.name)
def test_help_names_every_column_and_parameter(aggregation: Any) -> None:
    signature = inspect.signature(aggregation)
    text = " ".join(pydoc.render_doc(aggregation, renderer=pydoc.plaintext).split())
    for parameter in signature.parameters.values():
        assert f"{parameter.name}: " in text
        assert parameter.annotation is not parameter.empty
        assert parameter.annotation is not Any
    for parameter in parameters_of(aggregation):
        assert f"`{parameter.name}" in aggregation.summary, "the summary says what it means"
    columns = [entry.name for entry in aggregation.inputs]
    assert signature.bind(*columns, **_needed(aggregation))
    assert aggregation.__name__ == aggregation.name in text


def _needed(aggregation: Any) -> dict[str, Any]:
    return {each.name: 1 for each in parameters_of(aggregation) if each.default is each.empty}


def test_a_signature_binds_what_the_call_takes() -> None:
    """Parameters follow the columns in the order of the signature, texts among them."""
    assert wr.quantile("x", 0.5, "lower") == wr.quantile("x", interpolation="lower", q=0.5)
    assert wr.ewm_mean("x", "t", "1 minute") == wr.ewm_mean("x", "t", half_life="1 minute")
    with pytest.raises(wr.InvalidArgument, match=r"max\(...\) takes 1 column"):
        wr.max("x", "y")
    with pytest.raises(wr.InvalidArgument, match=r"top_3\(...\): no parameter is called k"):
        wr.top_k(k=3).aggregation("x", k=4)


def test_a_default_that_is_said_makes_the_same_measure() -> None:
    """Found: `wr.approx_distinct("x", 0.05)` was another measure than `wr.approx_distinct("x")`."""
    assert wr.approx_distinct("x", 0.05) == wr.approx_distinct("x")
    assert wr.variance("x", population=False) == wr.variance("x")
    assert wr.collect("x", limit=None) == wr.collect("x")


def test_a_user_aggregation_has_a_signature() -> None:
    assert list(inspect.signature(OWN).parameters) == ["price", "amount", "alias"]


def test_the_class_keeps_a_signature_and_a_docstring_of_its_own() -> None:
    assert "name" in inspect.signature(wr.Aggregation).parameters
    assert (wr.Aggregation.__doc__ or "").startswith("A named aggregation")
    assert "class Aggregation" in pydoc.render_doc(wr.Aggregation, renderer=pydoc.plaintext)


@pytest.mark.parametrize("call", [wr.over, wr.slide, wr.plan, wr.time, wr.rows, wr.Window.__init__])
def test_arguments_have_types(call: Any) -> None:
    hints = get_type_hints(call)
    assert inspect.signature(call).parameters.keys() - {"self"} <= hints.keys()
    texts = {"prefer", "closed", "ties", "of", "empty", "call", "algorithm"} & hints.keys()
    assert all("Literal" in str(hints[name]) for name in texts)


def test_variants_say_what_made_them() -> None:
    assert all(each.called and each.parameters for each in VARIANTS)
