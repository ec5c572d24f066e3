"""Bulk ingest: preparers embed ahead of loaders, each of which writes the memories that hash to it, piece by piece.

Pieces of a memory keep their order, and are those that one process would write: so is the graph. What was prepared is a
help and no need, as a loader embeds what it lacks; so what dies with a node is only time. The ledger of what is done is
the graph: ids make a repeat of what is written a repeat, and what is known is not embedded again.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from memgraph_engine.client import Memory
from memgraph_engine.engine import wiring
from memgraph_engine.engine.spread import Given, Spread, T
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput, StoreError, Unreachable
from memgraph_engine.fleet.actors import Loader, Prepared, Preparer
from memgraph_engine.fleet.cluster import AUTO, Where, check_nodes, first_line, has, joined, running, where
from memgraph_engine.graph import scopes, sources
from memgraph_engine.importers.jsonl import Keeper
from memgraph_engine.importers.run import Record, Run, Told, faulty
from memgraph_engine.ingest.messages import Message, as_mapping
from memgraph_engine.ingest.readers import Reader, checked
from memgraph_engine.model.ingested import Brought, Fault, Ingested
from memgraph_engine.model.item import ITEMS, Put, source_id
from memgraph_engine.model.memory import Source
from memgraph_engine.model.scope import Scope
from memgraph_engine.settings import Settings
from memgraph_engine.writing.ingestion import Ingestion

_AHEAD = 16  # batches a worker that are handed out and not written yet
_TRIES = 3  # of a piece whose loader died, beside those that Ray makes by itself
_SESSIONS = 10_000  # whose last turns are known


@contextmanager
def over(
    settings: Settings | None = None, address: str = AUTO, *, workers: int | None = None, **objects: Any
) -> Iterator[Memory]:
    """Connect to a memory whose `ingest` and importers hand their batches to the nodes of a Ray cluster.

    `objects` are those that `Memory.connect` takes: each is sent to the nodes. There are as many `workers` as the
    cluster has processors, each of which is a preparer and a loader. Raises Unreachable where no cluster answers, or
    its machines can't reach the database, StoreMismatch where a node has another version of the engine.
    """
    settings = settings or Settings.load()
    with joined(address), Memory(wiring.build(settings, deferred=True, **objects)) as memory:
        check_nodes(memory.engine)
        with _fleet(memory.engine, workers, objects) as fleet:
            yield Memory(replace(memory.engine, spread=fleet))


def ingest(
    records: Iterable[tuple[str, Message | Path]],
    settings: Settings | None = None,
    *,
    address: str = AUTO,
    workers: int | None = None,
    progress: Told | None = None,
    **objects: Any,
) -> Brought:
    """Remember records, each a user and a message of his or the path of a file, in order within each user's memory.

    A message without an id is known by what it says, as one of a file is. So a call that was cut off can be made
    again. What can't be read or stored is among the faults, with the number of its record; the rest is stored. For the
    others see `over`.
    """
    with over(settings, address, workers=workers, **objects) as memory:
        return bring(memory, records, progress)


def bring(memory: Memory, records: Iterable[tuple[str, Message | Path]], progress: Told | None = None) -> Brought:
    """Remember records as `ingest` does, by a memory that is connected already."""
    engine, place = memory.engine, Path("records")
    zone, most = engine.settings.timezone, engine.settings.max_text
    run = Run[Any](memory, {"user_id": None, "shared": False}, Keeper(dry_run=False).bring, progress)
    reader = Reader.of(engine.settings, redaction=engine.redaction)
    for number, (user, given) in enumerate(records, 1):
        one = given if isinstance(given, Path) else checked(place, number, as_mapping(given), zone, most)
        if isinstance(one, Fault):
            run.hear(faulty(one))
        elif isinstance(one, Path):
            run.flush([user])
            try:
                _File(engine, Scope(engine.settings.tenant, user), reader, hear=run.hear).take(one)
            except InvalidInput as error:
                run.hear(faulty(Fault(str(place), number, str(error))))
        else:
            run.take(Record(place, number, user, one))
    return run.end()


@dataclass
class _File(Ingestion):
    """One file among records: what comes of it is told with theirs."""

    hear: Callable[[Brought], object] = print

    def count(self, more: Ingested) -> None:
        users = {self.scope.user or "": more.inputs} if more.inputs else {}
        self.hear(Brought(done=more, users=users, faulty=len(more.faults)))


@contextmanager
def _fleet(engine: Engine, workers: int | None, objects: Mapping[str, Any]) -> Iterator["Fleet"]:
    """Run the actors of a fleet for the block."""
    at, number, chips = where(engine, objects), workers or max(1, has("CPU")), has("GPU")
    # half of a chip each: what one node held has room on the others
    own = {"num_gpus": 0.5} if chips else {}
    with running(Preparer, chips or number, **own) as preparers, running(Loader, number) as loaders:
        try:
            got([one.ready.remote(at) for one in (*preparers, *loaders)])
        except RayError as error:
            raise Unreachable(f"Ray could not start the workers, and nothing was begun: {first_line(error)}") from None
        yield Fleet(at, preparers, loaders, _AHEAD * number * engine.settings.ingest_batch)


@dataclass(eq=False)
class _Piece:
    """A piece of work that was handed out; `prepared` is a reference to vectors, None without any."""

    place: int
    weight: int
    work: Callable[[Engine], Iterable[Any]]
    done: Callable[[Any], object]
    preparer: int | None = None
    prepared: "ray.ObjectRef[Prepared | None] | None" = None
    tries: int = 0


class Fleet(Spread[Engine]):
    """Hands pieces of work to actors: at most `most` inputs are under way, and whoever hands out more waits."""

    def __init__(self, at: Where, preparers: Sequence[Any], loaders: Sequence[Any], most: int) -> None:
        self._where = at
        self.preparers, self.loaders, self._most = preparers, loaders, most
        self._preparing: dict[Any, _Piece] = {}
        self._loading: dict[Any, _Piece] = {}
        self._queues = [deque[_Piece]() for _ in loaders]
        self._weight = 0
        self._tails: OrderedDict[tuple[str, str], Given] = OrderedDict()

    def hand(
        self,
        engine: Engine,
        scope: Scope,
        given: Sequence[Given],
        work: Callable[[Engine], Iterable[T]],
        done: Callable[[T], object],
    ) -> None:
        """Let a loader do it, once it is prepared."""
        while self._weight and self._weight + len(given) > self._most:
            self._step()
        piece = _Piece(_place(scope.name, len(self.loaders)), max(1, len(given)), work, done)
        before = self._before(scope, given)
        if given and not _known(engine, scope, given):
            busy = [sum(one.preparer == at for one in self._preparing.values()) for at in range(len(self.preparers))]
            piece.preparer = busy.index(min(busy))
            call = self.preparers[piece.preparer].prepare
            ref = call.remote(self._where, scope, _language(engine, scope), before, list(given), engine.now())
            self._preparing[ref] = piece
        self._weight += piece.weight
        self._queues[piece.place].append(piece)
        self._begin(piece.place)

    def settle(self) -> None:
        """Return when all that was handed out is written and told; raises what a loader raised."""
        while self._weight:
            self._step()

    def _step(self) -> None:
        """Wait until an actor has done something, and go on with it."""
        (ref,), _ = ray.wait([*self._preparing, *self._loading], num_returns=1, fetch_local=False)
        if piece := self._preparing.pop(ref, None):
            piece.preparer, piece.prepared = None, ref
        else:
            self._finish(piece := self._loading.pop(ref), ref)
        self._begin(piece.place)

    def _begin(self, place: int) -> None:
        """Let a loader begin with its next piece, if it has nothing to do and that is prepared."""
        queue = self._queues[place]
        if queue and queue[0].preparer is None and queue[0] not in self._loading.values():
            piece = queue[0]
            self._loading[self.loaders[place].load.remote(self._where, piece.work, piece.prepared)] = piece

    def _finish(self, piece: _Piece, ref: Any) -> None:
        """Tell what came of a piece; what was lost with a node is done again."""
        try:
            came = got(ref)
        except RayError as error:
            piece.prepared, piece.tries = None, piece.tries + 1
            if piece.tries == _TRIES:
                raise StoreError(
                    f"Workers on Ray die at the same {piece.weight} inputs again and again, and may lack memory. Some "
                    f"may not be stored. Make the call again to go on. {first_line(error)}"
                ) from None
            return
        self._queues[piece.place].popleft()
        self._weight -= piece.weight
        for one in came:
            piece.done(one)

    def _before(self, scope: Scope, given: Sequence[Given]) -> list[Given]:
        """Return the last turns, before these, of their sessions, and keep those that are the last by now."""
        last = {name: one for one in given if (name := _session(one))}
        before = [self._tails[scope.name, name] for name in last if (scope.name, name) in self._tails]
        for name, one in last.items():
            self._tails[scope.name, name] = one
            self._tails.move_to_end((scope.name, name))
        while len(self._tails) > _SESSIONS:
            self._tails.popitem(last=False)
        return before


def got(refs: Any) -> Any:
    """Return what calls returned; raises what one raised itself, a RayError where an actor or an object was lost."""
    try:
        return ray.get(refs)
    except RayTaskError as error:
        raise error.cause from None


def _place(scope: str, places: int) -> int:
    """Return which of so many loaders writes a scope: of another number, most scopes keep theirs."""
    return max(range(places), key=lambda at: blake2b(f"{scope} {at}".encode(), digest_size=8).digest())


def _session(one: Given) -> str:
    found = one.session if isinstance(one, Source) else one.get("session") if isinstance(one, Mapping) else ""
    return found if isinstance(found, str) else ""


def _known(engine: Engine, scope: Scope, given: Sequence[Given]) -> bool:
    """Whether all of it is stored, so that nothing is to be embedded; a message without an id may be new."""
    ids = {_id(one) for one in given}
    return "" not in ids and sources.known(engine.db, scope.name, ids).keys() == ids


def _id(one: Given) -> str:
    if isinstance(one, Put):
        return source_id(ITEMS, one.key)
    return one.id if isinstance(one, Source) else str(one.get("id", ""))


def _language(engine: Engine, scope: Scope) -> str:
    if scope.name not in engine.languages and (found := scopes.state(engine.db, scope.name)):
        engine.languages[scope.name] = found.language
    return engine.language_of(scope)
