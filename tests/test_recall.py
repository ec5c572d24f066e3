"""How notes are found: channels, filters, explanation, languages."""

import json
import math
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import numpy as np
import pytest

from memgraph_engine import Memory, Settings
from memgraph_engine.errors import InvalidInput, SettingsError, StoreMismatch
from memgraph_engine.evaluation.variants import ABLATIONS
from memgraph_engine.recall.fusion import CHANNELS, PATHWAYS, bm25
from memgraph_engine.recall.ranking import FILE
from memgraph_engine.resources import resource

TALK = [
    {
        "id": "a1",
        "speaker": "Ana",
        "role": "user",
        "agent": "guide",
        "session": "may",
        "time": "2023-05-08T10:00:00",
        "text": "The lighthouse keeper waved at us.",
        "tags": ["coast"],
        "metadata": {"mood": "calm", "page": 3},
    },
    {
        "id": "a2",
        "speaker": "Bo",
        "role": "assistant",
        "agent": "guide",
        "session": "may",
        "time": "2023-05-08T10:01:00",
        "text": "Did you climb the lighthouse stairs?",
        "tags": ["coast", "stairs"],
    },
    {
        "id": "a3",
        "speaker": "Ana",
        "role": "user",
        "agent": "cook",
        "session": "june",
        "time": "2023-06-20T18:00:00",
        "text": "I fried sardines below the lighthouse.",
        "metadata": {"mood": "hungry", "page": "3"},
    },
]

HARBOUR = [
    "The harbour master paints the old rowing boat and the wooden oars.",
    "A wooden oar of the rowing boat floats in the harbour basin.",
    "The rowing boat lies in the harbour basin beside the wooden oars.",
]


@pytest.fixture(scope="module")
def talk(kept):
    return kept(lambda memory: memory.add_many(TALK, user_id="ana"))


@pytest.fixture
def own(memory):
    memory.add_many(TALK, user_id="ana")
    return memory


def found(hits):
    return {hit.sources[0].id for hit in hits}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"session": "may"}, {"a1", "a2"}),
        ({"session": "april"}, set()),
        ({"speaker": "Bo"}, {"a2"}),
        ({"role": "user"}, {"a1", "a3"}),
        ({"agent": "cook"}, {"a3"}),
        ({"since": "2023-06-01"}, {"a3"}),
        ({"until": "2023-05-08T10:00:00"}, {"a1"}),
        ({"since": "2023-05-08", "until": "2023-05-08"}, {"a1", "a2"}),
        ({"since": "2023-05-08T10:01:00", "until": "2023-05-08T10:01:00"}, {"a2"}),
        ({"tags": ["coast"]}, {"a1", "a2"}),
        ({"tags": ["coast", "stairs"]}, {"a2"}),
        ({"tags": ["mood=calm"]}, {"a1"}),
        ({"any_tags": ["stairs", "mood=calm", "roof"]}, {"a1", "a2"}),
        ({"any_tags": ["stairs", "roof"], "tags": ["coast"]}, {"a2"}),
        ({"any_tags": ["roof"]}, set()),
        ({"metadata": {"mood": "hungry"}}, {"a3"}),
        ({"metadata": {"page": 3}}, {"a1"}),
        ({"speaker": "Ana", "session": "may", "tags": ["coast"]}, {"a1"}),
    ],
)
def test_a_filter_is_never_ignored(talk, filters, expected):
    assert found(talk.search("lighthouse", user_id="ana", **filters)) == expected


def test_classes_narrow_what_is_found_as_they_are_now(memory):
    for text, policy in (("The keeper oils the lamp.", "canonical"), ("The lamp is lit at dusk.", "ephemeral")):
        memory.add(text, id=policy, policy=policy, user_id="ana")
    memory.add("The key of the lamp room is under the mat.", id="private", policy="private", user_id="ana")
    memory.add("The lamp was bought in May.", id="factual", user_id="ana")

    def some(**filters):
        return found(memory.search("Where is the lamp?", user_id="ana", **filters))

    assert some() == {"canonical", "ephemeral", "factual"}
    assert some(not_policy=["ephemeral"]) == {"canonical", "factual"}
    assert some(policy=["canonical", "ephemeral"]) == {"canonical", "ephemeral"}
    assert some(policy=["private"]) == {"private"}  # whoever names a class asks for it
    assert some(policy=["canonical"], not_policy=["canonical"]) == set()
    memory.set_policy("factual", "ephemeral", user_id="ana")
    assert some(policy=["ephemeral"]) == {"ephemeral", "factual"}
    with pytest.raises(InvalidInput, match=r"not_policy: there is no policy 'fleeting'; the policies are canonical, "):
        some(not_policy=["fleeting"])


