"""Rank notes by a linear model of what is known of each: how it matches by itself, who said it, what stands around it.

Every feature means the same in a memory of ten notes and of ten thousand: none is a share of what the pool has. The
weights were fitted on questions with known answers (docs/benchmarks.md), some for one user's memory, others for talks
of several people, which hang together; what one tells or asks an assistant stands for itself.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.errors import SettingsError
from memgraph_engine.graph.note_cache import CachedNote
from memgraph_engine.language.questions import asks_amount, only_asks
from memgraph_engine.language.tense import told_before
from memgraph_engine.language.terms import tokenize
from memgraph_engine.recall.fusion import BY_RANKS, CHANNELS, STEPS, Places
from memgraph_engine.recall.relevance import Weights
from memgraph_engine.resources import resource
from memgraph_engine.settings import RecallSettings

LEARNED, BY_WEIGHTS, BY_COSINE = "learned", "weights", "cosine"
USER, PEOPLE = "user", "people"
"""Whose words a pool holds, besides an assistant's: one user's, or several people's. Each has weights of its own."""
FILE = ("config", "calibration", "ranking.json")
FEATURES = (
    # the cosines of its two texts, on the scale by which the embedder's tell relevance: a tenth of their log-odds
    "similarity",
    "similarity_context",
    # the share of the question's words in its own words, and in its context, the rarer the more
    "coverage",
    "coverage_context",
    "time",  # how near it is to a time that the question names
    "own_words",  # whether it is none of an assistant's, where an assistant spoke, and is not asked what it said
    "asks",  # whether all of it asks something, or asks it of an assistant ("plan me a day in Porto")
    # whether somebody but an assistant speaks of himself in it ("I only wear black."), less its own relevance: that
    # bears on much which shares no word with it
    "personal",
    "amount",  # whether it has a number, where the question asks how many
    "speaker",  # whether the question names who speaks
    "recency",  # how new it is: the newest 1, and each thirty days before a third of that
    "answers",  # how relevant the turn before is, if that asks
    "session",  # how relevant the best three of its session are, on average
    "told",  # how relevant an assistant's is, or the turn before if that asks, where all that is asked is what it said
)
"""What is known of a note; but for the first two, each from 0 to 1."""
_CHANNELS = {
    "similarity": "dense_raw",
    "similarity_context": "dense_context",
    "coverage": "lexical_raw",
    "coverage_context": "lexical_context",
    "time": "time",
    "own_words": "role",
    "answers": "neighbours",
    "session": "session",
}
"""The channel without which a feature is left out."""
_FADES = 30 * 86_400_000.0  # milliseconds in which recency loses two thirds
_LARGEST = 30  # weight, or bias: what they add up to is an exponent


@dataclass(frozen=True, slots=True)
class Ranking:
    """A weight for each of FEATURES; with `bias` they add up to the log-odds of a note to be what is asked for."""

    bias: float
    weights: Mapping[str, float]

    def parts(self, features: "NDArray[np.float64]") -> "NDArray[np.float64]":
        """Return what each feature adds; shape (…, FEATURES), as given."""
        each: NDArray[np.float64] = features * np.array([self.weights[name] for name in FEATURES])
        return each

    def scores(self, features: "NDArray[np.float64]") -> "NDArray[np.float64]":
        """Return how likely each note is what is asked for (0 to 1)."""
        likely: NDArray[np.float64] = 1 / (1 + np.exp(-(self.bias + self.parts(features).sum(axis=-1))))
        return likely


