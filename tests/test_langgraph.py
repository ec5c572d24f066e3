"""LangGraph's store: items stand alone under their keys, in namespaces that never cross."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from memgraph_engine import InvalidInput, Memory
from memgraph_engine.testing import HashingEmbedder

pytest.importorskip("langgraph.store.base", reason="run by make test-langgraph")

from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from memgraph_engine.integrations.langgraph import MemgraphStore, namespace_of, source_of, user_of

pytestmark = pytest.mark.langgraph

AWKWARD = {
    "z first": 1,
    "a": {"nested": [1, 2.5, None, True, {"deep": []}], "": "an empty name"},
    "text": "NUL \0, tab \t, a lone surrogate \ud800, 日本語, 🛶, \u2028",
    "big": 2**70,
}


@pytest.fixture
def store(memory):
    return MemgraphStore(memory)


@pytest.fixture
def told(tenant, embedder, clock):
    """A store whose present is the clock's."""
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock) as memory:
        yield MemgraphStore(memory)


def faults(store):
    return [fault for user in store.memory.users() for fault in store.memory.verify(user_id=user.id)]


def keys(found):
    return [item.key for item in found]


# ---- values -------------------------------------------------------------------------------------


def test_a_value_comes_back_as_it_was_put(store):
    store.put(("users", "ana"), "odd", AWKWARD)
    item = store.get(("users", "ana"), "odd")
    assert item.value == AWKWARD
    assert list(item.value) == list(AWKWARD)
    assert (item.namespace, item.key) == (("users", "ana"), "odd")
    assert faults(store) == []


def test_an_item_that_is_not_there_is_none(store):
    assert store.get(("users", "ana"), "odd") is None
    assert store.search(("users",)) == []
    store.delete(("users", "ana"), "odd")
    assert store.list_namespaces() == []


def test_an_overwritten_value_stays_in_the_history_and_comes_back_by_undo(store):
    place, memory = ("users", "ana"), store.memory
    store.put(place, "prefs", {"theme": "dark", "note": "likes the sea"})
    first = store.get(place, "prefs")
    store.put(place, "prefs", {"theme": "light", "note": "likes the hills"})
    item = store.get(place, "prefs")
    assert (item.value["theme"], item.created_at) == ("light", first.created_at)
    assert item.updated_at >= first.updated_at

    versions = memory.history(source_of("prefs"), user_id=user_of(place))
    assert ["dark" in str(one.note.metadata) for one in versions] == [True, False]
    memory.undo(versions[-1].decision.id, user_id=user_of(place))
    assert store.get(place, "prefs").value == {"theme": "dark", "note": "likes the sea"}
    assert keys(store.search(place, query="sea")) == ["prefs"]
    assert faults(store) == []


def test_what_changes_beside_the_indexed_text_is_undone_too(memory):
    store = MemgraphStore(memory, index={"fields": ["text"]})
    store.put(("a",), "k", {"text": "the heron", "n": 1})
    store.put(("a",), "k", {"text": "the heron", "n": 2})
    last = memory.history(source_of("k"), user_id="a")[-1]
    memory.undo(last.decision.id, user_id="a")
    assert store.get(("a",), "k").value["n"] == 1


def test_the_same_value_put_again_changes_nothing(store):
    for _ in range(3):
        store.put(("a",), "k", {"n": 1})
    assert len(store.memory.history(source_of("k"), user_id="a")) == 1


def test_a_deleted_item_is_gone_and_can_be_put_again(store):
    place, memory = ("users", "ana"), store.memory
    store.put(place, "k", {"said": "I live in Lisbon."})
    store.delete(place, "k")
    assert store.get(place, "k") is None
    assert store.search(place) == store.search(place, query="Lisbon") == []
    assert store.list_namespaces() == []

    store.put(place, "k", {"said": "I live in Faro."})
    assert store.get(place, "k").value == {"said": "I live in Faro."}
    assert [item.value["said"] for item in store.search(place, query="Lisbon")] == ["I live in Faro."]
    store.put(place, "k", {"said": "I live in Evora."})
    assert store.get(place, "k").value == {"said": "I live in Evora."}
    assert faults(store) == []
    latest = memory.explain(source_of("k"), user_id=user_of(place)).decisions
    for decision in reversed(latest):
        memory.undo(decision.id, user_id=user_of(place))
    assert store.get(place, "k") is None
    assert faults(store) == []


