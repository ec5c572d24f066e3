"""What the papers add: topics of keywords, a tree of blocks, and claims."""

from collections.abc import Iterator
from typing import Annotated, Literal

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, on_memory, on_tenant
from memgraph_engine.cli.group import Commands
from memgraph_engine.cli.options import Shared, User, whose
from memgraph_engine.cli.show import bar

topics_app = Commands("topics", "Topics: keywords that occur together.", ("list", "show", "ties", "runs"))
blocks_app = Commands(
    "blocks", "Blocks: notes that belong together, in a tree.", ("outline", "search", "show", "runs", "rebuild", "list")
)
claims_app = Commands(
    "claims", "Claims: what notes say that holds in general.", ("list", "about", "show", "consolidate")
)

_PHASES = 5


@topics_app.command()
@on_tenant
def rebuild(
    on: Target,
    user: User = None,
    shared: Shared = False,
    every: Annotated[bool, "--all: Every memory of the tenant that has changed since its last run."] = False,
    engine: Annotated[
        str | None, "NAME: graspologic-native, or igraph or leidenalg (both GPL); else the setting."
    ] = None,
) -> Iterator[object]:
    """Find the topics anew.

    A topic that is still the same keeps its id.
    If a run fails or is killed, the former topics stay.
    """
    if every and (user is not None or shared):
        raise typer.BadParameter("it stands for every memory: leave --user and --shared out.", param_hint="--all")
    if not every:
        on.owner = whose(user, shared)
    memory = on.connect() if every else on.memory()
    with bar("Topics", lambda: _PHASES) as running:
        if every:
            runs = memory.rebuild_all_topics(engine=engine, progress=running.phase)
        else:
            runs = [memory.rebuild_topics(**on.owner, engine=engine, progress=running.phase)]
    from memgraph_engine.cli.display import shown

    yield from shown(on, runs if every else runs[0])
    if not runs:
        typer.echo("No memory has changed since its topics were found.")


@topics_app.command()
@on_memory
def diff(on: Target) -> Iterator[object]:
    """Show what the last run changed.

    It split, merged and moved topics and keywords.
    """
    memory = on.memory()
    runs = memory.topic_runs(**on.owner, limit=1)
    labels = {topic.id: topic.label for topic in memory.topics(**on.owner)}
    yield runs[0] if runs else None
    if not runs:
        typer.echo(f"The topics were never looked for. To find them: {on.again('topics rebuild')}")
        return

    def named(topic: str) -> str:
        return show.clean(f"{topic[:8]} ({labels.get(topic, 'ended')})") if topic else "no topic"

    from memgraph_engine.cli.display import entry

    run = runs[0]
    entry(run)
    for old, parts in run.splits.items():
        typer.echo(f"split   {named(old)} into {'; '.join(map(named, parts))}")
    for new, parts in run.merges.items():
        typer.echo(f"merged  {named(new)} from {'; '.join(map(named, parts))}")
    for move in run.moves:
        typer.echo(f"moved   {show.clean(move.keyword)} from {named(move.source)} to {named(move.target)}")


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
