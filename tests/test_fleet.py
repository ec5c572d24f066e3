"""Many processes on Ray write what one process would write, whatever dies meanwhile."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

ray = pytest.importorskip("ray")

from memgraph_engine import Memory, fleet  # noqa: E402
from memgraph_engine.cli import app  # noqa: E402
from memgraph_engine.errors import InvalidInput, StoreError, StoreMismatch, Unreachable  # noqa: E402
from memgraph_engine.fleet import actors, bulk, cluster  # noqa: E402
from memgraph_engine.importers import import_jsonl  # noqa: E402
from memgraph_engine.model.scope import Scope  # noqa: E402
from memgraph_engine.worker.work import Worker  # noqa: E402
from tests import fleets  # noqa: E402

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def nodes(server):
    """A cluster of two processors."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_worker_niceness", "0")  # by default they give way to all else
        patch.setenv("PYTHONPATH", str(Path(__file__).parent.parent))
        ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False, namespace="memgraph-engine")
        yield
        ray.shutdown()


def test_two_workers_write_the_graph_that_one_process_writes(tenant, nodes, tmp_path):
    settings, file = fleets.settings_of(tenant), fleets.file_of(tmp_path, fleets.records())
    alone = fleets.by_one_process(settings, lambda memory: import_jsonl(memory, file))
    with fleet.over(settings, workers=2, clock=fleets.noon) as memory:
        done = import_jsonl(memory, file)
        assert memory.engine.spread.preparers
        again = import_jsonl(memory, file)
        fleets.assert_same(alone, fleets.whole(memory))
    each = len(fleets.records()) // len(fleets.USERS)
    assert done.users == again.users == dict.fromkeys(fleets.USERS, each)
    assert done.faulty == again.faulty == 1
    assert done.done.repeats == 0
    assert again.done.repeats == len(fleets.records())


