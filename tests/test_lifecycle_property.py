"""Whatever happens to notes of several classes, every sum is right, and none that can be read quotes what has ended.

Nor does one quote what is kept apart with another class, and no question finds that.
"""

import re
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from memgraph_engine import InvalidInput, Memory, NotFound, UndoRefused
from memgraph_engine.graph.scopes import purge_tenant
from tests.test_lifecycle import file, memory  # noqa: F401  fixtures

LINES = [
    "The ferry to Madeira leaves at noon, code alfa.",
    "The ferry to Madeira leaves at noon, code alfa!",
    "At noon the ferry leaves to Madeira, code alfa.",
    "I live in Lisbon, code bravo.",
    "I no longer live in Lisbon, code bravo.",
    "Our beekeeper sold two hives, code charlie.",
    "Who knows the code delta?",
    "Only Ben and Ida do, code echo.",
]
CODE = re.compile(r"code (\w+)")
CLASSES = ("factual", "week", "day", "apart", "private", "unseen")
lines = st.lists(st.tuples(st.integers(0, len(LINES) - 1), st.sampled_from(CLASSES)), min_size=1, max_size=4)
number = st.integers(0, 9)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), lines),
        st.tuples(st.just("defer"), lines),
        st.tuples(st.just("wait"), st.integers(1, 16)),
        *(
            st.tuples(st.just(kind), number)
            for kind in ("process", "sweep", "delete", "undo", "pin", "unpin", "restore")
        ),
        st.tuples(st.just("update"), st.tuples(number, st.integers(0, len(LINES) - 1))),
        st.tuples(st.just("set_policy"), st.tuples(number, st.sampled_from(CLASSES))),
    ),
    min_size=2,
    max_size=7,
)


def take(memory, clock, kind, given, place):  # noqa: F811
    owner = {"user_id": "ana"}
    if kind in ("add", "defer"):
        talk = [
            {"id": f"{place}-{at}", "text": LINES[line], "speaker": "Ana", "session": f"s{line % 2}", "policy": policy}
            for at, (line, policy) in enumerate(given)
        ]
        memory.add_many(talk, wait=kind == "add", **owner)
    elif kind == "wait":
        clock.later(timedelta(hours=12 * given))
    elif kind in ("process", "sweep"):
        getattr(memory, kind)(**owner)
    elif kind == "undo":
        open_ones = [one for one in memory.decisions(**owner) if not one.undone_by and one.kind != "undo"]
        if open_ones:
            with suppress(UndoRefused):
                memory.undo(open_ones[given % len(open_ones)].id, cascade=True, **owner)
    elif kind == "restore":
        made = sorted({one.note for one in memory.decisions(**owner, limit=1000) if one.note})
        if made:
            with suppress(InvalidInput, NotFound):
                memory.restore(made[given % len(made)], **owner)
    else:
        change(memory, kind, given)


def change(memory, kind, given):  # noqa: F811
    owner = {"user_id": "ana"}
    notes = list(memory.get_all(**owner))
    place, *more = given if isinstance(given, tuple) else (given,)
    more = [LINES[one] for one in more] if kind == "update" else more
    if notes:
        with suppress(InvalidInput):  # it is pinned already, or not at all, or has that class
            getattr(memory, kind)(notes[place % len(notes)].id, *more, **owner)


def codes(notes):
    return {code for note in notes for line in note.raw for code in CODE.findall(line)}


def check(memory, clock, script):  # noqa: F811
    tenant = f"test-{uuid4().hex}"
    mine = Memory(replace(memory.engine, settings=memory.engine.settings.model_copy(update={"tenant": tenant})))
    try:
        for place, (kind, given) in enumerate(script):
            take(mine, clock, kind, given, place)
            assert mine.verify(user_id="ana") == []
            told = list(mine.get_all(user_id="ana"))
            for note in told:
                live = codes(one for one in told if one.apart in (None, note.apart))
                assert set(CODE.findall(note.context)) <= live
            found = mine.search("Who knows the code?", user_id="ana", top_k=50)
            assert "private" not in {hit.note.apart for hit in found}
            assert all(note.expires_at > clock.now for note in told)
            for note in told:
                assert [one.expires_at for one in note.sources] == [note.expires_at] * len(note.sources)
        clock.later(timedelta(days=30))
        left = [hit.note for hit in mine.search("Who knows the code?", user_id="ana")]
        assert all(note.expires_at.year == 9999 for note in left)
        mine.sweep(user_id="ana")
        assert mine.verify(user_id="ana") == []
        # its scores no longer count what has ended
        assert {hit.note.id for hit in mine.search("Who knows the code?", user_id="ana")} == {one.id for one in left}
    finally:
        purge_tenant(memory.engine.db, tenant)


@pytest.mark.timeout(900)
@settings(max_examples=2, suppress_health_check=list(HealthCheck))
@given(steps)
def test_no_note_quotes_what_has_ended(memory, clock, script):  # noqa: F811
    check(memory, clock, script)


@pytest.mark.long
@pytest.mark.timeout(3600)
@settings(max_examples=500, suppress_health_check=list(HealthCheck))
@given(steps)
def test_no_note_quotes_what_has_ended_in_many_cases(memory, clock, script):  # noqa: F811
    check(memory, clock, script)
