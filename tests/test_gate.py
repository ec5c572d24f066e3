"""What becomes of a new note: it repeats, completes, corrects or contradicts what is known, or stands alone."""

from dataclasses import replace
from uuid import uuid4

import pytest

from memgraph_engine import Memory
from memgraph_engine.errors import NotFound
from memgraph_engine.testing import purge

ADOPTED = "I adopted a grey cat from the shelter in Porto."
AGAIN = "I adopted a grey  cat from the shelter in Porto."
RESTATED = "From the shelter in Porto I adopted a grey cat."
REPORTED = "Ana adopted a lovely grey cat from the animal shelter in Porto."
LIVED = "I live in Lisbon with my sister."
MOVED = "I no longer live in Lisbon with my sister, I moved to Madeira."

# everyday facts that have nothing to do with each other, and a few lines that do
TALK = [
    ("Ana", "I live in Lisbon with my sister."),
    ("Bo", "The bakery next door burnt its bread this morning."),
    ("Ana", "Thanks!"),
    ("Bo", "Our beekeeper sold two hives to the monastery in May."),
    ("Ana", "I live in Lisbon with my sister."),
    ("Bo", "In May our beekeeper sold two hives to the monastery."),
    ("Ana", "My dentist plays the cello in an orchestra."),
    ("Ana", "I no longer live in Lisbon with my sister, I moved to Madeira."),
    ("Bo", "Our beekeeper never sold two hives to the monastery."),
    ("Ana", "I live in Lisbon with my sister."),
]


@pytest.fixture
def ana(memory):
    """A memory whose counts and ties are in order at the end of each test."""
    yield memory
    assert memory.verify(user_id="ana") == []


def say(memory, text, id, speaker="Ana", user="ana", **fields):
    return memory.add({"id": id, "text": text, "speaker": speaker, **fields}, user_id=user).entries[0]


def talk(prefix="t", turns=TALK, **fields):
    return [
        {"id": f"{prefix}{n}", "speaker": who, "text": text, "session": prefix, **fields}
        for n, (who, text) in enumerate(turns)
    ]


def with_gate(memory, **changes):
    settings = memory.engine.settings
    gate = settings.gate.model_copy(update=changes)
    return Memory(replace(memory.engine, settings=settings.model_copy(update={"gate": gate})))


def ids(sources):
    return sorted(source.id for source in sources)


def found(memory, question, user="ana"):
    return [hit.note.id for hit in memory.search(question, user_id=user)]


# ---- repeats and restatements -----------------------------------------------------------------


def test_a_plain_repeat_makes_no_note_and_its_source_is_found(ana):
    first, second = say(ana, ADOPTED, "1"), say(ana, AGAIN, "2")
    assert (second.kind, second.note) == ("reinforce", first.note)
    assert ana.get("2", user_id="ana").id == first.note
    assert ids(ana.get("1", user_id="ana").sources) == ["1", "2"]
    assert [source.text for source in ana.get("2", user_id="ana").sources] == [ADOPTED, AGAIN]


def test_a_plain_repeat_leaves_the_words_as_they_are(ana):
    say(ana, ADOPTED, "1")
    before = ana.get("1", user_id="ana")
    say(ana, AGAIN, "2")
    after = ana.get("1", user_id="ana")
    assert (after.raw, after.context, after.keywords) == (before.raw, before.context, before.keywords)


def test_a_restatement_joins_the_note_with_its_own_line(ana):
    first, second = say(ana, ADOPTED, "1"), say(ana, RESTATED, "2")
    note = ana.get("2", user_id="ana")
    assert (second.kind, note.id) == ("merge", first.note)
    assert note.raw == (f"Ana: {ADOPTED}", f"Ana: {RESTATED}")
    assert ids(note.sources) == ["1", "2"]


@pytest.mark.parametrize(
    ("said", "reported"),
    [
        (
            "We got stuff like canned soup, blankets, and tents to help out.",
            "Ana and her team raised donations like canned soup, blankets, and tents for the cause.",
        ),
        (
            "I'd really appreciate your help with baking bread and managing my stall.",
            "Ana plans to collaborate with Bo on baking bread and managing her market stall to promote the bakery.",
        ),
    ],
)
def test_a_report_of_what_was_said_is_no_news_of_it(ana, said, reported):
    note = say(ana, said, "1").note
    told = say(ana, reported, "2")
    assert (told.kind, told.note) == ("merge", note)


