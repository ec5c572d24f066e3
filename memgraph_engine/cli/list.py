"""`memgraph-engine list`."""

from typing import TYPE_CHECKING

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, narrowed, whose

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memgraph_engine.interface.filters import NoteFilters
    from memgraph_engine.model.memory import Note


@narrowed
def list_notes(
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    *,
    filters: "NoteFilters",
    as_json: Json = False,
) -> None:
    """List notes, oldest first; all without options."""
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        notes = memory.get_all(**owner, **filters)
        if as_json:
            show.array(notes)
        else:
            _print(notes)


def _print(notes: "Iterable[Note]") -> None:
    from rich.text import Text

    out = show.console()
    some = False
    for note in notes:
        some = True
        told = f"  {then}" if (then := show.until(note)) else ""
        out.print(Text.assemble((show.moment(note.said_at), "dim"), "  ", (show.ids(note), "cyan"), (told, "yellow")))
        show.lines(out, note)
    if not some:
        typer.echo("Nothing found.", err=True)
