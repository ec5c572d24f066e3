"""`memgraph-engine claims`: what notes say that holds in general, and the runs that look for it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, on_memory
from memgraph_engine.cli.group import Commands, Group
from memgraph_engine.cli.options import MANY
from memgraph_engine.interface.defaults import CLAIMS

if TYPE_CHECKING:
    from memgraph_engine.model.claim import Claim

claims_app = Commands(cls=Group, help="Claims: what notes say that holds in general.", no_args_is_help=True)

_Most = Annotated[int, "N: Claims, at most.", MANY]


@claims_app.command()
@on_memory
def consolidate(on: Target) -> Iterator[object]:
    """Look for claims in what is new or has changed.

    Each note is read once.
    If a run is killed, the next one does the rest.
    """
    run = on.memory().consolidate(**on.owner)
    yield run
    typer.echo(
        f"{show.clean(run.scope)}: {show.count(run.notes, 'note')} read, {show.count(run.claims, 'claim')} found, "
        f"{run.created:,} new, {run.removed:,} removed"
    )
    if run.abstracted or run.deferred or run.refused:
        typer.echo(
            f"A model read {show.count(run.abstracted, 'note')}; {show.count(run.refused, 'claim')} of it refused, "
            f"{show.count(run.deferred, 'note')} left to be read by it in the next run."
        )
    show.fallbacks(run.fallbacks)


@claims_app.command()
@on_memory
def share(on: Target, switch: Annotated[Literal["on", "off"], "Whether to."]) -> Iterator[object]:
    """Let the tenant's users share claims, with --shared.

    Or let one of them take part, with --user.
    Off is the default of a tenant, and on that of a user.
    """
    memory = on.memory()
    memory.share_claims(on=switch == "on", **on.owner)
    counts = memory.stats(**on.owner)
    yield {"on": switch == "on"}
    if on.owner["shared"]:
        told = (
            f"Users share claims: {counts.shared_claims:,} are told." if counts.shares_claims else "No claim is shared."
        )
    else:
        told = f"{show.clean(counts.scope)} takes {'no part' if counts.withholds_claims else 'part'} in shared claims."
    typer.echo(told)


@claims_app.command("list")
@on_memory
def list_claims(on: Target, k: _Most = CLAIMS) -> Iterator[object]:
    """List claims.

    Those to be trusted most come first.
    """
    found = on.memory().claims(**on.owner, k=k)
    yield found
    for claim in found:
        typer.echo(_line(claim))
    if not found:
        typer.echo(f"There are no claims. To look for them: {on.again('claims consolidate')}")


@claims_app.command()
@on_memory
def about(on: Target, text: Annotated[str, "TEXT: What claims are wanted on."], k: _Most = CLAIMS) -> Iterator[object]:
    """Find the claims on something.

    Those that name it come first, then those nearest to it.
    """
    found = on.memory(asking=True).claims(text, **on.owner, k=k)
    return on.listed(found, lambda claim: typer.echo(_line(claim)), "Nothing found.")


@claims_app.command("show")
@on_memory
def show_claim(on: Target, id: Annotated[str, "ID: A claim's id."]) -> Iterator[object]:
    """Show a claim with the notes that support it."""
    memory = on.memory()
    claim = memory.claim(id, **on.owner)
    notes = [memory.get(note, **on.owner) for note in claim.notes]
    yield claim
    typer.echo(_line(claim))
    typer.echo(f"  {claim.kind}: {show.clean(claim.subject)} > {show.clean(claim.object)}")
    if claim.made_by:
        typer.echo(f"  made by {show.clean(claim.made_by)}")
    for note in notes:
        typer.echo(f"  {note.id}  {note.said_at:%Y-%m-%d}  {show.clean(note.text)}")


def _line(claim: "Claim") -> str:
    return f"{claim.id}  {claim.confidence:.2f}  {show.clean(claim.text)}  ({_by(claim)})"


def _by(claim: "Claim") -> str:
    if claim.first_at is None or claim.last_at is None:
        return f"shared by {show.count(claim.users, 'user')}"
    first, last = f"{claim.first_at:%Y-%m-%d}", f"{claim.last_at:%Y-%m-%d}"
    span = first if first == last else f"{first} to {last}"
    return f"{show.count(len(claim.notes), 'note')}, {span}"
