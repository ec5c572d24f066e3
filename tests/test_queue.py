"""How much waits for workers is told by groups of tenants; servers and workers tell it, and end in time."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from datetime import timedelta
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from memgraph_engine import Memory, Settings, Unreachable
from memgraph_engine.integrations.rest import waiting
from memgraph_engine.testing import purge
from memgraph_engine.worker.queue import queues
from memgraph_engine.worker.work import JOBS
from tests.keys import issue

FERRY = "The ferry to Almada leaves at eight."


@pytest.fixture
def of(server, tenant, embedder, clock):
    """Connect for a tenant whose name begins with this test's; returns the memory."""
    opened = {}

    def one(name):
        settings = Settings.load(tenant=tenant + name, worker={"tenant_groups": [f"{tenant}-eu", tenant]})
        opened[name] = Memory.connect(settings=settings, embedder=embedder, clock=clock)
        return opened[name]

    yield one
    for name, memory in opened.items():
        purge(tenant + name)
        memory.close()


def told(memory, tenant=None):
    """The jobs that are due, by group and job; what other tests left in the database is in the group ''."""
    return {
        (one.group, one.job): (one.memories, one.notes, one.since)
        for one in queues(memory.engine, tenant)
        if one.group and one.memories
    }


def test_what_waits_is_counted_by_the_first_group_that_fits_a_tenants_name(of, tenant, clock):
    europe, other = of("-eu-1"), of("-us")
    began = clock.now
    europe.add(FERRY, user_id="ana", wait=False)
    clock.now += timedelta(minutes=5)
    for user in ("ana", "ben"):
        europe.add("The heron eats fish.", user_id=user, wait=False)
    other.add(FERRY, user_id="ana", wait=False)
    assert told(other) == {
        (f"{tenant}-eu", "construct"): (2, 3, began),
        (tenant, "construct"): (1, 1, clock.now),
    }
    assert told(other, f"{tenant}-us") == {(tenant, "construct"): (1, 1, clock.now)}
    for memory in (europe, other):
        memory.process(user_id="ana")
    assert told(other) == {(f"{tenant}-eu", "construct"): (1, 1, clock.now)}


def test_each_job_of_each_group_is_told_where_nothing_waits_too(of, tenant):
    found = [one for one in queues(of("").engine, tenant) if one.group == tenant]
    assert [one.job for one in found] == [job.name for job in JOBS]
    assert {(one.memories, one.notes, one.since) for one in found} == {(0, 0, None)}


def test_jobs_that_are_due_by_what_was_written_and_what_has_ended_are_told(of, tenant, clock):
    memory = of("")
    memory.add("My train leaves at nine.", user_id="ana", policy="ephemeral")
    for text in (FERRY, "The heron eats fish."):
        memory.add(text, user_id="ben")
    memory.limit(1, user_id="ben")
    assert told(memory, tenant) == {(tenant, "evict"): (1, 0, None)}
    began = clock.now
    clock.now += timedelta(days=2)
    assert told(memory, tenant) == {
        (tenant, "expire"): (1, 0, began + timedelta(days=1)),
        (tenant, "evict"): (1, 0, None),
    }


def test_health_counts_the_notes_that_wait(memory):
    for user, text in (("ana", FERRY), ("ana", "The heron eats fish."), ("ben", FERRY)):
        memory.add(text, user_id=user, wait=False)
    (found,) = memory.health().undone
    assert (found.job, found.memories, found.notes) == ("construct", 2, 3)


def test_a_database_that_does_not_answer_leaves_the_other_counts(memory, monkeypatch):
    def unreachable(*_):
        raise Unreachable("No Neo4j answers.")

    monkeypatch.setattr(waiting, "queues", unreachable)
    assert [one.samples for one in waiting.Waiting(memory, None).collect()] == [[], [], []]


# ---- processes --------------------------------------------------------------------------------

HANGS = """
import sys, time
from memgraph_engine import Memory
from memgraph_engine.cli import app
from memgraph_engine.integrations.rest import serving  # routes are made of the methods as they are
from memgraph_engine.writing.adding import Construction

def hang(*_, **__):
    print("it hangs", file=sys.stderr, flush=True)
    time.sleep(3600)

Memory.search = Construction.work = hang
app()
"""
RUNS = "from memgraph_engine.cli import app; app()"


@contextmanager
def started(tenant, code, *words, **environment):
    """Run a command; yield the process."""
    given = {f"MEMGRAPH_ENGINE_{name}": value for name, value in environment.items()}
    env = {**os.environ, "MEMGRAPH_ENGINE_TENANT": tenant, "MEMGRAPH_ENGINE_WORKER__EVERY": "0.1", **given}
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def address(process):
    """Where it says that it listens."""
    line = process.stderr.readline()
    found = re.search(r"http://[\d.:]+", line)
    assert found, line + process.stderr.read()
    return found[0]


