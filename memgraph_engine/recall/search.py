"""Answer a question with notes: one round trip to the graph, then fusion."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memgraph_engine.graph import notes as note_graph
from memgraph_engine.graph.database import Database
from memgraph_engine.graph.fulltext import words_query
from memgraph_engine.graph.rows import note_from, packed
from memgraph_engine.model.result import ChannelScore, Explanation, Hit, Round
from memgraph_engine.model.scope import Scope
from memgraph_engine.recall.fusion import CHANNELS, Fused, Statistics, channel_scores, fuse
from memgraph_engine.recall.plan import Reading, read
from memgraph_engine.recall.question import Filters, names, terms
from memgraph_engine.settings import RecallSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_GROWTH = 4
_LARGEST_POOL = 20_000


@dataclass(frozen=True, slots=True)
class Query:
    """A question as the graph is asked it.

    `moment` is its present, in the zone whose days it means. `reading` is what a model read in it, None to read it
    without one. In a later round `asked` is the vector of the first.
    """

    text: str
    vector: "NDArray[np.float32]"
    scopes: Sequence[Scope]
    filters: Filters
    top_k: int
    moment: datetime
    min_similarity: float | None = None
    explain: bool = False
    reading: Reading | None = None
    asked: "NDArray[np.float32] | None" = None

    def read(self, languages: Sequence[str]) -> Reading:
        """Return how it is read in the languages of the scopes."""
        return self.reading or read(self.text, languages, self.moment)


@dataclass(frozen=True, slots=True)
class Found:
    """What one round trip found: rows of the recall statement, their fused scores, and how the question was read."""

    rows: Sequence[dict[str, Any]]
    fused: Fused | None
    languages: Sequence[str]
    reading: Reading

    @property
    def scores(self) -> dict[str, float]:
        """The fused score of each note, by id."""
        if self.fused is None:
            return {}
        return dict(zip((row["id"] for row in self.rows), self.fused.total.tolist(), strict=True))


def search(db: Database, query: Query, language: str, settings: RecallSettings) -> list[Hit]:
    """Return the best notes for a question, best first, at most `top_k`, in one round."""
    found = retrieve(db, query, [language], settings)
    return hits(query, [found], found.scores)


def retrieve(db: Database, query: Query, languages: Sequence[str], settings: RecallSettings) -> Found:
    """Fetch the pool for a question and score it.

    `languages` are what the scopes' are expected to be; where they are others, the question is asked again.
    What no index can look into is applied afterwards, to a pool that grows until enough are left.
    """
    factor, reading = max(1, -(-query.top_k // settings.pool)), query.read(languages)
    while True:
        answer = ask(db, replace(query, reading=reading), languages, settings, factor)
        recorded = sorted({scope["language"] for scope in answer["sums"]})
        if recorded and recorded != sorted(languages):
            languages, reading = recorded, query.read(recorded)
            continue
        admitted = query.filters.admitted(answer["pool"])
        if len(admitted) >= query.top_k or _exhausted(query, answer, settings, factor):
            break
        factor *= _GROWTH
    if not admitted:
        return Found([], None, languages, reading)
    words, times = terms(query.text, languages), reading.plan.times
    scores = channel_scores(admitted, words, statistics(answer["sums"]), times)
    return Found(admitted, fuse(admitted, scores, settings), languages, reading)


def _exhausted(query: Query, answer: Mapping[str, Any], settings: RecallSettings, factor: int) -> bool:
    """Tell whether a wider pool would hold no other note that the filters admit.

    Where ranges narrow, the vector indexes look into these; but a pending note is found by its words alone, and of
    those full text proposes only so many before they are narrowed.
    """
    if factor * settings.pool >= _LARGEST_POOL:
        return True
    waiting = any(scope["waiting"] for scope in answer["sums"])
    if waiting and _lexical_pool(query, settings, factor) < sum(scope["notes"] for scope in answer["sums"]):
        return False
    return not query.filters.beyond_index or len(answer["pool"]) < settings.pool * factor


def _lexical_pool(query: Query, settings: RecallSettings, factor: int) -> int:
    # what full text proposes is filtered afterwards, so a narrow question asks it for more
    return settings.lexical_pool * factor * (_GROWTH if query.filters.any else 1)


def hits(query: Query, found: Sequence[Found], scores: Mapping[str, float], rounds: Sequence[Round] = ()) -> list[Hit]:
    """Return the best by their scores, each as the first round that found it did, at most `top_k`."""
    first = first_found(found)
    least = -2.0 if query.min_similarity is None else query.min_similarity
    best: list[Hit] = []
    for note in ranked(scores):
        one, i = first[note]
        row = one.rows[i]
        similarity = max(row["asked_cosines"] or (row["raw_cosine"], row["context_cosine"]))
        if similarity < least:
            continue
        explanation = _explanation(one, i, rounds) if query.explain else None
        best.append(Hit(note_from(row), scores[note], similarity, explanation))
        if len(best) == query.top_k:
            break
    return best


def first_found(found: Sequence[Found]) -> dict[str, tuple[Found, int]]:
    """Return for each note, by id, the first round that found it, and its row there."""
    return {row["id"]: (one, i) for one in reversed(found) for i, row in enumerate(one.rows)}


def ranked(scores: Mapping[str, float]) -> list[str]:
    """Return the ids of notes, the best first."""
    return sorted(scores, key=lambda note: (-scores[note], note))


def ask(
    db: Database, query: Query, languages: Sequence[str], settings: RecallSettings, factor: int = 1
) -> dict[str, Any]:
    """Fetch the pool for a question: the one round trip. `factor` widens it."""
    return note_graph.recall(db, **parameters(query, languages, settings, factor))


def parameters(query: Query, languages: Sequence[str], settings: RecallSettings, factor: int = 1) -> dict[str, Any]:
    """Return what the recall statement takes."""
    words, pool, narrow = terms(query.text, languages), settings.pool * factor, query.filters.narrow
    reading = query.read(languages)
    return {
        "scopes": [scope.name for scope in query.scopes],
        "vector": packed(query.vector),
        "asked": packed(query.asked),
        "words": words_query(words, query.scopes, query.filters.indexed_statuses),
        "pool": 0 if narrow else pool,
        "narrowed_pool": pool if narrow else 0,
        "lexical_pool": _lexical_pool(query, settings, factor),
        **_pathways(query, reading, languages, settings),
        **query.filters.parameters(),
    }


def _pathways(query: Query, reading: Reading, languages: Sequence[str], settings: RecallSettings) -> dict[str, Any]:
    """Return where the pathways begin; keywords and topics are those of now, so a look back has none."""
    now = not (query.filters.as_of or query.filters.known_at)
    keywords = settings.keyword_anchors if now and settings.keywords else 0
    named = [packed(vector) for vector in reading.keywords]
    return {
        "names": names((query.text, *reading.plan.keywords), languages) if keywords else [],
        "named": named or None,
        "keywords": -(-keywords // max(len(named), 1)),
        "topic": packed(reading.topic),
        "topics": settings.topic_anchors if now and settings.topics else 0,
        "anchored": settings.anchored,
        "related": settings.related_from if now and settings.related else 0,
        "times": [list(time) for time in reading.plan.times] if settings.time else [],
    }


def statistics(sums: Sequence[dict[str, Any]]) -> Statistics:
    """Add up what the scopes read keep as sums."""
    notes = sum(scope["notes"] for scope in sums)
    each = max(notes, 1)
    return Statistics(
        notes,
        sum(scope["raw_length"] for scope in sums) / each,
        sum(scope["context_length"] for scope in sums) / each,
    )


def _explanation(found: Found, i: int, rounds: Sequence[Round]) -> Explanation:
    row, fused = found.rows[i], found.fused
    assert fused is not None  # there is a row
    scores = {
        channel: ChannelScore(float(fused.raw[i, c]), float(fused.normalised[i, c]), float(fused.weighted[i, c]))
        for c, channel in enumerate(CHANNELS)
    }
    return Explanation(
        tuple(sorted(row["channels"])), scores, float(fused.neighbours[i]), float(fused.session[i]), tuple(rounds)
    )
