"""Another embedder for a database in use; on a server of its own, whose embedder is its own too."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from threading import Event

import neo4j
import numpy as np
import pytest
from typer.testing import CliRunner

from memgraph_engine import Memory, Settings
from memgraph_engine.asking.items import ItemReader
from memgraph_engine.cli import app
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.embedding.choose import embedder_named
from memgraph_engine.engine import wiring
from memgraph_engine.errors import EmbeddingError, InvalidInput, SettingsError, StoreError, StoreMismatch
from memgraph_engine.graph.database import Database
from memgraph_engine.testing import HashingEmbedder
from memgraph_engine.worker import embedder as changing
from memgraph_engine.worker.work import Worker
from tests import servers
from tests.servers import SAID

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    with servers.own(tmp_path_factory.mktemp("neo4j")) as one:
        yield one


class Counted(HashingEmbedder):
    """Counts what it embeds, and can fail: its vectors are of one of two models."""

    fails = None
    texts = 0

    def embed_documents(self, texts):
        if self.fails:
            self.fails()
        type(self).texts += len(texts)
        return super().embed_documents(texts)


class Other(Counted):
    """Another model: it knows words by other numbers, of which there are as many."""

    def embed_query(self, text):
        return super().embed_query(" ".join(f"{word[::-1]}x" for word in text.split()))


MODELS = {"old": lambda: Counted(64, "old"), "new": lambda: Counted(96, "new"), "twin": lambda: Other(64, "twin")}


@pytest.fixture
def server(own, monkeypatch):
    """The server with an empty database; the settings know two models."""
    with neo4j.GraphDatabase.driver(own.uri, auth=(own.user, own.password)) as driver:
        for record in driver.execute_query("SHOW VECTOR INDEXES YIELD name").records:
            if record["name"][-1].isdigit():
                driver.execute_query(f"DROP INDEX {record['name']}")
        with driver.session() as session:
            session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS").consume()

    def named(settings, recorded=""):
        name = settings.embedder or recorded
        return MODELS[name]() if name in MODELS else embedder_named(settings, recorded)

    monkeypatch.setattr(wiring, "embedder_named", named)
    monkeypatch.setattr(Counted, "fails", None)
    monkeypatch.setenv("MEMGRAPH_ENGINE_EMBEDDER", "old")
    return own


@pytest.fixture
def memory(server):
    with Memory.connect(tenant="one") as one:
        yield one


def filled(memory, user="ana"):
    memory.add_many([{"id": f"m{n}", "text": text, "session": "s"} for n, text in enumerate(SAID)], user_id=user)
    memory.update("m4", "Petra has three cats.", user_id=user)
    return memory


def derived(memory, user="ana"):
    memory.rebuild_topics(user_id=user)
    memory.rebuild_blocks(user_id=user)
    memory.consolidate(user_id=user)


def worker(memory, **given):
    return Worker(memory.engine, **given)


def once(memory):
    told = []
    assert worker(memory, tell=told.append).once()
    return [one.counts for one in told if one.kind == "embed"]


def asked(memory, user="ana"):
    return [(hit.note.id, round(hit.score, 6)) for hit in memory.search("Where does Petra live now?", user_id=user)]


def vectors(server, suffix=""):
    """All vectors of a set, by what they are of."""
    names = [f"{name}{suffix}" for name in ("raw_embedding", "context_embedding", "embedding", "resting")]
    text = (
        "MATCH (n:Note|Past|Keyword|Topic|Block|Claim) UNWIND [name IN $names WHERE n[name] IS NOT NULL] AS name "
        "WITH n, name, [labels(n)[0], n.scope, coalesce(n.id, n.name), coalesce(n.revision, '')] AS parts "
        "RETURN reduce(one = '', part IN parts | one + part + ' ') AS one, name, n[name] AS vector"
    )
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        rows = driver.execute_query(text, names=names).records
        return {
            (row["one"], row["name"].removesuffix(suffix) if suffix else row["name"]): row["vector"] for row in rows
        }


def test_a_change_gives_everything_the_vectors_of_the_other_embedder(memory, server):
    filled(memory)
    derived(memory)
    before, words = vectors(server), CheckedEmbedder(HashingEmbedder(96))
    memory.change_embedder("new")
    assert memory.embedder().state == "filling"
    assert once(memory)[0]["switched"] == 1
    after = vectors(server, "_2")
    assert after.keys() == before.keys()
    assert {name.split()[0] for name, _ in after} == {"Note", "Past", "Keyword", "Topic", "Block", "Claim"}
    for note in memory.get_all(user_id="ana"):
        context = words.embed_documents([note.context])[0]
        found = next(
            v
            for (one, name), v in after.items()
            if f" {note.id} " in f"{one} " and "Note" in one and name == "context_embedding"
        )
        assert found == pytest.approx(context.tolist(), abs=1e-6)
    status = memory.embedder()
    assert (status.embedder, status.dimensions, status.state, status.other) == ("new", 96, "kept", "old")
    assert memory.engine.embedder.name == "old"  # it has asked nothing since
    assert asked(memory)
    assert memory.engine.embedder.name == "new"
    assert memory.verify(user_id="ana") == []


def test_blocks_and_topics_have_the_means_of_what_they_hold(memory, server):
    filled(memory)
    derived(memory)
    memory.change_embedder("new")
    once(memory)
    text = (
        "MATCH (b:Block) RETURN b.embedding_2 AS mean, COLLECT { "
        "MATCH (b)<-[:PART_OF*0..]-(:Block)<-[:IN_BLOCK]-(n:Note) RETURN n.context_embedding_2 } AS parts UNION ALL "
        "MATCH (t:Topic) RETURN t.embedding_2 AS mean, COLLECT { MATCH (t)<-[:IN_TOPIC]-(k:Keyword) "
        "RETURN coalesce(k.embedding_2, k.resting_2) } AS parts"
    )
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        rows = driver.execute_query(text).records
    assert len(rows) > 3
    for row in rows:
        mean = np.mean(row["parts"], axis=0)
        assert row["mean"] == pytest.approx((mean / np.linalg.norm(mean)).tolist(), abs=1e-5)


def test_searches_use_the_former_until_all_is_there_and_then_are_those_of_the_other(memory, server):
    filled(memory)
    before = asked(memory)
    memory.change_embedder("new")
    assert asked(memory) == before
    once(memory)
    assert [score for _, score in asked(memory)] != [score for _, score in before]


def test_a_second_client_follows_and_never_mixes_models(memory, server):
    """Both models have vectors of one length: nothing but their names keeps them apart."""
    filled(memory)
    reader = ItemReader(memory.engine)
    with Memory.connect(tenant="one") as second:
        assert asked(second) == asked(memory)
        memory.change_embedder("twin", grace=0)
        once(memory)
        seen = []
        run = Database.run

        def watched(db, name, /, **given):
            if name == "notes/propose":
                seen.append((db.vectors, [*given["vector"].to_native()]))
            return run(db, name, **given)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Database, "run", watched)
            found = asked(second)
        made = {
            1: Counted(64).embed_query("Where does Petra live now?"),
            2: Other(64).embed_query("Where does Petra live now?"),
        }
        assert [number for number, _ in seen][-1] == 2
        assert all(vector == pytest.approx(made[number], abs=1e-6) for number, vector in seen)
        assert found == asked(memory)
        assert second.engine.db.vectors == 2
        second.add("Petra moved to Trento.", user_id="ana")
        assert second.search("Petra Trento", user_id="ana")[0].note.text == "Petra moved to Trento."
        assert second.verify(user_id="ana") == []
    assert reader.ranked([], "Petra", 3, similar=False)[0] == []


def test_a_client_that_has_slept_through_the_grace_follows_too(memory, server):
    filled(memory)
    derived(memory)
    with Memory.connect(tenant="one") as second:
        memory.change_embedder("new", grace=0)
        counts = once(memory)
        assert counts[-1] == {"dropped": 1}
        assert vectors(server) == {}
        assert second.claims("Petra", user_id="ana") is not None
        assert second.engine.embedder.name == "new"
        assert asked(second)
    assert memory.embedder().state == "settled"


def test_what_compares_vectors_follows_while_the_former_are_kept(memory, server):
    filled(memory)
    derived(memory)
    calls = {
        "blocks": lambda one: one.blocks("Petra", user_id="ana"),
        "claims": lambda one: one.claims("Petra", user_id="ana"),
        "anchors": lambda one: one.anchors("Petra", user_id="ana"),
        "vectors": lambda one: one.vectors(user_id="ana"),
        "verify": lambda one: one.verify(user_id="ana"),
        "about": lambda one: one.audit.about("Petra", user_id="ana"),
    }
    with ExitStack() as stack:
        clients = {name: stack.enter_context(Memory.connect(tenant="one")) for name in calls}
        audit = clients["about"].audit
        memory.change_embedder("new")
        once(memory)
        found = {name: calls[name](one) for name, one in clients.items()}
        assert {name: one.engine.embedder.name for name, one in clients.items()} == dict.fromkeys(calls, "new")
        assert found["verify"] == []
        assert all(found[name] for name in ("blocks", "anchors", "vectors", "about"))
        assert audit.about("Petra", user_id="ana") == found["about"]


def gone():
    raise SettingsError("The model's files are gone.")


def run(*words):
    done = CliRunner().invoke(app, words)
    return done.exit_code, done.output + str(done.exception or "")


def test_a_model_that_is_gone_hides_neither_the_way_back_nor_what_reads(memory, server, monkeypatch):
    filled(memory)
    before, back = asked(memory), "files are gone.* go back to old, .*`memgraph-engine embedder rollback`"
    ana = "--user", "ana", "--tenant", "one"
    with Memory.connect(tenant="one") as second:
        memory.change_embedder("new")
        once(memory)
        monkeypatch.setitem(MODELS, "new", gone)
        with pytest.raises(SettingsError, match=back):
            second.search("Petra", user_id="ana")
        with pytest.raises(SettingsError, match=back):
            Memory.connect(tenant="one")
        assert len([*second.get_all(user_id="ana")]) > 3
        assert second.verify(user_id="ana") == []
        assert second.embedder().embedder == "new"
        for named in ("old", "new", ""):
            monkeypatch.setenv("MEMGRAPH_ENGINE_EMBEDDER", named)
            for words in (["list"], ["stats"], ["verify"]):
                assert run(*words, *ana)[0] == 0
            assert run("embedder", "status")[1].startswith("new (96 numbers); old is kept")
            code, told = run("search", "Petra", *ana)
            assert code
            assert re.search(back, " ".join(told.split()))
        assert run("embedder", "rollback", "--json")[0] == 0
        assert asked(second) == before
    monkeypatch.setenv("MEMGRAPH_ENGINE_EMBEDDER", "old")
    with Memory.connect(tenant="one") as third:
        assert asked(third) == before
        third.add("Petra moved to Trento.", user_id="ana")
        assert {"dropped": 1} in once(third)


def test_a_client_goes_back_from_a_model_that_it_can_not_load(memory, server, monkeypatch):
    filled(memory)
    before = asked(memory)
    memory.change_embedder("new")
    once(memory)
    monkeypatch.setitem(MODELS, "new", gone)
    assert memory.rollback_embedder().embedder == "old"
    assert asked(memory) == before


def test_a_command_whose_settings_name_another_embedder_embeds_nothing(memory, server, monkeypatch):
    filled(memory)
    monkeypatch.setenv("MEMGRAPH_ENGINE_EMBEDDER", "twin")
    Counted.texts = 0
    for words in (["search", "Petra"], ["add", "Petra has a dog."]):
        code, told = run(*words, "--user", "ana", "--tenant", "one")
        assert code
        assert "holds vectors of old" in told
    assert Counted.texts == 0


def test_a_client_that_follows_to_a_provider_says_what_that_one_sees(memory, server, monkeypatch, tmp_path, caplog):
    class Provider(Counted):
        remote = True

    monkeypatch.setitem(MODELS, "provider", lambda: Provider(96, "provider"))
    policies = tmp_path / "policies.yaml"
    policies.write_text("default: plain\nclasses:\n  plain: {ttl: none}\n  secret: {ttl: none, models: false}\n")
    filled(memory)
    with Memory.connect(tenant="one", settings=Settings.load(lifecycle={"policies": str(policies)})) as second:
        assert asked(second)
        memory.change_embedder("provider")
        once(memory)
        told = [one.getMessage() for one in caplog.records]
        assert not [one for one in told if "policies secret" in one]  # another client's are others
        assert asked(second)
    told = [one.getMessage() for one in caplog.records if "policies secret" in one.getMessage()]
    assert ["The embedder provider is a provider's: it sees" in one for one in told] == [True]


def test_a_client_with_an_embedder_of_its_own_follows_and_comes_back(memory, server):
    with Memory.connect(tenant="one", embedder=Counted(64, "old")) as own:
        own.add(SAID[0], user_id="ana")
        memory.change_embedder("new")
        once(memory)
        assert own.search("Lisbon", user_id="ana")
        assert own.engine.embedder.name == "new"
        memory.rollback_embedder()
        assert own.search("Lisbon", user_id="ana")
        assert own.engine.embedder.name == "old"
    with pytest.raises(StoreMismatch, match="holds vectors of old"):
        Memory.connect(tenant="one", embedder=Counted(96, "new"))


def test_a_client_whose_settings_name_the_former_connects(memory, server):
    filled(memory)
    memory.change_embedder("new")
    once(memory)
    with Memory.connect(tenant="one") as second:
        assert second.engine.embedder.name == "new"
        assert asked(second) == asked(memory)


def test_what_is_written_meanwhile_is_in_both(memory, server):
    filled(memory)
    memory.change_embedder("new")
    said = iter(["Ines bought a kite.", "The kite is green.", "Ines sold the kite."])

    def write():
        if (text := next(said, None)) is not None:
            Counted.fails = None
            memory.add(text, user_id="ben", session="k")
            memory.update("m1", f"My sister Petra lives in Trento. {text}", user_id="ana")
            Counted.fails = staticmethod(write)

    Counted.fails = staticmethod(write)
    once(memory)
    Counted.fails = None
    assert memory.embedder().embedder == "new"
    assert vectors(server).keys() == vectors(server, "_2").keys()
    assert memory.verify(user_id="ana") == memory.verify(user_id="ben") == []
    words = CheckedEmbedder(HashingEmbedder(96))
    for user in ("ana", "ben"):
        found = memory.vectors(user_id=user)
        for note in memory.get_all(user_id=user):
            assert found[note.id].tolist() == pytest.approx(words.embed_documents([note.context])[0].tolist(), abs=1e-6)


def test_a_writer_that_prepared_before_the_switch_prepares_anew(memory, server):
    filled(memory)
    with Memory.connect(tenant="one") as second:
        memory.change_embedder("new")

        def switch():
            Counted.fails = None
            once(memory)

        Counted.fails = staticmethod(switch)
        second.add("Petra moved to Trento.", user_id="ana")
        assert memory.embedder().embedder == "new"
        assert second.engine.db.vectors == 1  # its call went on with the other: what comes next follows
        assert second.search("Petra Trento", user_id="ana")[0].note.text == "Petra moved to Trento."
    assert {name for name, _ in vectors(server)} <= {name for name, _ in vectors(server, "_2")}


def test_an_iterator_that_gives_nothing_twice_loses_nothing_at_the_switch(memory, server):
    memory.add(SAID[0], user_id="ana")
    size, settings = 4, memory.engine.settings.model_copy(update={"ingest_batch": 4})
    memory.change_embedder("new")

    def messages():
        for number in range(2 * size):
            if number == size + 1:
                once(memory)
            yield {"id": f"n{number}", "text": f"Box {number} holds {number} screws."}

    with Memory.connect(settings=settings) as second:
        receipt = second.add_many(messages(), user_id="ana")
        assert len(receipt.entries) == 2 * size
        assert second.stats(user_id="ana").sources == 2 * size + 1
        assert second.verify(user_id="ana") == []


def test_a_rollback_is_at_once_and_has_what_came_since(memory, server):
    filled(memory)
    before = asked(memory)
    memory.change_embedder("new")
    once(memory)
    memory.add("Petra moved to Trento.", user_id="ana")
    once(memory)
    Counted.texts = 0
    assert memory.rollback_embedder().embedder == "old"
    assert Counted.texts == 0
    assert memory.search("Petra Trento", user_id="ana")[0].note.text == "Petra moved to Trento."
    memory.delete(memory.search("Petra Trento", user_id="ana")[0].note.id, user_id="ana")
    assert asked(memory) == before
    assert once(memory) == [{"dropped": 1}]
    assert vectors(server, "_2") == {}
    with pytest.raises(InvalidInput, match="no vectors of another embedder to go back to"):
        memory.rollback_embedder()
    memory.change_embedder("twin")
    once(memory)
    assert asked(memory)
    assert memory.engine.db.vectors == 3  # no number is given twice


def test_a_rollback_without_a_worker_embeds_what_came_since(memory, server):
    filled(memory)
    memory.change_embedder("new")
    once(memory)
    memory.add("Petra moved to Trento.", user_id="ana")
    memory.rollback_embedder()
    assert vectors(server).keys() == vectors(server, "_2").keys()
    assert memory.verify(user_id="ana") == []


def test_a_rollback_ends_a_change_that_is_under_way(memory, server):
    filled(memory)
    before = asked(memory)
    memory.change_embedder("new")
    assert memory.rollback_embedder().state == "leaving"
    once(memory)
    assert memory.embedder().state == "settled"
    assert asked(memory) == before
    assert vectors(server, "_2") == {}


class Cut(Exception):
    """A process is gone."""


def test_a_change_that_is_cut_off_anywhere_goes_on(memory, server, monkeypatch):
    """Cut before each kind of statement that a worker sends: the first of it, and each third one."""
    filled(memory)
    derived(memory)
    before, sent = asked(memory), Counter()
    memory.change_embedder("new", grace=0)
    monkeypatch.setattr("memgraph_engine.writing.vectors._NOTES", 2)
    monkeypatch.setattr("memgraph_engine.writing.vectors._NAMES", 4)

    def cut(method):
        def send(db, *given, **named):
            name = given[0] if isinstance(given[0], str) else getattr(given[0], "func", given[0]).__name__
            if not name.startswith("leases/") and name != "<lambda>":  # those of the schema
                sent[name] += 1
                if sent[name] % 3 == 1:
                    raise Cut
            return method(db, *given, **named)

        return send

    cuts = 0
    while memory.embedder().state != "settled":
        with monkeypatch.context() as patch:
            patch.setattr(Database, "commit", cut(Database.commit))
            patch.setattr(Database, "write", cut(Database.write))
            try:
                changing.Change.work(wiring.followed(memory.engine), lambda: None)
            except Cut:
                cuts += 1
        if memory.embedder().embedder == "old":
            assert asked(memory) == before
        assert cuts < 100
    kinds = ("write", "progress", "whole", "leave", "drop", "end")
    assert sent.keys() >= {"_switched", *(f"vectors/{kind}" for kind in kinds)}
    assert cuts > 10
    assert memory.embedder().embedder == "new"
    assert vectors(server) == {}
    assert memory.verify(user_id="ana") == []
    assert asked(memory)


def test_an_embedder_that_fails_is_tried_again(memory, server):
    filled(memory)
    memory.change_embedder("new")

    def fail():
        raise RuntimeError("no memory")

    Counted.fails = staticmethod(fail)
    told = []
    assert not worker(memory, tell=told.append).once()
    assert [(one.kind, one.outcome) for one in told] == [("embed", "failed")]
    Counted.fails = None
    assert once(memory)[0]["switched"] == 1


def test_every_tenant_changes_and_none_sees_another(memory, server):
    filled(memory)
    with Memory.connect(tenant="two") as other:
        other.add("Petra keeps bees in Graz.", user_id="ana")
        memory.change_embedder("new")
        once(memory)  # a worker of one tenant alone
        assert [hit.note.text for hit in other.search("Where does Petra live now?", user_id="ana")] == [
            "Petra keeps bees in Graz."
        ]
        assert other.embedder().embedder == "new"
        assert all("Graz" not in hit.note.text for hit in memory.search("Petra keeps bees in Graz", user_id="ana"))


def test_what_can_not_be_changed_is_refused_in_a_sentence(memory, server, monkeypatch):
    filled(memory)
    with pytest.raises(InvalidInput, match="has the embedder old already"):
        memory.change_embedder("old")
    with pytest.raises(SettingsError, match="There is no embedder 'word2vec'"):
        memory.change_embedder("word2vec")
    with pytest.raises(InvalidInput, match="to is empty"):
        memory.change_embedder("")
    with pytest.raises(InvalidInput, match="no vectors of another embedder"):
        memory.rollback_embedder()
    for grace in (-1, None, "7", True, float("nan")):
        with pytest.raises(InvalidInput, match="grace must be a number of days"):
            memory.change_embedder("new", grace=grace)
    monkeypatch.setitem(MODELS, "broken", lambda: Counted(0, "broken"))
    with pytest.raises((EmbeddingError, InvalidInput)):
        memory.change_embedder("broken")
    assert memory.embedder().state == "settled"
    memory.change_embedder("new")
    with pytest.raises(InvalidInput, match="A change to new is under way"):
        memory.change_embedder("twin")
    once(memory)
    with pytest.raises(InvalidInput, match="keeps the vectors of old until"):
        memory.change_embedder("twin")


def test_a_disk_that_is_too_small_is_told_before_anything_begins(memory, server, monkeypatch):
    filled(memory)
    local = memory.engine.settings.model_copy(update={"uri": ""})
    small = type("Usage", (), {"free": 1000})()
    monkeypatch.setattr(changing, "disk_usage", lambda _: small)
    with pytest.raises(StoreError, match=r"need about .* MB .* are free"):
        changing.change(wiring.replace(memory.engine, settings=local), "new", 7.0, dry_run=False)
    assert memory.embedder().state == "settled"


def test_a_dry_run_tells_what_it_takes_and_begins_nothing(memory, server):
    filled(memory)
    found = memory.change_embedder("new", dry_run=True)
    assert (found.embedder, found.to, found.dimensions, found.begun) == ("old", "new", 96, False)
    assert found.texts == 2 * found.notes + found.keywords > 0
    assert found.bytes > 4 * 96 * found.texts
    assert found.free is None
    assert memory.embedder().state == "settled"


def test_an_estimate_gives_a_provider_no_word_of_users(memory, server, monkeypatch):
    filled(memory)
    seen = []

    class Provider(Counted):
        def embed_documents(self, texts):
            seen.extend(texts)
            return super().embed_documents(texts)

    monkeypatch.setitem(MODELS, "provider", lambda: Provider(96, "provider"))
    assert memory.change_embedder("provider", dry_run=True).texts
    assert seen
    assert not [text for text in seen for said in SAID if said in text]


def test_calibration_changes_with_the_embedder(memory, server):
    filled(memory)
    hit = memory.search("Where does Petra live?", user_id="ana")[0]
    assert hit.relevance is None
    memory.change_embedder("new")
    once(memory)
    assert 0 <= memory.search("Where does Petra live?", user_id="ana")[0].relevance <= 1
    assert json.loads(memory.engine.embedder.fitted)["embedder"] == "new"
    memory.rollback_embedder()
    assert memory.search("Where does Petra live?", user_id="ana")[0].relevance is None


def test_an_erasure_leaves_no_vector_of_what_was_said(memory, server):
    filled(memory)
    memory.change_embedder("new")
    once(memory)
    memory.erase(memory.forget(user_id="ana", source="m1"))
    left = {one for one, _ in vectors(server)}
    assert left <= {one for one, _ in vectors(server, "_2")}


def test_an_export_of_another_embedder_is_imported_with_new_vectors(memory, server, tmp_path):
    filled(memory)
    derived(memory)
    file = tmp_path / "ana.jsonl"
    memory.export(file, user_id="ana")
    old = vectors(server)
    memory.change_embedder("new")
    once(memory)
    assert asked(memory)
    with pytest.raises(StoreMismatch, match="--re-embed"):
        memory.import_(file, user_id="eva")
    memory.import_(file, user_id="eva", re_embed=True)
    assert memory.verify(user_id="eva") == []
    there = {
        (one.replace("/eva", "/ana"), name): vector
        for (one, name), vector in vectors(server, "_2").items()
        if "/eva" in one
    }
    kinds = {one.split()[0] for one, _ in there}
    assert kinds == {"Note", "Past", "Keyword", "Topic"}
    assert len(there) == len([one for one, _ in old if one.split()[0] in kinds])
    assert vectors(server, "_0") == {}
    assert [score for _, score in asked(memory, "eva")] == [score for _, score in asked(memory)]
    memory.export(tmp_path / "new.jsonl", user_id="ana")
    memory.import_(tmp_path / "new.jsonl", user_id="ida")
    assert [score for _, score in asked(memory, "ida")] == [score for _, score in asked(memory)]
    assert json.loads(file.read_text().splitlines()[0])["embedder"] == "old"
    assert '"embedding_2"' not in (tmp_path / "new.jsonl").read_text()


def test_the_commands_tell_how_it_is(memory, server):
    filled(memory)

    def run(*words):
        done = CliRunner().invoke(app, ["embedder", *words])
        return done.exit_code, done.output

    assert run("status") == (0, "old (64 numbers)\n")
    assert "about" in run("change", "--to", "new", "--dry-run")[1]
    assert "Begun" in run("change", "--to", "new")[1]
    assert "changes to new, 0 of about" in run("status")[1]
    assert "is under way" in run("change", "--to", "new")[1]
    once(memory)
    assert "old is kept for a rollback until" in run("status")[1]
    code, told = run("rollback", "--json")
    assert (code, json.loads(told)["embedder"]) == (0, "old")


KILLED = """
import sys, time
sys.path.insert(0, {root!r})
from tests import test_embedder_change as here
from memgraph_engine import Memory
from memgraph_engine.engine import wiring
from memgraph_engine.writing import vectors
from memgraph_engine.worker.work import Worker
wiring.embedder_named = lambda settings, recorded="": here.MODELS[settings.embedder or recorded]()
vectors._NOTES = 8
here.Counted.fails = staticmethod(lambda: (print("batch", flush=True), time.sleep(0.05)))
with Memory.connect(tenant="one") as memory:
    while memory.embedder().state == "filling":
        Worker(memory.engine).once()
        time.sleep(0.2)  # the lease of who was killed is held for ten seconds
