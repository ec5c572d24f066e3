"""Fit how notes are ranked: questions with known answers, asked of memories of several kinds."""

import inspect
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from uuid import uuid4

from bench import code, realmem
from bench.asking import kept
from bench.chats import EVERYDAY, LONG, PLAIN, PREFERENCES, Chat, chats, daily_file, exchanges, holds, plain, woven
from bench.conversations import conversations, locomo_file, named_file
from bench.server import bench_settings, connected, of_its_own
from memgraph_engine import Memory, Note
from memgraph_engine.errors import InvalidInput
from memgraph_engine.evaluation.report import table
from memgraph_engine.evaluation.run import after
from memgraph_engine.ingest.messages import parse_instant
from memgraph_engine.model.scope import Scope
from memgraph_engine.recall.fusion import CHANNELS
from memgraph_engine.recall.question import Filters
from memgraph_engine.recall.ranking import FEATURES, FILE, PEOPLE, USER, Ranking, whose
from memgraph_engine.recall.relevance import weights
from memgraph_engine.recall.search import Query, retrieve
from memgraph_engine.resources import resource

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHATS, LONG_CHATS = "chats", "long chats"
_EXCHANGES = 50  # of others, in a long chat
_AMONG = 30  # of others, among which preferences are told
_FOLDS = 5
_QUESTIONS = 400  # of documents
_OF_A_PACKAGE = 120
_PACKAGES = ("requests", "typer")  # not those that `bench code` measures
_RIDGE = 1.0
_WEIGHT = 300.0  # of all questions of a kind together, so that none drowns the others
_CUTS = (3, 10, 20)
_PLAIN = ("dense_raw", "lexical_raw")
"""The channels that a ranking must not be below: vectors and words of the notes themselves."""
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
    """A question: what is known of the notes of its pool, how plain channels score them, and which hold the answer.

    `of` is its kind, `whose` tells by which of two rankings it is ranked, and `group` is what is held out together.
    `wanted` has a row for each thing that is wanted, and tells of each note whether it holds that; `first` tells which
    notes may stand first.
    """

    of: str
    model: str
    group: str
    whose: str
    features: "NDArray[np.float64]"
    plain: "Mapping[str, NDArray[np.float64]]"
    wanted: "NDArray[np.bool_]"
    first: "NDArray[np.bool_]"

    @property
    def held(self) -> "NDArray[np.bool_]":
        """Whether each note holds anything that is wanted."""
        held: NDArray[np.bool_] = self.wanted.max(axis=0)
        return held

    def measured(self, scores: "NDArray[np.float64]") -> dict[str, float]:
        """Return whether the best note holds the answer, and the share of what is wanted that the first notes hold."""
        import numpy as np

        order = np.argsort(-scores, kind="stable")
        found = {f"R@{k}": float(self.wanted[:, order[:k]].any(axis=1).mean()) for k in _CUTS}
        return {"first": float(self.first[order[:1]].any()), **found}


@dataclass(frozen=True, slots=True)
class Files:
    """The files of dialogues and of everyday chats: each the one given, or that which a variable names."""

    dialogues: Path | None = None
    daily: Path | None = None

    def kinds(self, memory: Memory, model: str) -> Iterator[Asked]:
        """Ask the questions of all kinds."""
        daily, others = chats(daily_file(self.daily)), exchanges()
        longer = [woven(chat, others, _EXCHANGES) for chat in daily[::2]]  # they take long to embed
        ordinary = chats(named_file(None, "file of ordinary chats", "MEMGRAPH_ENGINE_ORDINARY"))
        yield from _dialogues(memory, model, locomo_file(self.dialogues))
        yield from _chats(memory, (CHATS, model), [*daily, *chats(EVERYDAY), *chats(PLAIN)])
        yield from _chats(memory, (LONG_CHATS, model), [*longer, *chats(LONG)])
        yield from _chats(memory, ("ordinary", model), ordinary)
        yield from _chats(memory, ("preferences", model), [woven(one, others, _AMONG) for one in chats(PREFERENCES)])
        yield from _months(memory, model)
        yield from _documents(memory, model)
        yield from _code(memory, model)


