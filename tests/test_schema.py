"""A database of another schema is completed or left alone; on a server of its own, since others would notice."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from threading import Event

import neo4j
import pytest

from memgraph_engine import Memory, Settings
from memgraph_engine.errors import StoreMismatch
from memgraph_engine.graph import schema
from memgraph_engine.graph.statements import statements
from tests import servers
from tests.snapshots import same, snapshot

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with servers.own(tmp_path_factory.mktemp("neo4j")) as one:
        yield one


def test_a_database_of_a_newer_schema_is_left_alone(server, embedder, monkeypatch):
    Memory.connect(embedder=embedder).close()
    monkeypatch.setattr(schema, "VERSION", schema.VERSION - 1)  # as a package does that is older than the database
    with pytest.raises(StoreMismatch, match="schema"):
        Memory.connect(embedder=embedder)


@contextmanager
def upgraded(server, embedder, monkeypatch):
    """A newer process connects, and makes its schema; the processes that run already know nothing of it."""
    try:
        with monkeypatch.context() as newer:
            newer.setattr(schema, "VERSION", schema.VERSION + 1)
            Memory.connect(embedder=embedder).close()
        yield
    finally:
        with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
            driver.execute_query("MATCH (s:Store) SET s.schema = $version", version=schema.VERSION)


def test_a_process_that_is_older_than_the_schema_writes_nothing(server, memory, embedder, monkeypatch):
    (entry,) = memory.add({"id": "a", "text": "The boat sails."}, user_id="ana").entries
    memory.add("The buoy is green.", user_id="ana", wait=False)
    before = snapshot(memory)
    writes = {
        "add": lambda: memory.add("The boat sinks.", user_id="ana"),
        "add to a new memory": lambda: memory.add("The boat sinks.", user_id="ben"),
        "defer": lambda: memory.add("The boat sinks.", user_id="ana", wait=False),
        "process": lambda: memory.process(user_id="ana"),
        "update": lambda: memory.update("a", "The boat sinks.", user_id="ana"),
        "delete": lambda: memory.delete("a", user_id="ana"),
        "delete_all": lambda: memory.delete_all(user_id="ana"),
        "undo": lambda: memory.undo(entry.decision, user_id="ana"),
        "topics": lambda: memory.rebuild_topics(user_id="ana"),
        "blocks": lambda: memory.rebuild_blocks(user_id="ana"),
        "claims": lambda: memory.consolidate(user_id="ana"),
    }
    with upgraded(server, embedder, monkeypatch):
        for name, write in writes.items():
            with pytest.raises(StoreMismatch, match=r"newer than schema .* started again"):
                pytest.fail(f"{name} was not refused: {write()}")
    same(snapshot(memory), before)
    assert memory.stats(user_id="ben").notes == {}


def test_a_process_that_is_older_than_the_schema_records_no_retrieval(server, tenant, embedder, monkeypatch, caplog):
    settings = Settings.load(audit={"retrievals": "ids"})
    with Memory.connect(tenant=tenant, embedder=embedder, settings=settings) as memory:
        memory.add("The boat sails.", user_id="ana")
        memory.search("What sails?", user_id="ana")
        with upgraded(server, embedder, monkeypatch):
            memory._reader.write()
        assert "newer than schema" in caplog.text
        assert memory.audit.retrievals(user_id="ana") == []


def test_what_an_older_process_prepared_before_an_upgrade_is_not_written_after_it(
    server, tenant, embedder, monkeypatch
):
    with ExitStack() as newer:

        class Slow:
            name = embedder.name

            def embed_documents(self, texts):
                if "The boat sails." in texts:
                    newer.enter_context(upgraded(server, embedder, monkeypatch))
                return embedder.embed_documents(texts)

            embed_query = embedder.embed_query

        with Memory.connect(tenant=tenant, embedder=Slow()) as memory:
            with pytest.raises(StoreMismatch, match="newer than schema"):
                memory.add("The boat sails.", user_id="ana")
            assert memory.stats(user_id="ana").sources == 0


def test_an_upgrade_that_was_cut_off_keeps_older_processes_out_and_is_made_again(server, memory, embedder, monkeypatch):
    with monkeypatch.context() as newer:
        newer.setattr(schema, "VERSION", schema.VERSION + 1)
        newer.setattr(schema, "define", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            Memory.connect(embedder=embedder)
    with pytest.raises(StoreMismatch, match="newer than schema"):
        Memory.connect(embedder=embedder)
    with upgraded(server, embedder, monkeypatch):
        pass
    assert memory.add("The boat sails.", user_id="ana").added == 1


def quantization(driver):
    shown = driver.execute_query("SHOW VECTOR INDEXES YIELD name, options RETURN name, options").records
    return {row["name"]: row["options"]["indexConfig"]["vector.quantization.type"] for row in shown}


def test_the_vector_indexes_of_an_older_schema_are_made_anew(server, memory, embedder):
    memory.add("The boat sails.", user_id="ana")
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        driver.execute_query("DROP INDEX keyword_embedding")
        driver.execute_query(
            "CYPHER 25 CREATE VECTOR INDEX keyword_embedding FOR (k:Keyword) ON k.embedding WITH [k.scope] "
            "OPTIONS {indexConfig: {`vector.dimensions`: 384, `vector.quantization.type`: 'BINARY'}}"
        )
        driver.execute_query("MATCH (s:Store) SET s.schema = 5")
        assert quantization(driver)["keyword_embedding"] == "BINARY"
        Memory.connect(embedder=embedder).close()
        assert set(quantization(driver).values()) == {"NONE"}
    assert len(memory.search("boat", user_id="ana")) == 1


UPGRADING = """
import sys, time
from multiprocessing import get_context
from memgraph_engine import Memory
from tests.vectors import Remembering

