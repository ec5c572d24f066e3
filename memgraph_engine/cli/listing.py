"""What there is: notes, sessions, users and tenants, and how much of it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, on_memory, on_tenant, printed
from memgraph_engine.cli.connect import connect
from memgraph_engine.cli.options import MANY
from memgraph_engine.interface.defaults import FACTS
from memgraph_engine.interface.filters import NoteFilters

if TYPE_CHECKING:
    from memgraph_engine.model.fact import Fact
    from memgraph_engine.model.result import Session, Stats


@on_memory
def list_notes(on: Target, *, filters: NoteFilters) -> Iterator[object]:
    """List notes, oldest first; all without options."""
    notes = on.memory().get_all(**on.owner, **filters)
    yield notes
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


@on_memory
def facts(
    on: Target,
    about: Annotated[str, "NAME: Somebody or something; else what the user stated."] = "",
    former: Annotated[bool, "Also what later statements replaced, with its end."] = False,
    limit: Annotated[int, "--limit -n N: How many facts, at most.", MANY] = FACTS,
) -> Iterator[object]:
    """List what is true now of a user, or of what has a name.

    Each line is a clause of what was said, behind the day since when it holds; what was said last comes first.
    """
    found = on.memory().facts(about, **on.owner, former=former, limit=limit)
    return on.listed(found, _fact, "Nothing is known." if not about else f"Nothing is known of {show.inline(about)}.")


def _fact(fact: "Fact") -> None:
    until = "" if fact.holds else f"  (until {fact.until:%Y-%m-%d})"
    typer.echo(f"{fact.since:%Y-%m-%d}  {show.inline(fact.text)}{until}")


@on_tenant
def users(on: Target) -> Iterator[object]:
    """List the users of a tenant, each with the number of notes.

    Who has none lost them all to deletion, and is listed until everything of theirs is erased.
    """
    memory = on.connect()
    none = f"Tenant {show.clean(memory.engine.settings.tenant)!r} has no users."
    return on.listed(
        memory.users(), lambda user: typer.echo(f"{show.clean(user.id)}  {show.count(user.notes, 'note')}"), none
    )


@printed
def tenants() -> Iterator[object]:
    """List all tenants, for those who run the database."""
    with connect(None) as memory:
        found = memory.tenants()
    yield found
    for tenant in found:
        holds = f"{show.count(tenant.users, 'user')}, {show.count(tenant.notes, 'note')}"
        typer.echo(f"{show.clean(tenant.name)}  {holds}")
    if not found:
        typer.echo("The database has no tenants.", err=True)


@on_memory
def sessions(on: Target) -> Iterator[object]:
    """List the sessions of a memory, the latest first.

    They are conversations, and documents.
    """
    return on.listed(on.memory().sessions(**on.owner), _session, "There are no sessions.")


def _session(session: "Session") -> None:
    typer.echo(f"{show.inline(session.id)}  {show.count(session.sources, 'source')}{_when(session)}")


def _when(session: "Session") -> str:
    if session.began is None or session.ended is None:
        return ""
    one, other = show.moment(session.began), show.moment(session.ended)
    return f", {one}" if one == other else f", {show.period(session.began, session.ended)}"


@on_memory
def stats(on: Target) -> Iterator[object]:
    """Count what a memory holds."""
    counts = on.memory().stats(**on.owner)
    yield counts
    notes = ", ".join(f"{number:,} {status}" for status, number in sorted(counts.notes.items()))
    show.facts(
        show.console(),
        {
            "scope": counts.scope,
            "language": counts.language,
            "embedder": counts.model,
            "notes": notes or "0",
            "former versions": f"{counts.past:,}",
            "sources": f"{counts.sources:,}",
            "sessions": f"{counts.sessions:,}",
            "keywords": f"{counts.keywords:,}",
            "keyword pairs": f"{counts.pairs:,}",
            "topics": f"{counts.topics:,}",
            "blocks": f"{counts.blocks:,}" if counts.blocks else "",
            "claims": f"{counts.claims:,}" if counts.claims else "",
            "shared claims": _shared(counts),
            "decisions": f"{counts.decisions:,}",
            "profiles": f"{counts.attributes:,} statements" if counts.attributes else "",
            "counted use": f"{counts.used:,} notes" if counts.used else "",
            "retrievals": f"{counts.retrievals:,}" if counts.retrievals else "",
        },
    )


def _shared(counts: "Stats") -> str:
    if counts.withholds_claims:
        return "withheld"
    return f"{counts.shared_claims:,}" if counts.shares_claims else ""


@on_memory
def cost(on: Target, since: Annotated[str | None, "TIME: The first day, ISO 8601."] = None) -> Iterator[object]:
    """Show what chat models cost a memory, by day (UTC)."""
    days = on.memory().cost(**on.owner, since=since)
    yield days
    if days:
        show.spending(show.console(), days)
    else:
        typer.echo("No chat model was asked.", err=True)
