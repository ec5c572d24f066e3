"""How fast: ingest by stage, recall against the bare statement, growth with the number of notes."""

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import uuid4

from neo4j import Driver, GraphDatabase, Session

from bench import fillers
from bench.conversations import conversations, locomo_file
from bench.server import bench_settings, connected
from memgraph_engine import Memory
from memgraph_engine.embedding import CheckedEmbedder
from memgraph_engine.evaluation.kept import KeptEmbedder
from memgraph_engine.evaluation.locomo import Conversation
from memgraph_engine.evaluation.report import table
from memgraph_engine.graph.database import Database, Row
from memgraph_engine.graph.scopes import open_scope
from memgraph_engine.graph.server import LocalServer
from memgraph_engine.graph.statements import statements
from memgraph_engine.model.memory import NEVER
from memgraph_engine.model.scope import Scope
from memgraph_engine.recall.fusion import OPTIONAL
from memgraph_engine.recall.question import Filters
from memgraph_engine.recall.search import Query, parameters
from memgraph_engine.testing import purge

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
WRITE = "writes/commit"
BASIC = dict.fromkeys(OPTIONAL, 0.0)
"""Settings of recall that leave out the pathways, and the time that a question names."""
_SIZES = (1_000, 10_000, 100_000)
_WARM = 3  # passes before any time is taken: a large statement is compiled for a while
_ONE_SEARCH = """CYPHER 25
MATCH (n:Note)
  SEARCH n IN (VECTOR INDEX note_raw FOR $vector WHERE n.scope IN $scopes AND n.status IN $statuses LIMIT 100)
  SCORE AS score
RETURN n.id AS id, score"""

_CREATE = """CYPHER 25
CREATE (n:Note {scope: $scope, id: $id})
SET n += $properties, n.said_at = $now, n.created_at = $now, n.recorded_at = $now, n.valid_from = $now,
    n.superseded_at = $never, n.valid_to = $never, n.expires_at = $never
WITH n
CALL db.create.setNodeVectorProperty(n, 'raw_embedding', $raw_vector)
CALL db.create.setNodeVectorProperty(n, 'context_embedding', $context_vector)"""
_BESIDE = ((20_000, 20), (100_000, 200))  # notes, and over how many scopes, beside which additions are timed


