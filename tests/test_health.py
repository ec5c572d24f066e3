"""`health` tells whether the database answers, and how old the work is that nobody has done."""

import json
from datetime import UTC, datetime, timedelta

from typer.testing import CliRunner

from memgraph_engine import Memory, Unreachable
from memgraph_engine.cli import app
from memgraph_engine.graph import health, schema


def test_work_that_waits_too_long_is_a_fault(memory):
    memory.add("The heron eats fish.", user_id="ana")
    found = memory.health()
    assert (found.ok, found.undone, found.schema) == (True, (), schema.VERSION)
    assert abs(found.clock) < 60
    memory.add("The tide turns at noon.", user_id="ana", wait=False)
    memory.limit(1, user_id="ana")
    found = memory.health()
    assert [(one.job, one.memories) for one in found.undone] == [("construct", 1), ("evict", 1)]
    assert found.undone[0].since == next(n for n in memory.get_all(user_id="ana") if n.status == "pending").created_at
    assert found.ok
    (fault,) = memory.health(overdue=0).faults
    assert "Notes are pending since" in fault
    memory.process(user_id="ana")
    memory.limit(None, user_id="ana")
    assert memory.health(overdue=0).undone == ()


def test_what_expired_and_was_not_swept_waits_since_it_ended(memory, tenant, embedder):
    began = datetime.now(UTC)
    now = began
    with Memory.connect(tenant=tenant, embedder=embedder, clock=lambda: now) as one:
        one.add("My train leaves at nine.", user_id="ana", policy="ephemeral")
        now = began + timedelta(days=1, minutes=2)
        found = one.health(overdue=60)
        assert [
            (undone.job, abs(undone.since - began - timedelta(days=1)) < timedelta(seconds=1))
            for undone in found.undone
        ] == [("expire", True)]
        assert "no sweep has archived" in found.faults[-1]
        assert "clock" in found.faults[0]  # this one's is a day ahead of the server's
        one.sweep(user_id="ana")
        assert one.health(overdue=60).undone == ()


def test_a_database_that_does_not_answer_or_is_newer_is_a_fault(memory, monkeypatch):
    def unreachable(*_, **__):
        raise Unreachable("No Neo4j answers.")

    with monkeypatch.context() as here:
        here.setattr(memory.engine.db, "run", unreachable)
        assert memory.health().faults == ("No Neo4j answers.",)
    monkeypatch.setattr(health.schema, "VERSION", schema.VERSION - 1)
    assert "newer than schema" in memory.health().faults[0]


def test_the_command_fails_where_something_is_wrong(memory, tenant, server, monkeypatch, tmp_path):
    for name, value in (("URI", server.uri), ("USER", server.user), ("PASSWORD", server.password)):
        monkeypatch.setenv(f"MEMGRAPH_ENGINE_{name}", value)
    memory.add("The tide turns at noon.", user_id="ana", wait=False)
    runner = CliRunner()
    well = runner.invoke(app, ["health", "--json", "--tenant", tenant])
    assert (well.exit_code, json.loads(well.stdout)["ok"]) == (0, True)
    late = runner.invoke(app, ["health", "--tenant", tenant, "--overdue", "0"])
    assert late.exit_code == 1
    assert "waits to construct" in late.stdout
    monkeypatch.setenv("MEMGRAPH_ENGINE_URI", "bolt://127.0.0.1:1")
    monkeypatch.setenv("MEMGRAPH_ENGINE_RETRY_TIME", "0.1")
    gone = runner.invoke(app, ["health", "--json"])
    assert gone.exit_code == 1
    assert "No Neo4j answers" in json.loads(gone.stdout)["faults"][0]
    monkeypatch.delenv("MEMGRAPH_ENGINE_URI")
    monkeypatch.setenv("MEMGRAPH_ENGINE_HOME", str(tmp_path / "none"))
    none = runner.invoke(app, ["health", "--json"])
    assert none.exit_code == 1
    assert "does not run" in json.loads(none.stdout)["faults"][0]
    assert not (tmp_path / "none").exists()
