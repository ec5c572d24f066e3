"""Files in, messages out: what each format gives, and that a fault costs one line."""

import doctest
import json
import sys

import pytest
from hypothesis import given, strategies as st

from memgraph_engine.errors import InvalidInput
from memgraph_engine.ingest import files, folders, passages as passages_module, readers
from memgraph_engine.ingest.passages import passages
from memgraph_engine.ingest.readers import Reader
from memgraph_engine.model import ingested
from memgraph_engine.model.ingested import Fault


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def read(path, id="", **options):
    """Read a file; what it gives an id of its own has none here."""

    def without(one):
        own = not isinstance(one, Fault) and len(one["id"]) == 32
        return {key: value for key, value in one.items() if key != "id"} if own else one

    return map(without, Reader(**options).read(path, id))


@pytest.mark.parametrize("module", [readers, passages_module, files, folders, ingested])
def test_docstring_examples(module):
    assert doctest.testmod(module).failed == 0


def test_a_line_is_a_message(write):
    message = {"id": "1", "speaker": "Ann", "text": "Hi", "time": "2024-05-01T10:00", "tags": ["a"]}
    assert list(read(write("a.jsonl", json.dumps(message)))) == [message]


def test_keys_without_a_value_are_left_out(write):
    assert list(read(write("a.jsonl", '{"text": "Hi", "speaker": null, "tags": []}'))) == [{"text": "Hi"}]


def test_a_line_without_an_id_has_the_same_one_whenever_it_is_read(write):
    path = write("a.jsonl", '{"text": "Hi"}\n{"text": "Hi"}\n{"text": "Bye"}')
    first, same, other = (line["id"] for line in Reader().read(path))
    assert first == same != other
    assert [line["id"] for line in Reader().read(path)] == [first, same, other]


def test_chat_lines_are_read(write):
    assert list(read(write("a.jsonl", '{"role": "user", "content": "Hi"}'))) == [{"role": "user", "text": "Hi"}]


def test_text_parts_are_joined(write):
    line = {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    assert list(read(write("a.jsonl", json.dumps(line)))) == [{"role": "user", "text": "a\nb"}]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "no JSON"),
        ("[1]", "a list; a JSON object"),
        ('{"speaker": "Ana"}', "empty"),
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


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.md", "a.txt", "a.html"])
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


def test_a_document_becomes_passages_of_one_session(write):
    path = write("notes.txt", "\n\n".join(f"Paragraph {n}. " + "Words. " * 20 for n in range(5)))
    found = list(read(path, passage=200))
    assert [m["id"] for m in found] == [f"notes.txt#{n}" for n in range(5)]
    assert {(m["kind"], m["session"]) for m in found} == {("document", "notes.txt")}


def test_a_document_may_be_named(write):
    assert next(read(write("a.txt", "Hello."), id="guide"))["id"] == "guide#0"


@pytest.mark.parametrize(
    "content",
    [
        "La mañana está fría.".encode(),
        "La mañana está fría.".encode("utf-8-sig"),
        "La mañana está fría.".encode("utf-16"),
        b"\xfe\xff" + "La mañana está fría.".encode("utf-16-be"),
        "La mañana está fría.".encode("utf-32"),
        "La mañana está fría.".encode("latin-1"),
    ],
)
def test_a_text_is_read_whatever_its_encoding(write, content):
    assert next(read(write("a.txt", content)))["text"] == "La mañana está fría."


def test_windows_quotes_are_quotes(write):
    assert next(read(write("a.md", b"He said \x93go\x94 \x96 5 \x80.")))["text"] == "He said “go” – 5 €."


def test_an_encoding_that_cannot_be_told_is_asked_for_and_taken(write):
    path = write("a.txt", "Good.\nЗавтра мы поедем на дачу.".encode("cp1251"))
    assert "--encoding" in next(read(path)).reason
    assert next(read(path)).line == 2
    assert next(read(path, encoding="cp1251"))["text"] == "Good.\nЗавтра мы поедем на дачу."


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_messages_are_read_in_other_encodings(write, name):
    content = '[{"text": "é"}]' if name == "a.json" else '{"text": "é"}\n'
    assert list(read(write(name, content.encode("utf-16")))) == [{"text": "é"}]
    assert list(read(write(name, content.encode("latin-1")), encoding="latin-1")) == [{"text": "é"}]


@pytest.mark.parametrize("mark", [b"#", b"-", b"/", b"*", b"# coding=   "])
def test_a_first_line_of_one_mark_declares_nothing_however_long_it_is(mark):
    assert files.declared_encoding(mark * 200_000 + b"\nx = 1\n") == ""
    assert files.declared_encoding(mark * 9 + b"\n# -*- coding: latin-1 -*-\n") == "latin-1"


