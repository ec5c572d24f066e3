"""The server over HTTP does what Memory does, for whom a key says so, and tells what is wrong in one sentence."""

import json
import re
import threading
import time
from contextlib import ExitStack, asynccontextmanager, contextmanager
from datetime import timedelta

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from memgraph_engine import Memory, Settings, errors
from memgraph_engine.graph import keys
from memgraph_engine.integrations import access as access_of
from memgraph_engine.integrations.access import Access
from memgraph_engine.integrations.bodies import arguments
from memgraph_engine.integrations.rest import app, service, serving
from memgraph_engine.interface.arguments import deeper
from memgraph_engine.interface.filters import FILTERS, NOTE_FILTERS
from memgraph_engine.model.answer import Prompt
from memgraph_engine.model.item import Put
from memgraph_engine.model.scope import Scope
from memgraph_engine.testing import purge
from memgraph_engine.writing.items import ItemWriter
from tests.clocks import Clock
from tests.keys import bearer, issue
from tests.models import memory_with

ANA = {"user_id": "ana"}
AS_JSON = {"Content-Type": "application/json"}


@contextmanager
def serving_of(memory, *, required=True, ui=False):
    """A client of a server of a memory."""
    made = app(memory, access=Access(memory, required=required), ui=ui)
    with TestClient(made, base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture
def client(memory):
    """A client with a key of the whole tenant."""
    with serving_of(memory) as one:
        one.headers.update(bearer(memory))
        yield one


@pytest.fixture(scope="module")
def empty(kept):
    """A memory without notes, which nothing changes, and a client with a key of its tenant."""
    with ExitStack() as stack:

        def serve(memory):
            one = stack.enter_context(serving_of(memory))
            one.headers.update(bearer(memory))
            clients.append(one)

        clients = []
        yield kept(serve), clients[0]


@pytest.fixture(scope="module")
def asking(empty):
    """The client of the empty memory: what is refused needs no other one."""
    return empty[1]


def refused(response, status, told="", error=None):
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert told in problem["detail"]
    assert error is None or problem["error"] == error
    return problem


def well(response):
    assert response.status_code == 200, response.text
    return response.json()


# ---- what it does -----------------------------------------------------------------------------


def test_what_is_added_is_found(client):
    receipt = well(client.post("/v1/messages", params=ANA, json={"message": "I moved to Lisbon."}))
    found = well(client.post("/v1/search", params=ANA, json={"query": "Where does Ana live?"}))
    assert found["hits"][0]["note"]["id"] == receipt["entries"][0]["note"]
    assert found["among"] == 1


def test_answers_are_what_to_dict_gives(client, memory):
    memory.add({"text": "I moved to Lisbon.", "id": "m1"}, **ANA)
    assert well(client.get("/v1/notes/m1", params=ANA)) == memory.get("m1", **ANA).to_dict()
    assert well(client.get("/v1/sources/m1", params=ANA)) == memory.source("m1", **ANA).to_dict()
    assert well(client.get("/v1/explain/m1", params=ANA)) == memory.explain("m1", **ANA).to_dict()
    assert well(client.get("/v1/history/m1", params=ANA))["versions"] == [
        one.to_dict() for one in memory.history("m1", **ANA)
    ]
    assert well(client.get("/v1/decisions", params=ANA))["decisions"] == [
        one.to_dict() for one in memory.decisions(**ANA)
    ]
    body = {"query": "Where does Ana live?", "budget": 300}
    assert well(client.post("/v1/context", params=ANA, json=body)) == memory.context(**body, **ANA).to_dict()


def test_a_note_is_changed_deleted_and_brought_back(client):
    well(client.post("/v1/messages", params=ANA, json={"message": {"text": "I moved to Lisbon.", "id": "m/1"}}))
    well(client.put("/v1/notes/m%2F1", params=ANA, json={"text": "I moved to Faro."}))
    assert well(client.get("/v1/notes/m/1", params=ANA))["text"] == "I moved to Faro."
    decision = well(client.delete("/v1/notes/m/1", params=ANA))
    refused(client.get("/v1/notes/m/1", params=ANA), 404, error="NotFound")
    well(client.post(f"/v1/decisions/{decision['id']}/undo", params=ANA))
    assert well(client.get("/v1/notes/m/1", params=ANA))["status"] == "active"


def test_many_messages_are_listed_page_by_page(client):
    messages = [{"text": f"Boat {number} is blue.", "id": f"m{number}", "session": "sea"} for number in range(7)]
    well(client.post("/v1/messages/batch", params=ANA, json={"messages": messages, "wait": False}))
    seen, after = [], None
    while True:
        page = well(client.get("/v1/notes", params={**ANA, "limit": 3, **({"after": after} if after else {})}))
        seen += [note["sources"][0]["id"] for note in page["notes"]]
        after = page["next"]
        if after is None:
            break
        well(client.delete(f"/v1/notes/{after}", params=ANA))  # what a page ended with may be gone by then
    assert seen == [f"m{number}" for number in range(7)]


def test_listings_and_deletions_are_narrowed_down(client):
    for session in ("sea", "lake"):
        message = {"text": f"The {session} is calm.", "session": session, "metadata": {"floor": 2}, "tags": ["a", "b"]}
        well(client.post("/v1/messages", params=ANA, json={"message": message}))
    narrow = {**ANA, "session": "sea", "metadata": "floor=2", "tags": ["a", "b"]}
    assert [one["session"] for one in well(client.get("/v1/notes", params=narrow))["notes"]] == ["sea"]
    assert well(client.delete("/v1/notes", params=narrow))["notes"] == 1
    assert [one["session"] for one in well(client.get("/v1/notes", params=ANA))["notes"]] == ["lake"]


def test_everything_is_deleted_only_by_that_word(client, memory):
    memory.add("The boat sails.", **ANA)
    refused(client.delete("/v1/notes", params=ANA), 400, "everything=true")
    refused(client.delete("/v1/notes/", params=ANA), 404)
    assert well(client.delete("/v1/notes", params={**ANA, "everything": True}))["notes"] == 1


def test_an_erasure_is_planned_and_then_confirmed_by_its_id(client, memory):
    memory.add("My code is 4711.", **ANA, session="bank")
    plan = well(client.post("/v1/erasures/plans", params=ANA, json={"query": "code"}))
    assert plan["chosen"][0]["text"] == "My code is 4711."
    refused(client.post("/v1/erasures", params={"user_id": "ben"}, json={"plan": plan["id"]}), 404, "No plan")
    receipt = well(client.post("/v1/erasures", params=ANA, json={"plan": plan["id"]}))
    assert receipt["residue"] == 0
    assert well(client.post("/v1/erasures", params=ANA, json={"plan": plan["id"]})) == receipt
    assert well(client.get("/v1/receipts"))["receipts"] == [receipt]
    assert well(client.post("/v1/receipts/verify"))["faults"] == []


def test_a_plan_that_is_out_of_date_is_refused(client, memory):
    memory.add("My code is 4711.", **ANA)
    plan = well(client.post("/v1/erasures/plans", params=ANA, json={"query": "code"}))
    memory.add("The boat sails.", **ANA)
    refused(client.post("/v1/erasures", params=ANA, json={"plan": plan["id"]}), 409, "out of date", "ErasureRefused")


def test_what_is_held_is_not_erased(client, memory):
    memory.add("My code is 4711.", **ANA)
    hold = well(client.post("/v1/holds", params=ANA, json={"reason": "A dispute."}))
    plan = well(client.post("/v1/erasures/plans", params=ANA, json={"everything": True}))
    refused(client.post("/v1/erasures", params=ANA, json={"plan": plan["id"]}), 409, "is held", "Held")
    assert well(client.get("/v1/holds", params=ANA))["holds"] == [hold]
    well(client.delete(f"/v1/holds/{hold['id']}", params=ANA))
    well(client.post("/v1/erasures", params=ANA, json={"plan": plan["id"]}))


def test_a_profile_is_set_and_told(client):
    well(client.put("/v1/profile", params=ANA, json={"name": "residence", "value": "Lisbon"}))
    assert well(client.get("/v1/profile", params=ANA))["attributes"][0]["value"] == "Lisbon"
    well(client.put("/v1/profile", params=ANA, json={"name": "residence", "value": None}))


def test_the_rest_of_memory_is_there_too(client, memory):
    memory.add({"text": "The heron eats fish.", "id": "m1", "session": "lake"}, **ANA)
    assert well(client.post("/v1/consolidate", params=ANA))["notes"] == 1
    assert well(client.post("/v1/evolve", params=ANA))["notes"] == 1
    assert well(client.post("/v1/evict", params=ANA, json={"dry_run": True}))["notes"] == 0
    assert well(client.post("/v1/topics/rebuild", params=ANA))["scope"].endswith("/ana")
    assert well(client.get("/v1/topic-runs", params=ANA))["runs"][0]["topics"] == 0
    assert well(client.post("/v1/blocks/rebuild", params=ANA))["blocks"] == 1
    assert well(client.get("/v1/block-runs", params=ANA))["runs"][0]["blocks"] == 1
    assert len(well(client.get("/v1/block-tree", params=ANA))["blocks"]) == 1
    assert well(client.post("/v1/anchors", params=ANA, json={"query": "heron"}))["anchors"][0]["keyword"] == "heron"
    assert well(client.get("/v1/verify", params=ANA))["faults"] == []
    assert well(client.post("/v1/sweep", params=ANA))["notes"] == 0
    assert well(client.post("/v1/apply-policies", params=ANA, json={"dry_run": True}))["classes"] == {}
    assert well(client.post("/v1/prompt", params=ANA, json={"query": "What eats the heron?"}))["messages"]
    shown = {"query": "What does the heron eat?", "shown": ["m1"], "answer": "It eats fish."}
    assert well(client.post("/v1/reflect", params=ANA, json=shown))["notes"][0]["outcome"] == "used"
    assert len(well(client.post("/v1/blocks", params=ANA, json={"query": "heron"}))["blocks"]) == 1
    block = well(client.get("/v1/outline", params=ANA))["blocks"][0]
    assert well(client.get(f"/v1/blocks/{block['id']}", params=ANA))["id"] == block["id"]
    assert well(client.post("/v1/claims", params=ANA, json={}))["claims"] == []
    assert well(client.get("/v1/topics", params=ANA))["topics"] == []
    assert well(client.get("/v1/topic-ties", params=ANA))["ties"] == []
    assert well(client.get("/v1/sessions", params=ANA))["sessions"][0]["id"] == "lake"
    assert well(client.get("/v1/stats", params=ANA))["sources"] == 1
    assert well(client.get("/v1/cost", params=ANA))["days"] == []
    assert well(client.get("/v1/users"))["users"] == [{"id": "ana", "notes": 1}]
    assert well(client.get("/v1/health"))["ok"]
    assert well(client.post("/v1/process", params=ANA, json={}))["entries"] == []
    well(client.put("/v1/pins/m1", params=ANA))
    well(client.delete("/v1/pins/m1", params=ANA))
    well(client.put("/v1/policies/m1", params=ANA, json={"policy": "ephemeral"}))
    refused(client.post("/v1/restore/m1", params=ANA), 400)
    refused(client.post("/v1/end-session/lake", params=ANA), 404)
    refused(client.post("/v1/untie", params=ANA, json={"id": "m1", "other": "m2"}), 404)
    for path in ("topics", "blocks", "claims"):
        refused(client.get(f"/v1/{path}/none", params=ANA), 404, error="NotFound")


def test_each_operation_has_the_name_of_the_method_that_it_calls(asking):
    spec = asking.app.openapi()
    named = [one["operationId"] for operations in spec["paths"].values() for one in operations.values()]
    assert len(named) == len({*named})
    assert {*named} - {"live", "ready", "metrics"} <= set(dir(Memory))


def test_each_filter_is_a_field_or_a_parameter():
    assert tuple(arguments("get_all", in_body=False)) == ("after", *NOTE_FILTERS)
    assert tuple(arguments("search"))[-len(FILTERS) :] == FILTERS


# ---- streams ----------------------------------------------------------------------------------


def events(response):
    for block in response.text.strip().split("\n\n"):
        name, data = re.fullmatch(r"event: (\w+)\ndata: (.*)", block).groups()
        yield name, json.loads(data)


def test_an_answer_comes_in_pieces_and_then_whole(tenant, embedder):
    answering = memory_with(tenant, embedder, ["In Lisbon [1]."], only=["answering"])
    with answering as (memory, _), serving_of(memory) as client:
        memory.add({"text": "I moved to Lisbon.", "speaker": "Ana"}, **ANA)
        told = client.post("/v1/answer/stream", headers=bearer(memory, "ana"), json={"query": "Where does Ana live?"})
        assert told.headers["content-type"].startswith("text/event-stream")
        *pieces, (last, whole) = events(told)
        assert {name for name, _ in pieces} == {"piece"}
        assert "".join(piece["text"] for _, piece in pieces) == whole["text"] == "In Lisbon [1]."
        assert last == "answer"


def test_without_a_model_an_answer_is_its_context(client, memory):
    memory.add({"text": "I moved to Lisbon.", "speaker": "Ana"}, **ANA)
    body = {"query": "Where does Ana live?"}
    ((name, whole),) = events(client.post("/v1/answer/stream", params=ANA, json=body))
    assert (name, whole["text"]) == ("answer", None)
    assert well(client.post("/v1/answer", params=ANA, json=body)) == whole


def test_what_is_wrong_with_a_stream_is_told_before_it_begins(asking):
    refused(asking.post("/v1/answer/stream", params=ANA, json={"query": ""}), 400, error="InvalidInput")


def test_what_goes_wrong_in_a_stream_is_its_last_event(asking, monkeypatch):
    def broken(*_args, **_options):
        yield "In Lis"
        raise errors.Unreachable("No server answers at bolt://10.1.2.3.")

    monkeypatch.setattr(Memory, "answer_stream", broken)
    told = asking.post("/v1/answer/stream", params=ANA, json={"query": "Where?"})
    assert "10.1.2.3" not in told.text
    (first, _), (last, problem) = events(told)
    assert (first, last, problem["status"], problem["error"]) == ("piece", "problem", 503, "Unreachable")


# ---- who may ask ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer mge_wrong"},
        {"Authorization": "Bearer "},
        {"Authorization": "Basic YTpi"},
        {"X-API-Key": "mge_" + "A" * 43},
    ],
)
def test_without_a_key_that_opens_something_nothing_is_told(empty, headers):
    with serving_of(empty[0]) as client:
        for path in ("/v1/notes", "/v1/nothing", "/metrics", "/v1/users"):
            answer = client.get(path, params=ANA, headers=headers)
            assert refused(answer, 401, error="KeyRefused")
            assert answer.headers["www-authenticate"] == "Bearer"
        refused(client.post("/v1/search", headers=headers, json={"query": 1}), 401)


