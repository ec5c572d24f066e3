"""Change the embedder of a database that stays in use.

Vectors of the other one are made beside those that are searched; then one transaction lets them be searched.

A set of vectors has properties and indexes of its own, by its number (`graph.statements`). Searches, and writes, are of
the set that the store's record names, and learn from their first statement where that has become another one
(`wiring.followed`). What is written meanwhile lacks vectors of the other set, which a worker looks for until nothing
lacks: while it fills them, and as long as the former are kept. The last look, and the switch, are made while writers
wait.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from math import inf
from shutil import disk_usage
from typing import Literal

from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.embedding.choose import named_in
from memgraph_engine.engine import wiring
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import EmbeddingError, InvalidInput, StoreError
from memgraph_engine.graph import leases, schema
from memgraph_engine.graph.database import Database, Row, Runner
from memgraph_engine.graph.rows import made
from memgraph_engine.ingest.messages import check_text
from memgraph_engine.model.embedder import EmbedderChange, EmbedderStatus
from memgraph_engine.recall.relevance import weights
from memgraph_engine.worker.calibrate import calibrate, shipped
from memgraph_engine.writing.vectors import Filling

LEASE = "embedder"
_BYTES = 16  # for each number of a vector: it is stored, indexed, and indexed once more while an index is merged
_ATTEMPTS = 3  # the last embeds what came since the one before while writers wait
_PART = 60.0  # seconds after which a worker looks for what else is due
_LONGEST = 3650  # days
_INDEXED = 3600  # seconds that new indexes may take


@dataclass(frozen=True, slots=True)
class _Second:
    """A set of vectors beside the one that is searched."""

    model: str
    dimensions: int
    named: str
    vectors: int
    calibration: str
    state: Literal["filling", "kept", "leaving"]
    filled: int
    total: int
    until: datetime | None = None

    @classmethod
    def of(cls, db: Database) -> "_Second | None":
        return next((made(cls, row) for row in db.run("vectors/second")), None)

    def engine(self, engine: Engine) -> Engine:
        """Return an engine that writes this set."""
        found = schema.Recorded(self.model, self.named, self.vectors, "", self.calibration, self.dimensions)
        return wiring.of_set(engine, found)

    def ended(self, engine: Engine) -> bool:
        """Whether its grace is over."""
        return self.state == "kept" and self.until is not None and self.until <= engine.db.alive()

    def leaves(self, engine: Engine, state: str) -> bool:
        """Let it be removed, if it is in a state still."""
        return bool(engine.db.commit("vectors/leave", vectors=self.vectors, state=state))


class _Enough(Exception):
    """A worker has other jobs, too."""


class _Behind(Exception):
    """Something was written between the last look and the lock."""


def under_way(engine: Engine) -> bool:
    """Tell whether there is a set of vectors beside the one that is searched."""
    return _Second.of(engine.db) is not None


def status(engine: Engine) -> EmbedderStatus:
    """Return which embedder the database has, and what becomes of another one's vectors."""
    (store,) = engine.db.run("store/read")
    own = store["model"], store["dimensions"]
    if not (one := _Second.of(engine.db)):
        return EmbedderStatus(*own)
    until = one.until if one.state == "kept" else None
    return EmbedderStatus(*own, one.state, one.model, min(one.filled, one.total), one.total, until)


def change(engine: Engine, to: str, grace: float, *, dry_run: bool) -> EmbedderChange:
    """Let a worker fill a set of vectors of another embedder, and switch to it; see `Memory.change_embedder`."""
    check_text(to, "to", 1000)
    if type(grace) not in (int, float) or not 0 <= grace <= _LONGEST:
        raise InvalidInput(f"grace must be a number of days from 0 to {_LONGEST}, not {grace!r}.")
    now = schema.recorded(engine.db)
    if there := _Second.of(engine.db):
        raise InvalidInput(_busy(now.model, there))
    embedder = wiring.load(engine.settings, to)
    if embedder.name == now.model:
        raise InvalidInput(f"The database at {engine.db.uri} has the embedder {now.model} already; nothing was begun.")
    found = _estimate(engine, now.model, embedder)
    if found.free is not None and found.free < found.bytes:
        raise StoreError(
            f"The vectors of {embedder.name} need about {found.bytes >> 20:,} MB beside those that there are, and "
            f"{found.free >> 20:,} MB are free on the disk of {engine.settings.home}: nothing was begun. Free space."
        )
    if dry_run:
        return found
    given = {"model": embedder.name, "named": to, "dimensions": embedder.dimensions, "probe": embedder.probe.tolist()}
    more = {"total": found.texts, "grace": int(grace * 86_400_000), "former": _name(engine, now)}
    begun = engine.db.write(lambda tx: tx.run("vectors/begin", calibration=_fitted(embedder), **given, **more))
    if not begun:
        raise InvalidInput(f"Another change of the embedder was begun at the same time; that to {to} was not.")
    return replace(found, begun=True)


def rollback(engine: Engine) -> EmbedderStatus:
    """Search the former vectors again, or end a change that is under way; see `Memory.rollback_embedder`."""
    engine = wiring.followed(engine)
    one = _Second.of(engine.db)
    kept = one and one.state == "kept" and not one.ended(engine)
    if not one or not (Change(engine, one).switch("leaving") if kept else one.leaves(engine, "filling")):
        raise InvalidInput(
            f"There are no vectors of another embedder to go back to: the database at {engine.db.uri} has "
            f"{schema.recorded(engine.db).model}, and nothing was changed."
        )
    return status(engine)


