"""`memgraph-engine pin`."""

from memgraph_engine.cli.decide import decide
from memgraph_engine.cli.options import Json, NoteId, Shared, Tenant, User, whose


def pin(
    id: NoteId,  # noqa: A002
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Keep a note for ever, whatever its policy."""
    owner = whose(user, shared)
    decide(tenant, owner, lambda memory: memory.pin(id, **owner), f"Pinned {id}", as_json=as_json)
