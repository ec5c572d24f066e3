"""`memgraph-engine render`."""

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose


def render(user: User = None, shared: Shared = False, tenant: Tenant = None, as_json: Json = False) -> None:
    """Render the contexts of a memory as this version does.

    For a memory that an older version wrote. Can be stopped and run again.
    """
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        changed = memory.render(**owner)
    if as_json:
        show.document({"rendered": changed})
    else:
        typer.echo(f"Rendered {changed} contexts anew.")
