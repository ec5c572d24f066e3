"""What a class keeps from chat models, or shows only if asked: nothing else tells of it, whatever becomes of it."""

import json
import logging
import re
from datetime import UTC, datetime, timedelta

import pytest

from memgraph_engine import Cost, InvalidInput, Memory, NotFound, Settings
from memgraph_engine.errors import PolicyError
from memgraph_engine.lifecycle.file import policies
from memgraph_engine.model.ports import Reply
from memgraph_engine.model.scope import Scope
from memgraph_engine.recall.search import propose
from tests.clocks import Clock
from tests.snapshots import same, snapshot

BEGIN = datetime(2024, 5, 1, tzinfo=UTC)
ANA = {"user_id": "ana"}
POLICIES = """
default: factual
classes:
  factual: {ttl: none}
  week: {ttl: 7d}
  private: {ttl: 7d, at_end: erase, join: false, models: false, shown: asked}
  unseen: {ttl: none, models: false}
  asked: {ttl: none, shown: asked}
"""
APART = ("private", "unseen", "asked")
SECRET = "The vault of the lighthouse opens with amaranth tulip."
WORDS = re.compile("amaranth|tulip", re.IGNORECASE)
TALK = ["Our lighthouse keeper sold two beehives.", SECRET, "She paints the lighthouse every spring."]
QUESTION = "With what does the vault of the lighthouse open?"


def others(cases):
    """Cases that tell little more: they run in `make test-long`."""
    return [pytest.param(*case, marks=pytest.mark.long) for case in cases]


class Echo:
    """A chat model that writes all that it was shown into each of its answers."""

    name = "echo"

    def __init__(self):
        self.requests, self.kinds = [], set()

    def chat(self, messages, **_):
        self.requests.append("\n".join(message["content"] for message in messages))
        asked = messages[-1]["content"].splitlines()
        lines = [json.loads(line) for line in asked if line.startswith("{")]
        kind, answer = self._answer(lines, " ".join(str(line.get("text", "")) for line in lines))
        self.kinds.add(kind)
        return Reply(answer if isinstance(answer, str) else json.dumps(answer), Cost(calls=1))

    @staticmethod
    def _answer(lines, said):
        def those(key):
            return [line for line in lines if key in line]

        if turns := [line for line in those("turn") if line["turn"] != "earlier"]:
            own = {one["turn"]: re.findall(r"[a-z]{5,}", one["text"])[:5] for one in turns}
            made = [{"turn": at, "keep": True, "context": f"{said} ({at})", "keywords": own[at]} for at in own]
            return "turns", {"turns": made}
        if notes := those("candidates"):
            score = {"redundancy": 0.1, "complementarity": 0.9, "relation": "related", "evidence": said}
            pairs = [(one["note"], at) for one in notes for at, _ in enumerate(one["candidates"], 1)]
            return "candidates", {"pairs": [{"note": note, "candidate": at, **score} for note, at in pairs]}
        if merges := those("texts"):
            return "texts", {"merges": [{"merge": one["merge"], "context": str(one["texts"])} for one in merges]}
        if topics := those("keywords"):
            return "labels", {"topics": [{"topic": one["topic"], "label": "The sea"} for one in topics]}
        if those("notes"):
            return "notes", {"questions": [{"question": 1, "confidence": 0.1, "next": "What opens the vault?"}]}
        if said:
            plan = {"question": 1, "topic": "a vault", "keywords": ["vault"], "since": None, "until": None}
            return "plan", {"questions": [plan]}
        return "answer", "It opens [1]."

    def chat_stream(self, messages, **given):
        reply = self.chat(messages, **given)
        yield reply.text
        yield reply

    @property
    def told(self):
        return "\n".join(self.requests)


@pytest.fixture
def clock():
    return Clock(BEGIN)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "policies.yaml"
    path.write_text(POLICIES)
    return path


def connect(tenant, embedder, clock, file, llm=None):
    settings = Settings.load(lifecycle={"policies": str(file)})
    return Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings, llm=llm)


@pytest.fixture
def memory(tenant, embedder, clock, file):
    with connect(tenant, embedder, clock, file) as one:
        yield one


@pytest.fixture
def chat():
    return Echo()


@pytest.fixture
def modelled(tenant, embedder, clock, file, chat):
    """A memory with a chat model for each role."""
    with connect(tenant, embedder, clock, file, chat) as one:
        yield one