def test_a_rare_tag_is_found_behind_more_better_notes_than_a_pool_holds(memory):
    memory.add_many([f"The lighthouse keeper waved {i} times." for i in range(60)], user_id="ana")
    memory.add({"id": "rare", "text": "Something else entirely: porridge.", "tags": ["rare"]}, user_id="ana")
    narrow = weighed(memory, pool=6, lexical_pool=12)
    hits = narrow.search("Who waved at the lighthouse?", user_id="ana", tags=["rare"], top_k=5)
    assert found(hits) == {"rare"}


def test_what_is_best_does_not_depend_on_how_many_are_wanted(memory):
    said = [
        "My sister Hannah lives in Cardiff.",
        "Where does my sister live?",
        "Hannah and her husband visited us at the lake, and my sister brought the dog.",
        "My sister plays the cello where I live.",
        "My sister no longer lives in Cardiff, we carried boxes up to the fourth floor in Leeds all day.",
    ]
    for day, text in enumerate(said, 1):
        memory.add(text, user_id="ana", speaker="Ana", time=f"2024-05-{day:02}")
    every = memory.search("Where does my sister live?", user_id="ana", top_k=len(said))
    assert [hit.until is None for hit in every if "Cardiff" in hit.note.text] == [True, False]  # the newer one first
    for count in range(1, len(said)):
        some = memory.search("Where does my sister live?", user_id="ana", top_k=count)
        assert [hit.note.id for hit in some] == [hit.note.id for hit in every[:count]]


def test_what_an_assistant_said_is_found_where_it_is_asked_for_it(memory):
    said = [
        ("user", "What's a good recipe for a quick dinner?"),
        ("assistant", "How about a chickpea and spinach curry? It takes 25 minutes."),
        ("user", "I cook a quick dinner of my own recipe for my mum on Sundays."),
        ("assistant", "That is kind of you, a quick dinner it is."),
    ]
    memory.add_many([{"role": role, "content": text, "session": "s"} for role, text in said], user_id="ana")
    for question in ("What recipe did you give me for a quick dinner?", "Which quick dinner did you suggest?"):
        assert "curry" in memory.search(question, user_id="ana")[0].note.text
    (first, *_) = memory.search("What do I cook for a quick dinner?", user_id="ana")
    assert "for my mum" in first.note.text


def test_a_large_top_k_is_filled(memory):
    memory.add_many([f"Boat number {i} is blue." for i in range(50)], user_id="ana")
    narrow = weighed(memory, pool=10, lexical_pool=20)
    assert len(narrow.search("Which boats are blue?", user_id="ana", top_k=45)) == 45


def test_an_explanation_adds_up_to_the_score(talk):
    for hit in talk.search("Who waved at the lighthouse?", user_id="ana", explain=True):
        why = hit.explanation
        assert set(why.channels) == set(CHANNELS)
        assert math.isclose(1 / (1 + math.exp(-sum(why.ranking.values()))), hit.score, abs_tol=1e-9)
        assert hit.similarity == max(why.channels["dense_raw"].raw, why.channels["dense_context"].raw)


def test_by_weights_alone_the_channels_and_what_is_around_add_up_to_the_score(talk):
    for hit in weighed(talk, ranking="weights").search("Who waved at the lighthouse?", user_id="ana", explain=True):
        why = hit.explanation
        total = sum(channel.weighted for channel in why.channels.values()) + why.neighbours + why.session
        assert math.isclose(total, hit.score, abs_tol=1e-9)
        assert not why.ranking


def test_what_tells_stands_before_what_asks_in_the_same_words(memory):
    memory.add_many(["Is the boat called the Heron?", "The boat is called the Heron."], user_id="ana")
    best, *others = memory.search("the boat is called the Heron", user_id="ana", explain=True)
    assert [best.note.sources[0].text] == ["The boat is called the Heron."]
    assert best.explanation.ranking["asks"] == 0 > others[0].explanation.ranking["asks"]


