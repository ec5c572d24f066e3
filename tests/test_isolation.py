"""No scope leaks: two hostile tenants, whose names and texts collide or carry syntax, never meet."""

import os
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from memgraph_engine import Memory
from memgraph_engine.model.scope import Scope
from memgraph_engine.testing import purge

HOSTILE = [
    "ana",
    "ana/",
    "/ana",
    "a/na",
    "%2F",
    "ana%2F",
    "a'b",
    'a"b',
    "$scope",
    "`ana`",
    "ana OR 1=1",
    "*",
    "ana*",
    "+ana",
    "}) DETACH DELETE n //",
    "scope_token:*",
    "raw_scoped:*",
    "\\",
    "ana\nbo",
    "ａｎａ",
    "Ana",
    "ana ",
    "null",
    "-",
    "漢字",
    "é",
    "e\u0301",
]
TEXTS = [
    "The key is under the blue pot.",
    "status:active",
    "+scope_token:(*)",
    "MATCH (n) DETACH DELETE n",
    "raw_terms:[* TO *]",
    "raw_scoped:[* TO *]",
    "' OR 1=1 --",
    "deleted",
    "blue",
    "AND OR NOT",
    "key~2 pot*",
    "The key is under the red pot.",
]
names = st.sampled_from(HOSTILE)
memories = st.lists(st.tuples(names, st.sampled_from(TEXTS)), min_size=1, max_size=8)


def cases(number):
    return settings(
        max_examples=number,
        database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


@given(st.lists(st.tuples(st.text(min_size=1, max_size=20), st.text(max_size=20)), min_size=2, max_size=2, unique=True))
def test_no_two_pairs_of_tenant_and_user_share_a_name(pairs):
    try:
        scopes = [Scope(tenant, user or None) for tenant, user in pairs]
    except ValueError:
        return
    assert scopes[0].name != scopes[1].name
    assert scopes[0].token != scopes[1].token
    assert all(character not in scopes[0].token for character in '+-&|!(){}[]^"~*?:\\/ ')


def results(memory, user, question):
    later = "2100-01-01"  # after everything that was written here
    return [
        [(hit.note.id, hit.score, hit.similarity) for hit in memory.search(question, user_id=user, top_k=100, **when)]
        for when in ({}, {"known_at": later}, {"as_of": later, "known_at": later})
    ]


def check_two_tenants(embedder, mine, theirs):
    """Write mine, look, write theirs under a colliding tenant, look again: nothing has changed."""
    tenant = f"test-{uuid4().hex}"
    other = tenant + "/"  # encoded, or it would be a prefix of the first
    try:
        with (
            Memory.connect(tenant=tenant, embedder=embedder) as a,
            Memory.connect(tenant=other, embedder=embedder) as b,
        ):
            for user, text in mine:
                a.add({"id": text, "text": text}, user_id=user)
            users = sorted({user for user, _ in mine})
            questions = ["Where is the key?", "blue pot", "+scope_token:(*) status:active"]
            before = {(user, q): results(a, user, q) for user in users for q in questions}
            for user, text in theirs:
                b.add({"id": text, "text": f"{text} Theirs."}, user_id=user)
                a.add({"id": text, "text": f"{text} Neighbour."}, user_id=f"{user}-other")
            b.delete_all(user_id=theirs[0][0])
            assert {(user, q): results(a, user, q) for user in users for q in questions} == before
            for user in users:
                own = {text for u, text in mine if u == user}
                assert {source.text for note in a.get_all(user_id=user) for source in note.sources} == own
                assert a.verify(user_id=user) == []
    finally:
        purge(tenant)
        purge(other)


@cases(2)
@given(mine=memories, theirs=memories)
def test_two_hostile_tenants_never_meet(server, embedder, mine, theirs):
    check_two_tenants(embedder, mine, theirs)


@pytest.mark.long
@pytest.mark.timeout(3600)
@cases(50)
@given(mine=memories, theirs=memories)
def test_two_hostile_tenants_never_meet_long(server, embedder, mine, theirs):
    check_two_tenants(embedder, mine, theirs)


@pytest.mark.parametrize("wait", [True, False])  # a pending note is found by its words alone
def test_scopes_whose_terms_are_marked_alike_do_not_meet(memory, monkeypatch, wait):
    monkeypatch.setattr(Scope, "token", "s000000000")
    memory.add({"id": "b", "text": "The key is under the blue pot."}, user_id="ben", wait=wait)
    assert memory.search("blue pot", user_id="ana") == []
    (entry,) = memory.add({"id": "a", "text": "The key is under the blue pot."}, user_id="ana", wait=wait).entries
    memory.process(user_id="ana")
    assert memory.decisions(user_id="ana")[0].kind == "append"
    assert memory.explain("a", user_id="ana").decisions[-1].considered == ()
    (hit,) = memory.search("blue pot", user_id="ana")
    assert (hit.note.id, [source.id for source in hit.note.sources]) == (entry.note, ["a"])


def test_what_another_scope_holds_in_plenty_hides_nothing(memory):
    memory.add_many([f"The key number {i} is under the blue pot." for i in range(120)], user_id="loud")
    memory.add("The key is under the blue pot.", user_id="ana")
    hits = memory.search("Where is the key?", user_id="ana")
    assert [hit.note.context for hit in hits] == ["The key is under the blue pot."]


def test_a_purge_leaves_other_tenants_alone(server, embedder):
    first, second = f"test-{uuid4().hex}", f"test-{uuid4().hex}"
    with Memory.connect(tenant=first, embedder=embedder) as a, Memory.connect(tenant=second, embedder=embedder) as b:
        a.add("Mine.", user_id="ana")
        b.add("Yours.", user_id="ana")
        purge(first)
        assert a.stats(user_id="ana").sources == 0
        assert len(b.search("Yours", user_id="ana")) == 1
    purge(second)
    assert os.environ["MEMGRAPH_ENGINE_URI"] == server.uri
