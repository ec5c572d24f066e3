"""Tenants over several servers: where each lives, how it is moved, and who notices; on three servers of their own."""

import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from functools import partial
from threading import Event, current_thread, main_thread
from uuid import uuid4

import neo4j
import pytest
from typer.testing import CliRunner

from memgraph_engine import Memory
from memgraph_engine.cli import app
from memgraph_engine.engine import wiring
from memgraph_engine.errors import InvalidInput, KeyRefused, NotFound, StoreMismatch, Unreachable, WriteConflict
from memgraph_engine.graph import keys, leases
from memgraph_engine.graph.database import Database
from memgraph_engine.graph.servers import Residence, Servers
from memgraph_engine.integrations.access import Access
from memgraph_engine.model.key import fingerprint, new_key
from memgraph_engine.model.memory import NEVER
from memgraph_engine.model.scope import Scope
from memgraph_engine.settings import Settings
from memgraph_engine.testing import HashingEmbedder
from memgraph_engine.worker import moving
from memgraph_engine.worker.queue import queues
from memgraph_engine.worker.work import Worker
from tests import servers
from tests.servers import SAID

pytestmark = pytest.mark.slow

NAMES = ["one", "two", "three"]


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    with servers.several(tmp_path_factory.mktemp("neo4j"), 3) as some:
        yield some


