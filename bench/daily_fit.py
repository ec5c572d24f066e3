"""Fit how relevant a note is to a question, and how certain it is that hits hold its answer.

A chat's questions are asked of their own chat; for relevance also of others, which hold nothing on them.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from bench.chats import Ask, Chat
from bench.server import bench_settings, connected, of_its_own
from memgraph_engine import Memory
from memgraph_engine.answer import certainty
from memgraph_engine.answer.candidates import candidates
from memgraph_engine.evaluation.report import table
from memgraph_engine.model.result import Hit
from memgraph_engine.recall import relevance
from memgraph_engine.resources import resource

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_OTHERS = 5  # chats of which a question is asked that do not hold its answer
_STEPS = 50
_RIDGE = 1e-5, 1e-4  # of relevance, of certainty
_ENOUGH = 10  # questions of a set that hold an answer, and as many that don't: of fewer nothing is fitted


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question of a set of chats found: in its own chat, or in one that does not hold its answer."""

    of: str
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

    def features(self, by: relevance.Weights) -> list[float] | None:
        """Return what certainty goes by where hits are as relevant as these weights say; None without hits."""
        hits = [replace(hit, relevance=by.relevance(hit.similarity, hit.coverage)) for hit in self.hits]
        some = candidates(self.ask.question, hits, self.language)[0]
        return certainty.features(self.ask.question, some, self.notes, self.language, ()) if some else None


def fit(models: Sequence[str], sets: Mapping[str, Sequence[Chat]]) -> tuple[dict[str, float], str]:
    """Write the weights of each embedder's relevance, by the first set, and those of certainty, which serve all."""
    file = Path(str(resource(*relevance.FILE)))
    known = json.loads(file.read_text(encoding="utf-8"))
    figures: dict[str, float] = {}
    rows: list[tuple[str, list[float], bool]] = []
    for model in models:
        with connected(bench_settings(model)) as memory:
            name = memory.engine.embedder.name
            found = [
                one
                for place, (of, chats) in enumerate(sets.items())
                for language in sorted({chat.language for chat in chats})
                for one in _of(memory, of, chats, language, 0 if place else _OTHERS)
            ]
        first = [one for one in found if one.of == next(iter(sets))]
        held = [one.known for one in first]
        each = [1 / held.count(known) for known in held]
        bias, similarity, coverage = regression([one.best for one in first], held, each, _RIDGE[0]).round(3)
        known[name] = weights = {"bias": float(bias), "similarity": float(similarity), "coverage": float(coverage)}
        figures |= {f"daily.relevance.{model}.{key}": value for key, value in weights.items()}
        by = relevance.Weights(**weights)
        rows += [
            (one.of, values, one.known)
            for one in found
            if one.own and (one.ask.nothing or one.ask.current) and (values := one.features(by))
        ]
    _write(file, known)
    if by_all := certain(rows):
        _write(Path(str(resource(*certainty.FILE))), asdict(by_all))
        figures |= {f"daily.certainty.{key}": value for key, value in {"bias": by_all.bias, **by_all.weights}.items()}
    lines = [(name, f"{value:.3f}") for name, value in figures.items()]
    return figures, f"{table(('', ''), lines)}\n\nSure, fitted on the other sets:\n\n{held_out(rows)}"


def _write(file: Path, known: object) -> None:
    file.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _of(memory: Memory, of: str, chats: Sequence[Chat], language: str, others: int) -> Iterator[Asked]:
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
                    yield Asked(of, language, ask, other is chat, hits, hits.among)


def certain(rows: Sequence[tuple[str, list[float], bool]]) -> certainty.Weights | None:
    """Fit certainty: of each row the set, the values of its features, and whether the answer is known.

    None where no set has enough of both. Each set weighs the same, and so do its questions that have an answer and
    those that have none.
    """
    sizes = Counter((of, known) for of, _, known in rows)
    some = [row for row in rows if min(sizes[row[0], known] for known in (True, False)) >= _ENOUGH]
    if not some:
        return None
    each = [1 / sizes[of, known] for of, _, known in some]
    bias, *weights = regression([values for _, values, _ in some], [known for *_, known in some], each, _RIDGE[1])
    named = {name: round(float(weight), 3) for name, weight in zip(certainty.FEATURES, weights, strict=True)}
    return certainty.Weights(round(float(bias), 3), named)


def held_out(rows: Sequence[tuple[str, list[float], bool]]) -> str:
    """Tell how many answers are sure where they are known, and where not, by weights fitted on the other sets."""
    lines = []
    for of in sorted({of for of, *_ in rows}):
        by = certain([row for row in rows if row[0] != of])
        told = [(by.score(values) > 0, known) for name, values, known in rows if by and name == of]
        shares = [[sure for sure, known in told if known is wanted] for wanted in (True, False)]
        lines.append((of, *(f"{sum(some) / len(some):.2f} of {len(some)}" if some else None for some in shares)))
    return table(("", "known", "not known"), lines)


def regression(
    rows: Sequence[Sequence[float]], held: Sequence[bool], each: Sequence[float], ridge: float
) -> "NDArray[np.float64]":
    """Return bias and weights of a logistic regression, by Newton's method; `each` row counts so much."""
    import numpy as np

    given, wanted, counted = np.array(rows, dtype=float), np.array(held, dtype=float), np.array(each) / np.mean(each)
    mean, spread = given.mean(axis=0), given.std(axis=0) + 1e-9
    columns = np.column_stack([np.ones(len(given)), (given - mean) / spread])
    shrunk = ridge * len(given) * np.diag([0.0, *np.ones(given.shape[1])])
    found = np.zeros(columns.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-columns @ found))
        slope = columns.T @ (counted * (likely - wanted)) + shrunk @ found
        curve = (columns * (counted * likely * (1 - likely))[:, None]).T @ columns + shrunk
        found -= np.linalg.solve(curve, slope)
    weights = found[1:] / spread
    fitted: NDArray[np.float64] = np.array([found[0] - weights @ mean, *weights])
    return fitted
