"""Run the tests in several processes at once: a part of them in each, as `support/parts.py` says.

Takes the arguments of pytest and gives them to all, as in `python -m tests tests/stream -x`. What
the first prints is shown as it comes, what the others print when they are done.
"""

import os
import subprocess
import sys
import tempfile
from typing import IO

from tests.support.parts import FIRST, PARTS

#: what pytest exits with when it has run no test
NONE_RUN = 5


def main(arguments: list[str]) -> int:
    """Run all parts; the exit code is that of the first that failed, if any had tests to run."""
    shown, *others = PARTS
    kept = [begin(other, arguments) for other in others]
    first = subprocess.run(command(shown, arguments), check=False, env=environment())
    codes = [first.returncode]
    for process, printed in kept:
        codes.append(process.wait())
        printed.seek(0)
        print(printed.read(), end="", flush=True)
    codes = [code for code in codes if code != NONE_RUN] or [NONE_RUN]
    return next((code for code in codes if code), 0)


def command(part: str, arguments: list[str]) -> list[str]:
    """Pytest over one part, with a memory of its own for what failed last."""
    cache = f"cache_dir=.pytest_cache/{part}"
    return [sys.executable, "-m", "pytest", f"--part={part}", "-o", cache, *arguments]


def environment() -> dict[str, str]:
    """This process's environment, in which Python keeps bytecode.

    The tests start hundreds of processes, Spark's workers among them. Without bytecode each takes
    0.3 s to compile windrow's sources.
    """
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def begin(part: str, arguments: list[str]) -> tuple[subprocess.Popen[str], IO[str]]:
    """A process that runs a part, and what it prints.

    Parts that wait much never wait for those that compute.
    """
    words = [*([] if part in FIRST else ["nice"]), *command(part, arguments)]
    printed = tempfile.TemporaryFile("w+")  # noqa: SIM115 - read when the process has ended
    process = subprocess.Popen(
        words, stdout=printed, stderr=subprocess.STDOUT, text=True, env=environment()
    )
    return process, printed


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
