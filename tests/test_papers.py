"""Code and docs cite works by author and year, and docs/papers.md says which works those are."""

import re
from pathlib import Path

import pytest

import windrow
from windrow.algorithms import ALGORITHMS

ROOT = Path(__file__).parent.parent
PACKAGE = Path(windrow.__file__).parent
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
#: as in "Shein et al. 2018", "Arasu and Widom 2004"; lines may break inside
CITATION = re.compile(r"[A-Z]\w+\s+(?:et\s+al\.|and\s+[A-Z]\w+)\s+(?:19|20)\d\d\b")
#: every file that may cite, apart from this one, whose comments hold examples
CITING = [
    path
    for folder in ("src", "tests", "benchmarks", "docs")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".md") and path != Path(__file__)
]


def citations_of(text: str) -> set[str]:
    return {re.sub(r"\s+", " ", found) for found in CITATION.findall(text)}


def test_every_citation_is_explained() -> None:
    known = citations_of(PAGE)
    unknown = {
        f"{path.relative_to(ROOT)}: {citation}"
        for path in CITING
        for citation in citations_of(path.read_text(encoding="utf-8")) - known
    }
    assert not unknown


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
def test_every_card_names_author_and_year(algorithm) -> None:
    card = re.search(r"^paper +(.*\n(?: {5,}.*\n)*)", algorithm.__doc__, re.MULTILINE)
    assert card, "the card has no line `paper`"
    assert citations_of(card[1]) or card[1].startswith(("none", "the baseline"))


def test_the_files_that_implement_a_paper_exist() -> None:
    cells = [line.split("|")[-2] for line in PAGE.splitlines() if line.startswith("|")]
    named = [path for cell in cells for path in re.findall(r"`([^`]+)`", cell)]
    assert len(named) > 40
    for path in named:
        assert (PACKAGE / path).exists() or (ROOT / path).exists(), path
