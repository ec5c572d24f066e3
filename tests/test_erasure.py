"""What is erased is gone from the graph, what stays is whole, and a receipt tells of it."""

import json
import pkgutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from uuid import uuid4

import neo4j
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings, strategies as st

from memgraph_engine import Memory, Settings
from memgraph_engine.errors import ErasureRefused, Held, InvalidInput, NotFound, StoreError, UndoRefused
from memgraph_engine.graph import erasures, scopes, topics, writes
from memgraph_engine.graph.database import Database
from memgraph_engine.graph.scopes import purge_tenant
from memgraph_engine.llm.roles import Roles
from memgraph_engine.settings import AuditSettings
from memgraph_engine.worker.work import Worker
from tests.models import ROLES, Teller
from tests.snapshots import of_scope
from tests.test_undo import LINES, take

SECRET = "The code of the vault is amaranth tulip seven."
FERRY = "The ferry to Madeira leaves at noon."
AGAIN = "The ferry to Madeira leaves at noon!!"


def rows(memory, query, **given):
    with memory.engine.db._session() as session:
        return session.run(query, **given).data()


def everything_told(memory, user="ana"):
    """Every property of every node and tie of a scope, as one text; hashes and vectors left out."""
    scope = f"{memory.engine.settings.tenant}/{user}"
    nodes = rows(memory, f"{of_scope()} RETURN labels(n) AS kind, properties(n) AS given", scope=scope)
    ties = rows(memory, f"{of_scope()} MATCH (n)-[r]->() RETURN type(r) AS kind, properties(r) AS given", scope=scope)
    return json.dumps(
        [
            (one["kind"], {name: value for name, value in one["given"].items() if not name.endswith("embedding")})
            for one in (*nodes, *ties)
        ],
        default=str,
    ).casefold()


def nodes(memory, user="ana"):
    """All nodes and ties of a scope, node by node."""
    scope = f"{memory.engine.settings.tenant}/{user}"
    found = rows(memory, f"{of_scope()} RETURN labels(n) AS kind, properties(n) AS given", scope=scope)
    ties = rows(
        memory,
        f"{of_scope()} MATCH (n)-[r]->(o) RETURN type(r) AS kind, properties(r) AS given, "
        "coalesce(n.id, n.name) AS a, coalesce(o.id, o.name) AS b",
        scope=scope,
    )
    return Counter(json.dumps(one, default=str, sort_keys=True) for one in (*found, *ties))


def scope_of(memory):
    return f"{memory.engine.settings.tenant}/ana"


def twin(memory, **more):
    """A memory of another tenant on the same engine."""
    given = memory.engine.settings.model_copy(update={"tenant": f"test-{uuid4().hex}", **more})
    return Memory(replace(memory.engine, settings=given))


@pytest.fixture(scope="module")
def standing(kept):
    """A memory of which erasures are only planned."""
    ends = {"policy": "ephemeral", "expires": "2999-01-01"}
    said = [
        {"id": "a", "text": SECRET, "session": "bank", "time": "2023-05-08", **ends},
        {"id": "b", "text": LINES[0], "session": "sea", "time": "2024-05-08"},
    ]

    def fill(memory):
        memory.add_many(said, user_id="ana")
        memory.add({"id": "c1", "text": SECRET}, user_id="ben")

    return kept(fill)


def test_an_erased_session_is_gone_from_every_property(memory):
    memory.add_many(
        [
            {"id": "a", "text": SECRET, "session": "bank", "speaker": "Ana"},
            {"id": "b", "text": "The ferry to Madeira leaves at noon.", "session": "sea", "speaker": "Ana"},
        ],
        user_id="ana",
    )
    memory.update("a", "The code of the vault is amaranth orchid eight.", user_id="ana")
    memory.rebuild_topics(user_id="ana")
    plan = memory.forget(user_id="ana", session="bank")
    assert plan.sources == ("a",)
    assert plan.notes == 1
    receipt = memory.erase(plan)
    told = everything_told(memory)
    assert not [word for word in ("amaranth", "tulip", "orchid", "vault") if word in told]
    assert "madeira" in told
    assert receipt.residue == 0
    assert receipt.probes > 0
    assert receipt.counts == {"sources": 1, "notes": 1, "remade": 0}
    assert memory.verify(user_id="ana") == []
    assert memory.receipts() == [receipt]
    assert memory.verify_erasure(SECRET, user_id="ana") == []


def test_the_turn_after_an_erased_one_quotes_it_no_more_in_any_version(memory):
    talk = [
        {"id": str(n), "text": text, "session": "s", "speaker": "Ana"}
        for n, text in enumerate(["Lisbon has yellow trams.", SECRET, "Our beekeeper sold two hives."])
    ]
    memory.add_many(talk, user_id="ana")
    note = memory.get("2", user_id="ana")
    assert "amaranth" in note.context
    receipt = memory.erase(memory.forget(user_id="ana", source="1"))
    after = memory.get("2", user_id="ana")
    assert (after.id, after.raw) == (note.id, note.raw)
    assert "yellow trams" in after.context
    assert receipt.counts["remade"] == 1
    assert receipt.residue == 0
    assert "amaranth" not in everything_told(memory)
    assert memory.verify(user_id="ana") == []
    assert memory.render(user_id="ana") == 0


def test_a_merged_note_keeps_what_its_other_sources_say(memory):
    memory.add_many([{"id": "a", "text": FERRY, "session": "x", "speaker": "Ana"}], user_id="ana")
    memory.add_many([{"id": "b", "text": AGAIN, "session": "y", "speaker": "Ana"}], user_id="ana")
    merged = memory.get("b", user_id="ana")
    assert merged.id == memory.get("a", user_id="ana").id
    memory.erase(memory.forget(user_id="ana", session="x"))
    after = memory.get("b", user_id="ana")
    assert [one.id for one in after.sources] == ["b"]
    assert after.raw == (f"Ana: {AGAIN}",)
    assert after.session == "y"
    assert memory.search("When does the ferry leave?", user_id="ana")[0].note.id == after.id
    assert memory.verify(user_id="ana") == []


