"""What a memory holds after everyday chats with an assistant: true now, once, and only what was asked for."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from bench.asking import Figures, asked, facts, shown
from bench.chats import EVERYDAY, PLAIN, SMALL, TOKENS_A_WORD, Ask, Chat, chats, daily_file, exchanges, woven
from bench.daily_fit import fit
from memgraph_engine import Memory

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
    "facts.told",
    "facts.former",
    "facts.tokens",
    "facts.current",
    "facts.former_open",
)
_SMALL = 300  # tokens


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the file of chats (else MEMGRAPH_ENGINE_DAILY)")
    parser.add_argument("--model", default="", help="the embedder (else what a new memory of each language gets)")
    parser.add_argument("--only", default="", metavar="ID", help="chats whose id or kind begins so")
    parser.add_argument("--among", type=int, default=0, metavar="N", help="weave N other exchanges into each chat")
    parser.add_argument("--fit", action="store_true", help="instead, fit what contexts go by (MODEL,MODEL)")
    parser.add_argument("--failures", action="store_true", help="print what went wrong, question by question")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Add each chat as a user of its own and ask; return flat figures and a report in Markdown."""
    every = chats(daily_file(given.file), given.only)
    if given.among:
        others = exchanges()
        every = [woven(chat, others, given.among) for chat in every]
    if given.fit:
        files = {"everyday": EVERYDAY, "plain": PLAIN, "small": SMALL}
        if ordinary := os.environ.get("MEMGRAPH_ENGINE_ORDINARY"):
            files["ordinary"] = Path(ordinary)
        return fit(
            (given.model or "bge-small").split(","),
            {"daily": every, **{name: chats(file) for name, file in files.items()}},
        )
    figures = Figures("daily")
    for memory, user, chat, ask in asked(given.model, every):
        seen, lines = _measured(memory, user, chat, ask)
        seen |= facts(memory, user, chat, ask)
        figures.add(seen, chat.kind.replace(" ", "_"), f"language_{chat.language}")
        if given.failures:
            _tell(chat, ask, seen, lines)
    asks = sum(len(chat.asks) for chat in every)
    return figures.flat(), f"### {len(every)} chats, {asks} questions, {shown(given.model)}\n\n{figures.rows(_FIGURES)}"


def _measured(memory: Memory, user: str, chat: Chat, ask: Ask) -> tuple[dict[str, float], list[str]]:
    context = memory.context(ask.question, user_id=user, as_of=ask.as_of)
    small = memory.context(ask.question, user_id=user, as_of=ask.as_of, budget=_SMALL)
    hits = memory.search(ask.question, user_id=user, as_of=ask.as_of, top_k=5)
    lines = [entry.line for entry in context.entries]
    figures = ask.seen(
        lines, [entry.line for entry in small.entries], hits[0].note.context if hits else "", sure=context.sure
    )
    figures |= {
        **chat.marked(lines),
        "repeated": chat.repeated(lines),
        "tokens": len(context.text.split()) * TOKENS_A_WORD,
    }
    return figures, lines


def _tell(chat: Chat, ask: Ask, figures: dict[str, float], lines: Sequence[str]) -> None:
    low = [name for name in _FIGURES[:6] if figures.get(name) == 0]
    if low or figures["disputed"]:
        print(f"{chat.id}: {ask.question} [{', '.join(low)}]")
        print("".join(f"    {line}\n" for line in lines), end="")
