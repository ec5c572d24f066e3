"""OpenTelemetry where it is off, or where nothing exports: nothing of it is loaded, and calls are as ever."""

import asyncio
import logging
import subprocess
import sys
from contextvars import ContextVar
from dataclasses import replace

import pytest

from memgraph_engine import Memory, MissingExtra, Settings
from memgraph_engine.integrations.rest.work import Work
from memgraph_engine.telemetry import Telemetry, chat, embedding, observed, statement

ANA = {"user_id": "ana"}


@pytest.fixture
def observing():
    log = logging.getLogger("memgraph_engine")
    before = [*log.filters]
    yield Telemetry(text=False)
    log.filters[:] = before


def test_it_is_off_by_default_and_then_nothing_of_it_is_loaded(tenant, server):
    assert not Settings.load().telemetry.on
    code = (
        "import sys\nfrom memgraph_engine import Memory\n"
        f"with Memory.connect({server.uri!r}, tenant={tenant!r}) as memory:\n"
        "    memory.add('I moved to Lisbon.', user_id='ana')\n"
        "    print(memory.search('Where does Ana live?', user_id='ana')[0].note.context)\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.splitlines() == ["I moved to Lisbon.", "[]"]


def test_where_it_is_on_and_not_installed_that_is_said_before_anything_is_connected_to(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    settings = Settings.load(uri="bolt://127.0.0.1:1", telemetry={"on": True})
    with pytest.raises(MissingExtra, match=r"telemetry\.on .*memgraph-engine\[otel\]"):
        Memory.connect(settings=settings)


def test_where_nothing_exports_calls_are_as_ever(memory, observing):
    seen = Memory(replace(memory.engine, telemetry=observing))
    seen.add("I moved to Lisbon.", **ANA)
    assert [hit.note.context for hit in seen.search("Where does Ana live?", **ANA)] == ["I moved to Lisbon."]
    assert [note.context for note in seen.get_all(**ANA)] == ["I moved to Lisbon."]
    with pytest.raises(TypeError, match="top_n"):
        seen.search("Where does Ana live?", top_n=3, **ANA)


def test_a_statement_and_a_request_of_no_observed_call_are_observed_by_nobody(observing):
    nobody = statement("notes/create", "neo4j")
    assert nobody is statement("notes/read", "neo4j") is chat("any", [], 0.0, 9) is embedding("any")

    class One:
        class engine:  # noqa: N801  as it is called
            telemetry = None

        @observed
        def look(self):
            return statement("notes/read", "neo4j")

    assert One().look() is nobody


def test_a_servers_thread_works_within_the_span_of_its_request():
    span = ContextVar("span", default="none")

    async def asked():
        span.set("the request's")
        work = Work(1, 1.0, 60.0)
        try:
            return await work.run(span.get)
        finally:
            await work.close()

    assert asyncio.run(asked()) == "the request's"
