"""Random measures: the whole catalogue, with parameters, conditions and over different values."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from tests.fuzz.calls import Call, Condition, Function, Measure, Nanoseconds, Window
from tests.fuzz.catalogue import Entry, catalogue
from tests.fuzz.columns import Column, step_of

#: aggregations that pick values, or add them up; what they answer of 1e300 is plain
PICKING = frozenset(
    (
        *("rank", "percent_rank", "count_distinct"),
        *("lag", "lead", "previous", "count_since_last", "time_since_last"),
        *("count", "count_if", "min", "max", "min_count", "max_count", "arg_min", "arg_max"),
        *("first", "last", "nth", "collect", "collect_distinct", "concat", "top_k", "bottom_k"),
        *(
            "mode",
            "bit_and",
            "bit_or",
            "bit_xor",
            "all",
            "any",
            "longest_increasing_run",
            "m4",
            "ohlc",
        ),
        *("longest_run_above", "sign_changes", "approx_quantile", "frequent_items", "all_equal"),
    )
)
LOOKING_BACK = (
    *("lag", "previous", "count_since_last", "time_since_last", "rank", "percent_rank"),
)
ADDING = PICKING | {"sum", "mean"}
#: of integers and booleans, exact as well
EXACT = PICKING | {"sum", "value_range", "change", "approx_distinct", "bloom", "count_min"}


def draw_measures(random: Random, call: Call) -> tuple[Measure, ...]:
    """Some aggregations of whatever columns fit."""
    entries = list(catalogue().values())
    found: list[Measure] = []
    wanted = random.choice((1, 2, 3, 4))
    for _ in range(30):
        if len(found) == wanted:
            break
        # Few windows suit it.
        lead = all(_ahead(window) > 0 for window in call.windows) and random.random() < 0.3
        entry = catalogue()["lead"] if lead else random.choice(entries)
        measure = _measure(random, call, entry, f"r{len(found)}")
        if measure is not None:
            found.append(measure)
    return tuple(found)


def _measure(random: Random, call: Call, entry: Entry, alias: str) -> Measure | None:
    chosen = []
    for each in entry.inputs:
        if each.optional and random.random() < 0.5:
            break
        fitting = [
            name for name, column in call.columns.items() if _fits(call, entry, each, column)
        ]
        if not fitting:
            return None
        chosen.append(random.choice(fitting))
    parameters = _parameters(random, call, entry, chosen)
    if not _finds_the_current_row(call, entry, parameters):
        return None
    measure = Measure(entry.name, tuple(chosen), alias, tuple(parameters.items()))
    if _may_be_distinct(call, entry, chosen) and random.random() < 0.15:
        measure = replace(measure, distinct=True)
    if random.random() < 0.25:
        measure = replace(measure, where=_condition(random, call, 2))
    return measure


def _fits(call: Call, entry: Entry, each: Any, column: Column) -> bool:
    if not each.takes(column.kind):
        return False
    if not each.skipped:
        return True
    if call.options.get("changes_only") and entry.name not in PICKING:
        # Floats that round differently are equal or not by their last bit.
        return entry.name in EXACT and column.kind != "float"
    if entry.name == "own":
        return column.style == "plain"  # its comparisons are Python's, which NaN has no place in
    if not call.options.get("exact", True) and entry.name not in PICKING:
        # What has left may leave something behind, but for integers: logarithms of zero, too.
        return column.kind in ("integer", "boolean") and entry.name in EXACT
    return column.style != "wild" or entry.name in (
        EXACT
        if column.kind in ("integer", "decimal", "boolean", "temporal", "duration")
        else ADDING
    )


def _finds_the_current_row(call: Call, entry: Entry, parameters: dict[str, Any]) -> bool:
    """Others are refused: windows that do not end at the row, or that are too small."""
    n = parameters.get("n", 1) if entry.name in ("lag", "lead") else 0
    if entry.name == "lead":
        return all(_ahead(window) >= n for window in call.windows)
    if entry.name not in LOOKING_BACK:
        return True
    return all(_back(window) >= n for window in call.windows)


def _ahead(window: Window) -> int:
    """How many rows after the current one it has room for, if it begins there; else -1."""
    if window.kind != "rows":
        return -1
    if window.arguments:
        return 0 if window.arguments == (1,) and not window.options else -1
    return -1 if window.get("before") else window.get("after") or 0


def _back(window: Window) -> int:
    """How many rows before the current one it has room for, if it ends there; else -1."""
    after, open_end = window.get("after"), window.get("closed") in ("left", "neither")
    if after or open_end or window.get("current") is False or window.get("ties") == "peers":
        return -1
    if window.kind == "whole" or (window.kind == "time" and not window.arguments):
        return -1
    if window.kind != "rows":
        return 2**40
    return window.arguments[0] - 1 if window.arguments else window.get("before") or 0


def _may_be_distinct(call: Call, entry: Entry, columns: list[str]) -> bool:
    """Positions are not of values, and nested values are not told apart."""
    if len(columns) != len(entry.inputs) or len(columns) != 1:
        return False
    return (
        entry.name not in ("first", "last", "nth", "own", "lead", *LOOKING_BACK)
        and call.columns[columns[0]].kind != "nested"
    )


def _parameters(random: Random, call: Call, entry: Entry, columns: list[str]) -> dict[str, Any]:
    """Parameters, and for decay a column of times with them."""
    few = random.randint(1, 5)
    maybe = random.random() < 0.5
    if entry.name in ("variance", "stddev", "covariance"):
        return {"population": True} if maybe else {}
    if entry.name in ("arg_min", "arg_max"):
        number = call.columns[columns[0]].kind in ("integer", "float")
        return {"key": Function("abs")} if number and random.random() < 0.1 else {}
    if entry.name in ("collect", "collect_distinct", "concat"):
        return {"limit": few} if maybe else {}
    if entry.name == "mode":
        return {"limit": 100} if maybe else {}
    if entry.name in ("top_k", "bottom_k", "frequent_items"):
        return {"k": few}
    if entry.name in ("lag", "lead"):
        return {"n": few} if maybe else {}
    if entry.name == "nth":
        return {"n": few * random.choice((1, -1))}
    if entry.name == "longest_run_above":
        return {"threshold": random.choice((0, 1, 0.5))}
    if entry.name == "rank":
        method = {"method": random.choice(("max", "average", "dense"))} if maybe else {}
        return method | ({"descending": True} if random.random() < 0.5 else {})
    if entry.name == "quantile":
        numbers = call.columns[columns[0]].kind in ("integer", "float", "decimal", "boolean")
        ways = ("lower", "higher", "nearest", *(("midpoint",) if numbers else ()))
        way = {} if numbers and maybe else {"interpolation": random.choice(ways)}
        return {"q": random.choice((0, 0.25, 0.5, 0.75, 1, [0.25, 0.5], [0.5])), **way}
    if entry.name == "approx_quantile":
        return {"q": random.choice((0, 0.25, 0.5, 0.95, 1, [0.25, 0.5], [0.5]))}
    if entry.name == "approx_distinct":
        return {"sketch": True} if maybe else {}
    if entry.name == "bloom":
        return {"capacity": 100}
    if entry.name == "moment_sketch":
        return {"q": 0.5} if maybe else {}
    if entry.name == "ewm_mean":
        if len(columns) == 1:
            return {"half_life": few}
        return {"half_life": Nanoseconds(few * step_of(call.columns[columns[1]].type))}
    return {}


def _condition(random: Random, call: Call, depth: int) -> Condition:
    choice = random.random()
    if depth and choice < 0.35:
        operator = random.choice(("and", "or", "not"))
        count = 1 if operator == "not" else 2
        parts = tuple(_condition(random, call, depth - 1) for _ in range(count))
        return Condition(operator, parts)
    if choice < 0.5:
        return Condition("column", ("p",))
    name = random.choice(("a", "n", "s", "d", "p"))
    if random.random() < 0.2:
        return Condition("is null", (name,))
    kind = call.columns[name].kind
    if kind == "boolean":
        return Condition("column", (name,))
    literal = random.choice(("a", "b", "ab")) if kind == "text" else random.randint(-1, 4)
    if kind == "integer" and "uint" in call.columns[name].type:
        literal = abs(literal)  # type: ignore[arg-type]
    if random.random() < 0.2:
        least = "Z" if kind == "text" else -2
        least = abs(least) if "uint" in call.columns[name].type else least  # type: ignore[arg-type]
        return Condition("between", (name, least, literal))
    if random.random() < 0.2:
        return Condition("in", (name, literal, "é" if kind == "text" else 7))
    if kind == "text" and random.random() < 0.3:
        return Condition("like", (name, random.choice(("a%", "_", "%b_", "%é%"))))
    computes = kind == "float" or (kind == "integer" and "uint64" not in call.columns[name].type)
    if computes and random.random() < 0.2:
        return Condition("remainder", (name, random.randint(-2, 2)))
    return Condition(random.choice(("=", "<", "<=", ">", ">=")), (name, literal))
