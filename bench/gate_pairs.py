"""The gate's scores on all pairs of a turn and an observation: restated, related, unrelated, contradicted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from bench.contradictions import edits
from bench.observations import LANGUAGE, Noted, Observed
from memgraph_engine.gate.calibration import Calibration, Monotone
from memgraph_engine.gate.contradiction import difference
from memgraph_engine.gate.facts import facts
from memgraph_engine.gate.score import Features, Statistics, given, score
from memgraph_engine.language import tokenize
from memgraph_engine.model.text import Said

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Array: TypeAlias = "NDArray[Any]"

NEIGHBOURHOOD = 30  # candidates of one look-up, over which frequencies are counted
NOTHING, RELATED, RESTATED = 0, 1, 2
MERGE, LINK = 0.7, 0.5  # the default thresholds
PLAIN = Calibration(Monotone(((0.0, 0.0), (1.0, 1.0))), Monotone(((0.0, 0.0), (1.0, 1.0))))
_COLUMNS = ("raw", "words", "relation", "cosine")


@dataclass(frozen=True, slots=True)
class Pairs:
    """All pairs of one conversation's observations with the turns of one conversation, the same or another.

    Each score has the shape (observations, turns): `raw` and `words` are the redundancy before calibration and the
    words' part of it, `relation` the larger of keywords' overlap and cosine, `cosine` that of the raw texts.
    `label` is NOTHING, RELATED or RESTATED; `differs` is whether the contradiction rule speaks, for restated pairs
    and those with a raw score that could ever merge.
    """

    raw: "Array"
    words: "Array"
    relation: "Array"
    cosine: "Array"
    label: "NDArray[np.int8]"
    differs: "NDArray[np.bool_]"


@dataclass(frozen=True, slots=True)
class Contradicted:
    """An edited observation: its raw redundancy with what it contradicts, and whether the rule noticed."""

    kind: str
    raw_original: float
    differs_original: bool
    raw_turns: tuple[float, ...]
    differs_turns: tuple[bool, ...]


def neighbourhood(new: Features, turns: Sequence[Noted], vectors: "Array") -> Statistics:
    """Return what one look-up would know: the scope's number of notes, and frequencies over the nearest 30."""
    import numpy as np

    nearest: list[int] = np.argsort(-(vectors @ new.raw_vector), kind="stable")[:NEIGHBOURHOOD].tolist()
    return Statistics.of(len(turns), [turns[i].features for i in nearest], LANGUAGE)


def pairs(one: Observed, other: Observed) -> Pairs:
    """Score each observation of `one` against each turn of `other`, as if it were told to that scope."""
    import numpy as np

    shape = (len(one.observations), len(other.turns))
    columns = {name: np.zeros(shape, np.float32) for name in _COLUMNS}
    label, differs = np.zeros(shape, np.int8), np.zeros(shape, np.bool_)
    turns = [turn.features for turn in other.turns]
    vectors = np.stack([given(turn.raw_vector) for turn in turns])
    for row, (noted, observation) in enumerate(zip(one.observations, one.cited, strict=True)):
        scores = score(noted.features, turns, neighbourhood(noted.features, other.turns, vectors), PLAIN)
        columns["raw"][row] = [s.redundancy for s in scores]
        columns["words"][row] = [s.words for s in scores]
        columns["relation"][row] = [max(s.overlap, s.cosine) for s in scores]
        columns["cosine"][row] = vectors @ given(noted.features.raw_vector)
        if one is other:
            label[row] = [_label(turn, observation.session, observation.evidence) for turn in other.turns]
            judged: list[int] = np.flatnonzero((label[row] == RESTATED) | (columns["raw"][row] > 0.3)).tolist()
            for place in judged:
                differs[row, place] = difference(noted.facts, other.turns[place].facts) != ""
    return Pairs(**columns, label=label, differs=differs)


def _label(turn: Noted, session: str, evidence: Sequence[str]) -> int:
    if turn.message["id"] in evidence:
        return RESTATED
    return RELATED if turn.message["session"] == session else NOTHING


def contradicted(one: Observed) -> list[Contradicted]:
    """Edit each observation into contradictions, and score each against the original and the turns that it cites."""
    import numpy as np

    vectors = np.stack([given(turn.features.raw_vector) for turn in one.turns])
    people = list(dict.fromkeys(turn.message["speaker"] for turn in one.turns))
    turns = {turn.message["id"]: turn for turn in one.turns}
    found = []
    for noted, observation in zip(one.observations, one.cited, strict=True):
        speaker = noted.message["speaker"]
        other = next((name for name in people if name != speaker), "Alex")
        against = [noted, *(turns[i] for i in observation.evidence)]
        for edit in edits(noted.message["text"], speaker, other):
            changed = _edited(noted, edit.text)
            statistics = neighbourhood(changed.features, one.turns, vectors)
            scores = score(changed.features, [each.features for each in against], statistics, PLAIN)
            raw = [s.redundancy for s in scores]
            differs = [difference(changed.facts, each.facts) != "" for each in against]
            found.append(Contradicted(edit.kind, raw[0], differs[0], tuple(raw[1:]), tuple(differs[1:])))
    return found


def _edited(noted: Noted, text: str) -> Noted:
    """Return the observation with another text; its vectors are the original's, which redundancy does not read."""
    line = noted.features.lines[0]
    said = Said(line.said.speaker, text, "")
    changed = replace(line, said=said, terms=frozenset(tokenize(text, LANGUAGE)))
    return Noted(noted.message, replace(noted.features, lines=(changed,)), [facts(said, LANGUAGE)])


def auc(positive: "Array", negative: "Array") -> float:
    """Return the share of (positive, negative) pairs in the right order; a tie is half right."""
    import numpy as np

    values, counts = np.unique(negative, return_counts=True)
    below = np.concatenate([[0], np.cumsum(counts)])
    right = below[np.searchsorted(values, positive, "left")] + below[np.searchsorted(values, positive, "right")]
    return float(right.sum() / 2 / len(positive) / len(negative))


def cut(negative: "Array", share: float) -> float:
    """Return the value that at most this share of the negatives lies above."""
    import numpy as np

    return float(np.quantile(negative, 1 - share, method="higher"))


def mapped(values: "Array", by: Monotone) -> "Array":
    """Apply a calibration map to an array."""
    import numpy as np

    result: Array = np.interp(values, [x for x, _ in by.knots], [y for _, y in by.knots])
    return result


def pooled(parts: Iterable["Array"]) -> "Array":
    """Return the parts as one flat array."""
    import numpy as np

    return np.concatenate([part.ravel() for part in parts])


Scored = Mapping[tuple[str, str], Pairs]
"""Pairs by (the observations' conversation, the turns' conversation)."""


def score_all(every: Sequence[Observed]) -> Scored:
    """Score all pairs of all conversations."""
    return {(one.id, other.id): pairs(one, other) for one in every for other in every}


def of(scored: Scored, names: Sequence[str], label: int, column: str) -> "Array":
    """Return a score of all pairs of a kind whose observation and turn are of the conversations named."""
    chosen = [(key, part) for key, part in scored.items() if key[0] in names and key[1] in names]
    if label == NOTHING:
        return pooled(getattr(part, column) for key, part in chosen if key[0] != key[1])
    return pooled(getattr(part, column)[part.label == label] for key, part in chosen if key[0] == key[1])
