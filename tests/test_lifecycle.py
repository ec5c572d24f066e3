"""What ends can be read no more from the moment it ends; it comes back whole, and nothing else dies with it."""

from collections import Counter
from datetime import timedelta

import pytest

from memgraph_engine import ClockSkew, Held, InvalidInput, Memory, NotFound, Settings, UndoRefused
from memgraph_engine.worker.work import Worker
from memgraph_engine.writing import sweep as sweeping
from tests.clocks import BEGIN
from tests.snapshots import of_scope, same, snapshot
from tests.test_erasure import STEPS, Killed, dies, everything_told, nodes

DAY = timedelta(days=1)
POLICIES = """
default: factual
classes:
  factual: {ttl: none}
  week: {ttl: 7d}
  day: {ttl: 24h, archive: 30d}
  apart: {ttl: 24h, restart: false}
  secret: {ttl: 24h, at_end: erase, join: false}
  private: {ttl: 7d, models: false, shown: asked}
  unseen: {ttl: none, models: false}
rules:
  - {when: {pattern: '(?i)one-time code'}, class: secret}
  - {when: {role: user, tags: [errand]}, class: day}
"""
SECRET = "My one-time code for the vault is amaranth tulip seven."


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "policies.yaml"
    path.write_text(POLICIES)
    return path


@pytest.fixture
def memory(tenant, embedder, clock, file):
    settings = Settings.load(lifecycle={"policies": str(file)})
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings) as one:
        yield one


def note(receipt):
    return receipt.entries[0].note


def found(memory, question, **filters):
    return [hit.note.raw for hit in memory.search(question, user_id="ana", **filters)]


def kinds(memory):
    return [one.kind for one in memory.decisions(user_id="ana")]


def every_read(memory, words, ids):
    """All that a memory tells of some notes to one who asks for their words, but for what looks back."""
    owner = {"user_id": "ana"}
    hits = memory.search(words, **owner, top_k=50, explain=True)
    told = [hit.to_dict() for hit in hits]
    told += [memory.context(words, **owner).text, [anchor.to_dict() for anchor in memory.anchors(words, **owner)]]
    told += [one.to_dict() for one in memory.get_all(**owner)]
    told += [list(memory.vectors(**owner))]
    told += [memory.search(words, **owner, session="s"), memory.search(words, **owner, as_of="2024-05-03T10:00")]
    for name in ids:
        for read in (memory.get, memory.source):
            try:
                told.append(read(name, **owner))
            except NotFound:
                continue
    told += [tie.to_dict() for one in memory.get_all(**owner) for tie in memory.explain(one.id, **owner).ties]
    return repr(told)


def expiring(memory):
    """Since when a worker finds that something of a memory has ended, None where nothing has."""
    limits = dict.fromkeys(("cap", "bytes", "dimensions", "evolve", "blocks", "claims"), 0)
    (waits,) = memory.engine.db.run("scopes/waits", scope=f"{memory.engine.settings.tenant}/ana", **limits)
    return waits["expiring"]


# ---- reading ------------------------------------------------------------------------------------


def test_by_default_nothing_ends(tenant, embedder, clock):
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock) as memory:
        memory.add("The boat sails to Madeira.", user_id="ana")
        clock.later(3000 * DAY)
        assert memory.sweep(user_id="ana").notes == 0
        (one,) = memory.get_all(user_id="ana")
        assert (one.policy, one.expires_at.year, one.erase_at.year, one.pinned) == ("factual", 9999, 9999, False)
        assert expiring(memory) is None


@pytest.mark.parametrize("swept", [False, True])
def test_what_has_expired_is_told_by_no_read(memory, clock, swept):
    secret = "The harbour code is quebec seven tango."
    ids = [
        *(memory.add(secret, user_id="ana", session="s", id="a", policy="day").entries[0].note, "a"),
        memory.add({"id": "p", "text": "The pending pier is zulu.", "policy": "day"}, user_id="ana", wait=False)
        .entries[0]
        .note,
        "p",
    ]
    memory.add("And the harbour code is for whom?", user_id="ana", session="s")
    memory.add("The harbour code was changed in quebec.", user_id="ana", session="s")
    before = every_read(memory, "What are the harbour code and the pending pier?", ids)
    assert "seven tango" in before
    assert "zulu" in before
    clock.later(DAY)
    if swept:
        assert memory.sweep(user_id="ana").notes == 2
    after = every_read(memory, "What are the harbour code and the pending pier?", ids)
    assert "seven tango" not in after
    assert "zulu" not in after
    assert memory.verify(user_id="ana") == []


def test_a_note_can_be_read_to_its_last_moment(memory, clock):
    memory.add("The train leaves at nine.", user_id="ana", policy="day")
    clock.later(DAY - timedelta(milliseconds=1))
    assert found(memory, "When does the train leave?")
    clock.later(timedelta(milliseconds=1))
    assert not found(memory, "When does the train leave?")


def test_a_clock_that_is_put_back_shows_nothing_again(memory, clock):
    memory.add("The train leaves at nine.", user_id="ana", policy="day")
    clock.later(2 * DAY)
    assert not found(memory, "When does the train leave?")
    clock.later(-2 * DAY)
    assert not found(memory, "When does the train leave?")


def test_a_clock_that_had_jumped_ahead_hides_nothing_once_it_is_right_again(memory, clock):
    memory.add("The train leaves at nine.", user_id="ana", policy="day")
    clock.later(3650 * DAY)  # beyond the clock of the server too
    assert not found(memory, "When does the train leave?")
    clock.later(-3650 * DAY)
    assert found(memory, "When does the train leave?")
    assert memory.get_all(user_id="ana")
    clock.later(2 * DAY)
    assert not found(memory, "When does the train leave?")
    clock.later(-DAY)
    assert not found(memory, "When does the train leave?")