def test_a_deleted_item_with_the_same_value_can_be_put_again(store):
    store.put(("a",), "k", {"n": 1})
    store.delete(("a",), "k")
    store.put(("a",), "k", {"n": 1})
    assert store.get(("a",), "k").value == {"n": 1}
    assert keys(store.search(("a",))) == ["k"]


def test_the_undo_of_a_deletion_brings_an_item_back(store):
    store.put(("a",), "k", {"n": 1})
    store.delete(("a",), "k")
    gone = store.memory.audit.deleted(user_id="a")[0]
    store.memory.undo(gone.decision.id, user_id="a")
    assert store.get(("a",), "k").value == {"n": 1}


def test_items_are_never_merged_with_each_other_nor_with_messages(store):
    place, memory = ("users", "bo"), store.memory
    said = "I live in Lisbon."
    for key in ("1", "2"):
        store.put(place, key, {"content": said}, index=["content"])
    memory.add(said, user_id=user_of(place))
    memory.add("I no longer live in Lisbon, I moved to Faro.", user_id=user_of(place))
    memory.evolve(user_id=user_of(place))
    assert [store.get(place, key).value for key in ("1", "2")] == [{"content": said}] * 2
    notes = list(memory.get_all(user_id=user_of(place), kind="item"))
    assert [len(note.sources) for note in notes] == [1, 1]
    assert [note.until for note in notes] == [None, None]
    store.put(place, "3", {"content": "I no longer live in Lisbon, I moved to Faro."}, index=["content"])
    assert store.get(place, "1").value == {"content": said}
    assert faults(store) == []


def test_no_cap_evicts_an_item(told, clock):
    for n in range(6):
        told.put(("a",), str(n), {"content": f"The boat number {n} is red."})
    told.memory.limit(2, user_id="a")
    clock.later(timedelta(days=30))
    told.memory.evict(user_id="a")
    assert len(told.search(("a",))) == 6


def test_a_message_has_no_kind_of_items(memory):
    with pytest.raises(InvalidInput, match="kind 'item' is none of message"):
        memory.add("Hello there, Ana.", user_id="a", kind="item")


# ---- namespaces ---------------------------------------------------------------------------------

ALIKE = [
    ("a",),
    ("ab",),
    ("a", "b"),
    ("a", "b", "c"),
    ("a/b",),
    ("a%2Fb",),
    ("a%252Fb",),
    ("A",),
    ("a", "b "),
    ("a\n",),
]


def test_namespaces_that_look_alike_never_cross(store):
    for n, place in enumerate(ALIKE):
        store.put(place, "k", {"n": n, "text": "the same words everywhere"})
    assert [store.get(place, "k").value["n"] for place in ALIKE] == list(range(len(ALIKE)))
    for place in ALIKE:
        below = {one for one in ALIKE if one[: len(place)] == place}
        assert {item.namespace for item in store.search(place, limit=50)} == below
        assert {item.namespace for item in store.search(place, query="same words", limit=50)} == below
        assert set(store.list_namespaces(prefix=place)) == below
    assert {item.namespace for item in store.search((), limit=50)} == set(ALIKE)
    store.delete(("a",), "k")
    assert store.get(("a", "b"), "k").value["n"] == 2


def test_a_namespace_is_a_user_of_the_tenant(store):
    store.put(("users", "a/b"), "k", {"n": 1})
    assert [user.id for user in store.memory.users()] == ["users/a%2Fb"] == [user_of(("users", "a/b"))]
    assert namespace_of("users/a%2Fb") == ("users", "a/b")