@pytest.fixture(scope="module")
def catalogue(three):
    """The three servers in a catalogue on the first one; clients are told of that alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMGRAPH_ENGINE_CATALOGUE", three[0].uri)
        patch.setenv("MEMGRAPH_ENGINE_USER", three[0].user)
        patch.setenv("MEMGRAPH_ENGINE_PASSWORD", three[0].password)
        patch.setattr(wiring, "embedder_named", lambda *_: HashingEmbedder(64, "small"))
        for name, one in zip(NAMES, three, strict=True):
            wiring.add_server(Settings.load(), name, one.uri)
        with closing(wiring.open_servers(Settings.load())) as found:
            yield found


@pytest.fixture
def tenant(catalogue):
    name = f"t-{uuid4().hex[:12]}"
    catalogue.place(name, "one")
    return name


@pytest.fixture
def memory(tenant):
    with Memory.connect(tenant=tenant) as one:
        yield one


def filled(memory):
    """A memory with some of all that a tenant can have."""
    for user in ("ana", "bo"):
        memory.add_many([{"id": f"m{n}", "text": text, "session": "s"} for n, text in enumerate(SAID)], user_id=user)
    memory.update("m4", "Petra has three cats.", user_id="ana")
    memory.add("The office is closed on Friday.", shared=True)
    memory.add("My card ends in 4711.", user_id="bo", session="bank")
    memory.erase(memory.forget(user_id="bo", session="bank"))
    memory.rebuild_topics(user_id="ana")
    memory.rebuild_blocks(user_id="ana")
    memory.consolidate(user_id="ana")
    memory.hold("ana's case", source="m1", user_id="ana")
    return memory


def plain(value):
    return value.iso_format() if hasattr(value, "iso_format") else value


def held(server, tenant):
    """All that a server holds of a tenant, node by node with its relationships, whatever it is."""
    text = (
        "MATCH (x) WHERE (x.scope STARTS WITH $tenant + '/' OR x.tenant = $tenant) AND NOT x:Presence "
        "RETURN elementId(x) AS id, labels(x) AS labels, properties(x) AS properties, "
        "[(x)-[r]->(y) | [type(r), properties(r), elementId(y)]] AS ties"
    )
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        rows = [row.data() for row in driver.execute_query(text, tenant=tenant).records]
    named = {}
    for row in rows:
        left = ("lock", "filled") if row["labels"] == ["Scope"] else ()
        told = sorted((name, plain(value)) for name, value in row["properties"].items() if name not in left)
        named[row["id"]] = repr((row["labels"], told))
    ties = [
        repr((named[row["id"]], kind, sorted((n, plain(v)) for n, v in properties.items()), named[end]))
        for row in rows
        for kind, properties, end in row["ties"]
    ]
    return sorted(named.values()), sorted(ties)


def copied(server, tenant):
    """The same without the receipts of moves."""
    nodes, ties = held(server, tenant)
    return [one for one in nodes if "moved from" not in one], ties


def asked(server, text, **given):
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        return driver.execute_query(text, **given).records


def test_a_tenant_is_moved_exactly(catalogue, three, memory, tenant):
    filled(memory)
    before, asked = held(three[0], tenant), memory.search("Where does Petra live now?", user_id="ana")
    done = moving.move(catalogue, tenant, "two")
    assert (len(before[0]), len(before[1])) > (50, 50)
    assert copied(three[1], tenant) == before
    assert held(three[0], tenant) == ([], [])
    assert [hit.note.id for hit in memory.search("Where does Petra live now?", user_id="ana")] == [
        h.note.id for h in asked
    ]
    assert (done["nodes"], done["stopped"] is not None) == (len(before[0]), True)
    assert memory.receipts()[-1].rule == "moved from one to two"
    assert memory.verify_erasure() == []
    assert memory.engine.db.uri == three[1].uri


# ---- who uses it meanwhile ------------------------------------------------------------------


def test_nothing_that_is_written_during_a_move_is_lost_and_reads_go_on(catalogue, memory, tenant):
    memory.add_many([{"id": f"m{n}", "text": text} for n, text in enumerate(SAID)], user_id="ana")
    over, written, found = Event(), [], []

    def write():
        while not over.is_set():
            id = f"w{len(written)}"
            with suppress(WriteConflict):  # it says: make it again
                memory.add(f"The boat number {len(written)} sails on Monday.", user_id="ana", id=id)
                written.append(id)

    def read():
        with Memory.connect(tenant=tenant) as one:
            while not over.is_set():
                found.append(len(one.search("Where does Petra live?", user_id="ana")))

    with ThreadPoolExecutor() as pool:
        tasks = [pool.submit(write), pool.submit(read)]
        for to in ("two", "three", "one"):
            moving.move(catalogue, tenant, to)
        over.set()
        for one in tasks:
            one.result()
    assert len(found) > 2
    assert min(found) > 0
    assert len(written) > 2
    known = {source.id for note in memory.get_all(user_id="ana") for source in note.sources}
    assert known == {*written, *(f"m{n}" for n in range(len(SAID)))}
    assert memory.verify(user_id="ana") == []


def test_a_client_of_a_server_follows_to_another(catalogue, three, memory, tenant, monkeypatch):
    memory.add("Petra lives in Bolzano.", user_id="ana")
    monkeypatch.delenv("MEMGRAPH_ENGINE_CATALOGUE")
    with Memory.connect(three[0].uri, tenant=tenant) as before:
        moving.move(catalogue, tenant, "two")
        with Memory.connect(three[0].uri, tenant=tenant) as after:
            for one in (before, after):
                assert [note.context for note in one.get_all(user_id="ana")] == ["Petra lives in Bolzano."]
                assert one.engine.db.uri == three[1].uri


def test_a_client_that_knew_of_no_catalogue_learns_of_it_from_what_it_asks(
    catalogue, three, memory, tenant, monkeypatch
):
    memory.add("Petra lives in Bolzano.", user_id="ana")
    monkeypatch.delenv("MEMGRAPH_ENGINE_CATALOGUE")
    asked(three[0], "MATCH (s:Store {name: 'store'}) SET s.catalogue = null")
    with Memory.connect(three[0].uri, tenant=tenant) as searches, Memory.connect(three[0].uri, tenant=tenant) as adds:
        assert not searches.engine.db.home
        asked(three[0], "MATCH (s:Store {name: 'store'}) SET s.catalogue = $uri", uri=three[0].uri)
        assert searches.search("Where does Petra live?", user_id="ana")
        adds.add("Petra has a cat.", user_id="ana")
        moving.move(catalogue, tenant, "two")
        adds.add("Petra has a dog.", user_id="ana")
        assert len(list(searches.get_all(user_id="ana"))) == 3
    assert len(asked(three[1], "MATCH (n:Note) WHERE n.scope STARTS WITH $tenant RETURN n", tenant=tenant)) == 3


def test_a_statement_of_a_tenant_that_has_gone_does_nothing(catalogue, three, memory, tenant, monkeypatch):
    memory.add("Petra lives in Bolzano.", user_id="ana")
    monkeypatch.setattr(Residence, "turn", lambda _: None)
    db = memory.engine.db
    db.retry_time = 0.0
    moving.move(catalogue, tenant, "two")
    with pytest.raises(WriteConflict, match="being moved"):
        memory.search("Where does Petra live?", user_id="ana")
    with pytest.raises(WriteConflict, match="Make it again"):
        memory.add("Petra has a cat.", user_id="ana")
    assert held(three[0], tenant) == ([], [])


def test_an_erasure_after_a_move_leaves_nothing_on_either_server(catalogue, three, memory, tenant):
    memory.add("My card ends in 4711.", user_id="ana")
    moving.move(catalogue, tenant, "two")
    receipt = memory.erase(memory.forget(user_id="ana", everything=True))
    assert receipt.residue == 0
    assert memory.verify_erasure() == []
    for one in three[:2]:
        assert [row for row in held(one, tenant)[0] if "4711" in row or "ana" in row] == []


def test_tenants_that_cross_keep_apart(catalogue, three):
    names = [f"t-{uuid4().hex[:12]}" for _ in range(2)]
    with ExitStack() as stack:
        for name, server, animal in zip(names, ("one", "two"), ("heron", "otter"), strict=True):
            catalogue.place(name, server)
            one = stack.enter_context(Memory.connect(tenant=name))
            one.add(f"Petra keeps a {animal}.", user_id="ana")
            stack.callback(one.close)
        before = held(three[0], names[0]), held(three[1], names[1])
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda one: moving.move(catalogue, *one), zip(names, ("two", "one"), strict=True)))
        for there, name, said in ((three[1], names[0], before[0]), (three[0], names[1], before[1])):
            assert copied(there, name) == said
        told = []
        for name in names:
            one = stack.enter_context(Memory.connect(tenant=name))
            told += [note.context for note in one.get_all(user_id="ana")]
        assert told == ["Petra keeps a heron.", "Petra keeps a otter."]


def test_a_key_opens_its_tenant_wherever_it_lives(catalogue, three, memory, tenant):
    memory.add("Petra lives in Bolzano.", user_id="ana")
    made = new_key("app", Scope(tenant), ("read",), now=memory.engine.now(), expires_at=NEVER)
    keys.store(memory.engine.db, made)
    moving.move(catalogue, tenant, "two")
    with Memory.connect(tenant=f"t-{uuid4().hex[:12]}") as own:
        caller = Access(own, required=True).caller(made.secret)
        assert caller.memory.users()[0].id == "ana"
        keys.revoke(memory.engine.db, tenant, made.key.id, memory.engine.now())
        # what a server still has of a tenant that it has not, opens nothing
        asked(
            three[0],
            "CREATE (:Key {tenant: $tenant, id: 'x', hash: $hash})",
            tenant=tenant,
            hash=fingerprint(made.secret),
        )
        with pytest.raises(KeyRefused):
            Access(own, required=True).caller(made.secret)
        asked(three[0], "MATCH (k:Key {tenant: $tenant}) DELETE k", tenant=tenant)


@pytest.fixture
def down(three, monkeypatch):
    """The name of a server that does not answer, in the catalogue."""
    monkeypatch.setenv("MEMGRAPH_ENGINE_CONNECT_TIMEOUT", "0.2")
    asked(three[0], "MERGE (s:Server {name: 'down'}) SET s.uri = 'bolt://127.0.0.1:9', s.drained = true")
    yield "down"
    asked(three[0], "MATCH (s) WHERE s:Server AND s.name = 'down' OR s:Tenant AND s.server = 'down' DELETE s")


def test_a_worker_for_every_tenant_goes_to_where_each_lives_and_passes_over_what_is_down(
    catalogue, down, memory, tenant
):
    memory.add("Petra lives in Bolzano.", user_id="ana", wait=False)
    moving.move(catalogue, tenant, "three")
    catalogue.catalogue.commit("servers/place", tenant="a-first", server=down)
    told = []
    with Memory.connect(
        tenant=f"t-{uuid4().hex[:12]}", settings=Settings.load(worker={"tenant_groups": [tenant]})
    ) as own:
        assert [one.notes for one in queues(own.engine, None) if one.group == tenant and one.memories] == [1]
        assert Worker(own.engine, every_tenant=True, tell=told.append).once()
    assert [note.status for note in memory.get_all(user_id="ana")] == ["active"]
    assert {one.scope for one in told if one.outcome == "failed"} == {"a-first/"}


# ---- what goes wrong ------------------------------------------------------------------------


class Killed(BaseException):
    """The process is no more."""


class Dying:
    """Lets whoever moves a tenant die before its `number`th statement: nothing of it reaches a server from then on."""

    def __init__(self, patch, number):
        self.left, self.said = number, []
        for name in ("run", "stream", "commit", "write"):
            patch.setattr(Database, name, self._dying(getattr(Database, name)))

    def _dying(self, method):
        def call(db, *given, **named):
            if not db.home and current_thread() is main_thread():
                self.said.append(given[0])
                self.left -= 1
                if self.left < 0:
                    raise Killed
            return method(db, *given, **named)

        return call


def lapsed(catalogue, tenant):
    """Let the lease of a dead process lapse now; it would ten seconds after the death."""
    catalogue.catalogue.commit("servers/leases", prefix=f"move {tenant}")


def killed(catalogue, tenant, to, number):
    """Move until that statement; return the statements that were sent."""
    with pytest.MonkeyPatch.context() as patch:
        dying = Dying(patch, number)
        with suppress(Killed):
            moving.move(catalogue, tenant, to)
    lapsed(catalogue, tenant)
    return dying.said


@pytest.mark.timeout(1800)
def test_a_move_that_was_killed_at_any_statement_is_taken_up(catalogue, three, memory, tenant, monkeypatch):
    monkeypatch.setattr(moving, "_STOPPED", 3.0)
    memory.add_many([{"id": f"m{n}", "text": text} for n, text in enumerate(SAID)], user_id="ana")
    memory.add("The office is closed on Friday.", shared=True)
    whole = killed(catalogue, tenant, "two", 10**6)
    assert catalogue.find(tenant)["server"] == "two"
    points = [round(n * (len(whole) - 1) / 49) for n in range(50)]
    assert len({*points}) == 50
    at, refused = 1, 0
    for place, point in enumerate(points):
        to, before = 3 - at, copied(three[at], tenant)  # there and back between the second and the third
        killed(catalogue, tenant, NAMES[to], point)
        memory.engine.db.retry_time = 0.2
        try:
            assert len(memory.search("Where does Petra live?", user_id="ana")) > 0
        except WriteConflict:  # it has left, and nobody has said where to
            refused += 1
        memory.engine.db.retry_time = 30.0
        if place % 10 == 5 and "servers/leave" not in whole[:point]:
            memory.add(f"The boat {place} sails on Monday.", user_id="ana")  # waits until writers are let in
            before = copied(three[at], tenant)
        if (found := catalogue.find(tenant))["server"] == NAMES[at] or found["left"]:
            moving.move(catalogue, tenant, NAMES[to])
        assert copied(three[to], tenant) == before, whole[point]
        assert held(three[at], tenant) == ([], [])
        at = to
    assert refused < 5
    assert memory.verify_erasure() == memory.verify(user_id="ana") == []


DIES = """
import os, signal, sys
from memgraph_engine.engine import wiring
from memgraph_engine.graph.database import Database
from memgraph_engine.settings import Settings
from memgraph_engine.worker import moving
from memgraph_engine.worker.queue import queues

