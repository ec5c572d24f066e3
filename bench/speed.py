"""How fast: recall beside a plain hybrid retriever, growth with the number of notes, additions, ingest by stage."""

import argparse
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import psutil
from neo4j import Driver, GraphDatabase, Session

from bench import fillers
from bench.conversations import conversations, locomo_file
from bench.server import bench_settings, connected
from memgraph_engine import Memory, Settings
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.evaluation.kept import KeptEmbedder
from memgraph_engine.evaluation.locomo import Conversation
from memgraph_engine.evaluation.report import table
from memgraph_engine.graph.database import Database, Row
from memgraph_engine.graph.notes import words_query
from memgraph_engine.graph.rows import packed
from memgraph_engine.graph.scopes import open_scope
from memgraph_engine.graph.server.home import Home
from memgraph_engine.graph.server.local import LocalServer
from memgraph_engine.graph.statements import statements
from memgraph_engine.model.memory import NEVER, READABLE
from memgraph_engine.model.ports import Embedder
from memgraph_engine.model.scope import Scope
from memgraph_engine.recall.fusion import OPTIONAL
from memgraph_engine.recall.question import terms
from memgraph_engine.testing import purge

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
WRITE = "writes/commit"
_TENTH, _SOME, _MANY, _ONE, _MILLION = (10_000, 20), (20_000, 20), (100_000, 200), (100_000, 1), (1_000_000, 1_000)
_SIZES = ((1_000, 2), _TENTH, _SOME, _MANY, _ONE, _MILLION)
Size = tuple[int, int]
"""Notes, and over how many scopes."""
BASIC = dict.fromkeys(OPTIONAL, False)
"""Channels to switch, which leaves out the pathways, and the time that a question names."""
_WARM = 3  # passes before any time is taken: a large statement is compiled for a while
_ONE_SEARCH = """CYPHER 25
MATCH (n:Note)
  SEARCH n IN (VECTOR INDEX note_raw FOR $vector WHERE n.scope IN $scopes AND n.status IN $statuses LIMIT 100)
  SCORE AS score
RETURN n.id AS id, score"""
_NEAREST = """CYPHER 25
MATCH (n:Note)
  SEARCH n IN (VECTOR INDEX note_raw FOR $vector WHERE n.scope IN $scopes AND n.status IN $statuses LIMIT 20)
  SCORE AS score
RETURN n.id AS id, n.context AS text, score"""
_WORDS = """CYPHER 25
CALL db.index.fulltext.queryNodes('note_terms', $words, {limit: 20}) YIELD node AS n, score
WHERE n.scope IN $scopes AND n.status IN $statuses
RETURN n.id AS id, n.context AS text, score"""
_CREATE = """CYPHER 25
CREATE (n:Note {scope: $scope, id: $id})
SET n += $properties, n.said_at = $now, n.created_at = $now, n.recorded_at = $now, n.valid_from = $now,
    n.superseded_at = $never, n.valid_to = $never, n.expires_at = $never
WITH n
CALL db.create.setNodeVectorProperty(n, 'raw_embedding', $raw_vector)
CALL db.create.setNodeVectorProperty(n, 'context_embedding', $context_vector)"""


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
    parser.add_argument(
        "--largest", type=int, default=100_000, help="notes in the largest database (1000000 adds one of a million)"
    )
    parser.add_argument(
        "--only", type=int, help="notes in the only database: so many, whose server has the machine alone"
    )


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure; return flat figures and a report in Markdown.

    Figures of 100,000 notes over 200 scopes have no size in their names.
    """
    every = list(conversations(locomo_file(given.file)))
    figures: dict[str, float] = {"import_s": _import_seconds()}
    sizes = [size for size in _SIZES if size[0] <= given.largest and given.only in (None, size[0])]
    with ExitStack() as stack:
        memories = {size: stack.enter_context(connected(_settings(given.model, *size))) for size in sizes}
        filled = {size: _filled(memories[size], every, *size) for size in sizes}
        asked = _asked(filled, every, given.rounds)
        taken = {size: megabytes(memories[size]) for size in sizes}
        for size in sizes:
            at = "" if size == _MANY else f"_{size[0] // 1000}k_over_{size[1]}"
            figures |= asked[size].ratios(at)
            if size in (_SOME, _MANY):
                figures |= creations(memories[size], every[0], given.rounds, at=at)
            if size == _MANY:
                figures |= _ingest(memories[size], every, given.rounds)
    figures |= {
        name: asked[one].p50 / asked[other].p50
        for name, one, other in (
            ("growth_10k_100k", _MANY, _TENTH),
            ("one_scope_over_many", _ONE, _MANY),
            ("growth_100k_1M", _MILLION, _MANY),
        )
        if one in asked and other in asked
    }
    head = ("notes", "search p50 ms", "p95", "cold p50", "hybrid p50", "p95", "one vector SEARCH p50", "embedding p50")
    weights = ("store MB", "server MB")
    rows = [
        (*one.row(f"{size[0]:,} over {size[1]:,} scopes"), *(f"{mb:.0f}" for mb in taken[size]))
        for size, one in asked.items()
    ]
    flat = table(("figure", "value"), [(name, f"{value:.3f}") for name, value in sorted(figures.items())])
    return figures, f"### {given.model}\n\n{table((*head, *weights), rows)}\n\n{flat}"


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


def megabytes(memory: Memory) -> tuple[float, float]:
    """Return what the server's databases take on disk, but for the logs of transactions, and its process in memory.

    Each in MB of 2^20 bytes (MLA-ARC, table 4). What was filled in this run may wait for a checkpoint; once the server
    was stopped, all is there.
    """
    home = Home(Path(memory.engine.settings.home))
    files = (file for file in (home.data / "databases").rglob("*") if file.is_file())
    record = home.record()
    held = psutil.Process(record.pid).memory_info().rss if record else 0
    return sum(file.stat().st_blocks * 512 for file in files) / (1 << 20), held / (1 << 20)


@dataclass(frozen=True, slots=True)
class Asked:
    """Milliseconds of the same questions, each sorted: by `search` with all notes in the cache (`warm`) and none.

    `hybrid` is the pair of a plain hybrid retriever, by a bare driver: 20 notes by vector and 20 by words,
    with ids and texts; `vector` one vector SEARCH of 100 ids, `embedding` that of the question.
    """

    warm: Sequence[float]
    cold: Sequence[float]
    hybrid: Sequence[float]
    vector: Sequence[float]
    embedding: Sequence[float]

    def row(self, title: str) -> Sequence[object]:
        """Return it as a row of the report."""
        columns = ((self.warm, 0.5), (self.warm, 0.95), (self.cold, 0.5), (self.hybrid, 0.5), (self.hybrid, 0.95))
        return title, *(percentile(*one) for one in (*columns, (self.vector, 0.5), (self.embedding, 0.5)))

    @property
    def p50(self) -> float:
        """The median of a warm search."""
        return percentile(self.warm, 0.5)

    def ratios(self, at: str) -> dict[str, float]:
        """Return the figures; `at` ends their names."""
        hybrid, vector = percentile(self.hybrid, 0.5), percentile(self.vector, 0.5)
        return {
            f"search_over_hybrid{at}": self.p50 / hybrid,
            f"search_over_hybrid_cold{at}": percentile(self.cold, 0.5) / hybrid,
            f"recall_over_search{at}": self.p50 / vector,
        }


def _settings(model: str, notes: int, scopes: int) -> Settings:
    settings = bench_settings(model)
    return settings.model_copy(update={"home": settings.home.with_name(f"{model}-{notes}-{scopes}")})


@dataclass(frozen=True, slots=True)
class Filled:
    """A memory with notes, ties and topics, and its users.

    The memory's own embedder has seen every question before; `embedder` works each out. `bare` is a plain driver.
    """

    memory: Memory
    tenant: str
    users: Sequence[str]
    embedder: Embedder
    bare: Driver

    def given(self, question: str, user: str) -> Row:
        """Return what a question's plain statements take."""
        scopes = [Scope(self.tenant, user), Scope(self.tenant)]
        return {
            "vector": packed(self.memory.engine.embedder.embed_query(question)),
            "scopes": [scope.name for scope in scopes],
            "statuses": list(READABLE),
            "words": words_query(terms(question, ["english"]), scopes, READABLE),
        }

    def hybrid(self, given: Row) -> None:
        """Ask as a plain hybrid retriever does."""
        for statement in (_NEAREST, _WORDS):
            self.bare.execute_query(statement, given, routing_="r")

    def vector(self, given: Row) -> None:
        """Ask one vector index."""
        self.bare.execute_query(_ONE_SEARCH, given)


