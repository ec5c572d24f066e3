"""Clients and servers are killed anywhere, scopes are crowded: nothing is lost, doubled or seen by others.

Run by `make test-attacks`; each attack prints its counts, and each kill that leaves anything wrong is named at once.
ATTACK_SEED begins another series.
"""

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack
from itertools import takewhile

import psutil
import pytest
from typer.testing import CliRunner

from memgraph_engine import Memory, Settings
from memgraph_engine.cli import app
from memgraph_engine.errors import MemgraphEngineError, NotFound, Unreachable
from memgraph_engine.graph import leases
from memgraph_engine.graph.server.local import LocalServer
from memgraph_engine.testing import purge
from tests.attacker import HOW, LINES, live, script, take

pytestmark = [pytest.mark.attack, pytest.mark.timeout(1800)]
SEED = int(os.environ.get("ATTACK_SEED", "1"))
LIVES = 8  # different scripts
CLIENT_KILLS, SERVER_KILLS, NEIGHBOURS = 200, 12, 2000
KILLING = 600  # seconds after which no other one is killed


@pytest.fixture
def told(capsys):
    """Print counts past the capture of output."""

    def tell(text):
        with capsys.disabled():
            print(f"\nattacks: {text}")

    return tell


def numbers(most):
    """Count up to `most`, or as far as the time allows: each life is lived at least once."""
    ends = time.monotonic() + KILLING
    return takewhile(lambda number: number < LIVES or time.monotonic() < ends, range(most))


def state(memory, user):
    """What a user finds: each source's note, by the sources and texts that it holds."""
    found = {}
    for note in memory.get_all(user_id=user):
        for source in note.sources:
            found.setdefault(source.id, []).append(
                (note.status, note.context, tuple(sorted(one.id for one in note.sources)), source.text)
            )
    return found


def lost(memory, user, sources):
    """What is not found of the sources, but those that a later line took back."""

    def superseded(source):
        try:
            return memory.history(source, user_id=user)[-1].note.status == "superseded"
        except NotFound:
            return False

    return {source for source in sources - state(memory, user).keys() if not superseded(source)}


def sums(memory, user):
    stats = memory.stats(user_id=user)
    return stats.notes, stats.sources, stats.sessions, stats.keywords, stats.pairs


def whole(memory, user, seed):
    """Live a life without an end; returns what is found after each step, and the sums at the end."""
    states = [{}]
    live(memory, user, seed, [], lambda _: states.append(state(memory, user)))
    return states, sums(memory, user)


def differences(memory, user, seed, acknowledged, expected):
    """Look at what a killed client left, go on where it was, and count what is not as in a life without an end."""
    states, total = expected
    counted = Counter()
    counted["faults"] += len(memory.verify(user_id=user))
    found, known = state(memory, user), len(acknowledged)
    either = [states[known], *states[known + 1 : known + 2]]  # the step that was cut off happened, or it did not
    counted["lost"] += sum(all(found.get(one) != other.get(one) for other in either) for one in states[known])
    counted["half done"] += found not in either
    live(memory, user, seed, acknowledged, lambda _: None)
    for step in script(seed):
        if step[0] in ("add", "defer"):
            take(memory, user, step, acknowledged)  # once more
    found = state(memory, user)
    counted["lost"] += len(states[-1].keys() - found.keys())
    counted["doubled"] += sum(len(notes) != 1 for notes in found.values())
    counted["doubled"] += len(found.keys() - states[-1].keys())
    counted["faults"] += len(memory.verify(user_id=user))
    counted["other graphs"] += (found, sums(memory, user)) != (states[-1], total)
    return counted


def summary(counted):
    names = ("lost", "doubled", "half done", "faults", "other graphs")
    return ", ".join(f"{counted[name]} {name}" for name in names)


