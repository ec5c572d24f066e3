"""`memgraph-engine restore`."""

from memgraph_engine.cli.decide import decide
from memgraph_engine.cli.options import Json, NoteId, Shared, Tenant, User, whose


def restore(
    id: NoteId,  # noqa: A002
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Bring back a note that expired.

    The time of its policy begins anew.
    """
    owner = whose(user, shared)
    decide(tenant, owner, lambda memory: memory.restore(id, **owner), f"Restored {id}", as_json=as_json)