def test_what_is_asked_beside_what_is_told_counts_nothing(memory):
    memory.add_many(["I hate museums. Plan me a day in Porto. Where do I start?", "What is Porto like?"], user_id="ana")
    hits = memory.search("What do I hate in Porto?", user_id="ana", explain=True)
    assert {hit.note.text[:6]: hit.explanation.ranking["asks"] < 0 for hit in hits} == {"I hate": False, "What i": True}


def test_a_request_is_no_answer_and_a_number_answers_how_many(memory):
    said = ["plan me a day in Porto, I like bookshops", "I spent the day in Porto with my mum", "we bought nine books"]
    memory.add([{"role": "user", "content": text} for text in said], user_id="ana")
    hits = memory.search("Who came to Porto with me for the day?", user_id="ana", explain=True)
    parts = {hit.note.text: hit.explanation.ranking for hit in hits}
    assert parts[said[0]]["asks"] < 0 == parts[said[1]]["asks"]
    assert {one["amount"] for one in parts.values()} == {0}
    hits = memory.search("How many books did we buy in Porto?", user_id="ana", explain=True)
    assert [hit.note.text for hit in hits if hit.explanation.ranking["amount"] > 0] == [said[2]]


def test_what_somebody_says_of_himself_bears_on_what_shares_no_word_with_it(memory):
    said = ["ideas for a 30th birthday present", "I only wear black."]
    memory.add([{"role": "user", "content": text} for text in said], user_id="ana")
    hits = memory.search("Which dress would you choose for the gala?", user_id="ana", explain=True)
    assert [hit.note.text for hit in hits if hit.explanation.ranking["personal"] > 0] == [said[1]]
    assert hits[0].note.text == said[1]


def test_what_is_relevant_by_itself_is_lifted_less_by_who_speaks_of_himself(memory):
    memory.add([{"role": "user", "content": text} for text in ("My bike is red.", "I only wear black.")], user_id="ana")
    hits = memory.search("Is my bike red?", user_id="ana", explain=True)
    lifted = {hit.note.text: hit.explanation.ranking["personal"] for hit in hits}
    assert 0 < lifted["My bike is red."] < lifted["I only wear black."]


def test_how_new_a_note_is_counts_by_days(memory):
    for user, days in (("ana", ("01", "31")), ("bo", ("01", "29", "30", "31"))):  # whatever stands between
        memory.add_many([{"text": f"Boat {day} is red.", "time": f"2024-01-{day}"} for day in days], user_id=user)
        hits = memory.search("Which boat is red?", user_id=user, explain=True)
        age = {hit.note.text: hit.explanation.ranking["recency"] for hit in hits}
        assert age["Boat 31 is red."] == pytest.approx(math.e * age["Boat 01 is red."])


def test_a_ranking_of_ones_own_is_used_and_a_damaged_one_is_named(memory, tmp_path):
    shipped = json.loads(resource(*FILE).read_text(encoding="utf-8"))
    own, user = tmp_path / "ranking.json", shipped["user"]
    recent = {"bias": 0, "weights": {name: float(name == "recency") for name in user["weights"]}}
    own.write_text(json.dumps({**shipped, "user": recent}))
    memory.add([{"text": f"Boat {n} is red.", "time": f"2024-0{n}-01"} for n in (2, 4, 3)], user_id="ana")
    hits = weighed(memory, ranking=str(own)).search("Which boat is red?", user_id="ana")
    assert [hit.note.sources[0].text for hit in hits] == [f"Boat {n} is red." for n in (4, 3, 2)]
    damaged = [
        ("{", "no JSON"),
        (json.dumps(user), "no object of user and people"),
        (json.dumps({**shipped, "user": {"bias": 0}}), "user is no object of bias and weights"),
        (json.dumps({**shipped, "user": {"bias": 0, "weights": {"recency": 1}}}), "lacks weight"),
        (json.dumps({**shipped, "user": {**user, "weights": {**user["weights"], "size": 1}}}), "weight 'size'"),
        (json.dumps({**shipped, "user": {**user, "bias": "high"}}), "bias of user is no number"),
    ]
    for number, (text, why) in enumerate(damaged):
        file = tmp_path / f"damaged-{number}.json"
        file.write_text(text)
        with pytest.raises(SettingsError, match=f"damaged-{number}.json.*{why}"):
            weighed(memory, ranking=str(file)).search("Which boat is red?", user_id="ana")
    with pytest.raises(SettingsError, match="no file of that name"):
        weighed(memory, ranking="missing.json").search("Which boat is red?", user_id="ana")


