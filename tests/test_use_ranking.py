"""Use, age and the class of a note move it up or down, where the settings give them a weight."""

import math
from datetime import UTC, datetime, timedelta

import pytest

from memgraph_engine import Settings, SettingsError
from memgraph_engine.graph.database import Database
from memgraph_engine.recall.use import USE
from tests.test_use import ANA, HERON, TIDE, connected, note  # noqa: F401  fixtures

BEGIN = datetime(2024, 5, 1, 9, tzinfo=UTC)
DAY = timedelta(days=1)
BOATS = ["The boat Heron is in the harbour.", "The boat Tern is in the harbour.", "The boat Gull is in the harbour."]
ASKED = "Which boat is in the harbour?"
CLASSES = """
default: plain
classes:
  plain: {ttl: none, half_life: 30d}
  kept: {ttl: none, half_life: none, boost: 0.5, start: 80}
  low: {ttl: none, boost: -1}
"""


@pytest.fixture
def boats(connected, tmp_path):  # noqa: F811
    """A memory of three boats, with these weights; and their notes, the one that is found last first."""
    path = tmp_path / "policies.yaml"
    path.write_text(CLASSES)

    def make(texts=BOATS, preset="", **recall):
        memory = connected(preset=preset, recall=recall, lifecycle={"policies": str(path)}, gate={"update": False})
        memory.add_many(texts, user_id="ana")
        return memory, order(memory)[::-1]

    return make


def order(memory, **of):
    return [hit.note.id for hit in memory.search(ASKED, **(of or ANA))]


def test_without_a_weight_nothing_of_it_is_read(boats, monkeypatch):
    asked = []
    run = Database.run
    memory, (last, *_) = boats()
    before = order(memory)
    memory.reflect(ASKED, [last] * 3, "It is there.", **ANA)
    monkeypatch.setattr(Database, "run", lambda db, name, **given: asked.append(name) or run(db, name, **given))
    (first, *_) = memory.search(ASKED, **ANA, explain=True)
    assert order(memory) == before
    assert first.explanation.use == {}
    assert [name for name in asked if name.startswith("usage/")] == []


def test_what_was_shown_more_often_moves_up_for_its_reader(boats):
    memory, (last, *_) = boats(frequency=1.0)
    for _ in range(3):
        memory.reflect(ASKED, [last], "Nothing.", **ANA)
    assert order(memory)[0] == last


def test_what_waits_to_be_counted_counts(boats):
    memory, (last, *_) = boats(frequency=1.0)
    memory._reader._use.shown(memory._scope("ana", shared=False), [memory.get(last, **ANA)])
    assert order(memory)[0] == last


def test_what_proved_useful_moves_up(boats):
    memory, (last, _, first) = boats(utility=20.0)
    memory.reflect(ASKED, [last], memory.get(last, **ANA).text, **ANA)
    assert order(memory)[0] == last
    hit = memory.search(ASKED, **ANA, explain=True)[0]
    assert hit.explanation.use["utility"].raw == 40
    assert hit.explanation.use["utility"].normalised == 0.4
    assert memory.search(ASKED, **ANA, explain=True)[-1].explanation.use["utility"].raw == 30
    assert first != last


def test_one_readers_use_moves_nothing_of_anothers(connected):  # noqa: F811
    memory = connected(recall={"utility": 20.0})
    memory.add_many(BOATS, shared=True)
    memory.add("Good night!", **ANA)
    before = order(memory, user_id="bo")
    memory.reflect(ASKED, [before[-1]], "Nothing.", **ANA)
    memory.reflect(ASKED, [before[-1]], memory.get(before[-1], **ANA).text, **ANA)
    assert order(memory, user_id="bo") == before
    assert order(memory)[0] == before[-1]


def test_the_boost_of_a_class_moves_its_notes(boats):
    memory, (last, *_) = boats(policy=1.0)
    memory.set_policy(last, "kept", **ANA)
    assert order(memory)[0] == last
    memory.set_policy(last, "low", **ANA)
    assert order(memory)[-1] == last
    memory.set_policy(order(memory)[0], "low", **ANA)
    assert memory.search(ASKED, **ANA, explain=True)[0].explanation.use["policy"].normalised == 0.5


def test_what_is_old_counts_less_by_the_half_life_of_its_class(boats):
    texts = [{"text": text, "time": BEGIN - days * DAY} for text, days in zip(BOATS, (60, 30, 0), strict=True)]
    memory, _ = boats(texts, decay=1.0)
    decayed = {hit.note.text: hit.explanation.use["decay"].raw for hit in memory.search(ASKED, **ANA, explain=True)}
    assert [round(decayed[text], 3) for text in BOATS] == [0.25, 0.5, 1.0]
    oldest = next(hit.note.id for hit in memory.search(ASKED, **ANA) if hit.note.text == BOATS[0])
    memory.set_policy(oldest, "kept", **ANA)
    again = {hit.note.text: hit.explanation.use["decay"].raw for hit in memory.search(ASKED, **ANA, explain=True)}
    assert again[BOATS[0]] == 1.0


