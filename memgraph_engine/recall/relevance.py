"""How likely a note answers a question at all: told by its cosine and by the question's words in it, and calibrated.

Scores rank the notes of one question, and the best has a high one even where a memory holds nothing on it.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import exp
from typing import Any

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.graph.note_cache import CachedNote
from memgraph_engine.language.terms import tokenize
from memgraph_engine.model.scope import Scope
from memgraph_engine.resources import resource

_log = logging.getLogger("memgraph_engine")

FILE = ("config", "calibration", "relevance.json")
_BIAS, _SLOPE, _COVERAGE = -5.0, 1.05, 8.5  # of cosines as far from their mean as they spread
_LEAST_SPREAD = 0.01


@dataclass(frozen=True, slots=True)
class Weights:
    """A logistic regression for the cosines of one embedder, whose scale is its own.

    >>> round(Weights(-5.0, 8.0, 5.0).relevance(0.5, 0.2), 3)
    0.5
    """

    bias: float
    similarity: float
    coverage: float

    def relevance(self, similarity: float, coverage: float) -> float:
        """Return the relevance (0 to 1) of a note with this cosine, that holds this share of the question's words."""
        return 1 / (1 + exp(-(self.bias + self.similarity * similarity + self.coverage * coverage)))

    def relevances(
        self, similarities: "NDArray[np.float64]", coverages: "NDArray[np.float64]"
    ) -> "NDArray[np.float64]":
        """Return those of many notes; shape as given."""
        odds = self.bias + self.similarity * similarities + self.coverage * coverages
        likely: NDArray[np.float64] = 1 / (1 + np.exp(-odds))
        return likely


@cache
def weights(embedder: str, fitted: str = "") -> Weights | None:
    """Return the weights for an embedder, by the name that it reports; None for one that was never fitted.

    Those that are `fitted` for this database (`CheckedEmbedder.fitted`), else the shipped ones.
    `sentence-transformers/NAME` and the like have those of `NAME`.
    """
    if fitted:
        return Weights(**json.loads(fitted)["relevance"])
    given: dict[str, Any] = json.loads(resource(*FILE).read_text(encoding="utf-8"))
    known = given.get(embedder) or given.get(embedder.rpartition("/")[2])
    return Weights(**known) if known else None


@cache
def tell_unfitted(embedder: str) -> None:
    """Warn, once, that relevance is not known."""
    _log.warning(
        "The embedder %s was never calibrated: hits have no relevance, and contexts don't know how sure they are. "
        "Run `memgraph-engine calibrate`, and connect anew.",
        embedder,
    )


def supposed(similarities: "NDArray[np.float64]") -> Weights:
    """Return weights for an embedder that was never fitted: by how its cosines to a question's pool lie.

    They are as those of the fitted embedders lie in the pools of their questions.
    """
    mean, spread = float(similarities.mean()), max(float(similarities.std()), _LEAST_SPREAD)
    return Weights(_BIAS - _SLOPE * mean / spread, _SLOPE / spread, _COVERAGE)


def covered(
    words: Sequence[str],
    counts: "NDArray[np.float64]",
    asked: Sequence[Sequence[int]],
    pool: Sequence[CachedNote],
    notes: int,
    user: Scope,
    languages: Sequence[str],
) -> "NDArray[np.float64]":
    """Return which share of a question's words (0 to 1) each note of a pool holds, in its own words and in its context.

    `counts` of all words has the shape (pool, words, 2), and `asked` tells which of them each question has. The shares
    have the shape (questions, pool, 2).

    A word weighs as much as its idf over the notes of the pool, of as many `notes` as the scopes have: what none holds
    weighs most. One that names the user whose memory is asked is held by all that was said there but by an assistant:
    "I moved to Faro" is about Ana in hers. It weighs as much as the other words do on average.
    """
    shares = np.zeros((len(asked), len(counts), 2))
    if not words:
        return shares
    names = {term for language in languages for term in tokenize(user.user or "", language)}
    naming = np.array([word in names for word in words], dtype=bool)
    held = counts > 0
    df = held.sum(axis=0)
    rarity = np.log(1 + (np.maximum(notes, df) - df + 0.5) / (df + 0.5))
    if naming.any():
        home = user.name
        own = np.array([note.scope == home and note.role != "assistant" for note in pool], dtype=bool)
        held |= np.outer(own, naming)[:, :, None]
    for share, some in zip(shares, asked, strict=True):
        if some:
            weights, names_user = rarity[some], naming[some]
            weights[names_user] = weights[~names_user].mean(axis=0) if not names_user.all() else 1.0
            share[:] = (held[:, some] * weights).sum(axis=1) / weights.sum(axis=0)
    return shares
