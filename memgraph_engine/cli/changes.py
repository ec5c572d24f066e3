"""Single notes, and the decisions that change them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, on_memory
from memgraph_engine.cli.options import MANY, NoteId
from memgraph_engine.interface.defaults import NEWEST
from memgraph_engine.interface.filters import NoteFilters

if TYPE_CHECKING:
    from memgraph_engine.client import Memory
    from memgraph_engine.interface.whose import Whose


@on_memory
def get(on: Target, id: NoteId) -> Iterator[object]:
    """Show a note with its fields and sources."""
    note = on.memory().get(id, **on.owner)
    yield note
    out = show.console()
    show.facts(
        out,
        {
            "note": note.id,
            "status": note.status,
            "true": show.until(note) if note.former or not note.until else f"all of it {show.until(note)}",
            "said": show.moment(note.said_at),
            "recorded": show.moment(note.recorded_at),
            "speaker": note.speaker,
            "role": note.role,
            "agent": note.agent,
            "session": note.session,
            "tags": ", ".join(note.tags),
            "keywords": ", ".join(note.keywords),
            "context": note.context,
        },
    )
    for source in note.sources:
        as_given = f" ({source.said_as})" if source.said_as else ""
        out.print()
        show.facts(out, {"source": f"{show.inline(source.id)}{as_given}", "text": show.said(source)})


@on_memory
def history(on: Target, id: NoteId) -> Iterator[object]:
    """Show all versions of a note, oldest first."""
    versions = on.memory().history(id, **on.owner)
    yield versions
    from rich.text import Text

    out = show.console()
    for number, version in enumerate(versions, 1):
        note, decision = version.note, version.decision
        made = f"{decision.kind} (decision {decision.id})" if decision else note.status
        out.print(Text.assemble((f"{number:>2}.", "dim"), f" {show.moment(note.recorded_at)}  ", (made, "cyan")))
        text = "(deleted)" if note.status == "deleted" else show.clean("\n".join(note.raw))
        show.indented(out, text)
        if told := show.until(note):
            out.print(f"    {told}", style="yellow")


@on_memory
def update(on: Target, id: NoteId, text: Annotated[str, "TEXT: The new text."]) -> Iterator[object]:
    """Give a note a new text; `history` keeps the old one."""
    decision = on.memory().update(id, text, **on.owner)
    return on.decided(f"Updated note {decision.note}", decision)


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
        yield from on.decided(f"Deleted note {decision.note}", decision)
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
def decisions(
    on: Target,
    limit: Annotated[int, "--limit -n N: How many decisions, at most.", MANY] = NEWEST,
    before: Annotated[str | None, "TIME: Only decisions made until then, ISO 8601; a day means its end."] = None,
) -> Iterator[object]:
    """List what changed a memory, newest first."""
    found = on.memory().decisions(**on.owner, limit=limit, before=before)
    yield found
    out = show.console()
    for one in found:
        show.decision(out, one)
        note = [f"note {one.note}"] if one.note else []
        if about := [*note, *(f"source {show.inline(source)}" for source in one.sources)]:
            out.print(f"    {', '.join(about)}")


@on_memory
def undo(
    on: Target,
    decision: Annotated[str, "DECISION: A decision's id, as `decisions` lists it."],
    cascade: Annotated[bool, "First undo the later decisions that changed what it made."] = False,
) -> Iterator[object]:
    """Take a decision back.

    Notes that it created go, notes that it changed are as before.
    """
    taken = on.memory().undo(decision, cascade=cascade, **on.owner)
    yield from on.decided(f"Undid decision {taken.undoes}", taken)
    if cascade:
        typer.echo(f"Later ones that stood on it were undone first; `{on.again('decisions')}` lists them.")


@on_memory
def untie(
    on: Target,
    note: Annotated[str, "NOTE: A note's id, as `explain` lists it."],
    other: Annotated[str, "OTHER: The id of the note that it is tied to."],
) -> Iterator[object]:
    """Take back the tie between two notes, which stay.

    What was taken for replaced is active again.
    `undo` brings the tie back.
    """
    return on.decided(f"Untied notes {note} and {other}", on.memory().untie(note, other, **on.owner))