def asked(url, key=None):
    """The status and the body of an answer."""
    try:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        with urlopen(Request(url, headers=headers), timeout=30) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def until(so, limit=60.0):
    """Wait until something is so, and return it; fail after so many seconds."""
    end = time.monotonic() + limit
    while not (found := so()):
        assert time.monotonic() < end, f"It was not so within {limit:g} seconds."
        time.sleep(0.1)
    return found


def ended(process, limit):
    """The exit code of a process that is told to stop, and what it said; it has so many seconds."""
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=limit)
    return process.returncode, said


def count(page, name):
    """The value of a metric, None where it is not told."""
    found = re.search(rf"^{re.escape(name)} (.*)$", page, re.MULTILINE)
    return found and float(found[1])


@pytest.mark.slow
def test_a_worker_tells_how_it_is_and_what_waits_of_its_tenant_alone(memory, tenant):
    with started(tenant, HANGS, "worker", "--metrics", "0", WORKER__STOP="1") as process:
        where = address(process)
        assert asked(f"{where}/health/live")[0] == 200
        until(lambda: asked(f"{where}/health/ready")[0] == 200)
        status, page = asked(f"{where}/metrics")
        assert (status, count(page, 'memgraph_engine_waiting_notes{group=""}')) == (200, 0)
        memory.add(FERRY, user_id="ana", wait=False)
        until(lambda: count(asked(f"{where}/metrics")[1], 'memgraph_engine_due_jobs{group="",job="construct"}') == 1)
        page = asked(f"{where}/metrics")[1]
        assert count(page, 'memgraph_engine_waiting_notes{group=""}') == 1
        assert 0 <= count(page, 'memgraph_engine_oldest_seconds{group="",job="construct"}') < 600
        assert tenant not in page
        assert asked(f"{where}/v1/notes")[0] == 404


@pytest.mark.slow
def test_a_server_tells_what_waits(memory, tenant):
    memory.add(FERRY, user_id="ana", wait=False)
    key, groups = issue(memory).secret, f'["{tenant}"]'
    with started(tenant, RUNS, "serve", "--port", "0", WORKER__TENANT_GROUPS=groups) as process:
        page = asked(f"{address(process)}/metrics", key)[1]
        assert count(page, f'memgraph_engine_waiting_notes{{group="{tenant}"}}') == 1
        assert count(page, 'memgraph_engine_waiting_notes{group=""}') is not None
        assert ended(process, 30)[0] == 0


@pytest.mark.slow
def test_a_worker_whose_job_hangs_ends_in_time_and_another_does_the_job(memory, tenant):
    memory.add(FERRY, user_id="ana", wait=False)
    with started(tenant, HANGS, "worker", WORKER__STOP="1") as process:
        assert process.stderr.readline() == "it hangs\n"
        code, said = ended(process, 10)
    assert code == 0
    assert "cut off" in said
    assert memory.health().undone[0].notes == 1
    with started(tenant, RUNS, "worker") as process:
        until(lambda: not memory.health().undone)
        assert ended(process, 30) == (0, "")
    assert memory.verify(user_id="ana") == []


@pytest.mark.slow
def test_a_server_whose_request_hangs_ends_in_time(memory, tenant):
    key = issue(memory).secret
    with started(tenant, HANGS, "serve", "--port", "0", SERVE__STOP="1") as process:
        where = address(process).removeprefix("http://").split(":")
        body = b'{"query": "When does the ferry leave?"}'
        head = f"POST /v1/search?user_id=ana HTTP/1.1\r\nHost: {where[0]}\r\nAuthorization: Bearer {key}\r\n"
        with socket.create_connection((where[0], int(where[1]))) as one:
            one.sendall(f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            assert process.stderr.readline() == "it hangs\n"
            code, said = ended(process, 15)
    assert code == 0
    assert "cut off" in said


@pytest.mark.slow
@pytest.mark.parametrize("words", [("serve", "--port", "0"), ("worker",)])
def test_it_ends_well_while_it_still_waits_for_its_database(tenant, words):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        where = {"URI": f"bolt://127.0.0.1:{silent.getsockname()[1]}", "CONNECT_TIMEOUT": "60"}
        with started(tenant, RUNS, *words, **where) as process:
            silent.settimeout(60)
            with silent.accept()[0]:  # it has connected, and hears nothing
                assert ended(process, 20) == (0, "")
