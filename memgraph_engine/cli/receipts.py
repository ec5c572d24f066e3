"""`memgraph-engine receipts`."""

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import connect
from memgraph_engine.cli.options import Json, Tenant


def receipts(tenant: Tenant = None, as_json: Json = False) -> None:
    """List the receipts of a tenant's erasures, oldest first."""
    with connect(tenant) as memory:
        found = memory.receipts()
    if as_json:
        show.document(found)
        return
    for one in found:
        typer.echo(
            f"{one.number}  {show.moment(one.ended)}  {one.rule}: {show.count(one.counts['sources'], 'source')}, "
            f"{show.count(one.counts['notes'], 'note')}; {one.residue} left  {one.hash[:16]}"
        )
    if not found:
        typer.echo("Nothing was erased.", err=True)