@pytest.mark.parametrize("swept", [False, True])
def test_a_look_back_finds_what_had_not_ended_then(memory, clock, swept):
    memory.add("The train leaves at nine.", user_id="ana", policy="day")
    clock.later(2 * DAY)
    if swept:
        memory.sweep(user_id="ana")
    when = "When does the train leave?"
    assert found(memory, when, known_at=BEGIN + timedelta(hours=3))
    assert not found(memory, when, known_at=BEGIN + timedelta(hours=25))
    clock.later(30 * DAY)  # what is archived is kept for 30 days
    assert not found(memory, when, known_at=BEGIN + timedelta(hours=3))


def test_what_is_to_be_erased_is_told_by_nothing_from_its_end(memory, clock):
    receipt = memory.add("My one-time code is 4711.", user_id="ana", id="a")
    assert memory.get("a", user_id="ana").policy == "secret"
    clock.later(DAY)
    for sweep in (False, True):
        if sweep:
            memory.sweep(user_id="ana")
        assert not found(memory, "What is the one-time code?", known_at=BEGIN + timedelta(hours=3))
        for read in (memory.get, memory.source, memory.history, memory.explain):
            for name in ("a", note(receipt)):
                with pytest.raises(NotFound):
                    read(name, user_id="ana")
        assert "4711" not in repr([one.to_dict() for one in memory.decisions(user_id="ana")])
        with pytest.raises((UndoRefused, NotFound)):
            memory.undo(memory.decisions(user_id="ana")[0].id, user_id="ana")


def test_what_expired_unswept_does_not_fill_the_pool_of_a_search(tenant, embedder, clock, file):
    small = {"pool": 5, "lexical_pool": 5, "anchored": 5}
    settings = Settings.load(lifecycle={"policies": str(file)}, recall=small)
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings) as memory:
        boats = [{"text": f"Boat {n} is blue.", "policy": "day"} for n in range(40)]
        memory.add_many(boats, user_id="ana")
        memory.add("The blue boat that stays is boat 99, and it is old.", user_id="ana")
        clock.later(DAY)
        hits = memory.search("Which boat is blue?", user_id="ana", explain=True)
        assert [hit.note.raw for hit in hits] == [("The blue boat that stays is boat 99, and it is old.",)]
        assert {"dense_context", "lexical"} <= set(hits[0].explanation.proposed_by)


def test_a_pending_note_that_expired_is_never_constructed(memory, clock):
    memory.add({"text": "The buoy is green.", "policy": "day"}, user_id="ana", wait=False)
    clock.later(DAY)
    assert memory.process(user_id="ana").entries == ()
    assert Worker(memory.engine).once()
    assert memory.stats(user_id="ana").notes == {"archived": 1}


# ---- writing ------------------------------------------------------------------------------------


def test_the_class_is_that_of_the_message_then_of_a_rule_then_the_default(memory):
    def policy(**fields):
        return memory.get(note(memory.add(user_id="ana", **fields)), user_id="ana").policy

    assert policy(text="I like boats.") == "factual"
    assert policy(text="Buy bread.", role="user", tags=["errand"]) == "day"
    assert policy(text="Buy milk.", role="user", tags=["errand"], policy="week") == "week"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"policy": "forever"}, "there is no policy 'forever'; the policies are factual, week"),
        ({"policy": 3}, "policy is the number 3"),
        ({"expires": "2024-04-30"}, "expires 2024-04-30T23:59:59.999000"),
        ({"expires": "soon"}, "expires 'soon' can't be read"),
        ({"policy": "secret", "time": "2024-04-01"}, r"ended on 2024-04-02 00:00 UTC and would be erased at once"),
    ],
)
def test_a_life_that_can_not_be_is_refused_with_the_reason(memory, fields, said):
    with pytest.raises(InvalidInput, match=f"the message.*{said}"):
        memory.add([{"text": "I like boats.", **fields}], user_id="ana")
    assert memory.stats(user_id="ana").sources == 0


def test_a_message_expires_when_it_says(memory, clock):
    memory.add("The train leaves at nine.", user_id="ana", expires=BEGIN + timedelta(hours=1))
    clock.later(timedelta(hours=1))
    assert not found(memory, "When does the train leave?")


def test_a_repeat_joins_only_within_a_class(memory):
    memory.add("I like green boats.", user_id="ana", session="1")
    kinds = [
        memory.add("I like green boats.", user_id="ana", session="2", policy="week").entries[0].kind,
        memory.add("I like green boats.", user_id="ana", session="3").entries[0].kind,
    ]
    assert kinds == ["link", "reinforce"]


def test_a_repeat_begins_the_time_anew(memory, clock):
    first = memory.add("I like green boats.", user_id="ana", session="1", id="a", policy="week")
    clock.later(5 * DAY)
    second = memory.add("I like green boats.", user_id="ana", session="2", policy="week").entries[0]
    assert (second.kind, second.note) == ("reinforce", note(first))
    assert memory.get("a", user_id="ana").expires_at == BEGIN + 12 * DAY
    assert memory.source("a", user_id="ana").expires_at == BEGIN + 12 * DAY
    memory.undo(second.decision, user_id="ana")
    assert memory.get("a", user_id="ana").expires_at == BEGIN + 7 * DAY
    assert memory.source("a", user_id="ana").expires_at == BEGIN + 7 * DAY


def test_where_a_repeat_does_not_begin_the_time_anew_it_has_its_own(memory, clock):
    memory.add("I like green boats.", user_id="ana", session="1", policy="apart")
    clock.later(DAY / 2)
    assert memory.add("I like green boats.", user_id="ana", session="2", policy="apart").entries[0].kind == "link"
    clock.later(DAY / 2)
    assert found(memory, "Which boats?") == [("I like green boats.",)]


