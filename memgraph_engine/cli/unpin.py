"""`memgraph-engine unpin`."""

from memgraph_engine.cli.decide import decide
from memgraph_engine.cli.options import Json, NoteId, Shared, Tenant, User, whose


def unpin(
    id: NoteId,  # noqa: A002
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Let a pinned note end as its policy says.

    That may be past already.
    """
    owner = whose(user, shared)
    decide(tenant, owner, lambda memory: memory.unpin(id, **owner), f"Unpinned {id}", as_json=as_json)
