"""`memgraph-engine release`."""

from typing import Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose


def release(
    id: Annotated[str, typer.Argument(metavar="HOLD", help="A hold's id, as `hold` lists it.")],  # noqa: A002
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """End a hold."""
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        memory.release(id, **owner)
    if as_json:
        show.document({"released": id})
    else:
        typer.echo(f"Released {show.clean(id)}.")