def test_a_folder_and_single_files_come_as_one_process_reads_them(tenant, nodes, tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(3):
        parts = (f"## Part {part}\n\nThe tide of day {number} turns at {part}." for part in range(6))
        (folder / f"{number}.md").write_text("\n\n".join(["# Tides", *parts]))
    settings = fleets.settings_of(tenant)

    def ingest(memory):
        done = memory.ingest(folder, user_id="ana")
        (folder / "1.md").write_text("# Tides\n\nNo tide any more.")
        done += memory.ingest(folder, user_id="ana", update=True)
        (folder / "1.md").write_text("# Tides\n\n" + "\n\n".join(f"The tide of day 1 turns at {n}." for n in range(6)))
        done += memory.ingest(folder / "0.md", user_id="bo")
        return done + memory.ingest(folder, user_id="cy")

    given = {one.name: one.read_text() for one in folder.iterdir()}
    told = []
    alone = fleets.by_one_process(settings, lambda memory: told.append(ingest(memory)))
    for name, text in given.items():
        (folder / name).write_text(text)
    with fleet.over(settings, workers=2, clock=fleets.noon) as memory:
        assert ingest(memory) == told[0]
        fleets.assert_same(alone, fleets.whole(memory))


def test_records_are_messages_and_files_and_what_is_wrong_is_told_by_its_number(tenant, nodes, tmp_path):
    (tmp_path / "notes.md").write_text("# Boats\n\nThe old boat leaks.")
    some = [
        ("ana", "The tide turns at noon."),
        ("ana", {"text": 17}),
        ("bo", tmp_path / "notes.md"),
        ("ana", {"text": "The ferry leaves at nine.", "session": "s"}),
        ("bo", tmp_path / "missing.md"),
    ]
    settings, heard = fleets.settings_of(tenant), []
    done = fleet.ingest(some, settings, workers=1, progress=heard.append)
    again = fleet.ingest(some, settings, workers=1)
    assert done.done.added == 3
    assert done.users == {"ana": 2, "bo": 1}
    assert [(one.file, one.line) for one in done.done.faults] == [("records", 2), ("records", 5)]
    assert "missing.md" in str(done.done.faults[1])
    assert heard[-1] == done
    assert again.done.added == 0
    assert again.done.repeats == 3


def test_what_kills_each_worker_ends_the_call_and_is_told(tenant, nodes, monkeypatch):
    monkeypatch.setattr(bulk, "_TRIES", 1)
    with fleet.over(fleets.settings_of(tenant), workers=1) as memory:
        engine = memory.engine
        engine.spread.hand(engine, Scope(tenant, "ana"), [], fleets.die, print)
        with pytest.raises(StoreError, match="die at the same 1 inputs again and again"):
            engine.spread.settle()


@pytest.mark.parametrize("which", ["preparers", "loaders"])
def test_a_process_that_is_killed_in_the_middle_costs_nothing_but_time(tenant, nodes, which):
    settings, some = fleets.settings_of(tenant), fleets.records()
    alone = fleets.by_one_process(settings, lambda memory: bulk.bring(memory, some))
    killed = []
    with fleet.over(settings, workers=2, clock=fleets.noon) as memory:
        processes = ray.get([one.process.remote() for one in getattr(memory.engine.spread, which)])

        def kill(done):
            if not killed and done.done.added:
                killed.append(processes[0])
                os.kill(processes[0], signal.SIGKILL)

        done = bulk.bring(memory, some, kill)
        assert ray.get(getattr(memory.engine.spread, which)[0].process.remote()) != processes[0]
        fleets.assert_same(alone, fleets.whole(memory))
    assert killed
    assert sum(done.users.values()) == len(some)
    assert not done.faulty


def test_what_is_stored_is_neither_embedded_nor_written_again(tenant, nodes, monkeypatch):
    settings, some = fleets.settings_of(tenant), fleets.records()
    alone = fleets.by_one_process(settings, lambda memory: bulk.bring(memory, some))
    prepared = []
    known = bulk._known
    monkeypatch.setattr(bulk, "_known", lambda *given: prepared.append(known(*given)) or prepared[-1])

    class Cut(Exception):
        pass

    def cut(done):
        if done.done.added >= 12:
            raise Cut

    with suppress(Cut), fleet.over(settings, workers=1, clock=fleets.noon) as memory:
        bulk.bring(memory, some, cut)
    prepared.clear()
    with fleet.over(settings, workers=1, clock=fleets.noon) as memory:
        done = bulk.bring(memory, some)
        fleets.assert_same(alone, fleets.whole(memory))
    assert done.done.repeats >= 12
    assert done.done.added > 0
    assert True in prepared
    assert False in prepared


def test_no_more_is_under_way_than_the_bound(tenant, nodes, monkeypatch):
    monkeypatch.setattr(bulk, "_AHEAD", 2)
    most = []
    begin = bulk.Fleet._begin
    monkeypatch.setattr(bulk.Fleet, "_begin", lambda self, place: most.append(self._weight) or begin(self, place))
    bulk.ingest(fleets.records(), fleets.settings_of(tenant), workers=1)
    assert 4 < max(most) <= 8


def test_jobs_are_spread_over_workers_and_done_once(tenant, nodes):
    settings = fleets.settings_of(tenant)
    users = [f"user-{number}" for number in range(8)]
    with Memory.connect(settings=settings) as memory:
        for user in users:
            memory.add_many([message for _, message in fleets.records([user])], user_id=user, wait=False)
        told = []
        with fleet.Workers.of(memory.engine, workers=2, tell=told.append) as workers:
            assert workers.once()
        assert all(memory.stats(user_id=user).notes.get("pending", 0) == 0 for user in users)
        assert Worker(memory.engine, tell=told.append).once()
    made = [run for run in told if run.kind == "construct"]
    assert {run.scope for run in made} == {f"{tenant}/{user}" for user in users}
    assert sum(sum(run.counts.values()) for run in made) == len(fleets.records(users))
    assert {run.outcome for run in told} == {"done"}


def test_an_error_of_a_node_comes_as_it_was_raised(tenant, nodes):
    settings = fleets.settings_of(tenant, language="english")
    with Memory.connect(settings=settings) as memory:
        memory.add("The tide turns at noon.", user_id="ana")
    other = settings.model_copy(update={"language": "spanish"})
    with fleet.over(other, workers=1) as memory, pytest.raises(StoreMismatch, match="is in english"):
        bulk.bring(memory, [("ana", "Otra cosa.")])


def test_nothing_is_begun_where_a_node_has_another_version(tenant, nodes, monkeypatch):
    monkeypatch.setattr(cluster, "VERSION", "0.0.1")
    with (
        pytest.raises(StoreMismatch, match=r"has memgraph-engine \d.*and this process 0\.0\.1: nothing was begun"),
        fleet.over(fleets.settings_of(tenant), workers=1),
    ):
        pass
    assert not [one for one in ray._private.state.actors().values() if one["State"] == "ALIVE"]


def test_a_process_that_is_started_later_refuses_another_version():
    with pytest.raises(StoreMismatch, match=r"and this process 0\.0\.1"):
        cluster.learnt(("0.0.1", []))


def test_nothing_is_begun_where_other_machines_cannot_reach_the_database(tenant, nodes, monkeypatch):
    here = ray.nodes()[0]
    monkeypatch.setattr(cluster._ray, "nodes", lambda: [here, {**here, "NodeManagerAddress": "192.0.2.200"}])
    with (
        pytest.raises(Unreachable, match="can't be reached from the other machines of the Ray cluster"),
        fleet.over(fleets.settings_of(tenant), workers=1),
    ):
        pass


def test_no_password_stands_in_what_ray_records(tenant, nodes, server):
    with fleet.over(fleets.settings_of(tenant), workers=1) as memory:
        bulk.bring(memory, [("ana", "The tide turns at noon.")])
        sent = cluster.Sent.of(memory.engine, {})
        assert server.password not in repr(sent) + repr(sent.settings) + repr(cluster.where(memory.engine, {}))
        assert server.password not in str(ray._private.state.actors())
    logs = Path(ray._private.worker._global_node.get_session_dir_path()) / "logs"
    read = [file.read_bytes() for file in logs.rglob("*") if file.is_file()]
    assert sum(map(len, read)) > 10_000
    assert not [1 for one in read if server.password.encode() in one]


def test_the_command_spreads_an_import(tenant, nodes, tmp_path):
    file = fleets.file_of(tmp_path, [(user, message) for user, message in fleets.records() if user == "bo"])
    given = ["import", "jsonl", str(file), "--ray", "auto", "--tenant", tenant, "--json"]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 1, done.output  # of the line that can't be read
    assert json.loads(done.stdout)["users"] == {"bo": len(fleets.records(["bo"]))}


def test_the_command_spreads_jobs(tenant, nodes):
    with Memory.connect(tenant=tenant) as memory:
        for user in fleets.USERS:
            memory.add("The tide turns at noon.", user_id=user, wait=False)
        done = CliRunner().invoke(app, ["worker", "--once", "--ray", "auto", "--tenant", tenant, "--json"])
        assert done.exit_code == 0, done.output
        told = [json.loads(line) for line in done.stdout.splitlines()]
        made = {one["scope"] for one in told if one["kind"] == "construct" and one["outcome"] == "done"}
        assert made == {f"{tenant}/{user}" for user in fleets.USERS}
        assert not any(memory.stats(user_id=user).notes.get("pending") for user in fleets.USERS)


def test_the_engine_and_its_commands_import_no_ray():
    code = "import sys, memgraph_engine.cli, memgraph_engine.importers; print('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize(
    ("address", "error", "why"),
    [
        ("127.0.0.1:1", Unreachable, "No Ray cluster answers at 127.0.0.1:1"),
        ("somewhere", InvalidInput, "named as HOST:PORT, or auto, not 'somewhere'"),
        ("ray://head:10001", InvalidInput, "named as HOST:PORT"),
        ("head:99999", Unreachable, "No Ray cluster answers"),
    ],
)
def test_an_address_where_nobody_answers_is_told(address, error, why, monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(error, match=why) as found, cluster.joined(address):
        pass
    assert "\n" not in str(found.value)


def test_a_primed_embedder_embeds_what_it_lacks():
    from memgraph_engine.embedding.checked import CheckedEmbedder
    from memgraph_engine.testing import HashingEmbedder

    own = CheckedEmbedder(HashingEmbedder(8))
    one = actors.Primed(own, actors.Prepared(own.name, ["a"], own.embed_documents(["zzz"])))
    rows = one.embed_documents(["b", "a", "b"])
    assert (rows[[0, 2]] == own.embed_documents(["b", "b"])).all()
    assert (rows[1] == own.embed_documents(["zzz"])[0]).all()
    assert one.embed_documents([]).shape == (0, 8)
