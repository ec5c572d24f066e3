"""Calls of AsyncMemory as a type checker sees them: `mypy` reads this file, nobody runs it.

A wrong call that mypy did not refuse would leave an ignore unused, which is an error too.
"""

from collections.abc import AsyncGenerator
from typing import assert_type

from pydantic import BaseModel

from memgraph_engine import Answer, AsyncMemory, Context, Decision, Hits, Ingested, Memory, Note, Receipt, User


class Ours(AsyncMemory):
    pass


class Said(BaseModel):
    """A message object, like those of chat libraries."""

    role: str
    content: str | None


async def right(memory: AsyncMemory) -> None:
    assert_type(await AsyncMemory.connect("bolt://host", tenant="acme"), AsyncMemory)
    assert_type(await Ours.connect(), Ours)
    assert_type(await memory.add("I moved.", user_id="ana", speaker="Ana", tags=["home"]), Receipt)
    assert_type(await memory.ingest(["notes", "chat.jsonl"], user_id="ana", update=True), Ingested)
    assert_type(await memory.add(text="I moved.", user_id="ana", metadata={"room": 1}), Receipt)
    assert_type(await memory.users(), list[User])
    assert_type(memory.get_all(user_id="ana", speaker="Ana", tags=["home"]), AsyncGenerator[Note, None])
    assert_type(await memory.update("D1:3", "I moved to Porto.", user_id="ana"), Decision)
    assert_type(await memory.search("Where?", user_id="ana", top_k=3, speaker="Ana", since="2023"), Hits)
    assert_type(await memory.context("Where?", shared=True, budget=300), Context)
    assert_type(memory.get_all(user_id="ana"), AsyncGenerator[Note, None])
    async for piece in memory.answer_stream("Where?", user_id="ana", tags=["home"]):
        assert_type(piece, str | Answer)
    async with memory as same:
        assert_type(same, AsyncMemory)


async def wrong(memory: AsyncMemory) -> None:
    await AsyncMemory.connect(tenent="acme")  # type: ignore[call-arg]
    await memory.add("I moved.", user_id=3)  # type: ignore[arg-type]
    await memory.add("I moved.", user_id="ana", speeker="Ana")  # type: ignore[call-arg]
    memory.get_all(user_id="ana", as_of="2023")  # type: ignore[call-arg]
    await memory.get()  # type: ignore[call-arg]
    await memory.search("Where?", user_id="ana", since=3)  # type: ignore[arg-type]
    await memory.search("Where?", user_id="ana", sesion="D1")  # type: ignore[call-arg]
    await memory.search("Where?", "ana")  # type: ignore[call-arg]
    await memory.get_all(user_id="ana")  # type: ignore[misc]
    note: Note = memory.get("D1:3", user_id="ana")  # type: ignore[assignment]  # not awaited
    note.context = ""  # type: ignore[misc]


def the_same_of_memory(memory: Memory) -> None:
    assert_type(memory.search("Where?", user_id="ana", speaker="Ana"), Hits)
    memory.search("Where?", user_id="ana", sesion="D1")  # type: ignore[call-arg]
    said, turns = Said(role="assistant", content="Hi."), [Said(role="user", content="Hello.")]
    assert_type(memory.add(said, user_id="ana"), Receipt)
    assert_type(memory.add(turns, user_id="ana"), Receipt)
    assert_type(memory.add_many([said, {"role": "user", "content": "Hello."}, "Hi."], user_id="ana"), Receipt)
    memory.add(3, user_id="ana")  # type: ignore[arg-type]
    memory.add_many([3], user_id="ana")  # type: ignore[list-item]
