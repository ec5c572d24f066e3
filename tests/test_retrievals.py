"""Which notes were given to whom, when and for which question: recorded where it is asked for, and erased with them."""

import asyncio
import json
from datetime import timedelta

import pytest
from typer.testing import CliRunner

from memgraph_engine import AsyncMemory, Given, InvalidInput, Memory, NotFound, Settings
from memgraph_engine.asking import write_behind
from memgraph_engine.cli import app
from memgraph_engine.graph import database, retrievals
from memgraph_engine.worker.work import Worker
from tests.clocks import BEGIN, Clock
from tests.test_erasure import everything_told, killed_at, rows
from tests.test_use import Held

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
ANA, BOB, SHARED = {"user_id": "ana"}, {"user_id": "bob"}, {"shared": True}
HERON, TIDE = "The heron eats fish at the old harbour.", "The tide turns at noon."
EATS, TURNS = "What does the heron eat?", "When does the tide turn?"
CODE = "The code of the vault is amaranth tulip seven."


@pytest.fixture
def connected(tenant, embedder, clock):
    """Connect to the memory of this test with a log of some kind."""
    some = []

    def connect(log="text", clock=clock, **settings):
        given = Settings.load(**{"audit": {"retrievals": log}, **settings})
        some.append(Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=given))
        return some[-1]

    yield connect
    for one in some:
        one.close()


@pytest.fixture
def memory(connected):
    return connected()


def note(memory, text, **given):
    return memory.add(text, **{**ANA, **given} if "shared" not in given else given).entries[0].note


def recorded(memory):
    """All that is in the log of the tenant, whosever it is."""
    memory._reader.write()
    prefix = memory._scope(None, shared=True).name
    found = rows(memory, "MATCH (r:Retrieval) WHERE r.scope STARTS WITH $prefix RETURN r {.*} AS given", prefix=prefix)
    return [one["given"] for one in found]


def asked(memory, **whose):
    return [(one.call, one.query) for one in memory.audit.retrievals(**whose)]


def given(memory, **whose):
    return [[one.note for one in each.notes] for each in memory.audit.retrievals(**whose)]


def texts_of(memory, user="ana"):
    """All that is stored of a user, with what is recorded of him."""
    memory._reader.write()
    return everything_told(memory, user)


# ---- what is recorded ---------------------------------------------------------------------------


def test_by_default_nothing_is_recorded_and_nothing_waits(tenant, embedder):
    with Memory.connect(tenant=tenant, embedder=embedder) as memory:
        note(memory, HERON)
        for ask in (memory.search, memory.context, memory.prompt, memory.answer):
            ask(EATS, **ANA)
        assert memory._reader._log._waiting == {}
        assert recorded(memory) == memory.audit.retrievals(**ANA) == []
        assert memory.stats(**ANA).retrievals == 0


def test_a_read_sends_no_statement_more(connected, monkeypatch):
    monkeypatch.setattr(write_behind, "Timer", Held)
    sent, prepared = {}, database._prepared
    for log in ("", "text"):
        memory = connected(log)
        heron = note(memory, HERON)
        names = sent[log] = []
        monkeypatch.setattr(
            database, "_prepared", lambda name, *rest, to=names: to.append(name) or prepared(name, *rest)
        )
        for ask in (memory.search, memory.context, memory.prompt, memory.answer):
            ask(EATS, **ANA)
        monkeypatch.setattr(database, "_prepared", prepared)
    assert sent[""] == sent["text"] != []
    assert given(memory, **ANA) == [[heron]] * 4