def test_two_tenants_share_nothing(store, embedder):
    from uuid import uuid4

    from memgraph_engine.testing import purge

    store.put(("a",), "k", {"text": "the heron"})
    other = f"test-{uuid4().hex}"
    try:
        with Memory.connect(tenant=other, embedder=embedder) as memory:
            beside = MemgraphStore(memory)
            beside.put(("a",), "mine", {"text": "the heron"})
            assert keys(beside.search((), query="heron")) == ["mine"]
            assert beside.get(("a",), "k") is None
    finally:
        purge(other)
    assert keys(store.search(())) == ["k"]


def test_what_a_user_was_told_otherwise_is_no_item(store):
    store.memory.add("The heron eats fish.", user_id="ana")
    assert store.list_namespaces() == store.search(()) == store.search(("ana",), query="heron") == []
    with pytest.raises(InvalidInput, match="those of stores' items"):
        store.memory.add("The heron eats fish.", user_id="ana", id=source_of("k"))


def test_a_prefix_may_mean_many_namespaces(store):
    for n in range(40):
        store.put(("team", f"{n:02d}"), "k", {"text": f"The colour is {'red' if n % 2 else 'blue'}.", "n": n})
    found = store.search(("team",), query="red", limit=20)
    assert [item.value["n"] % 2 for item in found] == [1] * 20
    assert len(store.search(("team",), limit=100)) == 40
    assert store.list_namespaces(limit=2, offset=3) == [("team", "03"), ("team", "04")]
    assert store.list_namespaces(max_depth=1) == [("team",)]
    assert store.list_namespaces(prefix=("*",), suffix=("07",)) == [("team", "07")]


def test_erasing_a_namespace_leaves_the_others(store):
    memory = store.memory
    for place in (("users", "ana"), ("users", "ana", "old"), ("users", "bo")):
        store.put(place, "k", {"secret": "the code is 4711"}, index=False)
        store.put(place, "k", {"secret": "the code is 4712"})
    plan = memory.forget(user_id="users/ana", everything=True)
    assert memory.erase(plan).residue == 0
    assert store.list_namespaces() == [("users", "ana", "old"), ("users", "bo")]
    store.put(("users", "ana"), "k", {"secret": "none"})
    assert store.get(("users", "ana"), "k").value == {"secret": "none"}
    assert memory.verify_erasure("the code is 4711", user_id="users/ana") == []
    assert faults(store) == []


def test_one_item_is_erased_by_its_id_and_found_by_its_words(store):
    memory = store.memory
    store.put(("a",), "k", {"secret": "the code is 4711"}, index=False)
    store.put(("a",), "l", {"text": "the heron eats fish"})
    assert list(memory.forget(user_id="a", query="code 4711").sources) == [source_of("k")]
    memory.erase(memory.forget(user_id="a", source=source_of("k")))
    assert store.get(("a",), "k") is None
    assert keys(store.search(("a",))) == ["l"]
    store.put(("a",), "k", {"n": 1})
    assert store.get(("a",), "k").value == {"n": 1}


def test_an_export_carries_items(store, tmp_path):
    store.put(("a",), "k", AWKWARD)
    store.put(("a",), "k", {**AWKWARD, "more": 1})
    store.put(("a",), "long", {"content": "The boat was red. " * 200})
    store.memory.export(tmp_path / "a.jsonl", user_id="a")
    store.memory.import_(tmp_path / "a.jsonl", user_id="b/c")
    assert store.get(("b", "c"), "k").value == {**AWKWARD, "more": 1}
    assert set(keys(store.search(("b",)))) == {"k", "long"}
    assert faults(store) == []


# ---- search -------------------------------------------------------------------------------------

