"""Fits the model of pairs (`gate/pairs.py`) by pairs of statements: multinomial logistic regression."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import log_softmax, softmax

from memgraph_engine.gate.known import Line
from memgraph_engine.gate.pairs import PLAIN, RELATIONS, Features, features
from memgraph_engine.model.memory import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST = 3  # pairs that a cue is in, or it has no weight
_RIDGE = 2e-5
_STEPS = 200
_COMMON = 0.01  # share of texts
_REST = RELATIONS.index("other")


@dataclass(frozen=True)
class Example:
    """Two texts of one speaker and what the second is to the first; `related` (0…1) by their vectors."""

    language: str
    want: str
    old: str
    new: str
    related: float
    counts: float = 2.0

    @property
    def relation(self) -> int:
        """Its place among RELATIONS."""
        return RELATIONS.index(self.want) if self.want in RELATIONS else _REST

    @cached_property
    def features(self) -> list[Features]:
        """What the model sees of it, part by part."""
        old, new = (line_of(text, self.language) for text in (self.old, self.new))
        return features(new, old, self.related)


def line_of(text: str, language: str) -> Line:
    """Return a text as the gate reads it."""
    return Line(Source("1", text, "", speaker="Ana"), language)


def common_words(texts: Iterable[str], language: str) -> list[str]:
    """Return the words that more than one text in a hundred has, and that the gate would take for content."""
    every = {*texts}
    held = Counter(stem for text in every for stem in line_of(text, language).content if stem.isalpha())
    return sorted(word for word, count in held.items() if count > _COMMON * len(every))


@dataclass(frozen=True)
class _Row:
    """A part of an example: nothing tells which part of a long message is the one that its relation stands for."""

    example: Example
    part: Features
    counts: float

    @property
    def cells(self) -> Iterator[tuple[str, float]]:
        """What it consists of, by name: a cue behind its language."""
        yield from zip(PLAIN, self.part.plain, strict=True)
        yield from ((f"{self.example.language} {name}", self.part.weight) for name in self.part.cues)


class Fitted:
    """Weights by name, of RELATIONS each; those that are `known` stay as they are."""

    def __init__(self, examples: Sequence[Example], known: Mapping[str, Sequence[float]] | None = None) -> None:
        rows = [
            _Row(one, part, one.counts / (len(one.features) ** 0.5 if one.relation == _REST else 1))
            for one in examples
            for part in one.features
        ]
        held = Counter(name for row in rows if row.counts > 1 for name, value in row.cells if value)
        names = [*PLAIN, *sorted(name for name, count in held.items() if count >= LEAST and name not in PLAIN)]
        self._places = {name: at for at, name in enumerate(names)}
        self._known = np.array([(known or {}).get(name, [np.nan] * len(RELATIONS)) for name in names])
        given = self._columns(rows)
        first = [
            at for at, row in enumerate(rows) if row.example.relation == _REST or row.part is row.example.features[0]
        ]
        weights = self._fitted(given[first], [rows[at] for at in first])
        weights = self._fitted(given[(best := self._telling(rows, given, weights))], [rows[at] for at in best])
        self.weights = weights

    def _telling(self, rows: Sequence[_Row], given: Any, weights: "NDArray[np.float64]") -> list[int]:
        """Return the places of all parts of another matter, and of the one part of each other pair that tells it."""
        likely = softmax(given @ weights, axis=1)
        best = dict[int, tuple[float, int]]()
        for at, row in enumerate(rows):
            if row.example.relation != _REST:
                best[id(row.example)] = max(
                    best.get(id(row.example), (-1.0, -1)), (likely[at, row.example.relation], at)
                )
        return sorted(
            [at for _, at in best.values()] + [at for at, row in enumerate(rows) if row.example.relation == _REST]
        )

    def _columns(self, rows: Sequence[_Row]) -> Any:
        cells = [
            (at, place, value)
            for at, row in enumerate(rows)
            for name, value in row.cells
            if value and (place := self._places.get(name)) is not None
        ]
        lines, places, values = zip(*cells, strict=True)
        return csr_matrix((values, (lines, places)), shape=(len(rows), len(self._places)))

    def _fitted(self, given: Any, rows: Sequence[_Row]) -> "NDArray[np.float64]":
        wanted = np.eye(len(RELATIONS))[[row.example.relation for row in rows]]
        each = np.array([row.counts for row in rows])
        each = each / each.sum()
        free = np.isnan(self._known)

        def loss(flat: "NDArray[np.float64]") -> tuple[float, "NDArray[np.float64]"]:
            weights = np.where(free, flat.reshape(free.shape), self._known)
            sums = given @ weights
            missed = -(each * (log_softmax(sums, axis=1) * wanted).sum(axis=1)).sum()
            slope = given.T @ ((softmax(sums, axis=1) - wanted) * each[:, None])
            slope = np.where(free, slope, 0.0).ravel() + _RIDGE * flat
            return float(missed + _RIDGE / 2 * (flat @ flat)), slope

        found = minimize(loss, np.zeros(free.size), jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
        weights: NDArray[np.float64] = np.where(free, found.x.reshape(free.shape), self._known)
        return weights

    def kept(self, least: float = 0.1) -> dict[str, Any]:
        """Return the weights as `config/calibration/pairs.json` has them: of the plain numbers, then of the cues."""
        rows = {name: np.round(self.weights[at], 2).tolist() for name, at in self._places.items()}
        cues = defaultdict[str, dict[str, list[float]]](dict)
        for name, row in rows.items():
            if name not in PLAIN and max(map(abs, row)) >= least:
                language, _, cue = name.partition(" ")
                cues[language][cue] = row
        return {"plain": {name: rows[name] for name in PLAIN}, "cues": dict(cues)}
