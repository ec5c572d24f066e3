"""The command line explains itself, and docs/cli.md says the same."""

import pytest
import typer

from memgraph_engine.cli import app
from memgraph_engine.cli.reference import reference


def commands(command, name="memgraph-engine"):
    yield name, command
    for child, subcommand in getattr(command, "commands", {}).items():
        yield from commands(subcommand, f"{name} {child}")


COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_option_and_argument_has_help(name):
    command = COMMANDS[name]
    assert command.help
    assert [p.name for p in command.params if not p.help] == []


def test_the_reference_in_the_docs_is_up_to_date(root):
    written = (root / "docs" / "cli.md").read_text("utf-8")
    assert written == reference(), "run: python -m memgraph_engine.cli.reference > docs/cli.md"


def test_the_reference_does_not_depend_on_the_terminal(monkeypatch):
    before = reference()
    monkeypatch.setenv("COLUMNS", "40")
    assert reference() == before


def test_every_command_is_in_the_reference():
    for name in COMMANDS:
        assert f"\n## {name}\n" in reference()
