"""How the bench fits a ranking, and what it fits it on."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from bench.chats import PREFERENCES, Ask, Chat, Exchange, chats, exchanges, plain, turns, woven
from bench.ranking import CHATS, Asked, fitted
from memgraph_engine.language.terms import listed_terms, tokenize
from memgraph_engine.recall.ranking import FEATURES, whose


def asked(question, *, tells):
    """Return a question whose answer is the note that has most of one feature; all others are noise."""
    draw = np.random.default_rng(question)
    known = draw.random((30, len(FEATURES)))
    known[:, FEATURES.index(tells)] *= 3
    held = np.arange(30) == known[:, FEATURES.index(tells)].argmax()
    return Asked(CHATS, "minilm", "one", "user", known, {}, held[None], held)


def test_what_tells_the_answer_weighs_most():
    every = [asked(number, tells="recency") for number in range(60)]
    found = fitted(every, every[0].whose)
    assert max(found.weights, key=found.weights.get) == "recency"
    scores = [found.scores(one.features) for one in every]
    assert np.mean(scores) == pytest.approx(1 / 30, rel=0.01), "as many notes are likely as hold answers"
    new = [asked(number, tells="recency") for number in range(100, 130)]
    right = [one.measured(found.parts(one.features).sum(axis=1))["first"] for one in new]
    assert np.mean(right) > 0.85, "of thirty, one is right by chance"


def test_of_several_things_that_are_wanted_each_counts():
    one = asked(1, tells="recency")
    two = replace(one, wanted=np.array([np.arange(30) % 3 == 0, np.zeros(30, dtype=bool)]))
    assert two.measured(np.arange(30.0))["R@10"] == 0.5


def test_a_woven_chat_has_all_its_turns_in_their_order_and_others_between():
    turns = [
        {"role": role, "content": f"{role} {n}", "session": "s"} for n in range(4) for role in ("user", "assistant")
    ]
    chat = Chat("c", "english", "told", [turns], [Ask("?", None, [], [], [], nothing=True)])
    others = [Exchange("english", f"ask {n}", f"tell {n}") for n in range(9)]
    (found,) = woven(chat, [*others, Exchange("spanish", "¿qué?", "nada")], 6).sessions
    assert [turn["content"].split("\n\n")[0] for turn in found if not turn["content"].startswith(("ask", "tell"))] == [
        turn["content"] for turn in turns
    ]
    assert sum(turn["content"].startswith("ask") for turn in found) == 6
    assert woven(chat, others, 6) == woven(chat, others, 6)


def test_the_other_exchanges_are_long_and_each_their_own():
    every = exchanges()
    assert len({one.user for one in every}) == len({one.assistant for one in every}) == len(every) >= 100
    assert all(100 <= len(one.assistant.split()) <= 600 for one in every)


@pytest.mark.parametrize("name", [PREFERENCES.name, "preferences_kept_back.jsonl"])
def test_a_request_shares_no_word_with_the_preference_that_it_is_about(name):
    plain_words = listed_terms("english", "stop-words") | listed_terms("english", "common-words")
    every = chats(PREFERENCES.with_name(name))
    assert sum(len(chat.asks) for chat in every) == 15
    for chat in every:
        for ask in chat.asks:
            (told,) = (turn for turn in turns(chat, "user") if plain(ask.current[0]) in plain(turn))
            shared = set(tokenize(told, "english")) & set(tokenize(ask.question, "english"))
            assert shared <= plain_words


@pytest.mark.parametrize(
    ("said", "of"),
    [
        ([("user", ""), ("assistant", "")], "user"),
        ([("user", "Ana"), ("user", ""), ("assistant", "Bot")], "user"),
        ([("", "Ana"), ("", "Bo")], "people"),
        ([("user", "Ana"), ("user", "Bo"), ("assistant", "")], "people"),
    ],
)
def test_a_talk_is_one_of_several_people_where_several_are_named(said, of):
    assert whose([SimpleNamespace(role=role, speaker=speaker) for role, speaker in said]) == of
