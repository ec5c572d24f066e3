"""The notebook runs from top to bottom, leaves nothing behind, and is committed without outputs."""

import nbformat
import neo4j
import pytest
from nbclient import NotebookClient


@pytest.fixture
def notebook(root):
    return nbformat.read(root / "notebooks" / "quickstart.ipynb", as_version=4)


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_the_notebook_has_no_outputs(notebook):
    for cell in code(notebook):
        assert (cell.outputs, cell.execution_count) == ([], None)


@pytest.mark.filterwarnings("default")  # the kernel's client is not ours
def test_the_notebook_runs_and_cleans_up(notebook, server, root):
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(root)}}).execute()
    outputs = [output for cell in code(notebook) for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    printed = "".join(output.get("text", "") for output in outputs)
    assert "2:1  Jonas: I'm allergic to hazelnuts" in printed
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        left = driver.execute_query("MATCH (s:Scope) WHERE s.tenant STARTS WITH 'quickstart-' RETURN s").records
    assert left == []
