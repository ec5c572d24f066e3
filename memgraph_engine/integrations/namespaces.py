"""Names of several parts as the one name of a user, so that no two of them collide."""

import re
from collections.abc import Sequence
from urllib.parse import unquote


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
