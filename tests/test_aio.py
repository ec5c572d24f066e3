"""AsyncMemory is Memory, awaited."""

import asyncio
import contextlib
import inspect
import threading
import time
from collections.abc import AsyncGenerator
from typing import get_args, get_origin

import pytest

from memgraph_engine import AsyncMemory, Memory
from memgraph_engine.errors import Closed, InvalidInput, NotFound
from tests.models import memory_with


def public(cls):
    return {name for name, _ in inspect.getmembers(cls, callable) if not name.startswith("_")}


def test_the_methods_are_those_of_memory():
    assert public(AsyncMemory) == public(Memory)


ITERATING = {"get_all", "answer_stream"}


@pytest.mark.parametrize("name", sorted(public(Memory)))
def test_the_parameters_are_those_of_memory(name):
    ours = inspect.signature(getattr(AsyncMemory, name)).parameters
    theirs = inspect.signature(getattr(Memory, name)).parameters
    assert list(ours.values()) == list(theirs.values())  # names, kinds, defaults, annotations, order
    assert f"See `Memory.{name}`." in getattr(AsyncMemory, name).__doc__ or name == "close"


@pytest.mark.parametrize("name", sorted(public(Memory) - ITERATING))
def test_each_method_is_awaited_and_returns_the_same(name):
    ours, theirs = getattr(AsyncMemory, name), getattr(Memory, name)
    assert inspect.iscoroutinefunction(ours)
    assert inspect.signature(ours).return_annotation == inspect.signature(theirs).return_annotation


@pytest.mark.parametrize("name", sorted(ITERATING))
def test_what_iterates_gives_the_same_asynchronously(name):
    ours, theirs = (inspect.signature(getattr(of, name)).return_annotation for of in (AsyncMemory, Memory))
    assert get_origin(ours) is AsyncGenerator
    assert get_args(ours)[0] == get_args(theirs)[0]


def test_every_method_works(tenant, embedder):
    async def main():
        async with await AsyncMemory.connect(tenant=tenant, embedder=embedder) as memory:
            receipt = await memory.add("I moved to Lisbon in March.", user_id="ana", speaker="Ana", id="D1:3")
            await memory.add_many(["The tide turns at noon.", "The ferry is late."], user_id="ana")
            hits = await memory.search("Where does Ana live?", user_id="ana", top_k=1, explain=True)
            assert [source.id for source in hits[0].sources] == ["D1:3"]
            context = await memory.context("Where does Ana live?", user_id="ana", budget=300, speaker="Ana")
            assert [source.id for source in context.entries[0].sources] == ["D1:3"]
            answer = await memory.answer("Where does Ana live?", user_id="ana")
            assert (answer.text, len(answer.fallbacks)) == (None, 1)
            streamed = [piece async for piece in memory.answer_stream("Where does Ana live?", user_id="ana")]
            assert streamed == [answer]
            note = await memory.get("D1:3", user_id="ana")
            assert note.id == receipt.entries[0].note
            await memory.update("D1:3", "I moved to Porto.", user_id="ana")
            assert len(await memory.history("D1:3", user_id="ana")) == 2
            assert [n.id async for n in memory.get_all(user_id="ana")].index(note.id) == 0
            assert len((await memory.explain("D1:3", user_id="ana")).versions) == 2
            decision = await memory.delete("D1:3", user_id="ana")
            assert (await memory.decisions(user_id="ana", limit=1))[0] == decision
            assert (await memory.undo(decision.id, user_id="ana")).undoes == decision.id
            await memory.add("The harbour is full.", user_id="ana", wait=False)
            assert len((await memory.process(user_id="ana", limit=3)).entries) == 1
            assert await memory.cost(user_id="ana") == []
            assert await memory.anchors("Where is the harbour?", user_id="ana")
            assert len(await memory.vectors(user_id="ana")) == 4
            assert await memory.topic_ties(user_id="ana") == []
            await memory.delete("D1:3", user_id="ana")
            assert (await memory.stats(user_id="ana")).notes == {"active": 3, "deleted": 1}
            assert (await memory.delete_all(user_id="ana")).notes == 3
            assert [user.id for user in await memory.users()] == ["ana"]
            assert await memory.sessions(user_id="bo") == []
            assert any(one.users == 1 for one in await memory.tenants())
            assert await memory.verify(user_id="ana") == []

    asyncio.run(main())