class Known(KeptEmbedder):
    """An embedder that has seen every text before: what is measured with it is everything else.

    `calls` are the texts of each call, to be embedded again without it.
    """

    def __init__(self, inner: CheckedEmbedder) -> None:
        super().__init__(inner)
        self.calls: list[list[str]] = []

    def embed_documents(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return the vectors of texts, embedding only what is new."""
        self.calls.append(list(texts))
        return super().embed_documents(texts)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the LoCoMo file (else MEMGRAPH_ENGINE_LOCOMO)")
    parser.add_argument("--model", default="minilm", help="the embedder")
    parser.add_argument("--rounds", type=int, default=300, help="questions, or additions, in each measurement")
    parser.add_argument("--largest", type=int, default=100_000, help="notes in the largest database")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure; return flat figures and a report in Markdown."""
    every = list(conversations(locomo_file(given.file)))
    sizes = [size for size in _SIZES if size < given.largest] + [given.largest]
    figures: dict[str, float] = {"import_s": _import_seconds()}
    rows: list[Sequence[object]] = []
    for size in sizes:
        settings = bench_settings(given.model)
        settings = settings.model_copy(update={"home": settings.home.with_name(f"{given.model}-{size}")})
        with connected(settings) as memory:
            tenant = fillers.fill(memory, every, notes=size, scopes=max(size // fillers.PER_SCOPE, 1))
            users = [f"user-{i}" for i in range(max(size // fillers.PER_SCOPE, 1))]
            rows.append(_recall(memory, tenant, users, every, given.rounds, f"{size:,} over {len(users)} scopes"))
            if size == given.largest:
                figures |= _ingest(memory, every, given.rounds)
    settings = bench_settings(given.model)
    settings = settings.model_copy(update={"home": settings.home.with_name(f"{given.model}-one")})
    with connected(settings) as memory:
        tenant = fillers.fill(memory, every, notes=given.largest, scopes=1)
        rows.append(_recall(memory, tenant, ["user-0"], every, given.rounds, f"{given.largest:,} in one scope"))
    figures |= _writes(given, every)
    many = next(row for row in rows if str(row[0]).startswith(f"{given.largest:,} over"))
    tenth = next((row for row in rows if str(row[0]).startswith(f"{given.largest // 10:,} over")), many)
    figures |= {
        "recall_over_statement": cast("float", many[1]) / cast("float", many[3]),
        "recall_over_search": cast("float", many[1]) / cast("float", many[5]),
        "growth_10k_100k": cast("float", many[1]) / cast("float", tenth[1]),
        "one_scope_over_many": cast("float", rows[-1][1]) / cast("float", many[1]),
    }
    head = ("notes", "search p50 ms", "p95", "bare statement p50", "p95", "one vector SEARCH p50", "embedding p50")
    flat = table(("figure", "value"), [(name, f"{value:.3f}") for name, value in sorted(figures.items())])
    return figures, f"### {given.model}\n\n{table(head, rows)}\n\n{flat}"


def _writes(given: argparse.Namespace, every: Sequence[Conversation]) -> dict[str, float]:
    """Time additions beside the notes of others; the figures of the largest size have no number in their names."""
    figures: dict[str, float] = {}
    for notes, scopes in _BESIDE:
        if notes <= given.largest:
            settings = bench_settings(given.model)
            home = f"{given.model}-{notes}" + ("-20" if scopes == 20 else "")
            settings = settings.model_copy(update={"home": settings.home.with_name(home)})
            with connected(settings) as memory:
                fillers.fill(memory, every, notes=notes, scopes=scopes)
                figures |= creations(
                    memory, every[0], given.rounds, at="" if notes == 100_000 else f"_{notes // 1000}k"
                )
    return figures


def _import_seconds() -> float:
    """Return the median time of `import memgraph_engine` over a bare interpreter, in processes of their own."""

    def seconds(code: str) -> float:
        start = perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return perf_counter() - start

    return median(seconds("import memgraph_engine") - seconds("pass") for _ in range(7))


def milliseconds(work: Callable[[T], object], over: Sequence[T]) -> list[float]:
    """Do the work once for each, and return what each took, sorted."""
    taken = []
    for one in over:
        start = perf_counter()
        work(one)
        taken.append((perf_counter() - start) * 1000)
    return sorted(taken)


def percentile(taken: Sequence[float], share: float) -> float:
    """Return what a share of the times, sorted, lies below."""
    return taken[min(int(len(taken) * share), len(taken) - 1)]


def driver(memory: Memory) -> Driver:
    """Return a bare driver on the memory's server."""
    address = LocalServer(memory.engine.settings).start()
    return GraphDatabase.driver(address.uri, auth=(address.user, address.password))


def _recall(
    memory: Memory,
    tenant: str,
    users: Sequence[str],
    every: Sequence[Conversation],
    rounds: int,
    title: str,
) -> Sequence[object]:
    """Ask real questions of users in turn: through the API, by the bare statement, by one vector SEARCH.

    With the basic channels: what the pathways cost beside these is measured by the bench of that name.
    """
    known = Known(memory.engine.embedder)
    settings = memory.engine.settings.model_copy(
        update={
            "tenant": tenant,
            "recall": memory.engine.settings.recall.model_copy(update=BASIC),
        }
    )
    mine = Memory(replace(memory.engine, embedder=CheckedEmbedder(known), settings=settings))
    questions = [q.text for c in every for q in c.questions][:: max(1, 997 // rounds)][:rounds]
    asked = [(question, users[i % len(users)]) for i, question in enumerate(questions)]
    embedding = milliseconds(memory.engine.embedder.embed_query, questions)
    recall = statements()["notes/recall"].text

    def asked_of(one: tuple[str, str]) -> Row:
        scopes = [Scope(tenant, one[1]), Scope(tenant)]
        query = Query(one[0], known.embed_query(one[0]), scopes, Filters(), 20, memory.engine.now())
        return parameters(query, ["english"], settings.recall)

    given = [asked_of(one) for one in asked]
    narrow = [
        {"vector": known.embed_query(question).tolist(), "scopes": one["scopes"], "statuses": one["statuses"]}
        for (question, _), one in zip(asked, given, strict=True)
    ]
    with driver(memory) as bare:
        for _ in range(_WARM):
            milliseconds(lambda one: mine.search(one[0], user_id=one[1]), asked)
        search = milliseconds(lambda one: mine.search(one[0], user_id=one[1]), asked)
        statement = milliseconds(lambda one: bare.execute_query(recall, one, routing_="r"), given)
        vector = milliseconds(lambda one: bare.execute_query(_ONE_SEARCH, one, routing_="r"), narrow)
    return (
        title,
        percentile(search, 0.5),
        percentile(search, 0.95),
        percentile(statement, 0.5),
        percentile(statement, 0.95),
        percentile(vector, 0.5),
        percentile(embedding, 0.5),
    )


def _ingest(memory: Memory, every: Sequence[Conversation], rounds: int) -> dict[str, float]:
    """Time ingest by stage against embedding the same texts, and single additions against their bare write.

    Each as it is by default, and with the gate's update off (MemFly's ablation): then nothing is looked up that a
    bare write does not look up either. Another conversation goes before, since a server's first writes are slow.
    """
    tenant = f"bench-{uuid4().hex}"
    settings = memory.engine.settings.model_copy(update={"tenant": tenant})
    off = settings.model_copy(update={"gate": settings.gate.model_copy(update={"update": False})})
    figures: dict[str, float] = {}
    try:
        for prefix, chosen in (("", settings), ("ungated_", off)):
            known = Known(memory.engine.embedder)
            mine = Memory(replace(memory.engine, embedder=CheckedEmbedder(known), settings=chosen))
            mine.add_many(every[3].turns, user_id=f"{prefix}before")
            some = _batches(mine, known, memory.engine.embedder, every[:3], prefix) | _additions(
                mine, every[0], rounds, prefix
            )
            figures |= {prefix + name: value for name, value in some.items()}
    finally:
        purge(tenant, settings=settings)
    # a look-up is part of no bare write: with one, `bench gate` compares (gated_add_over_statements)
    figures["gated_add_over_statement"] = figures.pop("add_over_statement")
    figures["add_over_statement"] = figures.pop("ungated_add_over_statement")
    return figures


def _batches(
    mine: Memory, known: Known, embedder: CheckedEmbedder, some: Sequence[Conversation], prefix: str
) -> dict[str, float]:
    seconds: Counter[str] = Counter()
    for conversation in some:  # in turns, so that what else the machine does falls on both
        known.calls.clear()
        start = perf_counter()
        receipt = mine.add_many(conversation.turns, user_id=prefix + conversation.id)
        seconds["whole"] += perf_counter() - start  # type: ignore[assignment]
        seconds.update(receipt.seconds)
        start = perf_counter()
        for texts in known.calls:
            embedder.embed_documents(texts)
        seconds["embedding"] += perf_counter() - start  # type: ignore[assignment]
    return {f"ingest.{stage}_s": taken for stage, taken in seconds.items()} | {
        "ingest_over_embedding": seconds["whole"] / seconds["embedding"],
        "ingest.notes_per_s": sum(len(c.turns) for c in some) / seconds["whole"],
    }


def _additions(mine: Memory, conversation: Conversation, rounds: int, prefix: str) -> dict[str, float]:
    """Add turns one by one, every text embedded beforehand; then run the same statements, bare, for another scope."""
    turns = conversation.turns[:rounds]
    for user in ("rehearsal", "warm"):
        for turn in turns:
            mine.add(turn, user_id=prefix + user)
    recording = Recording(mine.engine.db)
    recorded = Memory(replace(mine.engine, db=cast("Database", recording)))
    for turn in turns:
        recorded.add(turn, user_id=prefix + "recorded")
    add = milliseconds(lambda turn: mine.add(turn, user_id=prefix + "single"), turns)
    scope = Scope(mine.engine.settings.tenant, prefix + "bare")
    open_scope(mine.engine.db, scope, "english")
    with driver(mine) as bare_driver, bare_driver.session() as session:
        bare = milliseconds(lambda given: write_again(session, given, scope.name), recording.writes)
    return {
        "add_ms": percentile(add, 0.5),
        "add_statement_ms": percentile(bare, 0.5),
        "add_over_statement": percentile(add, 0.5) / percentile(bare, 0.5),
    }


def write_again(session: Session, given: Row, scope: str) -> None:
    """Run a recorded write for another scope."""
    assert session.run(statements()[WRITE].text, {**given, "scope": scope}).single(), "another version"


class Recording:
    """A database that remembers its single reads, and its writes."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.reads: list[tuple[str, Row]] = []
        self.writes: list[Row] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._db, name)

    def run(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run one reading statement, and remember it."""
        self.reads.append((name, parameters))
        return self._db.run(name, **parameters)

    def commit(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run one writing statement, and remember it if it is a write to a memory."""
        if name == WRITE:
            self.writes.append(parameters)
        return self._db.commit(name, **parameters)


def creations(memory: Memory, conversation: Conversation, rounds: int, *, at: str) -> dict[str, float]:
    """Time additions beside their bare minimum: a transaction that creates one node with a text and both vectors.

    The node has a note's properties and is in the same indexes: two of vectors with all that they filter by, one of
    words. Both take turns, in a tenant of their own, every text embedded beforehand. `at` ends the figures' names.
    """
    settings = memory.engine.settings.model_copy(update={"tenant": f"bench-{uuid4().hex}"})
    mine = Memory(replace(memory.engine, embedder=CheckedEmbedder(Known(memory.engine.embedder)), settings=settings))
    turns = conversation.turns[:rounds]
    recording = Recording(mine.engine.db)
    recorded = Memory(replace(mine.engine, db=cast("Database", recording)))
    scope = Scope(settings.tenant, "created")
    open_scope(mine.engine.db, scope, "english")
    try:
        for turn in turns:
            recorded.add(turn, user_id="recorded")
        notes = [row for write in recording.writes for row in write["notes"]]
        created = cycle(_bare_note(row, scope, mine.engine.now()) for row in notes)
        add, create = [], []
        with driver(mine) as bare:
            for user, measured in (("warm", False), ("measured", True)):
                for number, turn in enumerate(turns):
                    given = {**next(created), "id": f"{user}-{number}"}
                    create += milliseconds(lambda one: bare.execute_query(_CREATE, one), [given]) * measured
                    add += milliseconds(partial(mine.add, user_id=user), [turn]) * measured
    finally:
        purge(settings.tenant, settings=settings)
    p50 = {name: percentile(sorted(taken), 0.5) for name, taken in (("add", add), ("create", create))}
    return {
        f"add_ms{at}": p50["add"],
        f"create_ms{at}": p50["create"],
        f"add_over_create{at}": p50["add"] / p50["create"],
    }


def _bare_note(row: Row, scope: Scope, now: datetime) -> Row:
    words = {f"{text}_scoped": row["properties"][f"{text}_terms"] for text in ("raw", "context")}
    return {
        "scope": scope.name,
        "properties": {**row["properties"], **words},
        "now": now,
        "never": NEVER,
        "raw_vector": row["raw_vector"],
        "context_vector": row["context_vector"],
    }