def test_a_report_of_what_has_changed_is_news(ana):
    note = say(ana, "I live in Lisbon.", "1").note
    say(ana, "Ana moved to Faro in May and loves it.", "2")
    assert [(tie.note, tie.kind) for tie in ana.explain("2", user_id="ana").ties] == [(note, "change")]


@pytest.mark.parametrize(
    ("new", "old"),
    [("I have 3 kids.", "I have three kids."), ("I cannot swim.", "I can't swim."), ("I eat at 8.", "I eat at eight.")],
)
def test_what_is_only_spelt_otherwise_joins_however_short(ana, new, old):
    assert say(ana, new, "2").note == say(ana, old, "1").note


def test_a_merged_note_has_the_keywords_of_both(ana):
    say(ana, ADOPTED, "1")
    before = set(ana.get("1", user_id="ana").keywords)
    say(ana, REPORTED, "2")
    assert before < set(ana.get("1", user_id="ana").keywords)


def test_a_merged_note_has_eight_keywords_at_most(ana):
    note = say(ana, "I saw a mast, a keel, an anchor and a rudder at the old lifeboat museum.", "1").note
    report = "Ana saw an oak mast, a copper keel, an iron anchor and a rudder at the old lifeboat museum."
    assert say(ana, report, "2").note == note
    assert len(ana.get(note, user_id="ana").keywords) == 8


def test_any_two_lines_of_a_merged_note_say_the_same(ana):
    note = say(ana, "I flew from Rome to Oslo with Tom on Monday.", "1").note
    assert say(ana, "I flew to Oslo from Rome with Tom on Monday.", "2").note == note
    third = say(ana, "I flew from Rome to Oslo on Monday with Tom.", "3")
    assert third.note != note
    assert [tie.note for tie in ana.explain("3", user_id="ana").ties] == [note]


def test_a_merged_note_is_found_by_the_words_of_each_line(ana):
    note = say(ana, ADOPTED, "1").note
    say(ana, REPORTED, "2")
    assert found(ana, "lovely animal")[0] == note
    assert found(ana, "grey cat")[0] == note


def test_a_merge_takes_over_the_tags_of_each_source(ana):
    say(ana, ADOPTED, "1", tags=["pets"])
    say(ana, RESTATED, "2", tags=["home"])
    assert ana.get("1", user_id="ana").tags == ("home", "pets")
    assert found(ana, "cat")
    assert all(len(ana.search("cat", user_id="ana", tags=[tag])) == 1 for tag in ("home", "pets"))
    assert ana.search("cat", user_id="ana", tags=["home", "pets"]) == []  # no source has both


@pytest.mark.parametrize(
    ("other", "tie"),
    [
        ("I did not adopt a grey cat from the shelter in Porto.", "conflict"),
        ("I adopted a grey cat from the shelter in Faro.", "conflict"),
        ("Bo adopted a grey cat from the shelter in Porto.", "link"),
    ],
)
def test_what_contradicts_a_note_or_tells_of_another_one_never_joins_it(ana, other, tie):
    first, second = say(ana, ADOPTED, "1"), say(ana, other, "2")
    assert second.note != first.note
    assert {one.kind for one in ana.explain("2", user_id="ana").ties} == {tie}


def test_another_number_is_another_note(ana):
    first = say(ana, "Our beekeeper sold two hives to the monastery.", "1")
    second = say(ana, "Our beekeeper sold three hives to the monastery.", "2")
    assert second.note != first.note


def test_the_same_words_of_another_speaker_are_another_note(ana):
    first, second = say(ana, ADOPTED, "1"), say(ana, ADOPTED, "2", speaker="Bo")
    assert second.note != first.note
    assert ana.get("2", user_id="ana").raw == (f"Bo: {ADOPTED}",)


def test_the_same_words_on_another_day_are_another_note(ana):
    text = "I ran ten miles along the river today."
    first, second = say(ana, text, "1", time="2023-06-05"), say(ana, text, "2", time="2023-06-07")
    assert second.note != first.note
    assert say(ana, text, "3", time="2023-06-07T20:00:00").note == second.note


