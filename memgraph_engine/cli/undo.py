"""`memgraph-engine undo`."""

from typing import Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, again, whose


def undo(
    decision: Annotated[str, typer.Argument(metavar="DECISION", help="A decision's id, as `decisions` lists it.")],
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    cascade: Annotated[
        bool,
        typer.Option("--cascade", help="First undo the later decisions that changed what it made.", show_default=False),
    ] = False,
    as_json: Json = False,
) -> None:
    """Take a decision back.

    Notes that it created go, notes that it changed are as before.
    """
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        taken = memory.undo(decision, cascade=cascade, **owner)
    if as_json:
        show.document(taken)
    else:
        typer.echo(f"Undid decision {taken.undoes} (decision {taken.id}).")
        if cascade:
            typer.echo(
                f"Later ones that stood on it were undone first; `{again('decisions', owner, tenant)}` lists them."
            )