def test_what_does_not_join_makes_notes_of_its_own(memory):
    memory.add("My one-time code is 4711.", user_id="ana", session="1")
    assert memory.add("My one-time code is 4711.", user_id="ana", session="2").entries[0].kind != "reinforce"


def test_what_ends_earlier_replaces_nothing_for_good(memory, clock):
    old = memory.add("I live in Lisbon.", user_id="ana", speaker="Ana", id="old")
    new = memory.add("I no longer live in Lisbon.", user_id="ana", speaker="Ana", policy="day").entries[0]
    assert new.kind == "link"
    assert [tie.kind for tie in memory.explain(new.note, user_id="ana").ties] == ["change"]
    clock.later(DAY)
    assert memory.get(note(old), user_id="ana").status == "active"
    assert memory.explain("old", user_id="ana").ties == ()


def test_what_ends_no_earlier_replaces(memory):
    memory.add("I live in Lisbon.", user_id="ana", speaker="Ana", policy="day")
    new = memory.add("I no longer live in Lisbon.", user_id="ana", speaker="Ana").entries[0]
    assert new.kind == "supersede"


@pytest.mark.parametrize("wait", [True, False])
def test_a_context_quotes_only_what_ends_no_earlier(memory, wait):
    messages = [
        {"text": "The alarm code is quebec.", "policy": "day", "session": "s", "id": "1"},
        {"text": "Who else knows it?", "session": "s", "id": "2"},
        {"text": "Only Ben does, I think.", "policy": "day", "session": "s", "id": "3"},
    ]
    memory.add_many(messages, user_id="ana", wait=wait)
    memory.add({"text": "He wrote it down.", "session": "s", "id": "4"}, user_id="ana", wait=wait)
    memory.process(user_id="ana")
    contexts = [memory.get(name, user_id="ana").context for name in "1234"]
    assert ["before:" in context for context in contexts] == [False, False, True, False]


def test_a_longer_life_renders_the_turns_anew(memory):
    for name, text, policy in (
        ("1", "The gate is red.", "day"),
        ("2", "It was painted.", "day"),
        ("3", "By Ben.", "week"),
    ):
        memory.add({"text": text, "policy": policy, "session": "s", "id": name}, user_id="ana")
    quotes = lambda: ["before:" in memory.get(name, user_id="ana").context for name in "123"]  # noqa: E731
    assert quotes() == [False, True, False]
    decision = memory.pin("2", user_id="ana")
    assert quotes() == [False, False, True]
    memory.undo(decision.id, user_id="ana")
    assert quotes() == [False, True, False]
    assert memory.verify(user_id="ana") == []


def test_what_expired_and_is_said_again_is_brought_back(memory, clock):
    message = {"id": "a", "text": "The train leaves at nine.", "policy": "day"}
    memory.add(message, user_id="ana")
    assert memory.add(message, user_id="ana").entries[0].kind == "repeat"
    for swept in (False, True):
        clock.later(DAY)
        if swept:
            memory.sweep(user_id="ana")
        assert memory.add(message, user_id="ana").entries[0].kind == "restore"
        assert memory.get("a", user_id="ana").expires_at == clock.now + DAY
    assert memory.verify(user_id="ana") == []


# ---- sweep, restore -----------------------------------------------------------------------------


def test_a_sweep_takes_out_of_sums_keywords_and_vectors(memory, clock):
    memory.add("The boat sails to Madeira.", user_id="ana", policy="day")
    memory.add("Ben has a green bicycle.", user_id="ana")
    clock.later(DAY)
    assert memory.verify(user_id="ana") == []
    (decision,) = memory.sweep(user_id="ana").decisions
    assert decision.kind == "expire"
    assert memory.verify(user_id="ana") == []
    stats = memory.stats(user_id="ana")
    assert stats.notes == {"archived": 1, "active": 1}
    assert "Madeira" not in repr([a.keyword for a in memory.anchors("Where is Madeira?", user_id="ana")])
    with memory.engine.db._session() as session:
        kept = session.run(
            f"{of_scope('Note', 'Past')} WITH n WHERE n.status = 'archived' OR n:Past "
            "RETURN count(n.raw_embedding) + count(n.context_embedding) AS vectors, count(n) AS notes",
            scope=f"{memory.engine.settings.tenant}/ana",
        ).single()
    assert (kept["vectors"], kept["notes"]) == (0, 2)
    assert expiring(memory) is None  # searches look at no ends any more
    assert memory.sweep(user_id="ana").notes == 0


def test_undoing_a_sweep_brings_all_back_for_a_time_anew(memory, clock):
    messages = [
        {"text": "The boat sails to Madeira.", "policy": "day", "session": "s"},
        {"text": "It is green and old.", "policy": "day", "session": "s"},
        {"text": "The boat sails to Madeira on Sunday with Ben.", "policy": "day", "session": "s"},
    ]
    memory.add_many(messages, user_id="ana")
    memory.add({"text": "The buoy is red.", "policy": "day"}, user_id="ana", wait=False)
    before = snapshot(memory)
    clock.later(2 * DAY)
    swept = memory.sweep(user_id="ana")
    assert swept.notes == 4
    memory.undo(swept.decisions[0].id, user_id="ana")
    assert {one.expires_at for one in memory.get_all(user_id="ana")} == {clock.now + DAY}
    assert {source.expires_at for one in memory.get_all(user_id="ana") for source in one.sources} == {clock.now + DAY}
    after = snapshot(memory)
    same(_ageless(before), _ageless(after))
    assert memory.verify(user_id="ana") == []


def _ageless(shot):
    """A snapshot without the ends, which begin anew."""
    nodes = Counter()
    for (labels, given), number in shot[0].items():
        kept = tuple(pair for pair in given if pair[0] not in ("expires_at", "erase_at"))
        nodes[labels, kept] += number
    return nodes, shot[1]