DOCS = {
    "1": {"kind": "fruit", "n": 1, "meta": {"lang": "en", "rank": 3}, "tags": ["x"], "on": True},
    "2": {"kind": "fruit", "n": 2.5, "meta": {"lang": "de", "rank": 1}, "tags": ["x", "y"], "on": False},
    "3": {"kind": "boat", "n": "10", "meta": {"lang": "en"}, "a.b": 1, "on": 1},
}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"kind": "fruit"}, "12"),
        ({"kind": {"$ne": "fruit"}}, "3"),
        ({"n": {"$gt": 1}}, "2"),
        ({"n": {"$gte": 1, "$lt": 2.5}}, "1"),
        ({"n": {"$lte": "2"}}, "3"),
        ({"meta": {"lang": "en"}}, "13"),
        ({"meta": {"rank": {"$gt": 1}}}, "1"),
        ({"meta.lang": "de"}, "2"),
        ({"a.b": 1}, "3"),
        ({"tags": ["x", "y"]}, "2"),
        ({"on": True}, "1"),
        ({"on": {"$eq": 1}}, "3"),
        ({"gone": None}, "123"),
        ({"gone": {"$gt": 0}}, ""),
        ({"kind": "fruit", "n": 1}, "1"),
        ({"$or": [{"kind": "boat"}, {"n": 1}]}, "13"),
        ({"$and": [{"kind": "fruit"}, {"meta.lang": "de"}]}, "2"),
        ({"$not": {"kind": "fruit"}}, "3"),
        ({"kind": "fruit", "$or": [{"n": {"$gt": 2}}, {"$not": {"on": True}}]}, "2"),
        ({"meta": {"$or": [{"rank": 1}, {"rank": {"$gte": 3}}]}}, "12"),
        ({"n": {"$not": {"$gt": 1}}}, "13"),
        ({"kind": {"$eq": {"$near": 1}}}, ""),
    ],
)
def test_filters(store, wanted, found):
    store.batch([PutOp(("docs",), key, value) for key, value in DOCS.items()])
    assert "".join(sorted(keys(store.search(("docs",), filter=wanted)))) == found
    assert "".join(sorted(keys(store.search(("docs",), query="a fruit", filter=wanted)))) == found


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ({"n": {"$near": 1}}, r"There is no operator '\$near'; the operators are \$eq, .*\$not"),
        ({"$nor": [{"n": 1}]}, r"There is no operator '\$nor'"),
        ({"meta": {"rank": {"$in": [1]}}}, r"There is no operator '\$in'"),
        ({"tags": [{"$regex": "x"}]}, r"There is no operator '\$regex'"),
        ({"$or": [{"$and": [{"n": {"$near": 1}}]}]}, r"There is no operator '\$near'"),
        ({"$not": {"$where": "1"}}, r"There is no operator '\$where'"),
        ({"$or": {"n": 1}}, r"\$or takes a list of filters, not {'n': 1}"),
        ({"$and": []}, r"\$and takes a list of filters"),
        ({"$or": [5]}, r"\$or takes a list of filters"),
        ({"$not": [{"n": 1}]}, r"\$not takes a filter"),
        ({"n": {5: 1}}, "names are strings"),
    ],
)
def test_an_operator_that_there_is_not_is_refused_whatever_the_store_holds(store, wanted, says):
    with pytest.raises(InvalidInput, match=says):
        store.search(("docs",), filter=wanted)


def test_what_changed_last_is_listed_first(store):
    for key in "abc":
        store.put(("l",), key, {"key": key})
        time.sleep(0.005)
    store.put(("l",), "a", {"key": "a", "again": True})
    assert keys(store.search(("l",))) == ["a", "c", "b"]
    assert keys(store.search(("l",), limit=1, offset=1)) == ["c"]


def test_a_question_finds_by_words_and_meaning_and_pages_do_not_overlap(store):
    for n in range(30):
        store.put(("m",), f"{n}", {"content": f"Boat {n} sails to Faro."})
    store.put(("m",), "tea", {"content": "Ana prefers green tea to coffee."})
    assert keys(store.search(("m",), query="What does Ana drink?", limit=1)) == ["tea"]
    pages = [keys(store.search(("m",), query="Which boat sails?", limit=10, offset=start)) for start in (0, 10, 20)]
    assert len({key for page in pages for key in page}) == 30
    scores = [item.score for item in store.search(("m",), query="Which boat sails?", limit=10)]
    assert scores == sorted(scores, reverse=True)


def test_a_narrow_filter_finds_what_ranks_low(store):
    ops = [PutOp(("m",), f"{n}", {"content": "The boat sails to Faro.", "n": n}) for n in range(300)]
    store.batch([*ops, PutOp(("m",), "x", {"content": "A cat.", "n": 1000})])
    assert keys(store.search(("m",), query="Which boat sails?", filter={"n": {"$gt": 500}}, limit=1)) == ["x"]


