"""What `python -m bench daily` makes of a context: each figure, by what stands in its lines."""

import json

import pytest

from bench.chats import Ask, chats, marked, plain

TURNS = [
    {"role": "user", "content": "I keep my bike in the shed.", "time": "2025-03-01T09:00:00", "session": "s1"},
    {"role": "assistant", "content": "A shed keeps it dry all year.", "time": "2025-03-01T09:01:00", "session": "s1"},
    {"role": "user", "content": "ok", "time": "2025-03-02T09:00:00", "session": "s2"},
]
NOW = "[1] 2025-03-02 (Sun): user: I keep my bike in the cellar."
ONCE = "[2] 2025-03-01 (Sat): user: I keep my bike in the shed."


def ask(*, current=(), former=(), foreign=(), nothing=False):
    return Ask("Where is my bike?", None, current, former, foreign, nothing)


@pytest.mark.parametrize(
    ("asked", "lines", "expected"),
    [
        (
            ask(current=["In  the CELLAR|in the attic"]),
            [NOW],
            {"current": 1, "current@300": 0, "first": 1, "doubted": 0},
        ),
        (ask(current=["cellar", "shed"]), [NOW], {"current": 0, "current@300": 0, "first": 1, "doubted": 0}),
        (
            ask(current=["cellar"]),
            [NOW.replace(": user", " (perhaps only until May): user")],
            {"current": 1, "current@300": 0, "first": 1, "doubted": 1},
        ),
        (ask(former=["in the shed"]), [NOW], {"former": 1}),
        (ask(former=["in the shed"]), [NOW, ONCE], {"former": 0}),
        (ask(former=["in the shed"]), [NOW, ONCE.replace(": user", " (no longer true): user")], {"former": 1}),
        (ask(former=["in the shed"]), [NOW, ONCE.replace("in the", "outside the untilled")], {"former": 1}),
        (ask(foreign=["in the shed"]), [ONCE.replace("user", "(until May): user")], {"foreign": 0}),
        (ask(nothing=True), [], {"nothing": 1}),
        (ask(nothing=True), [NOW], {"nothing": 0}),
        (ask(nothing=True), [NOW.replace("user", "(disputed): user")], {"nothing": 0, "disputed": 1}),
    ],
)
def test_a_context_is_judged_by_the_strings_that_stand_in_its_lines(asked, lines, expected):
    assert asked.seen(lines, [], lines[0] if lines else "") == {"disputed": 0, **expected}


def test_a_chat_is_read_by_its_sessions_and_a_turn_told_twice_is_repeated(tmp_path):
    asked = {"question": "Where?", "current": ["shed"], "former": [], "foreign": [], "nothing": False}
    chat = {"id": "a", "language": "english", "kind": "told once", "turns": TURNS, "asks": [asked]}
    file = tmp_path / "chats.jsonl"
    file.write_text(f"{json.dumps(chat)}\n\n", encoding="utf-8")
    (one,) = chats(file)
    assert [[turn["content"] for turn in session] for session in one.sessions] == [
        [TURNS[0]["content"], TURNS[1]["content"]],
        ["ok"],
    ]
    assert one.repeated([ONCE, f"A shed keeps it dry all year. {ONCE} ok ok"]) == pytest.approx(1 / 3)
    assert one.repeated([NOW, "ok ok ok"]) == 0


@pytest.mark.parametrize("says", ["newer than", "puts right", "replaces"])
def test_a_line_of_which_another_says_that_it_is_newer_counts_as_marked(says):
    newer = plain(NOW.replace("user", f"({says} [2] of that day): user"))
    assert marked([newer, plain(ONCE)]) == [False, True]
    assert marked([plain(NOW), plain(ONCE)]) == [False, False]


def test_chats_are_chosen_by_how_their_id_or_kind_begins(tmp_path):
    given = {"language": "english", "turns": TURNS, "asks": []}
    some = [{"id": "few-1", "kind": "told once", **given}, {"id": "many-1", "kind": "few facts", **given}]
    file = tmp_path / "chats.jsonl"
    file.write_text("\n".join(map(json.dumps, some)), encoding="utf-8")
    assert [[one.id for one in chats(file, only)] for only in ("few", "many", "told", "")] == [
        ["few-1", "many-1"],
        ["many-1"],
        ["few-1"],
        ["few-1", "many-1"],
    ]
