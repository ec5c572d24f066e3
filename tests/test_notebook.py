"""The notebooks run from top to bottom, show what they say, leave nothing behind, and are committed without outputs."""

import nbformat
import neo4j
import pytest
from nbclient import NotebookClient

# what each must print, and how many figures it draws
SHOWN = {
    "quickstart": ("2:1  Jonas: I'm allergic to hazelnuts", 0),
    "topics": ("pairs inside topics", 3),
    "blocks": ("Pepper and Biscuit share the sofa now", 2),
    "claims": ("0.51  is_a          Whales are mammals  (2 notes)", 1),
    "question": ("the wedding will be in the village hall", 2),
    "tsne": ("same topic as the nearest neighbour", 1),
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


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # the kernel's client is not ours
def test_a_notebook_runs_and_cleans_up(name, notebook, server, root):
    notebook.cells.append(nbformat.v4.new_code_cell("print('tenant', memory.engine.settings.tenant)"))
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(root)}}).execute()
    *cells, last = code(notebook)
    outputs = [output for cell in cells for output in cell.outputs]
    said, figures = SHOWN[name]
    assert said in "".join(output.get("text", "") for output in outputs if output.get("name") == "stdout")
    assert sum("image/png" in output.get("data", {}) for output in outputs) == figures
    assert last.outputs[0]["text"].removeprefix("tenant ").strip() not in tenants(server)
