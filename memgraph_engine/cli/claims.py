"""`memgraph-engine claims`: what notes say that holds in general, and the runs that look for it."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.group import Group
from memgraph_engine.cli.options import Json, Shared, Tenant, User, again, whose
from memgraph_engine.interface.defaults import CLAIMS, MOST

if TYPE_CHECKING:
    from memgraph_engine.model.claim import Claim

claims_app = typer.Typer(cls=Group, help="Claims: what notes say that holds in general.", no_args_is_help=True)

_Most = Annotated[int, typer.Option("--k", metavar="N", min=1, max=MOST, help="Claims, at most.")]


@claims_app.command()
def consolidate(user: User = None, shared: Shared = False, tenant: Tenant = None, as_json: Json = False) -> None:
    """Look for claims in what is new or has changed.

    Each note is read once.
    If a run is killed, the next one does the rest.
    """
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        run = memory.consolidate(**owner)
    if as_json:
        show.document(run)
        return
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
def share(
    switch: Annotated[Literal["on", "off"], typer.Argument(help="Whether to.")],
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Let the tenant's users share claims, with --shared.

    Or let one of them take part, with --user.
    Off is the default of a tenant, and on that of a user.
    """
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        memory.share_claims(on=switch == "on", **owner)
        counts = memory.stats(**owner)
    if as_json:
        show.document({"on": switch == "on"})
        return
    if shared:
        told = (
            f"Users share claims: {counts.shared_claims:,} are told." if counts.shares_claims else "No claim is shared."
        )
    else:
        told = f"{show.clean(counts.scope)} takes {'no part' if counts.withholds_claims else 'part'} in shared claims."
    typer.echo(told)


@claims_app.command("list")
def list_claims(
    user: User = None, shared: Shared = False, k: _Most = CLAIMS, tenant: Tenant = None, as_json: Json = False
) -> None:
    """List claims.

    Those to be trusted most come first.
    """
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        found = memory.claims(**owner, k=k)
    if as_json:
        show.document(found)
        return
    for claim in found:
        typer.echo(_line(claim))
    if not found:
        typer.echo(f"There are no claims. To look for them: {again('claims consolidate', owner, tenant)}")


@claims_app.command()
def about(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What claims are wanted on.")],
    user: User = None,
    shared: Shared = False,
    k: _Most = CLAIMS,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Find the claims on something.

    Those that name it come first, then those nearest to it.
    """
    owner = whose(user, shared)
    with known(tenant, owner, asking=True) as memory:
        found = memory.claims(text, **owner, k=k)
    if as_json:
        show.document(found)
        return
    for claim in found:
        typer.echo(_line(claim))
    if not found:
        typer.echo("Nothing found.", err=True)


@claims_app.command("show")
def show_claim(
    id: Annotated[str, typer.Argument(metavar="ID", help="A claim's id.")],  # noqa: A002  as in Memory
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Show a claim with the notes that support it."""
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        claim = memory.claim(id, **owner)
        notes = [memory.get(note, **owner) for note in claim.notes]
    if as_json:
        show.document(claim)
        return
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
