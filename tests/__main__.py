"""Run the tests in two processes at once: those that share a Spark session, and all the others.

Takes the arguments of pytest and gives them to both, as in `python -m tests tests/stream -x`. What
the first prints is shown as it comes, what the second prints when it is done.
"""

import subprocess
import sys
import tempfile

from tests.conftest import HALVES

#: what pytest exits with when it has run no test
NONE_RUN = 5


def main(arguments: list[str]) -> int:
    """Run both halves; the exit code is that of the worse, if both had tests to run."""
    shown, kept = (command(half, arguments) for half in HALVES)
    with tempfile.TemporaryFile("w+") as printed:
        beside = subprocess.Popen(kept, stdout=printed, stderr=subprocess.STDOUT, text=True)
        codes = [subprocess.run(shown, check=False).returncode, beside.wait()]
        printed.seek(0)
        print(printed.read(), end="", flush=True)
    codes = [code for code in codes if code != NONE_RUN] or [NONE_RUN]
    return next((code for code in codes if code), 0)


def command(half: str, arguments: list[str]) -> list[str]:
    """Pytest over one half, with a memory of its own for what failed last."""
    cache = f"cache_dir=.pytest_cache/{half}"
    return [sys.executable, "-m", "pytest", f"--half={half}", "-o", cache, *arguments]


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
