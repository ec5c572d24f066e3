"""`memgraph-engine audit`: what is known and why, what was deleted, how a note changed, what was given to whom."""

from collections.abc import Iterator
from typing import Annotated

import typer

from memgraph_engine.cli.command import Target, on_memory
from memgraph_engine.cli.group import Commands

audit_app = Commands(
    "audit", "What is known and why, what left, changed or was given.", ("about", "deleted", "changed")
)


@audit_app.command()
@on_memory
def retrievals(
    on: Target,
    since: Annotated[str | None, "TIME: Only what was given then or later, ISO 8601."] = None,
    until: Annotated[str | None, "TIME: Only what was given then or before, ISO 8601."] = None,
    note: Annotated[str | None, "ID: Only what gave this note, or one that tells this source."] = None,
    query: Annotated[str | None, "WORDS: Only questions that hold all of these words."] = None,
) -> Iterator[object]:
    """Tell which notes a reader was given, and when, newest first.

    That is recorded with the setting audit.retrievals alone; the question's words are with its value "text".
    """
    memory = on.memory()
    found = memory.audit.retrievals(**on.owner, since=since, until=until, note=note, query=query)
    if not found:
        kept = memory.engine.settings.audit.retrievals
        off = "" if kept else " The log of retrievals is switched off (the setting audit.retrievals)."
        typer.echo(f"Nothing is recorded that is meant.{off}", err=True)
    return on.shown(found)
