"""Build the site: `python -m website`, or `make docs`.

    docs/ + other pages + docstrings  →  build/site-source  →  build/site/index.html

A warning of Sphinx, such as a link that leads nowhere, fails the build.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from sphinx.cmd.build import build_main

from website.staging import REPORT, stage

ROOT = Path(__file__).parent.parent


def main() -> int:
    """Stage all pages, and let Sphinx build them."""
    parser = argparse.ArgumentParser(prog="python -m website", description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "site")
    output = parser.parse_args().output
    source = output.with_name(f"{output.name}-source")
    for folder in (source, output):
        shutil.rmtree(folder, ignore_errors=True)
    stage(ROOT, source)
    config = str(Path(__file__).parent)
    failed = build_main(
        ["-W", "--keep-going", "-q", "-b", "html", "-c", config, str(source), str(output)]
    )
    shutil.rmtree(output / ".doctrees", ignore_errors=True)
    pages = shutil.ignore_patterns("*.jsonl", "*.json")
    shutil.copytree(ROOT / "docs" / REPORT, output / REPORT, ignore=pages)
    if not failed:
        print(f"Open {output / 'index.html'}")
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
