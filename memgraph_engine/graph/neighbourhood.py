"""The stored notes that new ones may repeat or complete, looked up for a whole batch at once."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from memgraph_engine.graph.database import Row, Runner
from memgraph_engine.graph.notes import words_query
from memgraph_engine.graph.rows import made, packed, source_from
from memgraph_engine.model.candidate import Candidate, Neighbour, Neighbourhood, turns_before
from memgraph_engine.model.memory import by_time
from memgraph_engine.model.scope import Scope

_PROPOSED = 4  # notes that full text proposes for each that is taken
_GROWTH, _MOST = 4, 10_000  # of what the vector index is asked for where what is kept apart takes places


def neighbourhood(
    tx: Runner,
    scope: Scope,
    candidates: Sequence[Candidate],
    words: Sequence[Sequence[str]],
    reach: Sequence[int],
    *,
    near: int,
    lexical: int,
) -> Neighbourhood:
    """Look up the neighbours of candidates, proposed by the vector of what was said and by `words` of each.

    Beside them the notes of the `reach` messages before each, in its session. What is kept apart, code and items are
    near to nothing, and take no other's place.
    """
    rows = [
        {
            "place": place,
            "raw_vector": packed(candidate.raw_vector),
            "terms": list(some),
            "words": words_query(some if lexical else (), [scope], ["active"], fields=["raw_scoped"]),
            "session": candidate.source.session,
            "turns": turns_before(candidate.source, far),
        }
        for place, (candidate, some, far) in enumerate(zip(candidates, words, reach, strict=True))
        if candidate.raw_vector is not None and not candidate.source.apart
    ]
    found: list[dict[str, float]] = [{} for _ in candidates]
    if not rows:
        return Neighbourhood({}, found)
    lexical = max(lexical, 1)
    given = {"scope": scope.name, "rows": rows, "lexical": lexical, "proposed": _PROPOSED * lexical}
    asked, crowded = near, True
    while crowded:
        answer = tx.run("notes/neighbourhood", **given, near=asked)[0]
        apart = {row["id"] for row in answer["notes"] if row["apart"] or row["alone"]}
        taken = Counter(pair["place"] for pair in answer["pairs"] if pair["id"] in apart)
        crowded = max(taken.values(), default=0) > asked - near and asked < _MOST
        asked *= _GROWTH
    pairs = [pair for pair in answer["pairs"] if pair["id"] not in apart]
    for pair in _nearest(pairs, near) if apart else pairs:
        if pair["raw_cosine"] is None:
            continue  # it lost its vector while this was read: the write is stale, and is made again without it
        found[pair["place"]][pair["id"]] = pair["raw_cosine"]
    notes = {row["id"]: _neighbour(row) for row in answer["notes"] if row["id"] not in apart}
    for near_it in found:
        near_it |= {id: 0.0 for id, one in notes.items() if one.gone and one.ended and one.ended[0] in near_it}
    return Neighbourhood(notes, found)


def _nearest(pairs: Iterable[Row], most: int) -> Iterator[Row]:
    """Yield for each place what the vector index proposes first, at most so many, and what else is proposed."""
    by_vector: Counter[int] = Counter()
    for pair in sorted(pairs, key=lambda one: -(one["raw_cosine"] or 0.0)):
        by_vector[pair["place"]] += pair["near"]
        if not pair["near"] or by_vector[pair["place"]] <= most:
            yield pair


def _neighbour(row: Mapping[str, Any]) -> Neighbour:
    sources = sorted(map(source_from, row["sources"]), key=by_time)
    return made(Neighbour, row, sources=tuple(sources), rewritten=tuple(row["raw"] or ()))
