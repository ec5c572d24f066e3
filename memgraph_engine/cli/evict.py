"""`memgraph-engine evict`."""

from typing import Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose


def evict(
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be summed up.")] = False,
    as_json: Json = False,
) -> None:
    """Sum up the coldest notes of a memory above its cap.

    `undo` brings them back.
    A worker does so by itself. The cap is the setting lifecycle.cap, or that of `limit`.
    """
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        done = memory.evict(**owner, dry_run=dry_run)
    if as_json:
        show.document(done)
        return
    cap = f"the cap is {done.cap:,}" if done.cap else "there is no cap"
    if done.notes:
        would = "Would archive" if dry_run else "Archived"
        made = "1 summary stands" if done.summaries == 1 else f"{done.summaries:,} summaries stand"
        typer.echo(f"{would} {show.count(done.notes, 'note')}, for which {made}.")
    typer.echo(f"{show.count(done.left, 'note')} left; {cap}.")
    show.undoing("To bring back what one sums", done.decisions, owner, tenant, done.fallbacks)
