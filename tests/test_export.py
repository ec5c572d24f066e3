"""A memory that is exported is the same where it is imported, under its own name and under another."""

import hashlib
import json
import re
import signal
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from neo4j.time import DateTime

from memgraph_engine import Cost, Held, InvalidInput, Memory, NotFound, Settings, StoreMismatch, WriteConflict
from memgraph_engine.graph import copying, schema, scopes, spending, statements
from memgraph_engine.graph.forms import NODES, TIES
from memgraph_engine.model.scope import Scope
from tests.clocks import Clock
from tests.snapshots import same, snapshot

ANA, BOB, CY = ({"user_id": name} for name in ("ana", "bob", "cy"))
QUESTIONS = ("Where do I live now?", "Which boat?", "When is the dinner?", "How many plants are there?")


def fill(memory, clock):
    """Bring about all that a memory may hold."""

    def say(text, name, session="s", **fields):
        clock.later(timedelta(minutes=1))
        message = {"id": name, "text": text, "speaker": "Ana", "session": session, "time": clock.now, **fields}
        return memory.add(message, **ANA).entries[0]

    say("I live in Lisbon.", "a")
    corrected = say("I no longer live in Lisbon, I moved to Faro.", "b")
    say("I've got 12 plants in the hall.", "c")
    say("I've got 17 plants in the hall now.", "d")
    old, new = say("Dinner is on Tuesday.", "e"), say("Sorry, Wednesday.", "f")
    memory.untie(new.note, old.note, **ANA)
    say("The blue boat needs paint before the race in June. " * 40, "g", session="boats")  # several passages
    say("We painted the old boat blue before the race.", "h", session="boats", tags=["sea"], metadata={"n": 1})
    say("Ok, thanks!", "i")
    memory.undo(say("The tide turns at noon.", "j").decision, **ANA)  # its note and source are past
    memory.update("h", "We painted the old boat white before the race.", **ANA)
    memory.delete("c", **ANA)
    memory.pin("d", **ANA)
    memory.set_profile("residence", "Faro", **ANA)
    say("My train leaves at nine.", "k", policy="ephemeral")
    memory.add("The harbour is full.", wait=False, **ANA)
    clock.later(timedelta(days=3))
    memory.evict(**ANA)
    memory.sweep(**ANA)
    memory.hold("A dispute.", session="boats", **ANA)
    memory.reflect(QUESTIONS[1], memory.search(QUESTIONS[1], **ANA), "It is white.", **ANA)
    spending.add(memory.engine.db, f"{memory.engine.settings.tenant}/ana", clock.now, Cost(1, 2, 3, 0.5), Cost(1))
    memory.rebuild_topics(**ANA)
    return corrected.decision


@pytest.fixture(scope="module")
def made(server, embedder, tmp_path_factory):
    """A memory of all kinds, what was exported of it, and a decision that can be undone; it is only read."""
    from uuid import uuid4

    from memgraph_engine.testing import purge

    tenant, clock = f"test-{uuid4().hex}", Clock()
    options = {"use": {"record": "on"}, "lifecycle": {"cap": 8, "target": 0.75}}
    settings = Settings.load(**options)
    path = tmp_path_factory.mktemp("export") / "ana.jsonl"
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings) as memory:
        decision = fill(memory, clock)
        done = memory.export(path, **ANA)
        yield memory, path, done, decision
    purge(tenant)


@pytest.fixture
def memory(made):
    """That memory, in which users but Ana are gone at the end."""
    yield made[0]
    for user in ("bob", "cy"):
        scopes.purge(made[0].engine.db, f"{made[0].engine.settings.tenant}/{user}")


@pytest.fixture
def path(made):
    return made[1]


def rows(memory, text, **parameters):
    with memory.engine.db._session() as session:
        return [
            record.values() for record in session.run(text, scope=f"{memory.engine.settings.tenant}/ana", **parameters)
        ]


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def told(path):
    """What a file tells, whatever the notes are called: its nodes, and its relationships with both ends."""
    head, *rest, last = lines(path)
    nodes = [line for line in rest if "node" in line]
    named = {
        node["properties"]["id"]: f"note {node['properties']['created_at']} {node['properties']['raw']}"
        for node in nodes
        if node["labels"][0] in ("Note", "Past")
    }

    def plain(line):
        text = json.dumps({k: v for k, v in line.items() if k not in ("node", "from", "to")}, sort_keys=True)
        return re.sub("[0-9a-f]{32}", lambda found: named.get(found[0], found[0]), text)

    known = [plain(node) for node in nodes]
    ties = ((plain(line), known[line["from"]], known[line["to"]]) for line in rest if "from" in line)
    return Counter(known), Counter(ties), {**head, "tenant": "", "user": ""}, {**last, "sha256": ""}


