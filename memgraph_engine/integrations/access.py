"""Whose memory a request means, and what it may do there."""

from dataclasses import dataclass
from typing import Literal, TypedDict

from memgraph_engine.client import Memory
from memgraph_engine.errors import InvalidInput

Right = Literal["read", "write", "forget"]
READ: Right = "read"
WRITE: Right = "write"
FORGET: Right = "forget"
RIGHTS = (READ, WRITE, FORGET)


class Whose(TypedDict):
    """The arguments by which each method of Memory knows whose memory is meant."""

    user_id: str | None
    shared: bool


@dataclass(frozen=True, slots=True)
class Access:
    """A memory, whose it is (None is the tenant's shared one), and the rights of who asks."""

    memory: Memory
    user_id: str | None
    rights: frozenset[Right] = frozenset(RIGHTS)

    @property
    def whose(self) -> Whose:
        """What the methods of Memory take."""
        return {"user_id": self.user_id, "shared": self.user_id is None}

    def to(self, right: Right) -> "Access":
        """Return it for something that needs a right; raises InvalidInput without that."""
        if right not in self.rights:
            raise InvalidInput(f"This access has no right to {right}: it may {' and '.join(sorted(self.rights))}.")
        return self
