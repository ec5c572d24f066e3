"""`AsyncMemory`: Memory for programs that run on asyncio. A façade over threads, never a second implementation."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Self

from memgraph_engine import wiring
from memgraph_engine.aio_questions import AsyncQuestions
from memgraph_engine.client import Memory, Message
from memgraph_engine.model.memory import Note
from memgraph_engine.model.ports import ChatModel, Clock, Embedder, Partitioner
from memgraph_engine.model.result import Decision, Receipt, Spending, Stats, Story, Version
from memgraph_engine.model.topic import Topic, TopicRun, TopicTie
from memgraph_engine.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PAGE = 500


class AsyncMemory(AsyncQuestions):
    """`Memory` with every call awaited; arguments, results and errors are those of the method of the same name.

    Each call runs in a thread. A cancelled await gives up waiting, not the work: what was begun (a write, say)
    runs to its end, and `close` waits for it. So a write that timed out may still take place; it can be made
    again, since a repeat is recognised.

    >>> async def main():
    ...     async with await AsyncMemory.connect(tenant=tenant) as memory:
    ...         await memory.add("I moved to Lisbon in March.", user_id="ana")
    ...         return await memory.search("Where does Ana live?", user_id="ana")
    >>> asyncio.run(main())[0].note.context
    'I moved to Lisbon in March.'
    """

    @classmethod
    async def connect(
        cls,
        uri: str | None = None,
        *,
        tenant: str | None = None,
        embedder: Embedder | None = None,
        language: str | None = None,
        settings: Settings | None = None,
        llm: ChatModel | None = None,
        clock: Clock = wiring.utc_now,
    ) -> Self:
        """See `Memory.connect`."""
        memory = await asyncio.to_thread(
            Memory.connect,
            uri,
            tenant=tenant,
            embedder=embedder,
            language=language,
            settings=settings,
            llm=llm,
            clock=clock,
        )
        return cls(memory)

    async def close(self) -> None:
        """Wait for what still runs, then close the connections."""
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._call(self._memory.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # ---- writing ----------------------------------------------------------------------------

    async def add(
        self,
        message: Message | Sequence[Message],
        *,
        user_id: str | None = None,
        shared: bool = False,
        wait: bool = True,
        shown: Sequence[str] = (),
        **fields: object,
    ) -> Receipt:
        """See `Memory.add`."""
        return await self._call(
            self._memory.add, message, user_id=user_id, shared=shared, wait=wait, shown=shown, **fields
        )

    async def add_many(
        self,
        messages: Iterable[Message],
        *,
        user_id: str | None = None,
        shared: bool = False,
        wait: bool = True,
        shown: Sequence[str] = (),
    ) -> Receipt:
        """See `Memory.add_many`; an iterator is read in the thread."""
        return await self._call(self._memory.add_many, messages, user_id=user_id, shared=shared, wait=wait, shown=shown)

    async def process(self, *, user_id: str | None = None, shared: bool = False, limit: int | None = None) -> Receipt:
        """See `Memory.process`."""
        return await self._call(self._memory.process, user_id=user_id, shared=shared, limit=limit)

    async def update(
        self,
        id: str,  # noqa: A002  as in Memory
        text: str,
        *,
        user_id: str | None = None,
        shared: bool = False,
    ) -> Decision:
        """See `Memory.update`."""
        return await self._call(self._memory.update, id, text, user_id=user_id, shared=shared)

    async def delete(self, id: str, *, user_id: str | None = None, shared: bool = False) -> Decision:  # noqa: A002
        """See `Memory.delete`."""
        return await self._call(self._memory.delete, id, user_id=user_id, shared=shared)

    async def delete_all(self, *, user_id: str | None = None, shared: bool = False) -> list[Decision]:
        """See `Memory.delete_all`."""
        return await self._call(self._memory.delete_all, user_id=user_id, shared=shared)

    async def undo(
        self, decision: str, *, cascade: bool = False, user_id: str | None = None, shared: bool = False
    ) -> Decision:
        """See `Memory.undo`."""
        return await self._call(self._memory.undo, decision, cascade=cascade, user_id=user_id, shared=shared)

    async def rebuild_topics(
        self,
        *,
        user_id: str | None = None,
        shared: bool = False,
        engine: str | Partitioner | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> TopicRun:
        """See `Memory.rebuild_topics`; `progress` is called in the thread."""
        return await self._call(
            self._memory.rebuild_topics, user_id=user_id, shared=shared, engine=engine, progress=progress
        )

    async def rebuild_all_topics(
        self, *, engine: str | Partitioner | None = None, progress: Callable[[str], None] | None = None
    ) -> list[TopicRun]:
        """See `Memory.rebuild_all_topics`; `progress` is called in the thread."""
        return await self._call(self._memory.rebuild_all_topics, engine=engine, progress=progress)

    # ---- reading ----------------------------------------------------------------------------

    async def get(self, id: str, *, user_id: str | None = None, shared: bool = False) -> Note:  # noqa: A002
        """See `Memory.get`."""
        return await self._call(self._memory.get, id, user_id=user_id, shared=shared)

    def get_all(self, *, user_id: str | None = None, shared: bool = False) -> AsyncIterator[Note]:
        """See `Memory.get_all`: `async for note in memory.get_all(user_id="ana")`."""
        return self._paged(self._memory.get_all(user_id=user_id, shared=shared))

    async def vectors(self, *, user_id: str | None = None, shared: bool = False) -> "dict[str, NDArray[np.float32]]":
        """See `Memory.vectors`."""
        return await self._call(self._memory.vectors, user_id=user_id, shared=shared)

    async def history(self, id: str, *, user_id: str | None = None, shared: bool = False) -> list[Version]:  # noqa: A002
        """See `Memory.history`."""
        return await self._call(self._memory.history, id, user_id=user_id, shared=shared)

    async def explain(self, id: str, *, user_id: str | None = None, shared: bool = False) -> Story:  # noqa: A002
        """See `Memory.explain`."""
        return await self._call(self._memory.explain, id, user_id=user_id, shared=shared)

    async def decisions(
        self,
        *,
        user_id: str | None = None,
        shared: bool = False,
        limit: int = 20,
        before: datetime | str | None = None,
    ) -> list[Decision]:
        """See `Memory.decisions`."""
        return await self._call(self._memory.decisions, user_id=user_id, shared=shared, limit=limit, before=before)

    async def cost(
        self, *, user_id: str | None = None, shared: bool = False, since: datetime | str | None = None
    ) -> list[Spending]:
        """See `Memory.cost`."""
        return await self._call(self._memory.cost, user_id=user_id, shared=shared, since=since)

    async def topics(self, *, user_id: str | None = None, shared: bool = False) -> list[Topic]:
        """See `Memory.topics`."""
        return await self._call(self._memory.topics, user_id=user_id, shared=shared)

    async def topic(self, id: str, *, user_id: str | None = None, shared: bool = False) -> Topic:  # noqa: A002
        """See `Memory.topic`."""
        return await self._call(self._memory.topic, id, user_id=user_id, shared=shared)

    async def topic_ties(self, *, user_id: str | None = None, shared: bool = False) -> list[TopicTie]:
        """See `Memory.topic_ties`."""
        return await self._call(self._memory.topic_ties, user_id=user_id, shared=shared)

    async def topic_runs(self, *, user_id: str | None = None, shared: bool = False, limit: int = 20) -> list[TopicRun]:
        """See `Memory.topic_runs`."""
        return await self._call(self._memory.topic_runs, user_id=user_id, shared=shared, limit=limit)

    async def stats(self, *, user_id: str | None = None, shared: bool = False) -> Stats:
        """See `Memory.stats`."""
        return await self._call(self._memory.stats, user_id=user_id, shared=shared)

    async def verify(self, *, user_id: str | None = None, shared: bool = False) -> list[str]:
        """See `Memory.verify`."""
        return await self._call(self._memory.verify, user_id=user_id, shared=shared)

    # ---- inside -----------------------------------------------------------------------------

    async def _paged(self, notes: Iterator[Note]) -> AsyncIterator[Note]:
        while page := await self._call(lambda: list(islice(notes, _PAGE))):
            for note in page:
                yield note
