"""Fill a database with other users' memories: shuffled real turns, their vectors reused with a little noise."""

import random
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import track

from memgraph_engine import Memory
from memgraph_engine.evaluation.locomo import Conversation
from memgraph_engine.gate.verdict import APPEND
from memgraph_engine.graph import notes as note_graph, writes
from memgraph_engine.graph.scopes import open_scope, state
from memgraph_engine.graph.sources import Seen
from memgraph_engine.ingest.construct import Constructor, place
from memgraph_engine.ingest.messages import parse_message
from memgraph_engine.model.candidate import Candidate, Keyword
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing.batch import Batch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PER_SCOPE = 500
_TIES = 5  # of a note, as many as the gate makes at most
_OLDER = 1000  # notes before one, to which it may be tied
_WRITTEN = 10_000  # ties in a transaction
_NOISE = 0.02  # of each number of a unit vector of 384: a cosine of about .93 to the original


_originals: dict[str, list[Candidate]] = {}


def originals(memory: Memory, every: Sequence[Conversation]) -> list[Candidate]:
    """Return a candidate for each turn of the conversations, embedded once in a run."""
    found = _originals.setdefault(memory.engine.embedder.name, [])
    if found:
        return found
    for conversation in every:
        sources = [parse_message(turn, turn["id"], timezone="UTC", max_text=65536) for turn in conversation.turns]
        found += Constructor(memory.engine.embedder, 8).construct(place(sources, {}), {}, "english")
    return found


def fill(memory: Memory, every: Sequence[Conversation], *, notes: int, scopes: int = 200) -> str:
    """Write `notes` notes evenly over `scopes` users of the tenant that is returned, unless they are there."""
    tenant = f"filler-{notes}-{scopes}"
    todo = [user for user in range(scopes) if not _complete(memory, tenant, user, notes // scopes)]
    if todo:
        made = originals(memory, every)
        console = Console(file=sys.stderr)
        for user in track(todo, description=f"{notes:,} notes over {scopes} scopes", console=console):
            fill_one(memory, Scope(tenant, f"user-{user}"), made, notes // scopes, seed=user)
    return tenant


def _complete(memory: Memory, tenant: str, user: int, notes: int) -> bool:
    found = state(memory.engine.db, Scope(tenant, f"user-{user}").name)
    return found is not None and found.version >= -(-notes // PER_SCOPE)  # ties came afterwards


def fill_one(memory: Memory, scope: Scope, made: Sequence[Candidate], notes: int, seed: int) -> None:
    """Fill a memory with so many notes."""
    import numpy as np

    db = memory.engine.db
    open_scope(db, scope, "english")
    found = state(db, scope.name)
    start = found.version if found else 0
    for version in range(start, -(-notes // PER_SCOPE)):
        chance, noise = random.Random(seed * 1000 + version), np.random.default_rng(seed * 1000 + version)
        size = min(PER_SCOPE, notes - version * PER_SCOPE)
        candidates = [_shuffled(chance.choice(made), version * PER_SCOPE + place, noise) for place in range(size)]
        seen = Seen(version, "english", 0, {}, {}, frozenset(), {})
        Batch(memory.engine, scope, seen).write(candidates, [APPEND] * len(candidates))


def _shuffled(original: Candidate, number: int, noise: "np.random.Generator") -> Candidate:
    """Return the turn under another id, its place in its session kept."""
    session = f"{original.source.session}-{number // 20}"
    source = replace(original.source, id=f"turn-{number}", session=session, seq=number % 20)
    return replace(
        original,
        source=source,
        previous=None,
        raw_vector=_near(original.raw_vector, noise),
        context_vector=_near(original.context_vector, noise),
        keywords=tuple(Keyword(k.name, k.key, _near(k.vector, noise)) for k in original.keywords),
    )


def _near(vector: "NDArray[np.float32] | None", noise: "np.random.Generator") -> "NDArray[np.float32]":
    import numpy as np

    assert vector is not None  # no filler is pending
    moved = vector + noise.normal(0, _NOISE, vector.shape).astype(np.float32)
    near: NDArray[np.float32] = moved / np.linalg.norm(moved)
    return near


def complete(memory: Memory, tenant: str, users: Sequence[str]) -> Memory:
    """Give filler scopes ties, as many as the gate makes at most, and topics, unless they are there.

    Returns the memory of that tenant.
    """
    settings = memory.engine.settings.model_copy(update={"tenant": tenant})
    mine = Memory(replace(memory.engine, settings=settings))
    console = Console(file=sys.stderr)
    for user in track(users, description="topics", console=console):
        if not mine.topic_runs(user_id=user):
            _tie(mine, Scope(tenant, user))
            mine.rebuild_topics(user_id=user)
    return mine


def _tie(memory: Memory, scope: Scope) -> None:
    """Tie each note to a few older ones."""
    ids = [note.id for note in memory.get_all(user_id=scope.user)]
    chance = random.Random(scope.user)
    ties = [
        note_graph.Relation(new, old, "link", 0.5 + chance.random() / 2, "bench")
        for place, new in enumerate(ids[1:], 1)
        for old in chance.sample(ids[max(place - _OLDER, 0) : place], min(place, _TIES))
    ]
    version = memory.stats(user_id=scope.user).version
    for start in range(0, len(ties), _WRITTEN):
        rows = [asdict(tie) for tie in ties[start : start + _WRITTEN]]
        assert writes.commit(memory.engine.db, scope.name, version, memory.engine.now(), {"relate": rows})
        version += 1