@pytest.mark.parametrize("swept", [False, True])
def test_a_note_that_expired_is_restored(memory, clock, swept):
    entry = memory.add("The boat sails to Madeira.", user_id="ana", policy="day").entries[0]
    clock.later(DAY)
    if swept:
        memory.sweep(user_id="ana")
    with pytest.raises(NotFound, match="archived" if swept else "expired"):
        memory.get(entry.note, user_id="ana")
    assert memory.restore(entry.note, user_id="ana").kind == "restore"
    assert memory.get(entry.source, user_id="ana").expires_at == clock.now + DAY
    assert found(memory, "Where does the boat sail?")
    assert memory.verify(user_id="ana") == []
    with pytest.raises(InvalidInput, match="not expired"):
        memory.restore(entry.note, user_id="ana")
    clock.later(DAY)
    assert not found(memory, "Where does the boat sail?")
    assert memory.sweep(user_id="ana").notes == 1


def test_restoring_does_not_bring_back_what_was_deleted_meanwhile(memory, clock):
    memory.add({"text": "The alarm code is quebec.", "session": "s", "id": "1"}, user_id="ana")
    memory.add({"text": "Ben knows it.", "policy": "day", "session": "s", "id": "2"}, user_id="ana")
    clock.later(DAY)
    memory.sweep(user_id="ana")
    memory.delete("1", user_id="ana")
    memory.restore("2", user_id="ana")
    assert "quebec" not in memory.get("2", user_id="ana").context


def test_a_worker_sweeps(memory, clock):
    memory.add("The boat sails to Madeira.", user_id="ana", policy="day")
    runs = []
    worker = Worker(memory.engine, tell=runs.append)
    worker.once()
    clock.later(DAY)
    worker.once()
    worker.once()
    assert [run.counts for run in runs if run.kind == "expire"] == [{"archived": 1}]


def test_nothing_is_swept_where_the_clocks_of_machine_and_server_differ(memory, tenant, embedder, monkeypatch):
    monkeypatch.setattr(sweeping, "ahead", lambda _: timedelta(minutes=-6))
    with (
        Memory.connect(tenant=tenant, embedder=embedder) as by_the_machine,
        pytest.raises(ClockSkew, match="6 minutes"),
    ):
        by_the_machine.sweep(user_id="ana")
    assert memory.sweep(user_id="ana").notes == 0  # its clock was given, and is meant as it is


# ---- sessions -----------------------------------------------------------------------------------

IDLE = timedelta(minutes=30)


@pytest.fixture
def talk(tenant, embedder, clock, tmp_path):
    """A memory where all is kept as long as its session, but what is told to be kept."""
    path = tmp_path / "talk.yaml"
    path.write_text(
        "default: talk\nclasses:\n  talk: {ttl: session}\n  kept: {ttl: none}\n"
        "  brief: {ttl: session, at_end: erase, join: false}\n"
    )
    settings = Settings.load(lifecycle={"policies": str(path)})
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings) as one:
        yield one


def texts(memory):
    return sorted(one.text for one in memory.get_all(user_id="ana"))


@pytest.mark.parametrize("wait", [True, False])
def test_what_lives_as_long_as_its_session_ends_half_an_hour_after_the_last_turn(talk, clock, wait):
    talk.add({"id": "0", "text": "The heron eats fish.", "session": "t"}, user_id="ana", wait=wait)
    talk.add({"id": "1", "text": "The gate is red.", "session": "s"}, user_id="ana", wait=wait)
    for n, (text, policy) in enumerate([("It was painted.", "talk"), ("By Ben, I think.", "kept")], 2):
        clock.later(IDLE - timedelta(minutes=1))
        talk.add({"id": str(n), "text": text, "session": "s", "policy": policy}, user_id="ana", wait=wait)
    assert texts(talk) == ["By Ben, I think.", "It was painted.", "The gate is red."]
    assert talk.get("1", user_id="ana").expires_at == clock.now + IDLE
    assert talk.source("1", user_id="ana").expires_at == clock.now + IDLE
    assert "[before: The gate is red.]" in talk.get("2", user_id="ana").context
    assert "before:" not in talk.get("3", user_id="ana").context
    assert talk.render(user_id="ana") == 0
    assert talk.apply_policies(user_id="ana").decisions == ()
    (hit,) = [hit for hit in talk.search("Which gate is red?", user_id="ana") if hit.note.sources[0].id == "1"]
    assert hit.note.expires_at == clock.now + IDLE
    clock.later(IDLE)
    assert texts(talk) == ["By Ben, I think."]
    assert talk.sweep(user_id="ana").notes == 3
    assert talk.verify(user_id="ana") == []


def test_a_turn_does_not_bring_back_what_ended_with_its_session(talk, clock):
    talk.add({"text": "The gate is red.", "session": "s"}, user_id="ana")
    talk.add({"text": "The pier is grey.", "session": "s", "expires": BEGIN + timedelta(minutes=40)}, user_id="ana")
    clock.later(timedelta(minutes=29))
    talk.add({"text": "It was painted.", "session": "s"}, user_id="ana")
    clock.later(timedelta(minutes=29))
    talk.add({"text": "By whom?", "session": "s"}, user_id="ana")
    assert "The pier is grey." not in texts(talk)  # it came with an end of its own
    clock.later(IDLE)
    talk.add({"text": "The tram is yellow.", "session": "s"}, user_id="ana")
    assert texts(talk) == ["The tram is yellow."]


