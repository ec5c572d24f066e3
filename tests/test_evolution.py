"""A memory evolves: new notes are tied and tagged, and change the contexts of those near them; each undo is exact."""

import json
from datetime import timedelta

import pytest
from typer.testing import CliRunner

from memgraph_engine import Memory, Settings
from memgraph_engine.cli import app
from memgraph_engine.testing import ScriptedChat
from memgraph_engine.worker.work import Worker
from tests.snapshots import same, snapshot
from tests.test_erasure import everything_told

ANA = {"user_id": "ana"}
ANCHOR = [
    "Bruno painted the harbour gate, and the sailboat anchor.",
    "The sailboat anchor was too heavy for the harbour gate, Tom said.",
    "Over winter the sailboat anchor lies beside the harbour gate.",
]
BOAT = ["I bought a sailboat in Porto.", "I do not sail the sailboat in winter."]
NEWS = "The sailboat has got a new mast from Bruno."
POLICIES = """
default: factual
classes:
  factual: {ttl: none}
  private: {ttl: none, models: false, shown: asked}
"""


@pytest.fixture
def connect(tenant, embedder, clock):
    some = []

    def connected(llm=None, **given):
        roles = ("extraction", "gating", "merging", "labelling", "planning", "sufficiency")
        tables = {"llm": {"roles": {role: {"model": ""} for role in roles}}, **given}
        settings = Settings.load(**tables)
        some.append(Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings, llm=llm))
        return some[-1]

    yield connected
    for one in some:
        one.close()


def tell(memory, texts, user="ana", **fields):
    """Add messages, a minute apart; return the notes."""
    clock = memory.engine.clock.__wrapped__
    given = [{"id": f"m{n}{text[:9]}", "text": text, **fields} for n, text in enumerate(texts)]
    found = []
    for one in given:
        found.append(memory.add(one, user_id=user).entries[0].note)
        clock.later(timedelta(minutes=1))
    return found


def ties(memory, note):
    return {(one.note, one.kind): one.score for one in memory.explain(note, **ANA).ties}


def answer(*notes):
    """What a model says of notes in turn: tie, tags, context."""
    told = [{"note": n, "tie": tie, "tags": tags, "context": by} for n, (tie, tags, by) in enumerate(notes, 1)]
    return {"notes": told}


PLAIN = (False, [], "")

# ---- without a model ------------------------------------------------------------------------


@pytest.fixture
def anchored(connect):
    """A memory whose notes share topics, and have no ties yet."""
    untied = connect(gate={"link": False, "merge": False})
    found = tell(untied, ANCHOR)
    tell(untied, ANCHOR, user="bo")
    for user in ("ana", "bo"):
        untied.rebuild_topics(user_id=user)
    return connect(gate={"link_threshold": 0.2}), found


def test_notes_of_a_topic_that_share_rare_keywords_are_tied_and_tagged(anchored):
    memory, found = anchored
    assert ties(memory, found[-1]) == {}
    before, other = snapshot(memory), snapshot(memory, "bo")
    done = memory.evolve(**ANA)
    assert (done.notes, done.contexts, done.fallbacks) == (3, 0, ())
    assert (done.ties, len(ties(memory, found[1]))) == (3, 2)
    assert done.tags >= 1
    labels = {part for topic in memory.topics(**ANA) for part in topic.label.split(", ")}
    for note in (memory.get(id, **ANA) for id in found):
        assert set(note.tags) <= labels
        assert all(tag in note.text.casefold() for tag in note.tags)
    last = done.decisions[-1]
    assert memory.decisions(**ANA)[0] == last
    assert "ties the note to" in last.evidence
    assert last in memory.explain(last.note, **ANA).decisions
    assert memory.verify(**ANA) == []
    same(snapshot(memory, "bo"), other)
    for decision in reversed(done.decisions):
        memory.undo(decision.id, **ANA)
    same(snapshot(memory), before)
    assert memory.evolve(**ANA).notes == 0  # what was taken back is not done again