def test_each_call_that_gives_notes_is_recorded_with_the_words_of_its_question(connected, clock):
    memory = connected(llm={"model": ""})
    heron = note(memory, HERON, session="lake", agent="rower")
    memory.update(heron, "The heron eats frogs at the old harbour.", **ANA)
    for ask, fields in (
        (memory.search, {"agent": "rower"}),
        (memory.context, {"session": "lake"}),
        (memory.prompt, {"session": "now"}),
        (memory.answer, {}),
        (lambda question, **given: list(memory.answer_stream(question, **given)), {}),
    ):
        clock.later(MINUTE)
        ask(EATS, **ANA, **fields)
    found = memory.audit.retrievals(**ANA)
    assert [one.call for one in found] == ["answer", "answer", "prompt", "context", "search"]
    assert [(one.agent, one.session) for one in found][2:] == [("", "now"), ("", "lake"), ("rower", "")]
    assert {one.query for one in found} == {EATS}
    assert {one.notes for one in found} == {(Given(heron, 2),)}
    assert [one.at for one in found] == [BEGIN + minute * MINUTE for minute in (5, 4, 3, 2, 1)]
    assert {one.user_id for one in found} == {"ana"}
    assert memory.stats(**ANA).retrievals == 5


def test_each_change_of_a_score_is_recorded_pruned_and_erased(connected, clock):
    memory = connected("ids", use={"record": "on"}, lifecycle={"retrievals_days": 30})
    heron, tide = note(memory, HERON), note(memory, TIDE)
    for answer in ("The heron eats fish.", "The heron eats fish.", "I don't know."):
        clock.later(MINUTE)
        memory.reflect(EATS, [heron, tide], answer, **ANA)
    (*_, first) = found = memory.audit.retrievals(**ANA)
    assert {(one.call, one.query) for one in found} == {("reflect", "")}
    assert first.notes == (Given(heron, 1, 40), Given(tide, 1, 28))
    worth = [{one.note: one.utility for one in each.notes} for each in found]
    assert worth == [{heron: 45, tide: 24}, {heron: 50, tide: 26}, {heron: 40, tide: 28}]
    memory.erase(memory.forget(source=memory.get(tide, **ANA).sources[0].id, **ANA))
    left = memory.audit.retrievals(**ANA)
    assert [[(one.note, one.utility) for one in each.notes] for each in left] == [[(heron, n)] for n in (45, 50, 40)]
    clock.later(31 * DAY)
    memory.sweep(**ANA)
    assert recorded(memory) == []


def test_with_ids_alone_no_word_of_a_question_is_stored(connected):
    memory = connected("ids")
    heron = note(memory, HERON)
    memory.search("What does zanzibar eat by the harbour?", **ANA)
    assert given(memory, **ANA) == [[heron]]
    assert asked(memory, **ANA) == [("search", "")]
    assert "zanzibar" not in texts_of(memory)


def test_what_gives_no_note_and_what_is_looked_up_is_not_recorded(memory):
    heron = note(memory, HERON)
    memory.search(EATS, user_id="nobody")
    memory.search(EATS, **ANA, speaker="Cy")
    memory.context("Thanks, see you tomorrow!", **ANA)
    memory.get(heron, **ANA)
    list(memory.get_all(**ANA))
    memory.audit.about("heron", **ANA)
    memory.forget(query="heron", **ANA)
    memory.anchors(EATS, **ANA)
    assert recorded(memory) == []


def test_the_version_that_was_given_is_told_also_of_a_look_back(memory, clock):
    heron = note(memory, HERON)
    then = clock.now
    clock.later(DAY)
    memory.search(EATS, **ANA)
    memory.update(heron, "The heron eats frogs at the old harbour.", **ANA)  # before it is written
    clock.later(MINUTE)
    memory.search(EATS, **ANA)
    clock.later(MINUTE)
    memory.search(EATS, **ANA, known_at=then)
    clock.later(MINUTE)
    memory.delete(heron, **ANA)
    assert [one.notes for one in memory.audit.retrievals(**ANA)] == [(Given(heron, version),) for version in (1, 2, 1)]


def test_a_busy_client_records_too(connected, monkeypatch):
    memory = connected(recall={"busy": 1})
    heron = note(memory, HERON)
    with memory.engine.load.read():
        memory.context(EATS, **ANA)
    assert given(memory, **ANA) == [[heron]]


def test_recording_makes_no_writer_stale(memory):
    note(memory, HERON)
    before = memory.stats(**ANA).version
    memory.search(EATS, **ANA)
    assert recorded(memory)
    assert memory.stats(**ANA).version == before
    assert memory.verify(**ANA) == []


# ---- when it is written -------------------------------------------------------------------------