def talk(memory, policy, *, wait=True, texts=TALK, owner=ANA):
    said = [{"id": str(at), "text": text, "speaker": "Ana", "session": "s"} for at, text in enumerate(texts)]
    memory.add_many([{**one, "policy": policy} if one["text"] == SECRET else one for one in said], wait=wait, **owner)
    return memory.get("1", **owner).id


def reads_of_others(memory, owner=ANA, **given):
    """All that is told to who asks neither for the secret's id nor for its class."""
    told = [hit.to_dict() for hit in memory.search(QUESTION, **owner, top_k=50, rounds=3, explain=True, **given)]
    told += [hit.to_dict() for hit in memory.search(QUESTION, **owner, as_of="2024-05-03", **given)]
    told += [hit.to_dict() for hit in memory.search(QUESTION, **owner, session="s", tags=(), **given)]
    told += [memory.context(QUESTION, **owner, **given).to_dict(), memory.answer(QUESTION, **owner, **given).to_dict()]
    told += [anchor.to_dict() for anchor in memory.anchors(SECRET, **owner)]
    told += [topic.to_dict() for topic in memory.topics(**owner)]
    told += [memory.topic(topic.id, **owner).to_dict() for topic in memory.topics(**owner)]
    told += [run.to_dict() for run in memory.topic_runs(**owner)]
    for one in memory.get_all(**owner):
        if not WORDS.search(one.text):
            story = memory.explain(one.id, **owner)
            told += [one.to_dict(), story.to_dict(), [version.to_dict() for version in memory.history(one.id, **owner)]]
    return repr(told)


def keywords(memory, owner=ANA):
    """All keywords that the graph has."""
    network = memory.engine.db.run(
        "topics/network", scope=f"{memory.engine.settings.tenant}/{owner['user_id']}", after="", limit=1000
    )
    return {row["name"] for row in network}


# ---- chat models --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "wait"), [("private", True), ("unseen", False), *others([("private", False), ("unseen", True)])]
)
def test_no_chat_model_ever_sees_it(modelled, chat, policy, wait):
    talk(modelled, policy, wait=wait)
    modelled.process(**ANA)
    for key in ("a key", "an old key"):
        modelled.add(f"The vault of the lighthouse opens with {key}.", **ANA, session="s")
    modelled.add(SECRET, **ANA, session="s", policy=policy)
    modelled.rebuild_topics(**ANA)
    for given in ({}, {"include": [policy]}):
        modelled.search(QUESTION, **ANA, rounds=3, **given)
        modelled.answer(QUESTION, **ANA, **given)
        list(modelled.answer_stream(QUESTION, **ANA, known_at=BEGIN, **given))
        modelled.context(QUESTION, **ANA, **given)
    modelled.update("1", f"{SECRET} And no key.", **ANA)
    modelled.delete("0", **ANA)
    modelled.undo(modelled.decisions(**ANA)[0].id, **ANA)
    assert not WORDS.search(chat.told)
    assert chat.kinds == {"turns", "candidates", "labels", "notes", "plan", "answer"}  # else nothing was tried
    assert modelled.verify(**ANA) == []


def test_a_class_that_models_may_see_is_seen_in_requests_of_its_own(modelled, chat):
    talk(modelled, "asked")
    some = [one for one in chat.requests if WORDS.search(one)]
    assert some
    assert not any("beehives" in one.rpartition("turns to write")[2] for one in some)
    assert not WORDS.search(reads_of_others(modelled))
    assert modelled.verify(**ANA) == []


def test_a_context_is_made_of_it_only_if_its_class_is_named_and_an_answer_never(modelled, chat):
    talk(modelled, "unseen")
    assert any(WORDS.search(hit.note.text) for hit in modelled.search(QUESTION, **ANA))
    assert not WORDS.search(modelled.context(QUESTION, **ANA).text)
    assert WORDS.search(modelled.context(QUESTION, **ANA, include=["unseen"]).text)
    answer = modelled.answer(QUESTION, **ANA, include=["unseen"])
    assert answer.text
    assert not WORDS.search(repr(answer.to_dict()))
    assert not WORDS.search(chat.told)


