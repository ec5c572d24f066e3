"""Write the pages of reference that are made from the program: `python docs/reference.py`; a test compares them.

The command line's page is made from its help, the server's from its OpenAPI document, the settings' from
config/settings.toml; those of the Python API name what mkdocstrings describes.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import typer

import memgraph_engine
from memgraph_engine import Memory, Settings
from memgraph_engine.cli import app

ROOT = Path(__file__).parent.parent
_MADE = "Written by `make docs`; a test compares it with the program.\n"


# ---- the commands ---------------------------------------------------------------------------


_WIDTH = 100
_COMMANDS = """\
# Command line

Written by `make docs`; a test compares it with the commands.

Results go to stdout, everything else to stderr. `--json` prints one JSON document: times are ISO 8601 in
UTC, "never" is null, and the year 1 stands for "since ever". Exit codes: 0 fine, 1 failed, 2 wrong
usage, 130 interrupted. Which server, tenant and embedder are used is a matter of the settings:
`memgraph-engine init --write-config memgraph-engine.toml` writes a file with all of them.
"""


def cli() -> str:
    """Return the reference of all commands, in Markdown."""
    return "\n".join([_COMMANDS, *_sections(typer.main.get_command(app), "memgraph-engine", None)])


def _sections(command: Any, name: str, parent: Any) -> Iterator[str]:
    """Yield the section of a command and those of its subcommands."""
    settings = {**command.context_settings, "terminal_width": _WIDTH, "max_content_width": _WIDTH}
    context = typer.Context(command, info_name=name, parent=parent, **settings)
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"
    for child, subcommand in getattr(command, "commands", {}).items():
        yield from _sections(subcommand, child, context)


# ---- the settings ---------------------------------------------------------------------------


_TABLE = re.compile(r"\[([\w.]+)\](?:\s*# (.*))?")
_SETTING = re.compile(r"(\w+) = (\"[^\"]*\"|\[[^\]]*\]|\S+)(?:\s+# (.*))?")


def settings() -> str:
    """Return the page of all settings: each with its variable, its default and what it does."""
    lines, table, title = list[str](), "", ""
    open_table = False
    for line in (ROOT / "config" / "settings.toml").read_text("utf-8").splitlines():
        if found := re.fullmatch(r"# -+ (.+?) -+", line):
            title, open_table = _capital(found[1]), False
            lines += ["", f"## {title}"]
        elif found := _TABLE.fullmatch(line):
            table, open_table = f"{found[1]}.", False
            about = _capital(found[2] or "")
            if lines[-1] == f"## {title}":  # it is what the table holds
                about = title
                del lines[-2:]
            lines += ["", f"## `{found[1]}`", *(["", f"{_linked(about)}."] if about.lower() != found[1] else [])]
        elif found := _SETTING.fullmatch(line):
            if not open_table:
                lines += ["", "| setting, variable | default | what it does |", "|---|---|---|"]
            open_table = True
            name = f"{table}{found[1]}"
            lines.append(f"| `{name}`<br>`{_variable(name)}` | `{found[2]}` | {_cell(found[3] or '')} |")
        elif open_table and (found := re.fullmatch(r"\s+# (.*)", line)):
            lines[-1] = f"{lines[-1].removesuffix(' |')} {_cell(found[1])} |"
        elif found := re.fullmatch(r"# (.*)", line):  # of what follows, or of the whole file
            goes_on = lines and lines[-1] and lines[-1][0] not in "#|"
            lines += [*([] if goes_on else [""]), _linked(found[1])]
            open_table = False
    return "\n".join(["# Settings", "", _MADE, *_trimmed(lines), ""])


def _variable(name: str) -> str:
    return "MEMGRAPH_ENGINE_" + name.upper().replace(".", "__")


def _cell(text: str) -> str:
    return _linked(text).replace("|", "\\|")


def _linked(text: str) -> str:
    """Make links of the pages that a text names."""
    return re.sub(r"docs/([\w-]+\.md)", r"[\1](\1)", text)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _trimmed(lines: list[str]) -> list[str]:
    """Leave out blank lines at the beginning."""
    return lines[next(at for at, line in enumerate(lines) if line) :]


# ---- the server's operations ----------------------------------------------------------------


def endpoints() -> str:
    """Return the page of the server's operations, parameters, replies and problems."""
    from memgraph_engine.integrations import rest
    from memgraph_engine.operations import OPERATIONS

    unasked = cast("Any", SimpleNamespace(close=None, plans=None, tokens=None))
    memory = cast("Memory", SimpleNamespace(engine=SimpleNamespace(settings=Settings.load())))
    served = rest.app(memory, access=unasked)
    document = served.openapi()
    rights = {
        one.name: f"`{one.right}`{', and a key of the whole tenant' if one.whole else ''}"
        for some in OPERATIONS.values()
        for one in some
    }
    parts = document["components"]
    lines = ["# Operations over HTTP", "", _MADE, "What a server is, its keys and limits: [Over HTTP](rest.md).", ""]
    lines += [document["info"]["description"].strip(), ""]
    by_tag = dict[str, list[str]]()
    for path, operations in document["paths"].items():
        for method, one in operations.items():
            told = list(_operation(f"{method.upper()} {path}", one, rights.get(one["operationId"])))
            by_tag.setdefault(one["tags"][0], []).extend(told)
    for tag, told in by_tag.items():
        lines += [f"## {_capital(tag)}", "", *told]
    lines += ["## Problems", "", "Any operation may answer with these; each has the form [Problem](#problem).", ""]
    lines += ["| status | what it says |", "|---|---|"]
    lines += [f"| {status} | {_cell(one['description'])} |" for status, one in parts["responses"].items()]
    lines += ["", "## Forms", ""]
    for name, schema in sorted(parts["schemas"].items()):
        lines += [f"### {name}", "", *([schema["description"], ""] if "description" in schema else [])]
        lines += [f"Either {_type(schema)}:", ""] if "anyOf" in schema else []
        lines += [*_fields(schema), ""]
    return "\n".join(lines)


