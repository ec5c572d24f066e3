"""One import: records come from files, in any order of their users, and go to the memory of each.

A record comes into no other memory than that of the user whom it names. What it names is held against the user who is
asked for; what is another's is left out and told.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from memgraph_engine.client import Memory
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput
from memgraph_engine.graph.memory_file import FORMAT
from memgraph_engine.importers.values import Values
from memgraph_engine.ingest.messages import check_paths
from memgraph_engine.ingest.readers import start
from memgraph_engine.interface.whose import Whose
from memgraph_engine.model.ingested import Brought, Fault, Ingested
from memgraph_engine.model.scope import Scope

if TYPE_CHECKING:
    from memgraph_engine.engine.spread import Given

T = TypeVar("T")

Told = Callable[[Brought], object]
"""Is told what came so far, after each batch and each fault."""

_EXPORT = json.dumps(FORMAT).encode()  # in the first line
_FAULTS = 1000  # that are kept
SOME = 1000
"""Records, after which it is told how much is read."""
_HOPELESS = 100  # faults without a record: then the file is of another kind
_USERS = 8  # batches of several users that wait at once
_NAMED = 100  # other users that are named


@dataclass(frozen=True, slots=True)
class Record(Generic[T]):
    """What is to come into a memory, where it stands, and the user whom it names; None if it names nobody."""

    file: Path
    line: int
    user: str | None
    given: T

    def fault(self, reason: object) -> Fault:
        """Return why it can't come."""
        return Fault(str(self.file), self.line, str(reason))


@dataclass(frozen=True, slots=True)
class Left:
    """A record that is left out, and why; that is no fault."""

    why: str


@dataclass(frozen=True, slots=True)
class Share:
    """Which part of a file is read so far, from 0 to 1."""

    read: float


Come = Record[T] | Fault | Left | Share
Bring = Callable[[Memory, Whose, Sequence[Record[T]]], Brought]
"""Stores records of one memory, or finds out what would become of them; tells what came of it."""


@dataclass
class Run(Generic[T]):
    """What one call has brought so far, and what waits for its batch."""

    memory: Memory
    whose: Whose
    bring: Bring[T]
    progress: Told | None = None
    dry_run: bool = False
    done: Brought = field(default_factory=Brought)
    _waiting: dict[str | None, list[Record[T]]] = field(default_factory=dict)
    _taken: int = 0

    def __post_init__(self) -> None:
        """Refuse a user that can't be one."""
        if self.whose["user_id"] is not None:
            if self.whose["shared"]:
                raise InvalidInput("The shared memory belongs to no user: give user_id or shared=True, not both.")
            Scope(self.memory.engine.settings.tenant, self.whose["user_id"])
        if self.progress is not None and not callable(self.progress):
            raise InvalidInput(f"progress must be a function that takes what came so far, not {self.progress!r}.")
        self.done = replace(self.done, dry_run=self.dry_run)

    def files(self, paths: Sequence[Path], records: Callable[[Path], Iterator[Come[T]]]) -> Brought:
        """Bring what files hold; raises InvalidInput for one of another kind, when what came before it is stored."""
        sizes = [path.stat().st_size for path in paths]
        for number, path in enumerate(paths):
            before, taken = self.done.faulty, self._taken
            for one in chain(records(path), [Share(1)]):
                if isinstance(one, Share):
                    read = sum(sizes[:number]) + int(one.read * sizes[number])
                    self.done = replace(self.done, read=read, size=sum(sizes))
                    self.hear(Brought())
                elif isinstance(one, Fault):
                    self.hear(faulty(one))
                else:
                    self._taken += 1
                    if isinstance(one, Left):
                        self._leave(one.why)
                    else:
                        self.take(one)
                if self.done.faulty - before >= _HOPELESS and self._taken == taken:
                    first = self.done.done.faults[before:][:1]
                    why = f" The first: {first[0]}." if first else ""
                    raise InvalidInput(f"{path}: none of the first {_HOPELESS} records can be read.{why}")
            self.flush()
            self.hear(Brought(done=Ingested(files=1)))
        return self.end()

    def take(self, record: Record[T]) -> None:
        """Take a record to those of its memory, and hand out a batch of them."""
        asked, shared = self.whose["user_id"], self.whose["shared"]
        user = record.user or asked
        if user is None and not shared:
            self.hear(faulty(record.fault("it names no user; say whose it is (--user)")))
            return
        if (shared and user is not None) or (asked is not None and user != asked):
            why = f"of user {str(user)[:60]!r}"
            self._leave(why if why in self.done.left or len(self.done.left) < _NAMED else "of other users")
            return
        try:
            Scope(self.memory.engine.settings.tenant, user)
        except InvalidInput as error:
            self.hear(faulty(record.fault(error)))
            return
        waiting, size = self._waiting.setdefault(user, []), self.memory.engine.settings.ingest_batch
        waiting.append(record)
        if len(waiting) >= size:
            self._write(user)
        elif sum(map(len, self._waiting.values())) >= _USERS * size:
            self.flush()

    def _leave(self, why: str) -> None:
        self.done = replace(self.done, left={**self.done.left, why: self.done.left.get(why, 0) + 1})

    def flush(self, users: Iterable[str | None] | None = None) -> None:
        """Hand out what waits for its batch, of all users or of some."""
        for user in list(self._waiting if users is None else self._waiting.keys() & {*users}):
            self._write(user)

    def end(self) -> Brought:
        """Hand out what waits, and return what came of all when it is written."""
        self.flush()
        self.memory.engine.spread.settle()
        return self.done

    def _write(self, user: str | None) -> None:
        some, engine = self._waiting.pop(user), self.memory.engine
        work = partial(_brought, bring=self.bring, user=user, records=some)
        given = [cast("Given", one.given) for one in some]
        engine.spread.hand(engine, Scope(engine.settings.tenant, user), given, work, self.hear)

    def hear(self, more: Brought) -> None:
        """Count what came of some records, and tell it."""
        self.done = plus(self.done, more)
        if self.progress:
            self.progress(self.done)