INDEXED = """SHOW INDEXES YIELD labelsOrTypes, properties, entityType
WHERE entityType = 'NODE' AND head(properties) = 'scope'"""
ODD = """MATCH (s:Scope {scope: $scope})-[:SPENT]->(x) MATCH (h:Hold {scope: $scope})
SET x.money = 1.1, h.at = datetime('2024-05-01T12:00:00.123456789[Asia/Tokyo]'),
s.pruned_at = datetime('2024-10-27T01:30:00+01:00[Europe/Lisbon]')"""

ODD_OF_BOB = """MATCH (h:Hold {scope: replace($scope, '/ana', '/bob')})
MATCH (s:Scope {scope: h.scope})-[:SPENT]->(x)
RETURN toString(h.at), toString(s.pruned_at), x.money, valueType(x.day), valueType(h.at)"""
WAS_ODD = """MATCH (s:Scope {scope: $scope})-[:SPENT]->(x) MATCH (h:Hold {scope: $scope})
RETURN x.money, h.at, s.pruned_at"""
EVEN = """MATCH (s:Scope {scope: $scope})-[:SPENT]->(x) MATCH (h:Hold {scope: $scope})
SET x.money = $money, h.at = datetime($at), s.pruned_at = datetime($pruned)"""


# ---- what is in it ----------------------------------------------------------------------------


def test_all_that_a_scope_holds_is_carried_whatever_the_schema_has(memory, path):
    """Fails for a new label, or type of relationship: then `copy/members`, and this memory, have to have it."""
    indexed = rows(memory, INDEXED)
    of_scopes = {label for named, *_ in indexed for label in named}
    purged = set(re.findall(r"\(x:(\w+)", statements.statements()["scopes/purge"].text))
    members = set(re.findall(r"\(x:(\w+)", statements.statements()["copy/members"].text))
    assert NODES.keys() == members == purged == of_scopes - {"Erasure"} | {"Spending"}
    there = dict(rows(memory, "MATCH (n {scope: $scope}) RETURN labels(n)[0], count(*)"))
    assert lines(path)[0]["nodes"] == there
    assert there.keys() == NODES.keys()
    ties = dict(rows(memory, "MATCH ({scope: $scope})-[r]->() RETURN type(r), count(*)"))
    assert Counter(line["type"] for line in lines(path) if "type" in line) == ties
    written = "".join(one.text for one in statements.statements().values())
    assert (
        ties.keys()
        == TIES.keys()
        == {name for some in re.findall(r"\[\w*:([A-Z_|]+)", written) for name in some.split("|")}
    )


def test_its_first_and_last_line_say_what_it_is(made):
    memory, path, done, _ = made
    head, *rest, last = lines(path)
    assert (head["format"], head["schema"], head["user"]) == ("memgraph-engine memory 1", schema.VERSION, "ana")
    assert (head["embedder"], head["dimensions"]) == (memory.engine.embedder.name, memory.engine.embedder.dimensions)
    assert sum(head["nodes"].values()) + head["relationships"] == len(rest)
    before = path.read_bytes().rpartition(b'{"nodes"')[0]
    assert last["sha256"] == hashlib.sha256(before).hexdigest() == done.sha256
    assert (done.nodes, done.relationships, done.bytes) == (last["nodes"], last["relationships"], path.stat().st_size)
    assert path.stat().st_mode & 0o777 == 0o600
    assert not re.search("scoped|stamp", before.decode())
    assert {one.name for one in path.parent.iterdir()} == {"ana.jsonl"}


def test_the_same_memory_makes_the_same_file(memory, path, tmp_path, monkeypatch):
    monkeypatch.setattr(copying, "ROWS", 7)
    memory.export(tmp_path / "again", **ANA)
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_what_is_to_be_erased_is_erased_first_and_what_is_held_is_not_told(tenant, embedder, tmp_path):
    clock, file = Clock(), tmp_path / "out"
    policies = tmp_path / "policies.yaml"
    policies.write_text("default: factual\nclasses:\n  factual: {ttl: none}\n  secret: {ttl: 1h, at_end: erase}\n")
    settings = Settings.load(lifecycle={"policies": str(policies)})
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings) as memory:
        with pytest.raises(NotFound, match="nothing to export"):
            memory.export(file, **ANA)
        memory.add("The heron eats fish.", **ANA)
        memory.add("The password is xyzzy.", policy="secret", **ANA)
        hold = memory.hold("A dispute.", **ANA)
        clock.later(timedelta(days=1))
        with pytest.raises(Held, match="A dispute"):
            memory.export(file, **ANA)
        assert list(tmp_path.iterdir()) == [policies]
        memory.release(hold.id, **ANA)
        memory.export(file, **ANA)
        assert "xyzzy" not in file.read_text()
        assert len(memory.receipts()) == 1


