"""Whose memory is meant, on every surface, also by the names that other libraries have for it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypedDict
from urllib.parse import quote, unquote

from memgraph_engine.errors import InvalidInput


class Whose(TypedDict):
    """The arguments by which each method of Memory knows whose memory is meant."""

    user_id: str | None
    shared: bool


IDENTITIES = ("user_id", "agent_id", "run_id")
"""The arguments by which mem0 says whose memories are meant."""


def user_of(namespace: Sequence[str]) -> str:
    """Return the `user_id` whose memory a namespace is: its labels, joined by slashes; a label's own are encoded.

    >>> user_of(("users", "ana")), user_of(("a/b", "100%"))
    ('users/ana', 'a%2Fb/100%25')
    """
    return "/".join(label.replace("%", "%25").replace("/", "%2F") for label in namespace)


def namespace_of(user: str) -> tuple[str, ...]:
    """Return the namespace that is a user's memory.

    >>> namespace_of("a%2Fb/100%25")
    ('a/b', '100%')
    """
    return tuple(re.sub("%2F|%25", lambda found: unquote(found[0]), label) for label in user.split("/"))


@dataclass(frozen=True, slots=True)
class Identity:
    """The user, the agent and the run that a call of mem0's means.

    The `owner` names a memory of this engine. Where no user is named, it is the agent's or the run's own: with a space
    in its name, as no identity of mem0's has one.
    """

    user_id: str = ""
    agent_id: str = ""
    run_id: str = ""

    @classmethod
    def of(cls, given: Mapping[str, object]) -> Self:
        """Read them; raises InvalidInput, a ValueError, as mem0 does."""
        read = {name: _name(name, given[name]) for name in IDENTITIES if given.get(name) is not None}
        if not read:
            raise InvalidInput(
                "At least one of user_id, agent_id or run_id is needed (in search and get_all within filters): they "
                "say whose memories are meant."
            )
        return cls(**read)

    @classmethod
    def of_owner(cls, owner: str) -> Self:
        """Return what the name of a memory says."""
        kind, space, name = owner.partition(" ")
        return cls(**{f"{kind}_id": name}) if space else cls(user_id=owner)

    @property
    def owner(self) -> str:
        """The name of the memory."""
        return self.user_id or (f"agent {self.agent_id}" if self.agent_id else f"run {self.run_id}")

    @property
    def filters(self) -> dict[str, Any]:
        """What narrows that memory down."""
        given = {"agent": self.agent_id, "session": self.run_id}
        return {name: value for name, value in given.items() if value}

    def id(self, note: str) -> str:
        """Return mem0's id of a note, which says whose it is: mem0 asks for a memory by its id alone."""
        return f"{quote(self.owner, safe='')}:{note}"


def _name(kind: str, value: object) -> str:
    name = str(value).strip()
    if not name or any(character.isspace() for character in name):
        raise InvalidInput(f"Invalid {kind}: {value!r}. It must be a name without spaces.")
    return name
