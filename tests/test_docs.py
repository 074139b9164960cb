"""The examples of README.md and docs/ run, in the order they are written, and answer what they say.

All blocks of a file that are fenced as ```python share one namespace. A block of `>>>` lines must
also print what it shows. A block fenced as ```python no-run is left alone: for what a test cannot
run, such as a cluster. So is ```python tempo, which `test_moving_from.py` runs. A block fenced as
```python pair asks two libraries the same question, and both must answer the same. An example that
mentions `spark` gets the session of the tests by that name. Most pages run without compiling:
answers are the same, and kernels are dear.
Links lead somewhere, in the repository and on PyPI. Files that the pages name exist.
"""

import doctest
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hatch_build import page
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

from tests.support.docs.pairs import answers_of
from windrow.planning.placement import MOST_ROWS_FOR_SPARK

ROOT = Path(__file__).parent.parent
FENCE = re.compile(r"^```python *(?P<info>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
#: blocks that no test here runs; those of tempo are run by `test_moving_from.py`
ELSEWHERE = ("no-run", "tempo")
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
#: pages whose kernels are compiled: the first that users try, one with many events, and the one
#: about compiling; the others run as plain Python, in a fraction of the time
COMPILED = ("README.md", "docs/stores.md", "docs/first_call.md")
#: they show how to add a file, whole
ROOMS = ("aggregations", "algorithms", "windows")
ADDING = [ROOT / "src" / "windrow" / room / "README.md" for room in ROOMS]


class Block(NamedTuple):
    code: str
    line: int  # of the file, at which the code begins
    info: str = ""  # behind the language


def blocks_of(text: str) -> list[Block]:
    return [
        Block(match["code"], text.count("\n", 0, match.start("code")), match["info"].strip())
        for match in FENCE.finditer(text)
        if match["info"].strip() not in ELSEWHERE
    ]


def documents() -> list[Any]:
    found = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *ADDING]:
        blocks = blocks_of(path.read_text(encoding="utf-8"))
        if blocks:
            uses_spark = any(re.search(r"\bspark\b", block.code) for block in blocks)
            name = str(path.relative_to(ROOT))
            marks = [pytest.mark.spark] * uses_spark + [pytest.mark.compiled] * (name in COMPILED)
            found.append(pytest.param(name, blocks, id=name, marks=marks))
    return found


def run_plain(block: Block, name: str, namespace: dict[str, Any]) -> None:
    # Empty lines in front make a traceback name the line of the document.
    exec(compile("\n" * block.line + block.code, name, "exec"), namespace)


def run_session(block: Block, name: str, namespace: dict[str, Any]) -> None:
    examples = doctest.DocTestParser().get_examples(block.code, name)
    # `DocTest` copies the namespace; what the session defines is to be seen by the next block.
    test = doctest.DocTest(examples, {}, name, name, block.line, block.code)
    test.globs = namespace
    report: list[str] = []
    failures = doctest.DocTestRunner(optionflags=FLAGS).run(
        test, out=report.append, clear_globs=False
    )
    assert not failures.failed, "".join(report)


def run_pair(block: Block, name: str, namespace: dict[str, Any]) -> None:
    answers = answers_of(block.code, namespace)
    (_, first), *others = answers.items()
    assert first, f"{name}, line {block.line}: no answers"
    assert others, f"{name}, line {block.line}: nothing to compare with"
    for _, other in others:
        assert other == first, f"{name}, line {block.line}: {answers}"


RUN = {"pair": run_pair}

LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)\)")
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(
        page
        for folder in ("docs", "src", "benchmarks", "tests", "website", "examples")
        for page in (ROOT / folder).rglob("*.md")
    ),
]


def targets_of(text: str) -> list[str]:
    """Where the links of a page lead, apart from other sites."""
    without_code = re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    return [t for t in LINK.findall(without_code) if not t.startswith(("https://", "http://"))]