def test_who_writes_meanwhile_makes_it_begin_anew(tenant, embedder, tmp_path):
    with Memory.connect(tenant=tenant, embedder=embedder) as memory:
        memory.add("The heron eats fish.", **ANA)
        times = iter(range(9))

        def disturbed(most):
            return lambda done, total: next(times) < most and memory.add(f"Buoy {uuid()} is red.", **ANA)

        def uuid():
            return hashlib.sha256(str(len(list(memory.get_all(**ANA)))).encode()).hexdigest()[:6]

        memory.export(tmp_path / "out", **ANA, progress=disturbed(1))
        assert sum("Buoy" in line for line in (tmp_path / "out").read_text().splitlines()) > 1
        times = iter([0] * 99)
        with pytest.raises(WriteConflict, match="5 attempts"):
            memory.export(tmp_path / "never", **ANA, progress=disturbed(1))
        assert [one.name for one in tmp_path.iterdir()] == ["out"]
        with pytest.raises(InvalidInput, match="can't be written: No such file"):
            memory.export(tmp_path / "none" / "out", **ANA)


def scores(hit):
    """All numbers that a search gives a hit: those of a sum may differ in the last place, by its order."""
    channels = [x for one in hit.explanation.channels.values() for x in (one.raw, one.normalised, one.weighted)]
    return [hit.score, hit.similarity, hit.coverage, *channels, *hit.explanation.ranking.values()]


# ---- round trips ------------------------------------------------------------------------------


def test_under_another_name_it_is_the_same_memory(made, memory, path, tmp_path):
    *_, decision = made
    done = memory.import_(path, **BOB)
    assert (done.nodes, done.relationships) == (lines(path)[-1]["nodes"], lines(path)[-1]["relationships"])
    memory.export(tmp_path / "bob", **BOB)
    assert told(tmp_path / "bob") == told(path)
    assert memory.verify(**BOB) == []
    for question in QUESTIONS:
        ours, theirs = (memory.search(question, **who, explain=True) for who in (ANA, BOB))
        assert [(hit.note.raw, hit.until) for hit in ours] == [(hit.note.raw, hit.until) for hit in theirs]
        assert [scores(hit) for hit in ours] == [pytest.approx(scores(hit), abs=1e-6) for hit in theirs]
        assert not {h.note.id for h in ours} & {h.note.id for h in theirs}
    assert [one.label for one in memory.topics(**BOB)] == [one.label for one in memory.topics(**ANA)]
    assert [(one.name, one.value) for one in memory.profile(**BOB).attributes] == [("residence", "Faro")]
    note = memory.explain("a", **BOB)
    assert [one.kind for one in note.decisions] == [one.kind for one in memory.explain("a", **ANA).decisions]
    memory.undo(decision, cascade=True, **BOB)
    assert memory.get("a", **BOB).status == "active"
    assert memory.explain("a", **ANA).note.status == "superseded"
    assert memory.add({"id": "b", "text": lines_of(path, "b"), **said_of(path, "b")}, **BOB).entries[0].note
    assert memory.verify(**BOB) == []


def source_of(path, name):
    found = (line["properties"] for line in lines(path) if line.get("labels") == ["Source"])
    return next(one for one in found if one["id"] == name)


def lines_of(path, name):
    return source_of(path, name)["text"]


def said_of(path, name):
    given = source_of(path, name)
    return {"speaker": given["speaker"], "session": given["session"], "time": given["said_as"]}


def test_a_third_memory_of_it_and_back_under_its_own_name_are_the_same(memory, path, tmp_path):
    memory.import_(path, **BOB)
    memory.import_(path, **CY)  # beside each other
    memory.export(tmp_path / "cy", **CY)
    assert told(tmp_path / "cy") == told(path)
    for one in memory.holds(**BOB):
        memory.release(one.id, **BOB)
    before = snapshot(memory, "cy")
    memory.erase(memory.forget(everything=True, **BOB))
    with pytest.raises(NotFound):
        memory.stats(**BOB) and memory.export(tmp_path / "bob", **BOB)
    memory.import_(tmp_path / "cy", **BOB)  # of its second home
    same(before, snapshot(memory, "cy"))
    scopes.purge(memory.engine.db, f"{memory.engine.settings.tenant}/cy")
    memory.import_(tmp_path / "cy", **CY)
    same(before, snapshot(memory, "cy"))
    memory.export(tmp_path / "again", **CY)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "cy").read_bytes()
    assert memory.verify(**BOB) == memory.verify(**CY) == []


