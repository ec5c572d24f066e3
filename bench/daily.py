"""What a memory holds after everyday chats with an assistant: true now, once, and only what was asked for."""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from uuid import uuid4

from bench.chats import EVERYDAY, LONG, PLAIN, SMALL, Ask, Chat, chats, daily_file
from bench.daily_fit import fit
from bench.server import bench_settings, connected, of_its_own
from memgraph_engine import Memory
from memgraph_engine.evaluation.report import table

_FIGURES = (
    "current",
    "current@300",
    "first",
    "former",
    "foreign",
    "nothing",
    "disputed",
    "doubted",
    "marked",
    "repeated",
    "tokens",
)
_SMALL = 300  # tokens
_TOKENS_A_WORD = 1.3


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the file of chats (else MEMGRAPH_ENGINE_DAILY)")
    parser.add_argument("--model", default="bge-small", help="the embedder")
    parser.add_argument("--only", default="", metavar="ID", help="chats whose id or kind begins so")
    parser.add_argument("--fit", action="store_true", help="instead, fit what contexts go by (MODEL,MODEL)")
    parser.add_argument("--failures", action="store_true", help="print what went wrong, question by question")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Add each chat as a user of its own and ask; return flat figures and a report in Markdown."""
    wanted = given.only
    every = [one for one in chats(daily_file(given.file)) if one.id.startswith(wanted) or one.kind.startswith(wanted)]
    if given.fit:
        return fit(
            given.model.split(","), every, [one for file in (EVERYDAY, PLAIN, SMALL, LONG) for one in chats(file)]
        )
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with connected(bench_settings(given.model)) as memory:
        for language in sorted({chat.language for chat in every}):
            some = [one for one in every if one.language == language]
            for chat, ask, seen, lines in _asked(memory, some, language):
                for group in ("", f"{chat.kind.replace(' ', '_')}.", f"language_{language}."):
                    for name, value in seen.items():
                        values[group][name].append(value)
                if given.failures:
                    _tell(chat, ask, seen, lines)
    figures = {
        f"daily.{group}{name}": round(fmean(some), 4) for group, of in values.items() for name, some in of.items()
    }
    rows = [
        (group.rstrip(".").replace("_", " ") or "**all**", *(_shown(name, of[name]) for name in _FIGURES))
        for group, of in sorted(values.items())
    ]
    asks = sum(len(chat.asks) for chat in every)
    return figures, f"### {len(every)} chats, {asks} questions, {given.model}\n\n{table(('', *_FIGURES), rows)}"


def _shown(name: str, values: Sequence[float]) -> str | None:
    return f"{fmean(values):.{0 if name == 'tokens' else 2}f}" if values else None


def _asked(memory: Memory, some: Sequence[Chat], language: str) -> list[tuple[Chat, Ask, dict[str, float], list[str]]]:
    """Return the figures of each question, and the lines of its context."""
    found = []
    with of_its_own(memory, language) as mine:
        for chat in some:
            user = f"user-{uuid4().hex}"
            for session in chat.sessions:
                mine.add(session, user_id=user)
            found += [(chat, ask, *_measured(mine, user, chat, ask)) for ask in chat.asks]
    return found


def _measured(memory: Memory, user: str, chat: Chat, ask: Ask) -> tuple[dict[str, float], list[str]]:
    context = memory.context(ask.question, user_id=user, as_of=ask.as_of)
    small = memory.context(ask.question, user_id=user, as_of=ask.as_of, budget=_SMALL)
    hits = memory.search(ask.question, user_id=user, as_of=ask.as_of, top_k=5)
    lines = [entry.line for entry in context.entries]
    figures = ask.seen(lines, [entry.line for entry in small.entries], hits[0].note.context if hits else "")
    figures |= {
        **chat.marked(lines),
        "repeated": chat.repeated(lines),
        "tokens": len(context.text.split()) * _TOKENS_A_WORD,
    }
    return figures, lines


def _tell(chat: Chat, ask: Ask, figures: dict[str, float], lines: Sequence[str]) -> None:
    low = [name for name in _FIGURES[:6] if figures.get(name) == 0]
    if low or figures["disputed"]:
        print(f"{chat.id}: {ask.question} [{', '.join(low)}]")
        print("".join(f"    {line}\n" for line in lines), end="")