def test_what_is_not_indexed_is_no_hit_of_a_search_until_it_is(store):
    for index, found in ((False, []), (None, ["heron"]), (False, [])):
        store.put(("m",), "k", {"bird": "heron"}, index=["bird"] if index is None else False)
        hits = store.memory.search("Which bird is it?", user_id="m")
        assert [hit.note.text for hit in hits] == found
        assert keys(store.search(("m",), query="Which bird is it?")) == ["k"]
    assert faults(store) == []


def test_what_is_not_indexed_comes_last_without_a_score(store):
    store.put(("m",), "hidden", {"content": "The heron eats fish."}, index=False)
    store.put(("m",), "seen", {"content": "The tide turns at noon.", "more": "heron"}, index=["content"])
    found = store.search(("m",), query="heron")
    assert [(item.key, item.score is None) for item in found] == [("seen", False), ("hidden", True)]
    assert keys(store.search(("m",), query="heron", limit=1)) == ["seen"]


def test_a_long_value_is_found_by_its_end(store):
    filler = "The committee met again and nothing was decided about the budget. " * 60
    store.put(("m",), "long", {"content": filler + "The password of the lighthouse is hunter2."})
    store.put(("m",), "short", {"content": "Nothing was decided."})
    assert store.search(("m",), query="What is the password of the lighthouse?")[0].key == "long"
    store.put(("m",), "long", {"content": filler + "The lighthouse was sold."})
    store.put(("m",), "long", {"content": "The lighthouse was sold."})
    assert store.get(("m",), "long").value == {"content": "The lighthouse was sold."}
    assert faults(store) == []


# ---- time to live -------------------------------------------------------------------------------


def test_an_item_ends_when_nobody_read_it_so_long(told, clock):
    told.put(("a",), "k", {"n": 1}, ttl=60)
    told.put(("a",), "stays", {"n": 2})
    clock.later(timedelta(minutes=50))
    assert told.get(("a",), "k").value == {"n": 1}  # and it begins anew
    clock.later(timedelta(minutes=50))
    assert told.get(("a",), "k", refresh_ttl=False).value == {"n": 1}
    clock.later(timedelta(minutes=11))
    assert told.get(("a",), "k") is None
    assert keys(told.search(("a",))) == keys(told.search(("a",), query="n")) == ["stays"]
    assert told.memory.sweep(user_id="a").notes == 1
    assert told.get(("a",), "k") is None
    told.put(("a",), "k", {"n": 3}, ttl=60)
    assert told.get(("a",), "k").value == {"n": 3}
    clock.later(timedelta(minutes=61))
    told.put(("a",), "k", {"n": 4})
    clock.later(timedelta(days=900))
    assert told.get(("a",), "k").value == {"n": 4}
    assert faults(told) == []


def test_a_search_prolongs_what_it_gives(told, clock):
    told.put(("a",), "k", {"text": "the heron"}, ttl=60)
    for _ in range(5):
        clock.later(timedelta(minutes=50))
        assert keys(told.search(("a",), query="heron")) == ["k"]
    clock.later(timedelta(minutes=50))
    assert keys(told.search(("a",), refresh_ttl=False)) == ["k"]
    clock.later(timedelta(minutes=11))
    assert told.search(("a",)) == []


def test_a_store_has_a_time_to_live_of_its_own(tenant, embedder, clock):
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock) as memory:
        store = MemgraphStore(memory, ttl={"default_ttl": 10, "refresh_on_read": False})
        store.put(("a",), "k", {"n": 1})
        store.put(("a",), "for ever", {"n": 1}, ttl=None)
        clock.later(timedelta(minutes=9))
        assert store.get(("a",), "k").value == {"n": 1}
        clock.later(timedelta(minutes=2))
        assert keys(store.search(("a",))) == ["for ever"]


