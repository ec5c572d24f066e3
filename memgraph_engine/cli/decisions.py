"""`memgraph-engine decisions`."""

from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose
from memgraph_engine.interface.defaults import MOST, NEWEST

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memgraph_engine.model.result import Decision


def decisions(
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, max=MOST, help="How many decisions, at most.")
    ] = NEWEST,
    before: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only decisions made until then, ISO 8601; a day means its end.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List what changed a memory, newest first."""
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        found = memory.decisions(**owner, limit=limit, before=before)
    if as_json:
        show.document(found)
    else:
        _print(found)


def _print(found: "Iterable[Decision]") -> None:
    out = show.console()
    for one in found:
        show.decision(out, one)
        about = ", ".join(part for part in (f"note {one.note}" if one.note else "", *map(_source, one.sources)) if part)
        if about:
            out.print(f"    {about}")


def _source(id: str) -> str:  # noqa: A002  as in Memory
    return f"source {show.inline(id)}"