def test_a_single_hit_is_a_good_hit(memory):
    memory.add("The lighthouse keeper waved at us.", user_id="ana")
    (hit,) = memory.search("Who waved at the lighthouse?", user_id="ana")
    assert hit.score > 0.2


def test_each_channel_proposes_what_it_knows(talk):
    best = followed(talk).search("Which lighthouse keeper waved?", user_id="ana", explain=True)[0]
    assert set(best.explanation.proposed_by) >= {"dense_context", "keywords", "lexical"}
    assert best.explanation.channels["lexical_raw"].raw > 0


def test_vectors_of_own_words_propose_where_those_of_contexts_are_off(talk):
    question = "Which lighthouse keeper waved?"
    best = weighed(talk, switched={"dense_context": False}).search(question, user_id="ana", explain=True)[0]
    assert set(best.explanation.proposed_by) == {"dense_raw", "lexical"}


def weighed(memory, *, switched=None, **others):
    """Return the same memory with other settings of recall, and channels switched on or off."""
    settings = memory.engine.settings
    recall = settings.recall.switched(**switched or {}).model_copy(update=others)
    return Memory(replace(memory.engine, settings=settings.model_copy(update={"recall": recall})))


def followed(memory):
    """Return the same memory, of which every question follows the pathways."""
    return weighed(memory, pathways="always")


def proposed(hits):
    return {hit.sources[0].id: set(hit.explanation.proposed_by) for hit in hits}


def test_a_keyword_that_the_question_names_leads_to_its_notes(talk):
    hits = followed(talk).search("sardines", user_id="ana", explain=True)
    assert "keywords" in proposed(hits)["a3"]
    rarest = max(hits, key=lambda hit: hit.explanation.channels["keywords"].raw)
    assert rarest.sources[0].id == "a3"


def test_topics_lead_to_their_notes_once_they_are_found(memory):
    memory.add_many(HARBOUR, user_id="ana")

    def led():
        hits = followed(memory).search("What lies in the harbour?", user_id="ana", explain=True)
        return any("topics" in channels for channels in proposed(hits).values())

    assert not led()
    assert memory.rebuild_topics(user_id="ana").topics
    assert led()


def test_anchors_add_up_to_the_scores_of_their_pathways(own):
    own.add_many(HARBOUR, user_id="ana")
    own.rebuild_topics(user_id="ana")
    question = "Who waved at the lighthouse of the harbour?"
    given = {"keywords": Counter(), "topics": Counter()}
    for anchor in own.anchors(question, user_id="ana"):
        given[anchor.channel].update(dict.fromkeys(anchor.notes, anchor.score * anchor.rarity))
    assert all(given.values())
    for hit in followed(own).search(question, user_id="ana", explain=True):
        for channel, scores in given.items():
            assert hit.explanation.channels[channel].raw == pytest.approx(scores[hit.note.id])


def test_anchors_are_those_of_the_scopes_language(talk):
    with Memory.connect(tenant=talk.engine.settings.tenant, embedder=talk.engine.embedder, language="spanish") as other:
        named = [anchor.keyword for anchor in other.anchors("Lighthouses?", user_id="ana") if anchor.score == 1]
    assert "lighthouse" in named


def test_a_memory_without_notes_has_no_anchors(talk):
    assert talk.anchors("Who waved at the lighthouse?", user_id="nobody") == []
    with pytest.raises(InvalidInput, match="query"):
        talk.anchors("", user_id="ana")


def test_ties_lead_to_what_is_related(memory):
    memory.add({"id": "old", "text": "Ana joined the harbour choir."}, user_id="ana")
    tied = memory.add({"id": "new", "text": "The harbour choir sings on Sundays at noon."}, user_id="ana")
    assert tied.entries[0].kind == "link"
    channels = proposed(followed(memory).search("choir of the harbour", user_id="ana", explain=True))
    assert any("related" in some for some in channels.values())


