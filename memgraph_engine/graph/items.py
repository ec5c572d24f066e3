"""Items: found by their keys, listed, and kept alive where they are read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memgraph_engine.graph.database import Database, Runner
from memgraph_engine.graph.notes import ends
from memgraph_engine.graph.rows import source_from
from memgraph_engine.model.item import Item, item_of, source_id
from memgraph_engine.model.memory import READABLE
from memgraph_engine.model.scope import Scope

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Holding:
    """A scope with items that can be read, and its language."""

    scope: Scope
    language: str


def find(tx: Runner, scope: str, shelf: str, keys: Sequence[str]) -> dict[str, Item]:
    """Return the items of these keys that can be read, by key."""
    rows = tx.run("items/find", scope=scope, ids=[source_id(shelf, key) for key in keys], statuses=READABLE)
    found = (item_of(row["scope"], source_from(row["source"])) for row in rows)
    return {item.key: item for item in found}


def every(tx: Runner, scopes: Sequence[str], shelf: str, begins: str = "") -> Iterator[Item]:
    """Yield the items of a shelf in scopes that can be read, those that changed last first, fetched a page at a time.

    They are those whose keys begin as is said.
    """
    start, size, prefix = 0, _PAGE if scopes else 0, source_id(shelf, begins)
    while size == _PAGE:
        given = {"scopes": scopes, "prefix": prefix, "statuses": READABLE, "start": start, "limit": _PAGE}
        rows = tx.run("items/page", **given)
        yield from (item_of(row["scope"], source_from(row["source"])) for row in rows)
        start, size = start + _PAGE, len(rows)


def holding(tx: Runner, tenant: str, shelf: str, user: str, below: str) -> list[Holding]:
    """Return the scopes of a tenant with items on a shelf: of one user, and of those whose ids begin so.

    '' is nobody, or anybody. What is being imported belongs to nobody yet.
    """
    one = Scope(tenant, user).name if user else ""
    others = Scope(tenant, below or None).name
    rows = tx.run("items/scopes", scope=one, below=others, prefix=source_id(shelf, ""), statuses=READABLE)
    found = ((row["scope"], Holding(Scope(tenant, row["user"]), row["language"])) for row in rows)
    return [one for name, one in found if one.scope.name == name]


def prolong(db: Database, scope: str, lives: Mapping[str, tuple[datetime, datetime]]) -> None:
    """Let items live on that have not ended: until when each can be read, and when nothing is left.

    They are named by the ids of their sources.
    """
    rows = [{"id": source, **ends(*life)} for source, life in sorted(lives.items())]
    db.commit("items/prolong", scope=scope, rows=rows, statuses=READABLE)