def _operation(name: str, one: Mapping[str, Any], right: str | None) -> Iterator[str]:
    yield from (f"### {name}", "", one["description"], "")
    asked = (
        "No key is asked for."
        if "security" not in one
        else f"Right: {right or '`read`, and a key of the whole tenant'}."
    )
    yield from (f"`{one['operationId']}`. {asked}", "")
    if parameters := one.get("parameters"):
        yield from ("| parameter | in | type | what it means |", "|---|---|---|---|")
        for given in parameters:
            schema, needed = given["schema"], ", needed" if given.get("required") else ""
            told = f"{_cell(given.get('description', ''))} {_default(schema)}".strip()
            yield f"| `{given['name']}` | {given['in']}{needed} | {_type(schema)} | {told} |"
        yield ""
    if body := one.get("requestBody"):
        yield from (f"Takes {_type(_schema(body))}.", "")
    for status, answer in one["responses"].items():
        if "$ref" not in answer and status.startswith("2"):
            schema = _schema(answer)
            if schema and "properties" in schema:
                yield from (f"Answers {status} with an object:", "", *_fields(schema), "")
            elif schema:
                yield from (f"Answers {status} with {_type(schema)}.", "")
            else:
                yield from (f"Answers {status}. {answer['description']}", "")


def _schema(holder: Mapping[str, Any]) -> dict[str, Any]:
    return next((cast("dict[str, Any]", one.get("schema", {})) for one in holder.get("content", {}).values()), {})


def _fields(schema: Mapping[str, Any]) -> Iterator[str]:
    schema = next((one for one in schema.get("anyOf", ()) if "properties" in one), schema)
    if not schema.get("properties"):
        return
    yield from ("| field | type | |", "|---|---|---|")
    needed = schema.get("required", ())
    for name, one in schema["properties"].items():
        told = (_cell(one.get("description", "")), _default(one), "" if name in needed else "May be left out.")
        yield f"| `{name}` | {_type(one)} | {' '.join(filter(None, told))} |"