def test_what_was_stored_with_a_class_that_another_file_lacks_stays_apart(
    tenant, embedder, clock, file, tmp_path, memory, chat
):
    talk(memory, "private", wait=False)
    memory.add(f"{SECRET} Twice.", **ANA, policy="asked", id="twice")
    other = tmp_path / "other.yaml"
    other.write_text("default: factual\nclasses:\n  factual: {ttl: none}\n")
    with connect(tenant, embedder, clock, other, chat) as modelled:
        modelled.process(**ANA)
        assert not WORDS.search(reads_of_others(modelled))
        assert not WORDS.search(chat.told)
        assert modelled.get("1", **ANA).apart == "private"
        assert modelled.verify(**ANA) == []


# ---- what asks for it, and what does not ----------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "wait"), [("private", False), ("asked", True), *others([("private", True), ("asked", False)])]
)
def test_it_is_found_only_by_who_asks_for_it(memory, policy, wait):
    note = talk(memory, policy, wait=wait)
    memory.add("The vault of the lighthouse opens with a key.", **ANA)
    assert not WORDS.search(reads_of_others(memory))
    memory.process(**ANA)
    memory.rebuild_topics(**ANA)
    assert not WORDS.search(reads_of_others(memory))
    hits = memory.search(QUESTION, **ANA, include=(policy,))
    assert note in [hit.note.id for hit in hits]
    assert len(hits) > 1
    assert note in [hit.note.id for hit in memory.search(QUESTION, **ANA, include=(policy,), session="s")]
    other = "asked" if policy == "private" else "private"
    assert note not in [hit.note.id for hit in memory.search(QUESTION, **ANA, include=(other,))]
    assert memory.get("1", **ANA).id == note
    assert memory.source("1", **ANA).text == SECRET
    assert note in [one.id for one in memory.get_all(**ANA)]
    assert WORDS.search(memory.explain(note, **ANA).note.text)
    assert [one.note.id for one in memory.history(note, **ANA)][-1] == note
    plan = memory.forget(**ANA, query=QUESTION)
    assert "1" in plan.sources
    assert memory.verify(**ANA) == []


def test_a_shared_note_is_asked_for_too(memory):
    memory.add(SECRET, shared=True, policy="private", id="1")
    memory.add("The lighthouse has a vault.", **ANA)
    assert not WORDS.search(repr([hit.to_dict() for hit in memory.search(QUESTION, **ANA)]))
    assert any(WORDS.search(hit.note.text) for hit in memory.search(QUESTION, **ANA, include=["private"]))


def test_a_class_to_include_must_be_there(memory):
    with pytest.raises(InvalidInput, match="no policy 'secret'; the policies are factual, week, private"):
        memory.search(QUESTION, **ANA, include=["secret"])
    with pytest.raises(InvalidInput, match="include is a string; a list"):
        memory.context(QUESTION, **ANA, include="private")


def test_it_is_kept_apart_from_all_else(memory):
    note = talk(memory, "private")
    again = memory.add(SECRET, **ANA, policy="private").entries[0]
    public = memory.add(SECRET, **ANA, id="public").entries[0]
    more = memory.add({"text": SECRET, "id": "more", "speaker": "Ana"}, **ANA).entries[0]
    assert (again.kind, public.kind) == ("append", "append")
    assert more.note != note
    assert not any(seen.note in (note, again.note) for one in memory.decisions(**ANA) for seen in one.considered)
    assert memory.get("1", **ANA).keywords == ()
    assert not memory.explain("1", **ANA).ties
    assert not WORDS.search(memory.get("2", **ANA).context)
    assert memory.verify(**ANA) == []


def test_its_own_class_may_quote_it(memory):
    said = [{"id": str(at), "text": text, "session": "s", "policy": "private"} for at, text in enumerate(TALK)]
    memory.add_many(said, **ANA)
    assert WORDS.search(memory.get("2", **ANA).context)
    memory.add({"id": "3", "text": "And that is all.", "session": "s", "policy": "asked"}, **ANA)
    memory.add({"id": "4", "text": SECRET, "session": "s", "policy": "private"}, **ANA)
    memory.add({"id": "5", "text": "That was another one.", "session": "s", "policy": "asked"}, **ANA)
    assert not WORDS.search(memory.get("5", **ANA).context)