def test_a_value_that_is_put_again_gets_the_new_time_to_live(told, clock):
    told.put(("a",), "k", {"n": 1}, ttl=10)
    told.put(("a",), "k", {"n": 2})
    clock.later(timedelta(days=1))
    assert told.get(("a",), "k").value == {"n": 2}
    told.put(("a",), "k", {"n": 2}, ttl=10)
    clock.later(timedelta(minutes=11))
    assert told.get(("a",), "k") is None


# ---- many at once -------------------------------------------------------------------------------


def test_two_writers_of_one_key_lose_nothing(store, tenant, embedder):
    with Memory.connect(tenant=tenant, embedder=embedder) as memory:
        stores, start = (store, MemgraphStore(memory)), threading.Barrier(2)

        def write(at):
            start.wait()
            for n in range(10):
                stores[at].put(("a",), "k", {"by": at, "n": n})

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(write, range(2)))
    assert store.get(("a",), "k").value["n"] == 9
    versions = store.memory.history(source_of("k"), user_id="a")
    assert len({str(one.note.metadata) for one in versions}) == 20
    assert faults(store) == []


def test_async_calls_do_not_block_the_loop(store):
    async def work():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                await asyncio.sleep(0.001)
                ticks += 1

        ticking = asyncio.create_task(tick())
        await asyncio.gather(*(store.aput(("a",), f"{n}", {"content": f"Boat {n}."}) for n in range(8)))
        found = await store.asearch(("a",), query="boat", limit=20)
        assert (await store.aget(("a",), "3")).value == {"content": "Boat 3."}
        assert await store.alist_namespaces() == [("a",)]
        await store.adelete(("a",), "3")
        ticking.cancel()
        return len(found), ticks

    found, ticks = asyncio.run(work())
    assert found == 8
    assert ticks > 10
    assert store.get(("a",), "3") is None


def test_a_batch_reads_what_was_there_before_it_and_its_last_put_counts(store):
    store.put(("a",), "k", {"n": 1})
    results = store.batch(
        [
            PutOp(("a",), "k", {"n": 2}),
            GetOp(("a",), "k"),
            PutOp(("a",), "k", {"n": 3}),
            PutOp(("b",), "l", None),
            SearchOp(("a",)),
            ListNamespacesOp(),
        ]
    )
    assert results[1].value == results[4][0].value == {"n": 1}
    assert [results[at] for at in (0, 2, 3)] == [None] * 3
    assert results[5] == [("a",)]
    assert store.get(("a",), "k").value == {"n": 3}


WRITING = """
import sys
from memgraph_engine import Memory
from memgraph_engine.integrations.langgraph import MemgraphStore
from langgraph.store.base import PutOp
store = MemgraphStore(Memory.connect(tenant=sys.argv[1]))
n = 0
while True:
    n += 1
    store.batch([PutOp(("a",), f"{n}-{i}", {"n": n, "i": i}) for i in range(5)] + [PutOp(("a",), "one", {"n": n})])
    print(n, flush=True)
"""


def test_what_was_acknowledged_survives_a_kill_and_nothing_is_half_written(store, tenant, root):
    process = subprocess.Popen([sys.executable, "-c", WRITING, tenant], cwd=root, stdout=subprocess.PIPE, text=True)
    with process:
        for _ in range(3):
            done = int(process.stdout.readline())
        time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
    assert all(store.get(("a",), f"{n}-{i}").value == {"n": n, "i": i} for n in range(1, done + 1) for i in range(5))
    assert store.get(("a",), "one").value["n"] >= done
    later = [len([i for i in range(5) if store.get(("a",), f"{n}-{i}")]) for n in range(done + 1, done + 20)]
    assert set(later) <= {0, 5}
    assert faults(store) == []


