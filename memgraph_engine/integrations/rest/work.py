"""The engine's work, which blocks, beside the loop that serves: so many requests at once, each so long."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from contextvars import copy_context
from math import ceil
from typing import TypeVar

from memgraph_engine.forks import begun
from memgraph_engine.integrations.rest.problems import Refused

T = TypeVar("T")


class Work:
    """Runs blocking calls in threads.

    At most `most` run at the same time. What waits for its turn longer than `patience` is refused with 503, and what
    runs longer than `seconds` is given up on with 504: the thread goes on to its end, and keeps its place until then.
    """

    def __init__(self, most: int, patience: float, seconds: float) -> None:
        self._most, self._patience, self._seconds = most, patience, seconds
        begun(self, Work._open)

    def _open(self) -> None:
        self._places = asyncio.Semaphore(self._most)
        self._threads = ThreadPoolExecutor(self._most, thread_name_prefix="memgraph-engine-serve")

    async def run(self, call: Callable[[], T]) -> T:
        """Return what a call returns, or raise what it raises; raises Refused."""
        future = await self._begin(call)
        done, _ = await asyncio.wait({future}, timeout=self._seconds)
        if not done:
            raise _late(self._seconds)
        return future.result()

    async def stream(self, begin: Callable[[], Generator[T, None, None]]) -> AsyncIterator[T]:
        """Return what yields the pieces of a generator, once it has begun; it is closed when nobody listens."""
        pieces: asyncio.Queue[T | BaseException | None] = asyncio.Queue()
        loop, stopped = asyncio.get_running_loop(), threading.Event()

        def put(piece: T | BaseException | None) -> None:
            loop.call_soon_threadsafe(pieces.put_nowait, piece)

        generator = await self.run(begin)

        def give() -> None:
            try:
                with closing(generator):
                    for piece in generator:
                        if stopped.is_set():
                            return
                        put(piece)
                put(None)
            except Exception as error:  # noqa: BLE001  whoever listens raises it
                put(error)

        await self._begin(give)
        return self._told(pieces, stopped)

    async def _told(
        self, pieces: "asyncio.Queue[T | BaseException | None]", stopped: threading.Event
    ) -> AsyncIterator[T]:
        try:
            async with asyncio.timeout(self._seconds):
                while (piece := await pieces.get()) is not None:
                    if isinstance(piece, BaseException):
                        raise piece
                    yield piece
        except TimeoutError:
            raise _late(self._seconds) from None
        finally:
            stopped.set()

    async def _begin(self, call: Callable[[], T]) -> "asyncio.Future[T]":
        try:
            async with asyncio.timeout(self._patience):
                await self._places.acquire()
        except TimeoutError:
            again = {"Retry-After": str(ceil(self._patience))}
            raise Refused(503, "The server is busy with other requests; try again later.", again) from None
        future = asyncio.get_running_loop().run_in_executor(self._threads, copy_context().run, call)
        future.add_done_callback(self._end)
        return future

    def _end(self, future: "asyncio.Future[T]") -> None:
        self._places.release()
        if not future.cancelled():
            future.exception()  # looked at, or asyncio would complain when nobody waits for it any more

    async def close(self) -> None:
        """Wait for what still runs."""
        await asyncio.to_thread(self._threads.shutdown)


def _late(seconds: float) -> Refused:
    return Refused(
        504, f"This took longer than {seconds:g} seconds, and was given up on; a write that had begun may take place."
    )
