"""The circumstances under which something was measured."""

import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import version

_SHOWN = ("memgraph-engine", "neo4j", "numpy", "onnxruntime")


def circumstances(name: str) -> str:
    """Say when, with what and on how large a machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{package} {version(package)}" for package in _SHOWN)
    return (
        f"`python -m bench {name} {' '.join(sys.argv[2:])}`".rstrip(" `") + "`, "
        f"{datetime.now(UTC):%Y-%m-%d}, Neo4j of the managed server, {versions}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores, {memory:.0f} GiB."
    )