def fit(files: Files, models: Sequence[str]) -> tuple[dict[str, float], str]:
    """Write config/calibration/ranking.json; report each kind held out, and by plain channels."""
    asked: list[Asked] = []
    for model in models:
        with connected(bench_settings(model)) as memory:
            asked += files.kinds(memory, model)
    shipped = {of: fitted(asked, of) for of in (USER, PEOPLE)}
    text = json.dumps({of: {"bias": one.bias, "weights": one.weights} for of, one in shipped.items()}, indent=1)
    Path(str(resource(*FILE))).write_text(text + "\n", encoding="utf-8")
    figures: dict[str, float] = {}
    rows: list[Sequence[object]] = []
    for model, name in dict.fromkeys((one.model, one.of) for one in asked):
        some = [one for one in asked if (one.of, one.model) == (name, model)]
        ways = {
            **{channel: [one.measured(one.plain[channel]) for one in some] for channel in _PLAIN},
            "fitted on the others of all kinds": _held_out(asked, some),
            "fitted on the other kinds": _by([one for one in asked if not _alike(one.of, name)], some),
        }
        for way, measured in ways.items():
            means = {key: sum(one[key] for one in measured) / len(measured) for key in measured[0]}
            figures |= {f"{model}.{name}.{way}.{key}".replace(" ", "_"): value for key, value in means.items()}
            rows.append((model, name, len(some), way, *(f"{100 * value:.1f}" for value in means.values())))
    told = [(name, *(f"{one.weights[name]:.2f}" for one in shipped.values())) for name in FEATURES]
    head = ("", "of", "questions", "ranked by", "first", *(f"R@{k}" for k in _CUTS))
    return figures, "\n\n".join([table(head, rows), table(("feature", *shipped), told)])


def fitted(every: Sequence[Asked], of: str) -> Ranking:
    """Return weights under which the notes that hold answers are the likeliest of their pools (conditional logit).

    All questions of a kind weigh as much together as those of another, whosever words they are asked of. Then a bias
    under which the scores of all notes are as likely as they should be.
    """
    import numpy as np

    counts = Counter((one.of, one.model) for one in every)
    asked = [one for one in every if one.whose == of]
    known = [
        (one.features, one.held / one.held.sum(), _WEIGHT / counts[one.of, one.model])
        for one in asked
        if one.held.any()
    ]
    weights = np.zeros(len(FEATURES))

    def likelihood(some: "NDArray[np.float64]") -> float:
        total = -_RIDGE / 2 * float(some @ some)
        for rows, held, weight in known:
            scores = rows @ some
            most = scores.max()
            total += weight * float(held @ scores - most - np.log(np.exp(scores - most).sum()))
        return total

    now = likelihood(weights)
    for _ in range(_STEPS):
        slope, curve = -_RIDGE * weights, _RIDGE * np.eye(len(weights))
        for rows, held, weight in known:
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
    by = {of: fitted(known, of) for of in {one.whose for one in some}}
    return [one.measured(by[one.whose].parts(one.features).sum(axis=1)) for one in some]


def _alike(one: str, other: str) -> bool:
    """Tell whether two kinds are of the same chats."""
    return one == other or {one, other} == {CHATS, LONG_CHATS}


def _dialogues(memory: Memory, model: str, file: Path) -> Iterator[Asked]:
    with of_its_own(memory) as mine:
        for conversation in conversations(file):
            mine.add_many(conversation.turns, user_id=conversation.id)
            ended = after(conversation, mine)
            for question in conversation.questions:
                of = "dialogues", model, conversation.id
                yield _asked(ended, of, conversation.id, question.text, _sources(question.evidence))


def _chats(memory: Memory, of: tuple[str, str], every: Sequence[Chat]) -> Iterator[Asked]:
    for language in sorted({chat.language for chat in every}):
        with of_its_own(memory, kept(language)) as mine:
            for chat in (one for one in every if one.language == language):
                user = f"user-{uuid4().hex}"
                for session in chat.sessions:
                    mine.add(session, user_id=user)
                for ask in chat.asks:
                    if ask.current:
                        yield _asked(mine, (*of, chat.id), user, ask.question, _said(ask.current), as_of=ask.as_of)