def test_what_tells_of_an_erased_source_cannot_be_undone(memory):
    memory.add({"id": "a", "text": SECRET}, user_id="ana")
    deleted = memory.delete("a", user_id="ana")
    memory.erase(memory.forget(user_id="ana", source="a"))
    with pytest.raises(UndoRefused, match="erased"):
        memory.undo(deleted.id, user_id="ana")
    with pytest.raises(UndoRefused, match="erased"):
        memory.undo(memory.decisions(user_id="ana")[0].id, user_id="ana", cascade=True)


def test_a_plan_that_is_out_of_date_is_refused(memory):
    memory.add({"id": "a", "text": SECRET}, user_id="ana")
    plan = memory.forget(user_id="ana", source="a")
    memory.add("Lisbon has yellow trams.", user_id="ana")
    before = nodes(memory)
    with pytest.raises(ErasureRefused, match="out of date"):
        memory.erase(plan)
    assert nodes(memory) == before


def test_what_is_held_is_not_erased(memory):
    memory.add_many([{"id": "a", "text": SECRET, "session": "bank"}, LINES[0]], user_id="ana")
    for held in ({}, {"session": "bank"}, {"source": "a"}):
        hold = memory.hold("A court asked for it.", user_id="ana", **held)
        plan = memory.forget(user_id="ana", session="bank")
        assert plan.held == (hold,)
        with pytest.raises(Held, match=rf"{hold.id} \(A court asked for it.\)"):
            memory.erase(plan)
        assert memory.get("a", user_id="ana").raw == (SECRET,)
        memory.release(hold.id, user_id="ana")
    assert memory.erase(memory.forget(user_id="ana", session="bank")).residue == 0


def test_a_hold_on_another_session_refuses_nothing(memory):
    memory.add_many(
        [{"id": "a", "text": SECRET, "session": "bank"}, {"text": LINES[0], "session": "sea"}], user_id="ana"
    )
    memory.hold("A court asked for it.", user_id="ana", session="sea")
    assert memory.erase(memory.forget(user_id="ana", session="bank")).residue == 0
    with pytest.raises(Held):
        memory.erase(memory.forget(user_id="ana", everything=True))


@pytest.mark.parametrize("given", [{}, {"everything": True, "session": "s"}])
def test_forget_wants_to_know_what_is_meant(untouched, given):
    with pytest.raises(InvalidInput, match="forget takes"):
        untouched.forget(user_id="ana", **given)


def test_forgetting_what_is_not_there_is_an_error(memory):
    with pytest.raises(NotFound, match="empty"):
        memory.forget(user_id="ana", session="s")
    memory.add(SECRET, user_id="ana")
    with pytest.raises(NotFound, match="nothing that is meant"):
        memory.forget(user_id="ana", session="s")


@pytest.mark.parametrize(
    "given",
    [
        {"before": "2024-01-01"},
        {"policy": "ephemeral"},
        {"query": "What is the code of the vault?", "session": "bank"},
        {"source": ["a"]},
    ],
)
def test_what_is_meant_can_be_said_in_several_ways(standing, given):
    assert standing.forget(user_id="ana", **given).sources == ("a",)


def test_everything_of_a_user_goes_with_the_name_and_others_stay_as_they_are(memory):
    memory.add_many(LINES, user_id="ana")
    memory.add_many(LINES, user_id="ben")
    foreign = twin(memory)
    foreign.add_many(LINES, user_id="ana")
    memory.rebuild_topics(user_id="ana")
    before, there = nodes(memory, "ben"), nodes(foreign)
    receipt = memory.erase(memory.forget(user_id="ana", everything=True))
    assert (receipt.rule, receipt.residue) == ("everything", 0)
    assert nodes(memory) == Counter()
    assert nodes(memory, "ben") == before
    assert nodes(foreign) == there
    assert foreign.receipts() == []
    purge_tenant(memory.engine.db, foreign.engine.settings.tenant)
    assert [one.id for one in memory.users()] == ["ben"]
    assert memory.add(LINES[0], user_id="ana").added == 1


ODD = """MATCH (n {scope: $scope}) WHERE NOT n:Scope AND NOT n:Erasure
UNWIND [name IN keys(n) WHERE NOT name IN ['scope', 'id', 'name', 'erasure', 'kept_expires', 'kept_erase']] AS name
SET n[name] = CASE name WHEN 'text' THEN 7 ELSE [2, 2] END"""
BEHIND = "MATCH (x:Source {scope: $scope, id: 'a'}) SET x.cuts = [5, 10000000]"  # no import takes that


def test_whatever_is_stored_everything_can_be_erased(memory):
    memory.add_many(LINES[:3], user_id="ana")
    memory.add({"id": "x", "text": SECRET, "session": "s"}, user_id="ana")
    memory.update("x", FERRY, user_id="ana")
    memory.delete("x", user_id="ana")
    memory.rebuild_topics(user_id="ana")
    rows(memory, ODD, scope=scope_of(memory))
    receipt = memory.erase(memory.forget(user_id="ana", everything=True))
    assert (receipt.residue, receipt.counts["sources"] > 3) == (0, True)
    assert nodes(memory) == Counter()


def test_an_erasure_that_cannot_be_carried_out_ends_with_one_of_everything(memory):
    said = [{"id": name, "text": text, "session": "s"} for name, text in (("a", FERRY), ("b", SECRET), ("c", LINES[3]))]
    memory.add_many(said, user_id="ana")
    rows(memory, BEHIND, scope=scope_of(memory))
    for meant in ({"source": "b"}, {"source": "c"}):
        with pytest.raises(StoreError, match="out of range"):
            memory.erase(memory.forget(user_id="ana", **meant))
    assert memory.erase(memory.forget(user_id="ana", everything=True)).residue == 0
    assert nodes(memory) == Counter()
    assert [one.rule for one in memory.receipts()] == ["source", "source", "everything"]
    assert memory.sweep(user_id="ana").erased == ()


COUNTED = "CREATE (:Usage {scope: $scope, id: $note, utility: 30, shown: 1, used: 0, scored_at: datetime()})"


