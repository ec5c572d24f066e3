"""`memgraph-engine forget`."""

from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose

if TYPE_CHECKING:
    from memgraph_engine.model.result import ErasurePlan


def forget(
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="All of this session, or document.")] = None,
    source: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="This source, or what a note comes from. Can be repeated.")
    ] = None,
    before: Annotated[str | None, typer.Option(metavar="TIME", help="What was said before this time.")] = None,
    query: Annotated[str | None, typer.Option(metavar="TEXT", help="What a search for this finds.")] = None,
    policy: Annotated[str | None, typer.Option(metavar="NAME", help="What has this policy.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of this memory.", show_default=False)] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would go.", show_default=False)] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.", show_default=False)] = False,
    as_json: Json = False,
) -> None:
    """Erase what is meant for good, and print the receipt.

    Nothing brings it back: `delete` can be undone, this can't. Of several options it is what all of them mean.
    """
    owner = whose(user, shared)
    if everything == any(one for one in (session, source, before, query, policy)):
        raise typer.BadParameter("say what is meant: --session, --source, --before, --query or --policy, or --all.")
    with known(tenant, owner) as memory:
        plan = memory.forget(
            **owner,
            session=session,
            source=source or None,
            before=before,
            query=query,
            policy=policy,
            everything=everything,
        )
        if dry_run:
            _tell(plan, as_json=as_json)
            return
        if not yes:
            _tell(plan, as_json=False, err=True)
            typer.confirm("Erase this for good?", abort=True, err=True)
        receipt = memory.erase(plan)
    if as_json:
        show.document(receipt)
        return
    typer.echo(show.erased(receipt))
    if receipt.residue:
        raise typer.Exit(1)


def _tell(plan: "ErasurePlan", *, as_json: bool, err: bool = False) -> None:
    if as_json:
        show.document(plan)
        return
    typer.echo(
        f"{show.count(len(plan.sources), 'source')} and {show.count(plan.notes, 'note')} go; "
        f"{show.count(plan.remade, 'note')} made anew without them.",
        err=err,
    )
    if plan.examples and len(plan.sources) > len(plan.examples):
        typer.echo(f"{len(plan.examples)} of them:", err=err)
    for text in plan.examples:
        typer.echo(show.clean(f"  {text}"), err=err)
    for hold in plan.held:
        typer.echo(show.clean(f"Held by {hold.id}: {hold.reason}"), err=err)
