"""The pages of the site, gathered in one folder: what Sphinx reads.

    docs/windows.md            →  windows.md
    docs/README.md             →  index.md, and the navigation beside every page
    CONTRIBUTING.md            →  repository/CONTRIBUTING.md
    src/windrow/*/README.md    →  repository/src/windrow/*/README.md
    docstrings                 →  reference/*.rst, algorithms/*.md

Pages are written for a reader of the repository. So links are rewritten to where pages are on the
site. The report of the experiments is HTML already, and on the site as it is (`REPORT`). A link to
another file that is no page, such as `LICENSE`, becomes the file's path.

The navigation is the index itself: a heading of `docs/README.md` is a group, and a line of its list
that begins with a link is a page. Nobody has to list a page twice.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from website.algorithm_pages import write_algorithms
from website.reference import PAGES, write_reference

_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
#: blocks of code and code in a line, which hold no links; code may be the text of a link
_CODE = re.compile(r"(^ *```.*?^ *```$|`[^`\n]*`(?!\]\())", re.MULTILINE | re.DOTALL)
_LINE = re.compile(r"^- \[(?P<title>[^\]]+)\]\((?P<target>[^)\s]+)\)", re.MULTILINE)
_ELSEWHERE = ("https://", "http://", "mailto:", "#")
#: the folder of pages that are not those of docs/
_BESIDE = "repository"
#: the folder of docs/ whose pages are HTML
REPORT = "experiments"
#: the group of the index behind which the pages of docstrings stand
_REFERENCE = "Reference"


def stage(root: Path, source: Path) -> None:
    """Write all pages of a repository into a folder."""
    places = _places(root)
    for page, place in places.items():
        target = source / place
        target.parent.mkdir(parents=True, exist_ok=True)
        # Pages of the repository's folders are reached by links alone, not by the navigation.
        alone = "---\norphan: true\n---\n" if place.parts[0] == _BESIDE else ""
        text = _on_site(page.read_text("utf-8"), page, places, root)
        target.write_text(alone + text, "utf-8")
    shutil.copytree(root / "docs" / "images", source / "images")
    write_reference(source / "reference")
    write_algorithms(source / "algorithms")
    index = source / "index.md"
    index.write_text(index.read_text("utf-8") + _navigation(index.read_text("utf-8")), "utf-8")


def _places(root: Path) -> dict[Path, Path]:
    """Where each page of the repository is on the site."""
    docs = root / "docs"
    places = {page: page.relative_to(docs) for page in docs.rglob("*.md")}
    places[docs / "README.md"] = Path("index.md")
    others = [root / "CONTRIBUTING.md", root / "CHANGELOG.md"]
    for folder in ("src", "tests", "benchmarks", "website"):
        others += (root / folder).rglob("README.md")
    return places | {page: Path(_BESIDE) / page.relative_to(root) for page in others}


def _on_site(text: str, page: Path, places: dict[Path, Path], root: Path) -> str:
    """A page with its links led to where they are on the site."""

    def led(link: re.Match[str]) -> str:
        target, _, anchor = link["target"].partition("#")
        if link["target"].startswith(_ELSEWHERE):
            return link[0]
        found = (page.parent / target).resolve()
        if link["image"]:
            place = found.relative_to(root / "docs")
        elif found in places:
            place = places[found]
        elif found.suffix == ".html" and found.parent == root / "docs" / REPORT:
            way = os.path.relpath(Path(REPORT) / found.name, places[page].parent)
            return f'<a href="{way}">{link["text"]}</a>'
        else:
            path = f"`{found.relative_to(root)}`"
            return path if link["text"] == path else f"{link['text']} ({path})"
        way = os.path.relpath(place, places[page].parent)
        return f"{link['image']}[{link['text']}]({way}{'#' * bool(anchor)}{anchor})"

    parts = _CODE.split(text)
    parts[::2] = [_LINK.sub(led, part) for part in parts[::2]]
    # How doctest writes an empty line, and that one ends a block, is nothing that readers need.
    return re.sub(r"\n\n(?= *```$)", "\n", "".join(parts), flags=re.MULTILINE).replace(
        "<BLANKLINE>\n", "\n"
    )


def _navigation(index: str) -> str:
    """The groups of pages for the side of every page, from the index."""
    groups = []
    for section in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        heading, _, text = section.partition("\n")
        pages = [f"{each['title']} <{each['target']}>" for each in _LINE.finditer(text)]
        if pages:
            groups.append(_group(heading, pages))
        if heading == _REFERENCE:
            generated = ["algorithms/index", *(f"reference/{page}" for page in PAGES)]
            groups.append(_group("API", generated))
    return "\n" + "\n".join(groups)


def _group(heading: str, pages: list[str]) -> str:
    lines = "\n".join(page.replace(".md>", ">") for page in pages)
    return f"```{{toctree}}\n:hidden:\n:caption: {heading}\n\n{lines}\n```\n"