def test_a_session_is_ended_and_its_end_is_undone(talk, clock):
    said = [("1", "s", "talk"), ("2", "s", "kept"), ("3", "t", "talk")]
    for name, session, policy in said:
        text = f"The boat number {name} is green."
        talk.add({"id": name, "text": text, "session": session, "policy": policy}, user_id="ana")
    talk.pin(talk.add({"text": "The heron eats fish.", "session": "s"}, user_id="ana").entries[0].note, user_id="ana")
    before = texts(talk)
    decision = talk.end_session("s", user_id="ana")
    assert (decision.kind, decision.evidence) == ("expire", "Its session was ended.")
    assert set(before) - set(texts(talk)) == {"The boat number 1 is green."}
    with pytest.raises(NotFound, match="as long as the session 's'"):
        talk.end_session("s", user_id="ana")
    talk.undo(decision.id, user_id="ana")
    assert texts(talk) == before
    assert talk.get("1", user_id="ana").expires_at == clock.now + IDLE
    talk.end_session("s", user_id="ana")
    assert talk.sweep(user_id="ana").notes == 1
    assert talk.verify(user_id="ana") == []


def test_what_two_sessions_tell_ends_with_neither_alone(talk, clock):
    for session in "st":
        talk.add({"text": "I like green boats.", "session": session, "id": session}, user_id="ana")
    clock.later(IDLE / 2)
    talk.add({"text": "The heron eats fish.", "session": "t", "policy": "kept"}, user_id="ana")
    clock.later(IDLE / 2)
    assert {talk.source(name, user_id="ana").expires_at for name in "st"} == {clock.now + IDLE / 2}
    with pytest.raises(NotFound):
        talk.end_session("s", user_id="ana")
    assert texts(talk) == ["I like green boats.", "The heron eats fish."]


def test_what_is_erased_with_its_session_leaves_no_word(talk, clock):
    talk.add({"text": SECRET, "session": "s", "policy": "brief", "time": "2024-01-01"}, user_id="ana")
    talk.end_session("s", user_id="ana")
    assert talk.sweep(user_id="ana").erased[0].residue == 0
    assert "amaranth" not in everything_told(talk)


# ---- the end for good ---------------------------------------------------------------------------


def test_a_sweep_erases_what_its_class_erases(memory, clock):
    talk = [SECRET, "Lisbon has yellow trams.", "Our beekeeper sold two hives."]
    memory.add_many([{"text": text, "session": "s", "id": str(n)} for n, text in enumerate(talk)], user_id="ana")
    memory.add({"text": SECRET, "session": "t", "id": "again"}, user_id="ana", wait=False)
    memory.add(SECRET, user_id="ben")
    memory.add("The ferry sails at noon.", user_id="ana", policy="day")
    memory.rebuild_topics(user_id="ana")
    clock.later(DAY)
    other = nodes(memory, "ben")
    swept = memory.sweep(user_id="ana")
    assert swept.notes == 1
    (receipt,) = swept.erased
    assert (receipt.rule, receipt.residue, receipt.counts) == ("ended", 0, {"sources": 2, "notes": 2, "remade": 1})
    assert receipt.probes > 0
    told = everything_told(memory)
    assert not [word for word in ("amaranth", "tulip", "vault", "one-time") if word in told]
    assert "beekeeper" in told
    assert nodes(memory, "ben") == other
    assert memory.verify(user_id="ana") == []
    assert memory.render(user_id="ana") == 0
    assert memory.receipts() == [receipt]
    assert memory.verify_erasure(SECRET, user_id="ana") == []
    assert memory.undo(swept.decisions[0].id, user_id="ana")
    before = nodes(memory)
    again = memory.sweep(user_id="ana")
    assert (again.notes, again.erased, again.held) == (0, (), ())
    assert nodes(memory) == before


def test_a_sweep_erases_what_was_long_enough_in_the_archive(memory, clock):
    memory.add({"id": "a", "text": "The ferry to Madeira sails at noon.", "policy": "day"}, user_id="ana")
    memory.update("a", "The ferry to Madeira sails at midnight.", user_id="ana")
    memory.add({"id": "b", "text": "The heron eats fish.", "policy": "week"}, user_id="ana")
    gone = memory.add({"id": "c", "text": "Ben paints a kayak.", "policy": "day"}, user_id="ana").entries[0]
    memory.undo(gone.decision, user_id="ana")
    memory.delete("b", user_id="ana")
    clock.later(10 * DAY)
    assert memory.sweep(user_id="ana").erased == ()
    assert "madeira" in everything_told(memory)
    clock.later(21 * DAY)
    assert expiring(memory)
    (receipt,) = memory.sweep(user_id="ana").erased
    assert receipt.residue == 0
    told = everything_told(memory)
    assert not [word for word in ("madeira", "midnight", "kayak") if word in told]
    assert "heron" in told  # its archive has no end
    assert memory.verify(user_id="ana") == []
    assert not expiring(memory)


@pytest.mark.parametrize("held", [{}, {"session": "bank"}, {"source": "a"}])
def test_what_is_held_is_hidden_and_not_erased(memory, clock, held):
    memory.add({"id": "a", "text": SECRET, "session": "bank"}, user_id="ana")
    hold = memory.hold("A court asked for it.", user_id="ana", **held)
    memory.add({"id": "b", "text": "The heron eats fish.", "policy": "day", "session": "bank"}, user_id="ana")
    clock.later(DAY)
    swept = memory.sweep(user_id="ana")
    assert (swept.notes, swept.erased, swept.held) == (2, (), (hold,))
    assert len(swept.decisions) == 2  # what is held does not keep the other from being undone
    assert "amaranth" in everything_told(memory)
    assert found(memory, "What is the code of the vault?", known_at=BEGIN) == []
    for read in (memory.get, memory.source, memory.history):
        with pytest.raises(NotFound):
            read("a", user_id="ana")
    worker = Worker(memory.engine)
    assert worker.once()
    assert not expiring(memory)
    assert memory.undo(swept.decisions[0].id, user_id="ana").kind == "undo"
    memory.release(hold.id, user_id="ana")
    assert worker.once()
    assert "amaranth" not in everything_told(memory)
    assert [(one.rule, one.residue) for one in memory.receipts()] == [("ended", 0)]
    assert memory.verify(user_id="ana") == []


