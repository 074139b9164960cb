"""windrow with more files: a copy made of links, in a temporary folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import windrow

ROOT = Path(__file__).parents[3]
PACKAGE = Path(windrow.__file__).parent


def example_of(room: str) -> str:
    """The file that a folder's README.md shows how to add."""
    text = (PACKAGE / room / "README.md").read_text(encoding="utf-8")
    (first, *_) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return str(first)


def grow(folder: Path, added: dict[str, str]) -> Path:
    """Put a copy of windrow into a folder, with files added or replaced, by their path in it.

    Only what lies beside an added file is linked one by one; the source tree is not written to.
    """
    _link(PACKAGE, folder / "windrow", {Path(path).parts: text for path, text in added.items()})
    return folder


def _link(source: Path, target: Path, added: dict[tuple[str, ...], str]) -> None:
    target.mkdir(parents=True)
    here = {parts[0] for parts in added}
    for each in source.iterdir():
        if each.name not in here and each.name != "__pycache__":
            (target / each.name).symlink_to(each)
    for name in here:
        within = {parts[1:]: text for parts, text in added.items() if parts[0] == name}
        if () in within:
            (target / name).write_text(within[()], encoding="utf-8")
        else:
            _link(source / name, target / name, within)


def run(path: Path, *arguments: str) -> str:
    """What Python prints with the windrow of a folder or zip file."""
    found = os.pathsep.join([str(path), str(ROOT)])
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": found},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
