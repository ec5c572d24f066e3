"""Files in, messages out: what each format gives, and that a fault costs one line."""

import doctest
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraph_engine.errors import InvalidInput
from memgraph_engine.ingest import passages as passages_module
from memgraph_engine.ingest import readers
from memgraph_engine.ingest.passages import passages
from memgraph_engine.ingest.readers import BadLine


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def read(path, **options):
    """Read a file; what it gives an id of its own has none here."""

    def without(one):
        own = not isinstance(one, BadLine) and len(one["id"]) == 32
        return {key: value for key, value in one.items() if key != "id"} if own else one

    return map(without, readers.read(path, **options))


@pytest.mark.parametrize("module", [readers, passages_module])
def test_docstring_examples(module):
    assert doctest.testmod(module).failed == 0


def test_a_line_is_a_message(write):
    message = {"id": "1", "speaker": "Ann", "text": "Hi", "time": "2024-05-01T10:00", "tags": ["a"]}
    assert list(read(write("a.jsonl", json.dumps(message)))) == [message]


def test_keys_without_a_value_are_left_out(write):
    assert list(read(write("a.jsonl", '{"text": "Hi", "speaker": null, "tags": []}'))) == [{"text": "Hi"}]


def test_a_line_without_an_id_has_the_same_one_whenever_it_is_read(write):
    path = write("a.jsonl", '{"text": "Hi"}\n{"text": "Hi"}\n{"text": "Bye"}')
    first, same, other = (line["id"] for line in readers.read(path))
    assert first == same != other
    assert [line["id"] for line in readers.read(path)] == [first, same, other]


def test_chat_lines_are_read(write):
    assert list(read(write("a.jsonl", '{"role": "user", "content": "Hi"}'))) == [{"role": "user", "text": "Hi"}]


def test_text_parts_are_joined(write):
    line = {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    assert list(read(write("a.jsonl", json.dumps(line)))) == [{"role": "user", "text": "a\nb"}]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "no JSON"),
        ("[1]", "no object"),
        ('{"role": "user"}', "empty"),
        ('{"text": "  "}', "empty"),
        ('{"text": 3}', "string is needed"),
        ('{"text": "a", "mood": "b"}', "unknown field 'mood'"),
        ('{"text": "a\\u0000"}', "NUL"),
        ('{"text": "a\\ud800"}', "surrogate"),
        ('{"text": NaN}', "no number of JSON"),
        ('{"text": "a", "time": "soon"}', "can't be read"),
        ("[" * 100_000, "JSON"),
    ],
)
def test_a_bad_line_is_named_and_passed_over(write, line, reason):
    path = write("a.jsonl", f'{{"text": "one"}}\n{line}\n{{"text": "three"}}\n')
    first, bad, last = read(path)
    assert (first, last) == ({"text": "one"}, {"text": "three"})
    assert (bad.file, bad.line) == (str(path), 2)
    assert reason in bad.reason


def test_a_line_that_is_not_utf8_is_passed_over(write):
    bad, good = read(write("a.jsonl", b'{"text": "\xff"}\n{"text": "ok"}'))
    assert bad.line == 1
    assert "not UTF-8" in bad.reason
    assert good == {"text": "ok"}


def test_byte_order_mark_windows_lines_and_blank_lines_are_fine(write):
    path = write("a.jsonl", b'\xef\xbb\xbf{"text": "a"}\r\n\r\n{"text": "b"}\r\n')
    assert list(read(path)) == [{"text": "a"}, {"text": "b"}]


def test_lines_are_read_as_they_are_asked_for(write):
    path = write("a.jsonl", '{"text": "a"}\n' * 100_000)
    assert next(read(path)) == {"text": "a"}


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.md", "a.txt"])
def test_an_empty_file_holds_nothing(write, name):
    assert list(read(write(name, ""))) == []


def test_an_array_is_read(write):
    assert list(read(write("a.json", '[\n{"text": "a"},\n{"content": "b"}]'))) == [
        {"text": "a"},
        {"text": "b"},
    ]


def test_a_bad_entry_of_an_array_has_its_line(write):
    good, bad, last = read(write("a.json", '[\n{"text": "a"},\n{"text": ""},\n{"text": "c"}]'))
    assert (good["text"], bad.line, last["text"]) == ("a", 3, "c")


def test_an_array_is_read_up_to_broken_json(write):
    good, bad = read(write("a.json", '[{"text": "a"},\n{"text": }, {"text": "c"}]'))
    assert good == {"text": "a"}
    assert bad.line == 2


def test_a_file_without_a_telling_name_is_told_by_its_beginning(write):
    assert list(read(write("log", '{"text": "a"}\n{"text": "b"}'))) == [{"text": "a"}, {"text": "b"}]


def test_a_format_that_cannot_be_told_is_an_error(write):
    with pytest.raises(InvalidInput, match="can't be told"):
        read(write("a.bin", b"\x00\x01"))


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(InvalidInput, match="no file"):
        read(tmp_path / "none.txt")


def test_utf16_is_an_error(write):
    with pytest.raises(InvalidInput, match="UTF-16"):
        read(write("a.txt", "hello".encode("utf-16")))