@cache
def rankings(name: str) -> Mapping[str, Ranking] | None:
    """Return the shipped rankings for "learned", None for "weights", "rrf" and "cosine", else those of a file.

    One is of USER, one of PEOPLE. Raises SettingsError for a file that can't be read, or that has not one number
    for each feature in both.

    >>> rankings("weights") is None, set(rankings("learned")["people"].weights) == set(FEATURES)
    (True, True)
    """
    if name in (BY_WEIGHTS, BY_RANKS, BY_COSINE):
        return None
    source = resource(*FILE) if name == LEARNED else Path(name)
    try:
        given = json.loads(source.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(
            f"recall.ranking is {name!r}, and no file of that name can be read ({error.strerror}); give the path of "
            f"one, {LEARNED!r}, {BY_WEIGHTS!r}, {BY_RANKS!r} or {BY_COSINE!r}."
        ) from error
    except (ValueError, RecursionError) as error:
        raise _unusable(name, f"it is no JSON: {error}") from None
    if not isinstance(given, dict) or set(given) != {USER, PEOPLE}:
        raise _unusable(name, f"it is no object of {USER} and {PEOPLE}")
    return {of: _read(name, of, one) for of, one in given.items()}


def _read(name: str, of: str, given: Any) -> Ranking:
    if not isinstance(given, dict) or set(given) != {"bias", "weights"} or not isinstance(given["weights"], dict):
        raise _unusable(name, f"{of} is no object of bias and weights")
    weights = given["weights"]
    if differing := sorted(set(weights) ^ set(FEATURES)):
        what = "lacks" if differing[0] in FEATURES else "has an unknown"
        raise _unusable(name, f"{of} {what} weight {differing[0]!r}")
    for feature, value in {"bias": given["bias"], **weights}.items():
        if not (type(value) in (int, float) and abs(value) <= _LARGEST):
            raise _unusable(name, f"{feature} of {of} is no number from -{_LARGEST} to {_LARGEST}: {value!r}")
    return Ranking(given["bias"], weights)


def whose(notes: Iterable[CachedNote]) -> str:
    """Return of whom notes are: PEOPLE where several are named as speakers, else USER."""
    named = {note.speaker for note in notes if note.speaker and note.role != "assistant"}
    return PEOPLE if len(named) > 1 else USER


def _unusable(name: str, why: str) -> SettingsError:
    return SettingsError(
        f"The ranking {name!r} can't be used: {why}. Write it anew (python -m bench locomo --fit), "
        f"or set recall.ranking to {LEARNED!r}."
    )


def features(
    notes: Sequence[CachedNote],
    places: Places,
    raw: "NDArray[np.float64]",
    coverage: "NDArray[np.float64]",
    questions: Sequence[str],
    words: Sequence[Sequence[str]],
    languages: Sequence[str],
    scale: Weights,
    settings: RecallSettings,
) -> "NDArray[np.float64]":
    """Return what is known of the notes of a pool; shape (questions, notes, FEATURES).

    `raw` are the scores of the channels, `coverage` has the shape (questions, notes, 2), and `words` are the terms of
    each question. `scale` tells how relevant a cosine is. What is no channel of the settings counts nothing.
    """
    near = raw[:, :, [CHANNELS.index("dense_raw"), CHANNELS.index("dense_context")]]
    if places.pending.any():  # as near as the others are at least: what waits for its vectors is known by its words
        near[:, places.pending] = 0.0 if places.pending.all() else near[:, ~places.pending].min(axis=1, keepdims=True)
    relevant = scale.relevances(near[:, :, 0], coverage[:, :, 0])
    asking = np.array([note.asks for note in notes], dtype=float)
    numbers = np.array([note.counts for note in notes], dtype=float)
    amounts = [any(asks_amount(question, language) for language in languages) for question in questions]
    said = np.array([note.said_at for note in notes], dtype=float)
    answers = places.away(relevant * asking)[STEPS.index(-1)]
    heard = np.array([any(told_before(one, by) and only_asks(one, by) for by in languages) for one in questions])
    assistants = [note.role == "assistant" for note in notes]
    each: dict[str, NDArray[np.float64] | float] = {
        "similarity": (scale.bias + scale.similarity * near[:, :, 0]) / 10,
        "similarity_context": (scale.bias + scale.similarity * near[:, :, 1]) / 10,
        "coverage": coverage[:, :, 0],
        "coverage_context": coverage[:, :, 1],
        "time": raw[:, :, CHANNELS.index("time")],
        "own_words": raw[:, :, CHANNELS.index("role")] * ~heard[:, None],
        "asks": np.array([note.only_asks for note in notes], dtype=float),
        "personal": np.array([note.personal for note in notes], dtype=float) * (1 - relevant),
        "amount": np.outer(amounts, numbers),
        "speaker": _named([note.speaker for note in notes], words, languages),
        "recency": np.exp((said - said.max()) / _FADES),
        "answers": answers,
        "session": places.best(relevant),
        "told": np.outer(heard, assistants) * np.maximum(relevant, answers),
    }
    known = np.zeros((*relevant.shape, len(FEATURES)))
    for column, name in enumerate(FEATURES):
        if name not in _CHANNELS or settings.has(_CHANNELS[name]):
            known[:, :, column] = each[name]
    return known


def _named(speakers: Sequence[str], words: Sequence[Sequence[str]], languages: Sequence[str]) -> "NDArray[np.float64]":
    """Return 1 for the notes whose speaker's name a question has a part of, else 0; shape (questions, notes)."""
    parts = {
        speaker: {term for language in languages for term in tokenize(speaker, language)} for speaker in set(speakers)
    }
    named = [{speaker for speaker, some in parts.items() if not some.isdisjoint(asked)} for asked in words]
    return np.array([[speaker in some for speaker in speakers] for some in named], dtype=float)
