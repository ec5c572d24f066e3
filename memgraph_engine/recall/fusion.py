"""Score a pool of notes for a question: BM25 by the scope's own statistics, cosines, and their fusion."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memgraph_engine.settings import RecallSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_K1, _B = 1.2, 0.75
_DAY = 86_400_000.0  # milliseconds
PATHWAYS = ("keywords", "topics", "related")
OPTIONAL = (*PATHWAYS, "time")
"""Channels that a question may not have: no topics yet, nothing tied, no time named."""
CHANNELS = ("lexical_raw", "lexical_context", "dense_raw", "dense_context", *OPTIONAL)
_FADES = 10.0  # days in which a note that was told beside the time asked about loses two thirds
_NEAR = 0.05  # what is further away is of another time


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of the scopes read: notes, and the mean length of their two texts in terms."""

    notes: int
    raw_length: float
    context_length: float


@dataclass(frozen=True, slots=True)
class Fused:
    """Scores of a pool, row by row. `raw`, `normalised` and `weighted` have a column for each of CHANNELS.

    `weighted` of all channels, `neighbours` and `session` add up to `total`.
    """

    raw: "NDArray[np.float64]"
    normalised: "NDArray[np.float64]"
    weighted: "NDArray[np.float64]"
    neighbours: "NDArray[np.float64]"
    session: "NDArray[np.float64]"
    total: "NDArray[np.float64]"


def bm25(
    texts: Sequence[str], hits: Sequence[bool], words: Sequence[str], notes: int, mean_length: float
) -> "NDArray[np.float64]":
    """Score texts (space-joined terms) for words; a text that is no hit of the index scores 0.

    Document frequencies are counted over the hits, which hold all or the best of the scope's matches.
    """
    import numpy as np

    rows = [row for row, hit in enumerate(hits) if hit]
    tokens = [texts[row].split() for row in rows]
    place, wanted = {word: at for at, word in enumerate(words)}, frozenset(words)
    tf = np.zeros((len(rows), len(words)))
    for at, some in enumerate(tokens):
        for word in wanted.intersection(some):
            tf[at, place[word]] = some.count(word)
    lengths = np.array([len(some) for some in tokens]).reshape(-1, 1)
    df = (tf > 0).sum(axis=0)
    idf = np.log(1 + (np.maximum(notes, df) - df + 0.5) / (df + 0.5))
    norm = _K1 * (1 - _B + _B * lengths / max(mean_length, 1.0))
    scores = np.zeros(len(texts))
    scores[rows] = (idf * tf * (_K1 + 1) / (tf + norm)).sum(axis=1)
    return scores


def channel_scores(
    pool: Sequence[dict[str, Any]],
    words: Sequence[str],
    of: Statistics,
    times: Sequence[tuple[datetime, datetime]] = (),
) -> "NDArray[np.float64]":
    """Score a pool (rows of the recall statement) in each of CHANNELS; shape (notes, channels).

    `times` are the ranges that the question names, each its first moment and the first after it.
    """
    import numpy as np

    hits = ["lexical" in row["channels"] for row in pool]
    return np.column_stack(
        [
            bm25([row["raw_terms"] for row in pool], hits, words, of.notes, of.raw_length),
            bm25([row["context_terms"] for row in pool], hits, words, of.notes, of.context_length),
            [row["raw_cosine"] for row in pool],
            [row["context_cosine"] for row in pool],
            *([row["pathways"][pathway] for row in pool] for pathway in PATHWAYS),
            _timeliness(pool, times),
        ]
    )


def _timeliness(pool: Sequence[dict[str, Any]], times: Sequence[tuple[datetime, datetime]]) -> "NDArray[np.float64]":
    """Return for each note 1 if what it tells, or its telling, lies in one of the ranges, less the further it is away.

    From what it tells to its telling is one stretch: what happened in May and was told in June is of both.
    """
    import numpy as np

    if not times:
        return np.zeros(len(pool))
    told = np.array([row["said_at"] for row in pool], dtype=float)
    begun = np.array([row["valid_from"] for row in pool], dtype=float)
    away = [np.maximum(np.maximum(_millis(start) - told, begun - _millis(end) + 1), 0.0) for start, end in times]
    timely = np.exp(-np.min(away, axis=0) / (_FADES * _DAY))
    return np.where(timely < _NEAR, 0.0, timely)


def _millis(moment: datetime) -> float:
    return moment.timestamp() * 1000


