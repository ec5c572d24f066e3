"""`memgraph-engine restore`."""

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, NoteId, Shared, Tenant, User, whose


def restore(
    id: NoteId,  # noqa: A002
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Bring back a note that expired; the time of its policy begins anew."""
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        decision = memory.restore(id, **owner)
    if as_json:
        show.document(decision)
    else:
        typer.echo(f"Restored {show.clean(id)} (decision {decision.id}).")
