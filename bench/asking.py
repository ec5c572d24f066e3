"""Chats as memories: each is added as a user of its own and asked, and each figure is told by kind and language."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from uuid import uuid4

from bench.chats import TOKENS_A_WORD, Ask, Chat, holds, marked, plain, turns
from bench.server import bench_settings, connected, of_its_own
from memgraph_engine import Memory, Settings
from memgraph_engine.embedding.choose import named_in
from memgraph_engine.evaluation.report import table
from memgraph_engine.interface.defaults import MOST
from memgraph_engine.language.terms import sentences
from memgraph_engine.resources import LANGUAGES


def asked(model: str, every: Sequence[Chat]) -> Iterator[tuple[Memory, str, Chat, Ask]]:
    """Add each chat session by session; yield its memory, its user, itself and each of its questions.

    What is in a language without lists of its own is kept as `standard`. Without a model each language has the one
    that a new memory of it gets.
    """
    by_model = defaultdict[str, list[str]](list)
    for language in sorted({chat.language for chat in every}):
        by_model[named_in(Settings.load(embedder=model, language=kept(language)))].append(language)
    for named, languages in by_model.items():
        with connected(bench_settings(named)) as memory:
            for language in languages:
                with of_its_own(memory, kept(language)) as mine:
                    yield from _by_user(mine, [chat for chat in every if chat.language == language])


def facts(memory: Memory, user: str, chat: Chat, ask: Ask) -> dict[str, float]:
    """Return what can be told of a question by the facts of its user, one of the past left out.

    `facts.told`, `facts.former` and `facts.tokens` are those of a context of facts. `facts.current` tells whether what
    is asked stands in a fact that holds, where a sentence of the user's states it; `facts.former_open` whether what was
    true once stands in one.
    """
    if ask.as_of:
        return {}
    told = [plain(one.text) for one in memory.facts(user_id=user, limit=MOST)]
    stated = [one for turn in turns(chat, "user") for one in sentences(turn, kept(chat.language)) if "?" not in one]
    context = memory.context(ask.question, user_id=user, facts=True)
    lines = [plain(one.line) for one in context.entries]
    plainly = "\n".join(line for line, once in zip(lines, marked(lines), strict=True) if not once)
    figures = {"facts.tokens": len(context.text.split()) * TOKENS_A_WORD}
    if ask.current:
        figures["facts.told"] = float(all(holds("\n".join(lines), one) for one in ask.current))
    if ask.former:
        figures["facts.former"] = float(not any(holds(plainly, one) for one in ask.former))
    if ask.current and any(holds(plain(one), ask.current[0]) for one in stated):
        figures["facts.current"] = float(any(holds(text, ask.current[0]) for text in told))
    if ask.former:
        figures["facts.former_open"] = float(any(holds(text, one) for text in told for one in ask.former))
    return figures


def shown(model: str) -> str:
    """Return a model as reports name it."""
    return model or "each language by the model of its own"


def kept(language: str) -> str:
    """Return the language that a memory of a chat in it has: `standard` for one without a folder of its own."""
    return language if language in LANGUAGES else "standard"


def _by_user(memory: Memory, every: Sequence[Chat]) -> Iterator[tuple[Memory, str, Chat, Ask]]:
    for chat in every:
        user = f"user-{uuid4().hex}"
        for session in chat.sessions:
            memory.add(session, user_id=user)
        for ask in chat.asks:
            yield memory, user, chat, ask


@dataclass(frozen=True, slots=True)
class Figures:
    """Means of what was measured question by question: of all of them, and of groups of them."""

    name: str
    values: dict[str, dict[str, list[float]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))

    def add(self, seen: Mapping[str, float], *groups: str) -> None:
        """Count the figures of a question, which is of these groups."""
        for group in ("", *groups):
            for name, value in seen.items():
                self.values[group][name].append(value)

    def flat(self) -> dict[str, float]:
        """Return each mean as `name.figure` and `name.group.figure`."""
        return {
            ".".join(filter(None, (self.name, group, name))): round(fmean(some), 4)
            for group, of in self.values.items()
            for name, some in of.items()
        }

    def rows(self, shown: Sequence[str]) -> str:
        """Return a table of some figures: all questions, then each group."""
        rows = [
            (group.replace("_", " ") or "**all**", *(_shown(name, of.get(name, ())) for name in shown))
            for group, of in sorted(self.values.items())
        ]
        return table(("", *shown), rows)


def _shown(name: str, values: Sequence[float]) -> str | None:
    return f"{fmean(values):.{0 if name.endswith('tokens') else 2}f}" if values else None