@contextmanager
def _filled(memory: Memory, every: Sequence[Conversation], notes: int, scopes: int) -> Iterator[Filled]:
    tenant = fillers.fill(memory, every, notes=notes, scopes=scopes)
    users = [f"user-{number}" for number in range(scopes)]
    mine = fillers.complete(memory, tenant, users)
    known = CheckedEmbedder(Known(memory.engine.embedder))
    with driver(memory) as bare:
        yield Filled(Memory(replace(mine.engine, embedder=known)), tenant, users, memory.engine.embedder, bare)


def _asked(
    memories: Mapping[Size, AbstractContextManager[Filled]], every: Sequence[Conversation], rounds: int
) -> dict[Size, Asked]:
    """Ask real questions of users in turn, with default settings, ties and topics made.

    All that is compared takes turns, also databases of different sizes, so that what else the machine does falls on
    all of it.
    """
    questions = [q.text for c in every for q in c.questions][:: max(1, 997 // rounds)][:rounds]
    taken: dict[Size, dict[str, list[float]]] = {size: defaultdict(list) for size in memories}
    with ExitStack() as stack:
        filled = {size: stack.enter_context(one) for size, one in memories.items()}
        for cold in (False, True):
            for counted in (*[False] * _WARM, True):
                for number, question in enumerate(questions):
                    for size, one in filled.items():
                        some = _once(one, question, one.users[number % len(one.users)], number, cold=cold)
                        for name, value in some.items() if counted else ():
                            taken[size][name].append(value)
        for size, one in filled.items():
            taken[size]["embedding"] = milliseconds(one.embedder.embed_query, questions)
    return {size: Asked(**{name: sorted(values) for name, values in some.items()}) for size, some in taken.items()}


def _once(one: Filled, question: str, user: str, number: int, *, cold: bool) -> dict[str, float]:
    """Ask a question once, and return the milliseconds of each way.

    Which way goes first goes by the question's number: whoever does reads for the others as well.
    """
    given = one.given(question, user)
    search = partial(one.memory.search, user_id=user)
    if cold:
        one.memory.engine.notes.clear()
        return {"cold": milliseconds(search, [question])[0]}
    ways: dict[str, Callable[[], object]] = {
        "warm": partial(search, question),
        "hybrid": partial(one.hybrid, given),
        "vector": partial(one.vector, given),
    }
    names = list(ways)
    first = number % len(names)
    return {name: milliseconds(lambda name: ways[name](), [name])[0] for name in names[first:] + names[:first]}


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
    recorded = Memory(replace(mine.engine, db=recording))
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
    assert session.run(*statements()[WRITE].call({**given, "scope": scope})).single(), "another version"


class Recording(Database):
    """A database, on the connections of another, that remembers its single reads, and its writes."""

    def __init__(self, db: Database) -> None:
        vars(self).update(vars(db))
        self.reads: list[tuple[str, Row]] = []
        self.writes: list[Row] = []

    def run(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run one reading statement, and remember it."""
        self.reads.append((name, {"alive": self.alive(), **parameters}))
        return super().run(name, **parameters)

    def commit(self, name: str, /, **parameters: Any) -> list[Row]:
        """Run one writing statement, and remember it if it is a write to a memory."""
        if name == WRITE:
            self.writes.append(parameters)
        return super().commit(name, **parameters)


def creations(memory: Memory, conversation: Conversation, rounds: int, *, at: str) -> dict[str, float]:
    """Time additions beside their bare minimum: a transaction that creates one node with a text and both vectors.

    The node has a note's properties and is in the same indexes: two of vectors with all that they filter by, one of
    words. Both take turns, in a tenant of their own, every text embedded beforehand. `at` ends the figures' names.
    """
    settings = memory.engine.settings.model_copy(update={"tenant": f"bench-{uuid4().hex}"})
    mine = Memory(replace(memory.engine, embedder=CheckedEmbedder(Known(memory.engine.embedder)), settings=settings))
    turns = conversation.turns[:rounds]
    recording = Recording(mine.engine.db)
    recorded = Memory(replace(mine.engine, db=recording))
    scope = Scope(settings.tenant, "created")
    open_scope(mine.engine.db, scope, "english")
    try:
        for turn in turns:
            recorded.add(turn, user_id="recorded")
        notes = [row for write in recording.writes for row in write["write"]["create"]]
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
