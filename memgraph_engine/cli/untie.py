"""`memgraph-engine untie`."""

from typing import Annotated

import typer

from memgraph_engine.cli.decide import decide
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose


def untie(
    note: Annotated[str, typer.Argument(metavar="NOTE", help="A note's id, as `explain` lists it.")],
    other: Annotated[str, typer.Argument(metavar="OTHER", help="The id of the note that it is tied to.")],
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Take back the tie between two notes, which stay.

    What was taken for replaced is active again.
    `undo` brings the tie back.
    """
    owner = whose(user, shared)
    done = f"Untied notes {note} and {other}"
    decide(tenant, owner, lambda memory: memory.untie(note, other, **owner), done, as_json=as_json)
