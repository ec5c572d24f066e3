"""A memory's MCP server by MCP's own tools: the inspector's command line, and the conformance tests."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memgraph_engine.graph import keys
from tests.issuer import issuing
from tests.keys import bearer
from tests.served import served
from tests.test_mcp import SIGNATURES
from tests.test_oauth import taking

# the packages lie where `make test-mcp` puts them
PROGRAMS = Path(sys.prefix) / "node_modules" / ".bin"
pytestmark = pytest.mark.mcp

# those that fit any server; the others ask for tools, prompts and resources by the names of MCP's example server
SCENARIOS = [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
]


def run(program, *arguments, **more):
    """Return what a program prints; fail with what it says where it fails."""
    path = os.pathsep.join([str(Path(sys.prefix) / "bin"), os.environ["PATH"]])
    command = [shutil.which(program, path=str(PROGRAMS)), *arguments]
    ended = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PATH": path}, timeout=120, **more
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(params=["stdio", "http", "http by a token"])
def inspected(request, memory, server, tenant, tmp_path):
    """What the inspector is told of a server with Ana's memory, as a client's configuration has it."""
    with issuing() as issuer, served(taking(memory, issuer)) as at:
        names = ("URI", "USER", "PASSWORD", "EMBEDDER")
        command = {
            "command": sys.executable,
            "args": ["-m", "memgraph_engine", "mcp", "--user", "ana", "--tenant", tenant],
            "env": {
                name: os.environ[name] for name in (f"MEMGRAPH_ENGINE_{one}" for one in names) if name in os.environ
            },
        }
        brought = (
            issuer.bearer("ana", exp=int(time.time()) + 3600) if "token" in request.param else bearer(memory, "ana")
        )
        remote = {"type": "streamable-http", "url": f"{at}/mcp", "headers": brought}
        entry = command if request.param == "stdio" else remote
        file = tmp_path / "mcp.json"
        file.write_text(json.dumps({"mcpServers": {"memory": entry}}), "utf-8")

        def ask(method, *arguments):
            given = ["--config", str(file), "--server", "memory", "--format", "json", "--method", method]
            return json.loads(run("mcp-inspector", "--cli", *given, *arguments))["result"]

        yield request.param, ask


def test_the_inspector_lists_and_calls_each_tool(inspected, memory):
    transport, ask = inspected

    def call(tool, **arguments):
        return ask("tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))["structuredContent"]

    memory.add("The heron eats fish.", user_id="ben")
    assert {tool["name"] for tool in ask("tools/list")["tools"]} == set(SIGNATURES)
    told = call("remember", text="My dentist is Dr Silva.", session="s1")
    note = told["note"]
    assert [one["id"] for one in call("search", query="Who is my dentist?")["results"]] == [note]
    assert call("fetch", id=note)["title"] == "My dentist is Dr Silva."
    assert "Dr Silva" in call("context", query="Who is my dentist?")["text"]
    changed = call("update", id=note, text="My dentist is Dr Costa.")
    assert [one["id"] for one in call("explain", id=note)["decisions"]] == [told["decision"], changed["id"]]
    call("undo", decision=changed["id"])
    assert call("fetch", id=note)["title"] == "My dentist is Dr Silva."
    for tool in ("profile", "topics"):
        assert call(tool) is not None
    about = {one["uriTemplate"] for one in ask("resources/templates/list")["resourceTemplates"]}
    assert about == {"memory://notes/{id}", "memory://about/{what}"}
    plan = call("forget", query="dentist")
    assert [one["text"] for one in plan["chosen"]] == ["My dentist is Dr Silva."]
    if transport != "stdio":  # over standard input and output each call of the inspector is another process
        assert call("erase", plan=plan["plan"])["residue"] == 0
        assert list(memory.get_all(user_id="ana")) == []
    assert [one.text for one in memory.get_all(user_id="ben")] == ["The heron eats fish."]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_it_conforms(memory, scenario, tmp_path, monkeypatch):
    monkeypatch.setattr(keys, "some", lambda _db, *, ended=False: False)
    with served(memory, keys=False) as at:  # the conformance tests bring no key
        told = run("conformance", "server", "--url", f"{at}/mcp", "--scenario", scenario, cwd=tmp_path)
    assert re.search(r"Passed: ([1-9]\d*)/\1, 0 failed", told), told
