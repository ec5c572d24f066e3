"""What an auditor asks: what is known of something and why, what was deleted and by which rule, how a note changed."""

import asyncio
import json
from datetime import timedelta

import pytest
from typer.testing import CliRunner

from memgraph_engine import AsyncMemory, InvalidInput, Memory, NotFound
from memgraph_engine.cli import app
from tests.clocks import Clock

ANA = {"user_id": "ana"}


def test_an_auditor_is_told_what_is_known_and_why_what_was_deleted_and_what_changed(tenant, embedder, monkeypatch):
    monkeypatch.setenv("MEMGRAPH_ENGINE_TENANT", tenant)
    monkeypatch.setattr("memgraph_engine.engine.wiring.embedder_named", lambda settings: embedder)
    clock = Clock()
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock) as memory:
        memory.add("The heron eats fish at the old harbour.", id="h", session="lake", **ANA)
        memory.add("My train leaves at nine.", id="t", policy="ephemeral", **ANA)
        memory.add("The heron nests in the reeds.", shared=True)
        hold = memory.hold("A dispute.", session="lake", **ANA)
        memory.pin("h", **ANA)

        own, shared = sorted(memory.audit.about("What does the heron do?", **ANA), key=lambda one: one.note.text)
        assert (own.note.sources[0].id, own.holds, [one.kind for one in own.decisions]) == (
            "h",
            (hold,),
            ["append", "pin"],
        )
        assert own.kept == "It is pinned, whatever its policy 'factual' says."
        assert (shared.kept, shared.holds) == ("By its policy 'factual' it has no end.", ())
        assert [one.kind for one in shared.decisions] == ["append"]
        (train,) = memory.audit.about("When does the train leave?", **ANA)
        assert train.kept.startswith("By its policy 'ephemeral' it can be read until 2024-05-02")
        assert [one.note.text for one in memory.audit.about("heron", shared=True)] == ["The heron nests in the reeds."]

        memory.update("h", "The heron eats frogs at the old harbour.", **ANA)
        deletion = memory.delete("h", **ANA)
        made, pinned, updated, gone = memory.audit.changed("h", **ANA)
        assert (made.was, made.now["sources"], made.decision.kind) == ({}, ("h",), "append")
        assert (pinned.was["pinned"], pinned.now["pinned"], pinned.decision.kind) == (False, True, "pin")
        assert ["frogs" in " ".join(lines["raw"]) for lines in (updated.was, updated.now)] == [False, True]
        assert (gone.was["status"], gone.now["status"], gone.decision) == ("active", "deleted", deletion)
        with pytest.raises(NotFound):
            memory.audit.changed("none", **ANA)

        for place, text in enumerate(("The ferry is blue.", "It leaves at noon.", "It carries bicycles.")):
            memory.add(text, id=f"f{place}", session="ferry", speaker="Cy", user_id="cy")
        memory.delete("f1", user_id="cy")  # the turn after it is rendered anew
        assert memory.history("f2", user_id="cy")[-1].decision.kind == "delete"
        memory.add_many([{"text": "Tea is hot.", "id": "a"}, {"text": "Tea is hot.", "id": "b"}], user_id="cy")
        memory.delete("b", user_id="cy")
        assert [(one.rule, one.notes) for one in memory.audit.deleted(user_id="cy")] == [("delete", 0), ("delete", 1)]

        clock.later(timedelta(days=2))
        memory.sweep(**ANA)
        memory.release(hold.id, **ANA)
        clock.later(timedelta(hours=1))
        receipt = memory.erase(memory.forget(session="lake", **ANA))
        other = memory.add("The tide turns at noon.", user_id="bob").entries[0]
        memory.undo(other.decision, user_id="bob")
        found = memory.audit.deleted(**ANA)
        assert [(one.rule, one.notes) for one in found if one.rule != "delete"] == [("session", 1), ("expire", 1)]
        assert found[0].receipt == receipt
        assert [one.rule for one in memory.audit.deleted(**ANA, rule="expire")] == ["expire"]
        assert "expire" not in {one.rule for one in memory.audit.deleted(**ANA, until="2024-05-01")}
        assert {one.rule for one in memory.audit.deleted(**ANA, since="2024-05-02")} == {"session", "expire"}
        assert [(one.rule, one.notes) for one in memory.audit.deleted(user_id="bob")] == [("undo", 1)]
        with pytest.raises(InvalidInput, match="rule must be"):
            memory.audit.deleted(**ANA, rule=3)

        asynchronous = asyncio.run(AsyncMemory(memory).audit.deleted(**ANA))
        assert asynchronous == found

        def run(*given, user="ana"):
            said = CliRunner().invoke(app, ["audit", *given, "--user", user])
            assert said.exit_code == 0, said.output
            return said.stdout

        assert [one["rule"] for one in json.loads(run("deleted", "--json"))] == [one.rule for one in found]
        assert f"session: 1 note  receipt {receipt.number}" in run("deleted")
        assert "policy 'factual'" in run("about", "heron")
        assert "delete: a source of note " in run("deleted", user="cy")
        memory.add("The ferry is blue.", id="f", **ANA)  # what is archived is to be erased by the clock of the command
        memory.delete("f", **ANA)
        (came, ended) = json.loads(run("changed", "f", "--json"))
        assert (came["decision"]["kind"], ended["now"]["status"]) == ("append", "deleted")
        assert "status: active -> deleted" in run("changed", "f")
