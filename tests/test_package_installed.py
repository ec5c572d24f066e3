"""What is handed out: the sdist and the wheel are built, checked, installed where nothing else is, and used there."""

import json
import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile

import pytest

from memgraph_engine import __version__
from tests.test_rest_process import free

pytestmark = [pytest.mark.package, pytest.mark.timeout(1200)]
HERE = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}


def run(*command, **options):
    """Run a command that must succeed; return what it prints."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(pytestconfig, tmp_path_factory):
    """The folder of an sdist, and of the wheel that was built of it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, pytestconfig.rootpath)
    return folder


@pytest.fixture(scope="module")
def installed(built, pytestconfig, tmp_path_factory):
    """The programs of an environment with the wheel and nothing else, and the variables to run them with."""
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / "env", with_pip=True)
    pins = re.findall(r"^[\w.-]+==\S+(?: ;[^\\\n]*)?", (pytestconfig.rootpath / "requirements.lock").read_text(), re.M)
    (folder / "pins").write_text("\n".join(pins))
    (wheel,) = built.glob("*.whl")
    programs = folder / "env" / "bin"
    chosen = f"memgraph-engine[local,fast,topics,serve] @ {wheel.as_uri()}"
    run(programs / "python", "-m", "pip", "install", "--quiet", "-c", folder / "pins", chosen)
    outside = {name: value for name, value in os.environ.items() if name not in HERE}
    return programs, {"cwd": folder, "env": outside | {"MEMGRAPH_ENGINE_HOME": str(folder / "home")}}


def test_the_sdist_and_the_wheel_are_what_an_index_takes(built):
    files = sorted(built.iterdir())
    assert [one.name for one in files] == [
        f"memgraph_engine-{__version__}-py3-none-any.whl",
        f"memgraph_engine-{__version__}.tar.gz",
    ]
    run(sys.executable, "-m", "twine", "check", "--strict", *files)
    with zipfile.ZipFile(files[0]) as wheel:
        names = wheel.namelist()
    assert {name.partition("/")[0] for name in names} == {"memgraph_engine", f"memgraph_engine-{__version__}.dist-info"}
    assert not [name for name in names if "__pycache__" in name]
    with tarfile.open(files[1]) as sdist:
        inside = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"LICENSE", "README.md", "deploy/Dockerfile", "cypher/store/read.cypher"} <= inside


# GPL; beside what they are adapters for; instead of an embedder that is there; for notebooks of the clone, or clusters
NOT_IN_ALL = {
    *("topics-igraph", "topics-leidenalg"),
    *("langgraph", "langchain", "google-adk", "agent-framework", "claude"),
    *("fastembed", "sentence-transformers", "notebooks", "ray"),
}


def test_all_brings_every_extra_but_those_with_a_reason(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        told = archive.read(f"memgraph_engine-{__version__}.dist-info/METADATA").decode()
    of = {extra: set() for extra in re.findall(r"Provides-Extra: (\S+)", told)}
    for needed, extra in re.findall(r"Requires-Dist: (.*); extra == '(.*)'", told):
        of[extra].add(needed)
    assert of.keys() > NOT_IN_ALL
    assert of.pop("all") == set().union(*(some for extra, some in of.items() if extra not in NOT_IN_ALL))


def test_what_was_installed_runs_the_demo_outside_of_the_repository(installed):
    programs, outside = installed
    where = run(
        programs / "python", "-c", "import memgraph_engine as one; print(one.__version__, one.__file__)", **outside
    )
    assert where.startswith(f"{__version__} {programs.parent}")
    assert run(programs / "memgraph-engine", "--version", **outside) == f"memgraph-engine {__version__}\n"
    outside["env"]["MEMGRAPH_ENGINE_BOLT_PORT"] = str(free())
    try:
        told = run(programs / "memgraph-engine", "demo", **outside)
        assert "undo" in told.casefold()
        health = json.loads(run(programs / "memgraph-engine", "health", "--json", "--tenant", "demo", **outside))
        assert health["ok"]
    finally:
        subprocess.run([programs / "memgraph-engine", "db", "stop"], **outside, check=False)


def test_an_sbom_names_what_the_images_have(pytestconfig, tmp_path):
    run("make", "--old-file=.venv-package/ready", "sbom", cwd=pytestconfig.rootpath)
    sbom = json.loads((pytestconfig.rootpath / "dist" / "sbom.json").read_text())
    assert sbom["bomFormat"] == "CycloneDX"
    named = {one["name"].casefold() for one in sbom["components"]}
    assert {"neo4j", "onnxruntime", "fastapi", "uvicorn"} <= named
