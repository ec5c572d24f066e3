"""Score a pool of notes for questions: BM25 by the scope's own statistics, cosines, and their fusion.

All arrays have an axis of questions first: a model may make several of one, and each is scored against the same pool.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.graph.note_cache import CachedNote, term_number
from memgraph_engine.recall.pool import PATHWAYS, Pool
from memgraph_engine.resources import resource
from memgraph_engine.settings import RecallSettings

_K1, _B = 1.2, 0.75
BY_RANKS = "rrf"
_RRF = 60  # reciprocal ranks are 1 / (60 + rank)
_DAY = 86_400_000.0  # milliseconds
_BEST = 3  # of a session
OPTIONAL = (*PATHWAYS, "time", "role")
"""Channels that a question may not have: no topics yet, nothing tied, no time named, no assistant that spoke."""
CHANNELS = ("lexical_raw", "lexical_context", "dense_raw", "dense_context", *OPTIONAL)
_ALWAYS = tuple(channel not in OPTIONAL for channel in CHANNELS)
STEPS = (-2, -1, 1, 2)
"""Turns away, of what stands around a note."""
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


@dataclass(frozen=True, slots=True)
class Places:
    """Where the notes of a pool stand: in which session, at which of its turns, and which of them wait for vectors.

    `rows` stand in a session at all: `session` and `turn` number those of each. `near` has for each of them and of
    STEPS the number of the turn so many turns on, one behind the last where the pool has none.
    """

    pending: "NDArray[np.bool_]"
    rows: "NDArray[np.int64]"
    session: "NDArray[np.int64]"
    turn: "NDArray[np.int64]"
    near: "NDArray[np.int64]"

    @classmethod
    def of(cls, notes: Sequence[CachedNote]) -> "Places":
        """Return those of notes."""
        known: dict[tuple[str, str], int] = {}
        numbers = [known.setdefault((note.scope, note.session), len(known)) if note.session else -1 for note in notes]
        place = np.array(numbers, dtype=np.int64)
        rows = np.flatnonzero(place >= 0)
        session, seq = place[rows], np.array([note.seq for note in notes], dtype=np.int64)[rows]
        gap = max(STEPS)
        width = seq.max(initial=0) + 2 * gap + 1  # sessions lie apart by more than the longest step
        at = session * width + seq + gap
        had, turn = np.unique(at, return_inverse=True)
        wanted = at + np.array(STEPS)[:, None]
        near = np.searchsorted(had, wanted)
        has = np.append(had, -1)[near] == wanted
        pending = np.array([note.vectors is None for note in notes], dtype=np.bool_)
        return cls(pending, rows, session, turn, np.where(has, near, len(had)))

    def away(self, values: "NDArray[np.float64]") -> "NDArray[np.float64]":
        """Return for each of STEPS the values of the turns so many turns on, if the pool has them, else 0.

        Of two notes at one turn it is the larger value. What stands in no session has no turns around it.
        Shapes (questions, notes) and (STEPS, questions, notes).
        """
        found = np.zeros((len(STEPS), *values.shape))
        best = np.zeros((self.turn.max(initial=-1) + 2, len(values)))
        np.maximum.at(best, self.turn, values[:, self.rows].T)
        found[:, :, self.rows] = best[self.near].swapaxes(1, 2)
        return found

    def best(self, scores: "NDArray[np.float64]") -> "NDArray[np.float64]":
        """Return for each note the mean of the best three of its session; 0 for a note of none. Shape as given."""
        found = np.zeros_like(scores)
        if len(self.rows):
            own, sizes = scores[:, self.rows], np.bincount(self.session)
            starts = np.cumsum(sizes) - sizes
            order = np.lexsort((-own, np.broadcast_to(self.session, own.shape)))
            rank = np.arange(len(self.rows)) - np.repeat(starts, sizes)
            some = np.where(rank < _BEST, np.take_along_axis(own, order, axis=1), 0.0)
            found[:, self.rows] = (np.add.reduceat(some, starts, axis=1) / np.minimum(sizes, _BEST))[:, self.session]
        return found


def bm25(
    counts: "NDArray[np.float64]", lengths: "NDArray[np.float64]", notes: int, mean_length: float
) -> "NDArray[np.float64]":
    """Score texts by how often each holds each of some words, shape (texts, words), and by their lengths in terms.

    The scores have that shape too: a text's score for a question is the sum over the question's words.
    Document frequencies are counted over the texts: the pool, which holds the best of full text's hits or all of them.
    """
    df = (counts > 0).sum(axis=0)
    idf = np.log(1 + (np.maximum(notes, df) - df + 0.5) / (df + 0.5))
    norm = _K1 * (1 - _B + _B * lengths.reshape(-1, 1) / max(mean_length, 1.0))
    scores: NDArray[np.float64] = idf * counts * (_K1 + 1) / (counts + norm)
    return scores


def counted(notes: Sequence[CachedNote], words: Sequence[str]) -> "NDArray[np.float64]":
    """Count a question's words in both texts of notes, raw and context; shape (notes, words, 2)."""
    counts = np.zeros((len(notes) * 2, len(words)))
    if notes:
        every = np.concatenate([note.terms for note in notes])
        ends = np.cumsum([note.lengths for note in notes])
        for column, word in enumerate(words):
            held = np.flatnonzero(every == term_number(word))
            counts[:, column] = np.bincount(np.searchsorted(ends, held, side="right"), minlength=len(ends))
    return counts.reshape(len(notes), 2, len(words)).transpose(0, 2, 1)


