"""The notebooks run from top to bottom, show what they say, leave nothing behind, and are committed without outputs."""

import json

import nbformat
import neo4j
import pytest
from nbclient import NotebookClient

from tests.loopback import Say, chat_server

# what each must print, and how many figures it draws
SHOWN = {
    "quickstart": ("2:1  Jonas: I'm allergic to hazelnuts", 0),
    "topics": ("pairs inside topics", 3),
    "blocks": ("Pepper and Biscuit share the sofa now", 2),
    "claims": ("0.51  is_a          Whales are mammals  (2 notes)", 1),
    "question": ("the wedding will be in the village hall", 2),
    "tsne": ("The role evolving has no chat model", 1),
}


@pytest.fixture(params=sorted(SHOWN))
def name(request):
    return request.param


@pytest.fixture
def notebook(root, name):
    return nbformat.read(root / "notebooks" / f"{name}.ipynb", as_version=4)


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tenants(server):
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        return {row["tenant"] for row in driver.execute_query("MATCH (s:Scope) RETURN s.tenant AS tenant").records}


def test_every_notebook_is_tested(root):
    assert {path.stem for path in (root / "notebooks").glob("*.ipynb")} == set(SHOWN)


def test_a_notebook_has_no_outputs(notebook):
    for cell in code(notebook):
        assert (cell.outputs, cell.execution_count) == ([], None)


def run(notebook, root):
    """Run a notebook; return what it printed, and how many figures it drew."""
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(root)}}).execute()
    outputs = [output for cell in code(notebook) for output in cell.outputs]
    said = "".join(output.get("text", "") for output in outputs if output.get("name") == "stdout")
    return said, sum("image/png" in output.get("data", {}) for output in outputs)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # the kernel's client is not ours
def test_a_notebook_runs_and_cleans_up(name, notebook, server, root):
    notebook.cells.append(nbformat.v4.new_code_cell("print('tenant', memory.engine.settings.tenant)"))
    printed, drawn = run(notebook, root)
    said, figures = SHOWN[name]
    assert said in printed
    assert drawn == figures
    assert code(notebook)[-1].outputs[0]["text"].removeprefix("tenant ").strip() not in tenants(server)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", ["tsne"])
def test_a_memory_that_evolves_with_a_model_is_drawn_before_and_after(notebook, server, root, monkeypatch):
    def evolved(request):
        lines = request["messages"][-1]["content"].splitlines()
        notes = [json.loads(line) for line in lines if line.startswith("{")]
        told = [{"note": one["note"], "context": f"{one['text']} So the spring went by."} for one in notes]
        return Say(json.dumps({"notes": told}))

    with chat_server() as chat:
        chat.reply = evolved
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("MEMGRAPH_ENGINE_LLM__API_BASE", chat.base)
        monkeypatch.setenv("MEMGRAPH_ENGINE_LLM__ROLES__EVOLVING__MODEL", "openai/scripted")
        printed, drawn = run(notebook, root)
    (told,) = (line for line in printed.splitlines() if line.endswith("are told anew"))
    assert int(told.split()[0]) > 10
    assert drawn == 2
