"""What the tokenisers promise to the index, to Lucene and to the reader of a query."""

import doctest
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, strategies as st

from memgraph_engine.errors import InvalidInput, SettingsError
from memgraph_engine.language import terms
from memgraph_engine.language.terms import MAX_TOKEN, sentences, tokenize

LANGUAGES = ["english", "spanish", "french", "cjk", "standard"]
LUCENE_SYNTAX = set("+-&|!(){}[]^\"~*?:\\/'")


def test_docstring_examples():
    assert doctest.testmod(terms).failed == 0


@given(st.text(), st.sampled_from(LANGUAGES))
def test_a_token_is_neither_empty_nor_long(text, name):
    assert all(0 < len(token) <= MAX_TOKEN for token in tokenize(text, name))


@given(st.text(), st.sampled_from(LANGUAGES))
def test_tokens_survive_joining_with_spaces(text, name):
    tokens = tokenize(text, name)
    assert " ".join(tokens).split() == tokens


@given(st.text(st.characters() | st.sampled_from(sorted(LUCENE_SYNTAX))), st.sampled_from(LANGUAGES))
def test_no_lucene_syntax_comes_through(text, name):
    assert not LUCENE_SYNTAX.intersection("".join(tokenize(text, name)))


@pytest.mark.parametrize("name", LANGUAGES)
def test_lucene_operators_come_out_in_lower_case(name):
    assert not {"AND", "OR", "NOT", "TO"}.intersection(tokenize("cats AND dogs OR NOT birds TO ＡＮＤ", name))


def test_the_same_word_in_another_form_is_the_same_token():
    assert tokenize("painting", "english") == tokenize("Paints", "english")


def test_typographic_and_plain_apostrophes_agree():
    assert tokenize("Maria’s don’t", "english") == tokenize("Maria's don't", "english") == ["maria", "dont"]


def test_a_contraction_does_not_meet_another_word():
    assert tokenize("we'll", "english") != tokenize("well", "english")


def test_english_stop_words_are_dropped():
    assert tokenize("To be or not to be, that is the question", "english") == ["question"]


def test_accents_do_not_matter_in_english():
    assert tokenize("café", "english") == tokenize("cafe", "english")


def test_another_script_in_an_english_scope_is_kept():
    assert tokenize("Москва", "english") == ["москва"]


def test_spanish_forms_meet():
    assert tokenize("las canciones", "spanish") == tokenize("La canción", "spanish")


def test_decomposed_accents_are_composed_before_stemming():
    assert tokenize("cancio\u0301n", "spanish") == tokenize("canción", "spanish")


def test_japanese_is_cut_into_bigrams():
    assert tokenize("東京タワーへ。猫", "cjk") == ["東京", "京タ", "タワ", "ワー", "ーへ", "猫"]


def test_half_width_katakana_are_widened():
    assert tokenize("ﾀﾜｰ", "cjk") == tokenize("タワー", "cjk")


def test_latin_words_inside_japanese_stay_whole():
    assert tokenize("iPhone15を買った", "cjk") == ["iphone15", "を買", "買っ", "った"]


def test_standard_keeps_every_word():
    assert tokenize("The Straße and the ﬁsh", "standard") == ["the", "strasse", "and", "the", "fish"]


def test_vowel_signs_do_not_cut_a_word():
    assert tokenize("हिन्दी भाषा", "standard") == ["हिन्दी", "भाषा"]


def test_an_unknown_language_is_named_with_the_known_ones():
    with pytest.raises(InvalidInput, match=rf"'klingon'.*{', '.join(terms.LANGUAGES)}"):
        tokenize("nuqneH", "klingon")


def test_threads_get_the_same_stems():
    words = [f"running{n} walking{n} stones{n}" for n in range(300)]
    expected = [tokenize(text, "english") for text in words]
    terms._stems.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda text: tokenize(text, "english"), words)) == expected


def test_the_stem_cache_stays_bounded(monkeypatch):
    monkeypatch.setattr(terms, "_CACHED_WORDS", 10)
    tokenize(" ".join(f"word{n}" for n in range(50)), "english")
    tokenize("another", "english")
    assert len(terms._stems("english")) <= 11


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_megabyte_takes_less_than_two_seconds(name):
    text = " ".join(f"wörd{n} plain{n}" for n in range(60_000))
    started = time.process_time()
    tokenize(text, name)
    assert time.process_time() - started < 2


def test_importing_needs_no_numpy():
    import subprocess

    code = "import sys, memgraph_engine.language; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("text", [" " * 200_000, "dr. " * 50_000, ". " * 100_000, "\n" * 200_000, '."' * 100_000])
def test_sentences_of_a_long_text_are_found_in_no_time(text):
    found = sentences(f"{text}I left.", "english")
    assert found[-1].endswith("I left.")


def test_a_class_that_english_has_not_is_told_with_its_file_and_line(tmp_path, monkeypatch):
    (tmp_path / "words.toml").write_text('# Klingon\nnumbers = """wa=1"""\nstopwords = """qo"""\n')
    shipped = terms.resource
    monkeypatch.setattr(terms, "resource", lambda *at: tmp_path / at[-1] if "klingon" in at else shipped(*at))
    with pytest.raises(SettingsError, match=r"words\.toml, line 3: 'stopwords' is no class"):
        terms.word_list("klingon", "numbers")