def test_it_is_written_when_the_memory_is_closed_when_it_is_much_and_after_five_seconds(connected, monkeypatch):
    monkeypatch.setattr(write_behind, "Timer", Held)
    monkeypatch.setattr(Held, "made", [])
    monkeypatch.setattr(write_behind, "_MOST", 3)
    memory, other = connected(), connected("")
    note(memory, HERON)
    memory.search(EATS, **ANA)
    assert recorded(other) == []
    memory.close()
    assert len(recorded(other)) == 1
    again = connected()
    for _ in range(3):
        again.search(EATS, **ANA)
    assert [one.seconds for one in Held.made] == [5, 5, 0]
    Held.made[-1].ring()
    assert len(recorded(other)) == 4


def test_what_cannot_be_written_is_told_once_and_lost(memory, monkeypatch, caplog):
    note(memory, HERON)
    with monkeypatch.context() as patch:
        patch.setattr(retrievals, "write", fails)
        for _ in range(2):
            memory.search(EATS, **ANA)
            memory._reader.write()
    assert [one.message for one in caplog.records if "is not recorded" in one.message] == [
        f"What user 'ana' of tenant {memory.engine.settings.tenant!r} was given is not recorded: It is down. Further "
        "failures are not told."
    ]
    assert recorded(memory) == []


def fails(*_given):
    from memgraph_engine import StoreError

    raise StoreError("It is down.")


# ---- whose it is --------------------------------------------------------------------------------


def test_nobody_is_told_what_another_was_given(connected, embedder, clock):
    from uuid import uuid4

    from memgraph_engine.testing import purge

    memory = connected()
    heron, tide = note(memory, HERON, **SHARED), note(memory, TIDE, **ANA)
    memory.search(TURNS, **ANA)
    memory.search(EATS, **BOB)
    memory.search(EATS, **SHARED)
    assert {*given(memory, **ANA)[0]} == {heron, tide}
    assert (asked(memory, **ANA), asked(memory, **BOB)) == ([("search", TURNS)], [("search", EATS)])
    assert given(memory, **BOB) == given(memory, **SHARED) == [[heron]]
    assert [one.user_id for one in memory.audit.retrievals(**SHARED)] == [None]
    other = f"test-{uuid4().hex}"
    try:
        given_too = memory.engine.settings.model_copy(update={"tenant": other})
        with Memory.connect(tenant=other, embedder=embedder, clock=clock, settings=given_too) as theirs:
            theirs.add(HERON, **ANA)
            theirs.search(EATS, **ANA)
            assert len(asked(theirs, **ANA)) == 1
            assert theirs.audit.retrievals(**BOB) == []
            theirs.erase(theirs.forget(everything=True, **ANA))
            assert asked(memory, **ANA) == [("search", TURNS)]
    finally:
        purge(other)
    purge(memory.engine.settings.tenant)
    assert recorded(memory) == []


def test_who_never_wrote_anything_is_recorded_too_and_can_be_erased(memory, clock):
    heron = note(memory, HERON, **SHARED)
    memory.search(EATS, **BOB)
    assert given(memory, **BOB) == [[heron]]
    assert [(one.id, one.notes) for one in memory.users()] == [("bob", 0)]
    assert memory.verify(**BOB) == []
    clock.later(MINUTE)
    assert memory.erase(memory.forget(everything=True, **BOB)).residue == 0
    assert (memory.users(), recorded(memory)) == ([], [])


# ---- what can be asked of it --------------------------------------------------------------------


