"""`memgraph-engine context`."""

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import connect
from memgraph_engine.cli.options import (
    Agent,
    AsOf,
    Budget,
    Considered,
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


def context(
    question: Question,
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    budget: Budget = None,
    top_k: Considered = 20,
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
    as_json: Json = False,
) -> None:
    """Print what the memory holds on a question, numbered and dated, for the prompt of a model.

    A user's question reads the tenant's shared memory too.
    """
    owner = whose(user, shared)
    entries = metadata(meta or [])
    with connect(tenant) as memory:
        found = memory.context(
            question,
            **owner,
            budget=budget,
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
        )
    if as_json:
        show.document(found)
        return
    if not found.entries:
        typer.echo("Nothing found.", err=True)
        return
    typer.echo(show.clean(found.text))
