"""What the package offers to its users' tests: nothing is left behind, and texts that share words are near."""

from itertools import pairwise
from math import hypot

import neo4j
import pytest

from memgraph_engine import Memory
from memgraph_engine.engine import wiring
from memgraph_engine.errors import InvalidInput, StoreMismatch
from memgraph_engine.testing import HashingEmbedder, purge, temporary_memory


def nodes_of(server, tenant):
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        rows = driver.execute_query(
            "MATCH (x) WHERE x.tenant = $tenant OR x.scope STARTS WITH $tenant + '/' "
            "UNWIND labels(x) AS label RETURN label, count(*) AS some",
            tenant=tenant,
        ).records
    return {row["label"]: row["some"] for row in rows}


def fill(memory):
    memory.add_many([{"text": f"The heron caught fish number {n}.", "session": "s"} for n in range(3)], user_id="a b/c")
    one = memory.add("I live in Porto.", id="home", user_id="ana").entries[0].note
    memory.update(one, "I live in Aveiro.", user_id="ana")
    memory.update(one, "I live in Lisbon.", user_id="ana")
    memory.delete(one, user_id="ana")
    memory.add("The house rule is silence.", shared=True)


def test_purge_leaves_nothing_of_a_tenant(memory, tenant, server):
    fill(memory)
    before = nodes_of(server, tenant)
    assert {"Scope", "Source", "PastSource", "Note", "Past", "Keyword", "Decision"} <= before.keys()
    purge(tenant)
    assert nodes_of(server, tenant) == {}


def test_purge_leaves_other_tenants_alone(memory, tenant, server):
    fill(memory)
    before = nodes_of(server, tenant)
    purge(f"{tenant}-other")
    purge(tenant[:-1])
    assert nodes_of(server, tenant) == before


def test_purge_loads_no_embedder(tenant, monkeypatch):
    monkeypatch.setenv("MEMGRAPH_ENGINE_EMBEDDER", "sentence-transformers/there-is-no-such-model")
    purge(tenant)


def test_purge_refuses_what_is_no_tenant():
    with pytest.raises(InvalidInput, match="tenant"):
        purge("")


def test_a_client_goes_on_after_a_purge(memory, tenant):
    fill(memory)
    purge(tenant)
    assert memory.add("I live in Porto.", id="home", user_id="ana").added == 1
    assert memory.verify(user_id="ana") == []


def test_a_temporary_memory_leaves_nothing_behind(server, embedder):
    with temporary_memory(embedder=embedder) as memory:
        fill(memory)
        tenant = memory.stats(user_id="ana").scope.partition("/")[0]
        assert nodes_of(server, tenant)
    assert nodes_of(server, tenant) == {}


def test_a_temporary_memory_is_purged_after_an_error_too(server, embedder):
    tenants = []

    def failing_test():
        with temporary_memory(embedder=embedder) as memory:
            fill(memory)
            tenants.append(memory.stats(user_id="ana").scope.partition("/")[0])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing_test()
    (tenant,) = tenants
    assert nodes_of(server, tenant) == {}


@pytest.mark.parametrize("dimensions", [1, 7, 64, 1024])
def test_the_hashing_embedder_gives_unit_vectors_of_any_length(dimensions):
    embedder = HashingEmbedder(dimensions)
    for vector in embedder.embed_documents(["a boat", "", "…", "日本語", "word " * 1000]):
        assert len(vector) == dimensions
        assert hypot(*vector) == pytest.approx(1)


def test_the_hashing_embedder_is_deterministic_and_its_name_can_be_given():
    assert HashingEmbedder().embed_query("two boats") == HashingEmbedder().embed_documents(["two boats"])[0]
    assert HashingEmbedder(64).name == "hashing-64"
    assert HashingEmbedder(64, name="mine").name == "mine"
    with pytest.raises(InvalidInput, match="dimensions"):
        HashingEmbedder(0)


def test_the_hashing_embedder_puts_similar_texts_near():
    question, *texts = HashingEmbedder().embed_documents(
        ["Where does Ana live?", "Ana lives in Porto.", "Ana likes boats.", "The tax is due in May."]
    )
    near = [sum(a * b for a, b in zip(question, text, strict=True)) for text in texts]
    assert all(a > b for a, b in pairwise(near))


def test_the_hashing_embedder_is_refused_where_another_models_vectors_are(memory):
    with pytest.raises(StoreMismatch, match="hashing-256"):
        Memory.connect(embedder=HashingEmbedder())


def test_purge_needs_no_schema_and_no_model(monkeypatch, tenant):
    monkeypatch.setattr(wiring, "build", None)
    purge(tenant)