def test_the_log_can_be_asked_by_time_note_and_words(memory, clock):
    heron = note(memory, HERON, id="h")
    memory.search(EATS, **ANA, top_k=1)
    clock.later(DAY)
    tide = note(memory, TIDE, id="t")
    memory.search(TURNS, **ANA, top_k=1)
    assert asked(memory, **ANA) == [("search", TURNS), ("search", EATS)]
    assert asked(memory, **ANA, until="2024-05-01") == [("search", EATS)]
    assert asked(memory, **ANA, since="2024-05-02") == [("search", TURNS)]
    for one in (heron, "h"):
        assert asked(memory, **ANA, note=one) == [("search", EATS)]
    assert given(memory, **ANA, note="t") == [[tide]]
    assert asked(memory, **ANA, query="Herons eat") == [("search", EATS)]
    assert asked(memory, **ANA, query="heron tide") == []
    assert asked(memory, **ANA, query="at the") == []  # words without a stem, as they are written
    assert len(asked(memory, **ANA, query="the")) == 2
    with pytest.raises(NotFound, match="'none'"):
        memory.audit.retrievals(**ANA, note="none")
    for wrong in ({"since": "soon"}, {"query": " "}, {"query": 3}, {"note": 3}):
        with pytest.raises(InvalidInput):
            memory.audit.retrievals(**ANA, **wrong)
    assert asyncio.run(AsyncMemory(memory).audit.retrievals(**ANA)) == memory.audit.retrievals(**ANA)


def test_every_passage_of_a_long_message_is_found_by_its_id(memory):
    text = "\n\n".join([HERON * 20, "The code of the vault is on the wall of the cellar. " * 20])
    memory.add({"id": "long", "text": text}, **ANA)
    memory.search("Where is the code of the vault?", **ANA, top_k=1)
    assert len(given(memory, **ANA, note="long")) == 1


def test_the_command_line_tells_it(memory, tenant, embedder, monkeypatch):
    monkeypatch.setenv("MEMGRAPH_ENGINE_TENANT", tenant)
    monkeypatch.setattr("memgraph_engine.engine.wiring.embedder_named", lambda settings: embedder)

    def run(*more, log=""):
        monkeypatch.setenv("MEMGRAPH_ENGINE_AUDIT__RETRIEVALS", log)
        said = CliRunner().invoke(app, ["audit", "retrievals", "--user", "ana", *more])
        assert said.exit_code == 0, said.output
        return said

    heron = note(memory, HERON, id="h", session="lake")
    assert "switched off (the setting audit.retrievals)" in run().stderr
    assert run("--json").stdout.strip() == "[]"
    assert run(log="ids").stderr == "Nothing is recorded that is meant.\n"
    memory.search(EATS, **ANA, session="lake")
    (one,) = memory.audit.retrievals(**ANA)
    assert json.loads(run("--json").stdout) == [one.to_dict()]
    assert one.to_dict()["notes"] == [{"note": heron, "revision": 1, "utility": None}]
    told = run("--note", "h", "--query", "heron", "--since", "2024-05-01", "--until", "2024-05-01").stdout
    assert told == f"2024-05-01 09:00 UTC  search  session lake  {EATS}\n    {heron}  version 1\n"
    assert run("--query", "vault").stdout == ""


# ---- erasing ------------------------------------------------------------------------------------


def test_an_erasure_takes_its_notes_out_of_the_log_and_the_words_that_led_to_them(memory, clock):
    code, heron = note(memory, CODE, id="c", session="bank"), note(memory, HERON, id="h")
    memory.search("Tell me of the vault, please.", **ANA, session="bank")
    clock.later(MINUTE)
    memory.search("vault and heron", **ANA)
    clock.later(MINUTE)
    memory.search(EATS, **ANA, session=None, top_k=1)
    assert [len(one) for one in reversed(given(memory, **ANA))] == [1, 2, 1]
    clock.later(MINUTE)
    receipt = memory.erase(memory.forget(source="c", **ANA))
    assert receipt.residue == 0
    found = memory.audit.retrievals(**ANA)
    assert sorted((one.query, [each.note for each in one.notes]) for one in found) == [
        ("", [heron]),
        (EATS, [heron]),
    ]
    told = texts_of(memory)
    assert not [one for one in (code, "vault", "amaranth", "bank", "please") if one in told]
    assert memory.verify_erasure(CODE, **ANA) == []
    clock.later(6 * MINUTE)
    memory.search("Where is the vault?", **ANA)  # what is asked later is asked
    assert asked(memory, **ANA)[0] == ("search", "Where is the vault?")


