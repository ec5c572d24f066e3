"""`memgraph-engine sweep`."""

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose


def sweep(user: User = None, shared: Shared = False, tenant: Tenant = None, as_json: Json = False) -> None:
    """Archive what has expired; `undo` brings it back.

    What has expired can't be read in any case. A worker sweeps by itself.
    """
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        swept = memory.sweep(**owner)
    if as_json:
        show.document(swept)
        return
    typer.echo(f"Archived {show.count(swept.notes, 'note')}.")
    for decision in swept.decisions:
        typer.echo(f"To bring them back: memgraph-engine undo {decision.id}", err=True)