def test_twice_with_nothing_new_changes_nothing(anchored):
    memory, _ = anchored
    memory.evolve(**ANA)
    before, made = snapshot(memory), memory.decisions(**ANA)
    assert memory.evolve(**ANA).decisions == ()
    same(snapshot(memory), before)
    assert memory.decisions(**ANA) == made


def test_a_worker_evolves_after_so_many_interactions_and_never_by_default(connect):
    def ran(memory):
        runs = []
        Worker(memory.engine, tell=runs.append).once()
        return [dict(one.counts) for one in runs if one.kind == "evolve"]

    memory = connect()
    tell(memory, ANCHOR)
    before = snapshot(memory)
    assert ran(memory) == []
    same(snapshot(memory), before)
    assert ran(connect(lifecycle={"evolve": 2})) == []
    tell(memory, ["Thanks a lot!"])  # a turn that makes no note is one
    evolving = connect(lifecycle={"evolve": 2})
    assert [one["notes"] for one in ran(evolving)] == [3]
    assert ran(evolving) == []
    tell(evolving, ["Thanks!", "Thank you!", "Great, thanks!", "Good night!"])
    assert ran(evolving) == []
    tell(evolving, ["I sold the boat."])  # small talk that was looked at counts no more
    assert ran(evolving) == []
    assert evolving.evolve(**ANA).notes == 1


# ---- with a model ---------------------------------------------------------------------------


@pytest.fixture
def asked(connect):
    """Tell of a boat, evolve by some answers; return the memory, the older notes, the new one, and what was done."""

    def evolved(context="", *, tags=(), answers=None, texts=BOAT, **given):
        quiet = connect(gate={"link": False, "merge": False})
        older = tell(quiet, texts, speaker="Ana")
        quiet.evolve(**ANA)
        (new,) = tell(quiet, [NEWS])
        order = [one.note for one in near(quiet, new)]
        said = dict.fromkeys(order, PLAIN) | {older[0]: (True, list(tags), context)}
        chat = ScriptedChat(answers or [answer(PLAIN, *(said[note] for note in order))])
        memory = connect(chat, **given)
        before = snapshot(memory)
        return memory, chat, older, new, before, memory.evolve(**ANA)

    return evolved


def near(memory, new):
    """The notes that a model is shown beside a new one, in this order."""
    from memgraph_engine.graph import scopes
    from memgraph_engine.model.scope import Scope
    from memgraph_engine.writing.evolution import Evolution

    scope = Scope(memory.engine.settings.tenant, "ana")
    work = Evolution(memory.engine, scope)
    (step,) = work._compared(scopes.state(memory.engine.db, scope.name), [new])
    return [type("N", (), {"note": two.one.id}) for two in step.near]


TOLD = "Ana bought a sailboat in Porto, which got a new mast from Bruno."


def test_a_model_ties_tags_and_writes_the_context_of_an_older_note(asked):
    memory, chat, older, new, before, done = asked(TOLD, tags=["Sailboat", "submarine", "a=b"])
    assert (done.notes, done.ties, done.tags, done.contexts) == (1, 1, 1, 1)
    note = memory.get(older[0], **ANA)
    assert (note.context, note.tags, note.text) == (TOLD, ("sailboat",), BOAT[0])
    assert (older[0], "link") in ties(memory, new)
    (decision,) = done.decisions
    assert (decision.kind, decision.model, decision.note) == ("evolve", chat.name, new)
    assert decision.cost.calls == done.cost.calls == 1
    assert NEWS in chat.calls[0].text
    assert decision in memory.explain(older[0], **ANA).decisions
    assert memory.decisions(**ANA)[0].about
    assert memory.verify(**ANA) == []
    assert memory.evolve(**ANA).notes == 0
    memory.undo(decision.id, **ANA)
    same(snapshot(memory), before)
    assert ties(memory, new) == {}


