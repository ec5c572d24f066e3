"""Calibrate an embedder that was never fitted: how relevant a note is, how related two are, by the cosines it gives.

Fits need thousands of questions. Here an embedder is read against those that have had them: of the same shipped texts
each gives cosines of its own scale, and two anchors on it tell how one scale lies on the other. Redundancy reads the
calibrated relation, and means the same for all.
"""

import json
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.errors import EmbeddingError
from memgraph_engine.gate.calibration import Monotone, calibration
from memgraph_engine.recall.relevance import Weights, weights
from memgraph_engine.resources import resource

FILE = ("config", "calibration", "texts.toml")
_KNOWN = 0.8  # of the share of answers that stand first in its best language: below, an embedder doesn't know another


@dataclass(frozen=True, slots=True)
class Anchors:
    """Where cosines of the shipped texts lie, in the languages that an embedder knows.

    `answer` and `other`: of a question to what answers it, and to the nearest text of somebody else, on average.
    `middle` and `top`: half and 99 of 100 pairs of texts of two people are below.
    """

    answer: float
    other: float
    middle: float
    top: float


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What an embedder's cosines mean, and the languages of the shipped texts that it knows."""

    embedder: str
    relevance: Weights
    relation: Monotone
    languages: Sequence[str]

    def stored(self) -> str:
        """Return it as the database keeps it."""
        fitted = {"relevance": asdict(self.relevance), "relation": self.relation.knots}
        return json.dumps({"embedder": self.embedder, **fitted})


@dataclass(frozen=True, slots=True)
class _Memory:
    """What somebody told, questions about it, and which text answers each; vectors of length 1."""

    language: str
    texts: "NDArray[np.float32]"
    questions: "NDArray[np.float32]"
    answers: Sequence[int]

    @classmethod
    def embedded(cls, embedder: CheckedEmbedder, given: dict[str, Any]) -> "_Memory":
        texts = embedder.embed_documents(given["told"])
        questions = np.stack([embedder.embed_query(question) for question, _ in given["asked"]])
        texts, questions = (one / np.linalg.norm(one, axis=1, keepdims=True) for one in (texts, questions))
        return cls(given["language"], texts, questions, [place for _, place in given["asked"]])


def calibrate(embedder: CheckedEmbedder) -> Calibrated:
    """Calibrate an embedder, in seconds if it runs in process.

    Raises EmbeddingError for one to which answers are no nearer than anything else.
    """
    given = tomllib.loads(resource(*FILE).read_text(encoding="utf-8"))
    languages, found = anchors(embedder)
    if found.answer - found.other < 1e-3 or found.top - found.middle < 1e-3:
        raise EmbeddingError(
            f"The embedder {embedder.name} can't be calibrated: what answers a question is no nearer than the rest."
        )
    told, ties = list[list[float]](), list[list[float]]()
    for name, where in given["anchors"].items():
        there, known, relation = Anchors(**where), weights(name), calibration(name).relation
        if known:
            slope = (there.answer - there.other) / (found.answer - found.other)
            bias = known.bias + known.similarity * (there.other - slope * found.other)
            told.append([bias, known.similarity * slope, known.coverage])
        wide = (found.top - found.middle) / (there.top - there.middle)
        ties.append([found.middle + wide * (place - there.middle) for place, _ in relation.knots[1:-1]])
    knots = [(0.0, 0.0)]
    for place, (_, value) in zip(np.mean(ties, axis=0).clip(0, 0.99).tolist(), relation.knots[1:-1], strict=True):
        knots.append((max(round(place, 3), knots[-1][0] + 0.001), value))
    fitted = Weights(*np.mean(told, axis=0).round(3).tolist())
    return Calibrated(embedder.name, fitted, Monotone((*knots, (1.0, 1.0))), languages)


def shipped() -> list[str]:
    """Return the shipped texts that people told."""
    given = tomllib.loads(resource(*FILE).read_text(encoding="utf-8"))["memories"]
    return [text for one in given for text in one["told"]]


def anchors(embedder: CheckedEmbedder) -> tuple[list[str], Anchors]:
    """Return the languages of the shipped texts that an embedder knows, and its anchors in them."""
    given = tomllib.loads(resource(*FILE).read_text(encoding="utf-8"))["memories"]
    memories = [_Memory.embedded(embedder, one) for one in given]
    first = {one.language: list[bool]() for one in memories}
    for one in memories:
        first[one.language] += [*((one.questions @ one.texts.T).argmax(axis=1) == one.answers)]
    shares = {language: float(np.mean(right)) for language, right in first.items()}
    languages = sorted(one for one, share in shares.items() if share >= _KNOWN * max(shares.values()))
    known = [one for one in memories if one.language in languages]
    pairs = [(one, other) for one, other in combinations(known, 2) if one.language == other.language]
    answer = np.concatenate([(one.questions @ one.texts.T)[range(len(one.answers)), one.answers] for one in known])
    both = [*pairs, *((other, one) for one, other in pairs)]
    other = np.concatenate([(one.questions @ far.texts.T).max(axis=1) for one, far in both])
    apart = np.concatenate([(one.texts @ far.texts.T).ravel() for one, far in pairs])
    found = (answer.mean(), other.mean(), *np.quantile(apart, [0.5, 0.99]))
    return languages, Anchors(*(round(float(one), 3) for one in found))
