"""`memgraph-engine import`."""

from pathlib import Path
from typing import Annotated

import typer

from memgraph_engine.cli import progress, show
from memgraph_engine.cli.connect import connect
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `export` wrote.", dir_okay=False)],
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Read a memory from a file that `export` wrote.

    It has its own name or another, and must be empty before.
    All of it can be read when it is whole, and nothing before. What an import wrote that was killed is removed by the
    next one into that memory. A file that is damaged, or of another embedder or schema, is refused.
    """
    owner = whose(user, shared)
    with connect(tenant) as memory, progress.bar("Importing", lambda: None) as bar:
        done = memory.import_(file, **owner, progress=bar.reach)
    if as_json:
        show.document(done)
        return
    nodes, ties = show.count(done.nodes, "node"), show.count(done.relationships, "relationship")
    typer.echo(f"Imported {nodes} and {ties} from {done.path}.")