@pytest.mark.parametrize("meant", [{"source": "a"}, {"everything": True}])
def test_what_others_count_under_the_same_id_stays(memory, meant):
    """A file that is imported says itself what its notes are called."""
    tenant = memory.engine.settings.tenant
    note = memory.add({"id": "a", "text": SECRET}, user_id="ana").entries[0].note
    own, others = [scope_of(memory)], [f"{tenant}/anabel", f"{tenant}x/ana"]
    for scope in own + others:
        rows(memory, COUNTED, scope=scope, note=note)
    memory.erase(memory.forget(user_id="ana", **meant))
    left = rows(memory, "MATCH (u:Usage {id: $note}) RETURN u.scope AS scope ORDER BY scope", note=note)
    rows(memory, "MATCH (u:Usage {id: $note}) DELETE u", note=note)
    assert [row["scope"] for row in left] == sorted(others)


def test_an_erasure_made_again_gives_the_same_receipt(memory):
    memory.add({"id": "a", "text": SECRET}, user_id="ana")
    plan = memory.forget(user_id="ana", source="a")
    assert memory.erase(plan) == memory.erase(plan)
    assert len(memory.receipts()) == 1


def test_receipts_are_a_chain_in_which_a_change_shows(memory):
    memory.add_many([{"id": str(n), "text": text} for n, text in enumerate(LINES[:4])], user_id="ana")
    first, second = (memory.erase(memory.forget(user_id="ana", source=str(n))) for n in (0, 3))
    assert (first.number, second.number, second.previous) == (1, 2, first.hash)
    assert memory.verify_erasure() == []
    tenant = memory.engine.settings.tenant
    assert tenant not in json.dumps(first.to_dict())
    rows(
        memory,
        "MATCH (r:Receipt {tenant: $tenant, number: 1}) SET r.body = replace(r.body, $whole, $part)",
        tenant=tenant,
        whole='"residue": 0',
        part='"residue": 1',
    )
    assert "Receipt 1 was changed: its hash is another." in memory.verify_erasure()
    rows(memory, "MATCH (r:Receipt {tenant: $tenant, number: 1}) DELETE r", tenant=tenant)
    assert "Receipt 1 is missing: the next is 2." in memory.verify_erasure()


class Killed(Exception):
    pass


def dies(*_given, **_named):
    raise Killed


STEPS = [
    ("memgraph_engine.writing.erasure._remake",),
    ("memgraph_engine.writing.erasure._remove",),
    ("memgraph_engine.graph.erasures.remove",),
    ("memgraph_engine.graph.erasures.advance",),
    ("memgraph_engine.graph.erasures.tidy",),
    ("memgraph_engine.graph.erasures.centre",),
    ("memgraph_engine.writing.erasure._residue",),
    ("memgraph_engine.graph.erasures.append",),
    ("memgraph_engine.graph.erasures.end",),
]


@pytest.mark.parametrize("step", [step for (step,) in STEPS])
def test_an_erasure_that_is_killed_shows_nothing_and_goes_on(memory, monkeypatch, step):
    talk = [{"id": str(n), "text": text, "session": "s"} for n, text in enumerate([LINES[5], SECRET, LINES[3]])]
    memory.add_many(talk, user_id="ana")
    memory.add({"id": "again", "text": SECRET.replace("seven", "seven indeed"), "session": "t"}, user_id="ana")
    memory.rebuild_topics(user_id="ana")
    plan = memory.forget(user_id="ana", source=["1", "again"])
    with monkeypatch.context() as patch:
        patch.setattr(step, dies)
        with pytest.raises(Killed):
            memory.erase(plan)
    found = [
        *(hit.note for hit in memory.search("amaranth tulip vault code", user_id="ana")),
        *memory.get_all(user_id="ana"),
    ]
    read = repr([(note.raw, note.context, note.keywords, note.sources) for note in found])
    read += repr([(one.evidence, one.considered, one.about) for one in memory.decisions(user_id="ana")])
    read += repr([one.to_dict() for one in memory.topics(user_id="ana")])
    assert "amaranth" not in read
    for gone in ("1", "again"):
        with pytest.raises(NotFound):
            memory.get(gone, user_id="ana")
    Worker(memory.engine).once()
    assert [one.id for one in memory.receipts()] == [plan.id]
    assert memory.receipts()[0].residue == 0
    assert memory.erase(plan) == memory.receipts()[0]
    assert "amaranth" not in everything_told(memory)
    assert sorted(one.sources[0].id for one in memory.get_all(user_id="ana")) == ["0", "2"]
    assert memory.verify(user_id="ana") == []
    assert memory.render(user_id="ana") == 0


def cut_off(memory, monkeypatch, **meant):
    plan = memory.forget(user_id="ana", **meant)
    with monkeypatch.context() as patch:
        patch.setattr("memgraph_engine.writing.erasure._remake", dies)
        with pytest.raises(Killed):
            memory.erase(plan)


@pytest.mark.parametrize("text", [SECRET, "The code of the vault is another one now."])
@pytest.mark.parametrize("wait", [True, False])
def test_what_is_said_again_while_its_erasure_is_cut_off_is_stored_anew(memory, monkeypatch, text, wait):
    said = {"id": "a", "session": "s"}
    memory.add_many([{"text": LINES[5], "session": "s"}, {**said, "text": SECRET}], user_id="ana")
    cut_off(memory, monkeypatch, source="a")
    entry = memory.add({**said, "text": text}, user_id="ana", wait=wait).entries[0]
    assert entry.kind in ("append", "link", "defer")
    assert memory.get("a", user_id="ana").text == text
    assert memory.get("a", user_id="ana").context == f"{text} [before: {LINES[5]}]"
    assert [one.residue for one in memory.receipts()] == [0]
    assert memory.verify(user_id="ana") == []


def test_what_is_said_again_before_an_erasure_is_checked_is_no_residue(memory, monkeypatch):
    memory.add({"id": "a", "text": SECRET, "session": "s"}, user_id="ana")
    plan = memory.forget(user_id="ana", source="a")
    with monkeypatch.context() as patch:
        patch.setattr("memgraph_engine.writing.erasure._residue", dies)
        with pytest.raises(Killed):
            memory.erase(plan)
    memory.add({"id": "a", "text": SECRET, "session": "s"}, user_id="ana")
    assert memory.erase(plan).residue == 0
    assert memory.verify_erasure() == []
    assert memory.get("a", user_id="ana").text == SECRET


