"""How far a source is to be trusted: by who says it, and never by what it says (docs/trust.md).

Whoever writes a text may write into it whatever he likes. So the class follows from what the program tells of a source:
its role, its kind, and the rules of the policy file.
"""

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

Trust = Literal["user", "assistant", "tool", "document", "web", "unknown"]
"""Who says something, the most trusted first."""

TRUST: tuple[Trust, ...] = get_args(Trust)
"""The classes, the most trusted first."""

_BY_KIND: Mapping[str, Trust] = {
    "message": "user",
    "item": "assistant",  # what an agent keeps under a key
    "api_result": "tool",
    "document": "document",
    "code": "document",
}
_BY_ROLE: Mapping[str, Trust] = {
    "": "user",
    "user": "user",
    "assistant": "assistant",
    "system": "assistant",  # the program's own words
    "tool": "tool",
    "key": "assistant",  # of an item without texts
}
CALLED: Mapping[str, str] = {
    "user": "the user",
    "assistant": "an assistant",
    "tool": "a tool",
    "document": "a document",
    "web": "the web",
    "unknown": "an unknown source",
}
"""What each class is called in a sentence."""


def by_origin(kind: str, role: str) -> Trust:
    """Return the class of a source that no rule is about: the lower of those of its kind and its role.

    >>> by_origin("message", "user"), by_origin("document", "user"), by_origin("message", "tool")
    ('user', 'document', 'tool')
    """
    return least((_BY_KIND.get(kind, "unknown"), _BY_ROLE.get(role, "unknown")))


def least(some: Iterable[Trust]) -> Trust:
    """Return the least trusted of some classes; without any that is `unknown`.

    >>> least(["user", "document", "assistant"]), least([])
    ('document', 'unknown')
    """
    return max(some, key=TRUST.index, default="unknown")


def below(one: Trust, bound: Trust) -> bool:
    """Tell whether a class is trusted less than another.

    >>> below("document", "user"), below("user", "user")
    (True, False)
    """
    return TRUST.index(one) > TRUST.index(bound)


def beside(one: Trust, other: Trust) -> bool:
    """Tell whether words of one class may stand in what is told of another: those trusted as far, or told unmarked.

    >>> beside("assistant", "user"), beside("web", "user"), beside("user", "web")
    (True, False, True)
    """
    return not below(one, other) or not marked(one)


def marked(one: Trust) -> str:
    """Return the words that mark a line that neither the user nor an assistant said, '' for one that they did.

    >>> marked("document"), marked("assistant")
    ('from a document', '')
    """
    return f"from {CALLED[one]}" if below(one, "assistant") else ""
