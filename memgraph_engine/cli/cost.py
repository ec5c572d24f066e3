"""`memgraph-engine cost`."""

from typing import Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose


def cost(
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="The first day, ISO 8601.")] = None,
    as_json: Json = False,
) -> None:
    """Show what chat models cost a memory, by day (UTC)."""
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        days = memory.cost(**owner, since=since)
    if as_json:
        show.document(days)
    elif not days:
        typer.echo("No chat model was asked.", err=True)
    else:
        show.spending(show.console(), days)
