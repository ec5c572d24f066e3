"""What leaves a memory together, and what a summary without a model keeps of it."""

import os
import subprocess
import sys

import numpy as np
import pytest

from memgraph_engine.language.details import details
from memgraph_engine.lifecycle.eviction import Cold, clusters, information, temperatures
from memgraph_engine.lifecycle.summaries import extract, rarity, unfaithful


def unit(*rows):
    vectors = np.array(rows, dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def notes(*given):
    return [Cold(alike, session, (float(at), at)) for at, (alike, session) in enumerate(given)]


def summed(*texts, keep=0.4, language="english"):
    return [text for text in extract(texts, rarity(texts, language), keep, language) if text]


def test_what_was_used_more_or_is_newer_is_warmer():
    same = np.zeros(3)
    warm = temperatures(np.array([2.0, 0.0, 0.0]), np.array([100.0, 100.0, 1.0]), same, 1.0, 1.0, 1.0)
    assert np.argsort(warm).tolist() == [1, 2, 0]
    warm = temperatures(np.array([2.0, 0.0]), np.array([100.0, 1.0]), same[:2], 0.0, 1.0, 1.0)
    assert np.argsort(warm).tolist() == [0, 1]


def test_what_tells_more_is_warmer_however_long_it_is():
    said = ["thank you so much", "the wedding is in porto", "thank you thank you thank you so so much and much more"]
    told = information([text.split() for text in said])
    assert max(told[0], told[2]) < told[1] <= 1
    warm = temperatures(np.zeros(3), np.full(3, 90.0), np.array(told), 1.0, 1.0, 1.0)
    assert np.argsort(warm)[-1] == 1
    assert information([]) == []


def test_a_summary_stands_for_what_is_near_and_has_one_class_speaker_and_role():
    near = unit([1, 0], [1, 0.1], [1, 0.2], [1, 0.3])
    given = notes(("ana", "s"), ("ana", "t"), ("bo", "s"), ("bo", "s"))
    assert clusters(given, near, 0.6, 10) == [(0, 1), (2, 3)]


def test_a_cluster_has_a_bound_and_takes_the_nearest():
    vectors = unit([1, 0], [1, 0.5], [1, 0.1], [1, 0.2])
    assert clusters(notes(*[("ana", "s")] * 4), vectors, 0.6, 2) == [(0, 2), (1, 3)]


def test_what_is_near_to_none_is_summed_with_the_turns_around_it():
    vectors = unit(*np.eye(6).tolist())
    given = notes(("ana", "s"), ("ana", "t"), ("ana", "s"), ("ana", "t"), ("ana", "u"), ("ana", "v"))
    assert clusters(given, vectors, 0.6, 10) == [(0, 2), (1, 3), (4, 5)]
    assert clusters(given[:5], vectors[:5], 0.6, 10) == [(0, 2, 4), (1, 3)]


def test_what_has_nothing_in_common_with_any_other_stays():
    assert clusters(notes(("ana", "s"), ("bo", "s")), unit([1, 0], [1, 0]), 0.6, 10) == []
    full = notes(*[("ana", "s")] * 2, ("ana", "t"))
    assert clusters(full, unit([1, 0], [1, 0], [0, 1]), 0.6, 2) == [(0, 1)]


def test_every_note_of_many_is_in_one_cluster_at_most():
    rng = np.random.default_rng(0)
    vectors = unit(*rng.normal(size=(1500, 8)))
    given = notes(*[(f"a{n % 3}", f"s{n % 40}") for n in range(1500)])
    found = clusters(given, vectors, 0.6, 10)
    members = [row for some in found for row in some]
    assert sorted(members) == list(range(1500))
    assert {2 <= len(some) <= 10 for some in found} == {True}
    assert all(len({given[row].alike for row in some}) == 1 for some in found)


def test_a_summary_keeps_each_name_number_date_and_denial():
    told = summed(
        "Hi! What a day it was. We met Bruno in Porto, and it rained for hours on end, as it always does there.",
        "I paid 250 euros for the tent. It is green, and it is a nice one, and I am so happy that I have it now.",
        "I don't eat fish. On Friday we cook, and I am looking forward to it very much, as you can imagine.",
        keep=0.1,
    )
    held = " ".join(told)
    assert all(word in held for word in ("Bruno", "Porto", "250", "don't eat fish", "Friday"))
    assert "What a day" not in held


def test_a_summary_keeps_the_order_and_says_nothing_twice():
    told = summed("The boat is red.", "The boat is red.", "We sold the boat to a neighbour.", keep=1.0)
    assert told == ["The boat is red.", "We sold the boat to a neighbour."]


def test_a_summary_is_about_as_long_as_is_asked_for():
    texts = [" ".join(f"Word{n}{m} is here today." for m in "abcde").lower() for n in range(8)]
    whole = sum(len(text.split()) for text in texts)
    kept = sum(len(line.split()) for line in summed(*texts, keep=0.4))
    assert 0.3 * whole <= kept <= 0.4 * whole


@pytest.mark.parametrize("language", ["spanish", "cjk", "standard"])
def test_a_summary_is_made_in_every_language(language):
    text = {
        "spanish": "Vivo en Lisboa. Es muy bonita y me gusta. No como carne.",
        "cjk": "私は京都に住んでいます。猫が3匹います。",
        "standard": "Живу в Праге. Она очень красивая и большая. У меня 3 кошки.",
    }[language]
    (whole,) = summed(text, language=language, keep=1.0)
    (part,) = summed(text, language=language, keep=0.01)
    assert all(word in whole for word in part.split())
    assert len(part) < len(whole)


def test_facts_are_told_from_words_that_only_open_a_sentence():
    found = details("Visiting was nice. Lisbon has 28 trams. I don't like Mondays. It may rain in May.", "english")
    assert found == {
        ("name", "lisbon"),
        ("number", "28"),
        ("denial", "like"),
        ("date", "mondays"),
        ("date", "may"),
    }


@pytest.mark.parametrize(
    ("summary", "why"),
    [
        ("Ana moved to Porto with two cats.", ""),
        ("Ana moved to Porto with 2 cats on 8 May.", ""),
        ("Ana moved to Porto.", "it lacks '2'"),
        ("Ana moved with 2 cats.", "it lacks 'porto'"),
        ("Ana moved to Porto with 2 cats, and Bo.", "it adds 'bo'"),
        ("Ana moved to Porto with 2 cats and 3 dogs.", "it adds '3'"),
    ],
)
def test_a_summary_of_a_model_is_held_against_what_was_said(summary, why):
    said = ["I moved to Porto with two cats."]
    assert unfaithful(summary, [f"Ana: {said[0]} (8 May, 2023)"], said, "english") == why


def test_a_summary_is_the_same_in_every_process(root):
    plants = [
        "tomatoes",
        "basil",
        "figs",
        "lemons",
        "leeks",
        "beans",
        "roses",
        "ferns",
        "mint",
        "thyme",
        "sage",
        "kale",
    ]
    asked = "How often shall I water the {} on the {}nd terrace, which gets sun until the late evening?"
    said = [
        text
        for at, plant in enumerate(plants)
        for text in (asked.format(plant, at + 2), f"Water the {plant} every {at + 1} days.")
    ]
    program = (
        "from memgraph_engine.lifecycle.summaries import extract, rarity\n"
        f"said = {said!r}\n"
        "print([extract(said, rarity(said, 'english'), share / 20, 'english') for share in range(1, 20)])"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program], cwd=root, env={**os.environ, "PYTHONHASHSEED": seed}, text=True,
            capture_output=True, check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(told) == 1