def test_it_takes_no_places_in_a_pool(tenant, embedder, clock, file):
    others = [f"The lighthouse has a door number {at} that opens with a key." for at in range(25)]
    secrets = [f"The vault of the lighthouse opens with key number {at}." for at in range(120)]
    # all others have the question's words alike: which twenty of them full text would propose is chance
    small = {"pool": 20, "lexical_pool": 25}
    settings = Settings.load(lifecycle={"policies": str(file)}, recall=small)
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings) as memory:
        for user in ("ana", "ben"):
            memory.add_many([{"text": one, "id": one} for one in others], user_id=user)
        alone = [hit.sources[0].id for hit in memory.search(QUESTION, **ANA, top_k=20)]
        memory.add_many([{"text": one, "policy": "private"} for one in secrets], **ANA)
        found = [hit.sources[0].id for hit in memory.search(QUESTION, **ANA, top_k=20)]
        assert len(found) == 20
        assert sorted(found) == sorted(alone) or set(found) <= set(others)
        narrow = memory.search(QUESTION, **ANA, top_k=20, since="2020-01-01")
        assert len(narrow) == 20
        assert {hit.note.policy for hit in narrow} == {"factual"}
        included = memory.search(QUESTION, **ANA, top_k=20, include=["private"])
        assert {hit.note.policy for hit in included} == {"private"}
        pool = memory.search(QUESTION, **ANA, top_k=20, explain=True)[0].explanation.rounds[0].pool
        assert pool == memory.search(QUESTION, user_id="ben", top_k=20, explain=True)[0].explanation.rounds[0].pool


def test_it_takes_no_places_in_the_gate(memory):
    memory.add("The ferry to Madeira leaves at noon.", **ANA, id="first")
    secrets = [f"The ferry to Madeira leaves at noon with passenger {at}." for at in range(60)]
    memory.add_many([{"text": one, "policy": "private"} for one in secrets], **ANA)
    memory.add_many([f"The beekeeper sold hive {at} to a monk." for at in range(3)], **ANA)
    again = memory.add("The ferry to Madeira leaves at noon!", **ANA).entries[0]
    assert again.note == memory.get("first", **ANA).id


def test_searches_look_for_what_is_kept_apart_only_where_there_was_some(memory):
    def looks():
        query = memory._reader._query(Scope(memory.engine.settings.tenant, "ana"), QUESTION, 5, {})
        answer, *_ = propose(memory.engine.db, query, ["english"], memory.engine.settings.recall)
        return [scope["apart"] for scope in answer["sums"]]

    memory.add_many(TALK, **ANA)
    assert looks() == [False]
    memory.set_policy(next(memory.get_all(**ANA)).id, "private", **ANA)
    assert looks() == [True]


# ---- another class ------------------------------------------------------------------------------


def state(memory, owner):
    """What memories of the same talk have in common, however their notes came to be of a class."""
    told = sorted((one.text, one.context, one.policy, one.apart, one.keywords) for one in memory.get_all(**owner))
    return told, keywords(memory, owner)


@pytest.mark.parametrize(
    ("before", "after", "wait"),
    [
        ("factual", "private", True),
        ("factual", "unseen", False),
        ("asked", "private", False),
        ("asked", "factual", True),
        *others(
            [
                ("factual", "private", False),
                ("factual", "unseen", True),
                ("asked", "private", True),
                ("asked", "unseen", True),
                ("asked", "unseen", False),
                ("asked", "factual", False),
            ]
        ),
    ],
)
def test_another_class_makes_it_as_if_it_had_been_of_that_class(memory, before, after, wait):
    ben = {"user_id": "ben"}
    talk(memory, before, wait=wait)
    talk(memory, after, wait=wait, owner=ben)
    begin = snapshot(memory)
    decision = memory.set_policy("1", after, **ANA)
    assert state(memory, ANA) == state(memory, ben)
    assert memory.verify(**ANA) == []
    if after != "factual":
        assert not WORDS.search(memory.get("2", **ANA).context)
    memory.undo(decision.id, **ANA)
    same(snapshot(memory), begin)
    assert memory.verify(**ANA) == []


def test_what_becomes_private_is_told_by_nothing_that_was_there_before(memory, clock):
    note = talk(memory, "factual")
    memory.add("The vault of the lighthouse no longer opens with amaranth tulip.", **ANA, id="no", speaker="Ana")
    memory.add("The vault of the lighthouse opens with amaranth rose.", **ANA, id="rose", speaker="Ana")
    memory.add("An amaranth grows beside the lighthouse.", **ANA, id="plant")
    memory.rebuild_topics(**ANA)
    assert WORDS.search(reads_of_others(memory))
    clock.now += timedelta(hours=1)
    for name in ("1", "no", "rose", "plant"):
        memory.set_policy(name, "private", **ANA)
    assert not WORDS.search(reads_of_others(memory))
    assert memory.verify(**ANA) == []
    for given in ({"known_at": BEGIN}, {"known_at": clock.now}, {"as_of": BEGIN}):
        hits = memory.search(QUESTION, **ANA, top_k=50, **given)
        assert note not in [hit.note.id for hit in hits]
        assert hits
        assert not WORDS.search(repr([hit.to_dict() for hit in hits]))
        found = memory.search(QUESTION, **ANA, top_k=50, include=["private"], **given)
        assert "as_of" in given or note in [hit.note.id for hit in found]
    memory.rebuild_topics(**ANA)
    assert not WORDS.search(reads_of_others(memory))


