"""Bad input gets a clear error, and nothing is half-written."""

from dataclasses import replace

import pytest

from memgraph_engine import Memory
from memgraph_engine.errors import InvalidInput

DEEP: list = []
for _ in range(5000):
    DEEP = [DEEP]
BAD = {
    "empty text": ({"text": ""}, "empty"),
    "blank text": ({"text": " \n\t"}, "empty"),
    "no text": ({"speaker": "Ana"}, "empty"),
    "a number for a text": ({"text": 7}, "string"),
    "a message of 1 MB": ({"text": "x" * 1_000_000}, "ingest"),
    "a NUL": ({"text": "a\0b"}, "NUL"),
    "a lone surrogate": ({"text": "a\ud800b"}, "surrogate"),
    "a NUL in the speaker": ({"text": "a", "speaker": "A\0"}, "speaker.*NUL"),
    "a NUL in the metadata": ({"text": "a", "metadata": {"k": "a\0"}}, "metadata.*NUL"),
    "a date that is none": ({"text": "a", "time": "2023-13-45"}, "2023-13-45"),
    "a date in words": ({"text": "a", "time": "yesterday"}, "ISO 8601"),
    "a year beyond all": ({"text": "a", "time": "9999-12-31T23:00:00"}, "years"),
    "a year before all": ({"text": "a", "time": "0001-01-01"}, "years"),
    "a time that is a number": ({"text": "a", "time": 17}, "time is the number 17; write it as ISO 8601"),
    "an unknown field": ({"text": "a", "sesion": "s"}, "'sesion'.*Did you mean 'session'"),
    "text and content": ({"text": "a", "content": "b"}, "both"),
    "a role alone": ({"role": "user", "time": "2024-05-01"}, "neither content nor tool_calls"),
    "an offset that no place has": ({"text": "a", "time": "2024-05-01T10:00+19:30"}, "14 hours"),
    "a part of no known kind": ({"role": "user", "content": [{"type": "hologram"}]}, "'hologram' and holds no text"),
    "a part that is no text, and nobody's": ({"content": [{"type": "image_url", "image_url": {}}]}, "empty"),
    "a kind that is none": ({"text": "a", "kind": "dream"}, "dream"),
    "tags that are a string": ({"text": "a", "tags": "red"}, "list"),
    "metadata that is no mapping": ({"text": "a", "metadata": [1]}, "mapping"),
    "metadata that is no JSON": ({"text": "a", "metadata": {"x": object()}}, "JSON"),
    "metadata that is not a number": ({"text": "a", "metadata": {"x": float("nan")}}, "JSON"),
    "metadata too deep": ({"text": "a", "metadata": {"x": DEEP}}, "JSON"),
    "a caption that is a number": ({"text": "a", "caption": 0}, "caption"),
    "a kind that is a list": ({"text": "a", "kind": ["message"]}, "kind"),
    "the last code point": ({"text": "a", "speaker": "\U0010ffff"}, "no character"),
    "bytes": (b"abc", "bytes"),
    "an id that is too long": ({"text": "a", "id": "x" * 1000}, "1000 characters"),
    "no message at all": (17, "is the number 17; a text"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_message_is_refused_with_the_reason_before_anything_is_asked(untouched, case):
    bad, reason = BAD[case]
    with pytest.raises(InvalidInput, match=reason) as error:
        untouched.add_many([{"text": "A good one."}, bad], user_id="ana")
    assert "message 2 of 2" in str(error.value)


def test_beside_a_bad_message_nothing_is_written(memory):
    with pytest.raises(InvalidInput, match="message 2 of 2"):
        memory.add_many([{"text": "A good one."}, {"text": ""}], user_id="ana")
    assert memory.stats(user_id="ana").sources == 0


@pytest.mark.parametrize("given", ["", {"text": " "}, [""]])
def test_one_text_that_is_empty_has_no_number(untouched, given):
    with pytest.raises(InvalidInput, match=r"^the text is empty; give at least one word\.$"):
        untouched.add(given, user_id="ana")


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("said_at", "time"), ("saidAt", "time"), ("conversation_id", "session"), ("spaeker", "speaker")],
)
def test_a_field_that_there_is_not_is_told_with_the_one_that_is_meant(untouched, wrong, meant):
    with pytest.raises(InvalidInput, match=f"unknown field '{wrong}'.*Did you mean '{meant}'"):
        untouched.add({"text": "Hi!", wrong: "2024-05-01"}, user_id="ana")


