"""The items of LangGraph's stores: a SqliteStore's file, or rows and items as JSON (docs/import.md).

They arrive under the same namespaces and keys, where `integrations.langgraph.MemgraphStore` reads them.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from memgraph_engine.client import Memory
from memgraph_engine.errors import InvalidInput, named, needed
from memgraph_engine.graph import items, sources
from memgraph_engine.importers.run import (
    SOME,
    Come,
    Left,
    Record,
    Run,
    Share,
    Told,
    each,
    faulty,
    one_by_one,
    paths_of,
    plus,
)
from memgraph_engine.importers.values import Values, columns, is_sqlite, iso, opened, parsed
from memgraph_engine.ingest.items import check_item
from memgraph_engine.ingest.messages import parse_time
from memgraph_engine.ingest.readers import Unread
from memgraph_engine.interface.whose import Whose, user_of
from memgraph_engine.model.ingested import Brought, Fault, Ingested
from memgraph_engine.model.item import ITEMS, Put, source_id
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing.items import ItemWriter

Texts = Callable[[Mapping[str, Any]], list[str]]
"""From a value to the texts that it is found by."""

_COLUMNS = ("prefix", "key", "value", "created_at", "updated_at", "expires_at", "ttl_minutes")
_NEEDED = frozenset(_COLUMNS[:5])
_EXPIRED = "expired"
_REPEAT = Brought(done=Ingested(repeats=1))
_CONFLICT = "the item {key!r} is stored with another value, and this one is no newer (updated_at)"


def import_langgraph(
    memory: Memory,
    path: str | Path | Sequence[str | Path],
    *,
    user_id: str | None = None,
    fields: Sequence[str] = (),
    dry_run: bool = False,
    progress: Told | None = None,
) -> Brought:
    """Bring the items of a LangGraph store, with their namespaces, keys, values, times and times to live.

    A file is that of a SqliteStore, or has a row of the table `store`, or an item, as JSON on each line. An item is
    found by the `fields` of its value, as the `index` of a store has them (else by all of it). With a `user_id` only
    the namespace comes that it stands for (`users/ana`). What is newer here than there stays; what was deleted here
    too. What can't be read or stored is among the faults; the rest is stored. A `dry_run` writes nothing and tells what
    would come. Raises InvalidInput for a file of another kind, MissingExtra for `fields` without the extra `langgraph`.
    """
    reader = _Reader(memory, _texts(fields))
    run = Run[Put](memory, {"user_id": user_id, "shared": False}, _Keeper(dry_run).bring, progress, dry_run)
    return run.files(paths_of(path), reader.records)


def _texts(fields: Sequence[str]) -> Texts:
    if not fields:
        return lambda value: [json.dumps(value, sort_keys=True, ensure_ascii=False)]  # as LangGraph's path "$" does
    with needed("finding items by fields of their values", "langgraph"):
        from langgraph.store.base import get_text_at_path
    return lambda value: [text for path in fields for text in get_text_at_path(dict(value), path)]


# ---- reading --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads items."""

    memory: Memory
    texts: Texts

    def records(self, path: Path) -> Iterator[Come[Put]]:
        def read(line: int, value: object) -> list[Come[Put]]:
            if isinstance(value, Mapping):
                return [self._item(path, line, value)]
            why = value if isinstance(value, Unread) else f"this is {named(value)}; an item is needed"
            return [Fault(str(path), line, why)]

        return self._rows(path) if is_sqlite(path) else each(Values(path), read)

    def _rows(self, path: Path) -> Iterator[Come[Put]]:
        with opened(path) as connection:
            connection.row_factory = sqlite3.Row
            there = columns(connection)
            if not there.get("store", set()) >= _NEEDED:
                raise InvalidInput(f"{path} has no table `store` as LangGraph's SqliteStore makes it.")
            names = [name for name in _COLUMNS if name in there["store"]]
            indexed = "0"
            if "store_vectors" in there and connection.execute("SELECT 1 FROM store_vectors LIMIT 1").fetchone():
                indexed = "NOT EXISTS (SELECT 1 FROM store_vectors v WHERE v.prefix = s.prefix AND v.key = s.key)"
            rows = connection.execute(
                f"SELECT {', '.join(names)}, {indexed} AS unindexed FROM store s ORDER BY rowid"  # noqa: S608  our own
            )
            size = 0
            with suppress(sqlite3.Error):  # it is damaged: what stands before that comes all the same
                (size,) = connection.execute("SELECT count(*) FROM store").fetchone()
            try:
                for number, row in enumerate(rows):
                    # what is no UTF-8 has lone surrogates, which are refused later
                    given = {
                        name: one.decode("utf-8", "surrogateescape") if isinstance(one := row[name], bytes) else one
                        for name in names
                    }
                    given["value"] = parsed(str(given["value"]))
                    yield self._item(path, number + 1, given, indexed=not row["unindexed"])
                    if number % SOME == 0:
                        yield Share(number / size if size else 0.0)
            except sqlite3.Error as error:
                yield Fault(str(path), 0, f"the database is damaged, so the rest of it is not read: {error}")

    def _item(self, path: Path, line: int, given: Mapping[str, Any], *, indexed: bool = True) -> Come[Put]:
        now = self.memory.engine.now()
        try:
            value = given.get("value")
            if isinstance(value, Unread):
                raise InvalidInput(f"the value can't be read: {value}")
            if not {"key", "value"} <= given.keys():
                raise InvalidInput("this is no item, which has a namespace (or prefix), a key and a value")
            user = user_of(_namespace(given))
            times = ("created_at", "updated_at", "expires_at")
            created, updated, ends = (parse_time(iso(given.get(name)), name, "UTC") for name in times)
            if ends and ends <= now:
                return Left(_EXPIRED)
            put = check_item(given["key"], value, ttl=given.get("ttl_minutes", given.get("ttl")))
            updated = min(updated or created or now, now)
            texts = self.texts(json.loads(put.value)) if indexed else ()
            put = replace(
                put,
                texts=tuple(dict.fromkeys(texts)),
                created=min(created or updated, updated),
                updated=updated,
                ends=ends,
            )
        except (InvalidInput, RecursionError) as error:
            return Fault(str(path), line, str(error))
        return Record(path, line, user, put)