def channel_scores(
    pool: Pool,
    near: "NDArray[np.float64]",
    counts: "NDArray[np.float64]",
    asked: Sequence[Sequence[int]],
    of: Statistics,
    times: Sequence[tuple[datetime, datetime]] = (),
) -> "NDArray[np.float64]":
    """Score a pool in each of CHANNELS; shape (questions, notes, channels).

    `near` are the cosines of the notes' vectors to the questions', shape (questions, notes, 2). `counts` are those of
    words in every note of the pool, whoever proposed it, and `asked` which of these words each question has.
    `times` are the ranges that the first question names, each its first moment and the first one after.
    """
    scores = np.zeros((len(near), len(pool.notes), len(CHANNELS)))
    if counts.size:
        lengths = np.array([note.lengths for note in pool.notes], dtype=np.float64)
        for column, mean in enumerate((of.raw_length, of.context_length)):
            each = bm25(counts[:, :, column], lengths[:, column], of.notes, mean)
            for question, words in enumerate(asked):
                scores[question, :, column] = each[:, words].sum(axis=1)
    scores[:, :, 2:4] = near
    for column, pathway in enumerate(PATHWAYS, 4):
        given = pool.pathways[pathway]
        scores[:, list(given), column] = list(given.values())
    if times:
        scores[:, :, CHANNELS.index("time")] = _timeliness(pool.notes, times)
    own = np.array([note.role != "assistant" for note in pool.notes], dtype=float)
    scores[:, :, CHANNELS.index("role")] = 0.0 if own.all() else own  # where no assistant spoke, nothing stands out
    return scores


def cosines(notes: Sequence[CachedNote], *questions: "NDArray[np.float32]") -> "NDArray[np.float64]":
    """Return the cosines of both vectors of notes to those of questions; 0 for a note that waits.

    Shape (questions, notes, 2).
    """
    found = np.zeros((len(questions), len(notes), 2))
    vectors = [note.vectors for note in notes if note.vectors is not None]
    if vectors:
        rows = np.array([note.vectors is not None for note in notes], dtype=np.bool_)
        every = np.concatenate(vectors).reshape(len(vectors), 2, -1)  # which is quicker than np.stack
        for near, vector in zip(found, questions, strict=True):
            near[rows] = every @ (vector / np.linalg.norm(vector))
    return found


def _timeliness(notes: Sequence[CachedNote], times: Sequence[tuple[datetime, datetime]]) -> "NDArray[np.float64]":
    """Return for each note 1 if what it tells, or its telling, lies in one of the ranges, less the further it is away.

    From what it tells to its telling is one stretch: what happened in May and was told in June is of both.
    """
    told = np.array([note.said_at for note in notes], dtype=float)
    begun = np.array([note.valid_from for note in notes], dtype=float)
    away = [np.maximum(np.maximum(_millis(start) - told, begun - _millis(end) + 1), 0.0) for start, end in times]
    timely = np.exp(-np.min(away, axis=0) / (_FADES * _DAY))
    return np.where(timely < _NEAR, 0.0, timely)