def test_clients_that_are_killed_anywhere_lose_and_double_nothing(memory, tmp_path, told):
    chance, counted, died = random.Random(SEED), Counter(), Counter()
    tenant = memory.engine.settings.tenant
    expected = {seed: whole(memory, f"whole-{seed}", seed) for seed in range(LIVES)}
    command = [sys.executable, "-m", "tests.attacker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:

        def run(user, seed, number, how):
            file = tmp_path / user
            job = {"tenant": tenant, "user": user, "seed": seed, "number": number, "how": how, "file": str(file)}
            parent.stdin.write(json.dumps(job) + "\n")
            parent.stdin.flush()
            return int(parent.stdout.readline()), [json.loads(line) for line in file.read_text().splitlines()]

        messages = {}
        for seed in range(LIVES):
            code, lines = run(f"alive-{seed}", seed, 0, "")
            assert code == 0
            messages[seed] = lines.pop()
            assert (state(memory, f"alive-{seed}"), sums(memory, f"alive-{seed}")) == (
                expected[seed][0][-1],
                expected[seed][1],
            )
        for number in numbers(CLIENT_KILLS):
            seed, how, message = number % LIVES, HOW[number % len(HOW)], chance.randint(1, messages[number % LIVES])
            code, lines = run(f"killed-{number}", seed, message, how)
            died[code] += 1
            found = differences(memory, f"killed-{number}", seed, lines[: len(script(seed))], expected[seed])
            if found.total():
                told(f"life {seed}, killed {how} message {message}: {summary(found)}")
            counted += found
        parent.stdin.close()
    told(f"{died[-9]} client kills of {died.total()} at {min(messages.values())} to {max(messages.values())} messages: "
         f"{summary(counted)}")  # fmt: skip
    assert died[-9] > died.total() * 0.9
    assert not counted.total()


@pytest.fixture
def own(tmp_path):
    """A server of this test's own."""
    server = LocalServer(Settings.load(home=tmp_path / "home"))
    yield server
    server.stop(10)


def test_a_server_that_is_killed_anywhere_loses_and_doubles_nothing(own, embedder, told, monkeypatch):
    monkeypatch.setattr(leases, "_SECONDS", 1.0)  # what was held when the server died is free soon
    server, chance, counted, cut = own, random.Random(SEED), Counter(), 0

    def connect():
        address = server.start(progress=False)
        given = {"uri": address.uri, "user": address.user, "password": address.password, "tenant": "attacked"}
        return Memory.connect(settings=Settings.load(**given, retry_time=2), embedder=embedder)

    with connect() as memory:
        begun = time.monotonic()
        expected = {seed: whole(memory, f"whole-{seed}", seed) for seed in range(LIVES)}
        seconds = (time.monotonic() - begun) / LIVES
    for number in numbers(SERVER_KILLS):
        seed, user, acknowledged, ended = number % LIVES, f"killed-{number}", [], []
        with connect() as memory:

            def go(memory=memory, user=user, seed=seed, acknowledged=acknowledged, ended=ended):
                try:
                    live(memory, user, seed, acknowledged, lambda _: None)
                except MemgraphEngineError as error:
                    ended.append(error)

            living = threading.Thread(target=go)
            living.start()
            time.sleep(chance.uniform(0, seconds))
            psutil.Process(server.status().pid).kill()
            living.join()
        cut += len(ended)
        with connect() as memory:
            found = differences(memory, user, seed, acknowledged, expected[seed])
        if found.total():
            told(f"life {seed}, server killed after step {len(acknowledged)}: {summary(found)}")
        counted += found
    told(f"{number + 1} server kills, {cut} of them with a client in the middle: {summary(counted)}")
    assert cut
    assert not counted.total()


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 300 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300m", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("no disk can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_disk_that_was_full_is_told_and_a_new_start_has_all_that_was_acknowledged(small_disk, embedder, monkeypatch):
    monkeypatch.setenv("MEMGRAPH_ENGINE_HOME", str(small_disk / "home"))
    server = LocalServer(Settings.load(uri=""))

    def connect():
        address = server.start(progress=False)
        given = {"uri": address.uri, "user": address.user, "password": address.password, "tenant": "attacked"}
        return Memory.connect(settings=Settings.load(**given), embedder=embedder)

    try:
        with connect() as memory:
            acknowledged = [entry.source for entry in memory.add_many(LINES, user_id="ana").entries]
            assert server.status().fault is None

            def on_and_on():
                for number in range(10_000):
                    talk = [f"{line} For the {number}th time." for line in LINES]
                    acknowledged.extend(entry.source for entry in memory.add_many(talk, user_id="ana").entries)

            with pytest.raises(OSError, match="No space"):
                (small_disk / "rest").write_bytes(bytes(400 << 20))
            with pytest.raises(Unreachable, match="memgraph-engine db stop"):
                on_and_on()
            (small_disk / "rest").unlink()
            with pytest.raises(Unreachable, match="memgraph-engine db stop"):
                memory.search("Where does Ana live?", user_id="ana")
        told = CliRunner().invoke(app, ["db", "status"])
        assert (told.exit_code, "memgraph-engine db stop" in told.stderr) == (1, True)
        assert CliRunner().invoke(app, ["db", "stop"]).exit_code == 0
        with connect() as memory:
            assert server.status().fault is None
            assert lost(memory, "ana", set(acknowledged)) == set()
            assert memory.verify(user_id="ana") == []
            assert memory.add("The tide turns at noon.", user_id="ana").added == 1
    finally:
        server.stop(10)


CROWD = """
import json, os, random, sys
from memgraph_engine import Memory
from memgraph_engine.errors import InvalidInput
from tests.attacker import LINES
from tests.vectors import Remembering

me, chance, added, gone = sys.argv[1], random.Random(sys.argv[1]), [], []
with Memory.connect(tenant=os.environ["TENANT"], embedder=Remembering()) as memory:
    for n in range(10):
        own = {"id": f"{me}-{n}", "text": f"{LINES[n]} Day {n} of {me}.", "session": me, "speaker": me}
        common = {"id": f"common-{n}", "text": LINES[n], "session": "common"}
        for entry in memory.add_many([own, common], user_id="ana", wait=n % 3 > 0).entries:
            added.append(entry.source)
        last = f"{me}-{n - 1}"
        try:
            if n % 3 == 1:
                memory.update(last, f"Number {n} stands on the door of {me}.", user_id="ana")
            if n % 3 == 2:
                decision = memory.delete(last, user_id="ana")
                if chance.random() < 0.5:
                    memory.undo(decision.id, user_id="ana", cascade=True)
                else:
                    gone.append(last)
        except InvalidInput:  # its note holds what others said too
            pass
        if n % 4 == 3:
            memory.process(user_id="ana")
            memory.rebuild_topics(user_id="ana")
    print(json.dumps([added, gone]))
"""


def test_eight_processes_in_one_scope_lose_and_double_nothing(memory, told):
    with ExitStack() as stack:
        environment = {**os.environ, "TENANT": memory.engine.settings.tenant}
        crowd = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", CROWD, f"p{n}"], env=environment, stdout=subprocess.PIPE, text=True
                )
            )
            for n in range(8)
        ]
        said = [process.communicate(timeout=600)[0] for process in crowd]
        assert [process.returncode for process in crowd] == [0] * 8
    added, gone = (set().union(*some) for some in zip(*map(json.loads, said), strict=True))
    memory.process(user_id="ana")
    found = state(memory, "ana")
    doubled = [one for one, notes in found.items() if len(notes) > 1]
    faults = memory.verify(user_id="ana")
    missing = lost(memory, "ana", added - gone)
    told(f"8 processes in one scope, {len(added)} messages: {len(missing)} lost, {len(doubled)} doubled, "
         f"{len(gone & found.keys())} of {len(gone)} deleted ones back, {len(faults)} faults")  # fmt: skip
    assert (missing, doubled, gone & found.keys(), faults, found.keys() - added) == (set(), [], set(), [], set())