@pytest.mark.parametrize("encoding", ["klingon", "hex", "base64", "punycode"])
def test_an_encoding_that_is_none_is_an_error(write, encoding):
    with pytest.raises(InvalidInput, match=encoding):
        read(write("a.txt", "Hi."), encoding=encoding)


def test_a_text_that_is_not_in_the_encoding_given_is_reported(write):
    assert "not UTF-16" in next(read(write("a.txt", b"\xff\xfeabc"))).reason


@pytest.mark.parametrize("content", [b"fine\n\x00\x01", b"\x89PNG\r\n\x1a\n\x00\x00\xff", b"fine\n\xff\x00"])
def test_a_file_that_is_no_text_is_reported(write, content):
    assert "no text file" in next(read(write("a.txt", content))).reason


def test_a_log_that_grows_while_it_is_read_is_told(write):
    path = write("a.jsonl", '{"text": "a"}\n{"text": "b"}\n')
    found = read(path)
    first = next(found)
    with path.open("a") as log:
        log.write('{"text": "c"}\n')
    assert first == {"text": "a"}
    assert "changed while it was read" in list(found)[-1].reason


def growing(path, times, monkeypatch):
    """Let a file be written to, so many times, after it was read."""
    opened, left = type(path).open, [times]

    class Grown:
        def __init__(self, file):
            self._file = file
            self.fileno = file.fileno

        def read(self, *some):
            found = self._file.read(*some)
            if left[0] and not some:
                left[0] -= 1
                with opened(path, "ab") as more:
                    more.write(b" And more.")
            return found

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self._file.close()

    monkeypatch.setattr(type(path), "open", lambda self, *how: Grown(opened(self, *how)))


def test_a_document_that_changes_while_it_is_read_is_read_again(write, monkeypatch):
    path = write("a.txt", "The boat leaks.")
    growing(path, 2, monkeypatch)
    assert [part["text"] for part in read(path)] == ["The boat leaks. And more. And more."]


def test_a_document_that_changes_all_the_while_is_told(write, monkeypatch):
    path = write("a.txt", "The boat leaks.")
    growing(path, 100, monkeypatch)
    (fault,) = read(path)
    assert "changed while it was read" in fault.reason


# ---- what a document says of itself ---------------------------------------------------------


@pytest.mark.parametrize(
    "front",
    [
        "---\ntitle: Boats\ndate: 2024-05-01\ntags: [harbour, blue]\nrating: 4\n---\n",
        '+++\ntitle = "Boats"\ndate = 2024-05-01\ntags = ["harbour", "blue"]\nrating = 4\n+++\n',
        "---\r\ntitle: Boats\r\ndate: 2024-05-01\r\ntags: [harbour, blue]\r\nrating: 4\r\n---\r\n",
    ],
)
def test_front_matter_is_metadata_and_no_text(write, front):
    (passage,) = read(write("a.md", f"{front}\n# Blue\nIt leaks.\n"))
    assert passage["text"] == "# Blue\nIt leaks."
    assert passage["metadata"] == {"title": "Boats", "date": "2024-05-01", "tags": ["harbour", "blue"], "rating": 4}
    assert (passage["time"], passage["tags"]) == ("2024-05-01", ["harbour", "blue"])


@pytest.mark.parametrize("date", ["soon", "[1, 2]", "0001-01-01"])
def test_a_date_that_is_none_is_metadata_alone(write, date):
    (passage,) = read(write("a.md", f"---\ndate: {date}\n---\nHi."))
    assert "time" not in passage
    assert passage["metadata"]["date"]


@pytest.mark.parametrize(
    "text", ["---\nA rule above.\n", "---\nA rule above.\n---\nAnd below.\n", "***\na: b\n***\nc", "a: b\n---\nc"]
)
def test_a_rule_is_no_front_matter(write, text):
    (passage,) = read(write("a.md", text))
    assert (passage["text"], "metadata" in passage) == (text.strip(), False)


def test_front_matter_of_nothing_is_nothing(write):
    assert [part["text"] for part in read(write("a.md", "---\n---\nHi."))] == ["Hi."]


@pytest.mark.parametrize(
    ("front", "line"),
    [
        ("---\ntitle: Boats\nrating: [1, 2\n---\n", 4),
        ("---\ntitle: a: b\n---\n", 2),
        ("---\na: &x [1]\nb: *x\n---\n", 3),
        ("---\na: .nan\n---\n", 1),
        ("---\na: !!python/object:os.system {}\n---\n", 2),
        ("---\na: " + "[" * 2000 + "]" * 2000 + "\n---\n", 2),
        ('+++\ntitle = "Boats"\nrating = \n+++\n', 3),
    ],
)
def test_front_matter_that_cannot_be_read_is_named_by_its_line(write, front, line):
    path = write("a.md", f"{front}Hi.")
    (fault,) = read(path)
    assert (fault.file, fault.line) == (str(path), line)
    assert "front matter" in fault.reason