def test_a_key_comes_in_either_header(memory):
    made = issue(memory, "ana")
    with serving_of(memory) as client:
        for headers in ({"X-API-Key": made.secret}, {"Authorization": f"bearer {made.secret}"}):
            assert well(client.get("/v1/notes", headers=headers))["notes"] == []


def test_a_revoked_key_is_refused_within_seconds(memory, tenant, monkeypatch):
    monkeypatch.setattr(access_of, "SECONDS", 0.05)
    made = issue(memory, "ana")
    with serving_of(memory) as client:
        well(client.get("/v1/notes", headers={"X-API-Key": made.secret}))
        keys.revoke(memory.engine.db, tenant, made.key.id, memory.engine.now())
        time.sleep(0.1)
        refused(client.get("/v1/notes", headers={"X-API-Key": made.secret}), 401, "was revoked")


def test_a_key_is_refused_from_its_end_on_also_while_it_is_remembered(tenant, embedder):
    clock = Clock()
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock) as memory, serving_of(memory) as client:
        mine = bearer(memory, "ana", expires_at=clock.now + timedelta(hours=1))
        well(client.get("/v1/notes", headers=mine))
        clock.later(timedelta(hours=1))
        refused(client.get("/v1/notes", headers=mine), 401)


def test_a_key_of_a_user_means_that_users_memory(memory):
    memory.add("I moved to Lisbon.", **ANA)
    with serving_of(memory) as client:
        mine = bearer(memory, "ana")
        for params in ({}, ANA):
            assert len(well(client.get("/v1/notes", headers=mine, params=params))["notes"]) == 1


