"""The notes that new ones may repeat or complete: the stored ones for a whole batch at once, and those within it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any

from memgraph_engine.graph.database import Row, Runner
from memgraph_engine.graph.fulltext import words_query
from memgraph_engine.graph.rows import dated, moment, packed, placed
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.memory import DEFAULT_POLICY, NEVER, Source, by_time
from memgraph_engine.model.scope import Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PROPOSED = 4  # notes that full text proposes for each that is taken
_ALONE = 1 << 18  # multiplications that BLAS does without waking a second thread, which may wait for a core
_GROWTH, _MOST = 4, 10_000  # of what the vector index is asked for where what is kept apart takes places


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A stored note, as the gate compares it.

    `sources` are ordered by time and hold what was said, by whom and when, no more. `rewritten` are the lines of a note
    that a user gave a text of its own, or of a `summary`, else empty. `ended` is the note that tells a change of it
    last, or replaced it: then it is `gone`, and when that was said. `policy` is its class, `expires_at` when it ends.
    """

    id: str
    context: str
    said_at: datetime
    keywords: tuple[str, ...]
    sources: tuple[Source, ...]
    rewritten: tuple[str, ...]
    ended: tuple[str, datetime] | None
    policy: str = DEFAULT_POLICY
    expires_at: datetime = NEVER
    summary: bool = False
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The notes near a batch, and for each candidate the cosine of what was said to those near it (-1…1).

    What one of them has replaced is near to what that is near to, with a cosine of 0.
    """

    notes: Mapping[str, Neighbour]
    near: Sequence[Mapping[str, float]]


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
        near_it |= {id: 0.0 for id, one in notes.items() if one.gone and one.ended and one.ended[0] in near_it}  # noqa: A001
    return Neighbourhood(notes, found)


def within(candidates: Sequence[Candidate], reach: Sequence[int], *, near: int) -> list[list[tuple[int, float]]]:
    """Return for each the nearest candidates before it, which no index holds yet, with the cosine of each.

    Beside the nearest those of the `reach` messages right before it. What makes no note has no vector, and is near to
    nothing; nor is what is kept apart.
    """
    import numpy as np

    found: list[list[tuple[int, float]]] = [[] for _ in candidates]
    notes = [place for place, one in enumerate(candidates) if one.raw_vector is not None and not one.source.apart]
    if len(notes) < 2:
        return found
    raw = _cosines([candidates[place].raw_vector for place in notes])
    turns: dict[tuple[str, int], list[int]] = {}
    for row, place in enumerate(notes):
        source = candidates[place].source
        nearest = np.argsort(-raw[row, :row], kind="stable")[:near].tolist()
        before = (turns.get((source.session, seq), ()) for seq in turns_before(source, reach[place]))
        wanted = dict.fromkeys((*nearest, *chain.from_iterable(before)))
        found[place] = [(notes[i], float(raw[row, i])) for i in wanted]
        turns.setdefault((source.session, source.seq), []).append(row)
    return found


def _cosines(vectors: "Sequence[NDArray[np.float32] | None]") -> "NDArray[np.float32]":
    import numpy as np

    stacked = np.stack([vector for vector in vectors if vector is not None])
    rows = max(_ALONE // stacked.size, 1)
    return np.concatenate([stacked[at : at + rows] @ stacked.T for at in range(0, len(stacked), rows)])


def _nearest(pairs: Iterable[Row], most: int) -> Iterator[Row]:
    """Yield for each place what the vector index proposes first, at most so many, and what else is proposed."""
    by_vector: Counter[int] = Counter()
    for pair in sorted(pairs, key=lambda one: -(one["raw_cosine"] or 0.0)):
        by_vector[pair["place"]] += pair["near"]
        if not pair["near"] or by_vector[pair["place"]] <= most:
            yield pair


def turns_before(source: Source, reach: int) -> list[int]:
    """Return the turns of a session right before a message."""
    return list(range(max(source.seq - reach, 0), source.seq)) if source.session else []


def _neighbour(row: Mapping[str, Any]) -> Neighbour:
    sources = tuple(sorted(map(_source, row["sources"]), key=by_time))
    ended = (row["ended"][0], moment(row["ended"][1])) if row["ended"] else None
    said_at, keywords, rewritten = moment(row["said_at"]), tuple(row["keywords"]), tuple(row["raw"] or ())
    life = row["policy"], moment(row["expires_at"])
    return Neighbour(
        row["id"], row["context"], said_at, keywords, sources, rewritten, ended, *life, row["summary"], row["gone"]
    )


def _source(row: Mapping[str, Any]) -> Source:
    given = {name: value for name, value in dated(row, "said_at").items() if name not in ("cuts", "part")}
    return placed(Source(**{**given, "hash": ""}), row)
