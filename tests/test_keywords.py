"""Keywords found by word lists: what is one, what is none, and which are chosen."""

import doctest
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, strategies as st

from memgraph_engine.language import keywords, phrases
from memgraph_engine.language.keywords import MAX_CANDIDATES, candidates, canonical, choose, key


def english(text: str, speaker: str = "Ann") -> list[str]:
    return candidates(text, "english", speaker=speaker)


@pytest.mark.parametrize("module", [keywords, phrases])
def test_docstring_examples(module):
    assert doctest.testmod(module).failed == 0


def test_small_talk_has_no_keyword():
    assert english("Yeah, thanks a lot! That was awesome, we had such a great time.") == []


def test_a_phrase_between_function_words_is_a_candidate():
    assert english("We planted tomato seeds in the community garden.") == [
        "tomato seeds",
        "community garden",
    ]


def test_a_name_keeps_its_capitals():
    assert "Golden Gate Bridge" in english("We cycled over the Golden Gate Bridge.")


def test_a_name_may_hold_a_connector():
    assert "University of Oslo" in english("She studies at the University of Oslo.")


def test_a_word_that_opens_a_sentence_is_no_name():
    assert english("Pottery relaxes me.")[0] == "pottery"


def test_a_word_that_opens_a_sentence_is_a_name_if_it_is_elsewhere():
    assert "Rex" in english("Rex barked. I took Rex to the vet.")


def test_a_quoted_title_is_a_name():
    assert "War and Peace" in english('I finished "War and Peace".')


@pytest.mark.parametrize("text", ["Hey Bob!", "Thanks, Bob.", "Bob, that is nice!", "Oh, Bob, I know."])
def test_whom_one_speaks_to_is_no_keyword(text):
    assert english(text) == []


def test_a_list_of_names_is_kept():
    assert english("We love Paris, London, and Rome.") == ["Paris", "London", "Rome"]


def test_a_one_word_answer_is_kept():
    assert english("Berlin.") == ["berlin"]


def test_the_speaker_is_no_keyword():
    assert english("My parents named me Ann, and Ann's garden is big.") == ["parents", "garden"]


@pytest.mark.parametrize(
    "when", ["yesterday", "last week", "on Monday", "on 5 May 2023", "in 1999", "two months ago", "at 5pm"]
)
def test_a_time_is_no_keyword(when):
    assert english(f"I bought a bicycle {when}.") == ["bicycle"]


@pytest.mark.parametrize("address", ["https://example.org/a?b=c", "www.example.org", "ann@example.org", "example.com"])
def test_an_address_is_no_keyword(address):
    assert english(f"The recipe is at {address} now.") == ["recipe"]


def test_capitals_of_a_shout_say_nothing():
    assert english("LOOK AT MY NEW BICYCLE") == ["bicycle"]


def test_a_repeat_in_another_form_is_one_candidate():
    assert english("Support groups help me. A support-group is good.") == ["support groups"]


def test_spanish_phrases_keep_their_connector():
    assert candidates("Ayer fui a mi grupo de apoyo en Buenos Aires.", "spanish", speaker="Ana") == [
        "grupo de apoyo",
        "Buenos Aires",
    ]


def test_spanish_small_talk_has_no_keyword():
    assert candidates("¡Hola! Muchas gracias, estoy muy contento hoy.", "spanish", speaker="Ana") == []


def test_japanese_runs_are_candidates_and_dates_are_not():
    found = candidates("昨日、東京タワーの展望台に行きました。", "cjk", speaker="太郎")
    assert found == ["東京タワー", "展望台"]


def test_chinese_is_cut_at_particles():
    assert candidates("我喜欢吃烤鸭和火锅。", "cjk", speaker="") == ["烤鸭", "火锅"]


def test_korean_particles_are_cut():
    assert candidates("어제 서울에서 친구를 만났어요.", "cjk", speaker="") == ["서울", "친구"]


def test_standard_takes_names_and_long_words():
    assert candidates("Nous avons visité Lyon hier", "standard", speaker="") == ["visité", "Lyon"]


@given(st.text(), st.sampled_from(["english", "spanish", "cjk", "standard"]))
def test_any_text_gives_a_few_distinct_phrases(text, language):
    found = candidates(text, language, speaker="Ann")
    assert len(found) <= MAX_CANDIDATES
    assert len({key(phrase, language) for phrase in found}) == len(found)
    assert all(canonical(phrase) for phrase in found)


@pytest.mark.parametrize("text", ["a@" * 30_000, "N a " * 15_000, "a-" * 30_000, '"A' * 30_000])
def test_no_text_takes_long(text):
    started = time.process_time()
    candidates(text, "english", speaker="Ann")
    assert time.process_time() - started < 2


def vectors(*cosines: float) -> np.ndarray:
    return np.array([[c, np.sqrt(1 - c * c)] for c in cosines], np.float32)


TEXT = np.array([1, 0], np.float32)


def test_the_nearest_are_chosen_first():
    assert choose(["far", "near"], vectors(0.1, 0.9), TEXT, 8) == ["near", "far"]


def test_a_name_goes_before_a_phrase_that_is_as_near():
    assert choose(["dog", "Oslo"], vectors(0.5, 0.5), TEXT, 1) == ["Oslo"]


def test_a_phrase_inside_a_better_one_is_dropped():
    assert choose(["group", "support group"], vectors(0.4, 0.6), TEXT, 8) == ["support group"]


def test_no_more_than_the_limit_are_chosen():
    assert len(choose(["a", "b", "c"], vectors(0.1, 0.2, 0.3), TEXT, 2)) == 2


def test_no_candidates_give_no_keywords():
    assert choose([], np.empty((0, 2), np.float32), TEXT, 8) == []


def test_canonical_names_meet_across_case_and_composition():
    assert canonical("CAFE\u0301  Noir") == canonical("café noir")


def test_importing_needs_no_numpy():
    code = "import sys, memgraph_engine.language.keywords; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