class Change:
    """What a worker does for a set of vectors; `stopping` is asked between two batches."""

    def __init__(self, engine: Engine, one: _Second, stopping: Callable[[], object] = lambda: None) -> None:
        self._one, self._stopping = one, stopping
        self._engine = one.engine(engine)
        self._db, self._filling = self._engine.db, Filling(self._engine, engine.db.vectors)
        self.texts, self._ends = 0, time.monotonic() + _PART

    @classmethod
    def work(cls, engine: Engine, stopping: Callable[[], object]) -> dict[str, int] | None:
        """Do what is due, where no other worker does; return what was done, None for nothing."""
        with leases.held_if_free(engine.db, LEASE) as mine:
            one = _Second.of(engine.db) if mine else None
            if not one:
                return None
            if one.state == "leaving" or (one.ended(engine) and one.leaves(engine, "kept")):
                return cls._drop(engine.db, one)
            if one.state == "kept" and not engine.db.run("vectors/scopes", vectors=one.vectors):
                return None
            job = cls(engine, one, stopping)
            if one.state == "filling":
                schema.define(job._db, one.dimensions, _INDEXED)
            try:
                job.fill()
            except _Enough:
                return {"texts": job.texts}
            if one.state == "filling":
                return {"switched": int(job.switch("kept")), "texts": job.texts}
            return {"texts": job.texts} if job.texts else None

    @staticmethod
    def _drop(db: Database, one: _Second) -> dict[str, int]:
        of = db.of(one.vectors)
        schema.undefine(of)
        of.commit("vectors/drop")
        of.commit("vectors/end", vectors=one.vectors)
        return {"dropped": 1}

    def fill(self) -> None:
        """Give all nodes of all scopes vectors of the set."""
        for row in self._db.run("vectors/scopes", vectors=self._one.vectors):
            self._filling.fill(self._db, row["scope"], self._write, self._wrote)
            self._db.commit("vectors/whole", **row)

    def _write(self, batch: Row) -> None:
        self._db.commit("vectors/write", **batch)

    def _wrote(self, texts: int) -> None:
        self.texts += texts
        self._db.commit("vectors/progress", texts=texts)
        self._stopping()
        if time.monotonic() > self._ends:
            raise _Enough

    def switch(self, state: Literal["kept", "leaving"]) -> bool:
        """Fill the set, and let it be searched; the one that was searched is kept, or leaves."""
        self._ends = inf
        for attempt in range(_ATTEMPTS):
            self.fill()
            try:
                return self._db.write(partial(self._switched, state, last=attempt == _ATTEMPTS - 1))
            except _Behind:
                continue
        raise AssertionError("the last attempt waits for nobody")

    def _switched(self, state: str, tx: Runner, *, last: bool) -> bool:
        tx.run("vectors/lock")
        for row in tx.run("vectors/scopes", vectors=self._one.vectors):
            scope = row["scope"]
            if last:
                self._filling.fill(tx, scope, lambda batch: tx.run("vectors/write", **batch), lambda _: None)
            elif self._filling.lacks(tx, scope):
                raise _Behind
        return bool(tx.run("vectors/switch", vectors=self._one.vectors, state=state))


def _busy(model: str, there: _Second) -> str:
    if there.state == "filling":
        return (
            f"A change to {there.model} is under way: wait until it is done, or end it (`memgraph-engine embedder "
            "rollback`)."
        )
    if there.state == "kept" and there.until:
        return (
            f"The database was changed to {model}, and keeps the vectors of {there.model} until "
            f"{there.until:%Y-%m-%d %H:%M} UTC: another change can begin when a worker has removed them."
        )
    return f"A worker has to remove the vectors of {there.model} first (`memgraph-engine worker`)."


def _name(engine: Engine, now: schema.Recorded) -> str:
    """Return what settings call the embedder that the database has."""
    return "" if engine.own else now.named or named_in(engine.settings, now.model)


def _fitted(embedder: CheckedEmbedder) -> str:
    """Return what the embedder's cosines mean, '' where that is shipped, or can't be told."""
    try:
        return "" if weights(embedder.name) else calibrate(embedder).stored()
    except EmbeddingError:
        return ""


def _estimate(engine: Engine, former: str, embedder: CheckedEmbedder) -> EmbedderChange:
    (counts,) = engine.db.run("vectors/counts")
    notes, keywords = counts["notes"] + counts["past"], counts["keywords"]
    texts = 2 * notes + keywords
    sample = shipped()  # not what users said: an estimate sends nothing of theirs to a provider
    size = embedder.dimensions  # loads it, if that is yet to be done
    begun = time.perf_counter()
    embedder.embed_documents(sample)
    seconds = (time.perf_counter() - begun) / len(sample) * texts
    need = (texts + counts["others"]) * size * _BYTES
    free = None if engine.settings.uri else disk_usage(engine.settings.home).free
    return EmbedderChange(
        former, embedder.name, size, notes, keywords, texts, round(seconds, 1), need, free, begun=False
    )