@pytest.mark.parametrize("user", ["", 7, "x" * 1000, "a\ud800"])
def test_a_user_that_can_not_be_is_refused(untouched, user):
    with pytest.raises(InvalidInput, match="user_id"):
        untouched.add("Hello.", user_id=user)


@pytest.mark.parametrize("top_k", [0, -1, 1_000_000, 2.5, True, "7"])
def test_a_top_k_that_makes_no_sense_is_refused(untouched, top_k):
    with pytest.raises(InvalidInput, match="top_k"):
        untouched.search("Lisbon", user_id="ana", top_k=top_k)


def test_an_empty_question_is_refused(untouched):
    with pytest.raises(InvalidInput, match="query"):
        untouched.search("  ", user_id="ana")


@pytest.fixture(scope="module")
def moved(kept):
    return kept(lambda memory: memory.add("Ana moved to Lisbon.", user_id="ana"))


@pytest.mark.parametrize(
    "question",
    [
        "the of and",
        "?!",
        "/ \" ' ) ( : \\ + - && || ! ^ ~ * [ ] { }",
        "lisbon " * 10_000,
        " ".join(f"word{i}" for i in range(10_000)),
        "OR NOT AND",
        "漢字",
    ],
)
def test_any_other_question_gets_an_answer(moved, question):
    assert len(moved.search(question, user_id="ana")) == 1


def test_a_question_to_an_empty_memory_finds_nothing(memory):
    assert memory.search("Lisbon", user_id="nobody") == []


def test_a_search_leaves_no_scope_behind(memory):
    memory.search("Lisbon", user_id="nobody")
    assert memory.stats(user_id="nobody").language == ""


def test_an_empty_list_is_no_error(untouched):
    assert untouched.add_many([], user_id="ana").entries == ()


def test_a_time_range_that_is_empty_is_refused(untouched):
    with pytest.raises(InvalidInput, match="time range"):
        untouched.search("Lisbon", user_id="ana", since="2024-01-01", until="2023-01-01")


def test_a_bad_line_of_an_iterator_ends_the_call_and_the_rest_can_be_made_again(memory):
    settings = memory.engine.settings.model_copy(update={"ingest_batch": 4})
    few = Memory(replace(memory.engine, settings=settings))
    good = [f"Fact number {i}." for i in range(10)]
    with pytest.raises(InvalidInput, match="message 11 is empty"):
        few.add_many(iter([*good, {"text": ""}]), user_id="ana")
    assert few.add_many(good, user_id="ana").added == 10 - 8
    assert few.verify(user_id="ana") == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"tags": "red"}, {"tags": 5}, {"tags": [1]}, {"tags": iter(["x"])}, {"metadata": ["n"]}, {"metadata": 3},
        {"min_similarity": "0.5"}, {"min_similarity": float("nan")}, {"min_similarity": 2}, {"min_similarity": True},
        {"session": 7}, {"session": "\ud800"}, {"speaker": b"Ana"}, {"since": "tomorrow"}, {"until": 7},
    ],
)  # fmt: skip
def test_a_filter_of_the_wrong_type_is_refused_whatever_is_stored(untouched, wrong):
    with pytest.raises(InvalidInput):
        untouched.search("boat", user_id="ana", **wrong)


@pytest.mark.parametrize("id_", [None, 7, b"x", "\ud800", "x" * 1000])
def test_an_id_that_can_not_be_is_refused(untouched, id_):
    for call in (untouched.get, untouched.history, untouched.delete):
        with pytest.raises(InvalidInput, match="id"):
            call(id_, user_id="ana")


def test_names_as_long_as_allowed_are_stored(memory):
    long = "\U0001d54f" * 512
    memory.add({"text": "A boat.", "id": long, "session": long, "speaker": long}, user_id="ana")
    assert memory.get(long, user_id="ana").session == long
    with pytest.raises(InvalidInput, match="percent-encoded"):
        memory.add("A boat.", user_id=long)


def test_text_that_only_looks_like_a_nul_is_stored(memory):
    memory.add({"id": "x", "text": "a", "metadata": {"a": "\\u0000"}}, user_id="ana")
    assert memory.get("x", user_id="ana").sources[0].metadata == {"a": "\\u0000"}


def test_no_message_repeats_a_long_input_whole(untouched):
    with pytest.raises(InvalidInput) as raised:
        untouched.search("boat", user_id="ana", top_k="7" * 2_000_000)
    assert str(raised.value).startswith("top_k must be")
    assert len(str(raised.value)) < 3000
