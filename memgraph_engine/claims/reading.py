"""Claims as they are told: those that notes support which can be read now."""

from collections.abc import Sequence
from dataclasses import replace

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.graph import claims as claim_graph
from memgraph_engine.graph.claims import Supported
from memgraph_engine.language import tokenize
from memgraph_engine.model.claim import LEAST, Claim

_SPARE = 4  # times as many are looked at as are wanted: some are told no more
_NAMED = 3  # words of what may be an end


def every(engine: Engine, scopes: Sequence[str], k: int) -> list[Supported]:
    """Return the k claims that are to be trusted most, these first."""
    found = _trusted(engine, scopes)
    return sorted(found, key=lambda one: (-one.claim.confidence, one.claim.text, one.claim.id))[:k]


def about(
    engine: Engine, scopes: Sequence[str], text: str, language: str, k: int, *, named: bool = False
) -> list[Supported]:
    """Return the k claims on something: those of which it names an end first, then, unless `named`, the nearest."""
    vector = engine.embedder.embed_query(text)
    near = claim_graph.near(engine.db, scopes, vector, _keys(text, language), _SPARE * k)
    found = _trusted(engine, scopes, sorted({id for _, id in near})) if near else ()  # noqa: A001
    scored = [
        (near[place], replace(one, claim=replace(one.claim, score=near[place][1])))
        for one in found
        if (place := (one.claim.scope, one.claim.id)) in near and near[place][0] >= named
    ]
    return [one for _, one in sorted(scored, key=lambda pair: (-pair[0][0], -pair[0][1], pair[1].claim.id))[:k]]


def find(engine: Engine, scope: str, id: str) -> Claim | None:  # noqa: A002  the graph's own word
    """Return a claim of a scope; None if there is none, or no note supports it that can be read."""
    return next((one.claim for one in _trusted(engine, [scope], [id])), None)


def _trusted(engine: Engine, scopes: Sequence[str], ids: Sequence[str] | None = None) -> list[Supported]:
    """Return all claims, or those of some ids, that are still to be trusted."""
    return [one for one in claim_graph.told(engine.db, scopes, ids) if one.claim.confidence >= LEAST]


def _keys(text: str, language: str) -> list[str]:
    """Return the keys of all runs of one to three words.

    >>> _keys("blue whales", "english")
    ['blue', 'whale', 'bluewhale']
    """
    words = tokenize(text, language)
    runs = ("".join(words[at : at + size]) for size in range(1, _NAMED + 1) for at in range(len(words) - size + 1))
    return list(dict.fromkeys(runs))
