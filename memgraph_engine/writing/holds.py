"""Hold what must not be erased, and release it."""

from uuid import uuid4

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput, NotFound
from memgraph_engine.graph import holds
from memgraph_engine.ingest.messages import check_name, check_text
from memgraph_engine.model.result import Hold
from memgraph_engine.model.scope import Scope


def hold(engine: Engine, scope: Scope, reason: str, **what: str | None) -> Hold:
    """Hold a memory, or a session or a source of it; raises InvalidInput, or NotFound for an empty memory."""
    given = {name: check_name(one, name) for name, one in what.items() if one is not None}
    if len(given) > 1:
        raise InvalidInput("hold takes a session or a source, or neither for the whole memory; not both.")
    made = Hold(uuid4().hex, check_text(reason, "reason", 1000), engine.now(), **given)
    if not holds.create(engine.db, scope.name, made):
        raise NotFound(f"The memory of {scope} is empty: there is nothing to hold.")
    return made


def release(engine: Engine, scope: Scope, id: str) -> None:
    """End a hold; raises NotFound."""
    if not holds.release(engine.db, scope.name, check_name(id, "id")):
        raise NotFound(f"There is no hold {id!r} in the memory of {scope}.")