def test_an_erasure_that_begins_while_another_is_cut_off_is_no_residue_of_it(memory, monkeypatch):
    said = [SECRET, LINES[3], f"{FERRY} {SECRET}", LINES[5]]
    memory.add_many([{"id": str(n), "text": text, "session": "s"} for n, text in enumerate(said)], user_id="ana")
    cut_off(memory, monkeypatch, source="0")
    memory.erase(memory.forget(user_id="ana", source="2"))
    assert [(one.residue, one.probes > 0) for one in memory.receipts()] == [(0, True)] * 2
    assert "amaranth" not in everything_told(memory)
    assert memory.verify(user_id="ana") == []
    assert memory.render(user_id="ana") == 0


def test_a_plan_of_another_tenant_is_refused(memory):
    other = twin(memory)
    for one in (memory, other):
        one.add({"id": "a", "text": SECRET}, user_id="ana")
    plan = memory.forget(user_id="ana", source="a")
    for given_, why in ((plan, "another tenant"), (None, "a plan that forget made")):
        with pytest.raises(InvalidInput, match=why):
            other.erase(given_)
    assert other.get("a", user_id="ana").text == SECRET
    purge_tenant(memory.engine.db, other.engine.settings.tenant)


def test_a_list_is_not_refused_for_what_is_being_erased(memory, monkeypatch):
    memory.add({"id": "a", "text": SECRET}, user_id="ana")
    cut_off(memory, monkeypatch, source="a")
    batch = memory.engine.settings.ingest_batch
    many = [{"id": "a", "text": LINES[3]}, *({"id": f"m{n}", "text": LINES[5]} for n in range(batch))]
    assert memory.add_many(many, user_id="ana", wait=False).added == batch + 1


def test_a_turn_that_comes_while_the_one_before_is_erased_follows_the_one_before_that(memory, monkeypatch):
    said = [{"text": text, "session": "s", "id": str(n)} for n, text in enumerate([LINES[5], SECRET])]
    memory.add_many(said, user_id="ana")
    cut_off(memory, monkeypatch, source="1")
    memory.add({"id": "2", "text": LINES[3], "session": "s"}, user_id="ana")
    Worker(memory.engine).once()
    assert LINES[5] in memory.get("2", user_id="ana").context
    assert memory.render(user_id="ana") == 0
    assert memory.verify(user_id="ana") == []


@pytest.mark.parametrize("update", [False, True])
def test_a_document_is_ingested_anew_while_its_erasure_is_cut_off(memory, monkeypatch, tmp_path, update):
    file = tmp_path / "vault.md"
    file.write_text(f"# Vault\n\n{SECRET}\n")
    memory.ingest(file, user_id="ana")
    cut_off(memory, monkeypatch, session="vault.md")
    done = memory.ingest(file, user_id="ana", update=update)
    assert (done.added, done.repeats, done.faults) == (1, 0, ())
    assert [SECRET in one.text for one in memory.get_all(user_id="ana")] == [True]
    assert memory.verify(user_id="ana") == []


def test_a_killed_erasure_of_everything_goes_on(memory, monkeypatch):
    memory.add_many(LINES, user_id="ana")
    plan = memory.forget(user_id="ana", everything=True)
    with monkeypatch.context() as patch:
        patch.setattr("memgraph_engine.graph.erasures.append", dies)
        with pytest.raises(Killed):
            memory.erase(plan)
    Worker(memory.engine).once()
    assert nodes(memory) == Counter()
    assert memory.receipts()[0].residue == 0


WHOLE = [
    "memgraph_engine.graph.scopes.purge",
    "memgraph_engine.graph.usage.forget_all",
    "memgraph_engine.graph.erasures.purge",
    "memgraph_engine.graph.erasures.advance",
    "memgraph_engine.writing.erasure._residue",
    "memgraph_engine.graph.erasures.append",
    "memgraph_engine.graph.erasures.end",
]
RESUMERS = {
    "sweep": lambda memory, plan: memory.sweep(user_id="ana"),
    "worker": lambda memory, plan: Worker(memory.engine).once(),
    "again": lambda memory, plan: memory.erase(plan),
    "next": lambda memory, plan: memory.erase(memory.forget(user_id="ana", source="next")),
}


def killed_at(memory, monkeypatch, step, **meant):
    """Begin an erasure that is killed when it comes to a step; return its plan."""
    plan = memory.forget(**{"user_id": None if "shared" in meant else "ana", **meant})
    with monkeypatch.context() as patch:
        patch.setattr(step, dies)
        with pytest.raises(Killed):
            memory.erase(plan)
    return plan


def write_all(memory, path):
    """Write to Ana's memory in all ways; return what then is found there."""
    path.write_text(f"# Boats\n\n{FERRY}\n")
    memory.add({"id": "b", "text": "Lisbon has yellow trams.", "session": "s"}, user_id="ana")
    memory.add({"id": "late", "text": LINES[3], "session": "s"}, user_id="ana", wait=False)
    memory.ingest(path, user_id="ana")
    memory.process(user_id="ana")
    memory.update("b", "Lisbon has red trams.", user_id="ana")
    memory.set_profile("residence", "Lisbon", user_id="ana")
    memory.rebuild_topics(user_id="ana")
    memory.hold("A court asked for it.", user_id="ana", source="b")
    memory.limit(500, user_id="ana")
    memory.add({"id": "next", "text": LINES[5], "session": "t"}, user_id="ana")
    return found(memory)


def found(memory):
    """What there is of Ana's, but for the source `next`."""
    notes = sorted((one.id, one.text, one.context) for one in memory.get_all(user_id="ana") if one.text != LINES[5])
    state = scopes.state(memory.engine.db, f"{memory.engine.settings.tenant}/ana")
    return notes, memory.profile(user_id="ana").text, memory.holds(user_id="ana"), state and state.cap


