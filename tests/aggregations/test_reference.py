"""What `make pages` writes from the catalogue is up to date."""

from pathlib import Path

from windrow.aggregations import OFFERED
from windrow.aggregations.reference import page
from windrow.aggregations.stub import stub

ROOT = Path(__file__).parents[2]
WRITTEN = ROOT / "docs" / "aggregations.md"
STUB = ROOT / "src" / "windrow" / "aggregations" / "__init__.pyi"


def test_the_reference_is_what_the_catalogue_says():
    assert WRITTEN.read_text(encoding="utf-8") == page(), "run make pages"


def test_type_checkers_know_what_the_catalogue_offers():
    assert STUB.read_text(encoding="utf-8") == stub(), "run make pages"


def test_it_has_a_row_for_each():
    table, _rest = page().split("## Sketches")
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert [row.split("`")[1].split("(")[0] for row in rows] == [each.name for each in OFFERED]
