"""Writes keep their invariants however often they are cut off, repeated, or made at once."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack, contextmanager
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from memgraph_engine import Memory
from memgraph_engine.model.scope import Scope
from memgraph_engine.testing import purge, temporary_memory
from memgraph_engine.writing import commit
from memgraph_engine.writing.commit import until_current
from tests.snapshots import same, snapshot

FACTS = [
    "The ferry to Madeira leaves at noon.",
    "Our beekeeper sold two hives.",
    "Lisbon has yellow trams.",
    "The ferry was late, so we took the yellow tram.",
    "Two hives stand behind the bakery.",
    "The bakery burnt its bread.",
    "A beekeeper needs a veil.",
    "Yellow trams pass the bakery in Lisbon.",
]


# of one life: facts, repeats, restatements, a correction, contradictions, small talk
LIFE = [
    "I live in Lisbon with my sister.",
    "Our beekeeper sold two hives to the monastery.",
    "Thanks!",
    "The bakery next door burnt its bread.",
    "I live in Lisbon, with my sister!",
    "The beekeeper of ours sold two of the hives to the monastery.",
    "My dentist plays the cello in an orchestra.",
    "I no longer live in Lisbon with my sister, I moved to Madeira.",
    "Our beekeeper never sold two hives to the monastery.",
    "The bakery next door burnt all of its bread.",
    "My dentist plays the cello in an orchestra, you know.",
    "Two yellow trams pass the lighthouse of Madeira.",
]


@contextmanager
def ingesting(memory, talk, how="five at once", **more):
    """Add messages in a process of their own; it prints how far it is."""
    environment = {
        **os.environ,
        "TENANT": memory.engine.settings.tenant,
        "MESSAGES": json.dumps(talk),
        "HOW": how,
        **more,
    }
    process = subprocess.Popen([sys.executable, "-c", INGEST], env=environment, stdout=subprocess.PIPE, text=True)
    with process:
        yield process


def all_ingest(memory, talks):
    """Ingest several lists at once, and see each process end well."""
    with ExitStack() as stack:
        processes = [stack.enter_context(ingesting(memory, talk)) for talk in talks]
        assert [process.wait(timeout=240) for process in processes] == [0] * len(talks)


INGEST = """
import json, os, signal, sys
import neo4j
from memgraph_engine import Memory
from tests.vectors import Remembering

run, left = neo4j.Session.run, int(os.environ.get("KILLED_AT", 0))

def killed_at(session, *given):
    global left
    sent = run(session, *given)
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return sent

with Memory.connect(tenant=os.environ["TENANT"], embedder=Remembering()) as memory:
    neo4j.Session.run = killed_at
    messages, how = json.loads(os.environ["MESSAGES"]), os.environ["HOW"]
    size = 1 if how == "one by one" else 5
    for start in range(0, len(messages), size):
        memory.add_many(messages[start:start + size], user_id="ana", wait=how != "deferred")
        print(start, flush=True)
    memory.process(user_id="ana")
