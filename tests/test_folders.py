"""Every folder of src has a README that names what lives there."""

from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "windrow"
FOLDERS = sorted(path for path in SOURCE.iterdir() if (path / "__init__.py").exists())
#: the catalogue and the cards of algorithms say it themselves; `stream` and `spark` have subfolders
BY_IDEA = ("aggregations", "algorithms", "stream", "spark", "experiments", "cli")


def modules_of(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.py") if path.name != "__init__.py")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_a_folder_has_a_readme(folder: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {folder.name}: ")


@pytest.mark.parametrize(
    "folder", [each for each in FOLDERS if each.name not in BY_IDEA], ids=lambda path: path.name
)
def test_the_readme_names_every_module(folder: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert [name for name in modules_of(folder) if name not in text] == []
