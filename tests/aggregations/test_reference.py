"""The reference table is up to date."""

from pathlib import Path

from windrow.aggregations import OFFERED
from windrow.aggregations.reference import page

WRITTEN = Path(__file__).parents[2] / "docs" / "aggregations.md"


def test_the_reference_is_what_the_catalogue_says():
    assert WRITTEN.read_text(encoding="utf-8") == page(), (
        "run python -m windrow.aggregations.reference > docs/aggregations.md"
    )


def test_it_has_a_row_for_each():
    table, _rest = page().split("## Sketches")
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert [row.split("`")[1].split("(")[0] for row in rows] == [each.name for each in OFFERED]
