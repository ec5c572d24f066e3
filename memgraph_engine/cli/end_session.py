"""`memgraph-engine end-session`."""

from typing import Annotated

import typer

from memgraph_engine.cli.decide import decide
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose


def end_session(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="A session's id, as `sessions` lists it.")],
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """End a session, and what lives only as long.

    What lives as long is said by its policy. `undo` brings it back.
    """
    owner = whose(user, shared)
    done = f"Ended session {session}"
    decide(tenant, owner, lambda memory: memory.end_session(session, **owner), done, as_json=as_json)
