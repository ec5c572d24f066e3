"""What the gate decides on each of LoCoMo's observations, added alone to the turns of its conversation.

The decision is the product's own: `Gate` on the database, over the notes that its look-up proposes. Beside it stand the
scores of all pairs of an observation and a turn, with the statistics of that look-up, by which the maps are fitted.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from bench.contradictions import edits
from bench.gate_memory import of
from bench.observations import LANGUAGE, Observation, Observed
from memgraph_engine import Memory
from memgraph_engine.gate.calibration import Calibration, Monotone, Repetition
from memgraph_engine.gate.difference import Pair
from memgraph_engine.gate.gate import Gate, new_of
from memgraph_engine.gate.known import Known
from memgraph_engine.gate.score import Statistics, score
from memgraph_engine.gate.verdict import Verdict
from memgraph_engine.graph.neighbourhood import neighbourhood
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.memory import note_id
from memgraph_engine.model.scope import Scope

if TYPE_CHECKING:
    from numpy.typing import NDArray

Array: TypeAlias = "NDArray[Any]"
Near = Sequence[tuple[Known, float]]

NOTHING, RELATED, RESTATED = 0, 1, 2
PLAIN = Calibration(Repetition(0, 0, 0, 0, 0), Monotone(((0.0, 0.0), (1.0, 1.0))))


@dataclass(frozen=True, slots=True)
class Told:
    """An observation told to a conversation's memory of turns, its own or another.

    `near` is what the look-up proposes, with cosines. Over all turns: `shared` has the scores `words`, `known`, `order`
    and `proof`, of shape (turns, 4), and of shape (turns,) are `relation`, the larger of keywords' overlap and cosine,
    `cosine`, and `label`, which is NOTHING, RELATED or RESTATED.
    """

    home: str
    other: str
    candidate: Candidate
    new: Known
    near: Near
    ids: Sequence[str]
    shared: Array
    relation: Array
    cosine: Array
    label: Array
    speakers: Sequence[str]

    @property
    def may_join(self) -> Array:
        """Which turns are `near`, and nothing in their wording keeps the observation from joining them."""
        import numpy as np

        pairs = ((known.id, Pair(self.new.lines[0], known.lines[0], (self.new, known))) for known, _ in self.near)
        same = {note for note, pair in pairs if pair.finding[0] == "same"}
        return np.array([one in same for one in self.ids])

    def features(self, relation: Monotone) -> Array:
        """Return what redundancy is told by, of shape (turns, 4)."""
        import numpy as np

        words, known, order, _ = self.shared.T
        return np.stack([words, known, mapped(self.relation, relation), order], axis=1)

    def redundancy(self, maps: Calibration) -> Array:
        """Return the redundancy of each turn."""
        import numpy as np

        by = maps.redundancy
        weights = np.array([by.words, by.known, by.related, by.order])
        told: Array = self.shared[:, 3] / (1 + np.exp(-by.bias - self.features(maps.relation) @ weights))
        return told


def told(memory: Memory, every: Sequence[Observed]) -> list[Told]:
    """Tell each observation to its own conversation, and every fifth to the next one."""
    with of(memory, update=False) as plain:
        for one in every:
            plain.add_many(one.conversation.turns, user_id=one.conversation.id)
        pairs = list(zip(every, [*every[1:], every[0]], strict=True))
        return [each for one, after in pairs for other in (one, after) for each in _told(memory, plain, one, other)]


def _told(memory: Memory, plain: Memory, one: Observed, other: Observed) -> Iterator[Told]:
    import numpy as np

    scope = Scope(plain.engine.settings.tenant, other.conversation.id)
    settings = memory.engine.settings.gate
    gate = Gate(settings, PLAIN, scope, LANGUAGE, len(other.turns))
    stored = partial(neighbourhood, plain.engine.db, scope, near=settings.near, lexical=settings.lexical)
    ids = [note_id(scope.name, turn.source.id) for turn in other.turns]
    turns = [new_of(turn, id, LANGUAGE) for turn, id in zip(other.turns, ids, strict=True)]
    raw = np.stack([turn.raw_vector for turn in other.turns if turn.raw_vector is not None])
    step = 1 if one is other else 5
    for candidate, observation in list(zip(one.observations, one.cited, strict=True))[::step]:
        (new,), (row,) = gate.compared(stored, [candidate])
        near = [(each.known, each.scores.cosine) for each in row]
        cosine = raw @ np.asarray(candidate.raw_vector)
        statistics = Statistics.of(len(turns), [known for known, _ in near])
        scores = score(new, turns, cosine.clip(0, 1).tolist(), statistics, PLAIN)
        own = one is other
        yield Told(
            one.conversation.id,
            other.conversation.id,
            candidate,
            new,
            near,
            ids,
            np.array([(each.words, each.known, each.order, each.proof) for each in scores]),
            np.array([max(each.overlap, each.cosine) for each in scores]),
            cosine,
            np.array([_label(turn, observation) if own else NOTHING for turn in other.turns]),
            sorted({turn.source.speaker for turn in other.turns}),
        )


def _label(turn: Candidate, observation: Observation) -> int:
    if turn.source.id in observation.evidence:
        return RESTATED
    return RELATED if turn.source.session == observation.session else NOTHING


def decided(one: Told, gate: Gate, new: Known | None = None, near: Near | None = None) -> Verdict:
    """Return the verdict of the gate on an observation, or on a `new` one in its place, beside what is `near`."""
    new = new or one.new
    row = gate.beside(new, one.near if near is None else near)
    (verdict,) = gate.decided([one.candidate], [new], [row])
    return verdict


def contradicted(one: Told) -> Iterator[Known]:
    """Edit an observation into others that contradict it; the vectors and keywords are its own."""
    source = one.candidate.source
    other = next((name for name in one.speakers if name != source.speaker), "Alex")
    for edit in edits(source.text, source.speaker, other):
        changed = replace(one.candidate, source=replace(source, text=edit.text), context=edit.text)
        yield new_of(changed, f"edited {one.new.id}", LANGUAGE)


def auc(positive: Array, negative: Array) -> float:
    """Return the share of (positive, negative) pairs in the right order; a tie is half right."""
    import numpy as np

    values, counts = np.unique(negative, return_counts=True)
    below = np.concatenate([[0], np.cumsum(counts)])
    right = below[np.searchsorted(values, positive, "left")] + below[np.searchsorted(values, positive, "right")]
    return float(right.sum() / 2 / len(positive) / len(negative))


def cut(negative: Array, share: float) -> float:
    """Return the value that at most this share of the negatives lies above."""
    import numpy as np

    return float(np.quantile(negative, 1 - share, method="higher"))


def mapped(values: Array, by: Monotone) -> Array:
    """Apply a calibration map to an array."""
    import numpy as np

    result: Array = np.interp(values, [x for x, _ in by.knots], [y for _, y in by.knots])
    return result


def column(every: Iterable[Told], label: int, of: Callable[[Told], Array]) -> Array:
    """Return a score of all pairs of a kind, as one flat array: of another conversation those that are unrelated."""
    import numpy as np

    return np.concatenate(
        [of(one)[one.label == label] for one in every if (one.home == one.other) == (label != NOTHING)]
    )