@pytest.mark.parametrize(
    ("place", "context", "why"),
    [
        (0, "Ana bought a sailboat, which got a new mast from Bruno.", "it lacks 'porto'"),
        (0, "Ana bought a sailboat in Porto with Carla.", "it adds 'carla'"),
        (1, "Ana sails the sailboat in winter.", "it no longer denies 'sail'"),
    ],
)
def test_a_context_that_loses_or_adds_a_fact_is_not_used(asked, place, context, why):
    texts = [BOAT[place], BOAT[1 - place]]
    memory, _, older, _, _, done = asked(context, texts=texts)
    assert (done.ties, done.contexts) == (1, 0)
    assert memory.get(older[0], **ANA).context.endswith(texts[0])
    (seen,) = [one for one in done.decisions[0].considered if one.note == older[0]]
    assert why in seen.evidence


def test_a_tie_is_strengthened_once_and_an_undo_gives_it_its_score_back(connect):
    first = connect(gate={"merge": False, "link_threshold": 0.1})
    older = tell(first, BOAT[:1])
    first.evolve(**ANA)
    (new,) = tell(first, ["The sailboat that I bought in Porto has a mast."])
    was = ties(first, new)[older[0], "link"]
    memory = connect(ScriptedChat([answer(PLAIN, (True, [], ""))]))
    done = memory.evolve(**ANA)
    assert done.ties == 1
    assert ties(memory, new)[older[0], "link"] == pytest.approx(was + (1 - was) / 2, abs=1e-3)
    memory.undo(done.decisions[0].id, **ANA)
    assert ties(memory, new)[older[0], "link"] == was


LIKES = ["I like red.", "I like sports cars."]
BOTH = "Ana likes red and sports cars."


@pytest.fixture
def joining(connect):
    """Tell two aspects of one thing, and let a model join them by a text; return the memory, and what it was."""

    def joined(text=BOTH, answers=None, roles=("", ""), **given):
        quiet = connect(gate={"link": False, "merge": False})
        own = [{"session": f"s{n}", **({"role": role} if role else {})} for n, role in enumerate(roles)]
        (older,) = tell(quiet, LIKES[:1], speaker="Ana", **own[0])
        quiet.evolve(**ANA)
        (new,) = tell(quiet, LIKES[1:], speaker="Ana", **own[1])
        told = {"notes": [{"note": 1, "context": text}, {"note": 2, "join": True}]}
        memory = connect(ScriptedChat(answers or [told]), **{"lifecycle": {"join": True}, **given})
        before = snapshot(memory)
        return memory, (older, new), before, memory.evolve(**ANA)

    return joined


def test_a_model_joins_what_tells_aspects_of_one_thing_and_nothing_is_lost(joining):
    memory, told, before, done = joining()
    assert (done.joined, done.ties, done.contexts) == (2, 0, 0)
    (decision,) = done.decisions
    note = memory.get(decision.note, **ANA)
    assert [one.id for one in memory.get_all(**ANA)] == [note.id]
    assert (note.context, {*note.sums}, note.speaker) == (BOTH, {*told}, "Ana")
    assert all(any(said in line for line in note.raw) for said in LIKES)
    for n, said in enumerate(LIKES):
        assert [hit.note.id for hit in memory.search("What does Ana like?", session=f"s{n}", **ANA)] == [note.id]
        assert memory.get(f"m0{said[:9]}", **ANA).id == note.id
    assert memory.search("What cars does Ana like?", **ANA)[0].note.id == note.id
    assert {hit.note.id for hit in memory.search("sports cars", archived=True, **ANA)} >= {note.id, told[1]}
    assert memory.verify(**ANA) == []
    assert memory.evolve(**ANA).notes == 0
    memory.undo(decision.id, **ANA)
    same(snapshot(memory), before)
    assert memory.verify(**ANA) == []


@pytest.mark.parametrize(
    "given",
    [
        {"text": "Ana likes red sports cars from Porto."},  # it adds a name
        {"text": ""},
        {"roles": ("user", "assistant")},  # nobody's words are put into another's mouth
        {"lifecycle": {"join": False}},
    ],
)
def test_what_may_not_be_joined_stays_as_it_is(joining, given):
    memory, _, before, done = joining(**given)
    assert (done.notes, done.joined, done.decisions) == (1, 0, ())
    same(snapshot(memory), before)


