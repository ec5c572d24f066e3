"""A memory that is exported is the same where it is imported, under its own name and under another."""

import hashlib
import itertools
import json
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import fields
from datetime import UTC, datetime, timedelta

import pytest
from neo4j.time import DateTime

from memgraph_engine import (
    Cost,
    Held,
    InvalidInput,
    Memory,
    NotFound,
    Settings,
    StoreError,
    StoreMismatch,
    WriteConflict,
)
from memgraph_engine.files import written_whole
from memgraph_engine.graph import copying, schema, scopes, spending, statements
from memgraph_engine.graph.forms import MADE_ANEW, NODES, TIES
from memgraph_engine.graph.memory_file import Reader
from memgraph_engine.graph.rows import source_properties
from memgraph_engine.model.memory import Source
from memgraph_engine.model.result import Decision, Hold
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.topic import TopicRun
from memgraph_engine.model.usage import Usage
from memgraph_engine.worker import work
from memgraph_engine.writing import erasure, export as exporting
from tests.clocks import Clock
from tests.snapshots import KEYS, same, snapshot

ANA, BOB, CY = ({"user_id": name} for name in ("ana", "bob", "cy"))
FUZZED = 30  # files for each seed
# what this memory lacks: it has no class that is kept apart or was named, no budget of history, no folder, no erasure
RARE = {
    *((label, "apart") for label in ("Source", "PastSource", "Note", "Past")),
    *((label, "policy_as") for label in ("Note", "Past")),
    *((label, "parted") for label in ("Note", "Past")),
    ("PastSource", "trust_as"),
    *((label, "expires_as") for label in ("Source", "PastSource")),
    *(
        ("Scope", name)
        for name in (
            "cap",
            "decisions_since",
            "evolved_to",
            "folders",
            "keeps_apart",
            "pruned_at",
            "weighed_at",
            "withholds_claims",
        )
    ),
    ("PastSource", "cuts"),
    ("Decision", "scrubbed_by"),
    ("Usage", "last_used"),
}
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
    say("My train leaves at nine.", "k", policy="ephemeral", trust="web")
    memory.add("The harbour is full.", wait=False, **ANA)
    clock.later(timedelta(days=3))
    memory.evict(**ANA)
    memory.sweep(**ANA)
    memory.hold("A dispute.", session="boats", **ANA)
    memory.reflect(QUESTIONS[1], memory.search(QUESTIONS[1], **ANA), "It is white.", **ANA)
    spending.add(memory.engine.db, f"{memory.engine.settings.tenant}/ana", clock.now, Cost(1, 2, 3, 0.5), Cost(1))
    memory.rebuild_topics(**ANA)
    memory.rebuild_blocks(**ANA)
    memory.add("Whales are mammals.", **ANA)
    memory.consolidate(**ANA)
    return corrected.decision


@pytest.fixture(scope="module")
def made(server, embedder, tmp_path_factory):
    """A memory of all kinds, what was exported of it, and a decision that can be undone; it is only read."""
    from uuid import uuid4

    from memgraph_engine.testing import purge

    tenant, clock = f"test-{uuid4().hex}", Clock()
    options = {"use": {"record": "on"}, "lifecycle": {"cap": 8, "target": 0.75}}
    path = tmp_path_factory.mktemp("export") / "ana.jsonl"
    logging = Settings.load(audit={"retrievals": "text"}, **options)
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=logging) as memory:
        decision = fill(memory, clock)
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=Settings.load(**options)) as memory:
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