def test_another_user_is_refused_whether_there_is_one_or_not(memory):
    memory.add("The boat sails.", user_id="ben")
    with serving_of(memory) as client:
        mine = bearer(memory, "ana")
        there, not_there = (
            refused(client.get("/v1/notes", headers=mine, params={"user_id": user}), 403, error="NotAllowed")
            for user in ("ben", "nobody")
        )
        assert there == not_there


def test_ids_of_another_user_are_as_if_they_were_not(memory):
    entry = memory.add({"text": "The boat sails.", "id": "m1", "session": "sea"}, user_id="ben").entries[0]
    hold = memory.hold("A dispute.", user_id="ben")
    with serving_of(memory) as client:
        mine = bearer(memory, "ana")

        def told(id_, decision, of_hold):
            asked = [
                client.get(f"/v1/{what}/{id_}", headers=mine) for what in ("notes", "sources", "history", "explain")
            ]
            asked += [
                client.put(f"/v1/notes/{id_}", headers=mine, json={"text": "x"}),
                client.delete(f"/v1/notes/{id_}", headers=mine),
                client.put(f"/v1/pins/{id_}", headers=mine),
                client.post(f"/v1/decisions/{decision}/undo", headers=mine),
                client.delete(f"/v1/holds/{of_hold}", headers=mine),
                client.get("/v1/notes", headers=mine, params={"after": id_}),
            ]
            names = (id_, decision, of_hold)
            return [re.sub("|".join(names), "X", refused(one, 404)["detail"]) for one in asked]

        assert told(entry.note, entry.decision, hold.id) == told("0" * 32, "1" * 32, "2" * 32)
    assert memory.get("m1", user_id="ben").status == "active"


