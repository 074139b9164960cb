"""The page on PyPI: README.md with the links that only a repository can follow written out.

PyPI shows one page, and none of the files beside it. So a link to a file becomes the file's path,
which is there in the source distribution, and an image from a file is left out.

    [policy](docs/policies.md)   →   policy (`docs/policies.md`)
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
_ELSEWHERE = ("https://", "http://", "mailto:", "#")


def page(text: str) -> str:
    """The text without links to files."""
    return re.sub(r"\n{3,}", "\n\n", _LINK.sub(_written_out, text))


def _written_out(link: re.Match[str]) -> str:
    text, target = link["text"], link["target"]
    if target.startswith(_ELSEWHERE):
        return link[0]
    if link["image"]:
        return ""
    path = f"`{target.partition('#')[0]}`"
    return path if text.strip("`") == target else f"{text} ({path})"


class CustomMetadataHook(MetadataHookInterface):
    """What hatchling asks for the readme."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the readme."""
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": page(readme)}
