"""The page `docs/cli.md`, made from the commands' own help (`make docs`)."""

from collections.abc import Iterator
from typing import Any

import typer

_WIDTH = 100
_INTRODUCTION = """\
# Command line

Written by `make docs`; a test compares it with the commands.

Results go to stdout, everything else to stderr. `--json` prints one JSON document: times are ISO 8601 in
UTC, "never" is null, and the year 1 stands for "since ever". Exit codes: 0 fine, 1 failed, 2 wrong
usage, 130 interrupted. Which server, tenant and embedder are used is a matter of the settings:
`memgraph-engine init --write-config memgraph-engine.toml` writes a file with all of them.
"""


def reference() -> str:
    """Return the reference of all commands, in Markdown."""
    from memgraph_engine.cli import app

    return "\n".join([_INTRODUCTION, *_sections(typer.main.get_command(app), "memgraph-engine", None)])


def _sections(command: Any, name: str, parent: Any) -> Iterator[str]:
    """Yield the section of a command and those of its subcommands."""
    settings = {**command.context_settings, "terminal_width": _WIDTH, "max_content_width": _WIDTH}
    context = typer.Context(command, info_name=name, parent=parent, **settings)
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"
    for child, subcommand in getattr(command, "commands", {}).items():
        yield from _sections(subcommand, child, context)
