"""What a score of .7 or .5 means, fitted by `python -m bench gate --fit` and shipped."""

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import exp
from typing import Any

from memgraph_engine.resources import resource

FILE = ("config", "calibration", "gate.json")


@dataclass(frozen=True, slots=True)
class Monotone:
    """A piecewise linear map of 0…1 onto itself that never falls; `knots` are (from, to), ascending.

    >>> half = Monotone(((0.0, 0.0), (0.4, 0.5), (1.0, 1.0)))
    >>> half(0.0), half(0.2), half(0.4), half(1.0)
    (0.0, 0.25, 0.5, 1.0)
    """

    knots: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        for (x, y), (next_x, next_y) in zip(self.knots, self.knots[1:], strict=False):
            if not (x < next_x and y <= next_y):
                raise ValueError(f"The knots {x, y} and {next_x, next_y} don't ascend.")
        if self.knots[0] != (0.0, 0.0) or self.knots[-1] != (1.0, 1.0):
            raise ValueError("The knots must begin at (0, 0) and end at (1, 1).")

    def __call__(self, value: float) -> float:
        """Map a value; what lies outside 0…1 is taken as its end."""
        if value <= 0 or value >= 1:
            return float(value >= 1)
        after = bisect_right(self.knots, (value, 2.0))
        (x, y), (next_x, next_y) = self.knots[after - 1], self.knots[after]
        return y + (next_y - y) * (value - x) / (next_x - x)


@dataclass(frozen=True, slots=True)
class Repetition:
    """How likely it is that a line says what another one says, by what they share: a logistic model, above .7 if so.

    The weights have the names of their scores, which all are 0…1.

    >>> Repetition(-2.0, words=1.0, known=1.0, related=1.0, order=1.0)(0.5, 0.5, 0.5, 0.5)
    0.5
    """

    bias: float
    words: float
    known: float
    related: float
    order: float

    def __call__(self, words: float, known: float, related: float, order: float) -> float:
        """Return the likelihood, calibrated."""
        shared = self.words * words + self.known * known + self.related * related + self.order * order
        return 1 / (1 + exp(-self.bias - shared))


@dataclass(frozen=True, slots=True)
class Calibration:
    """What makes a line redundant, and the map of what makes notes related: the larger of keywords' overlap and cosine.

    The latter depends on the embedder, whose cosines have a scale of their own.
    """

    redundancy: Repetition
    relation: Monotone


@cache
def calibration(embedder: str, fitted: str = "") -> Calibration:
    """Return the maps for an embedder, by its name: those `fitted` for the database, else the shipped ones.

    For one that was never fitted, the most reserved of the shipped maps at each point: rather too few links than too
    many. `sentence-transformers/NAME` and the like have the map of `NAME`.

    >>> calibration("all-MiniLM-L6-v2").relation(1.0)
    1.0
    """
    given: dict[str, Any] = json.loads(resource(*FILE).read_text(encoding="utf-8"))
    own = {embedder: json.loads(fitted)["relation"]} if fitted else {}
    relations = {name: monotone(knots) for name, knots in (given["relation"] | own).items()}
    known = relations.get(embedder) or relations.get(embedder.rpartition("/")[2])
    return Calibration(Repetition(**given["redundancy"]), known or _lowest(list(relations.values())))


def monotone(knots: Sequence[Sequence[float]]) -> Monotone:
    """Make a map of pairs as JSON holds them."""
    return Monotone(tuple((float(x), float(y)) for x, y in knots))


def _lowest(maps: Sequence[Monotone]) -> Monotone:
    places = sorted({x for one in maps for x, _ in one.knots})
    return Monotone(tuple((x, min(one(x) for one in maps)) for x in places))
