"""The jars of a Kafka broker and of Spark's connector, fetched by their Maven coordinates.

Spark brings Ivy, which fetches jars as `spark.jars.packages` does. `kafka_jars.xml` names them.
They are fetched once and kept in a folder of the user's cache.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from windrow.errors import WindrowError

_NAMED = Path(__file__).with_name("kafka_jars.xml")
#: a file with Ivy's settings, such as another repository than Maven Central
SETTINGS = "WINDROW_IVY_SETTINGS"


class JarsNotFound(WindrowError):
    """The jars could not be fetched."""


class KafkaJars(NamedTuple):
    """Folders of jars."""

    broker: Path
    connector: Path
    #: what both also need
    spark: Path

    def of_connector(self) -> str:
        """The connector, as the setting `spark.jars` takes it."""
        return ",".join(str(jar) for jar in sorted(self.connector.glob("*.jar")))


def kafka_jars() -> KafkaJars:
    """Find the jars, or fetch them: some 30 MB, in half a minute.

    Raises:
        JarsNotFound: There is no Java, or no way to the repository.
    """
    from windrow.spark.session import jars_of_spark

    spark = jars_of_spark()
    named = hashlib.sha256(_NAMED.read_bytes()).hexdigest()[:12]
    kept = _cache() / named
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        fetched = Path(tempfile.mkdtemp(dir=kept.parent))
        try:
            _fetch(spark, fetched)
            with suppress(OSError):  # another process was faster
                fetched.rename(kept)
        finally:
            shutil.rmtree(fetched, ignore_errors=True)
    return KafkaJars(kept / "broker", kept / "connector", spark)


def java() -> str:
    """The command that starts Java, found as Spark finds it."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else "java"


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "windrow-jars"


def _fetch(spark: Path, folder: Path) -> None:
    (ivy,) = spark.glob("ivy-*.jar")
    command = [java(), "-jar", str(ivy), "-m2compatible", "-ivy", str(_NAMED)]
    if settings := os.environ.get(SETTINGS):
        command += ["-settings", settings]
    command += ["-retrieve", str(folder / "[conf]" / "[artifact]-[revision].[ext]")]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise JarsNotFound("no Java: install a JRE, 17 or newer, or set JAVA_HOME") from error
    if done.returncode:
        # Ivy's messages name addresses of the machine; only what is missing is passed on.
        missing = {
            line.strip(" :\t").removesuffix(": not found")
            for line in done.stdout.splitlines()
            if line.endswith(": not found")
        }
        raise JarsNotFound(
            "the jars of Kafka could not be fetched from Maven Central"
            + (f": {', '.join(sorted(missing))} not found" if missing else "")
            + ". If your machine uses another repository, name a file of Ivy's settings by "
            + SETTINGS
        )