def test_a_note_that_told_it_once_tells_it_no_more(memory):
    memory.add("Our lighthouse keeper sold two beehives.", **ANA, id="a", session="1", speaker="Ana")
    memory.add("Our lighthouse keeper sold two beehives.", **ANA, id="b", session="2", speaker="Ana")
    assert memory.get("a", **ANA).id == memory.get("b", **ANA).id
    memory.update("b", SECRET, **ANA)
    memory.update("b", f"{SECRET} Twice.", **ANA)
    memory.set_policy("b", "private", **ANA)
    assert len(memory.get("a", **ANA).sources) == 1
    assert not WORDS.search(reads_of_others(memory))
    assert memory.verify(**ANA) == []


def test_its_ties_rest_until_it_is_of_another_class(memory):
    memory.add("The ferry to Madeira leaves at noon.", **ANA, id="old", speaker="Ana", time="2024-04-29")
    memory.add("The ferry to Madeira leaves at nine.", **ANA, id="new", speaker="Ana", time="2024-04-30")
    ties = memory.explain("old", **ANA).ties
    assert ties
    memory.set_policy("new", "private", **ANA)
    assert memory.explain("old", **ANA).ties == memory.explain("new", **ANA).ties == ()
    assert "nine" not in repr(memory.explain("old", **ANA).to_dict())
    assert all(hit.until is None for hit in memory.search("When does the ferry leave?", **ANA))
    memory.set_policy("new", "factual", **ANA)
    assert memory.explain("old", **ANA).ties == ties


def test_a_context_of_a_model_is_written_anew_where_it_may_hold_its_words(modelled, chat):
    talk(modelled, "factual")
    assert WORDS.search(modelled.get("2", **ANA).context)
    modelled.delete("0", **ANA)
    deleted = modelled.decisions(**ANA)[0].id
    modelled.set_policy("1", "private", **ANA)
    chat.requests.clear()
    modelled.undo(deleted, **ANA)
    assert not WORDS.search(reads_of_others(modelled))
    assert not WORDS.search(chat.told)
    assert modelled.verify(**ANA) == []
    modelled.set_policy("1", "factual", **ANA)
    back = modelled.decisions(**ANA)[0].id
    modelled.add({"id": "3", "text": "Its lamp is blue.", "session": "s"}, **ANA)
    assert modelled.get("3", **ANA).context
    modelled.undo(back, **ANA)
    assert not WORDS.search(reads_of_others(modelled))
    assert modelled.verify(**ANA) == []


def test_policies_are_applied_in_both_directions(tenant, embedder, clock, file, memory):
    talk(memory, "factual")
    memory.add("The keeper has a boat.", **ANA, policy="unseen", id="boat")
    begin = state(memory, ANA)
    file.write_text(
        POLICIES.replace("factual: {ttl: none}", "factual: {ttl: none, shown: asked}").replace(", models: false}", "}")
    )
    policies.cache_clear()
    with connect(tenant, embedder, clock, file) as other:
        assert len(other.search(QUESTION, **ANA)) == 4  # what is stored counts until it is applied
        counted = other.apply_policies(**ANA, dry_run=True)
        assert counted.classes == {"factual": 3, "unseen": 1}
        applied = other.apply_policies(**ANA)
        assert [hit.sources[0].id for hit in other.search(QUESTION, **ANA)] == ["boat"]
        assert other.get("boat", **ANA).keywords
        assert other.get("1", **ANA).keywords == ()
        assert other.verify(**ANA) == []
        assert other.apply_policies(**ANA).decisions == ()
        other.undo(applied.decisions[0].id, **ANA)
        assert state(other, ANA) == begin
        assert other.verify(**ANA) == []
    policies.cache_clear()