def test_a_document_becomes_passages_of_one_session(write):
    path = write("notes.txt", "\n\n".join(f"Paragraph {n}. " + "Words. " * 20 for n in range(5)))
    found = list(read(path, passage=200))
    assert [m["id"] for m in found] == [f"notes.txt#{n}" for n in range(5)]
    assert {(m["kind"], m["session"]) for m in found} == {("document", "notes.txt")}


def test_a_document_may_be_named(write):
    assert next(read(write("a.txt", "Hello."), id="guide"))["id"] == "guide#0"


def test_a_document_that_is_not_utf8_is_reported(write):
    assert list(read(write("a.txt", b"fine\nb\xe9b\xe9"))) == [
        BadLine(file=str(write("a.txt", b"fine\nb\xe9b\xe9")), line=2, reason="the file is not UTF-8")
    ]


def test_a_passage_stands_under_its_headings():
    text = "# Guide\n\nIntro.\n\n## Install\n\n" + "Use pip. " * 40
    found = list(passages(text, 200, markdown=True))
    assert found[1].startswith("Guide\n\n## Install\n\nUse pip.")
    assert found[2].startswith("Guide > Install\n\nUse pip.")


def test_a_hash_in_code_is_no_heading():
    text = "# Guide\n\n```sh\n# comment\nls\n```\n"
    assert list(passages(text, 200, markdown=True)) == [text.strip()]


def test_an_underlined_heading_is_one():
    assert list(passages("One\n===\n\na\n\nTwo\n===\n\nb", 200, markdown=True)) == [
        "One\n===\n\na",
        "Two\n===\n\nb",
    ]


def test_a_long_paragraph_is_cut_at_sentences():
    found = list(passages("This sentence has six words. " * 20, 200))
    assert all(passage.endswith(".") for passage in found)


def solid(text: str) -> str:
    return "".join(text.split())


TEXTS = st.text(st.sampled_from("ab .!?。\n\t\r#=`-> \u2028é"), max_size=1500)


@given(TEXTS | st.text(max_size=500))
def test_passages_lose_nothing(text):
    assert solid("".join(passages(text, 200))) == solid(text)


@given(TEXTS)
def test_markdown_passages_hold_every_line(text):
    joined = solid("".join(passages(text, 5000, markdown=True)))
    assert all(solid(line) in joined for line in text.splitlines())


@given(TEXTS, st.booleans())
def test_no_passage_is_empty_or_too_long(text, markdown):
    assert all(0 < len(passage.strip()) <= len(passage) <= 200 for passage in passages(text, 200, markdown=markdown))


SAMPLE = {
    "sample_id": "s1",
    "conversation": {
        "session_10": [{"speaker": "Bob", "dia_id": "D10:1", "text": "Last."}],
        "session_2_date_time": "12:05 am on 1 March, 2024",
        "session_2": [
            {"speaker": "Ann", "dia_id": "D2:1", "text": "Look!", "img_url": ["x"]},
            {"speaker": "Bob", "dia_id": "D2:2", "text": "", "blip_caption": "a red kite"},
        ],
    },
}


def test_locomo_turns_come_in_the_order_of_sessions(write):
    found = list(read(write("l.json", json.dumps([SAMPLE]))))
    assert [m["id"] for m in found] == ["D2:1", "D2:2", "D10:1"]


def test_a_locomo_turn_has_its_time_and_session(write):
    assert next(read(write("l.json", json.dumps([SAMPLE])))) == {
        "id": "D2:1",
        "speaker": "Ann",
        "text": "Look!",
        "session": "session_2",
        "time": "2024-03-01T00:05:00",
    }


def test_a_locomo_turn_without_text_keeps_its_caption(write):
    found = list(read(write("l.json", json.dumps([SAMPLE]))))[1]
    assert found["caption"] == "a red kite"
    assert "text" not in found


def test_a_locomo_sample_is_chosen_by_its_id(write):
    other = {"sample_id": "s2", "conversation": {"session_1": [{"dia_id": "D1:1", "text": "Other."}]}}
    path = write("l.json", json.dumps([SAMPLE, other]))
    assert [m["text"] for m in read(path, sample_id="s2")] == ["Other."]
    with pytest.raises(InvalidInput, match="s1, s2"):
        read(path)


def test_a_locomo_turn_that_is_empty_is_reported(write):
    sample = {"sample_id": "s", "conversation": {"session_1": [{"dia_id": "D1:1", "text": ""}, "x"]}}
    assert ["'D1:1'" in bad.reason for bad in read(write("l.json", json.dumps([sample])))] == [True, False]


@pytest.mark.parametrize(
    "content",
    [
        '[{"text":"a"}] [{"text":"lost"}]',
        '[{"text":"a"}, {"text":"b"}',
        '[{"text":"a"} {"text":"b"}]',
        '[{"text":"a"}]junk',
    ],
)
def test_what_an_array_leaves_over_is_told(tmp_path, content):
    file = tmp_path / "chat.json"
    file.write_text(content)
    assert any(isinstance(item, BadLine) for item in read(file))


def test_thousands_of_blank_lines_take_no_time(tmp_path):
    text = "x" * 1500 + (" " * 50 + "\n") * 20_000 + "\nend"
    assert [part[-3:] for part in passages(text, 1200)][-1] == "end"