def test_of_what_was_said_twice_the_held_one_stays(memory, clock):
    first = memory.add({"id": "a", "text": "I like green boats.", "policy": "day", "session": "x"}, user_id="ana")
    memory.add({"id": "b", "text": "I like green boats.", "policy": "day", "session": "y"}, user_id="ana")
    hold = memory.hold("A court asked for it.", user_id="ana", source="b")
    clock.later(DAY)
    memory.sweep(user_id="ana")
    clock.later(31 * DAY)
    (receipt,) = memory.sweep(user_id="ana").erased
    assert (receipt.counts, receipt.residue) == ({"sources": 1, "notes": 0, "remade": 1}, 0)
    memory.release(hold.id, user_id="ana")
    assert memory.verify(user_id="ana") == []
    memory.sweep(user_id="ana")
    assert note(first) not in everything_told(memory)
    assert memory.verify(user_id="ana") == []


def test_a_long_message_stays_as_long_as_a_note_of_it_is_pinned(memory, clock):
    text = "\n\n".join(f"{place} is closed on Sundays. " + "It rains there often. " * 60 for place in ("Alto", "Faro"))
    entry = memory.add(text, user_id="ana", policy="secret", id="a").entries[0]
    memory.pin(entry.notes[0], user_id="ana")
    clock.later(DAY)
    assert memory.sweep(user_id="ana").erased == ()
    assert [one.id for one in memory.get_all(user_id="ana")] == [entry.notes[0]]
    memory.unpin(entry.notes[0], user_id="ana")
    assert memory.sweep(user_id="ana").erased[0].residue == 0
    assert "closed on sundays" not in everything_told(memory)


@pytest.mark.parametrize(
    ("step", "again"),
    [
        pytest.param(step, again, marks=[pytest.mark.long] if (at + late) % 2 else [])
        for at, step in enumerate(
            ["memgraph_engine.graph.erasures.hide", *(step for (step,) in STEPS if not step.endswith("centre"))]
        )
        for late, again in enumerate(["sweep", "worker"])
    ],
)
def test_a_sweep_that_is_killed_goes_on(memory, clock, monkeypatch, step, again):
    memory.add_many([{"text": SECRET, "session": "s", "id": "a"}, "The heron eats fish."], user_id="ana")
    memory.add({"text": "The ferry sails at noon.", "session": "s", "policy": "day"}, user_id="ana")
    clock.later(DAY)
    with monkeypatch.context() as patch:
        patch.setattr(step, dies)
        with pytest.raises(Killed):
            memory.sweep(user_id="ana")
    if again == "sweep":
        memory.sweep(user_id="ana")
    else:
        assert Worker(memory.engine).once()
    assert "amaranth" not in everything_told(memory)
    assert [(one.rule, one.residue) for one in memory.receipts()] == [("ended", 0)]
    assert memory.verify_erasure() == []
    assert memory.stats(user_id="ana").notes == {"active": 1, "archived": 1}
    assert memory.verify(user_id="ana") == []


def test_what_ended_and_is_said_again_is_stored_anew_unless_it_is_held(memory, clock):
    memory.add({"text": SECRET, "id": "a"}, user_id="ana")
    clock.later(DAY)
    hold = memory.hold("A court asked for it.", user_id="ana", source="a")
    with pytest.raises(Held, match=f"'a' .*{hold.id}"):
        memory.add({"text": SECRET, "id": "a"}, user_id="ana")
    memory.release(hold.id, user_id="ana")
    assert memory.add({"text": SECRET, "id": "a"}, user_id="ana").entries[0].kind == "append"
    assert memory.get("a", user_id="ana").text == SECRET
    assert [one.residue for one in memory.receipts()] == [0]


def test_a_write_between_is_erased_around(memory, clock, monkeypatch):
    from memgraph_engine.graph import erasures

    memory.add({"text": SECRET, "id": "a"}, user_id="ana")
    clock.later(DAY)
    hide, times = erasures.hide, []

    def late(*given):
        if not times:
            memory.add("The heron eats fish.", user_id="ana")
        times.append(1)
        return hide(*given)

    monkeypatch.setattr(erasures, "hide", late)
    assert memory.sweep(user_id="ana").erased[0].residue == 0
    assert len(times) == 2
    assert [one.text for one in memory.get_all(user_id="ana")] == ["The heron eats fish."]


# ---- the budget of history ----------------------------------------------------------------------


@pytest.fixture
def brief(tenant, embedder, clock, file):
    """A memory whose history has a budget."""
    budget = {"past_days": 30, "decisions_days": 60, "runs_days": 10}
    settings = Settings.load(lifecycle={"policies": str(file), **budget})
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings) as one:
        yield one