@pytest.mark.parametrize(("step", "resumer"), [*zip(WHOLE[::2], RESUMERS, strict=True)])
def test_what_is_written_after_a_killed_erasure_of_everything_stays(memory, monkeypatch, tmp_path, step, resumer):
    memory.add_many([{"id": "a", "text": SECRET, "session": "s"}, *LINES], user_id="ana")
    memory.rebuild_topics(user_id="ana")
    plan = killed_at(memory, monkeypatch, step, everything=True)
    assert list(memory.get_all(user_id="ana")) == []
    there = write_all(memory, tmp_path / "boats.md")
    assert len(there[0]) == 3
    RESUMERS[resumer](memory, plan)
    assert found(memory) == there
    check_done(memory, plan)


@pytest.mark.parametrize(("step", "resumer"), [*zip([step for (step,) in STEPS[::3]], RESUMERS, strict=False)])
def test_what_is_written_after_a_killed_erasure_of_sources_stays(memory, monkeypatch, tmp_path, step, resumer):
    memory.add_many([{"id": "a", "text": SECRET, "session": "s"}, *LINES], user_id="ana")
    memory.rebuild_topics(user_id="ana")
    plan = killed_at(memory, monkeypatch, step, source="a")
    notes, *others = write_all(memory, tmp_path / "boats.md")
    RESUMERS[resumer](memory, plan)
    after, *same = found(memory)
    assert (set(notes) - set(after), same) == (set(), others)
    check_done(memory, plan)


def test_what_is_written_while_many_erase_everything_stays(memory, monkeypatch):
    """Each step waits until somebody has written, and another has carried out all of the erasure."""
    memory.add_many([{"id": "a", "text": SECRET, "session": "s"}, *LINES], user_id="ana")
    plan, added = memory.forget(user_id="ana", everything=True), []

    def wait(step):
        do = pkgutil.resolve_name(step)

        def late(*given, **named):
            monkeypatch.setattr(step, do)
            memory.add({"text": f"I was at the {len(added)}th step."}, user_id="ana", wait=False)
            added.append(f"I was at the {len(added)}th step.")
            memory.sweep(user_id="ana")
            return do(*given, **named)

        monkeypatch.setattr(step, late)

    for step in WHOLE:
        wait(step)
    memory.erase(plan)
    assert len(added) == len(WHOLE)
    assert sorted(one.text for one in memory.get_all(user_id="ana")) == added
    assert len(memory.receipts()) == 1
    check_done(memory, plan)


def test_a_write_that_was_prepared_before_an_erasure_of_everything_began_or_ended_is_prepared_anew(memory, monkeypatch):
    memory.add_many([{"id": "a", "text": SECRET, "session": "s"}, *LINES], user_id="ana")
    plan, commit = memory.forget(user_id="ana", everything=True), writes.commit
    between = [
        lambda: killed_at(memory, monkeypatch, WHOLE[0], everything=True),
        lambda: memory.sweep(user_id="ana"),
        lambda: memory.erase(memory.forget(user_id="ana", everything=True)),
    ]

    def late(*given):
        if between:
            between.pop(0)()
        return commit(*given)

    monkeypatch.setattr(writes, "commit", late)
    memory.add({"id": "b", "text": "Lisbon has yellow trams.", "session": "s"}, user_id="ana")
    assert [(one.text, one.context) for one in memory.get_all(user_id="ana")] == [("Lisbon has yellow trams.",) * 2]
    assert memory.verify(user_id="ana") == []
    assert "amaranth" not in everything_told(memory)
    with pytest.raises(ErasureRefused):
        memory.erase(plan)


def test_topics_that_were_found_before_an_erasure_of_everything_are_not_written(memory, monkeypatch):
    memory.add_many(LINES, user_id="ana")
    begin = topics.begin

    def late(*given, **named):
        killed_at(memory, monkeypatch, WHOLE[0], everything=True)
        monkeypatch.setattr(topics, "begin", begin)
        return begin(*given, **{**named, "late": True})

    monkeypatch.setattr(topics, "begin", late)
    memory.rebuild_topics(user_id="ana")
    assert memory.topics(user_id="ana") == []


DYING = """
import sys
import time
from memgraph_engine import Memory
from tests.attacker import dies_at
from tests.vectors import Remembering

with Memory.connect(tenant=sys.argv[1], embedder=Remembering()) as memory:
    plan = memory.forget(user_id="ana", everything=True)
    dies_at(int(sys.argv[2]), sys.argv[3])
    memory.erase(plan)
"""


@pytest.mark.parametrize("message", [7, 22, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 30))])
def test_a_process_that_is_killed_while_it_erases_everything_takes_nothing_that_comes_later(memory, message):
    """Killed at a message to the server: from the 7th on it has begun, from the 22nd on there is a receipt."""
    memory.add({"id": "a", "text": SECRET, "session": "s"}, user_id="ana")
    command = [sys.executable, "-c", DYING, memory.engine.settings.tenant, str(message), "after"]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert process.returncode == -signal.SIGKILL, process.stderr
    begun = erasures.begun(memory.engine.db, f"{memory.engine.settings.tenant}/ana")
    assert bool(begun) == (message > 6)
    memory.add({"id": "b", "text": LINES[3]}, user_id="ana")
    memory.sweep(user_id="ana")
    assert [one.sources[0].id for one in memory.get_all(user_id="ana")] == ["a", "b"][len(begun) :]
    assert [one.residue for one in memory.receipts()] == [0] * len(begun)
    assert ("amaranth" in everything_told(memory)) == (not begun)
    assert memory.verify(user_id="ana") == []


def check_done(memory, plan):
    """See that an erasure left nothing of the secret, and all else whole."""
    receipts = memory.receipts()
    assert (receipts[0].id, {one.residue for one in receipts}) == (plan.id, {0})
    assert "amaranth" not in everything_told(memory)
    assert memory.verify(user_id="ana") == []
    assert erasures.begun(memory.engine.db, f"{memory.engine.settings.tenant}/ana") == []


