"""`memgraph-engine tenants`."""

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import connect
from memgraph_engine.cli.options import Json


def tenants(as_json: Json = False) -> None:
    """List all tenants, for those who run the database."""
    with connect(None) as memory:
        found = memory.tenants()
    if as_json:
        show.document(found)
        return
    for tenant in found:
        holds = f"{show.count(tenant.users, 'user')}, {show.count(tenant.notes, 'note')}"
        typer.echo(f"{show.clean(tenant.name)}  {holds}")
    if not found:
        typer.echo("The database has no tenants.", err=True)