"""


def test_a_worker_that_is_killed_in_the_middle_costs_time_alone(memory, server, root):
    memory.add_many([f"Box {number} holds {number} screws." for number in range(80)], user_id="ana")
    before = asked(memory)
    memory.change_embedder("new")
    for batches in (1, 3):
        given = [sys.executable, "-c", KILLED.format(root=str(root))]
        with subprocess.Popen(given, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
            for _ in range(batches):
                assert process.stdout.readline() == "batch\n"
            process.send_signal(signal.SIGKILL)
        assert asked(memory) == before
    status = memory.embedder()
    assert status.state == "filling"
    deadline = time.monotonic() + 60
    while memory.embedder().state == "filling" and time.monotonic() < deadline:
        once(memory)  # the lease of who is gone ends after ten seconds
        Event().wait(0.5)
    assert memory.embedder().embedder == "new"
    assert memory.verify(user_id="ana") == []
    assert vectors(server).keys() == vectors(server, "_2").keys()


MORTAL = """
import os, signal, sys
sys.path.insert(0, {root!r})
from tests import test_embedder_change as here
from memgraph_engine import Memory
from memgraph_engine.engine import wiring
from memgraph_engine.graph import database
from memgraph_engine.writing import vectors
from memgraph_engine.worker.work import Worker
wiring.embedder_named = lambda settings, recorded="": here.MODELS[settings.embedder or recorded]()
vectors._NOTES = vectors._NAMES = 2
prepared, sent = database._prepared, 0