@pytest.mark.parametrize(
    ("question", "stays"),
    [
        ("Is the heron's code amaranth?", False),  # one word that nothing else has
        ("What is it, the code of the vault is what?", False),
        ("What does the heron eat at the harbour?", True),
        ("Who is at the harbour with the herons?", True),
    ],
)
def test_a_question_that_says_what_is_erased_loses_its_words_though_it_led_elsewhere(memory, clock, question, stays):
    heron = note(memory, HERON)
    memory.search(question, **ANA)
    clock.later(MINUTE)
    note(memory, CODE, id="c")
    assert memory.erase(memory.forget(source="c", **ANA)).residue == 0
    assert given(memory, **ANA) == [[heron]]
    assert asked(memory, **ANA) == [("search", question if stays else "")]


def test_words_that_stay_in_the_memory_stay_in_questions(memory, clock):
    note(memory, "The vault is behind the bank.", id="v")
    memory.search("Where is the vault?", **ANA)
    clock.later(MINUTE)
    note(memory, CODE, id="c")
    memory.erase(memory.forget(source="c", **ANA))
    assert asked(memory, **ANA) == [("search", "Where is the vault?")]


def test_a_note_that_loses_a_source_stays_in_the_log_and_what_was_asked_goes(memory, clock):
    note(memory, "The ferry to Madeira leaves at noon.", id="a", session="x", speaker="Ana")
    merged = note(memory, "The ferry to Madeira leaves at noon!!", id="b", session="y", speaker="Ana")
    memory.search("When does the ferry leave?", **ANA)
    assert given(memory, **ANA) == [[merged]]
    clock.later(MINUTE)
    assert memory.erase(memory.forget(source="a", **ANA)).residue == 0
    assert (given(memory, **ANA), asked(memory, **ANA)) == ([[merged]], [("search", "")])


@pytest.mark.parametrize("meant", [{"source": "c"}, {"everything": True}])
def test_readers_of_a_shared_note_lose_it_and_nothing_else(memory, clock, meant):
    code, tide = note(memory, CODE, id="c", **SHARED), note(memory, TIDE, id="t", **BOB)
    memory.search("vault code", **ANA)
    memory.search("vault tide", **BOB)
    memory.search(TURNS, **BOB, top_k=1)
    memory.search("Is it right, the code of the vault is amaranth?", **BOB, top_k=1, since="2030-01-01")
    assert {code, tide} == {*given(memory, **BOB)[1]} | {code, tide}
    clock.later(MINUTE)
    assert memory.erase(memory.forget(**SHARED, **meant)).residue == 0
    assert recorded(memory) == [one for one in recorded(memory) if code not in one["notes"]]
    assert asked(memory, **ANA) == []
    assert sorted(memory.audit.retrievals(**BOB), key=lambda one: one.query)[-1].query == TURNS
    assert {one for each in given(memory, **BOB) for one in each} == {tide}
    assert sum(question == "" for _, question in asked(memory, **BOB)) == 1
    assert "vault" not in texts_of(memory, "bob")


def test_an_erasure_of_everything_takes_the_log_of_its_user_alone(memory, clock):
    heron = note(memory, HERON, **SHARED)
    note(memory, TIDE)
    for who in (ANA, BOB):
        memory.search(EATS, **who)
    clock.later(MINUTE)
    assert memory.erase(memory.forget(everything=True, **ANA)).residue == 0
    assert memory.audit.retrievals(**ANA) == []
    assert given(memory, **BOB) == [[heron]]
    assert [one["scope"] for one in recorded(memory)] == [memory._scope("bob", shared=False).name]


@pytest.mark.parametrize("left", ["note", "words"])
def test_what_an_erasure_leaves_in_the_log_is_told_as_residue(memory, clock, monkeypatch, left):
    note(memory, CODE, id="c")
    note(memory, HERON)
    memory.search("vault", **ANA)
    memory.search("What? The code of the vault is amaranth!", **ANA, speaker="")
    clock.later(MINUTE)
    recorded(memory)
    step = {"note": "forget", "words": "unask"}[left]
    with monkeypatch.context() as patch:
        patch.setattr(retrievals, step, lambda *_given: None)
        if left == "words":
            patch.setattr(retrievals, "naming", lambda *_given: 0)
            scope = memory._scope("ana", shared=False).name
            rows(memory, "MATCH (r:Retrieval {scope: $scope}) SET r.notes = ['0'], r.revisions = [1]", scope=scope)
        receipt = memory.erase(memory.forget(source="c", **ANA))
    assert receipt.residue > 0


