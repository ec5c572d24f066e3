"""The plugins for coding agents: manifests as each tool documents them, and hooks that the command line knows."""

import json
import re
from itertools import chain

import pytest
import yaml

from memgraph_engine.cli.hook import _EVENTS
from memgraph_engine.resources import VERSION

HOSTS = ("claude-code", "codex", "cursor")
META = {"name", "version", "description", "author", "homepage", "repository", "license", "keywords"}
CATALOGUES = {"claude-code": ".claude-plugin", "codex": ".agents/plugins", "cursor": ".cursor-plugin"}
KNOWN = {
    "claude-code": META | {"displayName", "skills", "commands", "agents", "hooks", "mcpServers", "userConfig"},
    "codex": META | {"skills", "hooks", "mcpServers", "apps", "interface"},
    "cursor": META | {"displayName", "publisher", "skills", "commands", "rules", "agents", "hooks", "mcpServers"},
}
EVENTS = {
    "claude-code": {"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"},
    "codex": {"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"},
    "cursor": {"sessionStart", "beforeSubmitPrompt", "afterAgentResponse", "stop", "sessionEnd"},
}


def read(path):
    return json.loads(path.read_text("utf-8"))


def front_matter(path):
    _, head, body = path.read_text("utf-8").split("---\n", 2)
    return yaml.safe_load(head), body


@pytest.mark.parametrize("host", HOSTS)
def test_a_manifest_is_one_that_its_tool_reads(host, root):
    plugin = root / "plugins" / host
    manifest = read(plugin / f".{host.removesuffix('-code')}-plugin" / "plugin.json")
    assert re.fullmatch("[a-z0-9]([a-z0-9-]*[a-z0-9])?", manifest["name"])
    assert manifest["version"] == VERSION
    assert manifest.keys() <= KNOWN[host]
    for part in ("skills", "commands", "hooks"):
        if part in manifest:
            assert manifest[part].startswith("./")
            assert (plugin / manifest[part]).exists()


@pytest.mark.parametrize("host", HOSTS)
def test_a_catalogue_leads_to_the_plugin(host, root):
    catalogue = read(root / CATALOGUES[host] / "marketplace.json")
    (entry,) = catalogue["plugins"]
    source = entry["source"]["path"] if host == "codex" else entry["source"]
    assert source == f"./plugins/{host}"
    if host == "codex":
        assert entry["policy"] == {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}
    else:
        assert catalogue["owner"]["name"]


@pytest.mark.parametrize("host", HOSTS)
def test_each_event_is_answered_by_the_command_of_its_name(host, root):
    file = read(root / "plugins" / host / "hooks" / "hooks.json")
    assert set(file) == ({"version", "hooks"} if host == "cursor" else {"description", "hooks"})
    assert file["hooks"].keys() == EVENTS[host] <= _EVENTS.keys()
    for event, entries in file["hooks"].items():
        handlers = entries if host == "cursor" else chain.from_iterable(entry["hooks"] for entry in entries)
        (handler,) = handlers
        assert handler["command"] == f"memgraph-engine hook {event} --for {host}"
        assert handler.get("timeout", 5) > 2  # the deadline of the hook itself comes first


@pytest.mark.parametrize("host", HOSTS)
def test_the_skill_is_one_and_the_same(host, root):
    told = front_matter(root / "plugins" / host / "skills" / "memory" / "SKILL.md")
    assert told == front_matter(root / "plugins" / "claude-code" / "skills" / "memory" / "SKILL.md")
    assert told[0].keys() == {"name", "description"}
    assert told[0]["name"] == "memory"
    assert len(told[0]["description"]) <= 1024


def test_commands_search_forget_and_show(root):
    own, others = root / "plugins" / "claude-code" / "commands", root / "plugins" / "cursor" / "commands"
    assert {one.stem for one in own.glob("*.md")} == {"search", "forget", "show"}
    assert {one.stem for one in others.glob("*.md")} == {"memory-search", "memory-forget", "memory-show"}
    for one in own.glob("*.md"):
        head, body = front_matter(one)
        assert head.keys() == {"description", "argument-hint", "allowed-tools"}
        assert "memgraph-engine" in body


def test_nothing_is_erased_before_the_user_has_seen_what(root):
    told = [*root.glob("plugins/*/commands/*forget.md"), *root.glob("plugins/*/skills/*/SKILL.md")]
    assert len(told) == 5
    assert all("--dry-run" in one.read_text() and "says yes" in one.read_text() for one in told)