def test_ties_are_followed_as_far_as_the_settings_say(memory):
    said = {"a": "The heron is grey.", "b": "Bread needs salt.", "c": "Trams run late.", "d": "Olga won the race."}
    notes = [memory.add(text, id=name, user_id="ana").entries[0].note for name, text in said.items()]
    tie = (
        "UNWIND $pairs AS pair MATCH (n:Note {scope: $scope, id: pair[0]}), (o:Note {scope: $scope, id: pair[1]}) "
        "CREATE (n)-[:RELATED {decision: 'x', score: 0.9, kind: 'link'}]->(o)"
    )
    pairs = [list(pair) for pair in pairwise(reversed(notes))]
    with memory.engine.db._session() as session:
        session.run(tie, scope=f"{memory.engine.settings.tenant}/ana", pairs=pairs).consume()
    for depth, expected in ((1, "ab"), (2, "abc"), (3, "abcd"), (5, "abcd")):
        far = weighed(memory, channels=("lexical_raw", "related"), related_from=1, depth=depth)
        channels = proposed(followed(far).search("What colour has the heron?", user_id="ana", explain=True))
        assert {name for name, some in channels.items() if "related" in some} == set(expected) - {"a"}, depth
        assert set(channels) == set(expected), depth


@pytest.mark.parametrize("pathway", PATHWAYS)
def test_a_pathway_that_is_off_is_not_taken(talk, pathway):
    hits = weighed(talk, pathways="always", switched={pathway: False}).search(
        "Who waved at the lighthouse?", user_id="ana", explain=True
    )
    assert all(pathway not in channels for channels in proposed(hits).values())
    assert all(hit.explanation.channels[pathway].weighted == 0 for hit in hits)


@pytest.mark.parametrize("channel", ["lexical", "dense_raw", "dense_context"])
def test_what_only_a_channel_that_is_off_proposes_is_not_found(talk, channel):
    off = {name: False for name in CHANNELS if name.startswith(channel)}
    hits = weighed(talk, switched=off).search("Who waved at the lighthouse?", user_id="ana", explain=True)
    assert hits
    assert all(channel not in channels and channels for channels in proposed(hits).values())


def test_the_pathways_alone_find_what_keywords_name_and_what_is_tied_to_it(memory):
    memory.add({"id": "old", "session": "may", "text": "Ana joined the harbour choir."}, user_id="ana")
    tied = memory.add(
        {"id": "new", "session": "june", "text": "The harbour choir sings carols at noon."}, user_id="ana"
    )
    assert tied.entries[0].kind == "link"
    memory.add({"id": "other", "text": "Porridge is what I eat."}, user_id="ana")
    alone = weighed(memory, **{**ABLATIONS["memfly-retrieval"]["recall"], "keyword_anchors": 1})
    hits = alone.search("carols?", user_id="ana", explain=True)
    assert "keywords" in proposed(hits)["new"]
    assert "related" in proposed(hits)["old"]
    assert found(hits) == {"new", "old"}
    assert found(alone.search("carols?", user_id="ana", session="june")) == {"new"}
    assert alone.search("carols?", user_id="ben") == []
    assert alone.search("carols?", user_id="ana", as_of="2030-01-01") == []


def test_pathways_are_followed_where_nothing_found_is_relevant(talk):
    def follows(memory, question):
        hits = memory.search(question, user_id="ana", explain=True)
        (asked,) = hits[0].explanation.rounds
        assert asked.pathways or not set().union(*proposed(hits).values()) & set(PATHWAYS)
        return asked.pathways

    assert not follows(talk, "Who waved at the lighthouse?")
    assert follows(talk, "What is the boiling point of tungsten?")
    assert follows(followed(talk), "Who waved at the lighthouse?")
    assert not follows(weighed(talk, switched=dict.fromkeys(PATHWAYS, False)), "What is the boiling point of tungsten?")


def test_a_look_back_takes_no_pathway(talk):
    for moment in ({"as_of": "2024-01-01"}, {"known_at": talk.engine.now() + timedelta(days=1)}):
        hits = followed(talk).search("Who waved at the lighthouse?", user_id="ana", explain=True, **moment)
        assert hits
        assert not set().union(*proposed(hits).values()) & set(PATHWAYS)


def test_pathways_stay_within_filters_and_scopes(own):
    own.add({"id": "b1", "text": "The lighthouse of Ben has a red lamp."}, user_id="ben")
    own.rebuild_topics(user_id="ana")
    for memory in (own, followed(own)):
        assert found(memory.search("lighthouse", user_id="ana", session="june")) == {"a3"}
        assert found(memory.search("lighthouse", user_id="ben")) == {"b1"}


