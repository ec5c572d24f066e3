"""`memgraph-engine hold`."""

from typing import Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose


def hold(
    reason: Annotated[str | None, typer.Argument(metavar="REASON", help="Why it must not be erased.")] = None,
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="Hold this session only.")] = None,
    source: Annotated[str | None, typer.Option(metavar="ID", help="Hold this source only.")] = None,
    as_json: Json = False,
) -> None:
    """Keep a memory, a session or a source from erasure.

    Without a reason it lists what is held.
    """
    owner = whose(user, shared)
    if reason is None and (session or source):
        raise typer.BadParameter("say why it must not be erased.", param_hint="REASON")
    with known(tenant, owner) as memory:
        made = memory.hold(reason, session=session, source=source, **owner) if reason else None
        found = [made] if made else memory.holds(**owner)
    if as_json:
        show.document(made or found)
        return
    for one in found:
        what = f"session {one.session}" if one.session else f"source {one.source}" if one.source else "everything"
        typer.echo(show.inline(f"{one.id}  {one.at:%Y-%m-%d}  {what}: {one.reason}"))
    if not found:
        typer.echo("Nothing is held.", err=True)