def _default(schema: Mapping[str, Any]) -> str:
    return f"Default: `{json.dumps(schema['default'])}`." if schema.get("default") is not None else ""


def _type(schema: Mapping[str, Any]) -> str:
    """Tell a schema in a few words; a form that has a name is a link to it."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(f"`{one}`" for one in schema["enum"])
    kind = schema.get("type", "any JSON")
    if isinstance(kind, list):
        return " or ".join(_type({**schema, "type": one}) for one in kind)
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    return "time" if schema.get("format") == "date-time" else str(kind)


# ---- the Python API -------------------------------------------------------------------------


_INTEGRATIONS = {
    "LangGraph": ("langgraph.MemgraphStore", "langgraph.md"),
    "LangChain": ("langchain.MemgraphRetriever", "langchain.md"),
    "OpenAI's Agents SDK": ("openai_agents.MemgraphSession", "openai-agents.md"),
    "Google ADK": ("google_adk.MemgraphMemoryService", "google-adk.md"),
    "Microsoft's Agent Framework": ("agent_framework.MemgraphContextProvider", "agent-framework.md"),
    "Claude's memory tool": ("claude.MemgraphMemoryTool", "claude.md"),
    "mem0's calls": ("mem0.Memory", "mem0.md"),
    "A server in a program of your own": ("rest.app", "rest.md"),
    "Who may ask it": ("access.Access", "rest.md"),
}
_UNMADE = "\n    options:\n      merge_init_into_class: false\n      filters: ['!^_']"  # nobody makes one by its class
_OPTIONS = {"Memory": _UNMADE, "asking.audit.Audit": _UNMADE}
_RESULTS = "What calls return and filter by. A result has `to_dict()`, which gives what `--json` prints."
_ASYNC = """\
For asyncio: the methods of [Memory][memgraph_engine.Memory] with the same arguments, results and errors. Each call runs
in a thread: `async with await AsyncMemory.connect() as memory: await memory.add(…)`. What a method of Memory yields is
an async iterator here.
"""


def _api(title: str, about: str, names: Iterable[str]) -> str:
    """Return a page that names what mkdocstrings describes."""
    return "\n".join(
        [
            f"# {title}",
            "",
            _MADE,
            about,
            *(f"\n::: memgraph_engine.{name}{_OPTIONS.get(name, '')}" for name in names),
            "",
        ]
    )


def _public(*homes: str) -> list[str]:
    return [name for name in memgraph_engine.__all__ if memgraph_engine._HOMES[name].startswith(homes)]


def api() -> dict[str, str]:
    """Return the pages of the Python API, by their names."""
    integrations = "".join(
        f"\n## {title}\n\n[{page}](../{page})\n\n::: memgraph_engine.integrations.{name}\n"
        "    options:\n      heading_level: 3\n"
        for title, (name, page) in _INTEGRATIONS.items()
    )
    ports = _public("model.ports")
    results = [name for name in _public("model", "cost", "interface") if name not in ports]
    error = "[MemgraphEngineError][memgraph_engine.MemgraphEngineError]"
    return {
        "api/memory.md": _api(
            "Memory", "All calls of the engine.", [*_public("client", "ingest"), "asking.audit.Audit"]
        )
        + f"\n## AsyncMemory\n\n{_ASYNC}",
        "api/results.md": _api("Results", _RESULTS, results),
        "api/ports.md": _api("What may be exchanged", "Give `Memory.connect` any object of these forms.", ports),
        "api/errors.md": _api("Errors", f"Each is a {error}, which `except` can name for all.", _public("errors")),
        "api/testing.md": _api("Testing", "For the tests of your own programs.", ["testing"]),
        "api/integrations.md": f"# Integrations\n\n{_MADE}{integrations}",
    }


def pages() -> dict[str, str]:
    """Return all pages by their paths in docs/."""
    return {"cli.md": cli(), "settings.md": settings(), "endpoints.md": endpoints(), **api()}


if __name__ == "__main__":
    for name, text in pages().items():
        path = ROOT / "docs" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