SECRETS = ["zinnia", "yarrow", "xerus", "walrus", "vervain", "umbra", "tansy", "sorrel", "rowan", "quince"]
steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(st.integers(0, 9), min_size=1, max_size=4)),
        st.tuples(st.just("defer"), st.lists(st.integers(0, 9), min_size=1, max_size=3)),
        st.tuples(st.just("process")),
        st.tuples(st.just("update"), st.integers(0, 9), st.integers(0, 9)),
        st.tuples(st.just("delete"), st.integers(0, 9)),
        st.tuples(st.just("untie"), st.integers(0, 9)),
        st.tuples(st.just("undo"), st.integers(0, 9)),
        st.tuples(st.just("secret"), st.lists(st.integers(0, 9), min_size=1, max_size=3)),
        st.tuples(st.just("evict"), st.integers(1, 4)),
        st.tuples(st.just("restore"), st.integers(0, 9)),
        st.tuples(st.just("build")),
    ),
    min_size=1,
    max_size=5,
)


def secret(name, line):
    """A message to erase: of words of its own, or of the same words as others, so that it joins their notes."""
    given = {"id": name, "speaker": "Ana", "session": f"s{line % 2}"}
    if line < 5:
        return {**given, "text": LINES[line], "metadata": {"plant": SECRETS[line]}}
    return {**given, "text": f"{LINES[line]} A {SECRETS[line]} is a secret plant."}


DANGLING = """MATCH (r:Retrieval {scope: $scope}) UNWIND r.notes AS id
WITH id WHERE NOT EXISTS { MATCH (n:Note|Past {scope: $scope, id: id}) } RETURN id"""


def check_erasure(memory, script):
    """Do a random history, some of which is secret, erase that, and find none of its words, and all else whole."""
    none = {role: {"model": ""} for role in ROLES if role != "describing"}
    mine = twin(memory, audit=AuditSettings(retrievals="text"))
    mine = Memory(replace(mine.engine, roles=Roles(Settings.load(llm={"roles": none}).llm, llm=Teller())))
    try:
        mine.add_many(LINES[:3], user_id="ben")
        mine.add_many([{"id": "first", "text": LINES[0], "session": "s0"}], user_id="ana")
        mine.add_many([{"id": "x", "text": f"{LINES[1]} {SECRETS[0]}", "session": "s0"}], user_id="ana")
        secrets = ["x"]
        for number, step in enumerate(script):
            if step[0] == "secret":
                some = [secret(f"x{number}-{n}", line) for n, line in enumerate(step[1])]
                secrets += [one["id"] for one in some]
                mine.add_many(some, user_id="ana")
                for one in some:
                    mine.search(one["text"], user_id="ana")
            elif step[0] == "build":
                mine.rebuild_blocks(user_id="ana")
                mine.consolidate(user_id="ana")
            else:
                take(mine, step, number)
            assert mine.verify(user_id="ana") == []
        other = nodes(mine, "ben")
        said = {0, *(line for step in script if step[0] == "secret" for line in step[1])}
        for word in (SECRETS[line] for line in said):
            mine.search(f"Who told me of a {word}?", user_id="ana", top_k=2)
        receipt = mine.erase(mine.forget(user_id="ana", source=secrets))
        assert rows(mine, DANGLING, scope=scope_of(mine)) == []
        told = everything_told(mine)
        assert not [word for word in SECRETS if word in told]
        assert not [one for one in secrets if f'"{one}"' in told]
        assert receipt.residue == 0
        assert nodes(mine, "ben") == other
        assert mine.verify(user_id="ana") == []
        assert mine.render(user_id="ana") == 0
        mine.search("ferry", user_id="ana")
        for decision in mine.decisions(user_id="ana", limit=1000):
            if not decision.undone_by and not decision.scrubbed_by and decision.kind not in ("undo", "erase", "render"):
                with suppress(UndoRefused):
                    mine.undo(decision.id, user_id="ana")
        assert mine.verify(user_id="ana") == []
    finally:
        purge_tenant(memory.engine.db, mine.engine.settings.tenant)


@pytest.mark.timeout(900)
@settings(phases=[Phase.explicit], suppress_health_check=list(HealthCheck))
@given(steps)
@example(
    [("add", [4, 0]), ("secret", [1, 6]), ("update", 2, 5), ("untie", 0), ("evict", 2), ("restore", 0), ("undo", 1)]
)
def test_nothing_is_left_of_what_is_erased(memory, script):
    check_erasure(memory, script)


@pytest.mark.long
@pytest.mark.timeout(7200)
@settings(max_examples=1000, suppress_health_check=list(HealthCheck))
@given(steps)
@example([("secret", [7, 8]), ("build",), ("add", [3])])  # a model describes blocks in the words of their notes
@example([("defer", [0]), ("process",)])  # what joined another note quoted it as long as it waited
def test_nothing_is_left_of_what_is_erased_in_a_thousand_cases(memory, script):
    check_erasure(memory, script)


def test_an_erased_folder_leaves_no_place_and_one_that_stays_keeps_it(memory, tmp_path):
    for name in ("amaranth", "boats"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "one.md").write_text(f"The {name} is here.\n")
        (tmp_path / name / "two.md").write_text(f"The {name} was there.\n")
        memory.ingest(tmp_path / name, user_id="ana")
    memory.erase(memory.forget(user_id="ana", session="amaranth/one.md"))
    assert scopes.folders(memory.engine.db, scope_of(memory)).keys() == {"amaranth", "boats"}
    memory.erase(memory.forget(user_id="ana", session="amaranth/two.md"))
    assert scopes.folders(memory.engine.db, scope_of(memory)).keys() == {"boats"}
    assert "amaranth" not in everything_told(memory)


def test_what_a_repair_tells_of_a_profile_goes_with_what_it_repairs(memory):
    config = {"lifecycle": memory.engine.settings.lifecycle.model_copy(update={"profile": "patterns"})}
    mine = Memory(replace(memory.engine, settings=memory.engine.settings.model_copy(update=config)))
    for name, text in (("a", "My name is Ann Amaranth."), ("b", "Sorry, Rose, not Ann."), ("c", "I live in Faro.")):
        mine.add({"id": name, "text": text, "role": "user", "session": "s"}, user_id="ana")
    assert mine.profile(user_id="ana").text == "name: Rose Amaranth\nresidence: Faro"
    mine.erase(mine.forget(user_id="ana", source="a"))
    assert mine.profile(user_id="ana").text == "residence: Faro"
    assert "amaranth" not in everything_told(mine)
    assert mine.verify(user_id="ana") == []