def test_a_day_in_a_line_of_a_merged_note_is_read_by_the_line_s_own_date(ana):
    first = say(ana, "Ana ran on 6 June, 2023 along the river.", "1", time="2023-06-08")
    same = say(ana, "I ran yesterday along the river.", "2", time="2023-06-07")
    other = say(ana, "I ran yesterday along the river.", "3", time="2023-06-08")
    assert same.note == first.note
    assert other.note != first.note


# ---- corrections ------------------------------------------------------------------------------


def test_a_correction_that_says_so_takes_the_place_of_the_old_note(ana):
    old = say(ana, LIVED, "old", time="2023-05-01")
    new = say(ana, MOVED, "new", time="2023-06-01")
    assert (new.kind, old.note) == ("supersede", ana.explain("new", user_id="ana").ties[0].note)
    assert old.note not in found(ana, "Where does Ana live?")
    assert new.note in found(ana, "Where does Ana live?")


@pytest.mark.parametrize("others", range(8))
def test_a_correction_is_noticed_however_much_else_is_known(ana, others):
    say(ana, "I live in Lisbon.", "old")
    ana.add_many(talk(turns=[turn for turn in TALK if turn[1] not in (LIVED, MOVED)][:others]), user_id="ana")
    assert say(ana, "I no longer live in Lisbon, I moved to Madeira.", "new").kind == "supersede"


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ("The ferry to Madeira leaves at noon.", "I no longer live in Lisbon, I moved to Madeira."),
        ("My parents live in Lisbon.", "I no longer live in Lisbon."),
        ("The children of the harbour school eat fish.", "I no longer eat fish."),
    ],
)
def test_a_correction_leaves_alone_what_is_of_something_else(ana, kept, said):
    older = [say(ana, line, f"old {n}").note for n, line in enumerate(("I live in Lisbon.", "I eat fish.", kept))]
    say(ana, said, "new")
    assert older[-1] in found(ana, kept)


@pytest.mark.parametrize("day", ["2023-05-02", "2023-05-20"], ids=["ahead", "past"])
def test_what_is_put_off_hides_nothing(ana, day):
    old = say(ana, "The choir's concert in the harbour hall is on 5 May 2023.", "old", time="2023-05-01")
    put_off = "Actually the choir's concert in the harbour hall is on 25 May 2023."
    assert say(ana, put_off, "new", time=day).kind == "link"
    assert [(tie.note, tie.kind) for tie in ana.explain("new", user_id="ana").ties] == [(old.note, "change")]


def test_what_was_corrected_is_still_told_and_was_true_until_then(ana):
    say(ana, LIVED, "old", time="2023-05-01")
    say(ana, MOVED, "new", time="2023-06-01")
    with pytest.raises(NotFound, match="superseded"):
        ana.get("old", user_id="ana")
    last = ana.history("old", user_id="ana")[-1]
    assert (last.note.status, last.decision.kind) == ("superseded", "supersede")
    assert f"{last.note.valid_to:%Y-%m-%d}" == "2023-06-01"
    story = ana.explain("old", user_id="ana")
    made = [decision.kind for decision in story.decisions if decision.kind != "profile"]
    assert made == ["append", "supersede"]
    assert [(tie.kind, tie.newer) for tie in story.ties] == [("supersede", True)]


def test_a_repeat_with_a_word_of_correction_is_not_merged(ana):
    old = say(ana, "Dinner with Paul is on Saturday.", "old")
    new = say(ana, "Dinner with Paul is cancelled.", "new")
    assert new.kind in ("link", "append")
    assert {old.note, new.note} <= {note.id for note in ana.get_all(user_id="ana")}


def test_a_move_that_takes_nothing_back_hides_nothing(ana):
    kept = say(ana, "I live in Lisbon.", "home")
    say(ana, "I moved to Marketing.", "work")  # no word tells a place from a team
    assert ana.get("home", user_id="ana").id == kept.note


