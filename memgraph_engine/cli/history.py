"""`memgraph-engine history`."""

from typing import TYPE_CHECKING

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, NoteId, Shared, Tenant, User, whose

if TYPE_CHECKING:
    from memgraph_engine.model.result import Version


def history(
    id: NoteId,  # noqa: A002  as in Memory
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Show all versions of a note, oldest first."""
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        versions = memory.history(id, **owner)
    if as_json:
        show.document(versions)
    else:
        _print(versions)


def _print(versions: "list[Version]") -> None:
    from rich.text import Text

    out = show.console()
    for number, version in enumerate(versions, 1):
        note, decision = version.note, version.decision
        made = f"{decision.kind} (decision {decision.id})" if decision else note.status
        out.print(Text.assemble((f"{number:>2}.", "dim"), f" {show.moment(note.recorded_at)}  ", (made, "cyan")))
        text = "(deleted)" if note.status == "deleted" else show.clean("\n".join(note.raw))
        show.indented(out, text)
        if told := show.until(note):
            out.print(f"    {told}", style="yellow")
