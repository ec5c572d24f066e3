"""`memgraph-engine list`."""

from typing import TYPE_CHECKING

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import connect
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memgraph_engine.model.memory import Note


def list_notes(user: User = None, shared: Shared = False, tenant: Tenant = None, as_json: Json = False) -> None:
    """List all notes, oldest first."""
    owner = whose(user, shared)
    with connect(tenant) as memory:
        notes = memory.get_all(**owner)
        if as_json:
            show.array(notes)
        else:
            _print(notes)


def _print(notes: "Iterable[Note]") -> None:
    from rich.text import Text

    out = show.console()
    for note in notes:
        out.print(Text.assemble((show.moment(note.said_at), "dim"), "  ", (show.ids(note), "cyan")))
        out.print(show.lines(note))