def test_times_keep_their_nanoseconds_and_zones_and_numbers_their_size(memory, path, tmp_path):
    ((money, at, pruned),) = rows(memory, WAS_ODD)
    rows(memory, ODD)
    try:
        memory.export(tmp_path / "odd", **ANA)
    finally:
        rows(memory, EVEN, money=money, at=at.iso_format(), pruned=pruned and pruned.iso_format())
    memory.import_(tmp_path / "odd", **BOB)
    (row,) = rows(memory, ODD_OF_BOB)
    assert row == [
        "2024-05-01T12:00:00.123456789+09:00[Asia/Tokyo]",
        "2024-10-27T01:30:00+01:00[Europe/Lisbon]",
        1.1,
        "DATE NOT NULL",
        "ZONED DATETIME NOT NULL",
    ]
    (at,) = rows(memory, "MATCH (n:Note {scope: replace($scope, '/ana', '/bob')}) RETURN n.expires_at LIMIT 1")
    assert isinstance(at[0], DateTime)


# ---- what is refused --------------------------------------------------------------------------


def nothing_of(memory, user="bob"):
    with memory.engine.db._session() as session:
        name = f"{memory.engine.settings.tenant}/{user}"
        return session.run("MATCH (n) WHERE n.scope STARTS WITH $name RETURN count(n)", name=name).single()[0] == 0


def sealed(some):
    """The text of a file whose last line fits what stands before."""
    body = "".join(json.dumps(line) + "\n" for line in some[:-1])
    return body + json.dumps({**some[-1], "sha256": hashlib.sha256(body.encode()).hexdigest()}) + "\n"


def change(some, place, **given):
    return [{**line, **given} if at == place % len(some) else line for at, line in enumerate(some)]


def with_property(some, place, name, value):
    return change(some, place, properties={**some[place]["properties"], name: value})


def cut(text, at):
    return "".join(text.splitlines(keepends=True)[:at])


DAMAGED = {
    "another letter": (lambda text, some: text.replace("Lisbon", "Lisbom", 1), "was changed: its last line"),
    "half a line": (lambda text, some: cut(text, 5) + text[:40] + "\n" + cut(text, -3), r"Line 6 of .* no JSON"),
    "cut off": (lambda text, some: cut(text, 9), "no last line: it was cut off after line 9"),
    "no last line": (lambda text, some: cut(text, -1), "no last line"),
    "more behind": (lambda text, some: text + "{}\n", "the last line is before it"),
    "empty": (lambda text, some: "", "is no export of a memory"),
    "messages": (lambda text, some: '{"text": "I live in Lisbon."}\n', "is no export of a memory"),
    "another format": (lambda text, some: sealed(change(some, 0, format="x")), "is no export"),
    "a line less": (lambda text, some: sealed(some[:-2] + some[-1:]), "it ends .* nodes"),
    "a node less": (lambda text, some: sealed(some[:4] + some[5:]), "Line 5 .* has the number 4, where 3 is due"),
    "a node of another kind": (lambda text, some: sealed(change(some, 3, labels=["Store"])), "'Store' has no place"),
    "another scope": (lambda text, some: sealed(with_property(some, 3, "scope", "x/y")), "no export holds 'scope'"),
    "a list for a node": (lambda text, some: cut(text, 3) + "[1]\n" + text, "Line 4 .* no object"),
    "a tie to nowhere": (lambda text, some: sealed(change(some, -2, to=10**9)), "ties no two nodes"),
    "a vector cut short": (
        lambda text, some: re.sub(r'("raw_embedding":")[^"]{8}', r"\1", text, count=1),
        "a vector of",
    ),
    "a time that is none": (lambda text, some: text.replace('{"time":"9999-', '{"time":"soon-', 1), "not in ISO"),
    "another embedder": (lambda text, some: sealed(change(some, 0, embedder="other")), "holds vectors of other"),
    "dimensions": (lambda text, some: sealed(change(some, 0, dimensions=7)), r"\(7 numbers\)"),
    "another schema": (lambda text, some: sealed(change(some, 0, schema=schema.VERSION - 1)), "written with schema"),
}