def _millis(moment: datetime) -> float:
    return moment.timestamp() * 1000


@cache
def shipped_weights() -> Mapping[str, float]:
    """Return what each channel, and what stands around a note, counts in a convex combination."""
    given: dict[str, float] = json.loads(resource("config", "calibration", "fusion.json").read_text(encoding="utf-8"))
    return given


def fuse(
    places: Places,
    raw: "NDArray[np.float64]",
    settings: RecallSettings,
    *,
    by: Mapping[str, float] | None = None,
    summed: bool = True,
) -> Fused:
    """Fuse the channels' scores of a pool, then look around each note.

    Convex combination of min-max scores, then a share of the best turn one and two steps away, and of the
    mean of the session's best three, all inside the pool; or reciprocal rank fusion alone (MemFly, section 3.4.1).
    The total lies between 0 and 1; channels count `by` the shipped weights, unless others are given. Nothing is
    `summed` up where something else ranks.
    """
    if not (summed and raw.shape[1]):
        nothing = np.zeros(raw.shape[:2])
        return Fused(raw, raw, raw, nothing, nothing, nothing)
    by = by or shipped_weights()
    weights = np.array([by[channel] * settings.has(channel) for channel in CHANNELS])
    # what a question does not have takes nothing from the others
    weights = np.where(raw.any(axis=1, keepdims=True) | np.array(_ALWAYS), weights, 0.0)
    if settings.ranking == BY_RANKS:
        normalised = reciprocal_ranks(raw, _RRF)
        weighted = normalised * (weights > 0) / np.maximum((weights > 0).sum(axis=2, keepdims=True), 1)
        nothing = np.zeros(raw.shape[:2])
        return Fused(raw, normalised, weighted, nothing, nothing, weighted.sum(axis=2))
    one, two = (by[name] * settings.has("neighbours") for name in ("neighbour_1", "neighbour_2"))
    whole = by["session"] * settings.has("session")
    around = (1 + one + two) * (1 + whole)
    most = weights.sum(axis=2, keepdims=True) * around
    normalised = _normalised(raw, places.pending)
    weighted = normalised * weights / np.maximum(most, 1e-9)
    base = weighted.sum(axis=2)
    earlier, before, after, later = places.away(base)
    neighbours = one * np.maximum(before, after) + two * np.maximum(earlier, later)
    session = places.best(base + neighbours) * whole
    return Fused(raw, normalised, weighted, neighbours, session, base + neighbours + session)


def _normalised(raw: "NDArray[np.float64]", pending: "NDArray[np.bool_]") -> "NDArray[np.float64]":
    """Put each channel between 0 and 1; a note that waits for its vectors has 0 there, and stretches no scale.

    The time's is there already: a note near the range is no better because none is in it.
    """
    normalised = min_max(raw)
    if pending.any():
        rest = slice(2, CHANNELS.index("time"))  # all but words
        normalised[:, :, rest] = 0.0
        if not pending.all():
            normalised[:, ~pending, rest] = min_max(raw[:, ~pending, rest])
    time = CHANNELS.index("time")
    normalised[:, :, time] = raw[:, :, time]
    return normalised


def min_max(scores: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Put the scores of notes between 0 and 1, of each question, and of each column if there are some."""
    low, high = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    spread = np.where(high > low, high - low, 1.0)
    # where all score the same, all are the best: a single hit is no bad hit
    scaled: NDArray[np.float64] = np.where(high > low, (scores - low) / spread, scores != 0)
    return scaled


def reciprocal_ranks(scores: "NDArray[np.float64]", k: int) -> "NDArray[np.float64]":
    """Turn scores, as for `min_max`, into 1 / (k + rank) times k + 1: the best has 1, and what scores 0 has no rank.

    What scores the same has the same rank.
    """
    ranks = np.empty(scores.shape)
    for column in np.ndindex(scores.shape[0], *scores.shape[2:]):
        own = -scores[column[0], :, *column[1:]]
        ranks[column[0], :, *column[1:]] = np.searchsorted(np.sort(own), own) + 1
    reciprocal: NDArray[np.float64] = np.where(scores != 0, (k + 1) / (k + ranks), 0.0)
    return reciprocal