def test_an_erasure_takes_one_aspect_out_of_what_was_joined(joining):
    memory, _, _, done = joining()
    memory.erase(memory.forget(user_id="ana", source=f"m0{LIKES[1][:9]}"))
    note = memory.get(done.decisions[0].note, **ANA)
    assert "red" in note.context
    assert "sports" not in everything_told(memory)
    assert memory.verify(**ANA) == []


def test_a_model_that_fails_is_done_without(asked):
    memory, _, older, _, before, done = asked(answers=["no JSON", "none again"])
    assert done.notes == 1
    assert done.fallbacks[0].startswith("Evolving was done without a model")
    assert memory.get(older[0], **ANA).context.endswith(BOAT[0])
    same(snapshot(memory), before)


def test_an_erasure_takes_what_a_context_and_tags_had_of_the_erased(asked):
    memory, _, older, _, _, _ = asked(TOLD, tags=["sailboat"])
    assert memory.get(older[0], **ANA).context == TOLD
    memory.erase(memory.forget(user_id="ana", source=f"m0{NEWS[:9]}"))
    assert memory.get(older[0], **ANA).context.endswith(BOAT[0])
    assert "mast" not in everything_told(memory)
    assert memory.verify(**ANA) == []


def test_what_is_private_is_seen_by_no_model_and_stays_as_it_is(connect, tmp_path):
    file = tmp_path / "policies.yaml"
    file.write_text(POLICIES)
    chat = ScriptedChat([])
    memory = connect(chat, lifecycle={"policies": str(file)})
    tell(memory, BOAT, policy="private")
    tell(memory, [NEWS])
    before = snapshot(memory)
    assert memory.evolve(**ANA).notes == 1
    assert chat.calls == []
    same(snapshot(memory), before)


def test_what_becomes_private_leaves_the_contexts_that_a_model_wrote(asked, tmp_path):
    file = tmp_path / "policies.yaml"
    file.write_text(POLICIES)
    memory, _, older, new, _, done = asked(TOLD, lifecycle={"policies": str(file)})
    assert done.contexts == 1
    memory.set_policy(new, "private", **ANA)
    assert "mast" not in memory.get(older[0], **ANA).context


def test_a_pinned_note_keeps_its_context(connect):
    quiet = connect(gate={"link": False, "merge": False})
    (older,) = tell(quiet, BOAT[:1])
    quiet.evolve(**ANA)
    quiet.pin(older, **ANA)
    (new,) = tell(quiet, [NEWS])
    quiet.pin(new, **ANA)
    memory = connect(ScriptedChat([answer(PLAIN, (True, ["sailboat"], TOLD))]))
    done = memory.evolve(**ANA)
    assert (done.ties, done.tags, done.contexts) == (1, 0, 0)


def test_what_ends_otherwise_is_not_shown_beside_it(connect):
    quiet = connect(gate={"link": False, "merge": False})
    tell(quiet, BOAT[:1])
    quiet.evolve(**ANA)
    tell(quiet, [NEWS], expires="2030-01-01")
    chat = ScriptedChat([])
    assert connect(chat).evolve(**ANA).contexts == 0
    assert chat.calls == []


def test_the_command_evolves(connect, tenant, embedder, monkeypatch, server):
    monkeypatch.setattr("memgraph_engine.engine.wiring.embedder_named", lambda settings: embedder)
    tell(connect(), BOAT)
    monkeypatch.setenv("MEMGRAPH_ENGINE_TENANT", tenant)
    run = CliRunner().invoke(app, ["evolve", "--user", "ana"])
    assert run.stdout == "Looked at 2 new notes, changed 0 ties, 0 contexts and the tags of 0 notes.\n", run.output
    assert json.loads(CliRunner().invoke(app, ["evolve", "--user", "ana", "--json"]).stdout)["notes"] == 0
