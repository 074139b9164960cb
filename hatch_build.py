"""The page on PyPI: README.md with the links that only a repository can follow written out.

PyPI shows one page, and none of the files beside it. If `[project.urls]` in pyproject.toml says
where the `Repository` is, links and images lead there:

    [policy](docs/policies.md)   →   [policy](REPOSITORY/blob/main/docs/policies.md)

If it does not, a link to a file becomes the file's path, which is there in the source distribution,
and an image from a file is left out:

    [policy](docs/policies.md)   →   policy (`docs/policies.md`)
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
_ELSEWHERE = ("https://", "http://", "mailto:", "#")


def page(text: str, repository: str | None = None) -> str:
    """The text, with links that lead to a repository, or without links to files."""
    told = _LINK.sub(lambda link: _written_out(link, repository), text)
    return re.sub(r"\n{3,}", "\n\n", told)


def _written_out(link: re.Match[str], repository: str | None) -> str:
    text, target = link["text"], link["target"]
    if target.startswith(_ELSEWHERE):
        return link[0]
    if repository:
        kind = "raw" if link["image"] else "blob"
        return f"{link['image']}[{text}]({repository.rstrip('/')}/{kind}/main/{target})"
    if link["image"]:
        return ""
    path = f"`{target.partition('#')[0]}`"
    return path if text.strip("`") == target else f"{text} ({path})"


class CustomMetadataHook(MetadataHookInterface):
    """What hatchling asks for the readme."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the readme."""
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        address = metadata.get("urls", {}).get("Repository")
        metadata["readme"] = {"content-type": "text/markdown", "text": page(readme, address)}