PAGE = """<!DOCTYPE html><html><head><meta charset="windows-1252"><title>The harbour</title><style>p {}</style></head>
<body><script>var leaks = 1</script><h1>Boats</h1><p>The <b>blue</b> one <a href="/leaks">leaks</a>, says José.</p>
<h2>Red</h2><p>It sinks.</p></body></html>"""


def test_a_page_is_read_with_its_title_and_headings(write):
    found = list(read(write("a.html", PAGE.encode("windows-1252"))))
    assert [part["text"] for part in found] == [
        "# Boats\n\nThe **blue** one leaks, says José.",
        "Boats\n\n## Red\n\nIt sinks.",
    ]
    assert {part["metadata"]["title"] for part in found} == {"The harbour"}


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (
            '<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><p>It leaks.</p></html>',
            "It leaks.",
        ),
        ("boats.txt", "boats.txt"),
        ("It leaks.", "It leaks."),
        ("<table><tr><td>boat</td><td>leak</td></tr></table>", "| boat | leak |\n| --- | --- |"),
        ("<p>It leaks.</p><!-- not said --><p hidden>Not seen, but there.</p>", "It leaks.\n\nNot seen, but there."),
    ],
)
def test_a_page_of_another_make_is_read(write, page, text):
    assert [part["text"] for part in read(write("a.html", page))] == [text]


def test_a_page_nested_too_deeply_is_told(write):
    (fault,) = read(write("a.html", "<div>" * 5000 + "Hi."))
    assert "nested too deeply" in fault.reason


def pdf(*pages):
    """Return a PDF that says a line on each page."""
    streams = [f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else "" for text in pages]
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, stream in enumerate(streams):
        resources = "/Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R {resources} /MediaBox [0 0 612 792] /Contents {5 + 2 * n} 0 R >>")
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    body, places = "%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{one}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = (
        f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(body)}\n"
    )
    return (body + end + "%%EOF\n").encode()


def test_a_pdf_is_read_page_by_page(write):
    found = list(read(write("a.pdf", pdf("The blue boat leaks.", "", "The red one sinks."))))
    assert [(part["text"], part["metadata"]) for part in found] == [
        ("The blue boat leaks.", {"page": 1}),
        ("The red one sinks.", {"page": 3}),
    ]


@pytest.mark.parametrize(
    ("content", "reason"), [(b"%PDF-1.4\njunk", "can't be read"), (pdf(""), "no text"), (b"", "can't be read")]
)
def test_a_pdf_that_cannot_be_read_is_told(write, content, reason):
    (fault,) = read(write("a.pdf", content))
    assert reason in fault.reason


@pytest.mark.parametrize(("name", "package"), [("a.html", "markdownify"), ("a.pdf", "pypdf")])
def test_without_its_reader_a_kind_says_what_to_install(write, monkeypatch, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    (fault,) = read(write(name, "<p>Hi"))
    assert "pip install 'memgraph-engine[documents]'" in fault.reason


def test_a_passage_stands_under_its_headings():
    text = "# Guide\n\nIntro.\n\n## Install\n\n" + "Use pip. " * 40
    found = list(passages(text, 200, markdown=True))
    assert found[1].startswith("Guide\n\n## Install\n\nUse pip.")
    assert found[2].startswith("Guide > Install\n\nUse pip.")


def test_a_hash_in_code_is_no_heading():
    text = "# Guide\n\n```sh\n# comment\nls\n```\n"
    assert list(passages(text, 200, markdown=True)) == [text.strip()]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Here. <!-- not here --> And here.", ["Here.  And here."]),
        ("# Guide\n\n<!-- a\n\n# No heading\n-->\n\nUse pip.", ["# Guide\n\nUse pip."]),
        ("<!-- all of it -->\n", []),
        ("```html\n<!-- shown -->\n```\n<!-- hidden -->", ["```html\n<!-- shown -->\n```"]),
        ("    <!-- shown -->\n\nText.", ["    <!-- shown -->\n\nText."]),
        ("Write `<!-- shown -->`.", ["Write `<!-- shown -->`."]),
        ("Never closed <!-- so it is text.", ["Never closed <!-- so it is text."]),
    ],
)
def test_comments_of_markdown_are_no_part_of_passages(text, said):
    assert list(passages(text, 200, markdown=True)) == said
    assert "".join(passages(text, 200)).strip() == text.strip()


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
    assert any(isinstance(item, Fault) for item in read(file))


def test_thousands_of_blank_lines_take_no_time(tmp_path):
    text = "x" * 1500 + (" " * 50 + "\n") * 20_000 + "\nend"
    assert [part[-3:] for part in passages(text, 1200)][-1] == "end"
