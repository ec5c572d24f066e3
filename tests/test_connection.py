"""A server that can't be used is told apart: unreachable, refused, too old, of another schema."""

import logging
import os
import signal
import socket
import threading
from contextlib import contextmanager
from threading import Timer
from time import monotonic

import neo4j
import pytest

from memgraph_engine import Memory, Settings
from memgraph_engine.errors import AuthenticationFailed, Closed, QueryFailed, ServerTooOld, SettingsError, Unreachable
from tests.relay import relay


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


def test_a_new_scope_can_be_asked_where_the_index_holds_only_others_of_which_some_are_gone(server, memory):
    memory.add_many(["The boat sails.", "The buoy is green."], user_id="ana")
    gone = next(iter(memory.get_all(user_id="ana")))
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        driver.execute_query("MATCH (n:Note {id: $id}) DETACH DELETE n", id=gone.id)
    assert memory.search("boat", user_id="ben") == []
    assert memory.add("The boat sails.", user_id="ben").added == 1


def test_a_routing_address_is_as_good(server, tenant, embedder):
    with Memory.connect(server.uri.replace("bolt://", "neo4j://"), tenant=tenant, embedder=embedder) as memory:
        memory.add("The boat sails.", user_id="ana")
        assert len(memory.search("boat", user_id="ana")) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda memory: memory.add("The buoy is green.", user_id="ana"),
        lambda memory: memory.search("buoy", user_id="ana"),
        lambda memory: list(memory.get_all(user_id="ana")),
        lambda memory: memory.stats(user_id="ana"),
        lambda memory: memory.users(),
    ],
)
def test_a_memory_that_was_closed_says_so(server, tenant, embedder, call):
    with Memory.connect(tenant=tenant, embedder=embedder) as memory:
        memory.add("The boat sails.", user_id="ana")
    with pytest.raises(Closed, match="This Memory was closed: connect again"):
        call(memory)
    memory.close()


def test_a_memory_that_is_closed_under_a_call_says_so(server, tenant, embedder, monkeypatch):
    with Memory.connect(tenant=tenant, embedder=embedder) as memory:
        tried = []

        def closing(*_, **__):
            tried.append("run")
            memory.close()
            raise neo4j.exceptions.ServiceUnavailable("Connection reset.")

        monkeypatch.setattr(neo4j.Session, "run", closing)
        with pytest.raises(Closed, match="closed"):
            memory.search("boat", user_id="ana")
        assert tried == ["run"]  # nor does it try again for as long as it would on an open one


def test_what_is_written_is_not_rendered_for_the_drivers_log(memory, caplog):
    caplog.set_level(logging.DEBUG, "neo4j")
    memory.add({"id": "a", "text": "The boat sails."}, user_id="ana")
    assert "RUN" in caplog.text  # else the driver tells nothing
    assert "boat sails" not in caplog.text


def test_reads_are_sent_as_reads(server, memory, monkeypatch):
    modes = []
    original = neo4j.Driver.session
    monkeypatch.setattr(
        neo4j.Driver,
        "session",
        lambda self, **given: modes.append(given["default_access_mode"]) or original(self, **given),
    )
    memory.search("boat", user_id="ana")
    assert modes == [neo4j.READ_ACCESS]


def test_a_read_that_fails_in_passing_is_tried_again(server, memory, monkeypatch):
    memory.add("The boat sails.", user_id="ana")
    original, failures = neo4j.Session.run, []

    def fails_once(self, *given, **more):
        if not failures:
            failures.append(neo4j.exceptions.SessionExpired("The leader has moved."))
            raise failures[0]
        return original(self, *given, **more)

    monkeypatch.setattr(neo4j.Session, "run", fails_once)
    assert len(memory.search("boat", user_id="ana")) == 1
    assert failures


def test_a_read_that_goes_on_failing_is_given_up_within_its_time(server, tenant, embedder, monkeypatch):
    attempts = []

    def fails(*_, **__):
        attempts.append(1)
        raise neo4j.exceptions.SessionExpired("The leader has moved.")

    with Memory.connect(tenant=tenant, embedder=embedder, settings=Settings.load(retry_time=0.5)) as memory:
        monkeypatch.setattr(neo4j.Session, "run", fails)
        with pytest.raises(Unreachable, match="leader"):
            memory.search("boat", user_id="ana")
    assert 1 < len(attempts) <= 3  # a tenth of a second after the first, then two tenths; four more would be too late


def test_a_server_whose_disk_was_full_is_told_with_the_way_out(server, tenant, embedder, monkeypatch):
    memory = Memory.connect(tenant=tenant, embedder=embedder, settings=Settings.load(retry_time=0.2))
    told = {
        "Neo.TransientError.General.DatabaseUnavailable": "The database has encountered a critical error.",
        "Neo.DatabaseError.Transaction.TransactionStartFailed": "The database has encountered a critical error.",
        "Neo.DatabaseError.Transaction.TransactionCommitFailed": "java.io.IOException: No space left on device",
    }
    for code, message in told.items():

        def fails(*_, code=code, message=message, **__):
            raise neo4j.exceptions.Neo4jError._basic_hydrate(neo4j_code=code, message=message)

        with monkeypatch.context() as patch:
            patch.setattr(neo4j.Session, "run", fails)
            with pytest.raises(Unreachable, match="Free space, then run `memgraph-engine db stop`"):
                memory.search("boat", user_id="ana")
    memory.close()