def test_a_note_that_was_never_shown_starts_as_its_class_and_kind_say(boats):
    memory, (last, second, _) = boats(utility=1.0)
    memory.set_policy(last, "kept", **ANA)
    paper = note(memory.add("The boat Petrel is in the harbour.", kind="document", **ANA))
    told = {hit.note.id: hit.explanation.use["utility"].raw for hit in memory.search(ASKED, **ANA, explain=True)}
    assert [told[one] for one in (last, second, paper)] == [80, 30, 50]


def test_an_explanation_with_use_adds_up_to_the_score(boats):
    memory, (last, *_) = boats(frequency=0.3, decay=0.2, utility=0.4, policy=0.1)
    memory.reflect(ASKED, [last], "Nothing.", **ANA)
    for hit in memory.search(ASKED, **ANA, explain=True):
        why = hit.explanation
        assert list(why.use) == ["ranking", *USE]
        assert math.isclose(sum(part.weighted for part in why.use.values()), hit.score)
        assert math.isclose(1 / (1 + math.exp(-sum(why.ranking.values()))), why.use["ranking"].raw)
        assert math.isclose(why.use["ranking"].weighted, why.use["ranking"].raw / 2)


def test_mla_arc_ranks_by_cosine_frequency_and_decay(boats):
    texts = [{"text": text, "time": BEGIN - days * DAY} for text, days in zip(BOATS, (0, 30, 90), strict=True)]
    memory, (last, second, _) = boats(texts, preset="mla-arc")
    for shown in ([last], [last], [second]):
        memory.reflect(ASKED, shown, "Nothing.", **ANA)
    shown = {last: 1.0, second: math.log(2) / math.log(3)}
    for hit in memory.search(ASKED, **ANA, explain=True):
        age = (BEGIN - hit.note.said_at) / DAY
        expected = 0.7 * hit.similarity + 0.15 * shown.get(hit.note.id, 0.0) + 0.15 * 2 ** (-age / 30)
        assert hit.score == pytest.approx(expected)
        assert not hit.explanation.ranking


def test_a_restatement_counts_as_a_showing_where_it_has_a_weight_and_goes_with_its_undo(connected):  # noqa: F811
    """As MLA-ARC reinforces (section 3.6.1)."""
    memory = connected(preset="mla-arc", recall={"restated": 2.0})
    first = note(memory.add({"text": HERON, "session": "s"}, **ANA))
    other = note(memory.add({"text": TIDE, "session": "s"}, **ANA))
    entry = memory.add({"text": HERON, "session": "again"}, **ANA).entries[0]
    assert (entry.note, entry.kind) == (first, "reinforce")

    def told():
        hits = memory.search("What does the heron eat at noon?", **ANA, explain=True)
        found = {hit.note.id: hit.explanation.use["frequency"].raw for hit in hits}
        return memory.get(first, **ANA).restated, found[first], found[other]

    assert told() == (1, 2.0, 0.0)
    assert memory.explain(first, **ANA).note.restated == 1
    memory.undo(entry.decision, **ANA)
    assert told() == (0, 0.0, 0.0)


def test_memoryarchitect_ranks_by_similarity_utility_and_boost(boats):
    memory, (last, second, first) = boats(preset="memoryarchitect")
    memory.set_policy(second, "kept", **ANA)
    memory.set_policy(first, "low", **ANA)
    memory.reflect(ASKED, [last], memory.get(last, **ANA).text, **ANA)
    given = {last: (40, 0.0), second: (80, 0.5), first: (30, -1.0)}
    hits = memory.search(ASKED, **ANA)
    paper = [0.7 * hit.similarity + 0.2 * given[hit.note.id][0] / 100 + 0.1 * given[hit.note.id][1] for hit in hits]
    assert paper == sorted(paper, reverse=True)
    # the boost lies between 0 and 1 here, so all scores have moved by as much
    assert [hit.score * 1.1 - 0.1 for hit in hits] == pytest.approx(paper)


def test_weights_of_use_are_read_where_they_are_given():
    assert Settings.paper("mla-arc").recall.reads_use
    assert not Settings.load().recall.reads_use
    with pytest.raises(SettingsError, match="decay"):
        Settings.load(recall={"decay": -1})


@pytest.mark.parametrize(("recall", "counts"), [({"utility": 0.1}, True), ({"decay": 0.1}, False), ({}, False)])
def test_auto_counts_where_a_weight_reads_it(connected, recall, counts):  # noqa: F811
    assert connected("auto", recall=recall).engine.counts_use == counts


def test_auto_counts_where_a_cap_reads_it(connected):  # noqa: F811
    assert connected("auto", lifecycle={"cap": 10}).engine.counts_use
    assert not connected("off", lifecycle={"cap": 10}).engine.counts_use
