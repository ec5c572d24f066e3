"""`memgraph-engine search`."""

from typing import Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import connect
from memgraph_engine.cli.options import (
    Agent,
    AsOf,
    Json,
    KnownAt,
    Meta,
    MinSimilarity,
    Question,
    Role,
    Session,
    Shared,
    Since,
    Speaker,
    Tag,
    Tenant,
    Until,
    User,
    metadata,
    whose,
)


def search(
    question: Question,
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    top_k: Annotated[int, typer.Option("--top-k", "-k", metavar="N", help="At most this many notes.")] = 10,
    session: Session = None,
    speaker: Speaker = None,
    role: Role = None,
    agent: Agent = None,
    since: Since = None,
    until: Until = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    tag: Tag = None,
    meta: Meta = None,
    min_similarity: MinSimilarity = None,
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