STRAY = [
    "MATCH (:Source {id: 'b', scope: $scope})<--()-->(k:Keyword) WITH k LIMIT 1 SET k.name = 'the code of the vault'",
    "MATCH (d:Decision {scope: $scope}) WITH d LIMIT 1 SET d.thresholds = '{\"the code of the vault is\": 1}'",
    'MATCH (s:Scope {scope: $scope}) SET s.folders = \'{"x": "/the code of the vault"}\'',
    "CREATE (:Run {scope: $scope, id: 'r', at: datetime(), moves: '[]', fallbacks: ['I hide the code of the vault.']})",
    "CREATE (:BlockRun {scope: $scope, id: 'r', at: datetime(), fallbacks: ['I hide the code of the vault.']})",
]


@pytest.mark.parametrize("stray", STRAY)
def test_words_that_nothing_ties_to_their_source_are_told_as_residue(memory, stray):
    memory.add_many([{"id": "a", "text": SECRET}, {"id": "b", "text": FERRY}], user_id="ana")
    plan = memory.forget(user_id="ana", source="a")
    rows(memory, stray, scope=scope_of(memory))
    assert memory.erase(plan).residue > 0


# ---- what a query means -----------------------------------------------------------------------


def test_a_query_means_what_is_about_it_and_the_best_is_shown_first(memory):
    memory.add_many([{"id": "1", "text": FERRY}, {"id": "2", "text": SECRET}], user_id="ana")
    plan = memory.forget(user_id="ana", query="amaranth tulip")
    (chosen,) = plan.chosen
    assert (plan.sources, chosen.text, chosen.status) == (("2",), SECRET, "active")
    assert "amaranth" in chosen.why


def test_where_nothing_holds_the_words_what_a_search_finds_first_is_told_and_not_taken(memory):
    said = ["No, 3200 net, 3400 was what I asked for.", FERRY, SECRET, LINES[3], LINES[5]]
    memory.add_many([{"id": str(n), "text": text} for n, text in enumerate(said)], user_id="ana")
    plan = memory.forget(user_id="ana", query="salary", near=True)
    assert plan.sources == ()
    assert len(plan.near) == 3
    assert ["only its id takes it" in one.why for one in plan.near if "3200" in one.text] == [True]
    with pytest.raises(NotFound, match="near: 3"):
        memory.erase(plan)
    with pytest.raises(NotFound, match="nothing that is meant"):
        memory.forget(user_id="ana", query="salary", session="t")


def test_a_query_means_no_source_of_the_shared_memory_nor_one_of_its_name(memory):
    memory.add({"id": "1", "text": SECRET}, shared=True)
    memory.add({"id": "1", "text": FERRY}, user_id="ana")
    assert memory.search("amaranth tulip", user_id="ana")[0].note.text == SECRET
    plan = memory.forget(user_id="ana", query="amaranth tulip")
    assert (plan.sources, [one.text for one in plan.near]) == ((), [FERRY])


def test_a_query_takes_what_holds_all_of_its_words_and_shows_what_is_near(memory):
    said = {
        "1": "The wifi password is hunter2.",
        "2": "I drink green tea every morning.",
        "3": "The wifi drops in the bedroom.",
        "4": "My wifi passwords are all on the fridge.",
    }
    memory.add_many([{"id": number, "text": text} for number, text in said.items()], user_id="ana")
    plan = memory.forget(user_id="ana", query="my wifi password")
    assert plan.sources == ("1", "4")
    assert plan.near[0].source == "3"
    assert plan.near[0].why == 'It holds "wifi", not all of the words.'
    wider = memory.forget(user_id="ana", query="my wifi password", near=True, keep="4")
    assert {"1", "3"} <= set(wider.sources)
    assert "4" not in wider.sources
    assert wider.rule == "query, near, keep"
    nothing = memory.forget(user_id="ana", query="wifi tariff")
    assert (nothing.sources, {"1", "3", "4"} <= {one.source for one in nothing.near}) == ((), True)
    assert said[nothing.near[0].source] == nothing.near[0].text
    with pytest.raises(NotFound, match=r"near: \d"):
        memory.erase(nothing)
    with pytest.raises(InvalidInput, match="near widens"):
        memory.forget(user_id="ana", source="1", near=True)
    assert memory.erase(plan).residue == 0
    assert {note.text for note in memory.get_all(user_id="ana")} == {said["2"], said["3"]}


def test_words_that_begin_alike_are_near_and_never_taken(memory):
    said = {"1": "I'm allergic to penicillin.", "2": "Your penicillin allergy is noted.", "3": "I like nuts."}
    memory.add_many([{"id": number, "text": text} for number, text in said.items()], user_id="ana")
    plan = memory.forget(user_id="ana", query="penicillin allergy")
    assert (plan.sources, plan.near[0].source) == (("2",), "1")
    assert plan.near[0].why == 'It holds "penicillin", and what is like the rest: "allergic".'
    assert memory.forget(user_id="ana", query="allergy").near[0].why == 'It holds what is like it: "allergic".'


def test_a_query_finds_words_in_tags_and_metadata_and_with_signs_that_nobody_sees(memory):
    memory.add_many(
        [
            {"id": "1", "text": "It is hunter2.", "tags": ["wifi"], "metadata": {"of": {"what": ["the password", 7]}}},
            {"id": "2", "text": "My wi\u200bfi pass\u00adword\u200d is xyzzy.", "session": "s"},
            {"id": "3", "text": "It is amaranth.", "metadata": {"wifi": "tulip", "password": True}},
            {"id": "4", "text": "I drink green tea."},
        ],
        user_id="ana",
    )
    assert memory.forget(user_id="ana", query="wifi password").sources == ("1", "2")
    plan = memory.forget(user_id="ana", query="wi\u200bfi pass\u2060word")
    assert plan.sources == ("1", "2")
    assert plan.near[0].why == 'It holds what is like it: "password" and "wifi".'  # it names what is of it
    assert memory.erase(plan).residue == 0


