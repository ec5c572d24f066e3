"""What is erased for good, what is kept from it, and how that is proved."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, on_memory, on_tenant
from memgraph_engine.cli.options import Shared, User, whose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memgraph_engine.model.result import Chosen, ErasurePlan

_MOST, _FEW = 50, 5  # sources that are listed


@on_memory
def forget(
    on: Target,
    session: Annotated[str | None, "ID: All of this session, or document."] = None,
    source: Annotated[list[str] | None, "ID: This source, or what a note comes from. Can be repeated."] = None,
    before: Annotated[str | None, "TIME: What was said before this time."] = None,
    query: Annotated[str | None, "QUERY: What holds all of these words."] = None,
    policy: Annotated[str | None, "NAME: What has this policy."] = None,
    near: Annotated[bool, "Take what is near to the query too."] = False,
    keep: Annotated[list[str] | None, "ID: Leave this out, as --source names it. Can be repeated."] = None,
    everything: Annotated[bool, "--all: All of this memory."] = False,
    dry_run: Annotated[bool, "Only tell what would go."] = False,
    yes: Annotated[bool, "--yes -y: Don't ask."] = False,
) -> Iterator[object]:
    """Erase what is meant for good, and print the receipt.

    Nothing brings it back: `delete` can be undone, this can't. Of several options it is what all of them mean.
    """
    meant: dict[str, Any] = {"session": session, "source": source or None, "before": before}
    meant |= {"query": query, "policy": policy}
    if everything == any(meant.values()):
        raise typer.BadParameter("say what is meant: --session, --source, --before, --query or --policy, or --all.")
    memory = on.memory()
    plan = memory.forget(**on.owner, **meant, near=near, keep=keep or (), everything=everything)
    if dry_run:
        yield plan
        _tell(plan, err=False)
        return
    some = bool(plan.sources or plan.everything)
    if not (yes and some):
        _tell(plan, err=True)
    if some and not yes:
        typer.confirm("Erase this for good?", abort=True, err=True)
    receipt = memory.erase(plan)
    on.failed = bool(receipt.residue)
    from memgraph_engine.cli.display import shown

    yield from shown(on, receipt)


def _tell(plan: "ErasurePlan", *, err: bool) -> None:
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


@on_tenant
def verify_erasure(
    on: Target,
    probe: Annotated[Path | None, "FILE: Look for the words of this file.", {"exists": True, "dir_okay": False}] = None,
    files: Annotated[bool, "Look for them in the managed server's files too, of all memories."] = False,
    user: User = None,
    shared: Shared = False,
) -> Iterator[object]:
    """Check the chain of a tenant's receipts.

    With --probe it looks for words in a memory too.
    It prints a line for each fault; the exit code is 1 if there is one.
    """
    if probe:
        owner = whose(user, shared)
        found = on.connect().verify_erasure(probe.read_text(), **owner, files=files)
    else:
        found = on.connect().verify_erasure(files=files)
    return on.faults(found)


@on_memory
def hold(
    on: Target,
    reason: Annotated[str | None, typer.Argument(metavar="REASON", help="Why it must not be erased.")] = None,
    session: Annotated[str | None, "ID: Hold this session only."] = None,
    source: Annotated[str | None, "ID: Hold this source only."] = None,
) -> Iterator[object]:
    """Keep a memory, a session or a source from erasure.

    Without a reason it lists what is held.
    """
    if reason is None and (session or source):
        raise typer.BadParameter("say why it must not be erased.", param_hint="REASON")
    from memgraph_engine.cli.display import shown

    memory = on.memory()
    if reason:
        return shown(on, memory.hold(reason, session=session, source=source, **on.owner))
    return shown(on, memory.holds(**on.owner), "Nothing is held.")
