"""The surfaces are equal: each method of `Memory` is offered on each, or it is said why it is not."""

import ast
from dataclasses import fields, is_dataclass
from inspect import Parameter, isfunction, signature
from pathlib import Path
from types import UnionType
from typing import Union, get_args, get_origin

import pytest
import typer
from mcp.server import MCPServer

from memgraph_engine import Memory
from memgraph_engine.asking.audit import Audit
from memgraph_engine.cli import app
from memgraph_engine.cli.rows import ROWS
from memgraph_engine.ingest.messages import MessageFields
from memgraph_engine.integrations import bodies, mcp
from memgraph_engine.interface.arguments import ARGUMENTS
from memgraph_engine.interface.filters import FILTERS, NoteFilters, SearchFilters
from memgraph_engine.model import answer, result
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
    **dict.fromkeys(("embedder", "change_embedder", "rollback_embedder"), "it is that of all tenants"),
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
            "embedder",
            "change_embedder",
            "rollback_embedder",
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
        "ingest": {"paths", "no_wait", "ray"},
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


# ---- one name for one thing -----------------------------------------------------------------

METHODS = [one for kind in (Memory, Audit) for name, one in vars(kind).items() if isfunction(one) and name[0] != "_"]
PARAMETERS = [one for method in METHODS for one in signature(method).parameters.values() if one.name != "self"]
TOOLS = {tool.name: tool for tool in mcp.server(lambda _request, _right: (None, None))._tool_manager.list_tools()}


def commands(group=ALL, path=""):
    for name, found in group.commands.items():
        yield from commands(found, f"{path}{name} ") if hasattr(found, "commands") else [(f"{path}{name}", found)]


OPTIONS = [(name, one, {*one.opts}) for name, made in commands() for one in made.params]


def kinds(annotation):
    """The types that an argument may have; one of something is as good as several, and None is as good as neither."""
    if get_origin(annotation) in (Union, UnionType):
        return {kind for one in get_args(annotation) for kind in kinds(one)}
    several = getattr(get_origin(annotation), "__name__", "") == "Sequence"
    return kinds(get_args(annotation)[0]) if several else {annotation} - {type(None)}


def test_a_name_means_one_thing_in_all_calls():
    found = {}
    for one in PARAMETERS:
        found.setdefault(one.name, []).append(frozenset(kinds(one.annotation)))
    for filters in (NoteFilters, SearchFilters):
        for name, annotation in filters.__annotations__.items():
            found.setdefault(name, []).append(frozenset(kinds(annotation)))
    otherwise = {
        "progress",  # each work has phases or counts of its own
        "shown",  # to the model: its lines, or the notes that they tell
        "filters",  # of notes, and of what a question finds
    }
    assert {name for name, some in found.items() if len({*some}) > 1} == otherwise


def test_all_that_is_asked_takes_a_query():
    for one in OPERATIONS["asking"]:
        assert next(name for name in signature(getattr(Memory, one.name)).parameters if name != "self") == "query"
        assert "query" in bodies.arguments(one.name)
        assert not one.cli or "query" in {param.name for param in command(one.cli.replace("list", "about")).params}
        assert not one.mcp or "query" in TOOLS[one.mcp].parameters["properties"]


def test_no_surface_calls_a_query_or_a_number_otherwise():
    otherwise = {other for name in ("query", "top_k", "limit") for other in ARGUMENTS[name]}
    otherwise -= {"text", "number", "top_k", "limit"}  # names of other things, and its own
    assert {"question", "q", "k"} <= otherwise
    seen = {one.name for one in PARAMETERS} | {name for one in TABLE for name in bodies.arguments(one)}
    seen |= {name for tool in TOOLS.values() for name in tool.parameters["properties"]}
    seen |= {option.strip("-").replace("-", "_") for _, one, names in OPTIONS for option in (one.name, *names)}
    told = [kind for module in (answer, result) for kind in vars(module).values() if is_dataclass(kind)]
    seen |= {field.name for kind in told for field in fields(kind)}
    assert {"query", "top_k", "limit"} <= seen
    assert seen & otherwise == {"n"}  # -n is the short one of both
    for file in Path(mcp.__file__).parent.rglob("*.py"):
        foreign = {"k"} if file.stem == "langchain" else set()  # as its retrievers call it
        made = [one for one in ast.walk(ast.parse(file.read_text())) if isinstance(one, ast.FunctionDef)]
        taken = {
            each.arg for one in made if one.name[0] != "_" or one.name == "__init__" for each in one.args.kwonlyargs
        }
        assert not (taken - foreign) & otherwise, file


def test_a_short_option_is_of_one_thing_and_wherever_that_is():
    short = {}
    for _, _, names in OPTIONS:
        for one in names:
            if one.startswith("-") and len(one) == 2:
                short.setdefault(one, set()).update(names - {one})
    assert short == {"-n": {"--top-k", "--limit"}, "-u": {"--user"}, "-y": {"--yes"}}
    for name, _, names in OPTIONS:
        for one, long in short.items():
            assert not names & long or one in names, name


def test_an_option_is_written_as_its_argument_is_named():
    otherwise = {"everything": "--all", "every": "--all", "as_json": "--json", "given": "--set", "ended": "--end"}
    for one in TABLE.values():
        for param in command(one.cli).params if one.cli else ():
            plain = f"--{param.name.replace('_', '-')}"
            if param.param_type_name == "option" and one.name != "add":
                assert {otherwise.get(param.name, plain), plain.removesuffix("s")} & {*param.opts}, (
                    one.cli,
                    param.name,
                )


def test_a_tool_takes_what_its_method_calls_so():
    for one in TABLE.values():
        if one.mcp:
            known = {*signature(getattr(Memory, one.name)).parameters, *FILTERS, *MessageFields.__annotations__}
            assert {*TOOLS[one.mcp].parameters["properties"]} <= known, one.mcp
