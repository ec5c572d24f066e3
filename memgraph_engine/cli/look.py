"""What is known about users, and which notes readers were given."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, on_memory
from memgraph_engine.cli.group import Commands

if TYPE_CHECKING:
    from memgraph_engine.model.fact import Fact

_OFF = """
What users tell of themselves is not read: the setting lifecycle.profile is off. Switch it on by
MEMGRAPH_ENGINE_LIFECYCLE__PROFILE=patterns, or by `profile = "patterns"` under [lifecycle] in the settings file.
It is read from then on; --set gives a value now."""


@on_memory
def profile(
    on: Target,
    subject: Annotated[str, "NAME: A speaker whose profile is meant, not the user's."] = "",
    known_at: Annotated[str | None, "TIME: What the memory knew then; a day means its end."] = None,
    given: Annotated[str | None, "--set NAME=VALUE: Give the profile a value first."] = None,
    ended: Annotated[str | None, "--end NAME: End what it has by this name first."] = None,
) -> Iterator[object]:
    """Show what is known about a user: name, home, job and such.

    Each line says who told it, and since when.
    Messages tell it unless the setting `lifecycle.profile` is off. `undo` takes a change back by its decision.
    """
    name, separator, value = (given or "").partition("=")
    if given and not (separator and name.strip()):
        raise typer.BadParameter("it has the form NAME=VALUE.", param_hint="--set")
    memory = on.connect() if given else on.memory()
    if given:
        memory.set_profile(name.strip(), value, subject=subject, **on.owner)
    if ended:
        memory.set_profile(ended, None, subject=subject, **on.owner)
    found = memory.profile(subject=subject, known_at=known_at, **on.owner)
    told = memory.engine.settings.lifecycle.profile != "off"
    yield found
    if not (found.attributes or found.former):
        typer.echo(f"Nothing is known.{'' if told else _OFF}", err=True)
        return
    rows = [_row(one) for one in found.attributes] + [_row(one) for one in found.former]
    show.table([("name", "value", "since", "until", "source", "decision"), *rows])


def _row(one: "Fact") -> tuple[str, ...]:
    until = "" if one.holds else f"{one.until:%Y-%m-%d}"
    told = (one.predicate, one.value, f"{one.since:%Y-%m-%d}", until, " ".join(one.sources), one.decision)
    return tuple(map(show.clean, told))


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
    query: Annotated[str | None, "QUERY: Only questions that hold all of these words."] = None,
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
    from memgraph_engine.cli.display import shown

    return shown(on, found)
