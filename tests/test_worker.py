"""The worker on the real database: what is due, who does it, and how it ends."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import neo4j
import pytest
from typer.testing import CliRunner

from memgraph_engine import Memory, Settings
from memgraph_engine.cli import app
from memgraph_engine.engine.passes import WAIT, Pass
from memgraph_engine.errors import SettingsError, Unreachable
from memgraph_engine.graph import leases, topics
from memgraph_engine.testing import purge
from memgraph_engine.topics import rebuild
from memgraph_engine.topics.rebuild import Topics
from memgraph_engine.worker import work
from memgraph_engine.worker.work import Worker
from tests.clocks import Clock
from tests.test_topics import KITCHEN, SEA, faults, plant, topics_of

FERRY = "The ferry to Madeira leaves at noon."


@pytest.fixture
def clock():
    return Clock(datetime(2026, 5, 4, 12, tzinfo=UTC))


@pytest.fixture
def connect(tenant, embedder, clock):
    """Connect with settings of the worker; each memory is closed at the end."""
    opened = []

    def one(**given):
        settings = Settings.load(tenant=tenant, worker={"every": 0.05, "topics_after": 0, **given})
        opened.append(Memory.connect(embedder=embedder, settings=settings, clock=clock))
        return opened[-1]

    yield one
    for memory in opened:
        memory.close()


def hearing(run, hear):
    """A run of a job of whose phases somebody hears first."""

    def heard(job):
        tell = job.tell
        job.tell = lambda at: (hear(at), tell(at))
        return run(job)

    return heard


def work_once(memory, **given):
    """What one worker does; told as (kind, scope's user, outcome)."""
    jobs = []
    assert Worker(memory.engine, tell=jobs.append, **given).once()
    return [(job.kind, job.scope.partition("/")[2], job.outcome) for job in jobs]


def until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def held(memory):
    """Leases of this tenant that are not given back."""
    with memory.engine.db._session() as session:
        names = session.run("MATCH (l:Lease) RETURN l.name AS name").value("name")
    return [name for name in names if f" {memory.engine.settings.tenant}/" in name]


# ---- what is due ----------------------------------------------------------------------------------


def test_pending_notes_are_constructed(connect):
    memory = connect()
    memory.add(FERRY, user_id="ana", wait=False)
    memory.add(FERRY, shared=True, wait=False)
    assert sorted(work_once(memory)) == [("construct", "", "done"), ("construct", "ana", "done")]
    assert memory.stats(user_id="ana").notes == {"active": 1}
    assert work_once(memory) == []


def test_topics_are_found_after_so_many_notes(connect):
    memory = connect(topics_after=3)
    memory.add_many(["The ferry leaves at noon.", "The baker sells rye bread."], user_id="ana")
    assert work_once(memory) == []
    memory.add("The tide turns at noon.", user_id="bo")
    said = Worker(memory.engine).waits()
    assert said.endswith("/ana wait until 3 new notes have keywords (2 do), and 1 more memory waits longer")
    assert memory.health().fresh == 2
    memory.add("My bicycle has a flat tyre.", user_id="ana")
    assert work_once(memory) == [("topics", "ana", "done")]
    assert len(memory.topic_runs(user_id="ana")) == 1
    assert Worker(memory.engine).waits().endswith("/bo wait until 3 new notes have keywords (1 do)")
    assert memory.health().fresh == 1
    memory.add_many(["The heron caught a fish.", "Our beekeeper sold two hives."], user_id="ana")
    assert work_once(memory) == []


def test_a_worker_that_runs_once_says_what_topics_wait_for(connect, monkeypatch, tenant, server):
    memory = connect(topics_after=3)
    memory.add("The ferry leaves at noon.", user_id="ana")
    for name, value in (("URI", server.uri), ("USER", server.user), ("PASSWORD", server.password)):
        monkeypatch.setenv(f"MEMGRAPH_ENGINE_{name}", value)
    monkeypatch.setenv("MEMGRAPH_ENGINE_WORKER__TOPICS_AFTER", "3")
    told = CliRunner().invoke(app, ["worker", "--once", "--tenant", tenant])
    assert "ana wait until 3 new notes have keywords (1 do)" in told.stdout, told.output
    assert (
        "1 new note with keywords, in the memory that has most; a worker finds topics anew from 3 on"
        in CliRunner().invoke(app, ["health", "--tenant", tenant]).stdout
    )


def test_a_deferred_note_counts_when_it_is_constructed(connect):
    memory = connect(topics_after=2)
    memory.add_many(["The ferry leaves at noon.", "The baker sells rye bread."], user_id="ana", wait=False)
    assert work_once(memory) == [("construct", "ana", "done"), ("topics", "ana", "done")]


def test_what_adds_no_note_is_not_counted(connect):
    memory = connect(topics_after=2)
    memory.add(FERRY, user_id="ana", id="f")
    memory.add("Haha, thanks!", user_id="ana")
    memory.delete("f", user_id="ana")
    assert work_once(memory) == []


def test_topics_are_found_at_the_times_of_a_cron_expression(connect, clock):
    memory = connect(topics_cron="0 3 * * *")
    plant(memory, "ana", SEA)
    assert work_once(memory) == [("topics", "ana", "done")]  # never looked for
    plant(memory, "ana", KITCHEN)
    clock.now += timedelta(hours=14, minutes=59)
    assert work_once(memory) == []
    clock.now += timedelta(minutes=1)  # 3 o'clock
    assert work_once(memory) == [("topics", "ana", "done")]
    assert work_once(memory) == []


def test_a_time_without_a_worker_is_made_up_for_once(connect, clock):
    memory = connect(topics_cron="0 3 * * *")
    plant(memory, "ana", SEA)
    work_once(memory)
    plant(memory, "ana", KITCHEN)
    clock.now += timedelta(days=9)
    assert work_once(memory) == [("topics", "ana", "done")]


def test_where_nothing_has_changed_nothing_is_due(connect, clock):
    memory = connect(topics_cron="* * * * *", topics_after=1)
    plant(memory, "ana", SEA)
    work_once(memory)
    clock.now += timedelta(days=1)
    assert work_once(memory) == []


def test_the_time_of_a_cron_expression_is_that_of_the_setting(tenant, embedder, clock):
    settings = Settings.load(tenant=tenant, timezone="Asia/Tokyo", worker={"topics_cron": "0 3 * * *"})
    with Memory.connect(embedder=embedder, settings=settings, clock=clock) as memory:
        plant(memory, "ana", SEA)
        work_once(memory)
        plant(memory, "ana", KITCHEN)
        clock.now = datetime(2026, 5, 4, 17, 59, tzinfo=UTC)
        assert work_once(memory) == []
        clock.now = datetime(2026, 5, 4, 18, tzinfo=UTC)
        assert work_once(memory) == [("topics", "ana", "done")]


@pytest.mark.parametrize("cron", ["61 * * * *", "every day", "0 3 * *"])
def test_a_cron_expression_that_is_none_is_refused(cron):
    with pytest.raises(SettingsError, match=r"worker\.topics_cron.*no cron expression"):
        Settings.load(worker={"topics_cron": cron})


def test_a_worker_serves_its_tenant_or_all_of_them(connect, tenant, embedder, monkeypatch):
    memory, waiting = connect(), work.waiting

    def of_this_test(*given, **more):  # what is due in memories of other tests, by their own clocks, is left to them
        return [one for one in waiting(*given, **more) if one.scope.tenant.startswith(tenant)]

    monkeypatch.setattr(work, "waiting", of_this_test)
    monkeypatch.setattr(work.scopes, "imports_cut_off", lambda *_: [])
    settings = Settings.load(tenant=f"{tenant}/other", worker={"topics_after": 0})
    try:
        with Memory.connect(embedder=embedder, settings=settings) as other:
            other.add(FERRY, user_id="ana", wait=False)
            assert work_once(memory) == []
            jobs = []
            Worker(memory.engine, every_tenant=True, tell=jobs.append).once()
            assert f"{tenant}%2Fother/ana" in [job.scope for job in jobs]
            assert other.stats(user_id="ana").notes == {"active": 1}
    finally:
        purge(f"{tenant}/other")


# ---- several workers --------------------------------------------------------------------------------


def test_workers_at_once_do_each_job_once(connect):
    memory = connect(topics_after=1)
    users = [f"user{n}" for n in range(6)]
    for user in users:
        memory.add(FERRY, user_id=user, wait=False)
    jobs, start = [], threading.Barrier(3)

    def go():
        start.wait()
        Worker(memory.engine, tell=jobs.append).once()

    threads = [threading.Thread(target=go) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work_once(memory)
    done = Counter((job.kind, job.scope.partition("/")[2]) for job in jobs)
    assert {job.outcome for job in jobs} == {"done"}
    assert all(times == 1 for times in done.values())
    for user in users:
        assert memory.stats(user_id=user).notes == {"active": 1}
        assert len(memory.topic_runs(user_id=user)) == 1
    assert held(memory) == []


def test_a_memory_that_another_worker_is_at_is_left_to_it(connect):
    memory = connect()
    memory.add(FERRY, user_id="ana", wait=False)
    with leases.held(memory.engine.db, f"work {memory.engine.settings.tenant}/ana"):
        assert work_once(memory) == []
    assert work_once(memory) == [("construct", "ana", "done")]


def test_of_those_who_ask_for_a_lease_while_it_is_given_back_one_holds_it(server, memory):
    db, name = memory.engine.db, f"work {memory.engine.settings.tenant}/ana"
    assert leases.acquire(db, name, "first", seconds=60)
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:

        def blocked():
            found = driver.execute_query("SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN 1")
            return len(found.records) >= 3

        with driver.session() as session, ThreadPoolExecutor(3) as threads:
            giving = session.begin_transaction()
            giving.run("MATCH (l:Lease {name: $name}) DELETE l", name=name).consume()
            asked = [threads.submit(leases.acquire, db, name, holder, seconds=60) for holder in ("b", "c", "d")]
            until(blocked)
            giving.commit()
            holders = sum(one.result() for one in asked)
        (kept,) = driver.execute_query("MATCH (l:Lease {name: $name}) RETURN count(l)", name=name).records[0]
    assert holders == kept <= 1
    assert leases.acquire(db, name, "last", seconds=60) is (holders == 0)
    for holder in ("b", "c", "d", "last"):
        leases.release(db, name, holder)
    assert held(memory) == []


@pytest.mark.parametrize("moment", ["before the lease", "partition", "write"])
def test_a_worker_whose_leases_lapsed_does_not_tell_of_what_another_did(connect, monkeypatch, moment):
    memory = connect(topics_after=1)
    plant(memory, "ana", SEA)
    memory.add(FERRY, user_id="ana")
    inner, reached, told, of_other = Topics.run, [], [], []

    def reach(phase):
        reached.append(phase)
        if phase == moment and reached.count(moment) == 1:
            of_other.extend(work_once(memory))

    def lapsed(_db, name, _holder, *, seconds):
        if name.startswith("topics"):
            reach("before the lease")
        return True

    monkeypatch.setattr(leases, "acquire", lapsed)
    monkeypatch.setattr(Topics, "run", hearing(inner, reach))
    assert Worker(memory.engine, tell=told.append).once()
    assert (told, of_other) == ([], [("topics", "ana", "done")])
    assert len(memory.topic_runs(user_id="ana")) == 1
    assert faults(memory) == []


KILLED = """
import os, signal, sys
from memgraph_engine import Memory, Settings
from memgraph_engine.graph import leases
from memgraph_engine.testing import HashingEmbedder
from memgraph_engine.worker.work import Worker
from memgraph_engine.topics.rebuild import Topics

leases._SECONDS = 1.0
run = Topics.run

def killed(topics):
    def reached(phase):
        if phase == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGKILL)
    topics.tell = reached
    return run(topics)

Topics.run = killed
embedder = HashingEmbedder(384, sys.argv[2])  # no text is embedded: another model's would be loaded for nothing
Worker(Memory.connect(embedder=embedder, settings=Settings.load(worker={"topics_after": 1})).engine).once()
"""


@pytest.mark.slow
@pytest.mark.parametrize("phase", rebuild.PHASES)
def test_another_worker_takes_over_from_one_that_was_killed(connect, tenant, phase):
    memory = connect(topics_after=1)
    plant(memory, "ana", SEA)
    work_once(memory)
    plant(memory, "ana", KITCHEN)
    memory.add("The rope and the anchor lie on the quay.", user_id="ana")
    before = topics_of(memory, "ana")
    environment = {**os.environ, "MEMGRAPH_ENGINE_TENANT": tenant}
    command = [sys.executable, "-c", KILLED, phase, memory.engine.embedder.name]
    killed = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert topics_of(memory, "ana") == before
    assert len(memory.topic_runs(user_id="ana")) == 1
    until(lambda: work_once(memory) == [("topics", "ana", "done")])
    assert frozenset(KITCHEN) in topics_of(memory, "ana")
    assert faults(memory) == []
    assert held(memory) == []


# ---- how it ends --------------------------------------------------------------------------------------


@pytest.fixture
def started(memory, tenant):
    """Start the command; yields a function that returns the process and its first line."""
    begun = []

    def start(*words, **environment):
        env = {**os.environ, "MEMGRAPH_ENGINE_TENANT": tenant, "MEMGRAPH_ENGINE_WORKER__EVERY": "0.1", **environment}
        begun.append(
            subprocess.Popen(
                [sys.executable, "-c", "from memgraph_engine.cli import app; app()", *words],
                env=env,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return begun[-1], begun[-1].stdout.readline()

    yield start
    for process in begun:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_exit_code_0(memory, started, which):
    process, first = started("worker")
    assert "worker started" in first
    memory.add(FERRY, user_id="ana", wait=False)
    assert "construct done (pending notes" in process.stdout.readline()
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == 10  # what answers users goes first
    process.send_signal(which)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")
    assert out.endswith("worker stopped\n")
    assert held(memory) == []


@pytest.mark.parametrize("phase", ["read", "partition", "label"])
def test_a_job_that_has_written_nothing_is_left_when_it_is_to_stop(connect, monkeypatch, phase):
    memory = connect(topics_after=1)
    plant(memory, "ana", SEA)
    memory.add(FERRY, user_id="ana")
    jobs = []
    worker = Worker(memory.engine, tell=jobs.append)
    monkeypatch.setattr(Topics, "run", hearing(Topics.run, lambda at: at == phase and worker.stop()))
    worker.run()
    assert [(job.kind, job.outcome) for job in jobs] == [("topics", "stopped")]
    assert memory.topic_runs(user_id="ana") == []
    assert held(memory) == []
    monkeypatch.undo()
    assert work_once(memory) == [("topics", "ana", "done")]


def test_it_does_not_wait_for_another_run_when_it_is_to_stop(connect, monkeypatch):
    memory = connect(topics_after=1)
    memory.add(FERRY, user_id="ana")
    jobs = []
    worker = Worker(memory.engine, tell=jobs.append)
    monkeypatch.setattr(Topics, "run", hearing(Topics.run, lambda at: at == WAIT and worker.stop()))
    with leases.held(memory.engine.db, f"topics {memory.engine.settings.tenant}/ana"):
        worker.run()
    assert [(job.kind, job.outcome) for job in jobs] == [("topics", "stopped")]


def test_what_is_about_to_be_written_is_written_when_it_is_to_stop(connect, monkeypatch):
    memory = connect(topics_after=1)
    memory.add(FERRY, user_id="ana")
    worker = Worker(memory.engine)
    monkeypatch.setattr(topics, "middles", lambda *given: (worker.stop(), {})[1])
    worker.run()
    assert len(memory.topic_runs(user_id="ana")) == 1


def test_once_ends_and_tells_in_json(memory, tenant):
    memory.add(FERRY, user_id="ana", wait=False)
    result = CliRunner().invoke(app, ["worker", "--once", "--json", "--tenant", tenant])
    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["kind"] for line in lines] == ["started", "construct", "waits", "stopped"]
    assert lines[1]["scope"] == f"{tenant}/ana"
    assert lines[1]["counts"] == {"append": 1}
    assert lines[1]["outcome"] == "done"


def test_all_tenants_and_one_are_two_things(tenant):
    assert CliRunner().invoke(app, ["worker", "--all-tenants", "--tenant", tenant]).exit_code == 2


# ---- what goes wrong ------------------------------------------------------------------------------------


def test_a_job_that_fails_keeps_no_other_one_waiting(connect, monkeypatch):
    memory = connect(topics_after=1)
    plant(memory, "ana", SEA)
    for user in ("ana", "bo"):
        memory.add(FERRY, user_id=user)
    inner, tried = Topics.run, []

    def faulty(topics):
        tried.append(topics.scope.user)
        if topics.scope.user == "ana":
            raise ValueError("The partition is empty.")
        return inner(topics)

    monkeypatch.setattr(Topics, "run", faulty)
    jobs = []
    assert not Worker(memory.engine, tell=jobs.append).once()
    assert sorted((job.scope.partition("/")[2], job.outcome, job.error) for job in jobs) == [
        ("ana", "failed", "The partition is empty."),
        ("bo", "done", ""),
    ]
    assert held(memory) == []
    command = ["worker", "--once", "--tenant", memory.engine.settings.tenant]
    result = CliRunner().invoke(app, command, env={"MEMGRAPH_ENGINE_WORKER__TOPICS_AFTER": "1"})
    assert result.exit_code == 1
    assert "/ana topics failed" in result.stdout
    assert "The partition is empty." in result.stdout


def test_what_failed_is_tried_again_after_a_rest(connect, monkeypatch):
    memory = connect(topics_after=1)
    memory.add(FERRY, user_id="ana")
    monkeypatch.setattr(work, "_FIRST_REST", 0.2)
    inner, jobs = Topics.run, []

    def once_faulty(topics):
        if not jobs:
            raise Unreachable("Gone.")
        return inner(topics)

    monkeypatch.setattr(Topics, "run", once_faulty)
    worker = Worker(memory.engine, tell=lambda job: (jobs.append(job), job.outcome == "done" and worker.stop()))
    worker.run()
    assert [job.outcome for job in jobs] == ["failed", "done"]


def test_a_database_that_goes_away_is_waited_for(connect, monkeypatch):
    memory = connect()
    memory.add(FERRY, user_id="ana", wait=False)
    inner, jobs = work.waiting, []

    def gone_at_first(db, tenant, *since):
        if not jobs:
            raise Unreachable("No Neo4j answers.")
        return inner(db, tenant, *since)

    monkeypatch.setattr(work, "waiting", gone_at_first)
    worker = Worker(memory.engine, tell=lambda job: (jobs.append(job), job.outcome == "done" and worker.stop()))
    worker.run()
    assert [(job.kind, job.outcome) for job in jobs] == [("look", "failed"), ("construct", "done")]


def test_a_new_job_is_a_row_of_the_table(connect):
    memory, done = connect(), []

    class Count(Pass[int]):
        name, lease, most = "count", "count", 3

        @classmethod
        def due(cls, engine, waiting, now):
            return "never counted" if not done else ""

        def work(self):
            done.append(self.scope.user)
            return 1

        def counts(self, made):
            return {"counted": made}

    memory.add(FERRY, user_id="ana")
    told = []
    worker = Worker(memory.engine, tell=told.append)
    worker.jobs = (*worker.jobs, Count)
    assert worker.once()
    assert done == ["ana"] * 3
    assert [(run.kind, run.why, run.counts) for run in told] == [("count", "never counted", {"counted": 1})] * 3


def test_without_an_engine_for_topics_it_says_how_to_get_them_and_constructs(connect, monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "graspologic_native", None)
    memory = connect(topics_after=1)
    memory.add_many([FERRY, "The tide turns at noon."], user_id="ana", wait=False)
    worker = Worker(memory.engine)
    assert all(worker.once() for _ in range(3))
    assert memory.stats(user_id="ana").notes == {"active": 2}
    assert memory.stats(user_id="ana").topics == 0
    (told,) = caplog.messages
    assert "Topics are not found" in told
    assert "pip install 'memgraph-engine[topics]'" in told
    assert worker.plans["topics"].startswith("never")
    caplog.clear()
    Worker(connect().engine)  # topics are never due here, so nothing is lacking
    assert caplog.messages == []