@pytest.mark.parametrize("everything", [False, True])
def test_what_waits_while_it_is_erased_by_another_is_not_written_with_its_words(connected, clock, everything):
    reader, other = connected(), connected()
    code, heron = note(reader, CODE, id="c"), note(reader, HERON, **SHARED)
    reader.search("vault code heron", **ANA)
    reader.prompt("vault code heron", **ANA, session="bank")
    reader.search("Did I ever say amaranth to the heron?", **ANA, role="user", min_similarity=0.2, top_k=1)
    clock.later(MINUTE)
    other.erase(other.forget(**ANA, **({"everything": True} if everything else {"source": "c"})))
    clock.later(6 * MINUTE)
    reader.search(EATS, **ANA)
    found = reader.audit.retrievals(**ANA)
    assert found[0].query == EATS
    assert {one.query for one in found[1:]} <= {""}
    assert bool(found[1:]) != everything
    assert {one.session for one in found} == {""}
    assert {each.note for one in found for each in one.notes} == {heron}
    assert not [one for one in (code, "amaranth", "vault") if one in texts_of(reader)]


def test_a_clock_that_is_ahead_brings_no_words_behind_an_erasure(connected, clock):
    ahead = Clock(clock.now + 4 * MINUTE)
    reader, other = connected(clock=ahead), connected()
    note(reader, CODE, id="c")
    note(reader, HERON)
    reader.search("Is the vault of the heron amaranth?", **ANA, top_k=1)
    reader.search("vault code heron", **ANA)
    other.erase(other.forget(**ANA, source="c"))
    assert {one.query for one in reader.audit.retrievals(**ANA)} == {""}
    assert "amaranth" not in texts_of(reader)


def test_what_is_asked_while_an_erasure_goes_on_leaves_no_words(connected, clock, monkeypatch):
    reader, other = connected(), connected()
    note(reader, CODE, id="c")
    note(reader, HERON)
    clock.later(MINUTE)
    killed_at(other, monkeypatch, "memgraph_engine.graph.erasures.remove", source="c")
    clock.later(10 * MINUTE)
    reader.search("Does the heron know amaranth?", **ANA)
    assert [one.query for one in reader.audit.retrievals(**ANA)] == [""]


@pytest.mark.parametrize("step", ["writing.traces.forget", "writing.erasure._remake", "graph.erasures.remove"])
def test_an_erasure_that_is_cut_off_is_told_nowhere_and_goes_on(memory, clock, monkeypatch, step):
    code, heron = note(memory, CODE, id="c"), note(memory, HERON)
    memory.search("vault and heron", **ANA)
    memory.search("Is amaranth what the heron eats?", **ANA, top_k=1)
    clock.later(MINUTE)
    plan = killed_at(memory, monkeypatch, f"memgraph_engine.{step}", source="c")
    assert {question for _, question in asked(memory, **ANA)} == {""}
    assert {one for each in given(memory, **ANA) for one in each} == {heron}
    Worker(memory.engine).once()
    assert memory.erase(plan).residue == 0
    assert not [one for one in (code, "vault", "amaranth") if one in texts_of(memory)]


def test_of_a_shared_memory_that_is_being_erased_nothing_is_told(memory, clock, monkeypatch):
    note(memory, CODE, id="c", **SHARED)
    tide = note(memory, TIDE)
    memory.search("vault and tide", **ANA)
    clock.later(MINUTE)
    killed_at(memory, monkeypatch, "memgraph_engine.writing.traces.forget", shared=True, everything=True)
    assert (given(memory, **ANA), asked(memory, **ANA)) == ([[tide]], [("search", "")])


