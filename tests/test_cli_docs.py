"""The command line explains itself, and docs/cli.md says the same."""

import re

import pytest
import typer
from typer.testing import CliRunner

from docs.reference import cli
from memgraph_engine.cli import app
from memgraph_engine.ingest.chat import ROLES
from memgraph_engine.settings import RolesSettings


def commands(command, name="memgraph-engine"):
    yield name, command
    for child, subcommand in getattr(command, "commands", {}).items():
        yield from commands(subcommand, f"{name} {child}")


COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("name", [name for name, command in COMMANDS.items() if hasattr(command, "commands")])
def test_no_command_is_cut_short_where_it_is_listed(name):
    listed = CliRunner().invoke(app, [*name.split()[1:], "--help"], terminal_width=80)
    assert listed.exit_code == 0
    assert [line for line in listed.output.splitlines() if line.endswith(("...", "…")) and "Usage" not in line] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_option_and_argument_has_help(name):
    command = COMMANDS[name]
    assert command.help
    assert [p.name for p in command.params if not p.help] == []


def test_the_reference_does_not_depend_on_the_terminal(monkeypatch):
    before = cli()
    monkeypatch.setenv("COLUMNS", "40")
    assert cli() == before


def test_every_command_is_in_the_cli():
    page = cli()
    for name in COMMANDS:
        assert f"\n## {name}\n" in page


def test_the_docs_name_only_roles_that_there_are(root):
    roles = {*RolesSettings.model_fields, *ROLES, "untied"}  # of chat models, of messages, and of what is untied
    for page in (root / "README.md", *(root / "docs").glob("*.md")):
        text = " ".join(page.read_text("utf-8").split())
        named = [
            name
            for one in re.findall(r"\broles? ((?:`\w+`(?:, | and | or )?)+)", text)
            for name in re.findall(r"\w+", one)
        ]
        named = [name for name in named if name not in ("and", "or")] + re.findall(r"llm\.roles\.([a-z]\w*)", text)
        assert set(named) <= roles, page.name