def test_without_a_word_of_correction_it_is_a_conflict(ana):
    old = say(ana, LIVED, "old")
    new = say(ana, "I do not live in Lisbon with my sister.", "new")
    assert new.kind == "link"
    assert [(tie.note, tie.kind) for tie in ana.explain("new", user_id="ana").ties] == [(old.note, "conflict")]
    assert {old.note, new.note} <= set(found(ana, "Where does Ana live?"))


def test_what_was_said_before_corrects_nothing(ana):
    say(ana, LIVED, "later", time="2023-06-01")
    earlier = say(ana, MOVED, "earlier", time="2023-05-01")
    assert earlier.kind == "link"
    assert ana.get("later", user_id="ana").status == "active"


def test_a_fact_that_comes_again_after_its_correction_is_a_new_note(ana):
    old = say(ana, LIVED, "old")
    say(ana, MOVED, "new")
    back = say(ana, LIVED, "back")
    assert back.note not in ("", old.note)
    assert ana.get("back", user_id="ana").status == "active"


def test_a_fact_that_comes_again_in_the_batch_of_its_correction_is_a_new_note(ana):
    texts = {"old": LIVED, "new": MOVED, "back": LIVED}
    entries = ana.add_many(
        [{"id": id, "text": text, "speaker": "Ana"} for id, text in texts.items()],
        user_id="ana",
    ).entries
    assert entries[1].kind == "supersede"
    assert entries[2].note not in ("", entries[0].note)
    assert ana.get("back", user_id="ana").status == "active"


# ---- ties and noise ---------------------------------------------------------------------------


def test_notes_that_complete_each_other_are_tied_from_the_newer_to_the_older(ana):
    old = say(ana, "Our beekeeper sold two hives to the monastery.", "1")
    new = say(ana, "The monks of that monastery sell honey and beer.", "2")
    assert new.kind == "link"
    (tie,) = ana.explain("2", user_id="ana").ties
    assert (tie.note, tie.kind, tie.newer) == (old.note, "link", False)
    (tie,) = ana.explain("1", user_id="ana").ties
    assert (tie.note, tie.newer) == (new.note, True)


def test_a_merged_note_is_tied_to_what_the_new_source_completes_and_undo_cuts_it(ana):
    one = with_gate(ana, link_threshold=0.0, most_links=50)  # everything near is tied
    note = say(one, ADOPTED, "1").note
    other = say(with_gate(ana, link=False), "The donkey of the shelter hates the vet.", "2").note
    joined = say(one, RESTATED, "3")
    assert (joined.kind, joined.note) == ("merge", note)
    assert [tie.note for tie in ana.explain("1", user_id="ana").ties] == [other]
    ana.undo(joined.decision, user_id="ana")
    assert ana.explain("1", user_id="ana").ties == ()


def test_a_new_note_is_tied_to_five_others_at_most(ana):
    colours = ["red", "blue", "green", "white", "black", "yellow", "brown", "orange"]
    for n, colour in enumerate(colours):
        say(ana, f"Boat number {n} in the harbour of Faro is {colour}.", str(n))
    own = [tie for tie in ana.explain("7", user_id="ana").ties if not tie.newer]
    assert len(own) == 5


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The balance is 200 euros.", "The balance is -200 euros."),
        ("My blood type is A-.", "My blood type is A+."),
        ("My son writes it all in C.", "My son writes it all in C++."),
        ("The tea room costs €900.", "The tea room costs $900."),
    ],
)
def test_a_sign_is_no_repeat(ana, new, old):
    first, second = say(ana, old, "1"), say(ana, new, "2")
    assert (first.kind, second.kind != "reinforce") == ("append", True)
    assert new in " ".join(line for hit in ana.search(new, user_id="ana") for line in hit.note.raw)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The biopsy of the liver was malignant.", "The biopsy of the liver was benign."),
        ("My aunt plays the cello in an orchestra.", "My uncle plays the cello in an orchestra."),
        ("I like dogs far more than cats.", "I like cats far more than dogs."),
        ("The night train goes from Milan to Rome.", "The night train goes from Rome to Milan."),
        ("Copper is cheaper than zinc.", "Zinc is cheaper than copper."),
    ],
)
def test_a_word_in_another_s_place_is_another_note(ana, new, old):
    first, second = say(ana, old, "1"), say(ana, new, "2")
    assert first.note != second.note