def fuse(pool: Sequence[dict[str, Any]], raw: "NDArray[np.float64]", settings: RecallSettings) -> Fused:
    """Fuse the channels' scores of a pool, then look around each note.

    Convex combination of min-max scores, then a share of the best turn one and two steps away, and of the
    mean of the session's best three, all inside the pool; or reciprocal rank fusion alone (MemFly, section 3.4.1).
    The total lies between 0 and 1.
    """
    import numpy as np

    weights = np.array([getattr(settings, channel) for channel in CHANNELS])
    # what a question does not have takes nothing from the others
    weights = np.where(raw.any(axis=0) | ~np.isin(CHANNELS, OPTIONAL), weights, 0.0)
    if settings.fusion == "rrf":
        normalised = _reciprocal_ranks(raw, settings.rrf_k)
        weighted = normalised * (weights > 0) / max((weights > 0).sum(), 1)
        nothing = np.zeros(len(pool))
        return Fused(raw, normalised, weighted, nothing, nothing, weighted.sum(axis=1))
    most = weights.sum() * (1 + settings.neighbour_1 + settings.neighbour_2) * (1 + settings.session)
    normalised = _normalised(raw, pool)
    weighted = normalised * weights / max(most, 1e-9)
    base = weighted.sum(axis=1)
    neighbours = _neighbours(pool, base, settings)
    session = _sessions(pool, base + neighbours) * settings.session
    return Fused(raw, normalised, weighted, neighbours, session, base + neighbours + session)


def _normalised(raw: "NDArray[np.float64]", pool: Sequence[dict[str, Any]]) -> "NDArray[np.float64]":
    """Put each channel between 0 and 1; a note that waits for its vectors has 0 there, and stretches no scale.

    The time's is there already: a note near the range is no better because none is in it.
    """
    import numpy as np

    pending = np.array([row["status"] == "pending" for row in pool])
    lexical = np.array([channel.startswith("lexical") for channel in CHANNELS])
    time = np.array([channel == "time" for channel in CHANNELS])
    normalised = np.where(time, raw, 0.0)
    normalised[:, lexical] = _min_max(raw[:, lexical])
    if not pending.all():
        others = np.ix_(~pending, ~lexical & ~time)
        normalised[others] = _min_max(raw[others])
    return normalised


def _min_max(scores: "NDArray[np.float64]") -> "NDArray[np.float64]":
    import numpy as np

    low, high = scores.min(axis=0), scores.max(axis=0)
    spread = np.where(high > low, high - low, 1.0)
    # where all score the same, all are the best: a single hit is no bad hit
    scaled: NDArray[np.float64] = np.where(high > low, (scores - low) / spread, scores != 0)
    return scaled


def _reciprocal_ranks(scores: "NDArray[np.float64]", k: int) -> "NDArray[np.float64]":
    """Turn each column into 1 / (k + rank) times k + 1, so that the best has 1; what scores 0 has no rank."""
    import numpy as np

    ranks = np.argsort(np.argsort(-scores, axis=0, kind="stable"), axis=0, kind="stable") + 1
    reciprocal: NDArray[np.float64] = np.where(scores != 0, (k + 1) / (k + ranks), 0.0)
    return reciprocal


def _neighbours(
    pool: Sequence[dict[str, Any]], base: "NDArray[np.float64]", settings: RecallSettings
) -> "NDArray[np.float64]":
    import numpy as np

    of: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for row, score in zip(pool, base.tolist(), strict=True):
        of[row["scope"], row["session"]][row["seq"]] = score
    found = np.zeros(len(pool))
    for at, row in enumerate(pool):
        if row["session"]:
            score_at, turn = of[row["scope"], row["session"]].get, row["seq"]
            beside = max(score_at(turn - 1, 0.0), score_at(turn + 1, 0.0))
            next_but_one = max(score_at(turn - 2, 0.0), score_at(turn + 2, 0.0))
            found[at] = settings.neighbour_1 * beside + settings.neighbour_2 * next_but_one
    return found


def _sessions(pool: Sequence[dict[str, Any]], scores: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Return for each note the mean of the best three of its session."""
    import numpy as np

    of: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row, score in zip(pool, scores.tolist(), strict=True):
        of[row["scope"], row["session"]].append(score)
    best = {key: sum(top) / len(top) for key, some in of.items() for top in (sorted(some, reverse=True)[:3],)}
    return np.array([best[row["scope"], row["session"]] if row["session"] else 0.0 for row in pool])