@pytest.fixture
def relayed(server, tenant, embedder):
    """A memory, and the relay by which it reaches the server."""
    with relay(server.uri) as way:
        given = Settings.load(uri=way.uri, user=server.user, password=server.password, connect_timeout=1)
        with Memory.connect(tenant=tenant, embedder=embedder, settings=given) as memory:
            yield memory, way


CALLS = {
    "a write": lambda memory: memory.add({"id": "b", "text": "The buoy is green."}, user_id="ana"),
    "a write that is repeated": lambda memory: memory.add({"id": "a", "text": "The boat sails."}, user_id="ana"),
    "a read": lambda memory: memory.search("boat", user_id="ana"),
    "a listing": lambda memory: list(memory.get_all(user_id="ana")),
    "a stream": lambda memory: next(memory.engine.db.stream("copy/nodes")),  # of all tests' notes
    "transactions of its own": lambda memory: memory.delete_all(user_id="ben"),
}


@pytest.mark.parametrize("how", ["reset", "restarted"])
def test_the_first_call_after_connections_were_cut_is_made_once_more(relayed, how):
    memory, way = relayed
    memory.engine.db.connect_timeout = 30  # other programs run beside it
    memory.add({"id": "a", "text": "The boat sails."}, user_id="ana")
    memory.add("The boat sinks.", user_id="ben")
    for call in CALLS:
        opened = way.opened
        if how == "reset":
            way.cut()
        else:
            way.close()
            Timer(0.1, way.listen).start()
        assert CALLS[call](memory) is not None, call
        assert way.opened > opened, call
        assert memory.stats(user_id="ana").sources == 2, call  # the first of them is the write
    assert memory.verify(user_id="ana") == []


def test_a_server_that_is_gone_is_told_within_the_time_for_a_connection(relayed):
    memory, way = relayed
    memory.engine.db.connect_timeout = 0.2
    memory.add({"id": "a", "text": "The boat sails."}, user_id="ana")
    for call in CALLS:
        way.close()
        began = monotonic()
        with pytest.raises(Unreachable, match=way.uri):
            CALLS[call](memory)
        assert monotonic() - began < 5, call  # it waits for a fifth of a second; other programs run beside it
        way.listen()
        assert memory.stats(user_id="ana").sources == 1, call


def test_an_index_that_an_upgrade_makes_anew_is_waited_for(memory, monkeypatch):
    memory.add("The boat sails.", user_id="ana")
    original, failures = neo4j.Session.run, []

    def lacks(self, *given, **more):
        if len(failures) < 2:
            code = "Neo.ClientError.Schema.IndexNotFound"
            failures.append(neo4j.exceptions.Neo4jError._basic_hydrate(neo4j_code=code, message="note_raw"))
            raise failures[-1]
        return original(self, *given, **more)

    with monkeypatch.context() as patched:
        patched.setattr(neo4j.Session, "run", lacks)
        assert len(memory.search("boat", user_id="ana")) == 1
    assert len(failures) == 2


@contextmanager
def interrupts(delay):
    """Interrupt the main thread `delay` seconds from when it says so; again each second, as finalizers swallow one."""
    ready, over = threading.Event(), threading.Event()

    def send():
        ready.wait()
        wait = delay
        while not over.wait(wait):
            os.kill(os.getpid(), signal.SIGUSR1)
            wait = 1

    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield ready
    finally:
        over.set()
        ready.set()
        sender.join()


@pytest.fixture
def interruptible():
    """SIGUSR1 interrupts as Ctrl-C does, and leaves SIGALRM to the time limit of the tests."""

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    yield
    signal.signal(signal.SIGUSR1, before)


def search_on(memory, ready):
    ready.set()
    while True:
        memory.search("buoy", user_id="ana", top_k=1000)


def test_an_interrupt_before_a_result_began_stays_one_and_gives_the_connection_back(memory, monkeypatch):
    memory.search("buoy", user_id="ana")

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("neo4j._sync.work.result.Result._run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            memory.search("buoy", user_id="ana")
    pool = memory.engine.db._driver._pool
    assert [pool.in_use_connection_count(address) for address in pool.connections] in ([], [0])
    assert memory.add("The buoy is green.", user_id="ana").added == 1


def test_an_error_stays_what_it_was_where_the_session_cant_be_closed_after_it(memory, monkeypatch):
    close = neo4j.Session.close

    def broken(self):
        close(self)
        raise KeyError("server")

    monkeypatch.setattr(neo4j.Session, "close", broken)
    with pytest.raises(QueryFailed), memory.engine.db._translated(), memory.engine.db._session() as session:
        session.run("RETURN")


@pytest.mark.usefixtures("interruptible")
@pytest.mark.filterwarnings("ignore:unclosed|Exception ignored")  # what the driver was just opening
@pytest.mark.parametrize("times", [20, pytest.param(200, marks=pytest.mark.long)])
def test_an_interrupt_in_the_middle_of_a_message_spoils_nothing_after_it(memory, times):
    for n in range(times):
        memory.search("buoy", user_id="ana")
        with pytest.raises(KeyboardInterrupt), interrupts(0.0005 + 0.0004 * (n % 20)) as ready:
            search_on(memory, ready)
    assert memory.add("The buoy is green.", user_id="ana").added == 1
