"""What the gate costs beside 100,000 notes: an addition over its bare statements, and a note in a batch."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import cast
from uuid import uuid4

from neo4j import Session

from bench import fillers
from bench.conversations import conversations, locomo_file
from bench.server import bench_settings, connected
from bench.speed import Known, Recording, driver, percentile, write_again
from memgraph_engine import Memory
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.evaluation.locomo import Conversation
from memgraph_engine.evaluation.report import table
from memgraph_engine.graph.database import Row
from memgraph_engine.graph.scopes import open_scope
from memgraph_engine.graph.statements import statements
from memgraph_engine.model.scope import Scope
from memgraph_engine.testing import purge

_NOTES = 100_000
_LOOK_UP = "notes/neighbourhood"


def measure(file: Path | None, model: str, rounds: int) -> tuple[dict[str, float], str]:
    """Measure beside 200 scopes of 500 notes; return flat figures and a report."""
    every = list(conversations(locomo_file(file)))
    settings = bench_settings(model)
    settings = settings.model_copy(update={"home": settings.home.with_name(f"{model}-{_NOTES}")})
    with connected(settings) as memory:
        fillers.fill(memory, every, notes=_NOTES)
        mine_settings = memory.engine.settings.model_copy(update={"tenant": f"bench-{uuid4().hex}"})
        known = CheckedEmbedder(Known(memory.engine.embedder))
        mine = Memory(replace(memory.engine, embedder=known, settings=mine_settings))
        try:
            figures = _additions(mine, every[0], rounds) | _batches(mine, every)
        finally:
            purge(mine_settings.tenant, settings=mine_settings)
    rows = [(name, f"{value:.3f}") for name, value in figures.items()]
    return figures, f"### Speed beside {_NOTES:,} notes, {model}\n\n{table(('figure', 'value'), rows)}"


def _additions(mine: Memory, conversation: Conversation, rounds: int) -> dict[str, float]:
    """Add a conversation's last turns one by one, each beside its statements, run bare for a scope of the same notes.

    Every text is embedded beforehand.
    """
    turns, base = list(conversation.turns)[-rounds:], list(conversation.turns)[:-rounds]
    recording = Recording(mine.engine.db)
    recorded = Memory(replace(mine.engine, db=recording))
    recorded.add_many(base, user_id="recorded")
    for turn in turns:
        recorded.add(turn, user_id="recorded")
    scopes = [Scope(mine.engine.settings.tenant, user) for user in ("recorded", "bare")]
    for user in ("warm", "single"):
        mine.add_many(base, user_id=user)
    for turn in turns:
        mine.add(turn, user_id="warm")
    open_scope(mine.engine.db, scopes[1], "english")
    look_ups = [cast("Row", _moved(given, *scopes)) for name, given in recording.reads if name == _LOOK_UP][-rounds:]
    writes = [cast("Row", _moved(given, *scopes)) for given in recording.writes]
    taken: dict[str, list[float]] = {"add": [], "look_up": [], "write": []}
    with driver(mine) as bare, bare.session() as session:
        for given in writes[:-rounds]:
            write_again(session, given, scopes[1].name)
        for turn, look_up, given in zip(turns, look_ups, writes[-rounds:], strict=True):
            _time(taken["add"], partial(mine.add, turn, user_id="single"))
            _time(taken["look_up"], partial(_look_up, session, look_up))
            _time(taken["write"], partial(write_again, session, given, scopes[1].name))
    p50 = {name: percentile(sorted(some), 0.5) for name, some in taken.items()}
    together = percentile(sorted(map(sum, zip(taken["look_up"], taken["write"], strict=True))), 0.5)
    return {
        "gated_add_over_statements": p50["add"] / together,
        "gated_add_ms": p50["add"],
        "gate_look_up_ms": p50["look_up"],
        "gate_write_ms": p50["write"],
    }


def _batches(mine: Memory, every: Sequence[Conversation]) -> dict[str, float]:
    """Ingest conversations in batches; the gate's stage is look-up, scores and verdicts, not the write.

    The last ones go first and are not counted: until the server has compiled the look-up it takes twice as long.
    """
    for conversation in every[3:]:
        mine.add_many(conversation.turns, user_id=conversation.id)
    seconds: Counter[str] = Counter()
    notes = 0
    for conversation in every[:3]:
        receipt = mine.add_many(conversation.turns, user_id=conversation.id)
        seconds.update(receipt.seconds)
        notes += len(receipt.entries)
    return {
        f"gate_ms_per_note.{stage}": 1000 * taken / notes for stage, taken in seconds.items() if stage != "gate"
    } | {"gate_ms_per_note": 1000 * seconds["gate"] / notes}


def _time(taken: list[float], work: Callable[[], object]) -> None:
    start = perf_counter()
    work()
    taken.append((perf_counter() - start) * 1000)


def _look_up(session: Session, parameters: Row) -> object:
    return [dict(record) for record in session.run(*statements()[_LOOK_UP].call(parameters))]


def _moved(value: object, old: Scope, new: Scope) -> object:
    """Return a statement's parameters for another scope."""
    if isinstance(value, str):
        return value.replace(old.name, new.name).replace(old.token, new.token)
    if isinstance(value, dict):
        return {name: _moved(one, old, new) for name, one in value.items()}
    if isinstance(value, list | tuple):
        if value and isinstance(value[0], float):
            return value
        return [_moved(one, old, new) for one in value]
    return value
