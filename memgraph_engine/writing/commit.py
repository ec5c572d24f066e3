"""Write only what is still true: a write is prepared outside any lock, and refused when somebody was faster.

The scope's version is read before everything else; the write names it, and one that is out of date changes
nothing and is prepared anew. A writer that keeps losing takes the scope's lease, under which losers queue.
"""

import time
from collections.abc import Callable
from functools import wraps
from traceback import extract_tb
from typing import Concatenate, ParamSpec, TypeVar
from uuid import uuid4

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import WriteConflict
from memgraph_engine.graph import leases, scopes
from memgraph_engine.graph.database import Database
from memgraph_engine.model.scope import Scope

_BEFORE_LEASE = 3
_ATTEMPTS = 100
_SAME = 5  # times in a row that what is read may contradict itself at one place

T = TypeVar("T")
P = ParamSpec("P")


class Stale(Exception):
    """The scope's version has moved on since the write was prepared."""


def until_current(db: Database, scope: str, attempt: Callable[[], T]) -> T:
    """Call `attempt` until it does not raise Stale; after 100 times raises WriteConflict, or the last one's fault.

    What was read in pieces while somebody wrote, and contradicts itself, is read anew too. A fault of its own comes
    again when nobody has written meanwhile, or at the same place whatever is written: it is raised then.
    """
    name, holder = f"write {scope}", uuid4().hex
    versions, places = list[int | None](), list[str]()
    fault: Exception | None = None
    for number in range(_ATTEMPTS):
        queues = number >= _BEFORE_LEASE
        held = queues and leases.acquire(db, name, holder, seconds=10)
        try:
            return attempt()
        except Stale:
            fault = None
        except (KeyError, IndexError) as error:
            fault, state = error, scopes.state(db, scope)
            versions.append(state.version if state else None)
            places.append(f"{error!r} {extract_tb(error.__traceback__)[-1]}")
            if versions[-2:-1] == versions[-1:] or places[-_SAME:] == places[-1:] * _SAME:
                raise
        finally:
            if held:
                leases.release(db, name, holder)
        if queues and not held:
            time.sleep(0.01)
    raise fault or WriteConflict(
        f"Other writers changed {scope} {_ATTEMPTS} times while this write was prepared; nothing of it was stored. "
        "Try again."
    )


def retried(verb: Callable[Concatenate[Engine, Scope, P], T]) -> Callable[Concatenate[Engine, Scope, P], T]:
    """Let a verb that writes to a scope be called `until_current`; where it raises Stale it has written nothing."""

    @wraps(verb)
    def current(engine: Engine, scope: Scope, /, *given: P.args, **named: P.kwargs) -> T:
        return until_current(engine.db, scope.name, lambda: verb(engine, scope, *given, **named))

    return current
