"""Put items: each value stands under its key, whatever else the memory holds.

An item is a source with a note for each of its texts, so it ends, is erased, exported, verified and undone as all else
is. But no gate judges it, no model is asked about it, and it is in nobody's profile. A value that is put in the place
of another makes a new version of the same source and its notes. What was deleted, or has expired, stays as it was, and
new notes tell what comes after it.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial

from memgraph_engine.engine.wiring import Engine, followed, following
from memgraph_engine.errors import NotFound, SourceConflict
from memgraph_engine.gate.verdict import APPEND
from memgraph_engine.graph import items as item_graph, notes, sources
from memgraph_engine.ingest.passages import cuts
from memgraph_engine.model.candidate import Placed
from memgraph_engine.model.item import ITEMS, UNFOUND, Item, Put, item_of, source_id
from memgraph_engine.model.marker import without_recalled
from memgraph_engine.model.memory import READABLE, Source, cut_up
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing.adding import look_up
from memgraph_engine.writing.batch import Batch
from memgraph_engine.writing.commit import until_current
from memgraph_engine.writing.construction import Work
from memgraph_engine.writing.deletion import delete
from memgraph_engine.writing.rewording import Reworded, reword
from memgraph_engine.writing.transaction import Transaction

_WORTH = 100  # a read prolongs what has used up this part of its time: else each of many reads would write


class ItemWriter:
    """Writes items on a shelf of the memories of one database."""

    def __init__(self, engine: Engine, shelf: str = ITEMS) -> None:
        self.engine, self._shelf = engine, shelf

    def _follow(self) -> None:
        """Take the embedder that the database has by now."""
        self.engine = followed(self.engine)

    def put(self, scope: Scope, puts: Iterable[Put]) -> None:
        """Put items, each key once: those that are new in one transaction, each other one in its own.

        What is there already, with the same value, texts and time to live, begins its time anew and stays as it is.
        Raises SourceConflict for a key under whose source's id a message is stored.
        """
        self._put(scope, {put.key: self._redacted(put) for put in puts})

    def _redacted(self, put: Put) -> Put:
        """Return an item without secrets, unless they are kept."""
        redaction, where = self.engine.redaction, f"item {put.key!r}"
        texts = tuple(redaction.text(text, where) for text in put.texts)
        return replace(put, value=redaction.json(put.value, where), texts=texts)

    @following
    def _put(self, scope: Scope, puts: Mapping[str, Put]) -> None:
        waiting = dict(puts)
        size = self.engine.settings.ingest_batch
        with Work.begin(self.engine, scope) as work:
            while waiting:
                some = [waiting.pop(key) for key in list(waiting)[:size]]
                known = until_current(self.engine.db, scope.name, partial(self._create, some, work))
                for put in known:
                    if not until_current(self.engine.db, scope.name, partial(self._change, scope, put)):
                        waiting[put.key] = put  # it was removed meanwhile
                work.clear()

    @following
    def remove(self, scope: Scope, keys: Iterable[str]) -> list[str]:
        """Delete items, each in a decision of its own; return the keys of those that this call deleted."""
        removed = list[str]()
        for key in sorted(item_graph.find(self.engine.db, scope.name, self._shelf, list(keys))):
            with suppress(NotFound):  # somebody else was faster
                delete(self.engine, scope, source_id(self._shelf, key))
                removed.append(key)
        return removed

    def read(self, found: Iterable[Item]) -> None:
        """Let the time to live of items begin anew, since they were read."""
        now, lives = self.engine.now(), dict[str, dict[str, tuple[datetime, datetime]]]()
        for item in found:
            if item.ttl and now + item.ttl - item.expires_at >= item.ttl / _WORTH:
                life = self.engine.policies.known(item.policy).life(now, now + item.ttl)
                lives.setdefault(item.scope, {})[item.source] = life.expires_at, life.erase_at
        for scope, some in lives.items():
            item_graph.prolong(self.engine.db, scope, some)

    def _create(self, puts: Sequence[Put], work: Work) -> list[Put]:
        """Store the items that are new; return the others."""
        engine, now = self.engine, self.engine.now()
        made = {put.key: self._new(put, now) for put in puts}
        seen = look_up(work, [one for some in made.values() for one in some], keywords=True)
        new = [put for put in puts if source_id(self._shelf, put.key) not in seen.known]
        if new:
            placed = [Placed(one) for put in new for one in made[put.key]]
            candidates = work.constructor.construct(placed, seen.keywords, seen.language)
            Batch(engine, work.scope, seen).write(candidates, [APPEND] * len(candidates))
            engine.versions[work.scope.name] = seen.version + 1
        return [put for put in puts if put not in new]

    def _new(self, put: Put, now: datetime) -> list[Source]:
        source, places = self._told(put, Source(source_id(self._shelf, put.key), "", "", "item"), now, now)
        return cut_up(self.engine.policies.assigned(source, f"item {put.key!r}", now), places)

    def _change(self, scope: Scope, put: Put) -> bool:
        """Give a stored item another value; tell whether it is there. Raises Stale, with nothing written."""
        engine, now, source = self.engine, self.engine.now(), source_id(self._shelf, put.key)
        transaction = Transaction.begin(engine, scope)
        old = sources.passages(engine.db, scope.name, source)
        ids = [one.note.id for one in notes.found_by(engine.db, scope.name, source)] if old else []
        told = notes.renderings(engine.db, scope.name, ids)
        if not told:
            return False
        if old[0].kind != "item":
            raise SourceConflict(f"{source!r} of {scope} is the id of a message: give the item another key.")
        live = [one.found.note for one in told if one.found.note.status in READABLE]
        if live and old[0].hash == put.hash:
            self.read([item_of(scope.name, old[0])])
            return True
        # its life begins anew in its class
        life = replace(engine.policies.known(old[0].policy).life(now, put.end(now)), apart=old[0].apart)
        created = item_of(scope.name, old[0]).created_at if live else now
        changed, places = self._told(
            put, replace(old[0], part=0, span=None, begins_at=now, **life.properties), created, now
        )
        if any(note.pinned for note in live):
            life = life.endless
        transaction.live([source], now)
        # what can't be read any more is taken for other words, so that it stays as it was
        before = old if live else [replace(one, text="") for one in old]
        reword(transaction, Reworded(before, cut_up(changed, places), told), life)
        return True

    def _told(self, put: Put, source: Source, created: datetime, now: datetime) -> tuple[Source, list[int]]:
        """Return a source that tells an item, and before which characters its passages begin."""
        text, places = self._text(put)
        source = replace(source, text=text or f"item {put.key}", role="" if text else UNFOUND, hash=put.hash)
        return replace(source, metadata=put.metadata(created, now), expires_as=put.end(now)), places

    def _text(self, put: Put) -> tuple[str, list[int]]:
        """Return the text that an item is found by, '' for none, and before which characters its passages begin.

        Each of its texts is a passage at least.
        """
        text, places = "", list[int]()
        for one in put.texts:
            # what can be stored of it: the value itself keeps all
            said = one.replace("\0", " ").encode(errors="replace").decode() + "\n"
            if len(text) + len(said) > self.engine.settings.max_text or not without_recalled(said).strip():
                continue
            places += [len(text)] if text else []
            places += [len(text) + place for place in cuts(said, self.engine.settings.passage)]
            text += said
        return text, places
