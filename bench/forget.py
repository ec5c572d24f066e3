"""What a query to forget takes of everyday chats: wrongly, or not at all, and what it shows beside that."""

import argparse
import json
from collections import Counter
from pathlib import Path
from uuid import uuid4

from bench.chats import EVERYDAY, Chat, chats, daily_file
from bench.server import bench_settings, connected, of_its_own
from memgraph_engine import Memory, NotFound
from memgraph_engine.evaluation.report import table

_QUERIES = Path(__file__).with_name("forget.jsonl")  # the turns that each means, by hand
_COLUMNS = ("meant", "taken", "wrongly", "missed", "of these near", "near")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the file of chats (else MEMGRAPH_ENGINE_DAILY)")
    parser.add_argument("--model", default="bge-small", help="the embedder")
    parser.add_argument("--failures", action="store_true", help="print what was wrong, query by query")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Plan what each query means, with all notes as they are, and with the first that is meant deleted."""
    known = {chat.id: chat for chat in (*chats(daily_file(given.file)), *chats(EVERYDAY))}
    queries = [json.loads(line) for line in _QUERIES.read_text("utf-8").splitlines()]
    counts = {state: Counter[str]() for state in ("present", "first deleted")}
    with connected(bench_settings(given.model)) as memory:
        for one in queries:
            chat = known[one["chat"]]
            for state, count in counts.items():
                with of_its_own(memory, chat.language) as mine:
                    count.update(_counted(mine, chat, one, given.failures, deleted=state != "present"))
    rows = [(state, *(f"{count[name]}" for name in _COLUMNS)) for state, count in counts.items()]
    figures = {
        f"forget.{state}.{name}".replace(" ", "_"): float(count[name])
        for state, count in counts.items()
        for name in _COLUMNS
    }
    return figures, f"### {len(queries)} queries, {given.model}\n\n{table(('', *_COLUMNS), rows)}"


def _counted(memory: Memory, chat: Chat, one: dict[str, object], tell: bool, *, deleted: bool) -> dict[str, int]:
    user, number = f"user-{uuid4().hex}", 0
    for turns in chat.sessions:
        memory.add([{**turn, "id": str(number + at)} for at, turn in enumerate(turns)], user_id=user)
        number += len(turns)
    meant = {str(turn) for turn in one["meant"]}  # type: ignore[attr-defined]
    if deleted and meant:
        memory.delete(min(meant, key=int), user_id=user)
    taken = _meant(memory, user, str(one["query"]), near=False)
    near = _meant(memory, user, str(one["query"]), near=True) - taken
    if tell and taken != meant:
        print(chat.id, one["query"], "wrongly", sorted(taken - meant), "missed", sorted(meant - taken), "near", near)
    return {
        "meant": len(meant),
        "taken": len(taken),
        "wrongly": len(taken - meant),
        "missed": len(meant - taken),
        "of these near": len((meant - taken) & near),
        "near": len(near),
    }


def _meant(memory: Memory, user: str, query: str, *, near: bool) -> set[str]:
    try:
        return set(memory.forget(user_id=user, query=query, near=near).sources)
    except NotFound:
        return set()
