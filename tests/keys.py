"""Keys for tests of servers."""

from uuid import uuid4

from memgraph_engine.graph import keys
from memgraph_engine.model.key import RIGHTS, Issued, new_key
from memgraph_engine.model.memory import NEVER
from memgraph_engine.model.scope import Scope


def issue(memory, user=None, rights=RIGHTS, *, tenant=None, expires_at=NEVER) -> Issued:
    """Make a key of a user of the memory's tenant, or of another; of the whole tenant without a user."""
    scope = Scope(tenant or memory.engine.settings.tenant, user)
    made = new_key(f"key {uuid4().hex[:6]}", scope, rights, now=memory.engine.now(), expires_at=expires_at)
    keys.store(memory.engine.db, made)
    return made


def bearer(memory, user=None, rights=RIGHTS, **options) -> dict[str, str]:
    """Return the headers that bring a new key."""
    return {"Authorization": f"Bearer {issue(memory, user, rights, **options).secret}"}