def test_the_same_answer_to_another_question_is_another_note(ana):
    turns = [("Doc", "Are you allergic to nuts?"), ("Bo", "Yes."), ("Doc", "Are you pregnant?"), ("Bo", "Yes.")]
    receipt = ana.add_many(talk(turns=turns), user_id="ana")
    assert len({entry.note for entry in receipt.entries}) == 4
    (note,) = [note for note in ana.get_all(user_id="ana") if ids(note.sources) == ["t3"]]
    assert note.context == "Bo: Yes. [before: Doc: Are you pregnant?]"


def test_small_talk_is_kept_without_a_note_and_known_when_it_comes_again(ana):
    entry = say(ana, "Haha, thanks!", "1")
    assert (entry.kind, entry.note, entry.status) == ("discard", "", "none")
    assert say(ana, "Haha, thanks!", "1").kind == "repeat"
    stats = ana.stats(user_id="ana")
    assert (stats.sources, dict(stats.notes)) == (1, {})
    with pytest.raises(NotFound, match="without a note"):
        ana.get("1", user_id="ana")


def kinds(memory, texts, **fields):
    """What becomes of each of some turns, of which none is compared with another."""
    apart = with_gate(memory, update=False)
    said = [{"text": text, "session": str(at), **fields} for at, text in enumerate(texts)]
    return {text: entry.kind for text, entry in zip(texts, apart.add_many(said, user_id="ana").entries, strict=True)}


def test_phrases_of_courtesy_are_small_talk(ana):
    texts = ["ok thanks!", "Great, thanks 😊", "Good morning", "You too, take care! Talk to you later."]
    assert kinds(ana, texts, speaker="Ana") == dict.fromkeys(texts, "discard")


def test_what_may_tell_something_is_no_small_talk(ana):
    texts = ["Ok.", "Thanks for the boat!", "Good luck with the exam", "I'm good", "No, thanks."]
    assert kinds(ana, texts, speaker="Ana") == dict.fromkeys(texts, "append")


def assisted(memory, text):
    return memory.add({"role": "assistant", "content": text}, user_id="ana").entries[0].kind


def test_what_an_assistant_only_says_to_be_of_service_is_small_talk(ana):
    texts = [
        "Sure, happy to help!",
        "You’re welcome! Let me know if you have any other questions 😊",
        "You're very welcome! Is there anything else I can help you with today?",
        "Great choice!",
        "Of course. Let me know if there's anything else!",
        "No problem! I'll keep that in mind.",
    ]
    assert kinds(ana, texts, role="assistant") == dict.fromkeys(texts, "discard")
    assert ana.stats(user_id="ana").sources == len(texts)


def test_what_an_assistant_may_answer_or_tell_is_no_small_talk(ana):
    texts = [
        "Sure.",
        "Of course.",
        "Not at all.",
        "No problem.",
        "Good idea.",
        "Yes, happy to help.",
        "Happy to help with the kitchen on Monday.",
        "Great choice, the red one is cheaper.",
        "Let me know if you need the key of the harbour.",
        "Enjoy the trip to Faro!",
    ]
    assert kinds(ana, texts, role="assistant") == dict.fromkeys(texts, "append")


def test_a_user_s_courtesy_may_be_an_answer(ana):
    assert say(ana, "Happy to help!", "1").kind == "append"


def test_an_assistant_is_of_service_in_spanish_too(tenant, embedder):
    with Memory.connect(tenant=tenant, embedder=embedder, language="spanish") as memory:
        assert assisted(memory, "De nada. ¡Avísame si necesitas algo más!") == "discard"
        assert assisted(memory, "¡Claro! Encantado de ayudarte.") == "discard"
        assert assisted(memory, "Claro que sí.") != "discard"
        assert assisted(memory, "Avísame si necesitas la llave del puerto.") != "discard"


@pytest.mark.parametrize("together", [True, False])
def test_no_context_repeats_small_talk(ana, together):
    turns = talk(turns=[("Ana", "Haha, thanks!"), ("Ana", ADOPTED)])
    for batch in [turns] if together else [[turn] for turn in turns]:
        ana.add_many(batch, user_id="ana")
    assert ana.get("t1", user_id="ana").context == f"Ana: {ADOPTED}"


