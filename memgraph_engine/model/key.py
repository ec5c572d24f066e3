"""Keys: who may ask a server for which memory, and what for."""

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args
from uuid import uuid4

from memgraph_engine.errors import InvalidInput, named
from memgraph_engine.interface.results import Result
from memgraph_engine.model.memory import NEVER
from memgraph_engine.model.scope import Scope

Right = Literal["read", "write", "forget"]
RIGHTS: tuple[Right, ...] = get_args(Right)
"""What a key may be for: to read and ask; to add, change and delete, which can be undone; to erase for good."""
_PREFIX = "mge_"  # so that scanners for secrets can find it
_BYTES = 32
_LENGTH = len(_PREFIX) + len(secrets.token_urlsafe(_BYTES))
_LONGEST = 200  # characters of a name


@dataclass(frozen=True, slots=True, repr=False)
class Key(Result):
    """What a server knows of a key, which is not its secret: of that only a hash is stored.

    It opens the memory of `user_id`, or all of the tenant's where that is None, for its `rights`. It is refused from
    `expires_at` on, and from `revoked_at` on.
    """

    brief = ("id", "name", "tenant", "user_id", "rights")

    id: str
    name: str
    tenant: str
    user_id: str | None
    rights: tuple[Right, ...]
    created_at: datetime
    expires_at: datetime = NEVER
    revoked_at: datetime = NEVER

    def opens(self, at: datetime) -> bool:
        """Tell whether it is neither revoked nor ended at a time."""
        return at < min(self.expires_at, self.revoked_at)

    @property
    def whose(self) -> str:
        """Say whose memory it opens, for messages to people."""
        return (
            f"all memories of tenant {self.tenant!r}" if self.user_id is None else str(Scope(self.tenant, self.user_id))
        )


@dataclass(frozen=True, slots=True, repr=False)
class Issued(Result):
    """A key that was just made, with its `secret`, which nothing tells again."""

    brief = ("key",)

    key: Key
    secret: str


def new_key(
    name: object, scope: Scope, rights: Iterable[str], *, now: datetime, expires_at: datetime = NEVER
) -> Issued:
    """Make a key of a user, or of a whole tenant, with a secret that nobody can guess. Raises InvalidInput.

    >>> from datetime import UTC
    >>> made = new_key("a phone", Scope("acme", "ana"), ["write", "read"], now=datetime(2024, 5, 1, tzinfo=UTC))
    >>> made.key.rights, len(made.secret), made.secret in repr(made)
    (('read', 'write'), 47, False)
    """
    given = set(rights)
    if unknown := sorted(given - set(RIGHTS)):
        raise InvalidInput(f"There is no right {unknown[0]!r}; the rights are {', '.join(RIGHTS)}.")
    if not given:
        raise InvalidInput(f"A key without a right opens nothing; the rights are {', '.join(RIGHTS)}.")
    if not isinstance(name, str):
        raise InvalidInput(f"A key's name must be a text, not {named(name)}.")
    if not name.strip() or len(name) > _LONGEST or not name.isprintable():
        raise InvalidInput(f"A key's name must be one line of 1 to {_LONGEST} characters, not {name!r}.")
    if expires_at <= now:
        raise InvalidInput(f"The key would have ended at {expires_at:%Y-%m-%d %H:%M} UTC: that is past.")
    key = Key(
        uuid4().hex, name, scope.tenant, scope.user, tuple(one for one in RIGHTS if one in given), now, expires_at
    )
    return Issued(key, _PREFIX + secrets.token_urlsafe(_BYTES))


def fingerprint(secret: str) -> str:
    """Return the hash under which a key is stored: it has 256 random bits, so nothing slower than SHA-256 is needed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def may_be_secret(given: str) -> bool:
    """Tell whether a text has the form of a secret: what has not is no key, and needn't be looked up."""
    return given.startswith(_PREFIX) and len(given) == _LENGTH and given.isascii()
