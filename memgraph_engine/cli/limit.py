"""`memgraph-engine limit`."""

from typing import Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose

_SETTING = "default"


def limit(
    cap: Annotated[str, typer.Argument(metavar="CAP", help="A number of notes, 0 for any number, or default.")],
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Give a memory a cap of its own, or that of the settings.

    `evict` or a worker then brings it down to that.
    """
    owner = whose(user, shared)
    if cap != _SETTING and not cap.isdecimal():
        raise typer.BadParameter("give a number of notes, 0 for any number, or default.", param_hint="CAP")
    own = None if cap == _SETTING else int(cap)
    with known(tenant, owner) as memory:
        memory.limit(own, **owner)
    if as_json:
        show.document({"cap": own})
        return
    told = "that of the settings" if own is None else f"{own:,} notes" if own else "any number of notes"
    typer.echo(f"The cap is {told}.")