def test_tenants_never_see_each_other(memory, tenant):
    other = f"{tenant}-other"
    try:
        with serving_of(memory) as client:
            mine, theirs = bearer(memory), bearer(memory, tenant=other)
            added = client.post("/v1/messages", params=ANA, headers=mine, json={"message": "I moved to Lisbon."})
            note = well(added)["entries"][0]["note"]
            question = {"query": "Where does Ana live?"}
            assert well(client.post("/v1/search", params=ANA, headers=theirs, json=question))["hits"] == []
            refused(client.get(f"/v1/notes/{note}", params=ANA, headers=theirs), 404)
            assert well(client.get("/v1/users", headers=theirs))["users"] == []
            well(client.post("/v1/messages", params=ANA, headers=theirs, json={"message": "I moved to Faro."}))
            assert well(client.get("/v1/stats", params=ANA, headers=mine))["sources"] == 1
            assert well(client.get(f"/v1/notes/{note}", params=ANA, headers=mine))["text"] == "I moved to Lisbon."
    finally:
        purge(other)


@pytest.mark.parametrize(
    ("rights", "read", "write", "forget"),
    [(["read"], 200, 403, 403), (["write"], 403, 200, 403), (["forget"], 403, 403, 200)],
)
def test_a_key_gives_its_rights_and_no_other(memory, rights, read, write, forget):
    memory.add("The boat sails.", **ANA)
    with serving_of(memory) as client:
        mine = bearer(memory, "ana", rights)
        codes = (
            client.post("/v1/search", headers=mine, json={"query": "boat"}).status_code,
            client.post("/v1/messages", headers=mine, json={"message": "The buoy is green."}).status_code,
            client.post("/v1/erasures/plans", headers=mine, json={"query": "boat"}).status_code,
        )
        assert codes == (read, write, forget)


