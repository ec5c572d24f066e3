"""`memgraph-engine sessions`."""

from typing import TYPE_CHECKING

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose

if TYPE_CHECKING:
    from memgraph_engine.model.result import Session


def sessions(user: User = None, shared: Shared = False, tenant: Tenant = None, as_json: Json = False) -> None:
    """List the sessions of a memory, the latest first.

    They are conversations, and documents.
    """
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        found = memory.sessions(**owner)
    if as_json:
        show.document(found)
        return
    for session in found:
        typer.echo(f"{show.inline(session.id)}  {show.count(session.sources, 'source')}{_when(session)}")
    if not found:
        typer.echo("There are no sessions.", err=True)


def _when(session: "Session") -> str:
    if session.began is None or session.ended is None:
        return ""
    one, other = show.moment(session.began), show.moment(session.ended)
    return f", {one}" if one == other else f", {show.period(session.began, session.ended)}"
