"""How long notes live: whether what expired is ever returned, what ends and a cap cost, and what a prompt takes."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from bench import eviction, fillers, prompts
from bench.conversations import conversations, locomo_file
from bench.erasure import erased
from bench.server import bench_settings, connected
from bench.speed import Known, milliseconds, percentile
from memgraph_engine import Memory, NotFound
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.evaluation.locomo import Conversation
from memgraph_engine.evaluation.report import table
from memgraph_engine.graph.statements import Statement, statements
from memgraph_engine.testing import purge

_PROPOSE = "notes/propose"
_ENDS = (
    " AND n.expires_at > $alive AND n.erase_at > $present",
    " AND n.expires_at > $alive",
    " AND (NOT expiring OR n.expires_at > $alive)",
)
"""What a search's statement asks of ends, but for the choice between two ways."""
_WARM = 2


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the LoCoMo file (else MEMGRAPH_ENGINE_LOCOMO)")
    parser.add_argument("--model", default="minilm", help="the embedder")
    parser.add_argument("--turns", type=int, default=200, help="turns of a conversation, of which every second expires")
    parser.add_argument("--notes", type=int, default=100_000, help="notes of the database that is searched")
    parser.add_argument("--scopes", type=int, default=200, help="over how many scopes")
    parser.add_argument("--rounds", type=int, default=300, help="questions that are timed")
    parser.add_argument(
        "--conversations", type=int, help="of how many conversations R@10 under a cap, and prompts, are measured (all)"
    )
    parser.add_argument("--evict", type=int, default=20_000, help="notes of the memory of which half is evicted")
    parser.add_argument("--parts", default="ends,cap,filters,prompt", help="what is measured, with commas between")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure; return flat figures and a report in Markdown."""
    every, parts = list(conversations(locomo_file(given.file))), given.parts.split(",")
    figures: dict[str, float] = {}
    settings = bench_settings(given.model)
    with connected(settings) as memory:
        if "ends" in parts:
            figures |= _returned(memory, every[0], given.turns) | _erased(memory, every)
        if "cap" in parts:
            figures |= eviction.restored(memory, every[0]) | eviction.timed(memory, every, given.evict)
            figures |= eviction.capped(memory, every[: given.conversations])
        if "prompt" in parts:
            figures |= prompts.measured(memory, every[: given.conversations])
    home = settings.home.with_name(f"{given.model}-{given.notes}-{given.scopes}")
    if "filters" in parts:
        with connected(settings.model_copy(update={"home": home})) as memory:
            figures |= _filters(memory, every, given.notes, given.scopes, given.rounds)
    rows = [(name, f"{value:.3f}") for name, value in sorted(figures.items())]
    return figures, f"### {given.model}\n\n{table(('figure', 'value'), rows)}"


def _erased(memory: Memory, every: Sequence[Conversation]) -> dict[str, float]:
    settings = memory.engine.settings.model_copy(update={"tenant": f"bench-{uuid4().hex}"})
    mine = Memory.connect(settings=settings, embedder=memory.engine.embedder)
    try:
        return erased(mine, every[:3], "ana")
    finally:
        purge(settings.tenant, settings=settings)


# ---- what is returned ---------------------------------------------------------------------------


def _returned(memory: Memory, conversation: Conversation, most: int) -> dict[str, float]:
    """Let every second turn of a conversation expire; count what reads tell of these, before and after the sweep."""
    began = now = datetime.now(UTC)
    settings = memory.engine.settings.model_copy(update={"tenant": f"bench-{uuid4().hex}"})
    mine = Memory.connect(settings=settings, embedder=memory.engine.embedder, clock=lambda: now)
    turns = [dict(turn) for turn in conversation.turns[:most]]
    planted = [{**turn, "policy": "ephemeral"} for turn in turns[::2]]
    live = {turn["id"]: turn for turn in turns[1::2]}
    try:
        for turn in turns:
            mine.add({**turn, "policy": "ephemeral"} if turn["id"] not in live else turn, user_id="ana")
        mine.rebuild_topics(user_id="ana")
        if not _told(mine, planted, began):
            raise SystemExit("No read finds what was planted even before it expires: nothing would be measured.")
        now = began + timedelta(days=2)
        before = _told(mine, planted, began + timedelta(days=1, hours=1))
        swept = mine.sweep(user_id="ana")
        after = _told(mine, planted, began + timedelta(days=1, hours=1))
        faults = len(mine.verify(user_id="ana"))
    finally:
        mine.close()
        purge(settings.tenant, settings=settings)
    return {
        "expired_returned": float(before + after),
        "expired_planted": float(len(planted)),
        "expired_swept": float(swept.notes),
        "faults_after_sweep": float(faults),
    }


def _told(memory: Memory, planted: Sequence[dict[str, Any]], moment: datetime) -> int:
    """Count the times that a read tells of a planted turn: asked for it by its words or id, or in another note."""
    owner: dict[str, Any] = {"user_id": "ana"}
    ids = {turn["id"] for turn in planted}
    found = 0
    for turn in planted:
        question = str(turn["text"])
        hits = memory.search(question, **owner, top_k=50) + memory.search(question, **owner, known_at=moment)
        hits += memory.search(question, **owner, session=turn["session"], top_k=50)
        hits += memory.search(question, **owner, as_of=moment)
        found += sum(source.id in ids for hit in hits for source in hit.note.sources)
        entries = memory.context(question, **owner).entries
        found += sum(source.id in ids for entry in entries for source in entry.sources)
        for read in (memory.get, memory.source):
            try:
                read(turn["id"], **owner)
                found += 1
            except NotFound:
                continue
    notes = list(memory.get_all(**owner))
    found += sum(source.id in ids for note in notes for source in note.sources)
    texts = [" ".join(str(turn["text"]).split())[:100] for turn in planted if len(str(turn["text"])) > 20]
    shown = [note.context for note in notes]
    shown += [tie.context for note in notes for tie in memory.explain(note.id, **owner).ties]
    found += sum(text in " ".join(context.split()) for text in texts for context in shown)
    held = {note.id for note in notes}
    return found + sum(note not in held for note in memory.vectors(**owner))


# ---- what it costs ------------------------------------------------------------------------------


def _filters(memory: Memory, every: Sequence[Conversation], notes: int, scopes: int, rounds: int) -> dict[str, float]:
    """Time the same searches with the statement as it is, and without what it asks of ends, in turns.

    As it is by default, where nothing may have expired; and where something may have in each scope, so that the indexes
    look at ends.
    """
    tenant = fillers.fill(memory, every, notes=notes, scopes=scopes)
    users = [f"user-{number}" for number in range(scopes)]
    mine = fillers.complete(memory, tenant, users)
    mine = Memory(replace(mine.engine, embedder=CheckedEmbedder(Known(mine.engine.embedder))))
    questions = [q.text for c in every for q in c.questions][:: max(1, 997 // rounds)][:rounds]
    asked = [(question, users[i % scopes]) for i, question in enumerate(questions)]
    taken: dict[str, list[float]] = {name: [] for name in ("none", "filters", "expiring")}

    def search(one: tuple[str, str]) -> None:
        mine.search(one[0], user_id=one[1])

    ways: dict[str, Callable[[str], AbstractContextManager[None]]] = {
        "none": lambda _: _without_ends(),
        "filters": lambda _: nullcontext(),
        "expiring": lambda user: _expiring(mine, f"{tenant}/{user}"),
    }
    for counted in (*[False] * _WARM, True):
        for place, one in enumerate(asked):
            # each way comes first as often as the others: who asks first warms the server for the rest
            for turn in range(len(ways)):
                name = list(ways)[(place + turn) % len(ways)]
                with ways[name](one[1]):
                    taken[name] += milliseconds(search, [one]) if counted else milliseconds(search, [one])[:0]
    p50 = {name: percentile(sorted(some), 0.5) for name, some in taken.items()}
    return {
        "search_p50_ms": p50["filters"],
        "lifecycle_filters_over_none": p50["filters"] / p50["none"],
        "lifecycle_filters_over_none_expiring": p50["expiring"] / p50["none"],
    }


@contextmanager
def _without_ends() -> Iterator[None]:
    """Let searches use a statement that knows of no ends."""
    known = statements()
    whole = known[_PROPOSE]
    parts = tuple(replace(part, text=_endless(part.text)) for part in whole.parts)
    known[_PROPOSE] = Statement(_PROPOSE, parts, whole.parameters - {"alive", "present"})
    try:
        yield
    finally:
        known[_PROPOSE] = whole


def _endless(text: str) -> str:
    for clause in _ENDS:
        text = text.replace(clause, "")
    text = text.replace("coalesce(s.next_expiry <= $alive, false)", "false")
    # left open, not out: without it the planner looks for what is pending in all notes of a scope
    text = text.replace(" WHERE n.expires_at > $alive", " WHERE n.expires_at > datetime('0001-01-01T00:00:00Z')")
    assert "$alive" not in text, "the statement asks of ends in words that the bench does not know"
    return text


@contextmanager
def _expiring(memory: Memory, scope: str) -> Iterator[None]:
    """Let a scope's first note have ended, as its searches see it, though none has."""
    with memory.engine.db._session() as session:
        session.run("MATCH (s:Scope {scope: $scope}) SET s.next_expiry = datetime('2000-01-01')", scope=scope).consume()
        try:
            yield
        finally:
            session.run("MATCH (s:Scope {scope: $scope}) SET s.next_expiry = null", scope=scope).consume()