def test_history_goes_when_its_budget_is_over_and_what_can_be_read_stays(brief, clock):
    first = brief.add("The boat sails to Madeira.", user_id="ana", id="a").entries[0].decision
    brief.add("The ferry to Faro leaves from the old harbour.", user_id="ana", id="b", session="s")
    brief.rebuild_topics(user_id="ana")
    updates = [brief.update("a", f"The boat sails to {place}.", user_id="ana").id for place in ("Faro", "Porto")]
    brief.add_many(["The heron eats fish.", "The boat sails to Madeira."], user_id="ben")
    other = nodes(brief, "ben")
    clock.later(11 * DAY)
    brief.rebuild_topics(user_id="ana")
    assert brief.sweep(user_id="ana").pruned == 1
    assert len(brief.topic_runs(user_id="ana")) == 1
    assert len(brief.history("a", user_id="ana")) == 3
    clock.later(20 * DAY)
    assert brief.sweep(user_id="ana").pruned == 2
    assert [one.note.text for one in brief.history("a", user_id="ana")] == ["The boat sails to Porto."]
    for cascade in (False, True):
        with pytest.raises(UndoRefused, match=r"former version .* was pruned.*lifecycle\.past_days"):
            brief.undo(updates[1], user_id="ana", cascade=cascade)
    with pytest.raises(UndoRefused, match=r"former version .* was pruned"):  # a later one is in its way for ever
        brief.undo(first, user_id="ana", cascade=True)
    assert len(brief.decisions(user_id="ana")) == 4
    clock.later(30 * DAY)
    assert brief.sweep(user_id="ana").pruned == 2
    assert [one.id for one in brief.decisions(user_id="ana") if one.id in (first, *updates)] == [updates[1]]
    for gone in (first, updates[0]):
        with pytest.raises(
            NotFound, match="Decisions from before 2024-05-02 by which nothing stands any more were pruned"
        ):
            brief.undo(gone, user_id="ana")
    with pytest.raises(UndoRefused, match="can't be undone any more: it is from before 2024-05-02"):
        brief.undo(updates[1], user_id="ana", cascade=True)
    assert brief.get("a", user_id="ana").text == "The boat sails to Porto."
    assert brief.add({"id": "a", "text": "The boat sails to Madeira."}, user_id="ana").entries[0].kind == "repeat"
    assert brief.explain("a", user_id="ana").note.text == "The boat sails to Porto."
    assert brief.sweep(user_id="ana").pruned == 0
    assert nodes(brief, "ben") == other
    assert brief.verify(user_id="ana") == []
    assert brief.render(user_id="ana") == 0


def test_what_is_archived_can_be_restored_though_its_history_is_over(brief, clock):
    brief.add("The boat sails to Madeira.", user_id="ana", id="a", policy="week")
    clock.later(8 * DAY)
    brief.sweep(user_id="ana")
    clock.later(100 * DAY)
    brief.sweep(user_id="ana")
    brief.restore("a", user_id="ana")
    assert found(brief, "Where does the boat sail?")
    assert brief.verify(user_id="ana") == []


def test_what_was_undone_goes_with_its_source(brief, clock):
    entry = brief.add("The boat sails to Madeira.", user_id="ana", id="a").entries[0]
    brief.add("The heron eats fish.", user_id="ana")
    brief.undo(entry.decision, user_id="ana")
    clock.later(31 * DAY)
    brief.sweep(user_id="ana")
    assert "boat sails" not in everything_told(brief)
    assert brief.add("The boat sails to Madeira.", user_id="ana", id="a").entries[0].kind == "append"
    assert brief.verify(user_id="ana") == []


def test_nothing_is_pruned_while_anything_is_held(brief, clock):
    brief.add("The boat sails to Madeira.", user_id="ana", id="a")
    brief.update("a", "The boat sails to Faro.", user_id="ana")
    hold = brief.hold("A dispute.", user_id="ana", session="s")
    clock.later(100 * DAY)
    assert brief.sweep(user_id="ana").pruned == 0
    assert len(brief.history("a", user_id="ana")) == 2
    brief.release(hold.id, user_id="ana")
    assert brief.sweep(user_id="ana").pruned == 2


def test_a_worker_prunes_once_a_day(brief, clock):
    brief.add("The boat sails to Madeira.", user_id="ana", id="a")
    brief.update("a", "The boat sails to Faro.", user_id="ana")
    runs = []
    worker = Worker(brief.engine, tell=runs.append)
    worker.once()
    clock.later(31 * DAY)
    worker.once()
    worker.once()
    assert [(run.why, run.counts) for run in runs if run.kind == "expire"] == [("a day's history", {"pruned": 1})]


# ---- pins, holds, policies ----------------------------------------------------------------------


def test_a_pinned_note_has_no_end_until_it_is_unpinned(memory, clock):
    memory.add("The boat sails to Madeira.", user_id="ana", policy="day", id="a")
    memory.pin("a", user_id="ana")
    with pytest.raises(InvalidInput, match="pinned already"):
        memory.pin("a", user_id="ana")
    clock.later(5 * DAY)
    assert memory.sweep(user_id="ana").notes == 0
    assert memory.get("a", user_id="ana").pinned
    assert memory.source("a", user_id="ana").pinned
    memory.unpin("a", user_id="ana")
    with pytest.raises(NotFound, match="expired"):
        memory.get("a", user_id="ana")
    with pytest.raises(NotFound, match="expired"):
        memory.unpin("a", user_id="ana")


def test_a_long_message_ends_with_the_first_of_its_notes(memory, clock):
    text = "\n\n".join(f"{place} is closed on Sundays. " + "It rains there often. " * 60 for place in ("Alto", "Faro"))
    (entry,) = memory.add(text, user_id="ana", policy="day", id="a", session="s").entries
    assert len(entry.notes) > 1
    memory.add("Where do we go?", user_id="ana", id="b", session="s", policy="week")
    memory.pin(entry.notes[0], user_id="ana")
    assert memory.source("a", user_id="ana").expires_at == BEGIN + DAY
    assert "before:" not in memory.get("b", user_id="ana").context
    clock.later(DAY)
    assert {one.id for one in memory.get_all(user_id="ana")} == {entry.notes[0], memory.get("b", user_id="ana").id}
    with pytest.raises(NotFound, match="expired"):
        memory.source("a", user_id="ana")
    memory.sweep(user_id="ana")
    assert memory.verify(user_id="ana") == []


def test_a_pin_is_undone(memory):
    memory.add("The boat sails to Madeira.", user_id="ana", policy="day", id="a")
    before = snapshot(memory)
    memory.undo(memory.pin("a", user_id="ana").id, user_id="ana")
    same(snapshot(memory), before)


