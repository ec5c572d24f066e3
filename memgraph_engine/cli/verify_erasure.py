"""`memgraph-engine verify-erasure`."""

from pathlib import Path
from typing import Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import connect
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose


def verify_erasure(
    probe: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Look for the words of this file.", exists=True, dir_okay=False),
    ] = None,
    files: Annotated[
        bool, typer.Option("--files", help="Look for them in the managed server's files too, of all memories.")
    ] = False,
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Check the chain of a tenant's receipts.

    With --probe it looks for words in a memory too.
    It prints a line for each fault; the exit code is 1 if there is one.
    """
    owner = whose(user, shared) if probe else None
    with connect(tenant) as memory:
        if probe and owner:
            faults = memory.verify_erasure(probe.read_text(), **owner, files=files)
        else:
            faults = memory.verify_erasure(files=files)
    if as_json:
        show.document(faults)
    else:
        for line in faults or ["No faults."]:
            typer.echo(show.clean(line))
    if faults:
        raise typer.Exit(1)
