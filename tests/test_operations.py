"""The surfaces are equal: each method of `Memory` is offered on each, or it is said why it is not."""

from inspect import Parameter, signature

import pytest
import typer
from mcp.server import MCPServer

from memgraph_engine import Memory
from memgraph_engine.asking.audit import Audit
from memgraph_engine.cli import app
from memgraph_engine.cli.rows import ROWS
from memgraph_engine.integrations import mcp
from memgraph_engine.interface.filters import FILTERS
from memgraph_engine.operations import OPERATIONS

TABLE = {one.name: one for some in OPERATIONS.values() for one in some}
INSIDE = {
    "connect": "it makes the memory",
    "close": "it ends it",
    "flush": "it is done before anything is served or told",
    "vectors": "arrays, for a program that computes with them",
}
NOT_OVER_REST = {
    "ingest": "it reads files of its own machine",
    "export": "it writes one",
    "import_": "it reads one",
    "tenants": "no key opens more than one",
    "limit": "a key would lift its own cap",
    "render": "it is for whoever upgrades",
    "rebuild_all_topics": "a worker does it",
    "share_claims": "whoever runs the memory decides what its users learn of each other",
}
NO_COMMAND = {"add_many": "`ingest` takes many", "answer": "`ask` prints it while it comes"}
NO_TOOL = {
    "a model writes prompts and answers itself": {"prompt", "answer", "answer_stream"},
    "its client has read the same in another form": {
        *("get_all", "source", "history", "sessions", "stats", "anchors", "topic", "topic_ties", "block", "claim"),
        *("blocks", "claims", "outline", "block_tree"),
    },
    "one message at a time, so that each can be undone": {"add_many", "ingest", "import_", "export"},
    "it touches many notes at once, or what others see": {"delete_all", "share_claims", "sweep", "apply_policies"},
    "a worker does it, or whoever runs the memory": {
        *(
            "process",
            "evolve",
            "evict",
            "consolidate",
            "limit",
            "render",
            "verify",
            "cost",
            "health",
            "users",
            "tenants",
        ),
        *("rebuild_topics", "rebuild_all_topics", "rebuild_blocks", "topic_runs", "block_runs", "end_session"),
    },
    "a user decides it, not a model": {
        *("set_profile", "set_policy", "untie", "hold", "holds", "release", "receipts", "verify_erasure"),
    },
}


def test_each_public_method_is_in_the_table():
    public = {name for name in vars(Memory) if not name.startswith("_")}
    assert public == {*TABLE, *INSIDE}
    assert len(TABLE) == sum(map(len, OPERATIONS.values()))


def test_what_a_surface_lacks_has_a_reason():
    assert {name for name, one in TABLE.items() if not one.rest} == set(NOT_OVER_REST)
    assert {name for name, one in TABLE.items() if not one.cli} == set(NO_COMMAND)
    assert {name for name, one in TABLE.items() if not one.mcp} == set().union(*NO_TOOL.values())


def test_few_commands_are_made_by_hand():
    assert len({one.cli for one in TABLE.values() if one.cli} - {*ROWS}) <= 15


ALL = typer.main.get_command(app)


def command(path):
    found = ALL
    for name in path.split():
        found = found.commands[name]
    return found


@pytest.mark.parametrize("one", [one for one in TABLE.values() if one.cli], ids=lambda one: one.cli)
def test_each_command_takes_what_its_methods_call_so(one):
    methods = [getattr(Memory, other.name) for other in TABLE.values() if other.cli == one.cli]
    known = {name for method in methods for name in signature(method).parameters}
    own = {
        "search": {"whole"},  # how much is printed
        "profile": {"given", "ended"},  # --set and --end
        "claims share": {"switch"},
        "topics rebuild": {"every"},
        "delete": {"everything", "yes"},
        "forget": {"dry_run", "yes"},
        "ingest": {"paths", "sample", "no_wait"},
    }
    taken = {param.name for param in command(one.cli).params} - {"user", "shared", "tenant", "as_json"}
    if one.name == "add":  # whose options are the fields of a message
        return
    assert taken - {*known, *FILTERS} == own.get(one.cli, set())


@pytest.mark.parametrize("name", ROWS)
def test_each_row_has_the_defaults_of_its_method(name):
    method = ROWS[name].method or next(one.name for one in TABLE.values() if one.cli == name)
    own = method.removeprefix("audit.")
    parameters = signature(getattr(Memory if own == method else Audit, own)).parameters
    options = {one.name: one for one in command(name).params}
    for argument, told in ROWS[name].takes.items():
        if argument != "filters":
            default = told[1] if isinstance(told, tuple) else Parameter.empty
            assert (parameters[argument].default or None) in (default or None, None), argument
            assert options[argument].required is (default is Parameter.empty), argument
    needed = {one.name for one in parameters.values() if one.default is Parameter.empty}
    assert needed - {"self", "filters"} <= set(ROWS[name].takes)


def test_each_tool_is_served_under_its_name():
    served = mcp.server(lambda _request, _right: (None, None))
    assert isinstance(served, MCPServer)
    assert {tool.name for tool in served._tool_manager.list_tools()} == {one.mcp for one in TABLE.values() if one.mcp}