def test_errors_are_those_of_memory(memory):
    async def main():
        one = AsyncMemory(memory)
        with pytest.raises(NotFound):
            await one.get("nothing", user_id="ana")
        with pytest.raises(InvalidInput, match="user_id"):
            one.get_all()

    asyncio.run(main())


def test_calls_run_beside_each_other(memory):
    async def main():
        one = AsyncMemory(memory)
        await asyncio.gather(*(one.add(f"Buoy {n} is green.", user_id="ana") for n in range(8)))
        assert len([note async for note in one.get_all(user_id="ana")]) == 8
        assert await one.verify(user_id="ana") == []

    asyncio.run(main())


def test_a_long_listing_comes_page_by_page_without_loss(memory, monkeypatch):
    monkeypatch.setattr("memgraph_engine.aio._PAGE", 7)

    async def main():
        one = AsyncMemory(memory)
        await one.add_many([f"Buoy {n} is green." for n in range(30)], user_id="ana")
        return [note.raw[0] async for note in one.get_all(user_id="ana")]

    assert asyncio.run(main()) == [f"Buoy {n} is green." for n in range(30)]


def test_an_answer_streams(tenant, embedder):
    async def main():
        with memory_with(tenant, embedder, ["Ana lives in Lisbon [1]."], only=["answering"]) as (memory, _):
            one = AsyncMemory(memory)
            await one.add("I moved to Lisbon in March.", user_id="ana", speaker="Ana")
            return [piece async for piece in one.answer_stream("Where does Ana live?", user_id="ana")]

    *pieces, answer = asyncio.run(main())
    assert len(pieces) > 2
    assert "".join(pieces) == answer.text == "Ana lives in Lisbon [1]."


def test_who_stops_listening_ends_the_answer(tenant, embedder):
    async def main():
        with memory_with(tenant, embedder, ["Ana lives in Lisbon [1]."], only=["answering"]) as (memory, _):
            one = AsyncMemory(memory)
            await one.add("I moved to Lisbon in March.", user_id="ana", speaker="Ana")
            async with contextlib.aclosing(one.answer_stream("Where does Ana live?", user_id="ana")) as pieces:
                async for piece in pieces:
                    assert piece == "Ana"
                    break
            (day,) = await one.cost(user_id="ana")
            assert (day.cost.calls, day.cost.money) == (1, None)

    asyncio.run(main())


class SlowMemory:
    """Stands for a Memory whose write takes its time."""

    def __init__(self):
        self.begun, self.done, self.closed_after = threading.Event(), False, None

    def add(self, message, *, user_id=None, shared=False, **fields):
        self.begun.set()
        time.sleep(0.3)
        self.done = True

    def close(self):
        self.closed_after = self.done


def test_a_cancelled_write_runs_to_its_end_and_close_waits_for_it():
    slow = SlowMemory()

    async def main():
        async with AsyncMemory(slow) as memory:
            writing = asyncio.create_task(memory.add("…", user_id="ana"))
            await asyncio.to_thread(slow.begun.wait)
            writing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await writing
            assert not slow.done

    asyncio.run(main())
    assert slow.closed_after is True


def test_an_async_memory_that_was_closed_says_so(server, tenant, embedder):
    async def main():
        async with await AsyncMemory.connect(tenant=tenant, embedder=embedder) as memory:
            pass
        with pytest.raises(Closed, match="This Memory was closed"):
            await memory.add("The boat sails.", user_id="ana")
        with pytest.raises(Closed, match="This Memory was closed"):
            await anext(memory.get_all(user_id="ana"))

    asyncio.run(main())


def test_a_timed_out_write_can_be_made_again(memory):
    async def main():
        one = AsyncMemory(memory)
        messages = [{"id": str(n), "text": f"Buoy {n} is red.", "session": "s"} for n in range(40)]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(one.add_many(messages, user_id="ana"), 0.001)
        receipt = await one.add_many(messages, user_id="ana")
        assert receipt.added + receipt.repeats == 40
        assert await one.verify(user_id="ana") == []
        assert (await one.stats(user_id="ana")).notes == {"active": 40}

    asyncio.run(main())
