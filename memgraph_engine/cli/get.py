"""`memgraph-engine get`."""

from typing import TYPE_CHECKING

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, NoteId, Shared, Tenant, User, whose

if TYPE_CHECKING:
    from memgraph_engine.model.memory import Note


def get(
    id: NoteId,  # noqa: A002  as in Memory
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Show a note with its fields and sources."""
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        note = memory.get(id, **owner)
    if as_json:
        show.document(note)
    else:
        _print(note)


def _print(note: "Note") -> None:
    out = show.console()
    show.facts(
        out,
        {
            "note": note.id,
            "status": note.status,
            "true": show.until(note) if note.former or not note.until else f"all of it {show.until(note)}",
            "said": show.moment(note.said_at),
            "recorded": show.moment(note.recorded_at),
            "speaker": note.speaker,
            "role": note.role,
            "agent": note.agent,
            "session": note.session,
            "tags": ", ".join(note.tags),
            "keywords": ", ".join(note.keywords),
            "context": note.context,
        },
    )
    for source in note.sources:
        as_given = f" ({source.said_as})" if source.said_as else ""
        out.print()
        show.facts(out, {"source": f"{show.inline(source.id)}{as_given}", "text": show.said(source)})