# ---- batches ----------------------------------------------------------------------------------


def shape(memory, user="ana"):
    """What is known, whatever decided it: the sources of each note, its lines and status, and how sources ended."""
    notes = {(*ids(n.sources), n.status): (n.raw, n.context, n.keywords) for n in memory.get_all(user_id=user)}
    return notes, dict(memory.stats(user_id=user).notes)


def test_a_batch_comes_out_as_its_messages_one_by_one(ana):
    together = ana.add_many(talk(time="2023-05-08"), user_id="ana")
    alone = [ana.add(turn, user_id="bo").entries[0] for turn in talk(time="2023-05-08")]
    assert [entry.kind for entry in together.entries] == [entry.kind for entry in alone]
    assert {"reinforce", "merge", "supersede", "discard"} <= {entry.kind for entry in alone}
    assert shape(ana, "ana") == shape(ana, "bo")
    assert ana.verify(user_id="bo") == []


def test_a_contradiction_with_any_line_of_a_note_counts_in_a_batch_too(ana):
    texts = [
        "I adopted a grey cat from the shelter.",
        "Ana adopted a grey cat from the shelter in Porto.",
        "I adopted a grey cat from the shelter in Faro.",
    ]
    for user in ("ana", "bo"):
        batch = [{"id": str(n), "text": text, "speaker": "Ana"} for n, text in enumerate(texts)]
        for some in [batch] if user == "ana" else [[one] for one in batch]:
            ana.add_many(some, user_id=user)
    assert ids(ana.get("0", user_id="bo").sources) == ["0", "1"]
    assert shape(ana, "ana") == shape(ana, "bo")


def test_a_conversation_that_comes_twice_under_new_ids_adds_no_note(ana):
    ana.add_many(talk("first", time="2023-05-08"), user_id="ana")
    before = dict(ana.stats(user_id="ana").notes)
    receipt = ana.add_many(talk("second", turns=TALK[:7], time="2023-05-08"), user_id="ana")
    ana.add_many(talk("second", turns=TALK[:7], time="2023-05-08"), user_id="ana")
    unsaid = {0, 4}  # where Ana lived before she moved is no repeat of what is true now
    added = {n for n, entry in enumerate(receipt.entries) if entry.kind not in ("reinforce", "merge", "discard")}
    assert added <= unsaid
    assert ana.stats(user_id="ana").notes["active"] <= before["active"] + 1
    assert ana.stats(user_id="ana").sources == len(TALK) + 7


def test_a_conversation_without_corrections_comes_twice_and_adds_nothing(ana):
    turns = [turn for turn in TALK[:7] if turn[1] != LIVED]
    ana.add_many(talk("first", turns=turns), user_id="ana")
    before = dict(ana.stats(user_id="ana").notes)
    assert ana.add_many(talk("second", turns=turns), user_id="ana").added == 0
    assert dict(ana.stats(user_id="ana").notes) == before


# ---- settings ---------------------------------------------------------------------------------


def test_without_the_gate_everything_is_appended_but_small_talk(ana):
    one = with_gate(ana, update=False)
    kinds = [say(one, text, id).kind for id, text in (("1", ADOPTED), ("2", AGAIN), ("3", MOVED), ("4", "Thanks!"))]
    assert kinds == ["append", "append", "append", "discard"]
    assert ana.explain("2", user_id="ana").ties == ()


def test_without_merging_a_repeat_is_a_note_of_its_own_that_is_tied(ana):
    one = with_gate(ana, merge=False)
    first, second = say(one, ADOPTED, "1"), say(one, AGAIN, "2")
    assert second.kind == "link"
    assert [(tie.note, tie.kind) for tie in ana.explain("2", user_id="ana").ties] == [(first.note, "link")]


def test_without_links_nothing_is_tied(ana):
    one = with_gate(ana, link=False)
    say(one, ADOPTED, "1")
    assert say(one, "I did not adopt a grey cat from the shelter in Porto.", "2").kind == "append"
    assert ana.explain("2", user_id="ana").ties == ()


