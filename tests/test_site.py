"""The site: every page is staged, every link is led, every public name is in the reference.

`make docs` builds it, and fails where Sphinx warns. That takes too long for a test; this is what
the build begins with.
"""

import inspect
import re
from pathlib import Path

import pytest
from benchmarks import page_tables
from website.algorithm_pages import algorithm_page, card_of
from website.reference import PAGES, reference_pages
from website.sliding import sliding
from website.staging import stage
from website.stream_drawings import DRAWINGS
from website.trace_drawings import can_draw, draw_trace
from website.traces import Largest, monoid_for, trace

import windrow as wr
import windrow.testing
from windrow import stores
from windrow.algorithms import ALGORITHMS, Algorithm
from windrow.cli.completion import _fish, _options
from windrow.cli.main import SUBCOMMANDS

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"\]\((?P<target>[^)\s#]+)(?:#[^)\s]*)?\)")
CODE = re.compile(r"^ *```.*?^ *```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


@pytest.fixture
def reference(interpreted: None) -> dict[str, str]:
    return reference_pages()


def test_every_public_name_has_a_place_in_the_reference(reference: dict[str, str]) -> None:
    assert set(reference) == set(PAGES)
    listed = set(re.findall(r":: (windrow[\w.]*)", "\n".join(reference.values())))
    public = {f"windrow.{name}" for name in wr.__all__} - {"windrow.policies", "windrow.stores"}
    public |= {f"windrow.testing.{name}" for name in windrow.testing.__all__}
    public |= {f"windrow.stores.{name}" for name in stores.__all__}
    assert public <= listed


@pytest.mark.parametrize("name", ["sliding.svg", *DRAWINGS])
def test_a_drawing_is_what_its_code_draws(name: str, interpreted: None) -> None:
    drawn = DRAWINGS.get(name, sliding)()
    assert (ROOT / "docs" / "images" / name).read_text("utf-8") == drawn


def test_the_page_of_the_command_has_every_option_and_example(reference: dict[str, str]) -> None:
    page = reference["command"]
    options = re.findall(r"subcommand_from (\S+)' -l (?!help)(\S+)", _fish(_options()))
    assert len(options) > 30
    for subcommand, option in options:
        section = page.partition(f"\nwindrow {subcommand}\n---")[2].partition("\n---")[0]
        assert f"``--{option}" in section
    assert page.count(".. code-block:: sh") == len(SUBCOMMANDS)


@pytest.mark.parametrize("page", page_tables.PAGES, ids=lambda page: page.name)
def test_every_figure_of_a_table_is_a_measurement(page: Path) -> None:
    text = page.read_text("utf-8")
    for row in page_tables.PAGES[page]:
        assert page_tables.ratio_of(row) > 0
        assert f"| {row.work} | {row.alternative} | " in text


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
def test_a_trace_shows_every_step_of_an_algorithm(algorithm: Algorithm) -> None:
    steps = list(trace(algorithm))
    fold = max if isinstance(monoid_for(algorithm), Largest) else "".join
    assert [kept.answer for kept in steps] == [fold(kept.events) for kept in steps]
    assert {"order", "insert", "query"} <= set(card_of(algorithm))
    drawn = f"![What {algorithm.NAME} keeps" in algorithm_page(algorithm)
    assert drawn == can_draw(steps)
    if drawn:
        drawing = draw_trace(algorithm.NAME, steps)
        assert all(f">{kept.step}<" in drawing for kept in steps)


def test_every_algorithm_is_drawn() -> None:
    assert [name for name, each in ALGORITHMS.items() if not can_draw(list(trace(each)))] == []


def functions() -> list[str]:
    """The public functions, and the classes that users make."""
    modules = {"wr": wr, "testing": windrow.testing, "stores": stores}
    found = [
        f"{module}.{name}"
        for module, each in modules.items()
        for name in each.__all__
        if inspect.isfunction(getattr(each, name)) and name not in NEVER_FAIL
    ]
    classes = ["wr.Checkpoint", "wr.Window", "stores.RedisStore", "stores.RocksDBStore"]
    return [*classes, *found]


#: they raise nothing
NEVER_FAIL = {"kinds_accepted", "kinds_apart"}


@pytest.mark.parametrize("name", functions())
def test_a_docstring_has_parameters_errors_and_an_example(name: str) -> None:
    module, _, member = name.partition(".")
    home = {"wr": wr, "testing": windrow.testing, "stores": stores}[module]
    text = inspect.getdoc(getattr(home, member)) or ""
    assert [part for part in ("Args:", "Raises:", ">>> ") if part not in text] == []


def test_pages_are_staged_with_links_that_lead_to_pages(tmp_path: Path, interpreted: None) -> None:
    stage(ROOT, tmp_path)
    pages = {page: page.read_text("utf-8") for page in tmp_path.rglob("*.md")}
    for page, text in pages.items():
        for link in LINK.finditer(CODE.sub("", text)):
            if not link["target"].startswith(("http", "mailto:")):
                assert (page.parent / link["target"]).exists(), f"{page}: {link['target']}"
    report = re.findall('href="(experiments/[a-z]+.html)"', pages[tmp_path / "experiments.md"])
    assert "experiments/index.html" in report
    assert all((ROOT / "docs" / page).exists() for page in report)
    navigation = re.findall(r"<(.*)>$", pages[tmp_path / "index.md"], re.MULTILINE)
    of_docs = {page.relative_to(tmp_path).with_suffix("").as_posix() for page in pages}
    in_docs = {name for name in of_docs if not name.startswith(("repository/", "algorithms/"))}
    assert in_docs - {"index"} <= set(navigation)