moving._STOPPED = 2.0
commit = Database.commit

def dying(db, name, /, **given):
    if name == sys.argv[3] and given.get("state") == (sys.argv[4] or None):
        os.kill(os.getpid(), signal.SIGKILL)
    return commit(db, name, **given)

Database.commit = dying
moving.move(wiring.open_servers(Settings.load()), *sys.argv[1:3])
"""


@pytest.mark.parametrize(("name", "state"), [("servers/leave", ""), ("servers/flip", ""), ("servers/mark", "here")])
def test_a_process_that_is_killed_while_it_moves_leaves_what_another_goes_on_with(
    catalogue, three, memory, tenant, name, state
):
    memory.add("Petra lives in Bolzano.", user_id="ana")
    before = copied(three[0], tenant)
    done = subprocess.run([sys.executable, "-c", DIES, tenant, "two", name, state], timeout=200, check=False)
    assert done.returncode == -signal.SIGKILL
    lapsed(catalogue, tenant)
    if name == "servers/leave":  # whoever writes is let in again
        memory.add("The boat sails to Faro.", user_id="ana")
        before = copied(three[0], tenant)
    moving.move(catalogue, tenant, "two")
    assert (copied(three[1], tenant), held(three[0], tenant)) == (before, ([], []))
    memory.add("The tide turns at noon.", user_id="ana")
    assert memory.verify(user_id="ana") == []


def test_a_move_that_was_cut_off_is_taken_back(catalogue, three, memory, tenant):
    memory.add("Petra lives in Bolzano.", user_id="ana")
    copying = killed(catalogue, tenant, "two", 10**6).index("servers/stop")
    before = held(three[1], tenant)
    killed(catalogue, tenant, "one", copying)
    assert held(three[0], tenant) == before
    with pytest.raises(InvalidInput, match="cut off"):
        moving.move(catalogue, tenant, "three")
    moving.move(catalogue, tenant, "two")
    assert (held(three[1], tenant), held(three[0], tenant)) == (before, ([], []))
    memory.add("The tide turns at noon.", user_id="ana")
    assert moving.move(catalogue, tenant, "three")["server"] == "three"


def cut_off(catalogue, tenant, memory):
    """Cut off a move to the second server when all is copied."""
    memory.add("Petra lives in Bolzano.", user_id="ana")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moving, "_STOPPED", 0.0)
        with pytest.raises(WriteConflict, match="stood still"):
            moving.move(catalogue, tenant, "two")


def test_a_take_back_removes_nothing_at_an_address_where_another_database_answers(catalogue, three, memory, tenant):
    cut_off(catalogue, tenant, memory)
    address = "MATCH (s:Server {name: 'two'}) SET s.uri = $uri"
    asked(three[0], address, uri=three[0].uri.replace("127.0.0.1", "localhost"))
    try:
        for to in ("one", "two"):
            with pytest.raises(StoreMismatch, match="another database than 'two'"):
                moving.move(catalogue, tenant, to)
        memory.add("The tide turns at noon.", user_id="ana")
        assert len(list(memory.get_all(user_id="ana"))) == 2
    finally:
        asked(three[0], address, uri=three[1].uri)
    assert moving.move(catalogue, tenant, "one")["server"] == "one"
    assert held(three[1], tenant) == ([], [])
    assert len(list(memory.get_all(user_id="ana"))) == 2


def test_a_take_back_removes_nothing_where_the_tenant_is_in_use(catalogue, three, memory, tenant, monkeypatch):
    cut_off(catalogue, tenant, memory)
    before = held(three[0], tenant)
    with monkeypatch.context() as patch:
        patch.setattr(Servers, "named", lambda servers, _: servers.at(three[0].uri))
        with pytest.raises(WriteConflict):
            moving.move(catalogue, tenant, "one")
    assert held(three[0], tenant) == before
    memory.add("The tide turns at noon.", user_id="ana")
    assert len(list(memory.get_all(user_id="ana"))) == 2


def test_a_database_is_in_a_catalogue_once_and_a_name_stays_its_own(catalogue, three):
    two, other = three[1].uri, three[1].uri.replace("127.0.0.1", "localhost")
    assert other != two
    before = catalogue.known()
    for name, uri, said in (
        ("four", two, "by another name"),
        ("four", other, "by another name"),
        ("four", f"{two}/", "by another name"),
        ("three", two, "by another name"),
        ("one", two, "another database as 'one'"),
        ("", two, "must not be empty"),
        (" ", two, "must not be empty"),
    ):
        with pytest.raises(InvalidInput, match=said):
            wiring.add_server(Settings.load(), name, uri)
    assert catalogue.known() == before
    wiring.add_server(Settings.load(), "two", other)  # another address of the same
    assert [one["uri"] for one in catalogue.known() if one["name"] == "two"] == [other]
    wiring.add_server(Settings.load(), "two", two)
    assert catalogue.known() == before


def test_who_stood_still_does_nothing_more_once_another_has_taken_the_move_up(catalogue, three, memory, tenant):
    memory.add("Petra lives in Bolzano.", user_id="ana")
    still = moving._Job(catalogue, catalogue.find(tenant), "two", lambda *_: None)
    still._check()
    still._begin()
    moving.move(catalogue, tenant, "two")
    before = held(three[1], tenant)
    for work in (
        still._carry,
        partial(still._remove, still._new),
        partial(still._say, still._catalogue, "servers/flip", moved={}),
    ):
        with pytest.raises(WriteConflict, match="taken up elsewhere"):
            work()
    assert held(three[1], tenant) == before
    assert catalogue.find(tenant)["server"] == "two"
    memory.add("The tide turns at noon.", user_id="ana")


def test_writers_are_let_in_again_where_a_stop_takes_too_long(catalogue, memory, tenant, monkeypatch):
    memory.add("Petra lives in Bolzano.", user_id="ana")
    monkeypatch.setattr(moving, "_STOPPED", 0.0)
    with pytest.raises(WriteConflict, match="make it again"):
        moving.move(catalogue, tenant, "two")
    memory.add("The tide turns at noon.", user_id="ana")
    assert catalogue.find(tenant)["server"] == "one"
    monkeypatch.undo()
    assert moving.move(catalogue, tenant, "two")["notes"] == 2


def test_what_cannot_be_moved_is_refused_and_nothing_is_begun(catalogue, three, down, memory, tenant):
    memory.add("Petra lives in Bolzano.", user_id="ana")
    before = catalogue.find(tenant), held(three[0], tenant)
    refused = [(tenant, "four", NotFound, "no server 'four'"), ("nobody", "two", NotFound, "no tenant 'nobody'")]
    refused.append((tenant, "one", InvalidInput, "lives on 'one' already"))
    for name, to, kind, said in refused:
        with pytest.raises(kind, match=said):
            moving.move(catalogue, name, to)
    with leases.held(catalogue.catalogue, f"move {tenant}"), pytest.raises(InvalidInput, match="by another process"):
        moving.move(catalogue, tenant, "two")
    store = "MATCH (s:Store {name: 'store'}) SET s += $given"
    (was,) = asked(three[1], "MATCH (s:Store {name: 'store'}) RETURN s.model AS model, s.schema AS schema")
    for change in ({"model": "other"}, {"schema": 99}):
        asked(three[1], store, given=change)
        with pytest.raises(StoreMismatch, match="another schema or embedder"):
            moving.move(catalogue, tenant, "two")
        asked(three[1], store, given=was.data())
    asked(three[1], "CREATE (:Store {name: 'second', state: 'filling', vectors: 7})")
    with pytest.raises(StoreMismatch, match="being changed"):
        moving.move(catalogue, tenant, "two")
    asked(three[1], "MATCH (s:Store {name: 'second'}) DELETE s")
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:9"):
        moving.move(catalogue, tenant, down)
    assert (catalogue.find(tenant), held(three[0], tenant)) == before
    assert held(three[1], tenant) == ([], [])
    with pytest.raises(InvalidInput, match="lives on 'one' already"):
        catalogue.place(tenant, "two")


def test_the_commands_add_list_place_move_and_drain(catalogue, three, memory, tenant):
    def run(*words):
        done = CliRunner().invoke(app, [*words, "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    memory.add("Petra lives in Bolzano.", user_id="ana")
    assert run("servers", "add", "three", three[2].uri) == {"name": "three", "uri": three[2].uri}
    assert [one["name"] for one in run("servers", "list")] == sorted(NAMES)
    other = f"t-{uuid4().hex[:12]}"
    assert run("tenants", "place", other, "three") == {"tenant": other, "server": "three"}
    assert run("tenants", "move", tenant, "three")["server"] == "three"
    listed = {one["name"]: one for one in run("tenants", "list")}
    assert listed[tenant] == {"name": tenant, "users": 1, "notes": 1, "server": "three", "to": ""}
    assert listed[other]["notes"] == 0
    moved = {one["tenant"] for one in run("servers", "drain", "three")}
    assert {tenant, other} <= moved
    assert [one["tenants"] for one in run("servers", "list") if one["drained"]] == [0]
    assert run("servers", "drain", "three") == []
    run("servers", "add", "three", three[2].uri)
    assert len(list(memory.get_all(user_id="ana"))) == 1
