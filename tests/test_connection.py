"""A server that can't be used is told apart: unreachable, refused, too old, of another schema."""

import signal
import socket

import neo4j
import pytest

from memgraph_engine import Memory
from memgraph_engine.errors import AuthenticationFailed, ServerTooOld, SettingsError, StoreMismatch, Unreachable
from memgraph_engine.graph import schema


def test_a_wrong_password_is_told(server, embedder, monkeypatch):
    monkeypatch.setenv("MEMGRAPH_ENGINE_PASSWORD", "wrong")
    with pytest.raises(AuthenticationFailed, match="MEMGRAPH_ENGINE_USER"):
        Memory.connect(embedder=embedder)


def test_a_server_that_does_not_answer_is_told_with_its_address(embedder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(Unreachable, match=f"127.0.0.1:{port}"):
        Memory.connect(f"bolt://127.0.0.1:{port}", embedder=embedder)


@pytest.mark.parametrize("uri", ["http://127.0.0.1:7474", "127.0.0.1:7687", "nonsense"])
def test_an_address_of_another_kind_is_told(uri, embedder):
    with pytest.raises(SettingsError, match="bolt://"):
        Memory.connect(uri, embedder=embedder)


def test_a_database_that_is_not_there_is_told(server, embedder, monkeypatch):
    monkeypatch.setenv("MEMGRAPH_ENGINE_DATABASE", "atlantis")
    with pytest.raises(Unreachable, match="atlantis"):
        Memory.connect(embedder=embedder)


def test_a_server_that_is_too_old_is_told_which_is_needed(server, embedder, monkeypatch):
    class Old:
        agent = "Neo4j/5.26.1"

    monkeypatch.setattr(neo4j.Driver, "get_server_info", lambda *_, **__: Old)
    with pytest.raises(ServerTooOld, match=r"5\.26\.1; 2026\.08"):
        Memory.connect(embedder=embedder)


def test_a_database_of_a_newer_schema_is_left_alone(server, embedder, monkeypatch):
    Memory.connect(embedder=embedder).close()
    monkeypatch.setattr(schema, "VERSION", schema.VERSION - 1)  # as a package does that is older than the database
    with pytest.raises(StoreMismatch, match="schema"):
        Memory.connect(embedder=embedder)


def test_a_routing_address_is_as_good(server, tenant, embedder):
    with Memory.connect(server.uri.replace("bolt://", "neo4j://"), tenant=tenant, embedder=embedder) as memory:
        memory.add("The boat sails.", user_id="ana")
        assert len(memory.search("boat", user_id="ana")) == 1


def test_reads_are_sent_as_reads(server, memory, monkeypatch):
    modes = []
    original = neo4j.Session.execute_read
    monkeypatch.setattr(
        neo4j.Session, "execute_read", lambda self, *a, **k: modes.append("read") or original(self, *a, **k)
    )
    memory.search("boat", user_id="ana")
    assert modes == ["read"]


@pytest.mark.filterwarnings("ignore:unclosed|Exception ignored")  # what the driver was just opening
def test_an_interrupt_in_the_middle_of_a_message_spoils_nothing_after_it(memory):
    def interrupt(*_):
        raise KeyboardInterrupt

    interrupted = 0
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for n in range(60):
            memory.search("buoy", user_id="ana")
            signal.setitimer(signal.ITIMER_REAL, 0.0005 + 0.0004 * (n % 20))
            try:
                while True:
                    memory.search("buoy", user_id="ana", top_k=1000)
            except KeyboardInterrupt:
                interrupted += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupted == 60
    assert memory.add("The buoy is green.", user_id="ana").added == 1