def test_a_key_of_a_user_reads_the_shared_memory_and_does_not_change_it(memory):
    memory.add({"text": "The harbour is open.", "id": "h"}, shared=True)
    with serving_of(memory) as client:
        mine, shared = bearer(memory, "ana"), {"shared": True}
        assert len(well(client.get("/v1/notes", headers=mine, params=shared))["notes"]) == 1
        refused(client.delete("/v1/notes/h", headers=mine, params=shared), 403, "whole tenant")
        refused(client.post("/v1/erasures/plans", headers=mine, params=shared, json={"everything": True}), 403)
        refused(client.delete("/v1/notes/h", headers=mine), 404)
        for path in ("users", "health", "receipts"):
            refused(client.get(f"/v1/{path}", headers=mine), 403, "whole tenant")


def test_with_a_key_of_a_tenant_one_says_whose_memory_is_meant(asking):
    refused(asking.get("/v1/notes"), 400, "user_id is required")
    refused(asking.get("/v1/notes", params={**ANA, "shared": True}), 400, "leave user_id out")


def test_when_everything_of_a_user_is_erased_the_users_key_opens_nothing(memory, monkeypatch):
    monkeypatch.setattr(access_of, "SECONDS", 0.0)
    memory.add("The boat sails.", **ANA)
    with serving_of(memory) as client:
        mine = bearer(memory, "ana")
        plan = well(client.post("/v1/erasures/plans", headers=mine, json={"everything": True}))
        well(client.post("/v1/erasures", headers=mine, json={"plan": plan["id"]}))
        refused(client.get("/v1/notes", headers=mine), 401)


# ---- a machine of one's own -------------------------------------------------------------------


@pytest.fixture
def none_yet(monkeypatch):
    """Let the database have no key: other tests of the run make some."""
    there = []
    monkeypatch.setattr(keys, "some", lambda _db, *, ended=False: bool(there))
    return there


