"""`memgraph-engine update`."""

from typing import Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, NoteId, Shared, Tenant, User, whose


def update(
    id: NoteId,  # noqa: A002  as in Memory
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The new text.")],
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Give a note a new text; `history` keeps the old one."""
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        decision = memory.update(id, text, **owner)
    if as_json:
        show.document(decision)
    else:
        typer.echo(f"Updated note {decision.note} (decision {decision.id}).")