def anchors_of(text: str) -> set[str]:
    headings = re.findall(r"^#+ +(.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in targets_of(page.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.is_relative_to(ROOT), f"{target} leads out of the repository"
        assert found.exists(), f"{target} leads nowhere"
        assert not anchor or anchor in anchors_of(found.read_text(encoding="utf-8")), target


#: where a page's paths begin
BASES = (ROOT, ROOT / "src" / "windrow", ROOT / "docs")
#: a file, in backticks or in a drawing; a folder counts in backticks only
FILE = re.compile(r"(?<![\w./-])(?P<path>[\w-]+(?:/[\w-]+)*\.(?:py|md|json|toml))(?![\w./-]*\w)")
FOLDER = re.compile(r"`(?P<path>[\w-]+(?:/[\w-]+)*/)`")
#: code is no place to name files of windrow in: what it reads and writes is the user's
CODE = re.compile(r"^ *```(?:python|sh|dockerfile)\b.*?^ *```$", re.MULTILINE | re.DOTALL)


def paths_in(text: str) -> list[str]:
    """The files and folders that a page names."""
    without_code = CODE.sub("", text)
    return [match["path"] for each in (FILE, FOLDER) for match in each.finditer(without_code)]


def is_there(path: str) -> bool:
    """Whether there is such a file or folder; a name without a folder may be anywhere."""
    if "/" in path:
        return any((base / path).exists() for base in BASES)
    folders = (ROOT / name for name in ("src", "tests", "docs", "benchmarks", "examples"))
    return (ROOT / path).exists() or any(any(folder.rglob(path)) for folder in folders)


@pytest.mark.parametrize(
    "page",
    [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_files_that_are_named_exist(page: Path) -> None:
    named = paths_in(page.read_text(encoding="utf-8"))
    assert [path for path in dict.fromkeys(named) if not is_there(path)] == []


def test_paths_are_found_in_text_and_drawings() -> None:
    text = (
        "See `engine/loops.py`, `stream/` and pages.\n```python\nopen('no.py')\n```\n"
        "```\n  api.py   spark/bridge/\n  a_file.py -> x\n```\n"
    )
    assert paths_in(text) == ["engine/loops.py", "api.py", "a_file.py", "stream/"]


def test_the_index_lists_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    listed = {index.parent / target for target in targets_of(index.read_text(encoding="utf-8"))}
    assert set(index.parent.rglob("*.md")) - {index} <= listed


def test_the_page_on_pypi_links_to_nothing_that_is_not_there() -> None:
    core = ProjectMetadata(str(ROOT), PluginManager()).core
    assert core.readme_content_type == "text/markdown"
    assert targets_of(core.readme) == []
    # Where the repository has a link, there is a path; all else is as it is.
    assert "a tour (`docs/tour.md`), how-to" in core.readme
    assert "in one process or on Spark" in core.readme
    assert FENCE.findall(core.readme) == FENCE.findall((ROOT / "README.md").read_text("utf-8"))


def test_links_of_the_page_on_pypi_lead_to_the_repository_if_it_is_known() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    shown = page(readme, "https://host.example/windrow/")
    assert targets_of(shown) == []  # all lead elsewhere
    assert "](https://host.example/windrow/raw/main/docs/images/demo.png)" in shown
    assert "[a tour](https://host.example/windrow/blob/main/docs/tour.md)" in shown


def test_every_environment_variable_is_among_the_settings() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    named = r"""environ(?:\.get\(|\[)["'](\w+)["']"""
    for file in (ROOT / "src").rglob("*.py"):
        for variable in re.findall(named, file.read_text(encoding="utf-8")):
            assert f"`{variable}`" in page, file


def test_small_frames_are_as_small_as_the_docs_say() -> None:
    said = re.sub(r"\s+", " ", (ROOT / "docs" / "spark.md").read_text(encoding="utf-8"))
    assert f"frames of at most {MOST_ROWS_FOR_SPARK} rows together" in said


@pytest.mark.parametrize(("name", "blocks"), documents())
def test_examples_run(
    name: str,
    blocks: list[Block],
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    if request.node.get_closest_marker("spark"):
        streams = any("readStream" in block.code for block in blocks)
        namespace["spark"] = request.getfixturevalue("streaming" if streams else "spark")
    monkeypatch.chdir(tmp_path)  # an example may write files
    for block in blocks:
        run = run_session if ">>>" in block.code else RUN.get(block.info, run_plain)
        run(block, name, namespace)


#: characters that a line of code shows on the site at the width of a laptop
WIDEST = 100


def test_lines_of_examples_fit_the_page() -> None:
    wide = [
        f"{page.relative_to(ROOT)}: {line}"
        for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
        for block in FENCE.finditer(page.read_text(encoding="utf-8"))
        for line in block["code"].splitlines()
        # What an example prints may be wider.
        if len(line) > WIDEST and (line.startswith((">>>", "...")) or ">>>" not in block["code"])
    ]
    assert wide == []


def test_blocks_are_found_with_their_lines() -> None:
    text = "one\n```python\nx = 1\n```\n\n```python no-run\nx = 2\n```\n```sh\nls\n```\n"
    assert blocks_of(text) == [Block("x = 1\n", 2)]


def test_a_pair_that_differs_is_found() -> None:
    run_pair(Block("# one\n[1, float('nan')]\n# other\n[1, None]\n", 0), "a document", {})
    with pytest.raises(AssertionError, match="line 7"):
        run_pair(Block("# one\n[1, 2]\n# other\n[1, 3]\n", 7), "a document", {})


def test_a_wrong_answer_is_found() -> None:
    with pytest.raises(AssertionError, match="Expected"):
        run_session(Block(">>> 1 + 1\n3\n", 0), "a document", {})
