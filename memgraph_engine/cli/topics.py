"""`memgraph-engine topics`: keywords that occur together, and the runs that find them."""

from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import connect, known
from memgraph_engine.cli.group import Group
from memgraph_engine.cli.options import Json, Shared, Tenant, User, again, whose
from memgraph_engine.cli.progress import bar

if TYPE_CHECKING:
    from memgraph_engine.model.topic import TopicRun

topics_app = typer.Typer(cls=Group, help="Topics: keywords that occur together.", no_args_is_help=True)

Engine = Annotated[
    str | None,
    typer.Option(
        "--engine", metavar="NAME", help="graspologic-native, or igraph or leidenalg (both GPL); else the setting."
    ),
]
All = Annotated[
    bool,
    typer.Option("--all", help="Every memory of the tenant that has changed since its last run.", show_default=False),
]
_PHASES = 5


@topics_app.command()
def rebuild(
    user: User = None,
    shared: Shared = False,
    every: All = False,
    engine: Engine = None,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Find the topics anew.

    A topic that is still the same keeps its id.
    If a run fails or is killed, the former topics stay.
    """
    if every and (user is not None or shared):
        raise typer.BadParameter("it stands for every memory: leave --user and --shared out.", param_hint="--all")
    owner = None if every else whose(user, shared)
    reached = connect(tenant) if owner is None else known(tenant, owner)
    with reached as memory, bar("Topics", lambda: _PHASES) as running:

        def tell(phase: str) -> None:
            running.advance(phase != "wait")

        if owner is None:
            runs = memory.rebuild_all_topics(engine=engine, progress=tell)
        else:
            runs = [memory.rebuild_topics(**owner, engine=engine, progress=tell)]
    if as_json:
        show.document(runs if every else runs[0])
        return
    for run in runs:
        _print(run)
    if not runs:
        typer.echo("No memory has changed since its topics were found.")


@topics_app.command("list")
def list_topics(user: User = None, shared: Shared = False, tenant: Tenant = None, as_json: Json = False) -> None:
    """List the topics, the largest first.

    Each has its most central keywords.
    """
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        found = memory.topics(**owner)
    if as_json:
        show.document(found)
        return
    for topic in found:
        typer.echo(f"{topic.id}  {topic.size:>6,}  {show.clean(', '.join(topic.keywords))}")
    if not found:
        typer.echo(f"There are no topics. To find them: {again('topics rebuild', owner, tenant)}")


@topics_app.command("show")
def show_topic(
    id: Annotated[str, typer.Argument(metavar="ID", help="A topic's id.")],  # noqa: A002  as in Memory
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Show a topic with all of its keywords.

    The most central ones stand first.
    """
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        topic = memory.topic(id, **owner)
    if as_json:
        show.document(topic)
        return
    typer.echo(f"{topic.id}  {show.clean(topic.label)}  ({show.count(topic.size, 'keyword')})")
    for keyword in topic.keywords:
        typer.echo(f"  {show.clean(keyword)}")


@topics_app.command()
def diff(user: User = None, shared: Shared = False, tenant: Tenant = None, as_json: Json = False) -> None:
    """Show what the last run changed.

    It split, merged and moved topics and keywords.
    """
    owner = whose(user, shared)
    with known(tenant, owner) as memory:
        runs = memory.topic_runs(**owner, limit=1)
        labels = {topic.id: topic.label for topic in memory.topics(**owner)}
    if as_json:
        show.document(runs[0] if runs else None)
        return
    if not runs:
        typer.echo(f"The topics were never looked for. To find them: {again('topics rebuild', owner, tenant)}")
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
