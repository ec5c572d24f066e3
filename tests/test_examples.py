"""The examples in docstrings run as they are written."""

import doctest
import importlib
import pkgutil

import pytest

import memgraph_engine

OPTIONAL = {
    "memgraph_engine.embedding.libraries",
    "memgraph_engine.fleet",
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