def test_similarity_does_not_depend_on_the_other_notes(own):
    before = {hit.note.id: hit.similarity for hit in own.search("sardines", user_id="ana")}
    own.add("Sardines again.", user_id="ana")
    after = {hit.note.id: hit.similarity for hit in own.search("sardines", user_id="ana")}
    assert all(math.isclose(after[note], similarity, abs_tol=1e-6) for note, similarity in before.items())


def test_min_similarity_cuts(talk):
    hits = talk.search("Who waved at the lighthouse?", user_id="ana")
    limit = hits[0].similarity
    kept = talk.search("Who waved at the lighthouse?", user_id="ana", min_similarity=limit - 1e-9)
    assert [hit.note.id for hit in kept] == [hit.note.id for hit in hits if hit.similarity >= limit - 1e-9]


def test_a_turn_beside_a_good_one_is_lifted(memory):
    memory.add_many(
        [
            {"id": "q", "session": "s", "text": "What did you name the kitten?"},
            {"id": "answer", "session": "s", "text": "Marbles."},
            {"id": "other", "session": "t", "text": "Porridge."},
        ],
        user_id="ana",
    )
    order = [hit.sources[0].id for hit in memory.search("What is the name of the kitten?", user_id="ana")]
    assert order.index("answer") < order.index("other")


def test_what_stands_around_a_note_lifts_it_above_none_that_matches_by_itself(memory):
    memory.add({"id": "bike", "session": "a", "role": "user", "text": "My bike is a red Koga."}, user_id="ana")
    memory.add_many(
        [
            {"id": "seen", "session": "b", "role": "user", "text": "So many bikes in Utrecht, bikes everywhere!"},
            {"id": "sun", "session": "b", "role": "user", "text": "The sun was out all day, too."},
            {"id": "cake", "session": "b", "role": "user", "text": "We had pancakes by the canal."},
        ],
        user_id="ana",
    )
    order = [hit.sources[0].id for hit in memory.search("What bike do I have?", user_id="ana")]
    assert order[0] == "bike"
    assert set(order[2:]) == {"sun", "cake"}


def test_rrf_is_a_setting(tenant, embedder):
    base = Settings.load(tenant=tenant)
    settings = base.model_copy(update={"recall": base.recall.model_copy(update={"ranking": "rrf"})})
    with Memory.connect(settings=settings, embedder=embedder) as memory:
        memory.add_many(TALK, user_id="ana")
        assert memory.search("Who fried sardines?", user_id="ana")[0].sources[0].id == "a3"


def test_bm25_is_the_formula():
    scores = bm25(np.array([[2.0], [0.0]]), np.array([3.0, 1.0]), notes=3, mean_length=5 / 3)
    idf = math.log(1 + (3 - 1 + 0.5) / 1.5)
    assert math.isclose(scores[0, 0], idf * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / (5 / 3))))
    assert scores[1, 0] == 0


def with_language(language, tenant, embedder):
    return Memory.connect(tenant=tenant, language=language, embedder=embedder)


def test_spanish_words_meet_in_other_forms(tenant, embedder):
    with with_language("spanish", tenant, embedder) as memory:
        memory.add_many(
            [
                {"id": "1", "speaker": "Ana", "text": "Las niñas corrían por la playa.", "time": "2023-05-08T10:00:00"},
                {"id": "2", "text": "El pan está caliente."},
            ],
            user_id="ana",
        )
        best = memory.search("¿Quién corre en las playas?", user_id="ana", explain=True)[0]
        assert best.sources[0].id == "1"
        assert best.explanation.channels["lexical_raw"].raw > 0
        assert "8 de mayo de 2023" in best.note.context


def test_japanese_is_found_by_its_characters(tenant, embedder):
    with with_language("cjk", tenant, embedder) as memory:
        memory.add_many(
            [{"id": "1", "text": "私は京都大学で働いています。"}, {"id": "2", "text": "猫が好きです。"}], user_id="ana"
        )
        best = memory.search("京都大学", user_id="ana", explain=True)[0]
        assert best.sources[0].id == "1"
        assert best.explanation.channels["lexical_raw"].raw > 0


