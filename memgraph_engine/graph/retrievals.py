"""The log of retrievals: which notes were given to whom. Like counts of use it has no version and no edges.

What a reader was given stands in his own scope, also of notes of the shared memory.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import repeat

from memgraph_engine.graph import schema, scopes
from memgraph_engine.graph.database import Database, Row, Runner
from memgraph_engine.graph.rows import moment
from memgraph_engine.model.result import Given, Retrieval
from memgraph_engine.model.scope import Scope

_ROWS = 1000  # nodes in one transaction


@dataclass(frozen=True, slots=True)
class Question:
    """What a reader, by his scope, asked in the retrieval of an id."""

    reader: str
    id: str
    words: str


def write(db: Database, reader: Scope, language: str, wanted: Callable[[Runner], Sequence[Row]]) -> None:
    """Write what a reader was given, under the locks of what he reads: an erasure begins before it, or behind it.

    `wanted` returns the rows to write, as of then. A reader without a memory gets one, in a language: by it a purge
    and an erasure find what is recorded of him. Raises StoreMismatch where a newer process has upgraded the database.
    """
    read = sorted(one.name for one in reader.readable)

    def work(tx: Runner) -> None:
        for store in tx.run("store/read"):
            schema.check(db, store["upgrading"] or store["schema"])
        for name in read:
            tx.run("scopes/lock", scope=name)
        rows = wanted(tx)
        if rows and tx.run("retrievals/write", scope=reader.name, scopes=read, rows=rows)[0]["written"]:
            scopes.open_scope(tx, reader, language)

    db.write(work)


def between(
    tx: Runner, reader: Scope, since: datetime, until: datetime, notes: Sequence[str] | None
) -> Iterator[Retrieval]:
    """Yield what a reader was given between two times, both included, the newest first; None for any `notes`."""
    for row in tx.run("retrievals/between", scope=reader.name, since=since, until=until, notes=notes):
        given = tuple(map(Given, row["notes"], row["revisions"], row["utilities"] or repeat(None)))
        asked = row["call"], row["question"] or "", row["agent"], row["session"]
        yield Retrieval(row["id"], moment(row["at"]), reader.user, given, *asked)


def readers(tx: Runner, scope: Scope) -> list[str]:
    """Return the scopes in which it may be recorded that notes of one were given: of the shared one, all of the tenant.

    There are none where nothing is recorded.
    """
    names = [scope.name] if scope.user else sorted({scope.name, *scopes.of_tenant(tx, scope.tenant)})
    return names if tx.run("retrievals/any", scopes=names) else []


def forget(
    db: Database,
    scope: str,
    readers: Sequence[str],
    gone: Sequence[str],
    kept: Sequence[str],
    sessions: Sequence[str],
    until: datetime | None,
) -> None:
    """Forget that readers were given notes that are about to be removed, and what they asked when they were.

    Also what they asked when they were given notes that are made anew, and the `sessions` of which nothing stays. With
    `until` only of what was given until then.
    """
    given = {"gone": gone, "kept": kept, "sessions": sessions, "until": until}
    db.commit("retrievals/forget", scope=scope, scopes=readers, rows=_ROWS, **given)


def questions(db: Database, readers: Sequence[str], until: datetime | None = None) -> Iterator[Question]:
    """Yield what readers asked, as far as it is recorded; with `until` not what they did later."""
    for row in db.stream("retrievals/questions", scopes=readers, until=until) if readers else ():
        yield from (Question(row["reader"], *one) for one in row["asked"])


def naming(tx: Runner, readers: Sequence[str], notes: Sequence[str], until: datetime | None) -> int:
    """Return how many retrievals of readers gave one of some notes, with `until` those until then."""
    given = {"notes": notes, "until": until}
    return int(tx.run("retrievals/naming", scopes=readers, **given)[0]["retrievals"]) if readers and notes else 0


def unask(db: Database, scope: str, ids: Sequence[str]) -> None:
    """Forget what a reader asked in some retrievals."""
    for start in range(0, len(ids), _ROWS):
        db.commit("retrievals/unask", scope=scope, ids=ids[start : start + _ROWS])
