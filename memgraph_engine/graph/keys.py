"""Keys as the graph keeps them: beside all memories, so that no export, count or check of one tells of them."""

from datetime import datetime

from memgraph_engine.graph.database import Database, Row, Runner
from memgraph_engine.graph.rows import made, stored
from memgraph_engine.model.key import Issued, Key, fingerprint
from memgraph_engine.model.scope import Scope


def store(db: Database, issued: Issued) -> None:
    """Store a key that was just made, of its secret only the hash."""
    key = issued.key
    told = {"user": key.user_id or "", "rights": list(key.rights), "hash": fingerprint(issued.secret)}
    db.commit("keys/create", tenant=key.tenant, id=key.id, properties=stored(key, "tenant", "user_id") | told)


def every(tx: Runner, tenant: str) -> list[Key]:
    """Return the keys of a tenant, the oldest first, revoked and ended ones too."""
    return [_key(row) for row in tx.run("keys/list", tenant=tenant)]


def find(db: Database, secret: str) -> Key | None:
    """Return the key of a secret, whichever tenant's; None if there is none. It may be revoked, or have ended.

    Of several servers that counts on which its tenant lives.
    """
    for one in db.everywhere():
        for row in one.run("keys/find", hash=fingerprint(secret)):
            if not db.home or db.home.servers.where(row["tenant"]) is one:
                return _key(row)
    return None


def some(db: Database, *, ended: bool = False) -> bool:
    """Tell whether any tenant has a key that opens something; with `ended`, or ever had one."""
    return any(one.run("keys/some", ended=ended) for one in db.everywhere())


def revoke(db: Database, tenant: str, id: str, now: datetime) -> Key | None:
    """Let a key end now, and return it; None if there is none of that id."""
    return next((_key(row) for row in db.commit("keys/revoke", tenant=tenant, id=id, now=now)), None)


def remove(db: Database, scope: Scope) -> int:
    """Remove the keys of a user for good, or with no user all of the tenant's; return how many."""
    return int(db.commit("keys/remove", tenant=scope.tenant, user=scope.user)[0]["removed"])


def _key(row: Row) -> Key:
    return made(Key, row, user_id=row["user"] or None)
