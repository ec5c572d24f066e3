"""`memgraph-engine topics`: keywords that occur together, and the runs that find them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, on_memory, on_tenant
from memgraph_engine.cli.group import Commands, Group
from memgraph_engine.cli.options import Shared, User, whose
from memgraph_engine.cli.progress import bar

if TYPE_CHECKING:
    from memgraph_engine.model.topic import TopicRun

topics_app = Commands(cls=Group, help="Topics: keywords that occur together.", no_args_is_help=True)

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

        def tell(phase: str) -> None:
            running.advance(phase != "wait")

        if every:
            runs = memory.rebuild_all_topics(engine=engine, progress=tell)
        else:
            runs = [memory.rebuild_topics(**on.owner, engine=engine, progress=tell)]
    yield runs if every else runs[0]
    for run in runs:
        _print(run)
    if not runs:
        typer.echo("No memory has changed since its topics were found.")


@topics_app.command("list")
@on_memory
def list_topics(on: Target) -> Iterator[object]:
    """List the topics, the largest first.

    Each has its most central keywords.
    """
    found = on.memory().topics(**on.owner)
    yield found
    for topic in found:
        typer.echo(f"{topic.id}  {topic.size:>6,}  {show.clean(', '.join(topic.keywords))}")
    if not found:
        typer.echo(f"There are no topics. To find them: {on.again('topics rebuild')}")


@topics_app.command("show")
@on_memory
def show_topic(on: Target, id: Annotated[str, "ID: A topic's id."]) -> Iterator[object]:
    """Show a topic with all of its keywords.

    The most central ones stand first.
    """
    topic = on.memory().topic(id, **on.owner)
    yield topic
    typer.echo(f"{topic.id}  {show.clean(topic.label)}  ({show.count(topic.size, 'keyword')})")
    for keyword in topic.keywords:
        typer.echo(f"  {show.clean(keyword)}")


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

    run = runs[0]
    _print(run)
    for old, parts in run.splits.items():
        typer.echo(f"split   {named(old)} into {'; '.join(map(named, parts))}")
    for new, parts in run.merges.items():
        typer.echo(f"merged  {named(new)} from {'; '.join(map(named, parts))}")
    for move in run.moves:
        typer.echo(f"moved   {show.clean(move.keyword)} from {named(move.source)} to {named(move.target)}")


def _print(run: "TopicRun") -> None:
    typer.echo(
        f"{show.clean(run.scope)}: {show.count(run.topics, 'topic')} of {show.count(run.keywords, 'keyword')}, "
        f"{len(run.created):,} new, {len(run.ended):,} ended, {run.moved:,} moved, {run.joined:,} joined; "
        f"modularity {run.modularity_after:.3f} ({run.modularity_before:.3f} without bounds), "
        f"{run.engine}, {sum(run.seconds.values()):.1f} s"
    )
