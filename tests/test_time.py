"""Looking back: what was true at a moment of the world, what was known at a moment of the memory, and what stays."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from memgraph_engine import AsyncMemory, Memory, Settings
from memgraph_engine.errors import InvalidInput
from memgraph_engine.model.scope import Scope

MAY, JUNE, JULY, AUGUST = (datetime(2024, month, 1, 12, tzinfo=UTC) for month in (5, 6, 7, 8))


class Clock:
    """Tells the time that it is set to."""

    def __init__(self, at):
        self.at = at

    def __call__(self):
        return self.at


@pytest.fixture
def clock():
    return Clock(MAY)


@pytest.fixture
def memory(tenant, embedder, clock):
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock) as one:
        yield one


def move(memory, clock):
    memory.add({"id": "home", "text": "Ana lives in Lisbon.", "metadata": {"page": 1}}, user_id="ana")
    clock.at = JUNE
    memory.update("home", "Ana lives in Porto.", user_id="ana")
    clock.at = JULY
    memory.delete("home", user_id="ana")
    clock.at = AUGUST


@pytest.fixture(scope="module")
def moved(kept):
    """Ana lived in Lisbon as of May; that was corrected to Porto in June, and deleted in July. It is only read."""
    clock = Clock(MAY)
    return kept(lambda memory: move(memory, clock), clock=clock)


def texts(memory, question="Where does Ana live?", user="ana", **when):
    return [hit.note.raw[0] for hit in memory.search(question, user_id=user, **when)]


REVISE = """
UNWIND $ids AS id
MATCH (n:Note {scope: $scope, id: id})
CREATE (n)-[:WAS]->(p:Past)
SET p = properties(n), p.was = n.status, p.status = 'past', p.superseded_at = $now, p.keywords = []
SET n += $properties, n.recorded_at = $now, n.revision = n.revision + 1, n.stamp = n.stamp + 1
WITH n, p
CALL (n, p) { MATCH (n)-[:FROM]->(x:Source) CREATE (p)-[:FROM]->(x) }
CALL db.create.setNodeVectorProperty(p, 'raw_embedding', n.raw_embedding)
CALL db.create.setNodeVectorProperty(p, 'context_embedding', n.context_embedding)
FINISH
"""


def revise(memory, *notes, **properties):
    """Give notes a state that no public call makes, keeping the old one as every change does."""
    scope = Scope(memory.engine.settings.tenant, "ana").name
    given = {"scope": scope, "ids": [note.id for note in notes], "now": memory.engine.now(), "properties": properties}
    with memory.engine.db._session() as session:
        session.run(REVISE, given).consume()


# ---- known_at: the memory as it was ---------------------------------------------------------


def test_what_was_deleted_is_found_as_known_before(moved):
    assert texts(moved) == []
    assert texts(moved, known_at=JULY - timedelta(milliseconds=1)) == ["Ana lives in Porto."]
    assert texts(moved, known_at=JULY) == []


def test_an_updated_text_is_found_as_known_then_and_the_new_one_only_later(moved):
    assert texts(moved, known_at=MAY) == ["Ana lives in Lisbon."]
    assert texts(moved, known_at=JUNE) == ["Ana lives in Porto."]


def test_the_words_of_then_are_searched_and_not_those_of_later(moved):
    def lexical(question, at):
        (hit,) = moved.search(question, user_id="ana", known_at=at, explain=True)
        return hit.explanation.channels["lexical_raw"].raw > 0, "lexical" in hit.explanation.proposed_by

    assert lexical("Lisbon", MAY) == lexical("Porto", JUNE) == (True, True)
    assert lexical("Porto", MAY) == lexical("Lisbon", JUNE) == (False, False)


def test_a_note_recorded_later_is_not_known_earlier(memory, clock):
    memory.add({"text": "The ferry left at noon.", "time": "2020-01-01"}, user_id="ana")
    assert texts(memory, "ferry", known_at=MAY - timedelta(milliseconds=1)) == []
    assert texts(memory, "ferry", known_at=MAY) == ["The ferry left at noon. (1 January, 2020)"]


def test_a_version_of_then_is_a_note_with_its_own_times_and_sources(moved):
    now = moved.history("home", user_id="ana")[-1].note
    (hit,) = moved.search("Where does Ana live?", user_id="ana", known_at=MAY)
    note = hit.note
    assert note.id == now.id
    assert (note.status, note.recorded_at, note.superseded_at) == ("active", MAY, JUNE)
    assert note.created_at == now.created_at
    assert [(source.id, source.text) for source in hit.sources] == [("home", "Ana lives in Lisbon.")]
    (hit,) = moved.search("Where does Ana live?", user_id="ana", known_at=JUNE)
    assert (hit.note.recorded_at, hit.note.superseded_at) == (JUNE, JULY)
    assert [(source.id, source.text) for source in hit.sources] == [("home", "Ana lives in Porto.")]


def test_a_source_updated_twice_is_shown_as_it_was_each_time(memory, clock):
    memory.add({"id": "home", "text": "Ana lives in Lisbon."}, user_id="ana")
    for clock.at, city in ((JUNE, "Porto"), (JULY, "Faro")):
        memory.update("home", f"Ana lives in {city}.", user_id="ana")
    for at, city in ((MAY, "Lisbon"), (JUNE, "Porto"), (JULY, "Faro")):
        (hit,) = memory.search("Where does Ana live?", user_id="ana", known_at=at)
        assert hit.sources[0].text == hit.note.raw[0] == f"Ana lives in {city}."


def test_a_turn_whose_context_was_rewritten_keeps_its_source_and_its_context_of_then(memory, clock):
    memory.add_many(
        [
            {"id": "a", "session": "s", "text": "What is the kitten's name?"},
            {"id": "b", "session": "s", "text": "Marbles."},
        ],
        user_id="ana",
    )
    clock.at = JUNE
    memory.update("a", "What is the puppy's name?", user_id="ana")
    then = {hit.sources[0].id: hit for hit in memory.search("Marbles", user_id="ana", known_at=MAY)}
    assert then["b"].note.context == "Marbles. [before: What is the kitten's name?]"
    assert then["b"].sources[0].text == "Marbles."
    now = {hit.sources[0].id: hit for hit in memory.search("Marbles", user_id="ana")}
    assert now["b"].note.context == "Marbles. [before: What is the puppy's name?]"


def test_each_note_comes_once_with_the_turns_around_it(memory, clock):
    turns = [{"id": f"t{i}", "session": "s", "text": f"The kitten caught {i} mice."} for i in range(6)]
    memory.add_many(turns, user_id="ana")
    clock.at = JUNE
    for turn in turns:
        memory.update(turn["id"], f"{turn['text']} Or more.", user_id="ana")
    for at in (MAY, JUNE, None):
        hits = memory.search("How many mice?", user_id="ana", known_at=at, explain=True)
        assert sorted(hit.note.seq for hit in hits) == list(range(6))
        assert len({hit.note.id for hit in hits}) == 6
        assert all(hit.explanation.neighbours > 0 for hit in hits)


def test_a_clock_put_back_leaves_one_version_known_at_any_time(memory, clock):
    clock.at = JULY
    memory.add({"id": "home", "text": "Ana lives in Lisbon."}, user_id="ana")
    clock.at = AUGUST
    memory.update("home", "Ana lives in Porto.", user_id="ana")
    clock.at = JUNE
    memory.update("home", "Ana lives in Faro.", user_id="ana")
    assert texts(memory, known_at=JUNE) == []
    assert texts(memory, known_at=JULY) == ["Ana lives in Lisbon."]
    assert texts(memory, known_at=AUGUST) == ["Ana lives in Faro."]


def test_what_was_deleted_for_a_while_is_not_known_then_however_well_it_matches(tenant, embedder, clock):
    """A search that proposes as few as this one would find nothing else if it looked at what was deleted."""
    few = Settings.load(recall={"pool": 5, "lexical_pool": 5, "anchored": 5}, gate={"update": False})
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=few) as memory:
        memory.add_many([f"The lighthouse keeper waved {i} times." for i in range(40)], user_id="ana")
        waved = list(memory.get_all(user_id="ana"))
        assert len(waved) == 40
        memory.add("Something else entirely: porridge.", user_id="ana")
        clock.at = JUNE
        revise(memory, *waved, status="deleted")
        clock.at = JULY
        revise(memory, *waved, status="active")
        asked = "Who waved at the lighthouse?"
        assert texts(memory, asked, known_at=JUNE) == ["Something else entirely: porridge."]
        found = texts(memory, asked, known_at=JULY)
        assert len(found) >= 5
        assert all("waved" in text for text in found)


def test_filters_hold_for_the_past_too(moved):
    assert texts(moved, known_at=MAY, metadata={"page": 1}) == ["Ana lives in Lisbon."]
    assert texts(moved, known_at=MAY, metadata={"page": 2}) == []
    assert texts(moved, known_at=MAY, session="other") == []
    assert texts(moved, known_at=MAY, until="2024-04-30") == []


# ---- as_of: the world as it was --------------------------------------------------------------


@pytest.fixture(scope="module")
def corrected(kept):
    """In June it is learnt that the job at the aquarium had ended in May, and that at the bakery begun; only read."""
    clock, told = Clock(MAY), (("old", "Ana works at the aquarium.", "2024-01-10"), ("new", "Ana bakes.", "2024-05-20"))

    def fill(one):
        for id_, text, when in told:
            one.add({"id": id_, "text": text, "time": when}, user_id="ana")
        clock.at = JUNE
        revise(one, one.get("old", user_id="ana"), status="superseded", valid_to=datetime(2024, 5, 20, tzinfo=UTC))
        clock.at = JULY

    return kept(fill, clock=clock)


OLD, NEW = "Ana works at the aquarium. (10 January, 2024)", "Ana bakes. (20 May, 2024)"


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ({}, {NEW}),
        ({"as_of": "2024-01-09"}, set()),
        ({"as_of": "2024-01-10"}, {OLD}),
        ({"as_of": "2024-05-19T23:59:59"}, {OLD}),
        ({"as_of": "2024-05-20T00:00:00"}, {NEW}),
        ({"as_of": "2030-01-01"}, {NEW}),
        # in May the old job was still thought to go on
        ({"as_of": "2024-05-25", "known_at": MAY}, {OLD, NEW}),
        ({"as_of": "2024-05-25", "known_at": JUNE}, {NEW}),
        ({"as_of": "2024-03-01", "known_at": JUNE}, {OLD}),
        ({"as_of": "2024-03-01", "known_at": "2024-04-01"}, set()),
        # superseded is known, and says so
        ({"known_at": JUNE}, {OLD, NEW}),
    ],
)
def test_as_of_sees_what_was_true_then(corrected, when, expected):
    assert set(texts(corrected, "What does Ana do?", **when)) == expected


def test_what_was_superseded_says_so(corrected):
    def status(**when):
        return {hit.note.raw[0]: hit.note.status for hit in corrected.search("Ana", user_id="ana", **when)}[OLD]

    assert (status(as_of="2024-03-01"), status(known_at=JUNE), status(known_at=MAY)) == (
        *["superseded"] * 2,
        "active",
    )


def test_as_of_never_shows_what_is_deleted_nor_an_old_text(memory, clock):
    move(memory, clock)
    memory.add({"id": "pet", "text": "Ana has a cat.", "time": "2024-01-01"}, user_id="ana")
    memory.update("pet", "Ana has a dog.", user_id="ana")
    for as_of in ("2024-02-01", MAY, JULY, AUGUST):
        assert texts(memory, as_of=as_of) == ["Ana has a dog. (1 January, 2024)"]


def test_what_is_archived_is_known_and_not_looked_for_in_the_world(memory, clock):
    memory.add({"id": "home", "text": "Ana lives in Lisbon.", "time": "2024-01-01"}, user_id="ana")
    note = memory.get("home", user_id="ana")
    clock.at = JUNE
    revise(memory, note, status="archived")
    assert texts(memory) == texts(memory, as_of=JULY) == texts(memory, as_of=JULY, known_at=JULY) == []
    assert [hit.note.status for hit in memory.search("Ana", user_id="ana", known_at=JULY)] == ["archived"]
    assert len(texts(memory, as_of=JULY, known_at=MAY)) == 1


# ---- times as they are given ----------------------------------------------------------------


def test_a_day_means_its_end(moved):
    assert texts(moved, known_at="2024-05-31") == ["Ana lives in Lisbon."]
    assert texts(moved, known_at="2024-06-01") == ["Ana lives in Porto."]
    assert texts(moved, known_at="2024-06-01T11:59:59") == ["Ana lives in Lisbon."]
    assert texts(moved, known_at="2024-06-01T13:00:00+02:00") == ["Ana lives in Lisbon."]


@pytest.mark.parametrize("name", ["as_of", "known_at"])
@pytest.mark.parametrize("wrong", ["tomorrow", "", "2024-13-01", 7, "\ud800", "2024-05-01\0"])
def test_a_time_that_is_none_is_refused(untouched, name, wrong):
    with pytest.raises(InvalidInput, match=name):
        untouched.search("Lisbon", user_id="ana", **{name: wrong})


@pytest.fixture(scope="module")
def settled(kept):
    """A memory of one note, which is only read."""
    return kept(lambda memory: memory.add("Ana lives in Lisbon.", user_id="ana"), clock=Clock(MAY))


@pytest.mark.parametrize("name", ["as_of", "known_at"])
@pytest.mark.parametrize(
    ("far", "expected"),
    [
        ("0001-01-01", 0),
        ("0001-01-01T00:00:00+14:00", 0),
        ("0002-01-01T00:00:00+14:00", 0),
        (datetime.min, 0),  # noqa: DTZ901  as a caller may
        ("9998-12-31T23:59:59-12:00", 1),
        ("9999-12-31", 1),
        (datetime.max, 1),  # noqa: DTZ901
        (datetime.max.replace(tzinfo=UTC), 1),
        ("9999-12-31T23:59:59-12:00", 1),
    ],
)
def test_the_first_and_the_last_year_are_times_like_others(settled, name, far, expected):
    assert len(texts(settled, **{name: far})) == expected


# ---- beside everything else -----------------------------------------------------------------


def test_a_search_without_a_time_never_sees_the_past(memory, clock):
    memory.add({"id": "home", "text": "Ana lives in Lisbon."}, user_id="ana")
    for day in range(8):
        clock.at = JUNE + timedelta(days=day)
        memory.update("home", f"Ana lives in house {day}.", user_id="ana")
    (hit,) = memory.search("Lisbon", user_id="ana", explain=True)
    assert hit.note.raw == ("Ana lives in house 7.",)
    assert "lexical" not in hit.explanation.proposed_by
    assert texts(memory, as_of=AUGUST) == ["Ana lives in house 7."]


def test_the_past_of_a_scope_is_its_own(memory, clock):
    for user in ("ana", "bo", "ana/"):
        memory.add({"id": "home", "text": f"The key of {user} is under the pot."}, user_id=user)
    memory.add({"id": "home", "text": "The shared key is under the pot."}, shared=True)
    clock.at = JUNE
    for user in ("bo", "ana/"):
        memory.update("home", f"The key of {user} is gone.", user_id=user)
    memory.delete("home", shared=True)
    own, shared = "The key of ana is under the pot.", "The shared key is under the pot."
    for when, expected in (
        ({"known_at": MAY}, {own, shared}),
        ({"known_at": JUNE}, {own}),
        ({"as_of": JUNE}, {own}),
        ({"as_of": MAY, "known_at": MAY}, {own, shared}),
    ):
        assert set(texts(memory, "Where is the key under the pot?", **when)) == expected


def test_history_shows_keywords_and_sources_of_each_version(moved):
    first, second, third = (version.note for version in moved.history("home", user_id="ana"))
    assert "lisbon" in first.keywords
    assert "porto" not in first.keywords
    assert "porto" in second.keywords
    assert third.keywords == second.keywords
    assert [note.sources[0].text for note in (first, second, third)] == [
        "Ana lives in Lisbon.",
        "Ana lives in Porto.",
        "Ana lives in Porto.",
    ]


def test_time_is_asked_for_in_the_same_way_on_asyncio(moved):
    hits = asyncio.run(AsyncMemory(moved).search("Where does Ana live?", user_id="ana", as_of=JUNE, known_at=JUNE))
    assert [hit.note.raw[0] for hit in hits] == ["Ana lives in Porto."]


ZONES = ["Pacific/Auckland", "Europe/Berlin", "UTC", "America/Los_Angeles"]


@pytest.mark.parametrize("zone", ZONES)
def test_the_days_of_a_time_without_an_offset_are_those_of_the_settings(tenant, embedder, zone):
    with Memory.connect(tenant=tenant, embedder=embedder, settings=Settings.load(timezone=zone)) as memory:
        for user, time in (("day", "2024-07-10"), ("night", "2024-07-10T00:30"), ("late", "2024-07-10T23:30")):
            memory.add("Yesterday I sold the boat.", user_id=user, time=time)
            context = memory.context("When did I sell the boat?", user_id=user).text
            assert "2024-07-10 (Wed)" in context
            assert "[Yesterday: 9 July, 2024]" in context
            found = memory.search("What did I sell on 10 July 2024?", user_id=user, explain=True)
            assert "time" in found[0].explanation.proposed_by


def test_the_days_of_a_time_with_an_offset_are_its_own(tenant, embedder):
    with Memory.connect(tenant=tenant, embedder=embedder, settings=Settings.load(timezone="Europe/Berlin")) as memory:
        memory.add("Yesterday I sold the boat.", user_id="ana", time="2024-07-10T23:30:00-07:00")
        assert "[Yesterday: 9 July, 2024]" in memory.context("When did I sell the boat?", user_id="ana").text


SPELT = ["2026-05-04T09:00:00Z", "2026-05-04T09:00:00+00:00", "2026-05-04T11:00+02:00", "20260504T090000Z"]


def test_one_moment_in_several_spellings_is_one_message(memory):
    for time in SPELT:
        memory.add({"role": "user", "content": "Is the ram back?", "time": time, "session": "s"}, user_id="ana")
    memory.add({"role": "user", "content": "Is the ram back?", "time": "2026-05-04", "session": "s"}, user_id="ana")
    told = memory.prompt("And now?", user_id="ana", session="s").messages
    assert [one["content"] for one in told].count("Is the ram back?") == 2  # a day is no moment
    assert memory.stats(user_id="ana").sources == 2


@pytest.mark.parametrize("at", [datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)], ids=str)
def test_a_clock_beyond_what_a_memory_knows_is_refused(memory, clock, at):
    memory.add("I moved to Lisbon.", user_id="ana")
    clock.at = at
    for call in (lambda: memory.add("I moved to Faro.", user_id="ana"), lambda: memory.search("Faro", user_id="ana")):
        with pytest.raises(InvalidInput, match=r"The clock says .*set the clock right"):
            call()
