"""`AsyncMemory`: Memory for programs that run on asyncio, made from it method by method; its calls run in threads."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator
from functools import partial, wraps
from inspect import signature
from itertools import islice
from threading import Lock
from types import GenericAlias, TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, cast, get_args

from memgraph_engine.asking.audit import Audit
from memgraph_engine.client import Memory
from memgraph_engine.forks import begun

P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M")
A = TypeVar("A", bound="AsyncMemory")

_PAGE = 500  # notes of a listing that one thread fetches


def awaited(
    method: Callable[Concatenate[M, P], T],
) -> Callable[Concatenate["Threaded[M]", P], Coroutine[Any, Any, T]]:
    """Make a method of AsyncMemory from one of Memory: the same arguments, result and errors, in a thread."""

    @wraps(method)
    async def call(self: "Threaded[M]", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._run(self._bound(method), *args, **kwargs)

    call.__doc__ = _see(method)
    return call


def iterated(
    method: Callable[Concatenate[Memory, P], Iterator[T]], most: int, *, at_once: bool
) -> Callable[Concatenate["AsyncMemory", P], AsyncGenerator[T, None]]:
    """Make a method of AsyncMemory from one that yields: of what comes, `most` is fetched at a time, in a thread.

    The method itself is called `at_once`, where it only checks its arguments, else in a thread too.
    """

    def call(self: "AsyncMemory", /, *args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[T, None]:
        begin = partial(self._bound(method), *args, **kwargs)
        if not at_once:
            return self._stream(begin, most)
        items = begin()
        return self._stream(lambda: items, most)

    wraps(method)(call)
    known = signature(method)
    items = GenericAlias(AsyncGenerator, (get_args(known.return_annotation)[0], None))
    call.__signature__ = known.replace(return_annotation=items)  # type: ignore[attr-defined]
    call.__doc__ = f"{_see(method)} Iterate by `async for`; close it if you stop early (`contextlib.aclosing`)."
    return call


class Connecting(Generic[P]):
    """The class method that connects, made from that of Memory; a subclass gets its own kind."""

    def __init__(self, connect: Callable[P, Memory]) -> None:
        self._connect = connect

    def __get__(self, _instance: "A | None", kind: "type[A]") -> Callable[P, Coroutine[Any, Any, "A"]]:
        @wraps(self._connect)
        async def call(*args: P.args, **kwargs: P.kwargs) -> A:
            return kind(await asyncio.to_thread(self._connect, *args, **kwargs))

        call.__doc__ = _see(self._connect)
        return call


def _see(method: Callable[..., object]) -> str:
    return f"See `{method.__qualname__}`."


class Threaded(Generic[M]):
    """What runs the methods of an object in threads."""

    def __init__(self, of: M, running: "set[asyncio.Task[Any]]") -> None:
        self._of, self._running = of, running

    def _bound(self, method: Callable[Concatenate[M, P], T]) -> Callable[P, T]:
        """Return the object's own method of that name, which a subclass may have made anew."""
        return cast("Callable[P, T]", getattr(self._of, method.__name__))

    async def _run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run work in a thread; the task outlives a cancelled await, so that `close` knows of it."""
        task = asyncio.create_task(asyncio.to_thread(work, *args, **kwargs))
        self._running.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, or asyncio would complain when nobody waits for it any more


class AsyncAudit(Threaded[Audit]):
    """`Audit` with every call awaited; `AsyncMemory.audit` is one."""

    about = awaited(Audit.about)
    deleted = awaited(Audit.deleted)
    changed = awaited(Audit.changed)
    retrievals = awaited(Audit.retrievals)


class AsyncMemory(Threaded[Memory]):
    """`Memory` with every call awaited; arguments, results and errors are those of the method of the same name.

    Each call runs in a thread, and so do the iterators and callbacks that it is given. If an await is cancelled, the
    work goes on: a write that was begun runs to its end, and `close` waits for it. So a write that timed out may still
    take place. Messages with an `id` or a `time` can be added again: a repeat is recognised.

    >>> async def main():
    ...     async with await AsyncMemory.connect(tenant=tenant) as memory:
    ...         await memory.add("I moved to Lisbon in March.", user_id="ana")
    ...         return await memory.search("Where does Ana live?", user_id="ana")
    >>> asyncio.run(main())[0].note.context
    'I moved to Lisbon in March.'
    """

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory, set())
        begun(self, lambda one: one._running.clear())  # no loop of a child's would end the tasks of its parent

    connect = Connecting(Memory.connect)

    @property
    def audit(self) -> AsyncAudit:
        """See `Memory.audit`."""
        return AsyncAudit(self._of.audit, self._running)

    async def close(self) -> None:
        """Wait for what still runs, then close the connections."""
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._run(self._of.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    flush = awaited(Memory.flush)

    # ---- writing ----------------------------------------------------------------------------

    add = awaited(Memory.add)
    add_many = awaited(Memory.add_many)
    ingest = awaited(Memory.ingest)
    process = awaited(Memory.process)
    update = awaited(Memory.update)
    delete = awaited(Memory.delete)
    delete_all = awaited(Memory.delete_all)
    undo = awaited(Memory.undo)
    untie = awaited(Memory.untie)
    set_profile = awaited(Memory.set_profile)
    sweep = awaited(Memory.sweep)
    end_session = awaited(Memory.end_session)
    restore = awaited(Memory.restore)
    limit = awaited(Memory.limit)
    evict = awaited(Memory.evict)
    evolve = awaited(Memory.evolve)
    pin = awaited(Memory.pin)
    unpin = awaited(Memory.unpin)
    set_policy = awaited(Memory.set_policy)
    apply_policies = awaited(Memory.apply_policies)
    hold = awaited(Memory.hold)
    release = awaited(Memory.release)
    holds = awaited(Memory.holds)
    forget = awaited(Memory.forget)
    erase = awaited(Memory.erase)
    receipts = awaited(Memory.receipts)
    verify_erasure = awaited(Memory.verify_erasure)
    export = awaited(Memory.export)
    import_ = awaited(Memory.import_)
    render = awaited(Memory.render)
    rebuild_topics = awaited(Memory.rebuild_topics)
    rebuild_all_topics = awaited(Memory.rebuild_all_topics)
    rebuild_blocks = awaited(Memory.rebuild_blocks)
    consolidate = awaited(Memory.consolidate)
    share_claims = awaited(Memory.share_claims)

    # ---- asking -----------------------------------------------------------------------------

    search = awaited(Memory.search)
    anchors = awaited(Memory.anchors)
    context = awaited(Memory.context)
    blocks = awaited(Memory.blocks)
    claims = awaited(Memory.claims)
    prompt = awaited(Memory.prompt)
    answer = awaited(Memory.answer)
    reflect = awaited(Memory.reflect)
    answer_stream = iterated(Memory.answer_stream, 1, at_once=False)

    # ---- looking up -------------------------------------------------------------------------

    get = awaited(Memory.get)
    source = awaited(Memory.source)
    profile = awaited(Memory.profile)
    facts = awaited(Memory.facts)
    get_all = iterated(Memory.get_all, _PAGE, at_once=True)
    users = awaited(Memory.users)
    sessions = awaited(Memory.sessions)
    tenants = awaited(Memory.tenants)
    vectors = awaited(Memory.vectors)
    history = awaited(Memory.history)
    explain = awaited(Memory.explain)
    decisions = awaited(Memory.decisions)
    cost = awaited(Memory.cost)
    topics = awaited(Memory.topics)
    topic = awaited(Memory.topic)
    topic_ties = awaited(Memory.topic_ties)
    topic_runs = awaited(Memory.topic_runs)
    block = awaited(Memory.block)
    claim = awaited(Memory.claim)
    outline = awaited(Memory.outline)
    block_tree = awaited(Memory.block_tree)
    block_runs = awaited(Memory.block_runs)
    stats = awaited(Memory.stats)
    verify = awaited(Memory.verify)
    health = awaited(Memory.health)
    embedder = awaited(Memory.embedder)
    change_embedder = awaited(Memory.change_embedder)
    rollback_embedder = awaited(Memory.rollback_embedder)

    # ---- inside -----------------------------------------------------------------------------

    async def _stream(self, begin: Callable[[], Iterator[T]], most: int) -> AsyncGenerator[T, None]:
        """Yield what an iterator gives, `most` of it at a time from a thread; close it when nobody listens."""
        items = await self._run(begin)
        turn = Lock()  # a cancelled await leaves its thread waiting for the next piece

        def following() -> list[T]:
            with turn:
                return list(islice(items, most))

        def close() -> None:
            with turn:
                if isinstance(items, Generator):
                    items.close()

        try:
            while page := await self._run(following):
                for item in page:
                    yield item
        finally:
            await self._run(close)
