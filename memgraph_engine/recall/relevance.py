"""How likely a note answers a question at all: told by its cosine and by the question's words in it, and calibrated.

Scores rank the notes of one question, and the best has a high one even where a memory holds nothing on it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, log
from typing import Any

from memgraph_engine.graph.note_cache import CachedNote
from memgraph_engine.language import tokenize
from memgraph_engine.model.scope import Scope
from memgraph_engine.resources import resource

FILE = ("config", "calibration", "relevance.json")


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


@cache
def weights(embedder: str) -> Weights | None:
    """Return the shipped weights for an embedder, by the name that it reports; None for one that was never fitted.

    `sentence-transformers/NAME` and the like have those of `NAME`.
    """
    given: dict[str, Any] = json.loads(resource(*FILE).read_text(encoding="utf-8"))
    known = given.get(embedder) or given.get(embedder.rpartition("/")[2])
    return Weights(**known) if known else None


@dataclass(frozen=True, slots=True)
class Coverage:
    """The words of a question, each with its idf over the notes of a pool: what none holds weighs most.

    A word that names the user whose memory is asked is held by all that was said there but by an assistant: "I moved to
    Faro" is about Ana in hers. It weighs as much as the other words do on average.
    """

    words: Sequence[str]
    rarities: Sequence[float]
    user: Scope
    naming: frozenset[str]

    @classmethod
    def of(
        cls, words: Sequence[str], pool: Sequence[CachedNote], notes: int, user: Scope, languages: Sequence[str]
    ) -> "Coverage":
        """Weigh words by the notes of the pool that hold them; the scopes read have so many."""
        naming = frozenset(term for language in languages for term in tokenize(user.user or "", language))
        texts = [note.texts[0] for note in pool]
        counts = {word: sum(f" {word} " in text for text in texts) for word in words if word not in naming}
        idf = {word: log(1 + (max(notes, held) - held + 0.5) / (held + 0.5)) for word, held in counts.items()}
        mean = sum(idf.values()) / len(idf) if idf else 1.0
        return cls(words, [idf.get(word, mean) for word in words], user, naming)

    def share(self, note: CachedNote) -> float:
        """Return the share of the words (0 to 1), by their weight, that a note holds."""
        own = note.scope == self.user.name and note.role != "assistant"
        held = sum(
            rarity
            for word, rarity in zip(self.words, self.rarities, strict=True)
            if (own and word in self.naming) or f" {word} " in note.texts[0]
        )
        return held / sum(self.rarities) if self.words else 0.0