def test_without_superseding_a_correction_is_a_change(ana):
    one = with_gate(ana, supersede=False)
    say(one, LIVED, "old")
    assert say(one, MOVED, "new").kind == "link"
    assert ana.get("old", user_id="ana").status == "active"
    assert {tie.kind for tie in ana.explain("new", user_id="ana").ties} == {"change"}


def test_without_discarding_small_talk_is_a_note(ana):
    assert say(with_gate(ana, discard=False), "Haha, thanks!", "1").kind == "append"
    assert ana.get("1", user_id="ana").raw == ("Ana: Haha, thanks!",)


def test_no_redundancy_lies_above_a_threshold_of_one(ana):
    one = with_gate(ana, merge_threshold=1.0)
    say(one, ADOPTED, "1")
    assert say(one, AGAIN, "2").kind in ("append", "link")


def test_no_note_is_tied_above_a_threshold_of_one(ana):
    one = with_gate(ana, link_threshold=1.0)
    say(one, "Our beekeeper sold two hives to the monastery.", "1")
    assert say(one, "The monks of that monastery sell honey and beer.", "2").kind == "append"


# ---- merged notes later -----------------------------------------------------------------------


def test_a_merged_note_is_deleted_whole_or_loses_one_of_its_sources(ana):
    note = say(ana, ADOPTED, "1").note
    say(ana, RESTATED, "2")
    lost = ana.delete("2", user_id="ana")
    assert [source.id for source in ana.get(note, user_id="ana").sources] == ["1"]
    assert ana.get(note, user_id="ana").raw == (f"Ana: {ADOPTED}",)
    ana.undo(lost.id, user_id="ana")
    ana.delete(note, user_id="ana")
    assert found(ana, "grey cat") == []
    assert say(ana, RESTATED, "2").status == "deleted"


def test_a_merged_note_gets_a_text_of_the_user_s_own_and_keeps_its_sources(ana):
    note = say(ana, ADOPTED, "1").note
    say(ana, RESTATED, "2")
    ana.update(note, "The cat is called Pepper.", user_id="ana")
    changed = ana.get(note, user_id="ana")
    assert changed.raw == ("Ana: The cat is called Pepper.",)
    assert [source.text for source in changed.sources] == [ADOPTED, RESTATED]


def test_a_message_that_shares_its_note_is_told_by_a_note_of_its_own_once_it_says_something_else(ana):
    say(ana, ADOPTED, "1")
    say(ana, RESTATED, "2")
    before = ana.get("1", user_id="ana")
    changed = ana.update("1", "The parrot is called Pepper.", user_id="ana")
    told = {tuple(source.id for source in note.sources): note.raw for note in ana.get_all(user_id="ana")}
    assert told == {("1",): ("Ana: The parrot is called Pepper.",), ("2",): (f"Ana: {RESTATED}",)}
    assert ana.verify(user_id="ana") == []
    ana.undo(changed.id, user_id="ana")
    assert ana.get("2", user_id="ana").raw == before.raw


def test_a_merged_note_can_be_given_the_text_of_its_first_source(ana):
    note = say(ana, ADOPTED, "1").note
    say(ana, RESTATED, "2")
    ana.update(note, ADOPTED, user_id="ana")
    assert ana.get(note, user_id="ana").raw == (f"Ana: {ADOPTED}",)
    decisions = ana.stats(user_id="ana").decisions
    ana.update(note, ADOPTED, user_id="ana")  # said twice
    assert ana.stats(user_id="ana").decisions == decisions


def test_what_joins_a_note_that_the_user_wrote_leaves_the_user_s_words(ana):
    note = say(ana, ADOPTED, "1").note
    say(ana, RESTATED, "2")
    ana.update(note, "My grey cat Pepper sleeps on the green sofa.", user_id="ana")
    joined = say(ana, "On the green sofa my grey cat Pepper sleeps.", "3")
    assert (joined.kind, joined.note) == ("merge", note)
    now = ana.get(note, user_id="ana")
    assert now.raw == (
        "Ana: My grey cat Pepper sleeps on the green sofa.",
        "Ana: On the green sofa my grey cat Pepper sleeps.",
    )
    ana.undo(joined.decision, user_id="ana")
    assert ana.get(note, user_id="ana").raw == now.raw[:1]
    assert ids(ana.get(note, user_id="ana").sources) == ["1", "2"]