def test_on_a_machine_of_ones_own_no_key_is_asked_for_until_there_is_one(memory, none_yet, monkeypatch):
    monkeypatch.setattr(access_of, "SECONDS", 0.0)
    with serving_of(memory, required=False) as client:
        well(client.post("/v1/messages", params=ANA, json={"message": "I moved to Lisbon."}))
        refused(client.get("/v1/notes", params=ANA, headers={"X-API-Key": "mge_wrong"}), 401)
        none_yet.append("key")
        refused(client.get("/v1/notes", params=ANA), 401, "A key is needed")
        none_yet.clear()
        refused(client.get("/v1/notes", params=ANA), 401)  # what was closed stays closed


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "memory.example"},
        {"Origin": "https://memory.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:3000"},
        {"Origin": "http://["},
        {"Origin": "//127.0.0.1"},
        {"Host": "127.0.0.1.example:8080"},
    ],
)
def test_without_keys_no_page_in_a_browser_can_ask(empty, none_yet, headers):
    with serving_of(empty[0], required=False) as client:
        refused(client.get("/v1/notes", params=ANA, headers=headers), 403, "a name of this machine")


def test_beyond_the_machine_nothing_is_served_without_a_key(empty, none_yet):
    memory, _ = empty
    with pytest.raises(errors.SettingsError, match="needs a key, and there is none"):
        serving.admitted(memory, alone=False)
    assert not serving.admitted(memory, alone=True).required
    none_yet.append("key")
    assert serving.admitted(memory, alone=False).required
    assert serving.admitted(memory, alone=True).required


def test_a_key_can_be_asked_for_in_any_case(tenant, embedder, none_yet):
    settings = Settings.load(tenant=tenant, serve={"keys": "always"})
    with Memory.connect(embedder=embedder, settings=settings) as memory:
        assert serving.admitted(memory, alone=True).required


# ---- what is wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": 7}, "query"),
        ({"query": "x", "colour": "red"}, "There is no field 'colour'"),
        ({"query": "x", "top_k": "7"}, "top_k"),
        ({"query": "x", "top_k": True}, "top_k"),
        ({"query": "x", "top_k": 1001}, "top_k"),
        ({"query": "x", "rounds": 4}, "rounds"),
        ({"query": "x", "since": "soon"}, "since"),
        ({"query": "x", "tags": "home"}, "tags"),
        ({"query": "x", "min_similarity": 2}, "min_similarity"),
        ({"query": "x", "kind": "poem"}, "kind"),
        ({"query": "a\0b"}, "query"),
        (["query"], "body"),
        (None, "body"),
    ],
)
def test_a_question_that_can_not_be_asked_is_told_in_a_sentence(asking, body, told):
    refused(asking.post("/v1/search", params=ANA, json=body), 400, told, "InvalidInput")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b'{"query": ', "no JSON"),
        (b"\xff\xfe", "body"),
        (b'{"query": "\\ud800"}', "query"),
        (b'{"query": "x", "min_similarity": NaN}', "min_similarity"),
    ],
)
def test_a_body_that_can_not_be_read_is_told_in_a_sentence(asking, text, told):
    headers = {"Content-Type": "application/json"}
    refused(asking.post("/v1/search", params=ANA, content=text, headers=headers), 400, told)


def test_parameters_that_there_are_not_are_told(asking):
    problem = refused(asking.get("/v1/notes", params={**ANA, "sesion": "sea"}), 400, "no parameter 'sesion'")
    assert "session" in problem["detail"]
    refused(asking.post("/v1/search", params={**ANA, "session": "sea"}, json={"query": "x"}), 400, "'session'")
    refused(asking.get("/v1/users", params=ANA), 400, "'user_id'")
    refused(asking.get("/v1/notes", params={**ANA, "limit": 0}), 400, "limit")
    refused(asking.get("/v1/notes", params={**ANA, "metadata": "floor"}), 400, "KEY=VALUE")


@pytest.mark.parametrize("path", ["/v1/notes?user_id=jos%E9", "/v1/notes/%FF?user_id=ana"])
def test_an_address_is_utf_8(asking, path):
    refused(asking.get(path), 400, "UTF-8")


def test_whose_memory_is_said_once(asking):
    told = asking.get("/v1/notes?user_id=ana&user_id=ben")
    assert (told.status_code, "once" in told.json()["detail"]) == (400, True)


def test_what_is_open_to_all_reads_no_body(asking, monkeypatch):
    monkeypatch.setattr("memgraph_engine.integrations.rest.gate.deeper", lambda *_: pytest.fail("it was read"))
    assert (
        asking.post("/health/live", content=b"[" * 1000, headers={"Content-Type": "application/json"}).status_code
        == 405
    )


def test_paths_and_methods_that_there_are_not_are_told(asking):
    refused(asking.get("/v1/nothing"), 404, "no such path")
    wrong = asking.put("/v1/search", params=ANA)
    refused(wrong, 405)
    assert wrong.headers["allow"] == "POST"


