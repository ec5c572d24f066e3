"""What is deleted, how many notes a memory keeps, and what policies say."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, on_memory, printed
from memgraph_engine.cli.group import Commands
from memgraph_engine.interface.filters import NoteFilters

if TYPE_CHECKING:
    from memgraph_engine.client import Memory
    from memgraph_engine.interface.whose import Whose
    from memgraph_engine.lifecycle.policies import Policy

_SETTING = "default"


@on_memory
def delete(
    on: Target,
    id: Annotated[str | None, typer.Argument(metavar="ID", help="The id of a note, or of its only source.")] = None,
    everything: Annotated[bool, "--all: Delete every note of this memory, or those that match the options."] = False,
    *,
    filters: NoteFilters,
    yes: Annotated[bool, "--yes -y: Don't ask."] = False,
) -> Iterator[object]:
    """Delete a note, or with --all every note.

    With --all and other options it deletes those that match.
    No search finds a deleted note; `undo` brings it back.
    """
    if everything == (id is not None):
        raise typer.BadParameter("give the id of a note or --all, one of the two.", param_hint="ID")
    if id is not None and filters:
        raise typer.BadParameter("a note of an id is one: options that narrow go with --all.", param_hint="ID")
    memory = on.memory()
    if id is not None:
        decision = memory.delete(id, **on.owner)
        yield decision
        typer.echo(f"Deleted note {decision.note} (decision {decision.id}).")
        return
    if not yes:
        some = show.count(_number(memory, on.owner, filters), "note")
        of = "the shared memory" if on.owner["shared"] else f"user {show.clean(str(on.owner['user_id']))}"
        typer.confirm(f"Delete {some} of {of}?", abort=True, err=True)
    deletion = memory.delete_all(**on.owner, **filters)
    yield deletion
    typer.echo(f"Deleted {show.count(deletion.notes, 'note')}.")
    on.undoing("To bring them back", deletion.decisions)


def _number(memory: "Memory", owner: "Whose", filters: NoteFilters) -> int:
    if filters:
        return sum(1 for _ in memory.get_all(**owner, **filters))
    notes = memory.stats(**owner).notes
    return notes.get("active", 0) + notes.get("pending", 0)


@on_memory
def limit(on: Target, cap: Annotated[str, "CAP: A number of notes, 0 for any number, or default."]) -> Iterator[object]:
    """Give a memory a cap of its own, or that of the settings.

    `evict` or a worker then brings it down to that.
    """
    if cap != _SETTING and not cap.isdecimal():
        raise typer.BadParameter("give a number of notes, 0 for any number, or default.", param_hint="CAP")
    own = None if cap == _SETTING else int(cap)
    on.memory().limit(own, **on.owner)
    yield {"cap": own}
    told = "that of the settings" if own is None else f"{own:,} notes" if own else "any number of notes"
    typer.echo(f"The cap is {told}.")


policy_app = Commands("policy", "Policies: how long notes can be read.", ("set", "apply"))


@policy_app.command()
@printed
def check(file: Annotated[str, "FILE: A policy file, or default or memoryarchitect."]) -> Iterator[object]:
    """Check a policy file.

    What is wrong is told with its line and column.
    """
    from memgraph_engine.lifecycle.file import policies

    found = policies(file)
    counts = {"rules": len(found.rules), "trust": len(found.trust)}
    yield {"default": found.default, "classes": list(found.classes), **counts}
    for policy in found.classes.values():
        default = " (the default)" if policy.name == found.default else ""
        typer.echo(f"{policy.name}{default}: {_life(policy)}{_kept(policy)}")
    typer.echo(f"{show.count(len(found.rules), 'rule')}, {len(found.trust)} of trust.")


def _life(policy: "Policy") -> str:
    if policy.ttl is None:
        return "has no end"
    end = "erased" if policy.at_end == "erase" else "archived"
    kept = f", and erased after {_duration(policy.archive)} more" if policy.archive else ""
    lasts = _duration(policy.ttl)
    time = f"as long as its session, which ends after {lasts} without a turn" if policy.session else f"for {lasts}"
    return f"can be read {time}, then is {end}{kept}"


def _duration(time: timedelta) -> str:
    """Return a time in the largest unit of which it is a whole number.

    >>> _duration(timedelta(hours=24)), _duration(timedelta(minutes=90))
    ('1 day', '90 minutes')
    """
    units = ("day", timedelta(days=1)), ("hour", timedelta(hours=1)), ("minute", timedelta(minutes=1))
    name, one = next((unit for unit in units if not time % unit[1]), ("second", timedelta(seconds=1)))
    return show.count(time // one, name)


def _kept(policy: "Policy") -> str:
    models = "" if policy.models else "; no chat model sees it"
    return models + ("; it is found only where it is asked for" if policy.asked else "")
