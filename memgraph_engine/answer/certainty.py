"""How certain it is that what was found answers a question: a linear model, fitted on chats whose answers are known."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import log, log1p
from statistics import median

from memgraph_engine.language.terms import tokenize
from memgraph_engine.model.result import Hit
from memgraph_engine.resources import resource

FILE = ("config", "calibration", "certainty.json")
FEATURES = ("best", "above", "notes", "words")
"""What is known of a question and its hits.

- best: the log-odds of the best hit's relevance
- above: by how much they are above those of the hit in the middle: what nothing answers is like many hits alike
- notes: the logarithm of how many notes the memory holds
- words: the logarithm of how many words the question has
"""
_LEAST = 1e-4  # of a relevance, and as much below 1: the log-odds have an end


@dataclass(frozen=True, slots=True)
class Weights:
    """A weight for each of FEATURES; with `bias` they add up to the log-odds that the hits hold the answer.

    >>> Weights(-1.0, {"best": 1.0, "above": 0.5, "notes": 0.0, "words": 0.0}).score([2.0, 2.0, 3.0, 1.0])
    2.0
    """

    bias: float
    weights: Mapping[str, float]

    def score(self, features: Sequence[float]) -> float:
        """Return the log-odds for the values of FEATURES."""
        return self.bias + sum(self.weights[name] * value for name, value in zip(FEATURES, features, strict=True))


@cache
def weights() -> Weights:
    """Return the shipped weights, which serve every embedder whose relevance is calibrated."""
    return Weights(**json.loads(resource(*FILE).read_text(encoding="utf-8")))


def features(question: str, hits: Sequence[Hit], notes: int, language: str, apart: Collection[str]) -> list[float]:
    """Return the values of FEATURES for a question's hits in a memory of so many notes; one hit at least."""
    shares = (min(max(hit.relevance or 0.0, _LEAST), 1 - _LEAST) for hit in hits)
    odds = [log(share / (1 - share)) for share in shares]
    best = max((one for one, hit in zip(odds, hits, strict=True) if hit.note.id not in apart), default=median(odds))
    words = max(len(question.split()), len(tokenize(question, language)))
    return [best, best - median(odds), log1p(notes), log1p(words)]


def sure(question: str, hits: Sequence[Hit], notes: int, language: str, apart: Collection[str] = ()) -> bool:
    """Tell whether the hits most likely answer a question; those of the notes `apart` answer nothing.

    With an embedder that was never calibrated, it is enough that one has a word of the question.

    >>> sure("Where does Ana live?", [], 0, "english")
    False
    """
    if any(hit.relevance is None for hit in hits):
        return any(hit.coverage > 0 and hit.note.id not in apart for hit in hits)
    return bool(hits) and weights().score(features(question, hits, notes, language, apart)) > 0