@pytest.mark.parametrize("given", [{"keep": ["b", "c1", "c2"]}, {"keep": "b1"}, {"source": ["a", "b", "a1"]}])
def test_an_id_that_the_memory_does_not_have_is_not_passed_over(standing, given):
    unknown = [one for value in given.values() for one in ([value] if isinstance(value, str) else value)]
    named = ", ".join(repr(one) for one in unknown if one not in ("a", "b"))
    with pytest.raises(NotFound, match=rf"no note or source {named} \({next(iter(given))}\)"):
        standing.forget(user_id="ana", **{"query": "vault", **given})


@pytest.fixture
def asked(memory, monkeypatch):
    """The names of the statements that run from here on."""
    names, run = [], Database.run
    monkeypatch.setattr(Database, "run", lambda db, name, /, **given: (names.append(name), run(db, name, **given))[1])
    return names


@pytest.mark.parametrize("where", ["source", "keep"])
def test_thousands_of_unknown_ids_are_looked_up_at_once_and_the_first_are_named(memory, asked, where):
    memory.add({"id": "a", "text": SECRET}, user_id="ana")
    asked.clear()
    unknown = [f"x{n}" for n in range(5000)]
    with pytest.raises(NotFound, match=rf"'x0', 'x1', 'x2', 'x3', 'x4' and 4,995 more \({where}\) in the memory of"):
        memory.forget(user_id="ana", **{"query": "vault", where: ["a", *unknown]})
    assert asked.count("erasures/told_by") == 1
    assert len(asked) < 10


@pytest.fixture
def work(monkeypatch):
    """What is done while it is called: statements sent, rows and database hits of them, calls of functions."""
    done, run = Counter(), neo4j.Session.run

    def profiled(session, text, *given, **named):
        result = run(session, f"PROFILE {text}", *given, **named)
        rows = list(result)
        done.update(statements=1, rows=len(rows), hits=_hits(result.consume().profile))
        return rows

    def counted(frame, event, argument):
        done["calls"] += "call" in event

    def of(call, *given, **named):
        done.clear()
        with monkeypatch.context() as patched:
            patched.setattr(neo4j.Session, "run", profiled)
            sys.setprofile(counted)
            try:
                call(*given, **named)
            finally:
                sys.setprofile(None)
        return dict(done)

    return of


def _hits(plan):
    return plan.get("dbHits", 0) + sum(map(_hits, plan.get("children", ())))


def test_planning_an_erasure_of_twice_the_sources_does_twice_the_work(memory, work):
    """It is counted, not timed, since a time tells of the machine as well."""
    gate = memory.engine.settings.gate.model_copy(update={"update": False, "discard": False})
    memory = twin(memory, tenant=memory.engine.settings.tenant, gate=gate)
    sizes = (10, 20, 40)
    for some in sizes:
        told = [{"id": f"{at}", "text": f"Ferry {at} leaves at noon.", "session": "sea"} for at in range(some)]
        memory.add_many(told, user_id=f"{some}")
    for way in ("session", "source", "query"):
        done = []
        for some in sizes:
            given = {"session": "sea", "source": [f"{at}" for at in range(some)], "query": "ferries"}[way]
            plan = memory.forget(user_id=f"{some}", **{way: given})  # what is read once is kept
            assert len(plan.sources) == some
            done.append(work(memory.forget, user_id=f"{some}", **{way: given}))
        few, double, more = done
        assert few["statements"] == double["statements"] == more["statements"], (way, done)
        for one in ("rows", "hits", "calls"):
            assert 0 < more[one] - double[one] < 2.15 * (double[one] - few[one]), (way, one, done)


def test_who_quotes_thousands_of_sources_is_told_in_linear_time():
    said = [f"On day {n} of the trip we took the ferry {n % 7} to Faro" for n in range(30_000)]
    quotes = {f"[before: {text[:30]}".rpartition(" ")[0] for text in said[::2]}
    rows = [{"note": f"n{n}", "context": f"Yes. [before: {text}…]"} for n, text in enumerate(said)]
    rows.append({"note": "by a model", "context": None})
    started = time.process_time()
    found = erasures.quoting(SimpleNamespace(run=lambda *_, **__: rows), "ana", ["s"], quotes)
    assert time.process_time() - started < 10  # each with each it is minutes
    assert found == sorted(["by a model", *(f"n{n}" for n in range(0, 30_000, 2))])


def test_a_note_that_is_kept_and_one_that_was_undone_are_known_by_their_ids(memory):
    note = memory.add({"id": "a", "text": SECRET}, user_id="ana").entries[0].note
    gone = memory.add({"id": "b", "text": FERRY}, user_id="ana").entries[0]
    memory.undo(gone.decision, user_id="ana")
    assert memory.forget(user_id="ana", source=gone.note).sources == ("b",)
    assert memory.forget(user_id="ana", before="2999-01-01", keep=[note, note]).sources == ("b",)


@pytest.mark.parametrize("given", [{"query": "code", "near": "yes"}, {"everything": 1}, {"session": "s", "near": None}])
def test_a_switch_that_is_neither_true_nor_false_is_refused(untouched, given):
    with pytest.raises(InvalidInput, match="must be true or false"):
        untouched.forget(user_id="ana", **given)


def test_a_query_finds_what_was_deleted_replaced_and_kept_without_a_note(memory):
    memory.add({"id": "1", "text": "The heron code is 4711.", "speaker": "Ana"}, user_id="ana")
    memory.add({"id": "2", "text": "I live in Lisbon with my heron code book.", "speaker": "Ana"}, user_id="ana")
    memory.add({"id": "3", "role": "system", "text": "The heron code is secret."}, user_id="ana")
    memory.add({"id": "4", "text": "The barge code is 12.", "speaker": "Ana"}, user_id="ana")
    memory.update("4", "The heron code is 12.", user_id="ana")
    memory.update("4", "The barge code is 13.", user_id="ana")
    memory.delete("1", user_id="ana")
    plan = memory.forget(user_id="ana", query="heron code")
    assert {one.source: one.status for one in plan.chosen} == {"1": "deleted", "2": "active", "3": "", "4": "active"}
    assert memory.erase(plan).residue == 0
    assert "heron" not in everything_told(memory, "ana")
