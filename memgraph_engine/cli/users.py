"""`memgraph-engine users`."""

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import connect
from memgraph_engine.cli.options import Json, Tenant


def users(tenant: Tenant = None, as_json: Json = False) -> None:
    """List the users of a tenant, each with the number of notes.

    Who has none lost them all to deletion, and is listed until everything of theirs is erased.
    """
    with connect(tenant) as memory:
        found, of = memory.users(), memory.engine.settings.tenant
    if as_json:
        show.document(found)
        return
    for user in found:
        typer.echo(f"{show.clean(user.id)}  {show.count(user.notes, 'note')}")
    if not found:
        typer.echo(f"Tenant {show.clean(of)!r} has no users.", err=True)
