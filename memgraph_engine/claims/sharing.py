"""Claims that a tenant's users make each by himself: which may be told to others, and those that enough of them make.

Nothing is stored of it but a mark on a user's own claim, which goes with it. What is told follows from the users' own
notes at the moment of reading. So there is nothing to withdraw when a note changes, and no word to erase but the
user's own (LightMem, section 3.6, whose long-term memory is of all users).
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.graph import claims as claim_graph, scopes
from memgraph_engine.graph.claims import General
from memgraph_engine.language.claims import Told, impersonal
from memgraph_engine.language.terms import DEFAULT_LANGUAGE, tokenize
from memgraph_engine.model.scope import Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def mark(scope: Scope, told: Told, language: str, names: Iterable[str]) -> str | None:
    """Return what a claim of a user has in common with the same claim of others; None for one that is told to nobody.

    That is one which may name somebody (`names` are those of his memory's speakers), or tells others what to do.
    """
    ends = [tokenize(end, language) for end in (told.subject, told.object)]
    known = {word for name in (*names, scope.user or "") for word in tokenize(name, language)}
    if (
        not scope.user
        or not all(ends)
        or not known.isdisjoint(word for end in ends for word in end)
        or not impersonal(told, language)
    ):
        return None
    of = "\0".join([scope.shared.name, language, told.kind, *(" ".join(end) for end in ends)])
    return hashlib.blake2b(of.encode(), digest_size=16).hexdigest()


def general(
    engine: Engine,
    shared: Scope,
    *,
    ids: Sequence[str] | None = None,
    keys: Sequence[str] = (),
    named: bool = False,
    vector: "NDArray[np.float32] | None" = None,
) -> list[General]:
    """Return the claims that at least `claims.users` of a tenant's users make now, if the tenant shares them.

    All of them, those of some ids, or where it is to be `named` those of which an end has one of some keys.
    """
    least = engine.settings.claims.users
    return list(claim_graph.general(engine.db, shared.name, least, ids=ids, keys=keys, named=named, vector=vector))


def share(engine: Engine, scope: Scope, *, on: bool) -> None:
    """Let the tenant's users share claims (of a shared scope), or a user take part; or no more."""
    scopes.open_scope(engine.db, scope, engine.settings.language or DEFAULT_LANGUAGE)
    if scope.user is None:
        claim_graph.share(engine.db, scope.name, shares=on or None)
    else:
        claim_graph.share(engine.db, scope.name, withholds=None if on else True)