def scores(memory, questions):
    """All that a user is told: each hit, its score, and what each channel gave."""
    told = {}
    for question in questions:
        for hit in memory.search(question, user_id="ana", top_k=20, explain=True):
            told[question, hit.note.id] = (hit.score, hit.similarity, tuple(sorted(hit.explanation.channels.items())))
    return told


def test_a_tenant_in_plenty_moves_no_score_of_another(memory, embedder, told):
    mine = memory.engine.settings.tenant
    theirs = f"{mine}/"  # hostile: encoded, or it would be a prefix
    talk = [f"{line} It is the {n}th time." for n in range(10) for line in LINES]
    memory.add_many(talk, user_id="ana")
    memory.rebuild_topics(user_id="ana")
    questions = ["Where does Ana live?", "honey of the monastery", "When does the ferry leave?", "yellow trams", *LINES]
    before = scores(memory, questions)
    own = {note.id for note in memory.get_all(user_id="ana")}
    try:
        with Memory.connect(tenant=theirs, embedder=embedder) as other:
            chance = random.Random(SEED)
            other.add_many(
                [f"{chance.choice(LINES)} {chance.choice(LINES)} Theirs, {n}." for n in range(NEIGHBOURS)],
                user_id="ana",
            )
            other.rebuild_topics(user_id="ana")
            after = scores(memory, questions)
            other.delete_all(user_id="ana")
            at_last = scores(memory, questions)
    finally:
        purge(theirs)
    moved = sum(before.get(one) != after.get(one) for one in before.keys() | after.keys())
    moved += sum(before.get(one) != at_last.get(one) for one in before.keys() | at_last.keys())
    foreign = {note for _, note in after.keys() | at_last.keys()} - own
    told(f"{NEIGHBOURS} notes of another tenant: {moved} of {len(before)} scores moved, {len(foreign)} foreign notes")
    assert (moved, foreign) == (0, set())