"""


def messages(number, prefix="m"):
    return [
        {"id": f"{prefix}{i}", "text": f"{FACTS[i % len(FACTS)]} Day {i}.", "session": f"s{i // 10}", "speaker": "Ana"}
        for i in range(number)
    ]


def life(ids, day=1):
    """Turns of one life, said at fixed times: what they become depends on the order alone."""
    return [
        {"id": f"m{i}", "text": LIFE[i % len(LIFE)], "speaker": "Ana", "session": f"s{i % 3}",
         "time": f"2023-05-{day:02}T{i // 60:02}:{i % 60:02}:00"}
        for i in ids
    ]  # fmt: skip


def stored(memory):
    return snapshot(memory, vectors=False)


def replayed(memory, talk):
    """Remove it all, and add the same again in one process, batch by batch in the order of commits."""
    by_id = {message["id"]: message for message in talk}
    batches = {}
    for one in sorted(memory.decisions(user_id="ana", limit=1000), key=lambda one: (one.version, one.place)):
        batches.setdefault(one.version, []).extend(by_id[source] for source in one.sources)
    purge(memory.engine.settings.tenant)
    for version, batch in batches.items():
        memory.add_many(batch, user_id="ana")
        assert memory.stats(user_id="ana").version == version
    return stored(memory)


@pytest.mark.slow
def test_an_ingest_killed_half_way_and_run_again_gives_the_same_graph(memory):
    talk = life(range(40))
    with ingesting(memory, talk) as process:
        for line in process.stdout:
            if int(line) >= 15:
                process.send_signal(signal.SIGKILL)
                break
    assert 0 < memory.stats(user_id="ana").sources < 40
    receipt = memory.add_many(talk, user_id="ana")
    assert receipt.repeats > 0
    found = stored(memory)
    assert memory.verify(user_id="ana") == []
    same(found, replayed(memory, talk))


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    ["one by one", *(pytest.param(how, marks=pytest.mark.long) for how in ("five at once", "deferred"))],
)
def test_the_same_calls_made_again_after_kills_give_the_graph_of_calls_made_once(memory, how):
    """Killed at its fourth message to the server, its ninth and so on, which the server may or may not have got."""
    talk = life(range(30))
    called(memory, talk, how)
    once = stored(memory)
    purge(memory.engine.settings.tenant)
    for messages in (4, 9, 13):
        with ingesting(memory, talk, how, KILLED_AT=str(messages)) as process:
            assert process.wait(timeout=240) == -signal.SIGKILL
    called(memory, talk, how)
    same(stored(memory), once)
    assert memory.verify(user_id="ana") == []


def called(memory, talk, how):
    """Make the calls that a process makes which ingests."""
    size = 1 if how == "one by one" else 5
    for start in range(0, len(talk), size):
        memory.add_many(talk[start : start + size], user_id="ana", wait=how != "deferred")
    memory.process(user_id="ana")


@pytest.mark.slow
def test_eight_processes_adding_the_same_give_the_graph_of_one(memory):
    talk = life(range(15))
    all_ingest(memory, [talk] * 8)
    found = stored(memory)
    assert memory.verify(user_id="ana") == []
    purge(memory.engine.settings.tenant)
    all_ingest(memory, [talk])
    same(found, stored(memory))
    assert memory.stats(user_id="ana").sources == 15


@pytest.mark.slow
def test_processes_adding_different_things_give_the_graph_of_one_in_the_order_of_commits(memory):
    parts = [range(16), range(8, 24), range(16, 32), range(4, 28, 2)]
    talks = [life(part) for part in parts]
    all_ingest(memory, talks)
    assert memory.stats(user_id="ana").sources == 32
    assert memory.verify(user_id="ana") == []
    made = memory.decisions(user_id="ana", limit=1000)
    assert sorted(source for one in made if one.kind != "profile" for source in one.sources) == sorted(
        f"m{i}" for i in range(32)
    )
    assert {"append", "merge", "reinforce", "discard"} <= {one.kind for one in made}
    found = stored(memory)
    same(found, replayed(memory, life(range(32))))


@pytest.mark.slow
def test_processes_adding_to_one_session_number_its_turns_without_a_gap(memory):
    all_ingest(memory, [messages(10, prefix=f"p{number}-") for number in range(4)])
    assert memory.stats(user_id="ana").sources == 40
    turns = [source.seq for note in memory.get_all(user_id="ana") for source in note.sources]
    assert sorted(turns) == list(range(40))
    assert memory.verify(user_id="ana") == []


def test_a_write_that_fails_in_the_middle_leaves_no_half(memory, monkeypatch):
    """The last part of the statement is refused, when all others have been written: the transaction is rolled back."""
    from memgraph_engine.errors import QueryFailed
    from memgraph_engine.graph import writes

    note = memory.get(memory.add("The beekeeper sold two hives.", user_id="ana").entries[0].note, user_id="ana")
    before = stored(memory)
    with monkeypatch.context() as patch:
        no_number = {"a": note.keywords[0], "b": note.keywords[0], "change": True}
        patch.setattr(writes, "changed", lambda _: [no_number])
        with pytest.raises(QueryFailed):
            memory.add("Two hives and a beekeeper are never to be seen.", user_id="ana")
    same(stored(memory), before)
    assert memory.verify(user_id="ana") == []
    assert memory.add("Two hives and a beekeeper are never to be seen.", user_id="ana").added == 1


def test_a_write_whose_answer_is_lost_is_made_once(memory, monkeypatch):
    """The connection breaks after the commit: what is sent again is known by its decisions."""
    import neo4j
    from neo4j.exceptions import ServiceUnavailable

    memory.add("The ferry leaves at noon.", user_id="ana")
    run, lost = neo4j.Session.run, []

    def cut_off(session, text, parameters):
        rows = list(run(session, text, parameters))
        if "CREATE (n:Note" in text and not lost:
            lost.append(rows)
            raise ServiceUnavailable("gone")
        return rows

    monkeypatch.setattr(neo4j.Session, "run", cut_off)
    receipt = memory.add("Our beekeeper sold two hives.", user_id="ana")
    assert (receipt.added, receipt.repeats, len(lost)) == (1, 0, 1)
    lost.clear()
    assert memory.delete(receipt.entries[0].note, user_id="ana").kind == "delete"
    assert len(lost) == 1
    assert memory.stats(user_id="ana").version == 3
    assert memory.verify(user_id="ana") == []


def count_pairs(memory, user):
    counted = Counter()
    for note in memory.get_all(user_id=user):
        counted.update(combinations(sorted(note.keywords), 2))
    return counted


actions = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(st.integers(0, 11), min_size=1, max_size=5)),
        st.tuples(st.just("again"), st.lists(st.integers(0, 11), min_size=1, max_size=5)),
        st.tuples(st.just("update"), st.tuples(st.integers(0, 11), st.sampled_from(FACTS))),
        st.tuples(st.just("delete"), st.integers(0, 11)),
        st.tuples(st.just("delete_all"), st.none()),
    ),
    min_size=3,
    max_size=10,
)


class Model:
    """What must be there: the note of each source, what sources say now, what the user wrote, and what is deleted."""

    def __init__(self):
        self.notes, self.texts, self.own, self.deleted = {}, {}, {}, set()

    def sources(self, note):
        return {source for source, home in self.notes.items() if home == note}

    def readable(self):
        return set(self.notes.values()) - self.deleted

    def added(self, batch, receipt):
        for message, entry in zip(batch, receipt.entries, strict=True):
            if entry.kind != "repeat":
                self.notes[entry.source], self.texts[entry.source] = entry.note, message["text"]
            assert entry.note == self.notes[message["id"]]  # known, and never to come back

    def updated(self, note, text):
        sources = self.sources(note)
        if len(sources) == 1:
            self.texts.update(dict.fromkeys(sources, text))
        else:
            self.own[note] = text

    def said(self):
        of_sources = {text for source, text in self.texts.items() if self.notes[source] in self.readable()}
        return of_sources | {text for note, text in self.own.items() if note in self.readable()}


def play(memory: Memory, moves):
    """Make the moves, keeping beside it what must be there; compare after all."""
    model = Model()
    for kind, what in moves:
        if kind in ("add", "again"):
            batch = [{"id": f"m{i}", "text": FACTS[i % len(FACTS)], "session": f"s{i % 3}"} for i in what]
            batch *= 2 if kind == "again" else 1
            model.added(batch, memory.add_many(batch, user_id="ana"))
        elif kind == "delete_all":
            memory.delete_all(user_id="ana")
            model.deleted |= model.readable()
        else:
            number, text = what if kind == "update" else (what, "")
            note = model.notes.get(f"m{number}")
            if note not in model.readable():
                continue
            if kind == "update":
                memory.update(note, text, user_id="ana")
                model.updated(note, text)
            else:
                memory.delete(note, user_id="ana")
                model.deleted.add(note)
    kept = list(memory.get_all(user_id="ana"))
    assert {note.id: {source.id for source in note.sources} for note in kept} == {
        note: model.sources(note) for note in model.readable()
    }
    assert {source.id: source.text for note in kept for source in note.sources} == {
        source: text for source, text in model.texts.items() if model.notes[source] in model.readable()
    }
    assert memory.verify(user_id="ana") == []
    assert memory.stats(user_id="ana").pairs == len(count_pairs(memory, "ana"))
    everything = " ".join(note.context for note in kept)
    assert not [text for text in FACTS if text not in model.said() and text in everything]


def cases(number):
    return settings(
        max_examples=number,
        database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


@cases(2)
@given(moves=actions)
def test_any_order_of_writes_keeps_every_count(server, embedder, moves):
    with temporary_memory(embedder=embedder) as memory:
        play(memory, moves)


@pytest.mark.long
@pytest.mark.timeout(3600)
@cases(80)
@given(moves=actions)
def test_any_order_of_writes_keeps_every_count_long(server, embedder, moves):
    with temporary_memory(embedder=embedder) as memory:
        play(memory, moves)


def test_what_was_read_while_somebody_wrote_and_contradicts_itself_is_read_again(memory):
    memory.add("The heron eats fish.", user_id="ana")
    tried = []

    def attempt():
        tried.append("once")
        if len(tried) == 1:
            memory.add("The boat is red.", user_id="ana")
            raise KeyError("a source that is there no more")
        return "done"

    scope = Scope(memory.engine.settings.tenant, "ana").name
    assert until_current(memory.engine.db, scope, attempt) == "done"
    assert len(tried) == 2


def test_a_fault_of_a_write_itself_is_raised(memory):
    memory.add("The heron eats fish.", user_id="ana")
    tried = []

    def attempt():
        tried.append("once")
        raise IndexError("it is wrong whatever is read")

    with pytest.raises(IndexError, match="whatever"):
        until_current(memory.engine.db, Scope(memory.engine.settings.tenant, "ana").name, attempt)
    assert len(tried) == 2


def test_a_fault_of_a_write_itself_is_raised_while_others_write(memory):
    memory.add("The heron eats fish.", user_id="ana")
    tried = []

    def attempt():
        tried.append(memory.add(f"The boat is red, says witness {len(tried)}.", user_id="ana"))
        raise KeyError("it is wrong whatever is written")

    with pytest.raises(KeyError, match="whatever"):
        until_current(memory.engine.db, Scope(memory.engine.settings.tenant, "ana").name, attempt)
    assert len(tried) == 5


def test_a_fault_of_a_write_itself_is_never_told_as_a_conflict(memory, monkeypatch):
    memory.add("The heron eats fish.", user_id="ana")
    monkeypatch.setattr(commit, "_ATTEMPTS", 4)
    tried = []

    def attempt():
        tried.append(memory.add(f"The boat is red, says witness {len(tried)}.", user_id="ana"))
        raise KeyError(f"it is wrong in another way, time {len(tried)}")

    with pytest.raises(KeyError, match="time 4"):
        until_current(memory.engine.db, Scope(memory.engine.settings.tenant, "ana").name, attempt)