def test_a_note_is_given_a_policy_that_it_keeps(memory, clock):
    memory.add("The boat sails to Madeira.", user_id="ana", id="a", policy="day", session="s")
    memory.add("It is green and old.", user_id="ana", id="b", session="s")
    before = snapshot(memory)
    clock.later(DAY / 2)
    decision = memory.set_policy("a", "week", user_id="ana")
    assert (decision.kind, decision.note) == ("policy", memory.get("a", user_id="ana").id)
    one = memory.get("a", user_id="ana")
    assert (one.policy, one.policy_as, one.expires_at) == ("week", "week", BEGIN + 7 * DAY)
    assert memory.source("a", user_id="ana").expires_at == BEGIN + 7 * DAY
    assert memory.apply_policies(user_id="ana").decisions == ()
    memory.pin("a", user_id="ana")
    memory.unpin("a", user_id="ana")
    assert memory.get("a", user_id="ana").expires_at == BEGIN + 7 * DAY
    with pytest.raises(InvalidInput, match="has the policy week already"):
        memory.set_policy("a", "week", user_id="ana")
    memory.undo(decision.id, user_id="ana", cascade=True)
    assert memory.get("a", user_id="ana").policy == "day"
    same(snapshot(memory), before)
    assert memory.verify(user_id="ana") == []


def test_a_policy_for_ever_lets_the_turn_after_quote_the_note(memory):
    memory.add("The gate is red.", user_id="ana", id="1", policy="day", session="s")
    memory.add("It was painted.", user_id="ana", id="2", session="s")
    assert "before:" not in memory.get("2", user_id="ana").context
    memory.set_policy("1", "factual", user_id="ana")
    assert "[before: The gate is red.]" in memory.get("2", user_id="ana").context
    memory.set_policy("1", "week", user_id="ana")
    assert "before:" not in memory.get("2", user_id="ana").context


def test_a_policy_that_can_not_be_given_changes_nothing(memory, clock):
    memory.add("My code is 4711.", user_id="ana", id="a", time="2024-04-01")
    memory.add("The boat sails to Madeira.", user_id="ana", id="b")
    before = snapshot(memory)
    for given, error, said in (
        (("a", "none-such"), InvalidInput, "no policy 'none-such'; the policies are factual, week"),
        (("a", "secret"), InvalidInput, "would be erased at once"),
        (("c", "week"), NotFound, "no note or source 'c'"),
    ):
        with pytest.raises(error, match=said):
            memory.set_policy(*given, user_id="ana")
    same(snapshot(memory), before)
    clock.later(2 * DAY)
    memory.set_policy("b", "day", user_id="ana")  # counts from when it was stored
    with pytest.raises(NotFound, match="only what can be read"):
        memory.set_policy("b", "week", user_id="ana")


def test_a_pinned_note_has_no_end_in_the_policy_that_it_is_given(memory):
    memory.add("The boat sails to Madeira.", user_id="ana", id="a")
    memory.pin("a", user_id="ana")
    memory.set_policy("a", "day", user_id="ana")
    assert (memory.get("a", user_id="ana").policy, memory.get("a", user_id="ana").expires_at.year) == ("day", 9999)
    memory.unpin("a", user_id="ana")
    assert memory.get("a", user_id="ana").expires_at == BEGIN + DAY


def test_a_hold_is_listed_until_it_is_released(memory):
    with pytest.raises(NotFound, match="empty"):
        memory.hold("A dispute.", user_id="ana")
    memory.add("The boat sails to Madeira.", user_id="ana", session="s")
    with pytest.raises(InvalidInput, match="not both"):
        memory.hold("A dispute.", user_id="ana", session="s", source="x")
    hold = memory.hold("A dispute.", user_id="ana", session="s")
    assert memory.holds(user_id="ana") == [hold]
    assert memory.holds(user_id="ben") == []
    memory.release(hold.id, user_id="ana")
    assert memory.holds(user_id="ana") == []
    with pytest.raises(NotFound, match="no hold"):
        memory.release(hold.id, user_id="ana")


def test_policies_are_applied_to_what_is_stored(tenant, embedder, clock, file, tmp_path):
    plain = tmp_path / "plain.yaml"
    plain.write_text("default: factual\nclasses:\n  factual: {ttl: none}\n  week: {ttl: 30d}\n")

    def connect(path):
        settings = Settings.load(lifecycle={"policies": str(path)})
        return Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings)

    with connect(plain) as memory:
        memory.add("My one-time code is 4711.", user_id="ana", id="code")
        memory.add("Buy bread.", user_id="ana", id="named", policy="week")
        memory.add("I like boats.", user_id="ana", id="pinned", role="user", tags=["errand"])
        memory.add("I like trains.", user_id="ana", id="other")
        memory.pin("pinned", user_id="ana")
    clock.later(DAY / 2)
    with connect(file) as memory:
        before = snapshot(memory)
        counted = memory.apply_policies(user_id="ana", dry_run=True)
        same(snapshot(memory), before)
        assert (counted.classes, counted.ends, counted.decisions) == ({"day": 1, "secret": 1}, 1, ())
        applied = memory.apply_policies(user_id="ana")
        assert (applied.classes, applied.ends) == (counted.classes, counted.ends)
        ends = {name: memory.get(name, user_id="ana").expires_at for name in ("code", "named", "pinned", "other")}
        assert ends["code"] == BEGIN + DAY
        assert ends["named"] == BEGIN + 7 * DAY
        assert ends["pinned"].year == ends["other"].year == 9999
        again = memory.apply_policies(user_id="ana")
        assert (again.classes, again.ends, again.decisions) == ({}, 0, ())
        memory.undo(applied.decisions[0].id, user_id="ana")
        same(snapshot(memory), before)


def test_other_memories_are_left_alone(memory, clock):
    memory.add("The boat sails to Madeira.", user_id="ana", policy="day")
    memory.add("The boat sails to Madeira.", user_id="ben")
    before = snapshot(memory, "ben")
    clock.later(DAY)
    memory.sweep(user_id="ana")
    same(snapshot(memory, "ben"), before)
    assert [hit.note.raw for hit in memory.search("Where does the boat sail?", user_id="ben")]
