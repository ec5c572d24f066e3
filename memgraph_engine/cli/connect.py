"""How a command reaches the memory."""

from contextlib import contextmanager
from shlex import quote
from typing import TYPE_CHECKING

import typer

from memgraph_engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memgraph_engine.client import Memory
    from memgraph_engine.interface.whose import Whose

_MOST_NEAR = 3


def connect(tenant: str | None) -> "Memory":
    """Connect as the settings say; the imports that this takes are made here, so that `--help` is fast."""
    from memgraph_engine.client import Memory

    return Memory.connect(tenant=tenant)


@contextmanager
def known(tenant: str | None, owner: "Whose", *, asking: bool = False) -> "Iterator[Memory]":
    """Connect for a user who was written to, or the shared memory; raises NotFound that names the nearest users.

    A question (`asking`) is asked of the shared memory where the tenant has one, and the user is told of.
    """
    with connect(tenant) as memory:
        if unknown := _unknown(memory, owner["user_id"]):
            if not (asking and _written(memory, None)):
                raise NotFound(unknown)
            typer.echo(f"{unknown} The shared memory is asked.", err=True)
        yield memory


def _unknown(memory: "Memory", user: str | None) -> str:
    """Say that there is no such user; '' if there is."""
    if user is None or _written(memory, user):
        return ""
    from memgraph_engine.cli.show import clean

    tenant = memory.engine.settings.tenant
    names = [one.id for one in memory.users()]
    said = f"There is no user {user!r} in tenant {tenant!r}"
    if near := _near(user, names):
        return clean(f"{said}. Did you mean {' or '.join(map(repr, near))}?")
    if not names:
        return clean(f"{said}, nor any other; `memgraph-engine tenants` lists the tenants.")
    return clean(f"{said}; `memgraph-engine users --tenant {quote(tenant)}` lists those that there are.")


def _written(memory: "Memory", user: str | None) -> bool:
    from memgraph_engine.graph import scopes
    from memgraph_engine.model.scope import Scope

    name = Scope(memory.engine.settings.tenant, user).name
    return scopes.state(memory.engine.db, name) is not None or scopes.left(memory.engine.db, name)


def _near(user: str, names: list[str]) -> list[str]:
    """Return the names that are most like a user's, whatever their case."""
    from difflib import get_close_matches

    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(name.casefold(), name)
    return [folded[one] for one in get_close_matches(user.casefold(), folded, n=_MOST_NEAR)]
