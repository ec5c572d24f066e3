"""`memgraph-engine unpin`."""

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, NoteId, Shared, Tenant, User, whose


def unpin(
    id: NoteId,  # noqa: A002
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Let a pinned note end as its policy says, which may be past already."""
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        decision = memory.unpin(id, **owner)
    if as_json:
        show.document(decision)
    else:
        typer.echo(f"Unpinned {show.clean(id)} (decision {decision.id}).")
