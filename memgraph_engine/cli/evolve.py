"""`memgraph-engine evolve`."""

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose


def evolve(user: User = None, shared: Shared = False, tenant: Tenant = None, as_json: Json = False) -> None:
    """Tie and tag new notes by what is near them.

    With a chat model the contexts of the notes near them are written anew too. `undo` takes a change back.
    A worker does so by itself after as many interactions as the setting lifecycle.evolve says.
    """
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        done = memory.evolve(**owner)
    if as_json:
        show.document(done)
        return
    made = f"{show.count(done.ties, 'tie')}, {show.count(done.contexts, 'context')}"
    looked = f"Looked at {show.count(done.notes, 'new note')}"
    typer.echo(f"{looked}, changed {made} and the tags of {show.count(done.tags, 'note')}.")
    show.undoing("To take it back", done.decisions, owner, tenant, done.fallbacks)