def test_what_ends_is_told_no_more_before_it_is_swept(connected, clock, tmp_path):
    path = tmp_path / "policies.yaml"
    path.write_text("default: factual\nclasses:\n  factual: {ttl: none}\n  brief: {ttl: 1h, at_end: erase}\n")
    memory = connected(lifecycle={"policies": str(path)})
    note(memory, CODE, policy="brief")
    memory.search("vault", **ANA)
    assert len(asked(memory, **ANA)) == 1
    clock.later(DAY)
    assert memory.audit.retrievals(**ANA) == []
    assert [one.residue for one in memory.sweep(**ANA).erased] == [0]
    assert recorded(memory) == []


def test_what_is_deleted_stays_in_the_log(memory):
    heron = note(memory, HERON)
    memory.search(EATS, **ANA)
    deletion = memory.delete_all(**ANA)
    assert (given(memory, **ANA, note=heron), asked(memory, **ANA)) == ([[heron]], [("search", EATS)])
    memory.undo(deletion.decisions[0].id, **ANA)
    assert given(memory, **ANA) == [[heron]]


# ---- how long, and elsewhere --------------------------------------------------------------------


def test_what_is_older_than_its_budget_is_pruned(connected, clock):
    memory = connected(lifecycle={"retrievals_days": 10})
    note(memory, HERON, **SHARED)
    note(memory, TIDE, **ANA)
    for _ in range(2):
        for who in (ANA, BOB):
            memory.search(EATS, **who)
        memory._reader.write()
        clock.later(6 * DAY)
    hold = memory.hold("A dispute.", **ANA)
    assert memory.sweep(**ANA).pruned == 0
    memory.release(hold.id, **ANA)
    runs = []
    Worker(memory.engine, tell=runs.append).once()
    assert sorted((run.scope, run.counts) for run in runs if run.kind == "expire") == [
        (f"{memory.engine.settings.tenant}/ana", {"pruned": 1}),
        (f"{memory.engine.settings.tenant}/bob", {"pruned": 1}),
    ]
    assert len(asked(memory, **ANA)) == len(asked(memory, **BOB)) == 1
    assert memory.verify(**ANA) == []


def test_without_a_budget_it_is_kept(memory, clock):
    note(memory, HERON)
    memory.search(EATS, **ANA)
    clock.later(5000 * DAY)
    assert memory.sweep(**ANA).pruned == 0
    assert len(recorded(memory)) == 1


def test_an_export_carries_it_and_an_import_names_the_notes_anew(memory, tmp_path):
    heron, tide = note(memory, HERON), note(memory, TIDE, **SHARED)
    memory.search("heron tide", **ANA, agent=None, tags=[])
    memory.export(tmp_path / "ana", **ANA)  # with what waits
    memory.import_(tmp_path / "ana", user_id="cy")
    (ours,), (theirs,) = memory.audit.retrievals(**ANA), memory.audit.retrievals(user_id="cy")
    own = next(iter(memory.get_all(user_id="cy"))).id
    assert {one.note for one in ours.notes} == {heron, tide}
    assert [one.note for one in theirs.notes] == [own if one.note == heron else tide for one in ours.notes]
    assert (theirs.query, theirs.at, theirs.call) == (ours.query, ours.at, ours.call)
    assert memory.audit.retrievals(user_id="cy", note=own) == [theirs]
    memory.erase(memory.forget(everything=True, **ANA))
    memory.import_(tmp_path / "ana", **ANA)
    assert memory.audit.retrievals(**ANA) == [ours]
    memory.export(tmp_path / "again", **ANA)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "ana").read_bytes()


@pytest.mark.parametrize(
    "wrong", ["r.revisions = [1, 2, 3]", "r.notes = []", "r.notes = ['x']", "r.revisions = [0, 1]", "r.asked = 1"]
)
def test_what_no_retrieval_can_be_is_not_exported(memory, tmp_path, wrong):
    from memgraph_engine import StoreError

    note(memory, HERON)
    memory.search(EATS, **ANA)
    recorded(memory)
    rows(memory, f"MATCH (r:Retrieval {{scope: $scope}}) SET {wrong}", scope=memory._scope("ana", shared=False).name)
    with pytest.raises(StoreError, match="Retrieval"):
        memory.export(tmp_path / "ana", **ANA)
