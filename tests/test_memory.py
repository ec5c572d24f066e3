"""What a program can do with a Memory, on the real database."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from memgraph_engine import Memory, Session, Tenant, User
from memgraph_engine.errors import InvalidInput, NotFound, SourceConflict
from memgraph_engine.graph import notes
from memgraph_engine.testing import purge

ANA = [
    {"id": "D1:1", "speaker": "Bo", "text": "Where do you live now?", "session": "s1", "time": "2023-05-08T13:55:00"},
    {
        "id": "D1:2",
        "speaker": "Ana",
        "text": "I moved to Lisbon in March.",
        "session": "s1",
        "time": "2023-05-08T13:56:00",
    },
    {
        "id": "D1:3",
        "speaker": "Bo",
        "text": "Do you still paint boats?",
        "session": "s1",
        "time": "2023-05-08T13:57:00",
    },
    {
        "id": "D2:1",
        "speaker": "Ana",
        "text": "My sister opened a bakery.",
        "session": "s2",
        "time": "2023-06-01T09:00:00",
    },
]


@pytest.fixture
def ana(memory):
    memory.add_many(ANA, user_id="ana")
    return memory


def contexts(hits):
    return [hit.note.context for hit in hits]


def test_the_contract_of_the_readme(memory):
    memory.add_many(
        [
            {
                "id": "D1:3",
                "speaker": "Ana",
                "text": "I moved to Lisbon in March.",
                "session": "session_1",
                "time": "2023-05-08T13:56:00",
            }
        ],
        user_id="ana",
    )
    memory.add("I work at the aquarium now.", user_id="ana")
    hits = memory.search("Where does Ana live?", user_id="ana", top_k=20)
    assert hits[0].sources[0].id == "D1:3"
    assert "Lisbon" in hits[0].note.context
    assert 0 <= hits[-1].score <= hits[0].score <= 1


def test_a_chat_message_is_remembered_with_its_role(memory):
    memory.add(
        [{"role": "user", "content": "I am allergic to nuts."}, {"role": "assistant", "content": "Noted."}],
        user_id="ana",
    )
    first = memory.search("What is the user allergic to?", user_id="ana")[0]
    assert (first.note.role, first.note.raw) == ("user", ("ana: I am allergic to nuts.",))


def test_a_note_keeps_the_source_verbatim(memory):
    text = "  Two  spaces,\n\ta tab – and “quotes”.  "
    memory.add({"id": "x", "text": text, "metadata": {"deep": {"list": [1, 2]}}}, user_id="ana")
    (source,) = memory.get("x", user_id="ana").sources
    assert (source.text, source.metadata) == (text, {"deep": {"list": [1, 2]}})


def test_a_context_holds_its_own_words_and_behind_them_the_turn_before(ana):
    assert ana.get("D1:2", user_id="ana").context == (
        "Ana: I moved to Lisbon in March. (1:56 pm on 8 May, 2023) [before: Bo: Where do you live now?]"
    )


def test_the_first_turn_of_a_session_stands_alone(ana):
    note = ana.get("D2:1", user_id="ana")
    assert note.context == note.raw[0]


def test_a_session_goes_on_in_a_later_call(ana):
    ana.add({"id": "D1:4", "speaker": "Ana", "text": "Every Sunday.", "session": "s1"}, user_id="ana")
    note = ana.get("D1:4", user_id="ana")
    assert note.seq == 3
    assert note.context == "Ana: Every Sunday. [before: Bo: Do you still paint boats?]"


def test_what_is_said_again_is_a_repeat(ana):
    before = ana.stats(user_id="ana")
    receipt = ana.add_many(ANA, user_id="ana")
    assert [entry.kind for entry in receipt.entries] == ["repeat"] * 4
    assert receipt.entries[1].note == ana.get("D1:2", user_id="ana").id
    assert ana.stats(user_id="ana") == before


def test_the_same_words_in_another_session_are_another_source(memory):
    for session in ("a", "b"):
        memory.add("See you tomorrow at the harbour.", session=session, user_id="ana")
    assert memory.stats(user_id="ana").sources == 2


def test_a_message_twice_in_a_batch_is_stored_once(memory):
    receipt = memory.add_many(["The tide is out.", "The tide is out."], user_id="ana")
    assert [entry.kind for entry in receipt.entries] == ["append", "repeat"]
    assert receipt.entries[0].note == receipt.entries[1].note


def test_an_id_with_another_text_is_refused_and_nothing_of_the_batch_is_written(ana):
    before = ana.stats(user_id="ana")
    with pytest.raises(SourceConflict, match=r"'D1:2'.*update"):
        ana.add_many([{"id": "new", "text": "New."}, {**ANA[1], "text": "I moved to Porto."}], user_id="ana")
    assert ana.stats(user_id="ana") == before


def test_an_update_is_found_and_the_old_text_is_not(ana):
    ana.update("D1:2", "I moved to Porto in March.", user_id="ana")
    found = contexts(ana.search("Where does Ana live?", user_id="ana"))
    assert any("Porto" in context for context in found)
    assert not any("Lisbon" in context for context in found)


def test_an_update_is_known_when_the_old_text_comes_again(ana):
    ana.update("D1:2", "I moved to Porto in March.", user_id="ana")
    assert ana.add_many(ANA, user_id="ana").repeats == 4
    assert "Porto" in ana.get("D1:2", user_id="ana").context


def test_history_keeps_the_old_version_and_who_made_the_new_one(ana):
    decision = ana.update("D1:2", "I moved to Porto in March.", user_id="ana")
    old, new = ana.history("D1:2", user_id="ana")
    assert "Lisbon" in old.note.raw[0]
    assert "Porto" in new.note.raw[0]
    assert (old.decision.kind, new.decision) == ("link", decision)
    assert old.note.superseded_at == new.note.recorded_at == decision.at
    assert old.note.created_at == new.note.created_at


def test_what_is_deleted_is_found_nowhere(ana):
    ana.delete("D1:2", user_id="ana")
    assert not any("Lisbon" in context for context in contexts(ana.search("Lisbon", user_id="ana")))
    assert not any("Lisbon" in note.context for note in ana.get_all(user_id="ana"))
    with pytest.raises(NotFound):
        ana.get("D1:2", user_id="ana")


def test_what_is_deleted_stays_recoverable(ana):
    decision = ana.delete("D1:2", user_id="ana")
    versions = ana.history("D1:2", user_id="ana")
    assert [version.note.status for version in versions] == ["active", "deleted"]
    assert versions[-1].decision == decision
    assert decision.kind == "delete"


def test_what_is_deleted_does_not_come_back_when_it_is_said_again(ana):
    ana.delete("D1:2", user_id="ana")
    ana.add_many(ANA, user_id="ana")
    assert not any("Lisbon" in note.context for note in ana.get_all(user_id="ana"))


def test_deleting_twice_says_that_it_is_deleted(ana):
    ana.delete("D1:2", user_id="ana")
    with pytest.raises(NotFound, match="deleted"):
        ana.delete("D1:2", user_id="ana")


def test_delete_all_leaves_nothing_to_find_and_other_users_alone(ana):
    ana.add("Bo's own note about Lisbon.", user_id="bo")
    ana.delete_all(user_id="ana")
    assert ana.search("Lisbon", user_id="ana") == []
    assert len(ana.search("Lisbon", user_id="bo")) == 1
    assert ana.stats(user_id="ana").notes == {"deleted": 4}
    assert ana.verify(user_id="ana") == []


@pytest.fixture
def house(ana):
    fields = {"role": "assistant", "agent": "helper", "metadata": {"doors": [1, 2]}}
    ana.add("The pump in the cellar hums.", id="A:1", policy="canonical", **fields, user_id="ana")
    ana.add("Roses grow by the wall.", id="A:2", tags=["garden", "wall"], metadata={"floor": 2}, user_id="ana")
    return ana


def ids(some):
    return [note.sources[0].id for note in some]


NARROWED = [
    ({}, ["D1:1", "D1:2", "D1:3", "D2:1", "A:1", "A:2"]),
    ({"session": "s1"}, ["D1:1", "D1:2", "D1:3"]),
    ({"speaker": "Ana"}, ["D1:2", "D2:1"]),
    ({"speaker": "Ana", "since": "2023-06-01"}, ["D2:1"]),
    ({"until": "2023-05-08"}, ["D1:1", "D1:2", "D1:3"]),
    ({"role": "assistant"}, ["A:1"]),
    ({"agent": "helper"}, ["A:1"]),
    ({"tags": ["garden", "floor=2"]}, ["A:2"]),
    ({"any_tags": ["wall", "pond"]}, ["A:2"]),
    ({"policy": ["canonical"]}, ["A:1"]),
    ({"not_policy": ["factual"]}, ["A:1"]),
    ({"metadata": {"floor": 2}}, ["A:2"]),
    ({"metadata": {"doors": [1, 2]}}, ["A:1"]),
    ({"session": "s9"}, []),
]


def test_the_filters_of_a_search_narrow_what_is_listed_and_deleted(house, monkeypatch):
    monkeypatch.setattr(notes, "_PAGE", 2)
    monkeypatch.setattr("memgraph_engine.writing.deletion._SOME", 2)
    every = {one.id for one in house.get_all(user_id="ana")}
    assert len(every) == 6
    for filters, expected in NARROWED:
        narrowed = list(house.get_all(user_id="ana", **filters))
        assert ids(narrowed) == expected, filters
        deletion = house.delete_all(user_id="ana", **filters)
        assert deletion.notes == len(expected), filters
        assert {note.id for note in house.get_all(user_id="ana")} == every - {one.id for one in narrowed}, filters
        assert house.verify(user_id="ana") == [], filters
        for decision in deletion.decisions:
            house.undo(decision.id, user_id="ana")
        assert {one.id for one in house.get_all(user_id="ana")} == every, filters


def test_a_listing_has_no_looks_back(ana):
    for call in (ana.get_all, ana.delete_all):
        with pytest.raises(TypeError, match=r"no filter 'as_of'\..* The filters are session, .*metadata\."):
            call(user_id="ana", as_of="2023-05-08")
    assert len(list(ana.get_all(user_id="ana"))) == 4


@pytest.mark.parametrize("filters", [{"session": None}, {"tags": []}, {"metadata": {}}, {"since": None}], ids=str)
def test_an_empty_filter_deletes_nothing(ana, filters):
    with pytest.raises(InvalidInput, match="is empty, so every note would be deleted"):
        ana.delete_all(user_id="ana", **filters)
    assert ana.delete_all(user_id="ana", session="").notes == 0
    assert len(list(ana.get_all(user_id="ana", **filters))) == 4


def test_users_and_sessions_are_those_of_one_tenant(ana, tenant, embedder):
    ana.add("Bo's own note about Lisbon.", user_id="bo")
    ana.add("The office closes at six.", shared=True, session="office")
    other = f"{tenant}-other"
    try:
        with Memory.connect(tenant=other, embedder=embedder) as theirs:
            theirs.add("The office closes at five.", user_id="ana", session="theirs")
            assert theirs.users() == [User("ana", 1)]
        assert ana.users() == [User("ana", 4), User("bo", 1)]
        begin, end = (datetime(2023, 5, 8, 13, minute, tzinfo=UTC) for minute in (55, 57))
        moved = datetime(2023, 6, 1, 9, tzinfo=UTC)
        assert ana.sessions(user_id="ana") == [Session("s2", 1, moved, moved), Session("s1", 3, begin, end)]
        assert ana.sessions(user_id="bo") == ana.sessions(user_id="nobody") == []
        assert ana.sessions(shared=True) == [Session("office", 1)]
        known = {one.name: one for one in ana.tenants()}
        assert (known[tenant], known[other]) == (Tenant(tenant, 2, 6), Tenant(other, 1, 1))
    finally:
        purge(other)


def test_what_a_user_lost_is_a_user_without_notes(ana):
    ana.delete_all(user_id="ana")
    assert ana.users() == [User("ana", 0)]


def test_a_message_is_given_by_its_fields(memory):
    memory.add(
        text="I moved.", speaker="Ana", id="1", session="s1", time="2023-05-08", metadata={"x": 1}, user_id="ana"
    )
    note = memory.get("1", user_id="ana")
    assert (note.text, note.speaker, note.session, note.metadata) == ("I moved.", "Ana", "s1", {"x": 1})
    with pytest.raises(InvalidInput, match="not both"):
        memory.add("I moved.", text="I moved.", user_id="ana")
    with pytest.raises(InvalidInput, match="the text is empty; give at least one word"):
        memory.add(user_id="ana")


@pytest.mark.parametrize("language", ["english", "spanish", "cjk", "standard"])
def test_the_text_of_a_note_is_its_own_words(tenant, embedder, language):
    with Memory.connect(tenant=tenant, embedder=embedder, language=language) as memory:
        memory.add_many([{**one, "caption": "a boat (blue)"} for one in ANA], user_id="ana")
        texts = [note.text for note in memory.get_all(user_id="ana")]
        assert texts == [one["text"] for one in ANA]
        assert memory.search("boats", user_id="ana", session="s1")[0].note.text in texts


def test_the_text_and_metadata_of_a_merged_note_are_those_of_its_sources(memory):
    for id_, text, metadata in (
        ("1", "I moved to Lisbon.", {"room": "blue", "floor": 1}),
        ("2", "Well, I moved to Lisbon, you know!", {"floor": 2}),
        ("3", "I moved  to Lisbon.", {}),
    ):
        memory.add(text, id=id_, speaker="Ana", time=f"2023-05-0{id_}", metadata=metadata, user_id="ana")
    note = memory.get("1", user_id="ana")
    assert len(note.sources) == 3
    assert note.text == "I moved to Lisbon.\nWell, I moved to Lisbon, you know!"
    assert note.metadata == {"room": "blue", "floor": 2}
    memory.update(note.id, "I moved to Porto.", user_id="ana")
    assert memory.get(note.id, user_id="ana").text == "I moved to Porto."


def test_get_takes_the_id_of_a_note_or_of_a_source(ana):
    note = ana.get("D1:2", user_id="ana")
    assert ana.get(note.id, user_id="ana") == note


def test_a_note_of_another_user_is_not_found(ana):
    note = ana.get("D1:2", user_id="ana")
    for id_ in ("D1:2", note.id):
        for call in (ana.get, ana.history, ana.delete):
            with pytest.raises(NotFound):
                call(id_, user_id="bo")


def test_vectors_are_those_that_the_embedder_gives_the_contexts(ana, monkeypatch):
    monkeypatch.setattr(notes, "_PAGE", 3)
    ana.add("This one is not constructed yet.", user_id="ana", wait=False)
    ana.delete("D1:3", user_id="ana")
    vectors = ana.vectors(user_id="ana")
    known = {note.id: note.context for note in ana.get_all(user_id="ana") if note.status == "active"}
    assert vectors.keys() == known.keys()
    for (note, context), vector in zip(
        known.items(), ana.engine.embedder.embed_documents([*known.values()]), strict=True
    ):
        assert vectors[note] == pytest.approx(vector, abs=1e-5), context


def test_get_all_lists_in_the_order_of_arrival(ana):
    assert [note.sources[0].id for note in ana.get_all(user_id="ana")] == [message["id"] for message in ANA]


def test_get_all_reads_more_than_a_page(ana, monkeypatch):
    monkeypatch.setattr(notes, "_PAGE", 2)
    assert [note.sources[0].id for note in ana.get_all(user_id="ana")] == [message["id"] for message in ANA]


def test_shared_memory_is_read_beside_the_users_own(ana):
    ana.add("The office in Lisbon closes at six.", shared=True)
    own = contexts(ana.search("Lisbon", user_id="ana"))
    assert any("office" in context for context in own)
    assert any("moved" in context for context in own)
    assert contexts(ana.search("Lisbon", shared=True)) == ["The office in Lisbon closes at six."]


def test_whose_memory_is_meant_must_be_said(untouched):
    with pytest.raises(InvalidInput, match="user_id is required"):
        untouched.search("Lisbon")
    with pytest.raises(InvalidInput, match="leave user_id out"):
        untouched.add("x", user_id="ana", shared=True)


def test_stats_count_what_is_there(ana):
    stats = ana.stats(user_id="ana")
    assert (stats.notes, stats.sources, stats.sessions, stats.decisions) == ({"active": 4}, 4, 2, 5)
    assert stats.keywords > 0


def test_verify_finds_what_was_tampered_with(ana, server):
    import neo4j

    assert ana.verify(user_id="ana") == []
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        driver.execute_query(
            "MATCH (n:Note {scope: $s}) WITH n LIMIT 1 DETACH DELETE n", s=f"{ana.engine.settings.tenant}/ana"
        )
    assert ana.verify(user_id="ana")


def test_times_are_read_in_the_setting_and_stored_in_utc(tenant, embedder):
    from memgraph_engine import Settings

    settings = Settings.load(tenant=tenant, timezone="America/New_York")
    with Memory.connect(settings=settings, embedder=embedder) as memory:
        memory.add({"id": "x", "text": "Late.", "time": "2023-05-08T23:30:00"}, user_id="ana")
        note = memory.get("x", user_id="ana")
    assert note.said_at == datetime(2023, 5, 9, 3, 30, tzinfo=UTC)
    assert "8 May, 2023" in note.raw[0]


def test_a_repeat_of_what_was_deleted_says_so(ana):
    ana.delete("D1:2", user_id="ana")
    assert [entry.status for entry in ana.add_many(ANA, user_id="ana").entries] == [
        "active",
        "deleted",
        "active",
        "active",
    ]


def test_an_update_to_the_same_text_changes_nothing(ana):
    first = ana.update("D1:2", "I moved to Porto in March.", user_id="ana")
    assert ana.update("D1:2", "I moved to Porto in March.", user_id="ana") == first
    assert len(ana.history("D1:2", user_id="ana")) == 2


def test_history_is_in_order_whatever_the_clock_says(tenant, embedder):
    noon = datetime(2024, 1, 1, 12, tzinfo=UTC)
    with Memory.connect(tenant=tenant, embedder=embedder, clock=lambda: noon) as memory:
        memory.add({"id": "x", "text": "One."}, user_id="ana")
        memory.update("x", "Two.", user_id="ana")
        memory.update("x", "Three.", user_id="ana")
        memory.delete("x", user_id="ana")
        versions = memory.history("x", user_id="ana")
    assert [version.note.raw[0] for version in versions] == ["One.", "Two.", "Three.", "Three."]
    assert [version.decision.kind for version in versions] == ["append", "update", "update", "delete"]


def test_a_conflict_late_in_a_long_list_leaves_nothing_written(memory):
    memory.add({"id": "c150", "text": "The original."}, user_id="ana")
    with pytest.raises(SourceConflict, match="c150"):
        memory.add_many([{"id": f"c{i}", "text": f"Text {i}."} for i in range(160)], user_id="ana")
    assert memory.stats(user_id="ana").sources == 1


def test_an_id_that_means_two_notes_is_told(memory):
    note = memory.add({"id": "first", "text": "An alpha boat."}, user_id="ana").entries[0].note
    memory.add({"id": note, "text": "A beta train."}, user_id="ana")
    for call in (memory.get, memory.delete, memory.history):
        with pytest.raises(InvalidInput, match="another note"):
            call(note, user_id="ana")


def test_history_of_a_shared_note_is_read_as_get_reads_it(memory):
    memory.add({"id": "sh", "text": "The office closes at six."}, shared=True)
    assert len(memory.history("sh", user_id="ana")) == 1
    with pytest.raises(NotFound):
        memory.delete("sh", user_id="ana")


def test_a_client_follows_a_memory_that_was_made_anew_in_another_language(tenant, embedder):
    with Memory.connect(tenant=tenant, embedder=embedder) as first:
        first.add("Hello.", user_id="ana")
        purge(tenant)
        with Memory.connect(tenant=tenant, language="spanish", embedder=embedder) as second:
            second.add("Hola.", user_id="ana")
        first.add("Mis hermanas corrían por las calles.", user_id="ana")
        best = first.search("¿Quién corre?", user_id="ana", explain=True)[0]
        assert best.explanation.channels["lexical_raw"].raw > 0


def test_threads_share_a_memory_while_its_tenant_is_purged(memory, tenant):
    memory.add("Before.", user_id="ana")
    purge(tenant)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda i: memory.add(f"Text number {i}.", user_id="ana"), range(6)))
    assert memory.stats(user_id="ana").sources == 6