def counted(name, *given):
    global sent
    sent += name.startswith("vectors/")
    if sent == last:
        print(name, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    return prepared(name, *given)

for line in sys.stdin:  # what is imported once is each worker's
    last = int(line)
    if child := os.fork():
        os.waitpid(child, 0)
        print("ended", flush=True)
        continue
    database._prepared = counted
    with Memory.connect(tenant="one") as memory:
        worker = Worker(memory.engine)
        worker.jobs = ()
        worker.once()
    print(sent, flush=True)
    os._exit(0)
"""


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_no_search_is_over_mixed_models_wherever_a_worker_is_killed(memory, server, root):
    """Killed before 50 statements, from a change's first to its last; vectors of both models have one length."""
    question = "Where does Petra live now?"
    filled(memory)
    derived(memory)
    models, held, found = {1: "old"}, {"old": vectors(server)}, {"old": asked(memory)}
    compared, run = [], Database.run

    def watched(db, name, /, **given):
        if name == "notes/propose":
            compared.append((models[db.vectors], given["vector"].to_native()))
        return run(db, name, **given)

    def change():
        to = "twin" if memory.embedder().embedder == "old" else "old"
        memory.change_embedder(to, grace=0)
        models[changing._Second.of(memory.engine.db).vectors] = to
        return to

    def go_on():
        with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
            driver.execute_query("MATCH (l:Lease {name: $name}) DELETE l", name=changing.LEASE)  # of who is gone
        while changing.Change.work(wiring.followed(memory.engine), lambda: None):
            pass

    given = [sys.executable, "-c", MORTAL.format(root=str(root))]
    with (
        Memory.connect(tenant="one") as second,
        pytest.MonkeyPatch.context() as patch,
        subprocess.Popen(given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as workers,
    ):
        patch.setattr(Database, "run", watched)

        def worker_until(last):
            workers.stdin.write(f"{last}\n")
            workers.stdin.flush()
            told = [*iter(lambda: workers.stdout.readline().strip(), "ended")]
            assert len(told) == 1
            return told[0]

        change()
        every = int(worker_until(1_000_000))
        assert memory.embedder().state == "settled"
        held["twin"], found["twin"] = vectors(server, "_2"), asked(memory)
        assert held["twin"].keys() == held["old"].keys()
        assert found["twin"] != found["old"]
        moments = sorted({round(one) for one in np.linspace(1, every, 50)})
        assert len(moments) == 50
        killed, states = Counter(), Counter()
        for moment in moments:
            to = change()
            killed[worker_until(moment)] += 1
            status = memory.embedder()
            states[status.embedder == to, status.state] += 1
            assert asked(second) == asked(memory) == found[status.embedder]
            go_on()
            assert memory.embedder().state == "settled"
            assert asked(memory) == asked(second) == found[to]
            assert vectors(server, f"_{memory.engine.db.vectors}") == held[to]
        assert memory.verify(user_id="ana") == []
        workers.stdin.close()
    assert {"vectors/write", "vectors/switch", "vectors/drop"} <= killed.keys()
    assert not [told for told in killed if told.isdigit()]
    assert {(False, "filling"), (True, "leaving")} <= states.keys()
    own = {name: MODELS[name]().embed_query(question) for name in found}
    assert len(compared) >= 200
    assert all(vector == pytest.approx(own[name], abs=1e-6) for name, vector in compared)
