"""`memgraph-engine pin`."""

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, NoteId, Shared, Tenant, User, whose


def pin(
    id: NoteId,  # noqa: A002
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Keep a note for ever, whatever its policy."""
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        decision = memory.pin(id, **owner)
    if as_json:
        show.document(decision)
    else:
        typer.echo(f"Pinned {show.clean(id)} (decision {decision.id}).")
