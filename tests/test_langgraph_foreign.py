"""The tests of LangGraph's own stores, with ours in their place; they are fetched as their projects publish them."""

import os
import subprocess
import sys
import tarfile
from importlib.metadata import version
from shutil import copy
from xml.etree import ElementTree

import pytest

from tests import servers

pytest.importorskip("langgraph.store.sqlite", reason="run by make test-langgraph")

pytestmark = [pytest.mark.langgraph, pytest.mark.timeout(1800)]

# each is explained in docs/langgraph.md
OTHERWISE: dict[str, set[str]] = {
    "langgraph-checkpoint": set(),
    "langgraph-checkpoint-sqlite": {
        "test_vector_store_initialization",
        "test_nonnull_migrations",
        "test_sql_injection_vulnerability[memory]",
        "test_sql_injection_vulnerability[file]",
    },
}


@pytest.fixture(scope="module")
def own_server(tmp_path_factory):
    with servers.own(tmp_path_factory.mktemp("foreign")) as one:
        yield one


def fetched(package, folder):
    """Return the folder of the source distribution of a package, of the version that is installed."""
    given = [f"{package}=={version(package)}", "--no-deps", "--no-binary", package, "--dest", str(folder), "--quiet"]
    subprocess.run([sys.executable, "-m", "pip", "download", *given], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (unpacked,) = (one for one in folder.iterdir() if one.is_dir())
    return unpacked


@pytest.mark.parametrize("package", OTHERWISE)
def test_the_tests_of(package, own_server, tmp_path, root):
    theirs = fetched(package, tmp_path)
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    copy(root / "tests" / "langgraph_shim.py", plugins)
    report = tmp_path / "report.xml"
    settings = {f"MEMGRAPH_ENGINE_{name.upper()}": getattr(own_server, name) for name in ("uri", "user", "password")}
    options = ["-p", "langgraph_shim", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(theirs), "-q"]
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            *options,
            "-o",
            "asyncio_mode=auto",
            f"--junitxml={report}",
            "tests/test_store.py",
        ],
        cwd=theirs,
        env={**os.environ, **settings, "PYTHONPATH": f"{theirs}{os.pathsep}{plugins}"},
        check=False,
    )
    cases = ElementTree.parse(report).getroot().iter("testcase")
    passed = {case.get("name"): case.find("failure") is None and case.find("error") is None for case in cases}
    assert {name for name, good in passed.items() if not good} == OTHERWISE[package]
    assert len(passed) > 50
