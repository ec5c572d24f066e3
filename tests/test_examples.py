"""The examples in docstrings and in the README run as they are written."""

import doctest
import importlib
import pkgutil
import re

import pytest

import memgraph_engine

OPTIONAL = {
    "memgraph_engine.embedding.sentence_transformers",
    "memgraph_engine.integrations.agent_framework",
    "memgraph_engine.integrations.claude",
    "memgraph_engine.integrations.google_adk",
    "memgraph_engine.integrations.langchain",
    "memgraph_engine.integrations.langgraph",
}
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(memgraph_engine.__path__, "memgraph_engine.")
    if module.name not in OPTIONAL
)


@pytest.fixture(autouse=True)
def _model(embedder, monkeypatch):
    """Examples name no embedder: each would load the model."""
    monkeypatch.setattr("memgraph_engine.engine.wiring.embedder_named", lambda settings: embedder)


@pytest.mark.parametrize("name", ["memgraph_engine", *MODULES])
def test_docstring_examples(name, server, tenant, tmp_path):
    module = importlib.import_module(name)
    failures, _ = doctest.testmod(
        module, extraglobs={"tenant": tenant, "folder": tmp_path}, optionflags=doctest.ELLIPSIS
    )
    assert failures == 0


def test_the_readmes_python(root, tenant, monkeypatch, capsys):
    monkeypatch.setenv("MEMGRAPH_ENGINE_TENANT", tenant)
    blocks = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)
    assert blocks
    names = {}
    for block in blocks:  # in order, as in a notebook
        exec(compile(block, "README.md", "exec"), names)
    assert "['D1:3'] I moved to Lisbon in March.\n" in capsys.readouterr().out


def test_the_context_that_the_docs_show(root, tenant, monkeypatch, capsys):
    monkeypatch.setenv("MEMGRAPH_ENGINE_TENANT", tenant)
    program, shown = re.findall(r"```(?:python)?\n(.*?)```", (root / "docs" / "answers.md").read_text(), re.DOTALL)[:2]
    exec(compile(program, "answers.md", "exec"), {})
    assert capsys.readouterr().out == f"{shown}None []\n"
