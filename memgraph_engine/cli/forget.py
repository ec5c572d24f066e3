"""`memgraph-engine forget`."""

from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memgraph_engine.model.result import Chosen, ErasurePlan

_MOST, _FEW = 50, 5  # sources that are listed


def forget(
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="All of this session, or document.")] = None,
    source: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="This source, or what a note comes from. Can be repeated.")
    ] = None,
    before: Annotated[str | None, typer.Option(metavar="TIME", help="What was said before this time.")] = None,
    query: Annotated[str | None, typer.Option(metavar="TEXT", help="What holds all of these words.")] = None,
    policy: Annotated[str | None, typer.Option(metavar="NAME", help="What has this policy.")] = None,
    near: Annotated[
        bool, typer.Option("--near", help="Take what is near to the query too.", show_default=False)
    ] = False,
    keep: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Leave this out, as --source names it. Can be repeated.")
    ] = None,
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
            near=near,
            keep=keep or (),
            everything=everything,
        )
        if dry_run:
            _tell(plan, as_json=as_json)
            return
        some = bool(plan.sources or plan.everything)
        if not (yes and some):
            _tell(plan, as_json=False, err=True)
        if some and not yes:
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
    _list(plan.chosen, _MOST if any(one.why for one in plan.chosen) else _FEW, err=err)
    if plan.near:
        verb = "is" if len(plan.near) == 1 else "are"
        how = "--near takes them too" if plan.sources else "--source takes one of them"
        typer.echo(f"{show.count(len(plan.near), 'source')} {verb} near; {how}:", err=err)
        _list(plan.near, _FEW if plan.sources else _MOST, err=err)
    for hold in plan.held:
        typer.echo(show.clean(f"Held by {hold.id}: {hold.reason}"), err=err)


def _list(some: "Sequence[Chosen]", most: int, *, err: bool) -> None:
    for one in some[:most]:
        told = " ".join(filter(None, (f"({one.status})" if one.status not in ("", "active") else "", one.why)))
        typer.echo(f"  {show.inline(one.source)}  {show.clean(one.text)}", err=err)
        if told:
            typer.echo(show.clean(f"      {told}"), err=err)
    if len(some) > most:
        typer.echo(f"  and {len(some) - most:,} more (--dry-run --json lists all)", err=err)
