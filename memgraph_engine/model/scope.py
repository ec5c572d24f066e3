"""Whose memory: a tenant's user, or the tenant's shared memory."""

import hashlib
from dataclasses import dataclass, field
from urllib.parse import quote

from memgraph_engine.errors import InvalidInput
from memgraph_engine.model.marker import shows

_LONGEST = 512
_LONGEST_ENCODED = 2048  # an index takes some 8,000 bytes, with an id beside


@dataclass(frozen=True, slots=True)
class Scope:
    """The memory of one user of a tenant; with no user, what the tenant shares.

    `name` is what every statement filters by: both parts percent-encoded around a slash, so that
    no two pairs collide.

    >>> Scope("acme", "ana").name, Scope("acme", "a/b").name, Scope("acme").name
    ('acme/ana', 'acme/a%2Fb', 'acme/')
    """

    tenant: str
    user: str | None = None
    name: str = field(init=False, repr=False, compare=False)
    """The one string that stands for this scope in the graph."""

    def __post_init__(self) -> None:
        """Refuse what can't be a name."""
        for what, value in (("tenant", self.tenant), ("user_id", self.user)):
            if value is None and what == "user_id":
                continue
            if not isinstance(value, str) or not value:
                raise InvalidInput(f"{what} must be a non-empty string, not {value!r}.")
            if len(value) > _LONGEST:
                raise InvalidInput(f"{what} has {len(value)} characters; at most {_LONGEST} are allowed.")
            try:
                value.encode()
            except UnicodeEncodeError:
                raise InvalidInput(f"{what} {value!r} holds a lone surrogate, which can't be stored.") from None
            if not shows(value):
                raise InvalidInput(f"{what} {value!r} is blank: give a name that can be seen.")
        object.__setattr__(self, "name", f"{quote(self.tenant, safe='')}/{quote(self.user or '', safe='')}")
        if len(self.name) > _LONGEST_ENCODED:
            raise InvalidInput(
                f"tenant and user_id have {len(self.name)} characters when percent-encoded; "
                f"at most {_LONGEST_ENCODED} are allowed."
            )

    @property
    def token(self) -> str:
        """What stands before each of the scope's terms in the full-text index: 10 letters and digits.

        Two scopes that share one, by chance, share its limit; what is found is held against the scope itself.
        """
        return "s" + hashlib.blake2b(self.name.encode(), digest_size=12).hexdigest()[:9]

    @property
    def shared(self) -> "Scope":
        """The tenant's shared memory."""
        return Scope(self.tenant)

    @property
    def readable(self) -> "list[Scope]":
        """What its user may read: the own memory first, then the shared one."""
        return [self, self.shared] if self.user else [self]

    def __str__(self) -> str:
        """Say whose it is, for messages to people."""
        return (
            f"user {self.user!r} of tenant {self.tenant!r}"
            if self.user
            else f"the shared memory of tenant {self.tenant!r}"
        )


def scope_of(tenant: str, user_id: str | None, *, shared: bool = False) -> Scope:
    """Return the scope that a caller means; raises InvalidInput unless it is said whose: nobody is no user.

    >>> scope_of("acme", "ana"), scope_of("acme", None, shared=True).user
    (Scope(tenant='acme', user='ana'), None)
    """
    if shared and user_id is not None:
        raise InvalidInput("shared=True means the tenant's memory, which belongs to no user: leave user_id out.")
    if not shared and user_id is None:
        raise InvalidInput("user_id is required: say whose memory is meant (or shared=True for the tenant's).")
    return Scope(tenant, user_id)