def test_a_body_that_is_not_json_is_refused(asking):
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        refused(asking.post("/v1/search", params=ANA, content=b"{}", headers={"Content-Type": kind}), 415, "JSON")


def test_a_large_body_is_refused_whether_it_tells_its_size_or_not(asking):
    def pieces():
        for _ in range(100):
            yield b"x" * 1_000_000

    headers = {"Content-Type": "application/json"}
    for content in (b"x" * 5_000_000, pieces()):
        refused(asking.post("/v1/search", params=ANA, content=content, headers=headers), 413, "4,000,000 bytes")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_json_is_utf_8(asking, encoding):
    told = asking.post("/v1/search", content='{"query": "Where?"}'.encode(encoding), headers=AS_JSON, params=ANA)
    refused(told, 400, "UTF-8")


def test_a_body_of_two_lengths_is_refused(asking):
    headers = {**AS_JSON, "Content-Length": "22", "Transfer-Encoding": "chunked"}
    told = asking.post("/v1/search", content=b'{"query": "Where?"}', headers=headers, params=ANA)
    refused(told, 400, "send one of them")


def test_counts_are_told_to_the_servers_own_tenant(memory):
    other = f"{memory.engine.settings.tenant}-other"
    try:
        with serving_of(memory) as client:
            refused(client.get("/metrics", headers=bearer(memory, tenant=other)), 403, "the server's own tenant")
            assert client.get("/metrics", headers=bearer(memory)).status_code == 200
    finally:
        purge(other)


def test_an_item_is_changed_by_its_store_alone(client, memory):
    scope = Scope(memory.engine.settings.tenant, "ana")
    ItemWriter(memory.engine).put(scope, [Put("k", '{"n": 1}', ("The boat is red.",))])
    refused(client.post("/v1/messages", params=ANA, json={"message": {"text": "x", "id": "item:q"}}), 400, "stores")
    refused(client.put("/v1/notes/item:k", params=ANA, json={"text": "The boat is blue."}), 400, "by its key")


def test_a_form_is_small(empty):
    with serving_of(empty[0], ui=True) as client:
        told = client.post("/ui/login", content=b"key=" + b"x" * 70_000)
        assert told.status_code == 413


def test_it_may_be_mounted_in_another_app(memory):
    made = app(memory, access=Access(memory, required=True), ui=True)

    @asynccontextmanager
    async def life(_app):
        async with made.router.lifespan_context(made):
            yield

    with TestClient(Starlette(routes=[Mount("/uimem", made)], lifespan=life)) as client:
        assert client.get("/uimem/health/live").status_code == 200
        assert client.get("/uimem/v1/notes").status_code == 401
        assert client.get("/uimem/v1/notes", headers=bearer(memory, "ana")).json() == {"notes": [], "next": None}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        told = client.post("/uimem/mcp", json=call, headers={**bearer(memory, "ana"), "accept": "application/json"})
        assert told.status_code == 200


def test_deep_json_is_refused(asking):
    for deep in ('{"a":' * 100_000, "[" * 1000 + "]" * 1000, '{"query": ' + "[" * 40 + "]" * 40 + "}"):
        headers = {"Content-Type": "application/json"}
        refused(asking.post("/v1/search", params=ANA, content=deep, headers=headers), 400, "32 levels")


def test_brackets_in_strings_are_no_levels():
    assert not deeper(json.dumps({"text": "[" * 500 + '\\"' + "{" * 500}).encode(), 2)
    began = time.perf_counter()
    assert not deeper(b'["' + b'\\"' * 1_000_000 + b"[" * 100 + b"\\", 32)  # a string that never ends
    assert time.perf_counter() - began < 2


def test_what_fails_tells_nothing_of_the_server(asking, monkeypatch, caplog):
    def broken(*_args, **_options):
        raise errors.QueryFailed("Neo.X", "bolt://10.1.2.3 refused 'secret words'")

    monkeypatch.setattr(Memory, "stats", broken)
    problem = refused(asking.get("/v1/stats", params=ANA), 500, "The server refused a statement.", "QueryFailed")
    assert "secret" not in str(problem)
    assert "10.1.2.3" in caplog.text


