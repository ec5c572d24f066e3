"""What a memory tells of ordinary chats: what is asked in other words, what piles up, and what only seems to change."""

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from bench.asking import Figures, asked, facts, shown
from bench.baselines import Vectors, Words
from bench.chats import TOKENS_A_WORD, Ask, Chat, chats, holds, marked, plain, turns
from bench.conversations import named_file
from memgraph_engine import Memory
from memgraph_engine.evaluation.report import table

_FIGURES = (
    "told",
    "first",
    "empty_when_known",
    "former",
    "false_marks",
    "nothing",
    "stray",
    "sure_when_known",
    "sure_when_nothing",
    "tokens",
    "facts.told",
    "facts.former",
    "facts.tokens",
    "facts.current",
    "facts.former_open",
)
_CUTS = (1, 3, 5, 8, 10)
_WAYS = {"all": "`search`", "cosine.all": "cosine of the user's turns", "bm25.all": "BM25 of them"}
_CHANGE = re.compile(r"replaced by|newer than|older than|outdated|was true until|superseded|\buntil \d{4}-")
_CHANGED = "really"  # the first word of the kind in which something changes


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the file of chats (else MEMGRAPH_ENGINE_ORDINARY)")
    parser.add_argument("--model", default="", help="the embedder (else what a new memory of each language gets)")
    parser.add_argument("--only", default="", metavar="ID", help="chats whose id or kind begins so")
    parser.add_argument("--baseline", action="store_true", help="also by cosine and BM25 of the user's turns alone")
    parser.add_argument("--failures", action="store_true", help="print what went wrong, question by question")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Add each chat as a user of its own and ask; return flat figures and a report in Markdown."""
    path = named_file(given.file, "file of ordinary chats", "MEMGRAPH_ENGINE_ORDINARY")
    every, figures = chats(path, given.only), Figures("ordinary")
    for memory, user, chat, ask in asked(given.model, every):
        lines, seen = _told(memory, user, chat, ask)
        seen |= facts(memory, user, chat, ask)
        if ask.current:
            seen |= _found(memory, user, ask)
            for name, texts in _by_others(memory, chat, ask) if given.baseline else ():
                seen |= _complete(ask, texts, name)
        figures.add(seen, chat.kind.split()[0], chat.language)
        if given.failures:
            _tell(chat, ask, seen, lines)
    asks = sum(len(chat.asks) for chat in every)
    tables = f"{figures.rows(_FIGURES)}\n\n{_by_cut(figures.flat())}"
    return figures.flat(), f"### {len(every)} chats, {asks} questions, {shown(given.model)}\n\n{tables}"


def _told(memory: Memory, user: str, chat: Chat, ask: Ask) -> tuple[list[str], dict[str, float]]:
    """Return the lines of a question's context, and its figures; one that the question has no string for is left out.

    A chat that is asked for what it says nothing of may still get lines: `stray` counts them.
    """
    context = memory.context(ask.question, user_id=user)
    lines = [plain(entry.line) for entry in context.entries]
    text = "\n".join(lines)
    seen = {"tokens": len(context.text.split()) * TOKENS_A_WORD}
    if ask.current:
        seen |= {"told": float(all(holds(text, one) for one in ask.current)), "empty_when_known": float(not lines)}
    if ask.former:
        plainly = "\n".join(line for line, once in zip(lines, marked(lines), strict=True) if not once)
        seen["former"] = float(not any(holds(plainly, one) for one in ask.former))
    if ask.nothing:
        seen |= {"nothing": float(not lines), "stray": float(len(lines))}
    seen[f"sure_when_{'nothing' if ask.nothing else 'known'}"] = float(context.sure)
    if not chat.kind.startswith(_CHANGED):
        seen["false_marks"] = float(sum(bool(_CHANGE.search(line)) for line in lines))
    return lines, seen


def _found(memory: Memory, user: str, ask: Ask) -> dict[str, float]:
    hits = memory.search(ask.question, user_id=user, top_k=_CUTS[-1])
    first = plain(hits[0].note.context) if hits else ""
    return {"first": float(holds(first, ask.current[0])), **_complete(ask, [hit.note.text for hit in hits], "all")}


def _complete(ask: Ask, texts: Sequence[str], name: str) -> dict[str, float]:
    """Tell for each k whether the first k texts hold all that is wanted."""
    places = [next((at for at, text in enumerate(texts) if holds(plain(text), one)), len(texts)) for one in ask.current]
    return {f"{name}@{k}": float(max(places) < min(k, len(texts))) for k in _CUTS}


def _by_others(memory: Memory, chat: Chat, ask: Ask) -> Iterator[tuple[str, list[str]]]:
    texts = tuple(turns(chat, "user"))
    for name, way in _others(memory, texts).items():
        yield f"{name}.all", [texts[place] for place in way.best(ask.question)]


@lru_cache(1)
def _others(memory: Memory, texts: tuple[str, ...]) -> dict[str, Words | Vectors]:
    """Return what a search is compared with, over the texts that one chat's user said."""
    settings = memory.engine.settings
    return {"cosine": Vectors(memory.engine.embedder, texts), "bm25": Words(texts, settings.language)}


def _by_cut(flat: Mapping[str, float]) -> str:
    """Return how often all that is wanted is among the first k hits."""
    rows = [
        (shown, *(f"{flat[f'ordinary.{way}@{k}']:.2f}" for k in _CUTS))
        for way, shown in _WAYS.items()
        if f"ordinary.{way}@1" in flat
    ]
    return table(("all that is wanted among the first", *map(str, _CUTS)), rows)


def _tell(chat: Chat, ask: Ask, seen: Mapping[str, float], lines: Sequence[str]) -> None:
    low = [name for name in ("told", "first", "former", "nothing") if seen.get(name) == 0]
    low += [name for name in ("false_marks", "empty_when_known") if seen.get(name)]
    if low:
        print(f"{chat.id}: {ask.question} [{', '.join(low)}]")
        print("".join(f"    {line}\n" for line in lines), end="")
