"""`memgraph-engine delete`."""

from typing import Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import connect
from memgraph_engine.cli.options import Json, Shared, Tenant, User, Whose, whose


def delete(
    id: Annotated[  # noqa: A002  as in Memory
        str | None, typer.Argument(metavar="ID", help="A note's id, or that of its only source.")
    ] = None,
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Delete every note of this memory.", show_default=False)
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.", show_default=False)] = False,
    as_json: Json = False,
) -> None:
    """Delete a note, or all of them.

    No search finds it then; `undo` brings it back.
    """
    owner = whose(user, shared)
    if everything == (id is not None):
        raise typer.BadParameter("give the id of a note or --all, one of the two.", param_hint="ID")
    if id is None:
        _delete_all(owner, tenant, yes=yes, as_json=as_json)
        return
    with connect(tenant) as memory:
        decision = memory.delete(id, **owner)
    if as_json:
        show.document(decision)
    else:
        typer.echo(f"Deleted note {decision.note} (decision {decision.id}).")


def _delete_all(owner: Whose, tenant: str | None, *, yes: bool, as_json: bool) -> None:
    with connect(tenant) as memory:
        notes = memory.stats(**owner).notes
        all_notes = show.count(notes.get("active", 0) + notes.get("pending", 0), "note")
        if not yes:
            of = "the shared memory" if owner["shared"] else f"user {owner['user_id']}"
            typer.confirm(f"Delete {all_notes} of {of}?", abort=True, err=True)
        decisions = memory.delete_all(**owner)
    if as_json:
        show.document(decisions)
    else:
        typer.echo(f"Deleted {all_notes}.")