def test_a_rule_makes_all_of_a_note_private_that_one_of_its_sources_tells(memory):
    from memgraph_engine.lifecycle.policies import Policies, Policy, Rule
    from memgraph_engine.model.memory import Source

    memory.add("I like green boats.", **ANA, id="a", session="1")
    memory.add("I like green boats.", **ANA, id="b", session="2")
    note = memory.get("a", **ANA)
    assert len(note.sources) == 2
    classes = {"plain": Policy("plain"), "hidden": Policy("hidden", asked=True)}
    told = Policies("plain", classes, (Rule("hidden", session="2"),)).of_note(note)
    assert told.apart == "hidden"
    assert Source("x", "", "").apart is None


def test_pinned_expired_archived_and_restored_it_stays_apart(memory, clock):
    note = talk(memory, "private")
    memory.pin("1", **ANA)
    assert not WORDS.search(reads_of_others(memory))
    memory.unpin("1", **ANA)
    memory.set_policy("1", "asked", **ANA)
    memory.set_policy("1", "private", **ANA)
    assert memory.get("1", **ANA).apart == "private"
    clock.now += timedelta(days=8)
    with pytest.raises((InvalidInput, NotFound)):
        memory.restore("1", **ANA)
    memory.sweep(**ANA)
    assert memory.verify(**ANA) == []
    with pytest.raises(NotFound):
        memory.explain(note, **ANA)
    assert not WORDS.search(reads_of_others(memory))


def test_what_was_archived_comes_back_apart(tenant, embedder, clock, tmp_path):
    path = tmp_path / "brief.yaml"
    path.write_text(
        "default: plain\nclasses:\n  plain: {ttl: none}\n  private: {ttl: 1d, models: false, shown: asked}\n"
    )
    with connect(tenant, embedder, clock, path) as memory:
        talk(memory, "private")
        clock.now += timedelta(days=2)
        swept = memory.sweep(**ANA)
        assert swept.notes == 1
        memory.restore("1", **ANA)
        assert (memory.get("1", **ANA).apart, memory.get("1", **ANA).keywords) == ("private", ())
        assert not WORDS.search(reads_of_others(memory))
        assert memory.search(QUESTION, **ANA, include=["private"])[0].sources[0].id == "1"
        assert memory.verify(**ANA) == []


def test_long_messages_and_updates_stay_apart(tenant, embedder, clock, file):
    settings = Settings.load(lifecycle={"policies": str(file)}, passage=200)
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=settings) as memory:
        text = "\n\n".join(f"Part {at}: {SECRET} It is {at} metres high, and nobody knows it." for at in range(4))
        memory.add({"id": "1", "text": text, "session": "s", "policy": "private"}, **ANA)
        memory.add({"id": "2", "text": "She paints it.", "session": "s"}, **ANA)
        assert sum(one.apart == "private" for one in memory.get_all(**ANA)) > 2
        memory.update("1", text + f"\n\nAnd a last part: {SECRET}", **ANA)
        assert not WORDS.search(reads_of_others(memory))
        assert not any(one.keywords for one in memory.get_all(**ANA) if one.apart)
        assert memory.verify(**ANA) == []


# ---- files, settings ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["default", "memoryarchitect"])
def test_the_private_class_of_the_shipped_files_is_seen_by_no_model_and_shown_if_asked(name):
    private = policies(name).classes["private"]
    assert (private.models, private.asked, private.apart) == (False, True, True)
    assert not any(one.apart for one in policies(name).classes.values() if one.name != "private")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("shown: never", "line 3, column 18: 'never' is none of always, asked"),
        ("models: some", "true or false is expected"),
    ],
)
def test_a_file_says_what_it_expects(tmp_path, given, said):
    path = tmp_path / "p.yaml"
    path.write_text(f"default: plain\nclasses:\n  plain: {{{given}}}\n")
    with pytest.raises(PolicyError, match=re.escape(said)):
        policies(str(path))


def test_a_remote_embedder_is_told_once(tenant, embedder, clock, file, caplog):
    class Remote:
        remote = True

        def __getattr__(self, name):
            return getattr(embedder, name)

    with caplog.at_level(logging.WARNING, "memgraph_engine"):
        for _ in range(2):
            connect(tenant, Remote(), clock, file).close()
    told = [one.getMessage() for one in caplog.records if "provider" in one.getMessage()]
    assert len(told) == 1
    assert "of the policies private, unseen." in told[0]