def test_what_nobody_expected_is_a_problem_without_a_trace(memory, monkeypatch):
    def broken(*_args, **_options):
        raise RuntimeError("secret words")

    monkeypatch.setattr(Memory, "stats", broken)
    served = app(memory, access=Access(memory, required=True))
    with TestClient(served, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        answer = client.get("/v1/stats", params=ANA, headers=bearer(memory))
        refused(answer, 500, "its log tells why")
        assert "secret" not in answer.text


# ---- limits -----------------------------------------------------------------------------------


@pytest.fixture
def slow(tenant, embedder, monkeypatch):
    """A server of one place, whose `stats` waits until it is let go."""
    go = threading.Event()
    serve = {"concurrency": 1, "patience": 0.2, "timeout": 1.0}
    with Memory.connect(embedder=embedder, settings=Settings.load(tenant=tenant, serve=serve)) as memory:
        real = Memory.stats
        monkeypatch.setattr(Memory, "stats", lambda *args, **options: go.wait(20) and real(*args, **options))
        with serving_of(memory) as client:
            client.headers.update(bearer(memory))
            try:
                yield client, go
            finally:
                go.set()


def test_a_request_that_takes_too_long_is_given_up_on_and_keeps_its_place_until_it_ends(slow):
    client, go = slow
    refused(client.get("/v1/stats", params=ANA), 504, "longer than 1 seconds")
    busy = client.get("/v1/sessions", params=ANA)
    refused(busy, 503, "busy")
    assert int(busy.headers["retry-after"]) >= 1
    go.set()
    while (again := client.get("/v1/sessions", params=ANA)).status_code == 503:  # its place is free when it has ended
        pass
    well(again)


def test_a_database_that_is_gone_is_503_and_comes_back_by_itself(client, memory, monkeypatch):
    monkeypatch.setattr(service, "_KEPT", 0)  # what was seen of the database is told again for a second, else

    def gone(*_args, **_options):
        raise errors.Unreachable("No Neo4j answers at bolt://10.1.2.3.")

    with monkeypatch.context() as patch:
        patch.setattr(type(memory.engine.db), "run", gone)
        answer = client.get("/v1/sessions", params=ANA)
        problem = refused(answer, 503, error="Unreachable")
        assert "10.1.2.3" not in problem["detail"]
        assert answer.headers["retry-after"]
        assert client.get("/health/ready").status_code == 503
        assert client.get("/health/live").status_code == 200
    well(client.get("/v1/sessions", params=ANA))
    assert well(client.get("/health/ready")) == {"ok": True}


# ---- for whoever runs it ----------------------------------------------------------------------


def test_what_is_counted_names_routes_and_nobody(client):
    well(client.post("/v1/messages", params=ANA, json={"message": {"text": "My code is 4711.", "id": "m1"}}))
    well(client.get("/v1/notes/m1", params=ANA))
    refused(client.get("/v1/notes/m2", params=ANA), 404)
    refused(client.get("/v1/nothing", params=ANA), 404)
    refused(client.get("/v1/notes", headers={"Authorization": "Bearer x"}), 401)
    page = client.get("/metrics")
    assert page.headers["content-type"].startswith("text/plain")
    counts = dict(re.findall(r"^memgraph_engine_requests_total\{(.*)\} (.*)$", page.text, re.MULTILINE))
    assert counts['method="GET",route="/v1/notes/{id}",status="200"'] == "1.0"
    assert counts['method="GET",route="/v1/notes/{id}",status="404"'] == "1.0"
    assert counts['method="GET",route="none",status="404"'] == "1.0"
    assert counts['method="GET",route="none",status="401"'] == "1.0"
    assert "memgraph_engine_requests_in_flight 1.0" in page.text
    assert not re.search("ana|m1|m2|4711|nothing", page.text)


def test_the_document_tells_every_error_as_a_problem(asking):
    spec = well(asking.get("/openapi.json", headers={"Authorization": ""}))
    assert "HTTPValidationError" not in spec["components"]["schemas"]
    for path, operations in spec["paths"].items():
        for operation in operations.values():
            assert operation["description"]
            assert "422" not in operation["responses"]
            assert {"400", "401", "403", "404", "413", "500", "503", "504"} <= operation["responses"].keys()
            assert ("security" in operation) != (path in ("/health/live", "/health/ready"))
    for one in spec["components"]["responses"].values():
        assert list(one["content"]) == ["application/problem+json"]
    named = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(spec)))
    assert named <= spec["components"]["schemas"].keys()
    assert {"Message", "Note", "Problem"} <= named
    assert set(spec["components"]["schemas"]["Prompt"]["properties"]) == set(Prompt.__dataclass_fields__)


def test_its_pages_load_nothing_from_elsewhere(asking):
    for path in ("/docs", "/redoc"):
        refused(asking.get(path), 404)
