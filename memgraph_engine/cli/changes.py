"""`memgraph-engine delete`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, on_memory
from memgraph_engine.interface.filters import NoteFilters

if TYPE_CHECKING:
    from memgraph_engine.client import Memory
    from memgraph_engine.interface.whose import Whose


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
