"""`memgraph-engine delete`."""

from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, narrowed, whose
from memgraph_engine.interface.whose import Whose

if TYPE_CHECKING:
    from memgraph_engine.client import Memory
    from memgraph_engine.interface.filters import NoteFilters


@narrowed
def delete(
    id: Annotated[  # noqa: A002  as in Memory
        str | None, typer.Argument(metavar="ID", help="The id of a note, or of its only source.")
    ] = None,
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Delete every note of this memory, or those that match the options.", show_default=False
        ),
    ] = False,
    *,
    filters: "NoteFilters",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.", show_default=False)] = False,
    as_json: Json = False,
) -> None:
    """Delete a note, or with --all every note.

    With --all and other options it deletes those that match.
    No search finds a deleted note; `undo` brings it back.
    """
    owner = whose(user, shared)
    if everything == (id is not None):
        raise typer.BadParameter("give the id of a note or --all, one of the two.", param_hint="ID")
    if id is not None and filters:
        raise typer.BadParameter("a note of an id is one: options that narrow go with --all.", param_hint="ID")
    with known(tenant, owner) as memory:
        if id is None:
            _delete_all(memory, owner, tenant, filters, yes=yes, as_json=as_json)
            return
        decision = memory.delete(id, **owner)
    if as_json:
        show.document(decision)
    else:
        typer.echo(f"Deleted note {decision.note} (decision {decision.id}).")


def _delete_all(
    memory: "Memory", owner: Whose, tenant: str | None, filters: "NoteFilters", *, yes: bool, as_json: bool
) -> None:
    if not yes:
        some = show.count(_number(memory, owner, filters), "note")
        of = "the shared memory" if owner["shared"] else f"user {show.clean(str(owner['user_id']))}"
        typer.confirm(f"Delete {some} of {of}?", abort=True, err=True)
    deletion = memory.delete_all(**owner, **filters)
    if as_json:
        show.document(deletion)
        return
    typer.echo(f"Deleted {show.count(deletion.notes, 'note')}.")
    show.undoing("To bring them back", deletion.decisions, owner, tenant)


def _number(memory: "Memory", owner: Whose, filters: "NoteFilters") -> int:
    if filters:
        return sum(1 for _ in memory.get_all(**owner, **filters))
    notes = memory.stats(**owner).notes
    return notes.get("active", 0) + notes.get("pending", 0)
