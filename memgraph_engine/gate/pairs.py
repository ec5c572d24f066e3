"""What a later line is to an earlier one of the same speaker, told by two models: the second reads what one doubts.

The first is linear (multinomial logistic). It sees how much both share, in which numbers, dates and names they differ,
and its cues: the words, and pairs of words, that only one of them has, or both. A cue counts as far as both are about
the same. What is quoted is not read, and of a long line each sentence is, beside the one that it shares most with. The
second is a cross-encoder. `python -m bench pairs --fit` and `make pairs-encoder` fit them, by pairs written for it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from memgraph_engine.errors import MissingExtra
from memgraph_engine.gate.known import Line
from memgraph_engine.inference.onnx import OnnxModel
from memgraph_engine.language.reading import once
from memgraph_engine.language.statement import Statement, own_words, statements
from memgraph_engine.language.verbs import asks
from memgraph_engine.language.wording import Token, aligned, parted, stems, taken_back, words
from memgraph_engine.resources import resource

if TYPE_CHECKING:
    from numpy.typing import NDArray

FILE = ("config", "calibration", "pairs.json")
ENCODER = ("config", "calibration", "pairs")
ENCODED = frozenset({"english"})  # languages that the cross-encoder was fitted on
LEAST = 0.05  # likelihood, by the linear model, from which the cross-encoder is asked
LONGEST = 128  # tokens of both lines
SAME = 0.4  # share of the words of both, from which they are about the same
WHOLE = 25  # tokens of a line that is read as one; of a longer one its sentences are
_MOST = 6  # of a line, those sentences that share most with another are read
_LENGTH = 20  # tokens of a usual line
_COMMON = 5  # words that both have: more tell no more
_KINDS: Sequence[Literal["number", "date", "name"]] = ("number", "date", "name")

RELATIONS = ("same", "update", "ended", "conflict", "other")
_NEWS = [RELATIONS.index(one) for one in ("update", "ended")]
_REST = RELATIONS.index("other")


class Part:
    """A sentence of a line, or all of it, as the model reads it."""

    def __init__(self, tokens: Sequence[Token], line: Line, common: frozenset[str]) -> None:
        self.tokens, self.line, self.content = tokens, line, stems(tokens) - common
        wants = (asks(sentence, line) for sentence in parted(tokens, "sentence"))
        self.asks = float(any(token.asked for token in tokens) or any(wants))

    @cached_property
    def cues(self) -> frozenset[str]:
        """Its words but for numbers, dates and names, as stems."""
        return frozenset(map(cue, self.tokens)) - {""}

    @cached_property
    def runs(self) -> frozenset[str]:
        """Each two cues that stand beside each other in a clause: "no_longer"."""
        told = ((cue(one), cue(after)) for one, after in pairwise(self.tokens) if one.clause == after.clause)
        return frozenset(f"{one}_{after}" for one, after in told if one and after)

    @cached_property
    def stated(self) -> Sequence[Statement]:
        """The statements in it."""
        held = {token.span for token in self.tokens}
        return [one for one in statements(self.line) if one.own[-1].span in held]

    @cached_property
    def denied(self) -> frozenset[str]:
        """The values that it takes back: "41" of "at 14, not 41"."""
        return frozenset(value.word for _, value in taken_back(self.tokens, self.line.lists))

    @cached_property
    def left(self) -> frozenset[str]:
        """The words for what was before: "tea" of "I switched from tea to coffee"."""
        return frozenset(token.word for one in self.stated for token in one.origin if token.stem or token.date)

    @cached_property
    def forms(self) -> frozenset[str]:
        """Its words, in the form in which words are listed."""
        return frozenset(words(self.tokens))

    @cached_property
    def values(self) -> Mapping[str, frozenset[str]]:
        """Its numbers, dates and names."""
        return {kind: frozenset(one.word for one in self.tokens if one.kind == kind) for kind in _KINDS}


def cue(token: Token) -> str:
    """Return as what a word is a cue; '' for a number, a date or a name, which is none."""
    return (token.stem or token.word) if token.kind == "word" and token.word[:1].isalpha() else ""


class Features(NamedTuple):
    """Two parts as the model sees them.

    `plain` are the numbers of `PLAIN`. A cue is "+word" where only the new part has it, "-word" where only the old one
    has, "=word" where both have; "+one_other" are two words beside each other. Each counts `weight` (0…1). Where
    nothing is shared they are cues of their own ("0+move").
    """

    plain: Sequence[float]
    cues: Sequence[str]
    weight: float
    new: Part
    old: Part


PLAIN = (
    *("bias", "related", "related²", "share", "known", "kept", "related·share", "common", "all words", "order"),
    *("length", "old length", "asks", "old asks", "same words", "begins alike", "whole", "old whole"),
    *("takes back", "takes back another", "leaves", "leaves another", "changes", "ends", "old ends"),
    *("past", "old past", "feels otherwise", "feels", "supposed", "old supposed", "one subject", "another subject"),
    *(f"{which} {kind}" for kind in _KINDS for which in ("a", "an old", "the same", "another", "an exchanged")),
)
"""The numbers that two lines are compared by."""


def features(new: Line, old: Line, related: float) -> list[Features]:
    """Return what the model sees of two lines, for each part of the new one; `related` (0…1) are both as a whole."""
    mine, theirs = _parts(new), _parts(old)
    found = list[tuple[float, Features]]()
    if not theirs:
        return []
    for part in mine:
        other = max(theirs, key=lambda one: _shared(part, one))
        shared = _shared(part, other)
        if shared or len(mine) == len(theirs) == 1:
            whole = float(len(mine) == 1), float(len(theirs) == 1)
            found.append((shared, _features(part, other, related, whole)))
    found.sort(key=lambda one: -one[0])
    return [one for _, one in found[:_MOST]]


def _shared(one: Part, other: Part) -> float:
    both: float = len(one.content & other.content) / ((len(one.content) * len(other.content)) ** 0.5 or 1.0)
    return both


def _features(new: Part, old: Part, related: float, whole: tuple[float, float]) -> Features:
    told = len(new.content & old.content)
    share = 2 * told / max(len(new.content) + len(old.content), 1)
    plain = [
        1.0,
        related,
        related * related,
        share,
        told / max(len(new.content), 1),
        told / max(len(old.content), 1),
        related * share,
        min(told, _COMMON) / _COMMON,
        len(new.cues & old.cues) / max(len(new.cues | old.cues), 1),
        aligned(new.tokens, old.tokens)[0],
        len(new.tokens) / _LENGTH,
        len(old.tokens) / _LENGTH,
        new.asks,
        old.asks,
        float(new.cues == old.cues),
        float(bool(cue(new.tokens[0])) and cue(new.tokens[0]) == cue(old.tokens[0])),
        *whole,
    ]
    plain += map(float, _told(new, old))
    for kind in _KINDS:
        put, out = new.values[kind], old.values[kind]
        more, less = put - out, out - put
        plain += map(float, (bool(put), bool(out), bool(put & out), bool(more), bool(more and less)))
    signed = ("+", new.cues - old.cues), ("-", old.cues - new.cues), ("=", new.cues & old.cues)
    cues = [f"{sign}{word}" for sign, some in (*signed, ("+", new.runs - old.runs)) for word in some]
    if not told:
        return Features(plain, [f"0{name}" for name in cues], 1.0, new, old)
    return Features(plain, cues, min(share / SAME, 1.0), new, old)


def _told(new: Part, old: Part) -> Iterator[bool]:
    """Yield what the statements of both tell beside each other, in the order of `PLAIN`."""
    for values in (new.denied, new.left):
        yield bool(values & old.forms)
        yield bool(values - old.forms)
    over = new.line.lists.over
    yield any(not over.issuperset(one.changes) for one in new.stated)
    for part in (new, old):
        yield any(not over.isdisjoint(one.changes) for one in part.stated)
    for part in (new, old):
        yield bool(part.stated) and all(one.past or one.event for one in part.stated)
    mine, theirs = ([one.feeling for one in part.stated if one.feeling] for part in (new, old))
    yield any(now[1] != was[1] and now[2] & was[2] for now in mine for was in theirs)
    yield bool(mine)
    for part in (new, old):
        yield any(one.supposed for one in part.stated)
    about, before = ({one.subject for one in part.stated} for part in (new, old))
    yield not about.isdisjoint(before)
    yield bool(about) and bool(before) and about.isdisjoint(before)


@once
def _parts(line: Line) -> Sequence[Part]:
    told = own_words(line)
    every = [told] if len(told) <= WHOLE else parted(told, "sentence")
    common = weights_of(line.language).common
    return [Part(tokens, line, common) for tokens in every if tokens]


class Judged(NamedTuple):
    """How likely a line is news of another, or says that it is over, and the parts of both that tell it.

    `encoded` where the cross-encoder has read them; `other` is how likely it is of another matter, by the linear model.
    """

    news: float
    other: float
    told: Features
    encoded: bool = False

    @property
    def texts(self) -> tuple[str, str]:
        """The parts as they are written, the old one first: what the cross-encoder reads."""
        old, new = (part.line.words(part.tokens) for part in (self.told.old, self.told.new))
        return old, new


def read(new: Line, old: Line, related: float) -> Judged | None:
    """Return what the models make of a new line beside an old one, `related` (0…1) by their vectors; None for nothing.

    The cross-encoder is asked about what the linear model doubts.

    >>> from memgraph_engine.model.memory import Source
    >>> said = "My dentist is Dr Roe in Hull.", "Dr Roe retired, so my dentist is Dr Lane now."
    >>> old, new = (Line(Source("1", text, "", speaker="Ana"), "english") for text in said)
    >>> read(new, old, 0.8).news > 0.8
    True
    """
    judged = _judged(new)
    if old not in judged:
        told = by_words(new, old, related)
        known = {new.language, old.language} <= ENCODED and not new.reports and not old.reports  # of whom a name is
        if told and told.other <= 1 - LEAST and known and encoder():
            told = told._replace(news=by_encoder([told.texts])[0], encoded=True)
        judged[old] = told
    return judged[old]


@once
def _judged(_: Line) -> dict[Line, Judged | None]:
    """Return what the models made of a new line so far, by the old one: nothing yet."""
    return {}


def by_words(new: Line, old: Line, related: float) -> Judged | None:
    """Return what the linear model makes of both: of a long line, of the part that tells it most surely."""
    if not (some := features(new, old, related)):
        return None
    likely = weights_of(new.language).likelihoods(some)
    at = int(likely[:, _REST].argmin())
    return Judged(float(likely[at, _NEWS].sum()), float(likely[at, _REST]), some[at])


def by_encoder(texts: Sequence[tuple[str, str]]) -> list[float]:
    """Return how likely each later text is news of an earlier one, given first; none without the cross-encoder."""
    model = encoder()
    likely: list[float] = (
        softmax(model.run(texts, lambda sums, _: sums))[:, _NEWS].sum(axis=1).tolist() if model else []
    )
    return likely


@cache
def encoder() -> OnnxModel | None:
    """Return the cross-encoder of pairs; None where the library that runs it is missing."""
    try:
        return OnnxModel(resource(*ENCODER), "The model of pairs", batch=32, tokens=4096, longest=LONGEST)
    except MissingExtra:
        return None


class Weights:
    """The weights of one language: those of the plain numbers, and those of its cues.

    `common` are words that so many texts have that they tell nothing of what one is about, as far as no list has them.
    """

    def __init__(
        self, plain: "NDArray[np.float64]", cues: Mapping[str, Sequence[float]], common: frozenset[str] = frozenset()
    ) -> None:
        self.common = common
        self._plain = plain  # (PLAIN, RELATIONS)
        self._places = {name: at for at, name in enumerate(cues)}
        self._cues = np.array([*cues.values()], dtype=np.float64).reshape(len(cues), len(RELATIONS))

    def likelihoods(self, some: Sequence[Features]) -> "NDArray[np.float64]":
        """Return how likely each is which relation: (features, RELATIONS)."""
        return softmax(np.array([self._sum(one) for one in some]))

    def _sum(self, one: Features) -> "NDArray[np.float64]":
        held = [self._places[name] for name in one.cues if name in self._places]
        total: NDArray[np.float64] = np.array(one.plain) @ self._plain + one.weight * self._cues[held].sum(axis=0)
        return total

    def words(self, one: Features, most: int = 3) -> Sequence[str]:
        """Return the words of the new part that speak most for news, as they are written."""
        known = {name.lstrip("0+"): self._cues[self._places[name]] for name in one.cues if name in self._places}
        news = {name: float(row[_NEWS].max() - row[_REST]) for name, row in known.items()}
        told = {token.written: news.get(cue(token), 0.0) for token in one.new.tokens}
        best = sorted((word for word, value in told.items() if value > 0), key=lambda word: -told[word])
        return best[:most]


def softmax(sums: "NDArray[Any]") -> "NDArray[Any]":
    """Return the likelihoods of a row of sums, for each."""
    powers = np.exp(sums - sums.max(axis=1, keepdims=True))
    likely: NDArray[Any] = powers / powers.sum(axis=1, keepdims=True)
    return likely


@cache
def weights_of(language: str) -> Weights:
    """Return the weights of a language; of one without any, those of the plain numbers alone."""
    given = json.loads(resource(*FILE).read_text(encoding="utf-8"))
    plain = np.array([given["plain"][name] for name in PLAIN])
    return Weights(plain, given["cues"].get(language, {}), frozenset(given["common"].get(language, ())))
