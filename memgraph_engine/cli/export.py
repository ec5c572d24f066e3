"""`memgraph-engine export`."""

from pathlib import Path
from typing import Annotated

import typer

from memgraph_engine.cli import progress, show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.", dir_okay=False)],
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Write all of a memory into a file of JSON lines.

    `import` makes exactly the same memory of it.
    It has notes in all states with their vectors and former versions, sources, keywords, topics, decisions, use, holds
    and costs. Its owner alone can read it. A file that is there is replaced when the new one is whole.
    """
    owner = whose(user, shared)
    with known(tenant, owner) as memory, progress.bar("Exporting", lambda: None) as bar:
        done = memory.export(file, **owner, progress=bar.reach)
    if as_json:
        show.document(done)
        return
    nodes, ties = show.count(done.nodes, "node"), show.count(done.relationships, "relationship")
    typer.echo(f"Exported {nodes} and {ties} to {done.path} ({done.bytes / 1e6:,.1f} MB, SHA-256 {done.sha256}).")