# ---- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize("namespace", [(), ("a", ""), ("a.b",), ("a\0",), ("a", 1)])
def test_namespaces_that_can_not_be_are_refused_in_a_batch_too(store, namespace):
    for op in (PutOp(namespace, "k", {"n": 1}), GetOp(namespace, "k")):
        with pytest.raises(InvalidNamespaceError):
            store.batch([op])
    with pytest.raises(InvalidNamespaceError):
        store.batch([SearchOp(namespace or ("",))])
    with pytest.raises(InvalidNamespaceError):
        store.batch([ListNamespacesOp((MatchCondition("prefix", namespace or ("",)),))])


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ([1], "a mapping"),
        ({1: 2}, "a mapping"),
        ({"a": {1: 2, "1": 3}}, "names that are not strings"),
        ({"a": float("nan")}, "JSON"),
        ({"a": object()}, "JSON"),
        ({"a": "x" * 1_000_001}, "at most 1,000,000"),
    ],
)
def test_values_that_can_not_be_kept_are_refused_and_nothing_of_the_batch_is_written(store, value, says):
    with pytest.raises(ValueError, match=says):
        store.batch([PutOp(("a",), "good", {"n": 1}), PutOp(("a",), "bad", value)])
    assert store.search(("a",)) == []


def test_a_namespace_that_is_too_long_leaves_nothing_of_its_batch(store):
    with pytest.raises(InvalidInput, match="at most 512"):
        store.batch([PutOp(("a",), "good", {"n": 1}), PutOp(("a" * 600,), "k", {"n": 1})])
    assert store.search(("a",)) == []


@pytest.mark.parametrize(
    ("op", "says"),
    [
        (PutOp(("a",), "k", {"n": 1}, index=[5]), "list of paths"),
        (PutOp(("a",), "k", {"content": "x"}, index="content"), "list of paths"),
        (GetOp(("a",), "\ud800"), "surrogate"),
        (SearchOp(("a",), filter={5: 1}), "filter must be"),
        (SearchOp(("a",), filter="x"), "filter must be"),
        (SearchOp(("a",), offset=-1), "below 0"),
        (ListNamespacesOp(max_depth=0), "1 at least"),
        (ListNamespacesOp(max_depth=-1), "1 at least"),
    ],
)
def test_what_can_not_be_asked_is_told_in_a_sentence(store, op, says):
    with pytest.raises(InvalidInput, match=says):
        store.batch([op])


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), "soon", 1e30])
def test_a_time_to_live_that_can_not_be_is_refused(store, ttl):
    with pytest.raises(InvalidInput, match="ttl"):
        store.put(("a",), "k", {"n": 1}, ttl=ttl)


def test_keys_and_namespaces_that_are_too_long_are_refused(store):
    with pytest.raises(InvalidInput, match="at most 512"):
        store.put(("a",), "k" * 600, {"n": 1})
    with pytest.raises(InvalidInput, match="at most 512"):
        store.put(("a" * 600,), "k", {"n": 1})
    store.put(("日" * 100,), "ключ/é %", {"n": 1})
    assert store.get(("日" * 100,), "ключ/é %").value == {"n": 1}


def test_an_index_with_another_embedder_than_the_memorys_is_refused(memory):
    class Other(HashingEmbedder):
        def __call__(self, texts):
            return self.embed_documents(texts)

    with pytest.raises(InvalidInput, match="but the memory has"):
        MemgraphStore(memory, index={"dims": 8, "embed": Other(8)})


# ---- what the docs say, and a client of LangGraph's ------------------------------------------------


def test_langmems_tools_work_on_it(store):
    langmem = pytest.importorskip("langmem")
    place = ("memories", "ana")
    manage = langmem.create_manage_memory_tool(namespace=place, store=store)
    search = langmem.create_search_memory_tool(namespace=place, store=store, response_format="content_and_artifact")
    said = manage.invoke({"content": "Ana prefers green tea.", "action": "create"})
    (item,) = store.search(place)
    assert item.key in said
    assert item.value == {"content": "Ana prefers green tea."}
    manage.invoke({"content": "Ana prefers black tea.", "action": "update", "id": item.key})
    assert "black tea" in str(search.invoke({"query": "Which tea does Ana like?"}))
    manage.invoke({"action": "delete", "id": item.key})
    assert store.search(place) == []
    assert len(store.memory.audit.deleted(user_id=user_of(place))) == 1


def test_the_core_imports_none_of_it():
    code = "import sys, memgraph_engine; from memgraph_engine import Memory; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"langgraph", "langchain_core"} & {name.partition(".")[0] for name in loaded}
