"""What the machine is: a figure without it means little."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from windrow.work.threads import cores

#: packages whose versions matter to what was measured
_PACKAGES = (
    "numpy", "numba", "pyarrow", "pandas", "polars", "duckdb", "bottleneck", "numbagg", "chdb",
    "pyspark", "pathway", "apache-flink", "rocksdict",
)  # fmt: skip
#: packages of peers that may be in an interpreter of their own
_ELSEWHERE = {"pathway": "pathway", "flink": "apache-flink"}


def description() -> dict[str, Any]:
    """The processor, cores, memory, system and compiler, in words for people."""
    return {
        "processor": _processor(),
        "cores": cores(),
        "memory": f"{_memory_gib()} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "compiler": compiler_version() or "none",
    }


def versions() -> dict[str, str]:
    """The versions of windrow's libraries and of the peers that are installed."""
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found | _versions_elsewhere()


def _versions_elsewhere() -> dict[str, str]:
    """The versions of peers that have an interpreter of their own."""
    found = {}
    for peer, package in _ELSEWHERE.items():
        if interpreter := os.environ.get(f"WINDROW_{peer.upper()}_PYTHON"):
            asked = f"from importlib.metadata import version; print(version({package!r}))"
            command = [interpreter, "-c", asked]
            try:
                told = subprocess.run(command, capture_output=True, text=True, check=True)
            except (OSError, subprocess.CalledProcessError):
                continue  # the peer's gap tells why
            found[package] = told.stdout.strip()
    return found


def compiler() -> str | None:
    """The machine's C++ compiler, or None."""
    wanted = os.environ.get("CXX")
    names = (wanted,) if wanted else ("c++", "g++", "clang++")
    return next((found for name in names if (found := shutil.which(name))), None)


def compiler_version() -> str | None:
    """What the C++ compiler says of itself, in a line."""
    command = compiler()
    if command is None:
        return None
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    return said.stdout.partition("\n")[0] or None


def busy_cores() -> float | None:
    """How many processes want a core, on average of the last minute."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def affordable(exponent: int, bytes_per_event: int) -> int:
    """The exponent, or a smaller one: windows of so many bytes take half of the memory at most."""
    events = max(_memory_gib(), 1) * 2**29 // bytes_per_event
    return min(exponent, events.bit_length() - 1)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown")


def _memory_gib() -> int:
    if not hasattr(os, "sysconf"):
        return 0
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
