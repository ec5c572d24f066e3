"""Fit how notes are ranked: questions with known answers, asked of dialogues, chats, long chats and documents."""

import inspect
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from bench.chats import EVERYDAY, chats, daily_file, exchanges, holds, plain, woven
from bench.conversations import conversations, locomo_file
from bench.server import bench_settings, connected, of_its_own
from memgraph_engine import Memory
from memgraph_engine.errors import InvalidInput
from memgraph_engine.evaluation.report import table
from memgraph_engine.evaluation.run import after
from memgraph_engine.ingest.messages import parse_instant
from memgraph_engine.model.scope import Scope
from memgraph_engine.recall.question import Filters
from memgraph_engine.recall.ranking import FEATURES, FILE, Ranking
from memgraph_engine.recall.search import Query, retrieve
from memgraph_engine.resources import resource

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIALOGUES, CHATS, LONG, DOCUMENTS = "dialogues", "chats", "long chats", "documents"
SETS = (DIALOGUES, CHATS, LONG, DOCUMENTS)
_EXCHANGES = 50  # of others, in a long chat
_FOLDS = 5
_QUESTIONS = 400  # of documents
_RIDGE = 1.0
_WEIGHTS = {DIALOGUES: 500.0, CHATS: 250.0, LONG: 250.0, DOCUMENTS: 500.0}
"""What all questions of a set weigh together, so that none drowns the others; two sets are of the same chats."""
_STEPS = 50
_MODULES = (
    "argparse",
    "ast",
    "asyncio.tasks",
    "bisect",
    "calendar",
    "collections",
    "configparser",
    "copy",
    "csv",
    "datetime",
    "decimal",
    "difflib",
    "dis",
    "email.message",
    "fractions",
    "functools",
    "heapq",
    "http.client",
    "inspect",
    "itertools",
    "json",
    "logging",
    "pathlib",
    "pickle",
    "random",
    "re",
    "shutil",
    "socket",
    "statistics",
    "string",
    "subprocess",
    "tarfile",
    "tempfile",
    "textwrap",
    "threading",
    "typing",
    "unittest.mock",
    "urllib.parse",
    "zipfile",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: what is known of the notes of its pool, and which of them hold the answer.

    `group` is what is held out together. `first` tells whose context holds it: what may stand first. Where several
    sources are `wanted`, each counts; of a chat one is enough.
    """

    of: str
    model: str
    group: str
    features: "NDArray[np.float64]"
    fused: "NDArray[np.float64]"
    held: "NDArray[np.bool_]"
    first: "NDArray[np.bool_]"
    sources: Sequence[frozenset[str]]
    wanted: frozenset[str]

    def measured(self, scores: "NDArray[np.float64]") -> dict[str, float]:
        """Return whether the best note holds the answer, and the share of it in the first notes."""
        import numpy as np

        order = np.argsort(-scores, kind="stable")
        figures = {"first": float(self.first[order[:1]].any())}
        for k in (10, 20):
            if self.wanted:
                found = frozenset().union(*(self.sources[row] for row in order[:k]))
                figures[f"R@{k}"] = len(found & self.wanted) / len(self.wanted)
            else:
                figures[f"R@{k}"] = float(self.held[order[:k]].any())
        return figures


def fit(file: Path | None, daily: Path | None, models: Sequence[str]) -> tuple[dict[str, float], str]:
    """Write config/calibration/ranking.json; report each set held out, and by the weights of the settings."""
    asked: list[Asked] = []
    for model in models:
        with connected(bench_settings(model)) as memory:
            asked += [*_dialogues(memory, model, file), *_chats(memory, model, daily), *_documents(memory, model)]
    shipped = fitted(asked)
    text = json.dumps({"bias": shipped.bias, "weights": dict(shipped.weights)}, indent=1)
    Path(str(resource(*FILE))).write_text(text + "\n", encoding="utf-8")
    figures: dict[str, float] = {}
    rows: list[Sequence[object]] = []
    for model in models:
        for name in SETS:
            some = [one for one in asked if (one.of, one.model) == (name, model)]
            ways = {
                "by weights": [one.measured(one.fused) for one in some],
                "fitted on the others of all sets": _held_out(asked, some),
                "fitted on the other sets": _by([one for one in asked if not _alike(one.of, name)], some),
            }
            for way, measured in ways.items():
                means = {key: sum(one[key] for one in measured) / len(measured) for key in measured[0]}
                figures |= {f"{model}.{name}.{way}.{key}".replace(" ", "_"): value for key, value in means.items()}
                rows.append((model, name, len(some), way, *(f"{value:.3f}" for value in means.values())))
    weights = [(name, f"{value:.2f}") for name, value in {"bias": shipped.bias, **shipped.weights}.items()]
    head = ("", "of", "questions", "ranked", "first", "R@10", "R@20")
    return figures, "\n\n".join([table(head, rows), table(("feature", "weight"), weights)])


def fitted(asked: Sequence[Asked]) -> Ranking:
    """Return weights under which the notes that hold answers are the likeliest of their pools (conditional logit).

    Then a bias under which the scores of all notes are as likely as they should be.
    """
    import numpy as np

    counts: dict[tuple[str, str], int] = defaultdict(int)
    for one in asked:
        counts[one.of, one.model] += 1
    every = [
        (one.features, one.held / one.held.sum(), _WEIGHTS[one.of] / counts[one.of, one.model])
        for one in asked
        if one.held.any()
    ]
    weights = np.zeros(len(FEATURES))

    def likelihood(some: "NDArray[np.float64]") -> float:
        total = -_RIDGE / 2 * float(some @ some)
        for rows, held, weight in every:
            scores = rows @ some
            most = scores.max()
            total += weight * float(held @ scores - most - np.log(np.exp(scores - most).sum()))
        return total

    now = likelihood(weights)
    for _ in range(_STEPS):
        slope, curve = -_RIDGE * weights, _RIDGE * np.eye(len(weights))
        for rows, held, weight in every:
            scores = np.exp(rows @ weights - (rows @ weights).max())
            likely = scores / scores.sum()
            mean = likely @ rows
            slope += weight * (held @ rows - mean)
            curve += weight * ((rows * likely[:, None]).T @ rows - np.outer(mean, mean))
        step = np.linalg.solve(curve, slope)
        while likelihood(weights + step) < now - 1e-9 and np.abs(step).max() > 1e-6:
            step = step / 2
        weights, now = weights + step, likelihood(weights + step)
        if np.abs(step).max() < 1e-4:
            break
    named = dict(zip(FEATURES, weights.round(3).tolist(), strict=True))
    return Ranking(_bias(asked, weights), named)


def _bias(asked: Sequence[Asked], weights: "NDArray[np.float64]") -> float:
    """Return the bias under which as many notes are likely as hold answers, each question weighing the same."""
    import numpy as np

    scores = [one.features @ weights for one in asked]
    share = float(np.mean([one.held.mean() for one in asked]))
    low, high = -50.0, 50.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        likely = np.mean([(1 / (1 + np.exp(-(middle + some)))).mean() for some in scores])
        low, high = (middle, high) if likely < share else (low, middle)
    return round(low, 3)


def _held_out(asked: Sequence[Asked], some: Sequence[Asked]) -> list[dict[str, float]]:
    """Return the figures of questions, each by weights fitted without its own group and its chat's longer form."""
    groups = sorted({one.group for one in some})
    found = []
    for fold in range(_FOLDS):
        out = set(groups[fold::_FOLDS])
        tested = [one for one in some if one.group in out]
        if tested:
            found += _by([one for one in asked if one.group not in out], tested)
    return found


def _by(known: Sequence[Asked], some: Sequence[Asked]) -> list[dict[str, float]]:
    ranking = fitted(known)
    return [one.measured(ranking.parts(one.features).sum(axis=1)) for one in some]


def _alike(one: str, other: str) -> bool:
    """Tell whether two sets are of the same chats."""
    return one == other or {one, other} == {CHATS, LONG}


def _dialogues(memory: Memory, model: str, file: Path | None) -> Iterator[Asked]:
    with of_its_own(memory) as mine:
        for conversation in conversations(locomo_file(file)):
            mine.add_many(conversation.turns, user_id=conversation.id)
            mine.rebuild_topics(user_id=conversation.id)
            ended = after(conversation, mine)
            for question in conversation.questions:
                wanted = frozenset(question.evidence)
                yield _asked(ended, (DIALOGUES, model, conversation.id), conversation.id, question.text, wanted)


def _chats(memory: Memory, model: str, file: Path | None) -> Iterator[Asked]:
    others = exchanges()
    measured = chats(daily_file(file))
    every = [*measured, *chats(EVERYDAY)]
    for language in sorted({chat.language for chat in every}):
        with of_its_own(memory, language) as mine:
            for number, chat in enumerate(one for one in every if one.language == language):
                long = number % 2 == 0 and chat in measured  # they take long to embed
                longer = ((LONG, woven(chat, others, _EXCHANGES)),) if long else ()
                for name, told in ((CHATS, chat), *longer):
                    user = f"user-{uuid4().hex}"
                    for session in told.sessions:
                        mine.add(session, user_id=user)
                    mine.rebuild_topics(user_id=user)
                    for ask in chat.asks:
                        if ask.current:
                            of = name, model, chat.id
                            yield _asked(mine, of, user, ask.question, ask.current[0], language, ask.as_of)


def _documents(memory: Memory, model: str) -> Iterator[Asked]:
    """Ask the first sentences of docstrings of the standard library; the rest of each is a passage of its module's."""
    told = {module: _docstrings(module) for module in _MODULES}
    with of_its_own(memory) as mine:
        for module, some in told.items():
            if some:
                mine.add_many(
                    [{"id": f"{module}-{n}", "text": rest, "session": module} for n, (_, rest) in enumerate(some)],
                    user_id="library",
                )
        mine.rebuild_topics(user_id="library")
        every = [(module, n, first) for module, some in told.items() for n, (first, _) in enumerate(some)]
        for module, n, first in every[:: max(len(every) // _QUESTIONS, 1)]:
            yield _asked(mine, (DOCUMENTS, model, module), "library", first, frozenset([f"{module}-{n}"]))


def _docstrings(module: str) -> list[tuple[str, str]]:
    """Return the first paragraph and the rest of each docstring of a module's classes, methods and functions."""
    found: dict[str, tuple[str, str]] = {}
    home = import_module(module)
    things = [one for name, one in sorted(vars(home).items()) if not name.startswith("_") and callable(one)]
    own = [
        one for one in things if (getattr(one, "__module__", "") or "").strip("_").split(".")[0] == module.split(".")[0]
    ]
    methods = [one for kind in own if inspect.isclass(kind) for _, one in sorted(vars(kind).items()) if callable(one)]
    for one in (*own, *methods):
        first, _, rest = (inspect.getdoc(one) or "").partition("\n\n")
        if 4 <= len(first.split()) <= 30 and 20 <= len(rest.split()) <= 300:
            found.setdefault(rest, (" ".join(first.split()), rest))
    return list(found.values())


def _asked(
    memory: Memory,
    of: tuple[str, str, str],
    user: str,
    question: str,
    wanted: frozenset[str] | str,
    language: str = "english",
    as_of: str | None = None,
) -> Asked:
    """Ask a question; `wanted` are sources, or strings that a note has one of, with "|" between."""
    import numpy as np

    engine = memory.engine
    scopes = [Scope(engine.settings.tenant, user), Scope(engine.settings.tenant)]
    filters = Filters(as_of=parse_instant(as_of, "as_of", engine.settings.timezone))
    vector = engine.embedder.embed_query(question)
    query = Query(question, vector, scopes, filters, 20, filters.as_of or engine.now())
    found = retrieve(engine.db, engine.notes, query, [language], engine.settings.recall)
    if found.features is None:
        raise InvalidInput(f"Nothing is in the pool of {question!r}.")
    engine.notes.complete(engine.db, query.scope_names, found.notes)
    notes = [note.note() for note in found.notes]
    ids = [frozenset(source.id for source in note.sources) for note in notes]
    if isinstance(wanted, str):
        held = [holds(plain("\n".join(note.raw)), wanted) for note in notes]
        first = [holds(plain(note.context), wanted) for note in notes]
        wanted = frozenset()
    else:
        held = first = [not wanted.isdisjoint(some) for some in ids]
    return Asked(
        *of, found.features, found.fused.total, np.array(held, dtype=bool), np.array(first, dtype=bool), ids, wanted
    )
