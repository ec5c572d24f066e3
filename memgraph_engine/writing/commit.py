"""Write only what is still true: a write is prepared outside any lock, and refused when somebody was faster.

The scope's version is read before everything else; the write names it, and one that is out of date changes
nothing and is prepared anew. A writer that keeps losing takes the scope's lease, under which losers queue.
"""

import time
from collections.abc import Callable
from typing import TypeVar
from uuid import uuid4

from memgraph_engine.errors import WriteConflict
from memgraph_engine.graph import leases, scopes
from memgraph_engine.graph.database import Database

_BEFORE_LEASE = 3
_ATTEMPTS = 100

T = TypeVar("T")


class Stale(Exception):
    """The scope's version has moved on since the write was prepared."""


def _steady(db: Database, scope: str, attempt: Callable[[], T]) -> Callable[[], T]:
    """Let what was read in pieces while somebody wrote, and contradicts itself, be read anew.

    A fault of its own comes again when nobody has written meanwhile, and is raised then.
    """
    seen: list[int | None] = []

    def one() -> T:
        try:
            return attempt()
        except (KeyError, IndexError) as error:
            state = scopes.state(db, scope)
            seen.append(state.version if state else None)
            if len(seen) > 1 and seen[-1] == seen[-2]:
                raise
            raise Stale from error

    return one


def until_current(db: Database, scope: str, attempt: Callable[[], T]) -> T:
    """Call `attempt` until it does not raise Stale; raises WriteConflict after 100 times."""
    attempt = _steady(db, scope, attempt)
    for _ in range(_BEFORE_LEASE):
        try:
            return attempt()
        except Stale:
            continue
    name, holder = f"write {scope}", uuid4().hex
    for _ in range(_ATTEMPTS - _BEFORE_LEASE):
        held = leases.acquire(db, name, holder, seconds=10)
        try:
            return attempt()
        except Stale:
            if not held:
                time.sleep(0.01)
        finally:
            if held:
                leases.release(db, name, holder)
    raise WriteConflict(
        f"Other writers changed {scope} {_ATTEMPTS} times while this write was prepared; nothing of it was stored. "
        "Try again."
    )
