"""`memgraph-engine sweep`."""

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose


def sweep(user: User = None, shared: Shared = False, tenant: Tenant = None, as_json: Json = False) -> None:
    """Archive what has expired, and erase what is to be erased.

    `undo` brings back what is archived. What is erased is what its policy erases by now. What has expired can't be read
    in any case. What an import left that was cut off is removed. A worker sweeps by itself.
    """
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        swept = memory.sweep(**owner)
    if as_json:
        show.document(swept)
        return
    typer.echo(f"Archived {show.count(swept.notes, 'note')}.")
    for receipt in swept.erased:
        typer.echo(show.erased(receipt))
    for hold in swept.held:
        typer.echo(show.clean(f"Not erased, since hold {hold.id} keeps it: {hold.reason}"), err=True)
    if swept.pruned:
        typer.echo(f"Removed {swept.pruned:,} former versions, decisions and runs that were too old.")
    show.undoing("To bring them back", swept.decisions, owner, tenant)
    if any(one.residue for one in swept.erased):
        raise typer.Exit(1)