@pytest.mark.parametrize("written", [False, True])
def test_a_deleted_neighbour_of_a_merged_note_is_repeated_in_no_context(ana, written):
    turns = [("Bo", "The lighthouse of Faro is haunted."), ("Ana", ADOPTED)]
    ana.add_many(talk("a", turns=turns), user_id="ana")
    ana.add_many(talk("b", turns=[("Bo", "My dentist plays the cello."), ("Ana", RESTATED)]), user_id="ana")
    note = ana.get("a1", user_id="ana")
    assert note.id == ana.get("b1", user_id="ana").id
    assert "haunted" in note.context
    assert "cello" in note.context
    if written:
        ana.update(note.id, "The cat is called Pepper.", user_id="ana")
    for neighbour in ("a0", "b0"):
        ana.delete(neighbour, user_id="ana")
    contexts = " ".join(one.context for one in ana.get_all(user_id="ana"))
    assert "haunted" not in contexts
    assert "cello" not in contexts


def test_a_source_that_joined_a_note_is_known_when_it_comes_again(ana):
    note = say(ana, ADOPTED, "1").note
    say(ana, RESTATED, "2")
    again = say(ana, RESTATED, "2")
    assert (again.kind, again.note) == ("repeat", note)


# ---- explained --------------------------------------------------------------------------------


def test_a_decision_tells_scores_thresholds_and_evidence(ana):
    note = say(ana, ADOPTED, "1").note
    entry = say(ana, RESTATED, "2")
    decision = ana.decisions(user_id="ana", limit=1)[0]
    assert (decision.id, decision.kind, decision.note, decision.sources) == (entry.decision, "merge", note, ("2",))
    assert dict(decision.thresholds) == {"merge": 0.7, "link": 0.5}
    assert decision.evidence == "It says the same in another order."
    best = decision.considered[0]
    assert (best.note, best.relation) == (note, "same")
    assert best.redundancy > 0.7
    assert 0 <= best.complementarity <= 1
    assert -1 <= best.similarity <= 1


def test_decisions_are_numbered_in_the_order_of_commits(ana):
    ana.add_many(talk(), user_id="ana")
    ana.delete("t1", user_id="ana")
    newest = ana.decisions(user_id="ana", limit=100)
    made = [(one.version, one.place) for one in reversed(newest)]
    assert made == [(1, place) for place in range(len(made) - 1)] + [(2, 0)]
    assert [one.kind == "profile" for one in newest].count(False) == len(TALK) + 1


def test_the_story_of_a_merged_note_tells_each_version_and_who_made_it(ana):
    say(ana, ADOPTED, "1")
    say(ana, AGAIN, "2")
    say(ana, RESTATED, "3")
    story = ana.explain("3", user_id="ana")
    assert [decision.kind for decision in story.decisions] == ["append", "reinforce", "merge"]
    assert [ids(version.note.sources) for version in story.versions] == [["1"], ["1", "2"], ["1", "2", "3"]]


# ---- two tenants ------------------------------------------------------------------------------


def test_two_tenants_with_the_same_texts_share_no_note(server, embedder):
    first = f"test-{uuid4().hex}"
    tenants = [first, f"{first}/", f"{first}*"]
    try:
        for tenant in tenants:
            with Memory.connect(tenant=tenant, embedder=embedder) as memory:
                for n, text in enumerate([ADOPTED, AGAIN, RESTATED, LIVED, MOVED]):
                    say(memory, text, str(n), user=("ana", "ana/")[n % 2])
        for tenant in tenants:
            with Memory.connect(tenant=tenant, embedder=embedder) as memory:
                for user, own in (("ana", ["0", "2", "4"]), ("ana/", ["1", "3"])):
                    sources = [source.id for note in memory.get_all(user_id=user) for source in note.sources]
                    assert sorted(sources) == own
                    for decision in memory.decisions(user_id=user):
                        for one in decision.considered:
                            assert memory.get(one.note, user_id=user)
                    assert memory.verify(user_id=user) == []
    finally:
        for tenant in tenants:
            purge(tenant)