@pytest.mark.parametrize("how", DAMAGED)
def test_a_file_that_is_damaged_or_foreign_is_refused(how, memory, path, tmp_path):
    damage, message = DAMAGED[how]
    file = tmp_path / "file.jsonl"
    file.write_text(damage(path.read_text(), lines(path)))
    with pytest.raises((InvalidInput, StoreMismatch), match=message):
        memory.import_(file, **BOB)
    assert nothing_of(memory)


def test_a_memory_that_holds_something_is_not_written_over(memory, path, tmp_path):
    before = snapshot(memory)
    with pytest.raises(InvalidInput, match="is not empty"):
        memory.import_(path, **ANA)
    same(before, snapshot(memory))
    for wrong, why in ((tmp_path, "Is a directory"), (tmp_path / "none", "No such file")):
        with pytest.raises(InvalidInput, match=f"can't be read: {why}"):
            memory.import_(wrong, **BOB)
    with pytest.raises(InvalidInput, match="must be that of a file"):
        memory.import_(7, **BOB)


# ---- while it runs ----------------------------------------------------------------------------


def readable(memory):
    """All that a user's reads give of a memory."""
    reads = (
        lambda: memory.search(QUESTIONS[0], **BOB),
        lambda: memory.search(QUESTIONS[0], **BOB, known_at=datetime(2999, 1, 1, tzinfo=UTC), archived=True),
        lambda: list(memory.get_all(**BOB)),
        lambda: memory.sessions(**BOB),
        lambda: memory.decisions(**BOB),
        lambda: memory.topics(**BOB),
        lambda: memory.topic_runs(**BOB),
        lambda: memory.anchors(QUESTIONS[1], **BOB),
        lambda: memory.holds(**BOB),
        lambda: memory.cost(**BOB),
        lambda: memory.verify(**BOB),
        lambda: [user for user in memory.users() if user.id == "bob"],
        lambda: list(memory.stats(**BOB).notes),
    )
    return [found for found in (read() for read in reads) if found]


def test_nothing_of_an_import_is_read_before_it_is_whole(memory, path, monkeypatch):
    monkeypatch.setattr(copying, "ROWS", 40)
    seen = []
    memory.import_(path, **BOB, progress=lambda done, total: seen.append((done, total, readable(memory))))
    assert len(seen) > 5
    assert seen[-1][0] == seen[-1][1]
    assert [found for _, _, found in seen if found] == []
    assert readable(memory)


def test_who_writes_while_it_runs_has_the_memory(memory, path):
    with pytest.raises(InvalidInput, match="is not empty"):
        memory.import_(path, **BOB, progress=lambda *_: memory.add("The heron eats fish.", **BOB))
    assert [note.text for note in memory.get_all(**BOB)] == ["The heron eats fish."]
    assert nothing_of(memory, "bob/importing")


KILLED = """
import os, signal, sys
from memgraph_engine import Memory
from memgraph_engine.graph import copying

class Silent:
    name = sys.argv[3]
    def embed_query(self, text):
        return [1.0] * int(sys.argv[4])
    embed_documents = None
Silent.embed_documents = lambda self, texts: [self.embed_query(one) for one in texts]

def progress(done, total):
    if done > total * float(sys.argv[5]):
        os.kill(os.getpid(), signal.SIGKILL)

copying.ROWS = 50
with Memory.connect(tenant=sys.argv[1], embedder=Silent()) as memory:
    memory.import_(sys.argv[2], user_id="bob", progress=progress)
"""


def test_an_import_that_is_killed_leaves_nothing_to_read_and_is_removed_by_the_next(memory, path, tmp_path):
    embedder, name = memory.engine.embedder, Scope(memory.engine.settings.tenant, "bob").name
    for share in (0.2, 0.8):
        given = (memory.engine.settings.tenant, path, embedder.name, embedder.dimensions, share)
        ended = subprocess.run([sys.executable, "-c", KILLED, *map(str, given)])
        assert ended.returncode == -signal.SIGKILL
        assert readable(memory) == []
        assert not nothing_of(memory)
        rows(memory, "MATCH (l:Lease {name: $name}) DELETE l", name=f"import {name}")  # ten seconds later
    memory.import_(path, **BOB)
    assert nothing_of(memory, "bob/importing")
    memory.export(tmp_path / "bob", **BOB)
    assert told(tmp_path / "bob") == told(path)
    assert memory.verify(**BOB) == []
