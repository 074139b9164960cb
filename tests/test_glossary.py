"""The code uses the words of docs/glossary.md, and not the words that we gave up.

When you have removed a word from src for good, add it to `GONE` with the word to use instead. If it
stays right in some places, add it to `ONLY_IN` with those places.
"""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "windrow"
GLOSSARY = ROOT / "docs" / "glossary.md"

#: words that stand nowhere in src, as names or in texts, each with the word that we use instead
GONE = {
    "evictor": "policy",
    "bucket": "bin or slice",
    "utils": "a name that says what is inside",
    "fire": "trigger",
    "wsp": "policy",
    "subwindow": "slice",
    "stretch": "run, piece or segment",
    "ripening": "final",
}
#: words that are right in some files and folders only
ONLY_IN = {
    "pane": (
        "slicing/",
        "planning/share.py",
        "algorithms/subtract_on_evict.py",
        "api.py",
        "planning/slide_plan.py",
        "planning/plan_text.py",
        "engine/cutting.py",
    ),
    "hop": ("experiments/peers/pathway.py",),  # an argument of Pathway's
    # methods of numba and llvmlite, and a function of Python's
    "finalize": (
        "compiler/pipeline.py",
        "compiler/bare_code.py",
        "experiments/papers/constant_time_2019.py",
    ),
}

#: turns of phrase that make a reader stop; they stand nowhere in the pages, nor in most of src
PHRASES = (
    "of which there",
    "what came of",
    "is told by",
    "there is no telling",
    "one's own",
    "whoever",
)
#: folders of src whose texts are free of them, too
PLAIN = sorted(
    path
    for path in SOURCE.iterdir()
    if path.name not in ("cli", "experiments", "stream", "__pycache__")
)
PAGES = [
    *sorted((ROOT / "docs").glob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
]

ROW = re.compile(r"^\| (?P<words>[^|]+) \| (?P<meaning>[^|]+) \| (?P<see>[^|]*) \|", re.MULTILINE)


def entries() -> list[tuple[str, str]]:
    """The words of the glossary, one by one, with their meanings."""
    rows = ROW.findall(GLOSSARY.read_text(encoding="utf-8"))
    return [
        (word.strip(), meaning)
        for words, meaning, _see in rows
        if words != "word" and not words.startswith("-")
        for word in words.split(",")
    ]


@cache
def words_of(path: Path) -> frozenset[str]:
    """The words of a file, names taken apart: `WaitingEvents`, `waiting_events` are two words."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", path.read_text(encoding="utf-8"))
    return frozenset(re.findall(r"[a-z]+", text.lower()))


def files_with(word: str) -> list[str]:
    """The files of src that use a word, in the singular or the plural."""
    forms = {word, f"{word}s", f"{word}es"}
    files = [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.md")]
    return [str(path.relative_to(SOURCE)) for path in files if forms & words_of(path)]


def test_there_are_entries() -> None:
    assert len(entries()) > 40


def test_every_word_has_one_meaning() -> None:
    words = [word for word, _meaning in entries()]
    assert len(words) == len(set(words))
    assert all(meaning.strip().endswith(".") for _word, meaning in entries())


@pytest.mark.parametrize("word", [word for word, _meaning in entries()])
def test_the_code_uses_the_words_of_the_glossary(word: str) -> None:
    for part in word.split():
        singular = part.removesuffix("s") if part == "events" else part
        assert files_with(singular), f"{word} is in the glossary, and nothing in src says {part}"


@pytest.mark.parametrize("word", GONE)
def test_the_code_does_not_use_words_that_we_gave_up(word: str) -> None:
    assert not files_with(word), f"say {GONE[word]} instead of {word}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_are_in_plain_english(page: Path) -> None:
    text = re.sub(r"\s+", " ", page.read_text(encoding="utf-8").lower())
    assert [phrase for phrase in PHRASES if phrase in text] == []


@pytest.mark.parametrize("place", PLAIN, ids=lambda place: place.name)
def test_source_is_in_plain_english(place: Path) -> None:
    files = place.rglob("*.py") if place.is_dir() else [place]
    found = {
        (path.name, phrase)
        for path in files
        for phrase in PHRASES
        if phrase in re.sub(r"\s+", " ", path.read_text(encoding="utf-8").lower())
    }
    assert found == set()


@pytest.mark.parametrize("word", ONLY_IN)
def test_the_code_uses_some_words_in_their_places_only(word: str) -> None:
    assert not [each for each in files_with(word) if not each.startswith(ONLY_IN[word])]