def _brought(engine: Engine, bring: Bring[T], user: str | None, records: Sequence[Record[T]]) -> Iterator[Brought]:
    """Bring records of one memory, and tell how many are in it by now."""
    came = bring(Memory(engine), {"user_id": user, "shared": user is None}, records)
    number = len(records) - came.faulty - sum(came.left.values())
    yield replace(came, users={user or "": number} if number else {})


def paths_of(given: object) -> list[Path]:
    """Return the files that are given, one or several; raises InvalidInput for what is no file."""
    paths = check_paths(given)
    for path in paths:
        if path.is_dir():
            raise InvalidInput(f"{path} is a folder; the file is needed.")
        if not path.is_file():
            raise InvalidInput(f"{path} is no file that can be read.")
        if _EXPORT in start(path):
            raise InvalidInput(f"{path} is an export of this engine, which `memgraph-engine import FILE` reads.")
    return paths


def each(values: Values, read: Callable[[int, object], Iterable[Come[T]]]) -> Iterator[Come[T]]:
    """Yield what is read of each value of a file, by its line, and now and then how much of the file is read."""
    for number, (line, value) in enumerate(values):
        yield from read(line, value)
        if number % SOME == 0:
            yield Share(values.share)


def one_by_one(records: Sequence[Record[T]], add: Callable[[Sequence[Record[T]]], Ingested]) -> Brought:
    """Add records together; if that is refused, each alone, so that one keeps out no other."""
    try:
        return Brought(done=add(records))
    except InvalidInput as error:
        if len(records) == 1:
            return faulty(records[0].fault(error))
    done = Brought()
    for record in records:
        done = plus(done, one_by_one([record], add))
    return done


def plus(done: Brought, more: Brought) -> Brought:
    """Return both together; of their faults as many as are kept."""
    faults = (*done.done.faults, *more.done.faults)[:_FAULTS]
    return replace(
        done,
        done=replace(done.done + more.done, faults=faults),
        users=dict(Counter(done.users) + Counter(more.users)) if more.users else done.users,
        left=dict(Counter(done.left) + Counter(more.left)) if more.left else done.left,
        faulty=done.faulty + more.faulty,
    )


def faulty(fault: Fault) -> Brought:
    """Return what came of a record that can't come."""
    return Brought(done=Ingested(faults=(fault,)), faulty=1)
