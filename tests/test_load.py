"""A client that runs many reads at once leaves out what can wait, and says so; above twice as many it refuses."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Semaphore

import pytest

from memgraph_engine import AsyncMemory, EmbeddingError, Memory, Overloaded, Settings
from memgraph_engine.interface.status import ErrorStatus, status_of
from memgraph_engine.model.answer import BUSY
from memgraph_engine.testing import ScriptedChat

ANA = {"user_id": "ana"}
TALK = [
    "My sister Ines moved to Porto last year.",
    "Ines works at the aquarium in Porto, with the otters.",
    "The otters of the aquarium are fed at noon.",
    "The bakery opens at six.",
]
QUESTION = "When can one watch the animals of Ines?"  # no note holds all of its words: it is asked again
HELD, FAULTY = "What is this question waiting for?", "What can't be embedded?"
PATHWAYS = ("keywords", "topics", "related")  # those that have a weight by default
SECONDS = 30  # that a test waits at most before it fails


class Held:
    """An embedder that keeps one question waiting until it is released, and fails on another."""

    def __init__(self, embedder):
        self.name, self.embed_documents, self._embedder = embedder.name, embedder.embed_documents, embedder
        self.waiting, self.released = Semaphore(0), Event()

    def embed_query(self, text):
        if text == FAULTY:
            raise ValueError("no vector")
        if text == HELD:
            self.waiting.release()
            assert self.released.wait(SECONDS)
        return self._embedder.embed_query(text)

    def awaited(self, number):
        for _ in range(number):
            assert self.waiting.acquire(timeout=SECONDS)


@pytest.fixture
def held(embedder):
    one = Held(embedder)
    yield one
    one.released.set()


@pytest.fixture
def connected(tenant, held):
    some = []

    def connect(busy=0, llm=None, record="on", **recall):
        settings = Settings.load(recall={"busy": busy, **recall}, use={"record": record})
        some.append(Memory.connect(tenant=tenant, embedder=held, settings=settings, llm=llm))
        return some[-1]

    yield connect
    for one in some:
        one.close()


@pytest.fixture
def talk(connected):
    one = connected()
    one.add_many(TALK, **ANA)
    return one


@contextmanager
def running(memory, held, number, read=Memory.search):
    """So many reads that run all the while."""
    held.released.clear()
    with ThreadPoolExecutor(number) as pool:
        reads = [pool.submit(read, memory, HELD, **ANA) for _ in range(number)]
        try:
            held.awaited(number)
            yield reads
        finally:
            held.released.set()


def scores(hits):
    return [(hit.note.id, hit.score) for hit in hits]


def shown(memory):
    memory._reader._use.write()
    return memory.stats(**ANA).used


def test_up_to_the_limit_nothing_is_left_out(talk, connected, held):
    memory = connected(2)
    with running(memory, held, 1) as reads:
        hits = memory.search(QUESTION, **ANA)
        assert hits.degraded == ()
        assert scores(hits) == scores(talk.search(QUESTION, **ANA))
        context = memory.context(QUESTION, **ANA)
        assert (context.text, context.fallbacks, context.degraded) == (talk.context(QUESTION, **ANA).text, (), False)
        assert shown(memory) > 0
    assert reads[0].result().degraded == ()


def test_above_it_the_hits_are_those_without_pathways_in_one_round_and_say_so(talk, connected, held):
    memory, plain = (
        connected(1, pathways="always"),
        connected(channels=Settings.load().recall.switched(**dict.fromkeys(PATHWAYS, False)).channels),
    )
    full = memory.search(QUESTION, **ANA, rounds=3, explain=True)
    assert any({"keywords", "related"} & set(hit.explanation.proposed_by) for hit in full)
    assert len(full[0].explanation.rounds) == 2
    with running(memory, held, 1):
        hits = memory.search(QUESTION, **ANA, rounds=3, explain=True)
        assert memory.search(QUESTION, **ANA).degraded == PATHWAYS
        assert memory.anchors(QUESTION, **ANA) == talk.anchors(QUESTION, **ANA) != []  # nothing of it can wait
    assert hits.degraded == (*PATHWAYS, "rounds")
    assert scores(hits) == scores(plain.search(QUESTION, **ANA)) != scores(full)
    assert not any(set(PATHWAYS) & set(hit.explanation.proposed_by) for hit in hits)
    assert [len(hit.explanation.rounds) for hit in hits] == [1] * len(hits)
    assert memory.search(QUESTION, **ANA).degraded == ()


def test_contexts_prompts_and_answers_say_so_and_count_no_use(talk, connected, held):
    memory = connected(1, llm=ScriptedChat(["At noon [1]."]))
    with running(memory, held, 1):
        context = memory.context(TALK[2], **ANA)
        prompt = memory.prompt(TALK[2], **ANA)
        answer = memory.answer(TALK[2], **ANA)
        assert shown(memory) == 0
    assert context.entries
    assert (context.fallbacks, prompt.fallbacks, answer.fallbacks) == ((BUSY,),) * 3
    assert (answer.text, answer.context.degraded) == ("At noon [1].", True)
    memory.reflect(TALK[2], context, "At noon.", **ANA)  # who reflects on it counts it as shown, too
    assert shown(memory) == len(context.entries)


def test_above_twice_a_read_is_refused_and_served_afterwards(talk, connected, held):
    memory = connected(1)
    for number, read in enumerate((Memory.search, Memory.context, Memory.prompt, Memory.anchors, Memory.answer)):
        with running(memory, held, 2, read):  # each is one read, whatever it asks on its way
            for another in (Memory.search, Memory.answer_stream, read):
                with pytest.raises(Overloaded, match=r"runs 2 reads.*recall\.busy = 1.*Ask again") as refused:
                    another(memory, QUESTION, **ANA)
            assert memory.add(f"The ferry is {number} hours late.", **ANA).entries  # a write is none of them
            assert [known.note.id for known in memory.audit.about(TALK[3], **ANA)]  # and an auditor is told all
        assert status_of(refused.value) == ErrorStatus(exit_code=1, http=503)
        with running(memory, held, 1):
            assert read(memory, QUESTION, **ANA), read


def test_a_read_that_fails_and_an_answer_that_nobody_hears_free_their_places(talk, connected, held):
    memory = connected(1)
    for _ in range(3):
        with pytest.raises(EmbeddingError):
            memory.search(FAULTY, **ANA)
        memory.answer_stream(QUESTION, **ANA)
    assert memory.search(QUESTION, **ANA).degraded == ()


def test_asynchronous_reads_are_counted_by_the_threads_that_they_run_in(talk, connected, held):
    async def main():
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(3))
        async with AsyncMemory(connected(1)) as memory:
            first = asyncio.create_task(memory.search(HELD, **ANA))
            await asyncio.to_thread(held.awaited, 1)
            second = asyncio.create_task(memory.context(HELD, **ANA))
            await asyncio.to_thread(held.awaited, 1)
            with pytest.raises(Overloaded):
                await memory.search(QUESTION, **ANA)
            held.released.set()
            assert ((await first).degraded, (await second).degraded) == ((), True)
            assert (await memory.search(QUESTION, **ANA)).degraded == ()

    asyncio.run(main())
