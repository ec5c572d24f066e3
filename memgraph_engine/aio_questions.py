"""The questions of `AsyncMemory`, and how its calls run in threads."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from threading import Lock
from typing import Any, ParamSpec, TypeVar, Unpack

from memgraph_engine.client import Memory
from memgraph_engine.model.answer import Answer, Context
from memgraph_engine.model.result import Anchor, Hit
from memgraph_engine.reading import Narrowing

P = ParamSpec("P")
T = TypeVar("T")


class AsyncQuestions:
    """The part of `AsyncMemory` that is asked questions."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._running: set[asyncio.Task[object]] = set()

    async def search(
        self,
        question: str,
        *,
        user_id: str | None = None,
        shared: bool = False,
        top_k: int = 20,
        rounds: int | None = None,
        session: str | None = None,
        speaker: str | None = None,
        role: str | None = None,
        agent: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        as_of: datetime | str | None = None,
        known_at: datetime | str | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, object] | None = None,
        min_similarity: float | None = None,
        explain: bool = False,
    ) -> list[Hit]:
        """See `Memory.search`."""
        return await self._call(
            self._memory.search,
            question,
            user_id=user_id,
            shared=shared,
            top_k=top_k,
            rounds=rounds,
            session=session,
            speaker=speaker,
            role=role,
            agent=agent,
            since=since,
            until=until,
            as_of=as_of,
            known_at=known_at,
            tags=tags,
            metadata=metadata,
            min_similarity=min_similarity,
            explain=explain,
        )

    async def anchors(self, question: str, *, user_id: str | None = None, shared: bool = False) -> list[Anchor]:
        """See `Memory.anchors`."""
        return await self._call(self._memory.anchors, question, user_id=user_id, shared=shared)

    async def context(
        self,
        question: str,
        *,
        user_id: str | None = None,
        shared: bool = False,
        budget: int | None = None,
        top_k: int = 20,
        **narrowing: Unpack[Narrowing],
    ) -> Context:
        """See `Memory.context`."""
        return await self._call(
            self._memory.context, question, user_id=user_id, shared=shared, budget=budget, top_k=top_k, **narrowing
        )

    async def answer(
        self,
        question: str,
        *,
        user_id: str | None = None,
        shared: bool = False,
        budget: int | None = None,
        top_k: int = 20,
        **narrowing: Unpack[Narrowing],
    ) -> Answer:
        """See `Memory.answer`."""
        return await self._call(
            self._memory.answer, question, user_id=user_id, shared=shared, budget=budget, top_k=top_k, **narrowing
        )

    async def answer_stream(
        self,
        question: str,
        *,
        user_id: str | None = None,
        shared: bool = False,
        budget: int | None = None,
        top_k: int = 20,
        **narrowing: Unpack[Narrowing],
    ) -> AsyncIterator[str | Answer]:
        """See `Memory.answer_stream`: `async for piece in memory.answer_stream(…)`.

        Who stops listening closes it (`contextlib.aclosing`).
        """
        pieces = await self._call(
            self._memory.answer_stream,
            question,
            user_id=user_id,
            shared=shared,
            budget=budget,
            top_k=top_k,
            **narrowing,
        )
        turn = Lock()  # a cancelled await leaves its thread waiting for the next piece

        def following() -> str | Answer | None:
            with turn:
                return next(pieces, None)

        def close() -> None:
            with turn:
                pieces.close()

        try:
            while (piece := await self._call(following)) is not None:
                yield piece
        finally:
            await self._call(close)

    async def _call(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run work in a thread; the task outlives a cancelled await, so that `close` knows of it."""
        task = asyncio.create_task(asyncio.to_thread(work, *args, **kwargs))
        self._running.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, or asyncio would complain when nobody waits for it any more