DERIVED = {"Block", "BlockRun", "Claim"}  # follow from the notes, and are built anew
INTO_DERIVED = {"IN_BLOCK", "PART_OF", "SUPPORTS"}
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
    assert of_scopes == KEYS.keys()  # so no test overlooks a node of a scope
    purged = set(re.findall(r"\(x:(\w+)", statements.statements()["scopes/purge"].text))
    members = set(re.findall(r"\(x:(\w+)", statements.statements()["copy/members"].text))
    aside = statements.statements()["erasures/set_aside"].text
    erased = set(re.findall(r"\(x:(\w+)", aside)), {*re.search(r"REMOVE x:(\S+)", aside)[1].split(":")}
    assert erased == (members - {"Scope"} | DERIVED, members - {"Scope"} | DERIVED)
    assert NODES.keys() == members == purged - {"Erased"} - DERIVED
    assert members == of_scopes - {"Erasure", "Erased"} - DERIVED | {"Spending"}
    there = dict(rows(memory, "MATCH (n {scope: $scope}) RETURN labels(n)[0], count(*)"))
    assert all(there.pop(label) for label in DERIVED)
    assert lines(path)[0]["nodes"] == there
    assert there.keys() == NODES.keys()
    ties = dict(rows(memory, "MATCH ({scope: $scope})-[r]->() RETURN type(r), count(*)"))
    assert all(ties.pop(kind) for kind in INTO_DERIVED)
    assert Counter(line["type"] for line in lines(path) if "type" in line) == ties
    written = "".join(one.text for one in statements.statements().values())
    assert (
        ties.keys()
        == TIES.keys()
        == {name for some in re.findall(r"\[\w*:([A-Z_|]+)", written) for name in some.split("|")} - INTO_DERIVED
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


def test_who_writes_meanwhile_makes_it_begin_anew(tenant, embedder, tmp_path, monkeypatch):
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
        memory.export(tmp_path / "out", **ANA, progress=disturbed(1))  # writers have to wait in the end
        assert lines(tmp_path / "out")[0]["nodes"]["Note"] == len(list(memory.get_all(**ANA))) - 1
        times = itertools.count()
        monkeypatch.setattr(exporting, "_itself", lambda *_: {"version": next(times)})
        with pytest.raises(WriteConflict, match="5 attempts"):
            memory.export(tmp_path / "never", **ANA)
        assert [one.name for one in tmp_path.iterdir()] == ["out"]
        with pytest.raises(InvalidInput, match="can't be written: No such file"):
            memory.export(tmp_path / "none" / "out", **ANA)


DIES = """
import os, signal, sys
from pathlib import Path
from memgraph_engine.files import written_whole

with written_whole(Path(sys.argv[1])) as file:
    file.write(b"The password is xyzzy.")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_export_left_goes_with_the_next_and_what_runs_stays(tmp_path):
    path, others = tmp_path / "ana[1].jsonl", tmp_path / f".ana1.jsonl.{'0' * 32}.part"
    others.write_text("of another file")
    assert subprocess.run([sys.executable, "-c", DIES, path]).returncode == -signal.SIGKILL
    (left,) = tmp_path.glob(".ana[[]1].*")
    assert "xyzzy" in left.read_text()
    link = left.with_name(f".{path.name}.{'f' * 32}.part")
    link.symlink_to(others)
    with written_whole(path) as first:
        first.write(b"first")
        assert not left.exists()
        with written_whole(path) as second:
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    assert {*tmp_path.iterdir()} == {path, others, link}


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
    assert [(one.predicate, one.value) for one in memory.profile(**BOB).attributes] == [("residence", "Faro")]
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


def at(some, label):
    """Where the first node of a label stands, or the first relationship of a type."""
    return next(i for i, line in enumerate(some) if label in (*line.get("labels", ()), line.get("type")))


def crafted(label, name, value):
    """A file whose sum is right, and of which one property is another."""
    return lambda text, some: sealed(with_property(some, at(some, label), name, value))


def retold(label, **given):
    return lambda text, some: sealed(change(some, at(some, label), **given))


def without(some, place, *names):
    return [{k: v for k, v in line.items() if i != place or k not in names} for i, line in enumerate(some)]


def raw(place, line):
    """A file of which one line is this text."""

    def damaged(text, some):
        body = "".join(line + "\n" if i == place else json.dumps(one) + "\n" for i, one in enumerate(some[:-1]))
        return body + json.dumps({**some[-1], "sha256": hashlib.sha256(body.encode()).hexdigest()}) + "\n"

    return damaged


def lacking(label, name):
    """A file of which a node lacks a property."""

    def damaged(text, some):
        place = next(i for i, line in enumerate(some) if [label] == line.get("labels") and name in line["properties"])
        return sealed(change(some, place, properties={k: v for k, v in some[place]["properties"].items() if k != name}))

    return damaged


def tied(kind, other=False):
    """A file of which a relationship leads from its end to itself, or to that of another."""

    def damaged(text, some):
        places = [i for i, line in enumerate(some) if line.get("type") == kind]
        end = some[places[0]]["to"]
        return sealed(change(some, places[2], to=end) if other else change(some, places[0], **{"from": end}))

    return damaged


def last_of(some, kind, label):
    """Where the last relationship of a type stands that leads from a label."""
    return next(
        i
        for i, line in reversed([*enumerate(some)])
        if line.get("type") == kind and label in some[line["from"] + 1]["labels"]
    )


def less(some, place):
    """A file without one relationship, and without others of that type that lead from the same node."""
    kind, node = some[place]["type"], some[place]["from"]
    left = [line for line in some if (line.get("type"), line.get("from")) != (kind, node)]
    return sealed(change(left, 0, relationships=left[0]["relationships"] - len(some) + len(left)))


def half_a_profile(text, some):
    place = next(
        i for i, line in enumerate(some) if line.get("labels") == ["Decision"] and "subject" not in line["properties"]
    )
    return sealed(with_property(some, place, "subject", ""))


def half_its_vectors(text, some):
    place = next(i for i, line in enumerate(some) if "context_embedding" in line.get("vectors", ()))
    return sealed(change(some, place, vectors={"raw_embedding": some[place]["vectors"]["raw_embedding"]}))


def untied_spending(text, some):
    left = [line for line in some if line.get("type") != "SPENT"]
    return sealed(change(left, 0, relationships=left[0]["relationships"] - len(some) + len(left)))


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
    "terms of another scope": (
        crafted("Note", "raw_terms", f"sea\t{Scope('acme', 'ana').token}boat"),
        r"Line \d+ .* 'raw_terms' of a Note is .* where terms",
    ),
    "a term that the index would cut": (crafted("Past", "context_terms", "a" * 245 + "b"), "'context_terms' of a Past"),
    "a property that nobody knows": (crafted("Hold", "many", 1), "a Hold has no property 'many'"),
    "a vector for an id": (retold("Source", vectors={"id": ""}), "a vector of 0 bytes"),
    "a vector of another name": (
        lambda text, some: text.replace('"resting":', '"id":', 1),
        r"a Keyword has no vector 'id'",
    ),
    "a number for an id": (crafted("Source", "id", 7), "'id' of a Source is 7, where a text of 1 to"),
    "no id": (crafted("Topic", "id", ""), "'id' of a Topic is ''"),
    "a Spending of nobody": (untied_spending, r"the Spending on line \d+ is tied to no Scope"),
    "the last version": (crafted("Scope", "version", 2**63 - 1), "'version' of a Scope"),
    "beyond any integer": (crafted("Note", "revision", 2**80), "'revision' of a Note"),
    "a text for a time": (crafted("Note", "created_at", "soon"), "'created_at' of a Note is 'soon', where a time"),
    "a time before all": (crafted("Run", "at", {"time": "0001-01-01T00:00:00+09:00"}), "'at' of a Run"),
    "what an erasure hid": (crafted("Source", "erase_at", {"time": "0001-01-01T00:00:00+00:00"}), "after the year 1"),
    "another status": (crafted("Note", "status", "past"), "'status' of a Note is 'past', where one of"),
    "a former version that is found": (crafted("Past", "status", "active"), "'status' of a Past"),
    "another language": (crafted("Scope", "language", "klingon"), "where one of cjk, dutch, english"),
    "folders that are none": (crafted("Scope", "folders", "[1]"), "'folders' of a Scope"),
    "a decision on numbers": (crafted("Decision", "considered", '[{"note": 1}]'), "'considered' of a Decision"),
    "a lone surrogate": (crafted("Source", "text", "\ud800"), r"'text' of a Source is '\\ud800'"),
    "a strange relationship": (retold("NEXT", type="OWNS"), "no 'OWNS' leads from a Source"),
    "wrong ends": (retold("HAS_KEYWORD", to=0), "no 'HAS_KEYWORD' leads from a Note to a Scope"),
    "a part that is none": (crafted("FROM", "part", -1), "'part' of a FROM"),
    "a type to come": (crafted("UNTIED", "was", "OWNS"), "'was' of a UNTIED"),
    "an id that was not made so": (retold("Note", of=["another", 0]), "was not made from"),
    "cut behind its text": (crafted("Source", "cuts", [5, 10**6]), r"Line \d+ .* a Source is cut behind its text"),
    "a former text that is cut behind it": (
        crafted("PastSource", "cuts", [10**6]),
        "a PastSource is cut behind its text",
    ),
    "more than any text": (crafted("Source", "text", "a" * 1_000_001), "at most 1,000,000 characters"),
    "a passage that there is not": (crafted("FROM", "part", 9), r"Line \d+ .* passage 9 of a Source that has"),
    "a time that was never given": (crafted("Source", "said_as", "soon"), "'said_as' of a Source is 'soon', where a"),
    "before all days": (crafted("Source", "said_at", {"time": "0001-01-01T00:00:00Z"}), "years 2 to 9998"),
    "a name that can't be stored": (crafted("Source", "session", "a\0b"), "'session' of a Source .* none of them NUL"),
    "a time without its words": (lacking("Source", "said_as"), "a Source has 'said_at', and not all of"),
    "no number in a text": (crafted("Source", "metadata", '{"n": [NaN]}'), "'metadata' of a Source"),
    "too large for a number": (crafted("PastSource", "metadata", '{"n": 1e999}'), "'metadata' of a PastSource"),
    "a version that nothing could follow": (crafted("Scope", "version", 2**53), "'version' of a Scope"),
    "lengths that nothing could be added to": (crafted("Scope", "raw_length", 2**52 + 1), "'raw_length' of a Scope"),
    "a note that replaces itself": (tied("SUPERSEDES"), "no SUPERSEDES leads from a Note to itself"),
    "a turn behind two": (tied("NEXT", other=True), "it is the second NEXT that leads to a Source"),
    "a note without a source": (
        lambda text, some: less(some, at(some, "FROM")),
        r"the Note on line \d+ has no source",
    ),
    "a former version without a source": (
        lambda text, some: less(some, last_of(some, "FROM", "Past")),
        r"the Past on line \d+ has no source",
    ),
    "a summary of nothing": (lambda text, some: less(some, at(some, "SUMS")), r"the Note on line \d+ has no source"),
    "twice the same": (
        lambda text, some: sealed(change(some, at(some, "Run") - 1, properties=some[at(some, "Topic")]["properties"])),
        "it is the second Topic",
    ),
    "half a profile": (half_a_profile, "a Decision has 'subject', and not all"),
    "half its vectors": (half_its_vectors, "a Note has 'raw_embedding', and not all"),
    "no labels": (lambda text, some: sealed(without(some, 5, "labels")), "Line 6 .* lacks 'labels'"),
    "no end": (lambda text, some: sealed(without(some, len(some) - 2, "to")), "lacks 'to'"),
    "a key too many": (retold("Hold", more=1), "it has 'more'"),
    "no number": (raw(7, '{"node": NaN}'), r"Line 8 .* \(NaN is no number"),
    "deep": (raw(7, "[" * 100_000), "Line 8 .*RecursionError"),
    "half of a sign": (lambda text, some: sealed(some).replace("Lisbon", "Lisb\udcff", 1), "Line .* no JSON"),
    "nodes by name": (lambda text, some: sealed(change(some, 0, nodes="all")), "Line 1 .* can't be read"),
    "a first line without dimensions": (
        lambda text, some: sealed(without(some, 0, "dimensions")),
        "Line 1 .* lacks|Line 1",
    ),
    "nobody's": (lambda text, some: sealed(change(some, 0, tenant="")), "Line 1 .* tenant must be"),
    "a deep first line": (raw(0, "[" * 100_000), "is no export"),
    "another embedder": (lambda text, some: sealed(change(some, 0, embedder="other")), "holds vectors of other"),
    "dimensions": (lambda text, some: sealed(change(some, 0, dimensions=7)), r"\(7 numbers\)"),
    "another schema": (lambda text, some: sealed(change(some, 0, schema=schema.VERSION - 1)), "written with schema"),
}


@pytest.fixture
def damaged(path, tmp_path):
    """Damage the file in a way; the damaged one, and what is to be said of it."""

    def of(how):
        damage, message = DAMAGED[how]
        file = tmp_path / "file.jsonl"
        file.write_bytes(damage(path.read_text(), lines(path)).encode(errors="surrogateescape"))
        return file, message

    return of


def read_whole(file, embedder):
    reader = Reader(file)
    reader.fits(embedder.name, embedder.dimensions)
    return list(reader.lines())


@pytest.mark.parametrize("how", DAMAGED)
def test_a_file_that_is_damaged_or_foreign_is_refused(how, damaged, made):
    file, message = damaged(how)
    with pytest.raises((InvalidInput, StoreMismatch), match=message):
        read_whole(file, made[0].engine.embedder)


@pytest.mark.parametrize("how", ["another embedder", "a key too many", "an id that was not made so", "no last line"])
def test_of_a_file_that_is_refused_nothing_is_imported(how, damaged, memory):
    file, message = damaged(how)
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


@pytest.fixture
def killed(memory, path):
    """Kill an import into Bob's memory after a share of its lines; its lease lapses, as it would after ten seconds."""

    def kill(share):
        tenant, embedder = memory.engine.settings.tenant, memory.engine.embedder
        given = (tenant, path, embedder.name, embedder.dimensions, share)
        ended = subprocess.run([sys.executable, "-c", KILLED, *map(str, given)])
        assert ended.returncode == -signal.SIGKILL
        lapse(memory)

    return kill


def lapse(memory):
    """Let the lease of an import into Bob's memory lapse, of which there is a part."""
    name, lease = f"import {memory.engine.settings.tenant}/bob", "MATCH (l:Lease {name: $name}) SET l.until = $until"
    rows(memory, lease, name=name, until=4_000_000_000_000)
    assert readable(memory) == []  # a lease that lives tells that it may still run
    rows(memory, lease, name=name, until=0)
    assert not nothing_of(memory, "bob/importing")


@pytest.fixture
def cut_off(memory, path, monkeypatch):
    """Cut an import into Bob's memory off after a share of its lines: nothing more of it reaches the server."""

    def lost(*_, **__):
        raise StoreError("The connection is lost.")

    def cut(share):
        def progress(done, total):
            if done > total * share:
                for name in ("commit", "write"):
                    broken.setattr(memory.engine.db, name, lost)
                lost()

        with monkeypatch.context() as broken:
            broken.setattr(copying, "ROWS", 50)
            with pytest.raises(StoreError, match="is lost"):
                memory.import_(path, **BOB, progress=progress)
        lapse(memory)

    return cut


@pytest.mark.slow
def test_what_a_killed_import_left_is_told_and_removed_by_a_sweep_a_worker_or_the_next(
    memory, path, tmp_path, killed, monkeypatch
):
    killed(0.2)
    assert ["An import was cut off" in fault for fault in memory.verify(**BOB)] == [True]
    assert ("clear", 1) in [(one.job, one.memories) for one in memory.health().undone]
    assert any("An import was cut off" in fault for fault in memory.health(overdue=0).faults)
    memory.sweep(**BOB)
    assert nothing_of(memory)
    assert memory.verify(**BOB) == []
    assert "clear" not in [one.job for one in memory.health().undone]
    killed(0.8)
    monkeypatch.setattr(work, "waiting", lambda *_: [])  # Ana's memory is only read
    work.Worker(memory.engine).once()
    assert nothing_of(memory)
    killed(0.8)
    memory.import_(path, **BOB)
    assert nothing_of(memory, "bob/importing")
    memory.export(tmp_path / "bob", **BOB)
    assert told(tmp_path / "bob") == told(path)
    assert memory.verify(**BOB) == []


def test_an_erasure_takes_what_an_import_left_that_was_cut_off_and_looks_there(memory, cut_off):
    words = "The blue boat needs paint before the race in June."
    cut_off(0.8)
    assert "still holds" in memory.verify_erasure(words, **BOB)[-1]
    receipt = memory.erase(memory.forget(everything=True, **BOB))
    assert (receipt.residue, receipt.probes > 0) == (0, True)
    assert nothing_of(memory)
    memory.add({"id": "z", "text": "The heron eats fish.", "session": "birds"}, **BOB)
    rows(memory, LEFT)
    assert "still holds" in memory.verify_erasure(words, **BOB)[-1]
    memory.erase(memory.forget(session="birds", **BOB))
    assert nothing_of(memory, "bob/importing")
    assert not any("still holds" in one for one in memory.verify_erasure(words, **BOB))


LEFT = """MATCH (x:Source {scope: $scope, id: 'g'})
CREATE (y:Source {scope: replace($scope, '/ana', '/bob/importing'), id: x.id, text: x.text})"""


def test_an_erasure_that_was_cut_off_takes_no_import_with_it(memory, path):
    scope = Scope(memory.engine.settings.tenant, "bob")

    def cut_off(*_):
        """Begin to erase everything, and be killed when all but the last step is done."""
        memory.add("The heron eats fish.", **BOB)
        erasure._begin(memory.engine, scope, memory.forget(everything=True, **BOB))
        scopes.purge(memory.engine.db, scope.name, whole=False)

    cut_off()
    with pytest.raises(InvalidInput, match=r"erasure of .* is not done.* sweep"):
        memory.import_(path, **BOB)
    memory.sweep(**BOB)
    once = iter([cut_off])
    with pytest.raises(InvalidInput, match=r"erasure of .* is not done.* sweep"):
        memory.import_(path, **BOB, progress=lambda *_: next(once, lambda: None)())
    memory.sweep(**BOB)
    memory.import_(path, **BOB)
    before = len(list(memory.get_all(**BOB)))
    memory.sweep(**BOB)
    assert len(list(memory.get_all(**BOB))) == before > 0


# ---- what a file may hold ---------------------------------------------------------------------


def test_the_forms_have_what_statements_and_models_write():
    """Fails for a property that a statement sets, or a field of what is stored whole, that the forms do not have."""
    of = {label: {*form.model_fields, *form.vectors} for label, form in NODES.items()}
    known = set().union(*of.values(), *(tie.form.model_fields for tie in TIES.values()), MADE_ANEW)
    hiding = {"kept_expires", "kept_erase", "state", "erasure"}  # of an erasure that is not done
    blocks = {"made_from", "level", "leaves", "distance", "entered", "left", "first_at", "last_at"}
    blocks |= {"described", "described_by", "described_as", "embedded_as"}
    claims = {"text", "subject", "object", "subject_key", "object_key", "found_in", "shared_in", "shared_as"}
    claims |= {"made_by", "reworded"}
    others = {
        "holder",
        "until",
        "name",
        "model",
        "dimensions",
        "schema",
        "upgrading",
        "probe",
        "calibration",
        *("named", "former", "vectors", "last", "grace", "total", "since"),
    }  # of leases and the store
    others |= {"revoked_at", "keyed"}  # of keys, which are no part of a memory
    others |= {
        "uri",
        "drained",
        "catalogue",
        "server",
        "lock",
        "mover",
        "begun",
        "to",
        "move",
    }  # of several servers, and where tenants live
    for name, one in statements.statements().items():
        for assigned in re.findall(r"\bSET\s+((?:[^\n]|\n\s{4,})+)", one.text):
            written = set(re.findall(r"\b[a-z]{1,2}\.([a-z_]+) = ", assigned))
            assert written <= known | hiding | blocks | claims | others, name
    assert of["Usage"] == {field.name for field in fields(Usage)} | {"id"}
    assert of["Run"] == {field.name for field in fields(TopicRun)} - {"scope", "changed_since"}
    source = source_properties(Source("a", "b", "c"))
    assert of["Source"] == source.keys() | {"id", "cuts", "expires_at", "erase_at"}
    assert of["Hold"] == {field.name for field in fields(Hold)}
    decision = {field.name for field in fields(Decision)} - {"cost", "about"} | {field.name for field in fields(Cost)}
    assert of["Decision"] == decision


def test_all_properties_of_the_forms_are_exported(path):
    """So an export of this memory holds what is stored against the forms, but for a few properties that are rare."""
    found = {(line["labels"][0], name) for line in lines(path) if "node" in line for name in given_of(line)}
    every = {(label, name) for label, f in NODES.items() for name in (*f.model_fields, *f.vectors)}
    assert every - found == RARE


def given_of(line):
    return {**line["properties"], **line.get("vectors", {})}


def odd(chance):
    plain = [None, True, -1, 2**63, 1.5, 1e308, "", "x", "\ud800", "a\tb", [], [[]], [1, "a"], {}, {"date": 1}]
    times = ({"time": "soon"}, {"time": "9999-12-31T23:59:59-14:00"}, {"time": "2024-01-01T00:00:00Z", "zone": "Mars"})
    return chance.choice([*plain, *times])


def mutated(chance, data):
    """A true export in which something is another, with the right sum more often than not."""
    some = data.splitlines()
    place = chance.randrange(len(some))
    line = json.loads(some[place])
    if chance.random() < 0.2:
        at, some[place] = chance.randrange(len(some[place])), bytearray(some[place])
        some[place][at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
        some[place] = bytes(some[place]).replace(b"\n", b"")
    else:
        inside = line
        while isinstance(inside, dict) and inside:
            key = chance.choice(sorted(inside))
            if not isinstance(inside[key], dict) or chance.random() < 0.2:
                inside[key] = odd(chance)
                if chance.random() < 0.2:
                    del inside[key]
                elif chance.random() < 0.1:
                    inside["more"] = odd(chance)
                break
            inside = inside[key]
        some[place] = json.dumps(line).encode()
    body = b"".join(one + b"\n" for one in some[:-1])
    if place == len(some) - 1:
        return body + some[-1]
    return body + json.dumps({**json.loads(some[-1]), "sha256": hashlib.sha256(body).hexdigest()}).encode()


def read(file, embedder):
    try:
        return "read" if read_whole(file, embedder) else ""
    except (InvalidInput, StoreMismatch) as error:
        return "refused" if "Nothing was imported" in str(error) else str(error)


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 10))])
def test_whatever_a_file_holds_it_is_read_or_refused(seed, made, path, tmp_path):
    chance, data, file = random.Random(seed), path.read_bytes(), tmp_path / "file"
    outcomes = Counter()
    for _ in range(FUZZED):
        file.write_bytes(mutated(chance, data))
        outcomes[read(file, made[0].engine.embedder)] += 1
    assert outcomes.keys() - {"read"} == {"refused"}


def test_a_file_that_goes_or_changes_between_its_two_readings_is_refused(path, tmp_path):
    file = tmp_path / "file"
    data = path.read_bytes()

    def gone():
        file.unlink()

    def another():
        file.write_text(sealed(with_property(lines(path), at(lines(path), "Hold"), "reason", "Another.")))

    for change_it, why in ((gone, "can't be read: No such file"), (another, "was changed")):
        file.write_bytes(data)
        reader = Reader(file)
        list(reader.lines())
        change_it()
        with pytest.raises(InvalidInput, match=why):
            list(reader.lines())