def test_a_reader_need_not_know_the_language(tenant, embedder):
    with with_language("spanish", tenant, embedder) as memory:
        memory.add("Las niñas corrían por la playa.", user_id="ana")
    with Memory.connect(tenant=tenant, embedder=embedder) as memory:
        assert memory.search("playas", user_id="ana", explain=True)[0].explanation.channels["lexical_raw"].raw > 0


def test_another_language_than_the_memorys_own_is_refused(tenant, embedder):
    with with_language("spanish", tenant, embedder) as memory:
        memory.add("Hola.", user_id="ana")
    with with_language("english", tenant, embedder) as memory, pytest.raises(StoreMismatch, match="spanish"):
        memory.add("Hello.", user_id="ana")


def test_a_metadata_filter_tells_true_from_one(memory):
    memory.add({"id": "one", "text": "A boat.", "metadata": {"n": 1, "t": [1, 2]}}, user_id="ana")
    assert memory.search("boat", user_id="ana", metadata={"n": True}) == []
    assert found(memory.search("boat", user_id="ana", metadata={"n": 1, "t": (1, 2)})) == {"one"}


def test_the_end_of_a_range_is_the_local_day(tenant, embedder):
    settings = Settings.load(tenant=tenant, timezone="Europe/Berlin")
    with Memory.connect(settings=settings, embedder=embedder) as memory:
        memory.add({"id": "late", "text": "A boat.", "time": "2024-10-27T23:30:00"}, user_id="ana")
        assert found(memory.search("boat", user_id="ana", since="2024-10-27", until="2024-10-27")) == {"late"}
        assert memory.search("boat", user_id="ana", until="2024-10-27t10:00:00") == []


@pytest.mark.parametrize("speaker", ["Ａｎａ", "ｱﾅ", "\ue000na", "\ufffd", "😀", "ana"])
@pytest.mark.parametrize("wait", [True, False])
def test_a_range_drops_no_name_whatever_its_letters(memory, speaker, wait):
    memory.add("The ferry leaves at noon.", speaker=speaker, user_id="ana", time="2023-05-08", wait=wait)
    (open_,) = memory.search("ferry", user_id="ana", explain=True)
    (ranged,) = memory.search("ferry", user_id="ana", since="2023-01-01", explain=True)
    (named,) = memory.search("ferry", user_id="ana", speaker=speaker, explain=True)
    assert ranged.score == named.score == open_.score
    scores = [replace(hit.explanation, rounds=()) for hit in (ranged, named, open_)]
    assert scores[0] == scores[1] == scores[2]
    assert memory.search("ferry", user_id="ana", speaker="somebody else") == []


@pytest.mark.parametrize(
    "narrowing", [{"session": "small"}, {"since": "2024-01-01"}, {"session": "small", "tags": ["z"]}]
)
def test_a_pending_note_is_found_by_what_narrows_however_many_share_its_word(tenant, embedder, narrowing):
    settings = Settings.load(recall={"lexical_pool": 2, "pool": 5})
    with Memory.connect(tenant=tenant, embedder=embedder, settings=settings) as memory:
        many = [{"id": f"n{n}", "text": f"ferry {n}", "session": "big", "time": "2023-05-08"} for n in range(40)]
        memory.add_many(many, user_id="ana", wait=False)
        long = "The ferry ticket that Ana bought lies in the big drawer of the kitchen beside the window."
        memory.add(long, id="x", session="small", tags=["z"], time="2024-05-08", user_id="ana", wait=False)
        (hit,) = memory.search("ferry", user_id="ana", top_k=3, **narrowing)
        assert hit.sources[0].id == "x"


def test_a_keyword_that_only_deleted_notes_carry_leads_nowhere(memory):
    memory.add("My bank password is Hunterzwei.", id="s", user_id="ana")
    memory.add("The ferry leaves from the old harbour.", user_id="ana")
    question = "What about the bank password, and the old harbour?"
    rare = {anchor.keyword: anchor.rarity for anchor in memory.anchors(question, user_id="ana")}
    assert "bank password" in rare
    memory.delete("s", user_id="ana")
    left = memory.anchors(question, user_id="ana")
    assert left
    assert all(anchor.notes for anchor in left)
    assert not {"bank password", "hunterzwei"} & {anchor.keyword for anchor in left}