def _months(memory: Memory, model: str) -> Iterator[Asked]:
    """Ask months of chats with an assistant, each question before it is stored; some weeks are held out at once."""
    folder = named_file(None, "folder of RealMem's users", "MEMGRAPH_ENGINE_REALMEM")
    with of_its_own(memory) as mine:
        for file in sorted(folder.glob("*.json")):
            for number, step in enumerate(realmem.steps(json.loads(file.read_text("utf-8")))):
                if isinstance(step, realmem.Question):
                    of = "months", model, f"{file.stem}-{number // _AMONG}"
                    yield _asked(mine, of, file.stem, step.text, _sources(step.evidence))
                else:
                    mine.add_many(step, user_id=file.stem)


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
        every = [(module, n, first) for module, some in told.items() for n, (first, _) in enumerate(some)]
        for module, n, first in every[:: max(len(every) // _QUESTIONS, 1)]:
            yield _asked(mine, ("documents", model, module), "library", first, _sources([f"{module}-{n}"]))


def _code(memory: Memory, model: str) -> Iterator[Asked]:
    """Ask the first sentences of functions' docstrings; the functions are stored without these."""
    for package in _PACKAGES:
        with of_its_own(memory) as mine, TemporaryDirectory() as folder:
            questions = list(code.copied(package, Path(folder) / package))
            mine.ingest(Path(folder) / package, user_id=package, repository=True)
            random.Random(0).shuffle(questions)
            for number, question in enumerate(questions[:_OF_A_PACKAGE]):
                of = "code", model, f"{package}-{number % _FOLDS}"
                yield _asked(mine, of, package, question.text, _answers(question))


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


Wanted = list[tuple[Callable[[Note], bool], Callable[[Note], bool]]]
"""For each thing that is wanted, whether a note holds it, and whether it may stand first for it."""


def _sources(wanted: Iterable[str]) -> Wanted:
    def of(id: str) -> Callable[[Note], bool]:
        return lambda note: any(source.id == id for source in note.sources)

    return [(of(one), of(one)) for one in wanted]


def _said(wanted: Sequence[str]) -> Wanted:
    """Return what tells whether a note holds strings, with "|" between; first is whose context holds the first one."""

    def of(one: str) -> tuple[Callable[[Note], bool], Callable[[Note], bool]]:
        return lambda note: holds(
            plain("\n".join(note.raw)), one
        ), lambda note: one == wanted[0] and holds(plain(note.context), one)

    return [of(one) for one in wanted]


def _answers(question: code.Question) -> Wanted:
    def of(note: Note) -> bool:
        return bool(question.answered(note))

    return [(of, of)]


def _asked(
    memory: Memory, of: tuple[str, str, str], user: str, question: str, wanted: Wanted, *, as_of: str | None = None
) -> Asked:
    """Ask a question of a user's memory."""
    import numpy as np

    engine = memory.engine
    scopes = [Scope(engine.settings.tenant, user), Scope(engine.settings.tenant)]
    filters = Filters(as_of=parse_instant(as_of, "as_of", engine.settings.timezone))
    query = Query(
        question,
        engine.embedder.embed_query(question),
        scopes,
        filters,
        20,
        filters.as_of or engine.now(),
        weights=weights(engine.embedder.name, engine.embedder.fitted),
    )
    found = retrieve(engine.db, engine.notes, query, [engine.settings.language], engine.settings.recall)
    if found.features is None:
        raise InvalidInput(f"Nothing is in the pool of {question!r}.")
    engine.notes.complete(engine.db, query.scope_names, found.notes)
    notes = [note.note() for note in found.notes]
    return Asked(
        *of,
        whose(found.notes),
        found.features,
        {channel: found.fused.raw[:, CHANNELS.index(channel)] for channel in _PLAIN},
        np.array([[holding(note) for note in notes] for holding, _ in wanted], dtype=bool),
        np.array([any(may(note) for _, may in wanted) for note in notes], dtype=bool),
    )
