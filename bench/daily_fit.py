"""Fit what contexts go by: how relevant a note is to a question, and which note a later one has perhaps outdated.

A chat's questions are asked of their own chat, and of others that hold nothing on them.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from bench.chats import Ask, Chat, holds, plain
from bench.server import bench_settings, connected, of_its_own
from memgraph_engine import Memory
from memgraph_engine.answer import succession
from memgraph_engine.answer.relevant import relevant
from memgraph_engine.evaluation.report import table
from memgraph_engine.model.result import Hit
from memgraph_engine.recall import relevance
from memgraph_engine.resources import resource

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_OTHERS = 5  # chats of which a question is asked that do not hold its answer
_FOLDS = 5
_STEPS = 50
_RIDGE = 1e-5, 1e-3  # of relevance, of succession
_LEAST = (-2.5, -2.0, -1.5, -1.0, -0.5)  # log-odds of which the report tells


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question found: in its own chat, or in one that does not hold its answer."""

    chat: str
    language: str
    ask: Ask
    own: bool
    hits: Sequence[Hit]
    notes: int

    @property
    def known(self) -> bool:
        """Whether the chat holds the answer."""
        return self.own and not self.ask.nothing

    @property
    def best(self) -> tuple[float, float]:
        """Similarity and coverage of the best hit."""
        best = max(self.hits, key=lambda hit: hit.similarity + hit.coverage / 2, default=None)
        return (best.similarity, best.coverage) if best else (0.0, 0.0)

    def told(self, floor: float, by: relevance.Weights) -> "Asked":
        """Return it with the hits that a context tells where hits are as relevant as these weights say."""
        hits = [replace(hit, relevance=by.relevance(hit.similarity, hit.coverage)) for hit in self.hits]
        return replace(self, hits=relevant(self.ask.question, hits, floor, self.language, self.notes)[0])

    def outdated(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the notes that tell what was true once, and those that tell what is true."""
        texts = {hit.note.id: plain(hit.note.text) for hit in self.hits}
        once = frozenset(note for note, text in texts.items() if any(holds(text, one) for one in self.ask.former))
        now = frozenset(note for note, text in texts.items() if any(holds(text, one) for one in self.ask.current))
        return once, now

    @property
    def pairs(self) -> list[tuple[Hit, Hit, list[float]]]:
        """Its earlier and later hits, with what is known of them."""
        return succession.pairs(self.ask.question, self.hits, self.language, self.notes)


def fit(models: Sequence[str], chats: Sequence[Chat], more: Sequence[Chat]) -> tuple[dict[str, float], str]:
    """Write the weights of each embedder's relevance, and those of succession, which serve all of them.

    Succession is fitted on `more` chats besides: in these, more than one may hold an answer to the same question.
    """
    file = Path(str(resource(*relevance.FILE)))
    known = json.loads(file.read_text(encoding="utf-8"))
    figures: dict[str, float] = {}
    told: list[Asked] = []
    for model in models:
        with connected(bench_settings(model)) as memory:
            languages = sorted({chat.language for chat in (*chats, *more)})
            found = [one for language in languages for one in _of(memory, chats, language)]
            changed = [one for language in languages for one in _of(memory, more, language, others=0)]
            name, floor = memory.engine.embedder.name, memory.engine.settings.answer.relevance
        bias, similarity, coverage = _regression(
            [one.best for one in found], [one.known for one in found], _RIDGE[0], even=True
        ).round(3)
        known[name] = weights = {"bias": float(bias), "similarity": float(similarity), "coverage": float(coverage)}
        figures |= {f"daily.relevance.{model}.{key}": value for key, value in weights.items()}
        told += [one.told(floor, relevance.Weights(**weights)) for one in (*found, *changed) if one.own]
    _write(file, known)
    by = _succession(told)
    _write(Path(str(resource(*succession.FILE))), asdict(by))
    figures |= {f"daily.succession.{key}": value for key, value in {"bias": by.bias, **by.weights}.items()}
    rows = [(name, f"{value:.3f}") for name, value in figures.items()]
    return figures, f"{table(('', ''), rows)}\n\nHeld out by fifths of the chats:\n\n{_held_out(told)}"


def _write(file: Path, known: object) -> None:
    file.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _of(memory: Memory, chats: Sequence[Chat], language: str, others: int = _OTHERS) -> Iterator[Asked]:
    """Ask each question of its own chat, and of some others in its language.

    Some of the others do hold an answer ("Where do I live?"), so a fit rather doubts too much than too little.
    """
    some = [chat for chat in chats if chat.language == language]
    users = {chat.id: f"user-{uuid4().hex}" for chat in some}
    with of_its_own(memory, language) as mine:
        for chat in some:
            for session in chat.sessions:
                mine.add(session, user_id=users[chat.id])
        for place, chat in enumerate(some):
            beside = [*some[place + 1 :], *some[:place]][:others]
            for ask in chat.asks:
                for other in (chat, *(beside if not ask.as_of else ())):
                    hits = mine.search(ask.question, user_id=users[other.id], as_of=ask.as_of)
                    yield Asked(chat.id, language, ask, other is chat, hits, hits.among)


def _succession(told: Sequence[Asked]) -> succession.Weights:
    """Fit which notes are outdated: those that tell what was true once, beside those that tell what is true now."""
    rows, held = list[list[float]](), list[bool]()
    for one in told:
        once, now = one.outdated()
        for older, newer, features in one.pairs:
            if older.note.id not in once or newer.note.id in now:
                rows.append(features)
                held.append(older.note.id in once)
    bias, *weights = _regression(rows, held, _RIDGE[1], even=False).round(3).tolist()
    return succession.Weights(bias, dict(zip(succession.FEATURES, weights, strict=True)))


def _held_out(told: Sequence[Asked]) -> str:
    """Tell how many former notes are found out, and in how many questions what is true stands in doubt alone."""
    groups = sorted({one.chat for one in told})
    shares: dict[float, tuple[list[bool], list[bool]]] = {least: ([], []) for least in _LEAST}
    for fold in range(_FOLDS):
        out = set(groups[fold::_FOLDS])
        by = _succession([one for one in told if one.chat not in out])
        for one in told:
            if one.chat in out:
                _count(one, by, shares)
    rows = [(f"{least:.1f}", *(f"{sum(some) / len(some):.3f}" for some in both)) for least, both in shares.items()]
    return table(("log-odds", "former", "doubted"), rows)


def _count(one: Asked, by: succession.Weights, shares: dict[float, tuple[list[bool], list[bool]]]) -> None:
    once, now = one.outdated()
    for least, (former, doubted) in shares.items():
        given = one.ask.question, one.hits, one.language, one.notes
        marked = succession.outdated(*given, by, least).keys()
        if once:
            former.append(once <= marked)
        if now - once:
            doubted.append(now - once <= marked)


def _regression(
    rows: Sequence[Sequence[float]], held: Sequence[bool], ridge: float, *, even: bool
) -> "NDArray[np.float64]":
    """Return bias and weights of a logistic regression, by Newton's method; `even` lets both sides weigh the same."""
    import numpy as np

    given, wanted = np.array(rows, dtype=float), np.array(held, dtype=float)
    mean, spread = given.mean(axis=0), given.std(axis=0) + 1e-9
    columns = np.column_stack([np.ones(len(given)), (given - mean) / spread])
    share = wanted.mean()
    each = np.where(wanted == 1, 0.5 / share, 0.5 / (1 - share)) if even else np.ones(len(given))
    shrunk = ridge * len(given) * np.diag([0.0, *np.ones(given.shape[1])])
    found = np.zeros(columns.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-columns @ found))
        slope = columns.T @ (each * (likely - wanted)) + shrunk @ found
        curve = (columns * (each * likely * (1 - likely))[:, None]).T @ columns + shrunk
        found -= np.linalg.solve(curve, slope)
    weights = found[1:] / spread
    fitted: NDArray[np.float64] = np.array([found[0] - weights @ mean, *weights])
    return fitted
