"""`memgraph-engine search`."""

from typing import Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import connect
from memgraph_engine.cli.options import Json, Shared, Tenant, User, metadata, whose


def search(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know.")],
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    top_k: Annotated[int, typer.Option("--top-k", "-k", metavar="N", help="At most this many notes.")] = 10,
    session: Annotated[str | None, typer.Option(metavar="ID", help="Only of this conversation.")] = None,
    speaker: Annotated[str | None, typer.Option(metavar="NAME", help="Only what this one said.")] = None,
    role: Annotated[str | None, typer.Option(metavar="ROLE", help="Only of this role.")] = None,
    agent: Annotated[str | None, typer.Option(metavar="ID", help="Only what was said to this agent.")] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Not said before, ISO 8601.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Not said after, ISO 8601.")] = None,
    as_of: Annotated[
        str | None, typer.Option(metavar="TIME", help="What was true in the world then; a day means its end.")
    ] = None,
    known_at: Annotated[str | None, typer.Option(metavar="TIME", help="What this memory held then; likewise.")] = None,
    tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="With this tag; can be repeated.")] = None,
    meta: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="With this entry in the metadata; can be repeated."),
    ] = None,
    min_similarity: Annotated[
        float | None, typer.Option(metavar="X", help="At least this near to the question, -1 to 1.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show each channel's scores.", show_default=False)] = False,
    as_json: Json = False,
) -> None:
    """Find the notes that answer a question best.

    A user's search reads the tenant's shared memory too.
    """
    owner = whose(user, shared)
    entries = metadata(meta or [])
    with connect(tenant) as memory:
        hits = memory.search(
            question,
            **owner,
            top_k=top_k,
            session=session,
            speaker=speaker,
            role=role,
            agent=agent,
            since=since,
            until=until,
            as_of=as_of,
            known_at=known_at,
            tags=tag or (),
            metadata=entries,
            min_similarity=min_similarity,
            explain=explain,
        )
    if as_json:
        show.document(hits)
        return
    if not hits:
        typer.echo("Nothing found.", err=True)
    out = show.console()
    for rank, hit in enumerate(hits, 1):
        show.hit(out, rank, hit)
        if hit.explanation:
            show.explanation(out, hit, hit.explanation)