def _namespace(given: Mapping[str, Any]) -> list[str]:
    labels = given.get("namespace", given.get("prefix"))
    some = labels.split(".") if isinstance(labels, str) else labels
    if (
        not isinstance(some, list)
        or not some
        or not all(isinstance(one, str) and one and "." not in one for one in some)
    ):
        raise InvalidInput("it has no namespace: a list of labels without dots, or a prefix with dots between them")
    return some


# ---- writing --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Keeper:
    """Puts items, or finds out which would come."""

    dry_run: bool

    def bring(self, memory: Memory, whose: Whose, records: Sequence[Record[Put]]) -> Brought:
        """Put what is new, or newer than what is there."""
        db = memory.engine.db
        scope = Scope(memory.engine.settings.tenant, whose["user_id"])
        last, done = _last(records)
        known = sources.known(db, scope.name, (source_id(ITEMS, one.given.key) for one in last))
        there = items.find(db, scope.name, ITEMS, [one.given.key for one in last]) if known else {}
        new, newer = list[Record[Put]](), list[Record[Put]]()
        for record in last:
            put = record.given
            stored, item = known.get(source_id(ITEMS, put.key)), there.get(put.key)
            if not stored:
                new.append(record)
            elif not item or put.hash == stored.hashes[0]:  # it was deleted here, or has ended, or is the same
                done = plus(done, _REPEAT)
            elif _newer(put, item.updated_at):
                newer.append(record)
            else:
                older = put.hash in stored.hashes or put.updated != item.updated_at
                done = plus(done, _REPEAT if older else faulty(record.fault(_CONFLICT.format(key=put.key))))
        for some, came in ((new, Ingested(added=1)), (newer, Ingested(updated=1))):
            done = plus(done, self._put(memory, scope, some, came)) if some else done
        return done

    def _put(self, memory: Memory, scope: Scope, records: Sequence[Record[Put]], each: Ingested) -> Brought:
        def put(some: Sequence[Record[Put]]) -> Ingested:
            if not self.dry_run:
                ItemWriter(memory.engine).put(scope, [one.given for one in some])
            return sum((each for _ in some), Ingested())

        return one_by_one(records, put)


def _last(records: Sequence[Record[Put]]) -> tuple[list[Record[Put]], Brought]:
    """Return records of which each has a key of its own, the newest ones; and what came of the others."""
    last, done = dict[str, Record[Put]](), Brought()
    for record in records:
        before = last.get(record.given.key)
        if before and not _newer(record.given, before.given.updated):
            same = before.given.hash == record.given.hash or before.given.updated != record.given.updated
            done = plus(done, _REPEAT if same else faulty(record.fault(_CONFLICT.format(key=record.given.key))))
            continue
        done = plus(done, _REPEAT) if before else done
        last[record.given.key] = record
    return list(last.values()), done


def _newer(put: Put, than: datetime | None) -> bool:
    return put.updated is not None and (than is None or put.updated > than)
