"""Claims as they are told: those that notes support which can be read now, or that enough users of the tenant make.

Of what users share nothing is stored but a mark on each one's own claim, which goes with it. So there is nothing to
withdraw when a note changes, and no word to erase but the user's own (LightMem, section 3.6).
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import NotFound
from memgraph_engine.graph import claims as claim_graph, scopes
from memgraph_engine.graph.claims import Supported
from memgraph_engine.language.claims import Told, identity, impersonal
from memgraph_engine.language.terms import DEFAULT_LANGUAGE, tokenize
from memgraph_engine.model.claim import LEAST, Claim
from memgraph_engine.model.scope import Scope
from memgraph_engine.recall.question import names as names_of
from memgraph_engine.trust import below

_SPARE = 4  # times as many are looked at as are wanted: some are told no more


def every(engine: Engine, scope: Scope, language: str, k: int) -> list[Supported]:
    """Return the k claims that are to be trusted most, these first, of what a scope's user may read."""
    own = _trusted(engine, [one.name for one in scope.readable])
    shared = claim_graph.general(engine.db, scope.shared.name, engine.settings.claims.users)
    found = [*own, *_others((one.claim for one in shared), own, language)]
    return sorted(found, key=lambda one: (-one.claim.confidence, one.claim.text, one.claim.id))[:k]


def about(engine: Engine, scope: Scope, text: str, language: str, k: int, *, named: bool = False) -> list[Supported]:
    """Return the k claims on something: those of which it names an end first, then, unless `named`, the nearest."""
    vector, scopes = engine.embedder.embed_query(text), [one.name for one in scope.readable]
    keys = names_of([text], [language])
    near = claim_graph.near(engine.db, scopes, vector, keys, _SPARE * k)
    found = _trusted(engine, scopes, sorted({id for _, id in near})) if near else ()
    scored = [
        (near[place], replace(one, claim=replace(one.claim, score=near[place][1])))
        for one in found
        if (place := (one.claim.scope, one.claim.id)) in near and near[place][0] >= named
    ]
    of, users = scope.shared.name, engine.settings.claims.users
    general = claim_graph.general(engine.db, of, users, keys=keys, named=named, vector=vector)
    shared = {one.claim: one.named for one in general}
    others = _others(shared, [one for _, one in scored], language)
    scored += [((shared[one.claim], one.claim.score or 0.0), one) for one in others]
    return [one for _, one in sorted(scored, key=lambda pair: (-pair[0][0], -pair[0][1], pair[1].claim.id))[:k]]


def find(engine: Engine, scope: Scope, id: str) -> Claim:
    """Return a claim of a scope; NotFound where no note supports it that can be read, or too few users do."""
    own = [one.claim for one in _trusted(engine, [scope.name], [id])]
    if not (scope.user or own):
        own = [one.claim for one in claim_graph.general(engine.db, scope.name, engine.settings.claims.users, ids=[id])]
    for claim in own:
        return claim
    raise NotFound(f"There is no claim {id!r} in the memory of {scope}.")


def _others(shared: Iterable[Claim], own: Iterable[Supported], language: str) -> list[Supported]:
    """Return what users share of which the reader's own notes say nothing: what these say is told by them."""
    said = {identity(one.claim, language) for one in own}
    return [Supported(claim, ()) for claim in shared if identity(claim, language) not in said]


def _trusted(engine: Engine, scopes: Sequence[str], ids: Sequence[str] | None = None) -> list[Supported]:
    """Return all claims, or those of some ids, that are still to be trusted, and told of by who is trusted enough."""
    least = engine.settings.trust.least
    every = (one for one in claim_graph.told(engine.db, scopes, ids) if one.claim.confidence >= LEAST)
    return [one for one in every if not below(one.claim.trust, least)]


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


def share(engine: Engine, scope: Scope, *, on: bool) -> None:
    """Let the tenant's users share claims (of a shared scope), or a user take part; or no more."""
    scopes.open_scope(engine.db, scope, engine.settings.language or DEFAULT_LANGUAGE)
    shares, withholds = (on or None, None) if scope.user is None else (None, not on or None)
    engine.db.commit("claims/share", scope=scope.name, shares=shares, withholds=withholds)
