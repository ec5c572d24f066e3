"""`memgraph-engine untie`."""

from typing import Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose


def untie(
    note: Annotated[str, typer.Argument(metavar="NOTE", help="A note's id, as `explain` lists it.")],
    other: Annotated[str, typer.Argument(metavar="OTHER", help="The id of the note that it is tied to.")],
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Take back the tie between two notes, which stay; what was taken for replaced is active again.

    `undo` brings the tie back.
    """
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        decision = memory.untie(note, other, **owner)
    if as_json:
        show.document(decision)
    else:
        typer.echo(f"Untied notes {show.clean(note)} and {show.clean(other)} (decision {decision.id}).")
