"""A linear model of what a later line is to an earlier one, fitted on pairs: what the gate's rules are held against.

Its features are how much two lines share and in which numbers, dates and names they differ, and words that only one
of them has, or both. It needs stems and a cosine: no lists, no parse of a sentence.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import log_softmax, softmax

from memgraph_engine.gate.known import Line
from memgraph_engine.gate.wording import Token, aligned
from memgraph_engine.model.memory import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

RELATIONS = ("same", "update", "ended", "conflict", "other")
SHARED = 0.25  # of the words of both, above which a word counts as one between lines about the same
LEAST = 4  # pairs that a word is in, or it has no weight
_RIDGE = 1e-4
_STEPS = 200
_LENGTH = 20  # words of a usual line


@dataclass(frozen=True)
class Example:
    """Two texts of one speaker and what the second is to the first; `related` (0…1) by their vectors."""

    language: str
    want: str
    old: str
    new: str
    related: float
    counts: float = 1.0

    @property
    def relation(self) -> int:
        """Its place among RELATIONS."""
        return RELATIONS.index(self.want if self.want in RELATIONS else "other")

    @cached_property
    def features(self) -> dict[str, float]:
        """Its features by name; what is not named is 0."""
        old, new = (Line(Source("1", text, "", speaker="Ana"), self.language) for text in (self.old, self.new))
        return features(new, old, self.related)


def features(new: Line, old: Line, related: float) -> dict[str, float]:
    """Return the features of two lines by name.

    A word is "+word" where only the new one has it, "-word" where only the old one has, "=word" where both have, behind
    its language, and "&+word" and so on besides in lines that share much.
    """
    mine, theirs = ({_cue(token) for token in line.tokens} - {""} for line in (new, old))
    told = new.content & old.content
    share = 2 * len(told) / max(len(new.content) + len(old.content), 1)
    found = {
        "bias": 1.0,
        "related": related,
        "related²": related * related,
        "share": share,
        "known": len(told) / max(len(new.content), 1),
        "kept": len(told) / max(len(old.content), 1),
        "related·share": related * share,
        "common": min(len(told), 5) / 5,
        "all words": len(mine & theirs) / max(len(mine | theirs), 1),
        "order": aligned(new.tokens, old.tokens)[0],
        "length": len(new.tokens) / _LENGTH,
        "old length": len(old.tokens) / _LENGTH,
        "asks": float(new.asks),
        "old asks": float(old.asks),
        "same words": float(mine == theirs),
    }
    for kind in ("number", "date", "name"):
        put, out = (frozenset(token.word for token in line.tokens if token.kind == kind) for line in (new, old))
        told_by = bool(put), bool(out), bool(put & out), bool(put - out), bool(put - out) and bool(out - put)
        found |= {f"{kind} {at}": float(value) for at, value in enumerate(told_by)}
    for sign, some in (("+", mine - theirs), ("-", theirs - mine), ("=", mine & theirs)):
        found |= {f"{new.language} {sign}{word}": 1.0 for word in some}
        found |= {f"{new.language} &{sign}{word}": 1.0 for word in some if share > SHARED}
    return found


def _cue(token: Token) -> str:
    """Return a word that may tell what a line is to another, as its stem; '' for a number, a date or a name."""
    return (token.stem or token.word) if token.kind == "word" and token.word[:1].isalpha() else ""


class Model:
    """A multinomial logistic regression over RELATIONS."""

    def __init__(self, examples: Sequence[Example]) -> None:
        held = Counter(name for one in examples for name in one.features)
        known = sorted(name for name, count in held.items() if count >= LEAST)
        self._places = {name: at for at, name in enumerate(known)}
        self._weights = self._fitted(examples)

    def likelihoods(self, examples: Sequence[Example]) -> "NDArray[np.float64]":
        """Return how likely each is which relation: (examples, RELATIONS)."""
        likely: NDArray[np.float64] = softmax(self._columns(examples) @ self._weights, axis=1)
        return likely

    def _columns(self, examples: Sequence[Example]) -> Any:
        cells = [(row, at, value) for row, one in enumerate(examples) for at, value in self._cells(one)]
        rows, places, values = zip(*cells, strict=True)
        return csr_matrix((values, (rows, places)), shape=(len(examples), len(self._places)))

    def _cells(self, one: Example) -> Iterator[tuple[int, float]]:
        return ((self._places[name], value) for name, value in one.features.items() if name in self._places)

    def _fitted(self, examples: Sequence[Example]) -> "NDArray[np.float64]":
        given, wanted = self._columns(examples), np.eye(len(RELATIONS))[[one.relation for one in examples]]
        each = np.array([one.counts for one in examples])
        each = each / each.sum()
        shape = len(self._places), len(RELATIONS)

        def loss(flat: "NDArray[np.float64]") -> tuple[float, "NDArray[np.float64]"]:
            weights = flat.reshape(shape)
            sums = given @ weights
            missed = -(each * (log_softmax(sums, axis=1) * wanted).sum(axis=1)).sum()
            slope = given.T @ ((softmax(sums, axis=1) - wanted) * each[:, None]) + _RIDGE * weights
            return float(missed + _RIDGE / 2 * (flat @ flat)), slope.ravel()

        found = minimize(loss, np.zeros(shape[0] * shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
        weights: NDArray[np.float64] = found.x.reshape(shape)
        return weights