def client(number):
    embedder = Remembering()
    time.sleep(max(0, began + 1 - time.time()))
    try:
        with Memory.connect(tenant=sys.argv[1], embedder=embedder) as memory:
            return len(memory.search("boat", user_id="ana"))
    except Exception as error:
        return repr(error)

began = time.time()
with get_context("fork").Pool(8) as pool:
    print(*pool.map(client, range(8), chunksize=1), sep="\\n")
"""


@pytest.mark.parametrize("since", [5, 18])
def test_clients_that_upgrade_an_older_schema_at_once_make_it_once_and_none_fails(
    server, tenant, memory, embedder, since
):
    memory.add("The boat sails.", user_id="ana")
    put_back(server, "DROP CONSTRAINT lease_name", f"MATCH (s:Store) SET s.schema = {since}")
    with ThreadPoolExecutor(1) as beside:
        over = Event()

        def ask():
            while not over.is_set():
                assert len(memory.search("boat", user_id="ana")) == 1

        asking = beside.submit(ask)
        try:
            clients = subprocess.run(
                [sys.executable, "-c", UPGRADING, tenant], capture_output=True, text=True, timeout=600, check=False
            )
        finally:
            over.set()
        asking.result()
    assert clients.stdout.split("\n") == [*["1"] * 8, ""], clients.stderr
    assert memory.verify(user_id="ana") == []


def put_back(server, *statements):
    """Take from a database what a newer schema has."""
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        for statement in statements:
            driver.execute_query(statement)


def test_a_database_of_the_schema_before_blocks_gets_what_they_need(server, memory, embedder):
    memory.add("The boat sails.", user_id="ana")
    put_back(
        server,
        "DROP INDEX block_embedding",
        "DROP CONSTRAINT block_id",
        "DROP CONSTRAINT block_run_id",
        "MATCH (s:Store) SET s.schema = 19",
    )
    Memory.connect(embedder=embedder).close()
    assert memory.rebuild_blocks(user_id="ana").blocks == 1
    assert [block.notes for block in memory.blocks("boat", user_id="ana")] == [1]
    assert memory.verify(user_id="ana") == []


def test_a_database_of_the_schema_before_claims_gets_what_they_need(server, memory, embedder):
    memory.add("Whales are mammals.", user_id="ana")
    put_back(
        server,
        "DROP INDEX claim_embedding",
        "DROP INDEX claim_subject",
        "DROP INDEX claim_object",
        "DROP CONSTRAINT claim_id",
        "MATCH (s:Store) SET s.schema = 21",
    )
    Memory.connect(embedder=embedder).close()
    assert memory.consolidate(user_id="ana").created == 1
    assert [claim.text for claim in memory.claims("whale", user_id="ana")] == ["Whales are mammals"]
    assert memory.verify(user_id="ana") == []


def test_claims_of_the_schema_before_sharing_are_shared_after_the_next_run(server, memory, embedder):
    users = ("ana", "ben", "cleo")
    for user in users:
        memory.add("Whales are mammals.", user_id=user)
        memory.consolidate(user_id=user)
    put_back(
        server,
        "DROP INDEX claim_shared",
        "DROP INDEX claim_shared_subject",
        "DROP INDEX claim_shared_object",
        "MATCH (c:Claim)<-[r:SUPPORTS]-() REMOVE c.shared_in, c.shared_as, r.shared_as",
        "MATCH (s:Store) SET s.schema = 22",
    )
    with Memory.connect(tenant=memory.engine.settings.tenant, embedder=embedder) as newer:
        newer.share_claims(on=True, shared=True)
        assert newer.claims(shared=True) == []
        assert [claim.text for claim in newer.claims(user_id="ana")] == ["Whales are mammals"]
        waits = {"cap": 0, "bytes": 0, "dimensions": 0, "evolve": 0, "blocks": 0, "claims": 1}
        for user in users:
            assert newer.engine.db.run("scopes/waits", scope=f"{newer.engine.settings.tenant}/{user}", **waits)[0][
                "unclaimed"
            ]
            newer.consolidate(user_id=user)
            assert newer.verify(user_id=user) == []
        assert [(claim.text, claim.users) for claim in newer.claims(shared=True)] == [("Whales are mammals", 3)]


def test_the_words_of_an_older_schema_are_found_in_the_scope_that_they_are_of(server, memory, embedder):
    memory.add("The boat sails.", user_id="ana", wait=False)  # pending, and so found by its words alone
    memory.add("The boat sinks.", user_id="ben", wait=False)
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        driver.execute_query("DROP INDEX note_terms")
        driver.execute_query(
            "CYPHER 25 CREATE FULLTEXT INDEX note_terms FOR (n:Note|Past) "
            "ON EACH [n.raw_terms, n.context_terms, n.scope_token, n.status] "
            "OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}"
        )
        driver.execute_query(
            "MATCH (n:Note) SET n.scope_token = n.scope_token + '00000f', n.raw_scoped = null, "
            "n.context_scoped = null, n.raw_terms = replace(n.raw_terms, ' ', '\\n')"
        )
        driver.execute_query("MATCH (s:Store) SET s.schema = 6")
        Memory.connect(embedder=embedder).close()
    for word in ("boat", "sails"):
        assert [hit.note.raw for hit in memory.search(word, user_id="ana")] == [("The boat sails.",)]
    assert memory.verify(user_id="ana") == []


def test_the_keywords_of_an_older_schema_that_one_note_carries_are_found_by_their_names_alone(server, memory, embedder):
    boat = memory.add("The boat sails to Madeira.", user_id="ana").entries[0]
    memory.add("The buoy is green.", user_id="ana")
    deletion = memory.delete(boat.source, user_id="ana")
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        driver.execute_query(
            "MATCH (k:Keyword) WHERE k.resting IS NOT NULL "
            "CALL db.create.setNodeVectorProperty(k, 'embedding', k.resting) SET k.resting = null"
        )
        driver.execute_query("MATCH (s:Store) SET s.schema = 14")
        assert "fewer than two notes that can be read carry it" in " ".join(memory.verify(user_id="ana"))
        Memory.connect(embedder=embedder).close()
    assert memory.verify(user_id="ana") == []
    memory.undo(deletion.id, user_id="ana")
    assert memory.verify(user_id="ana") == []


def before_sayings(driver):
    """Make the database one of the schema before 26."""
    for name in ("note_raw", "note_context"):
        driver.execute_query(f"DROP INDEX {name} IF EXISTS")
        made = statements()[f"schema/{name}"].text.replace(", n.several", "")
        driver.execute_query(f"CYPHER 25 {made}", dimensions=384)
    driver.execute_query("MATCH (n:Note|Past) REMOVE n.several")
    driver.execute_query("MATCH (s:Store) SET s.schema = 25")


def test_the_notes_of_an_older_schema_are_found_by_each_saying(server, memory, embedder, monkeypatch):
    words = "The gate code is 4417."
    memory.add({"text": words, "session": "alfa"}, user_id="ana")
    memory.add({"text": words, "session": "beta", "tags": ["keep"]}, user_id="ana")
    memory.add("The boat sails.", user_id="ana", session="beta")
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        before_sayings(driver)
    with monkeypatch.context() as cut_off:
        cut_off.setattr(schema, "define", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            Memory.connect(embedder=embedder)
    Memory.connect(embedder=embedder).close()
    for filters in ({"session": "alfa"}, {"session": "beta"}, {"tags": ["keep"]}):
        assert memory.search("What is the gate code?", user_id="ana", top_k=1, **filters)[0].note.text == words
    assert memory.verify(user_id="ana") == []


def test_a_new_database_knows_every_name_that_a_statement_uses(tmp_path, embedder):
    with (
        servers.own(tmp_path) as one,
        Memory.connect(embedder=embedder),
        neo4j.GraphDatabase.driver(one.uri, auth=(one.user, one.password)) as driver,
        driver.session() as session,
    ):
        unknown = set()
        for name, statement in statements().items():
            if not name.startswith("schema/"):
                parameters = dict.fromkeys(statement.parameters) | {"decision": dict.fromkeys(["id", "kind", "at"])}
                text, given = statement.whole(parameters)
                told = session.run(text.replace("CYPHER 25", "CYPHER 25 EXPLAIN", 1), given).consume()
                said = (status.status_description for status in told.gql_status_objects)
                unknown |= {warning for warning in said if "does not exist" in warning}
        assert unknown == set()
