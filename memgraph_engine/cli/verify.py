"""`memgraph-engine verify`."""

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose


def verify(user: User = None, shared: Shared = False, tenant: Tenant = None, as_json: Json = False) -> None:
    """Check that a memory is in order.

    It recounts the sums and looks for states that must never be. It prints a line for each fault; the exit code is 1 if
    there is one.
    """
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        faults = memory.verify(**owner)
    if as_json:
        show.document(faults)
    else:
        for line in faults or ["No faults."]:
            typer.echo(show.clean(line))
    if faults:
        raise typer.Exit(1)
