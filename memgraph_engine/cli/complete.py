"""What the tab key offers behind --user and --session: names from the database, if it can be had at once.

Nothing is started for it, no model is loaded, and what goes wrong is kept silent: there are no names then.
"""

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from memgraph_engine.graph.database import Database
    from memgraph_engine.settings import Settings

_SECONDS = 2.0  # that a terminal waits at most for the server
_MOST = 200  # names
_PLAIN = re.compile(r"[\w.+@%][\w.+@%:/=-]*")  # others a shell might run, cut in two or take for an option


def users(context: typer.Context, incomplete: str) -> list[str]:
    """Return the users of the tenant whose names begin so."""
    from memgraph_engine.graph import scopes

    return _named(context, incomplete, lambda db, tenant: (user.id for user in scopes.users(db, tenant)))


def sessions(context: typer.Context, incomplete: str) -> list[str]:
    """Return the sessions that begin so, of the user that was named, or of the shared memory."""
    from memgraph_engine.graph import scopes
    from memgraph_engine.model.scope import Scope

    user, shared = context.params.get("user"), context.params.get("shared")
    if not user and not shared:
        return []

    def found(db: "Database", tenant: str) -> Iterable[str]:
        return (one.id for one in scopes.sessions(db, Scope(tenant, user).name))

    return _named(context, incomplete, found)


def _named(context: typer.Context, incomplete: str, find: "Callable[[Database, str], Iterable[str]]") -> list[str]:
    from memgraph_engine.errors import MemgraphEngineError
    from memgraph_engine.settings import Settings

    try:
        settings = Settings.load()
        tenant = context.params.get("tenant") or settings.tenant
        if not (db := _database(settings)):
            return []
        with db:
            names = (name for name in find(db, tenant) if name.startswith(incomplete))
            return [name for name in names if _PLAIN.fullmatch(name)][:_MOST]
    except MemgraphEngineError:
        return []


def _database(settings: "Settings") -> "Database | None":
    """Reach the server of the settings, or the managed one if it runs."""
    from memgraph_engine.graph.database import Address, Database
    from memgraph_engine.graph.server.local import LocalServer

    at = Address.of(settings) or LocalServer(settings).address()
    return Database(at, database=settings.database, connect_timeout=_SECONDS, retry_time=0.0) if at else None
