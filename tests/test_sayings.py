"""The same words said twice are one note and two sayings: any of them finds it, and each is taken back by itself."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from memgraph_engine import Memory, Settings

WORDS = "The gate code is 4417."
ASKED = "What is the gate code?"
DAYS = ("2026-01-01", "2026-01-02", "2026-01-03")


def told(memory, *sayings):
    """A user who was told the same words so often."""
    user = f"u-{uuid4().hex[:8]}"
    for at, one in enumerate(sayings):
        memory.add({"id": f"x{at}", "text": WORDS, "time": DAYS[at], **one}, user_id=user)
    return user


def found(memory, user, **filters):
    """The texts that a search, a listing and a context find, which are the same."""
    hits = [hit.note.id for hit in memory.search(ASKED, user_id=user, **filters)]
    assert [note.id for note in memory.get_all(user_id=user, **filters)] == hits
    assert ("4417" in memory.context(ASKED, user_id=user, **filters).text) == bool(hits)
    return hits


@pytest.fixture
def memory(tenant, embedder):
    with Memory.connect(tenant=tenant, embedder=embedder) as memory:
        yield memory


def said_of(memory, user):
    return [one.id for note in memory.get_all(user_id=user) for one in note.sources]


DIFFERENT = [
    ({"session": "alfa"}, {"session": "beta"}),
    ({"agent": "guide"}, {"agent": "cook"}),
    ({"tags": ["home"]}, {"tags": ["keep"]}),
    ({"metadata": {"floor": 1}}, {"metadata": {"floor": 2}}),
    ({"tags": ["floor=1"]}, {"tags": ["floor=2"]}),
    ({"role": "user"}, {"role": ""}),
    ({"until": "2026-01-01"}, {"since": "2026-01-02"}),
]


def saying(filters):
    """What is said with the values that a filter asks for."""
    if filters.get("tags") in (["floor=1"], ["floor=2"]):
        return {"metadata": {"floor": int(filters["tags"][0][-1])}}
    return {name: value for name, value in filters.items() if name not in ("since", "until")}


def test_either_saying_finds_the_note_and_is_taken_back_alone(memory):
    sides = [dict[str, Any](), dict[str, Any]()]
    for pair in DIFFERENT:
        for side, filters in zip(sides, pair, strict=True):
            side.update(saying(filters))
    user = told(memory, *sides)
    (note,) = memory.get_all(user_id=user)
    for one, other in DIFFERENT:
        assert found(memory, user, **one) == found(memory, user, **other) == [note.id], one
        deletion = memory.delete_all(user_id=user, **one)
        assert deletion.notes == 0
        assert (found(memory, user, **one), found(memory, user, **other)) == ([], [note.id]), one
        assert said_of(memory, user) == ["x1"]
        (left,) = memory.get_all(user_id=user)
        assert (left.text, left.said_at.day) == (WORDS, 2)
        memory.undo(deletion.decisions[0].id, user_id=user)
        assert said_of(memory, user) == ["x0", "x1"]
    assert memory.verify(user_id=user) == []

    deletion = memory.delete_all(user_id=user, **one)
    assert memory.delete_all(user_id=user, **other).notes == 1
    assert found(memory, user) == []
    memory.undo(deletion.decisions[0].id, user_id=user, cascade=True)
    assert found(memory, user, **one) == found(memory, user, **other) == [note.id]
    assert memory.verify(user_id=user) == []


def test_one_saying_must_have_all_that_is_asked_for(memory):
    user = told(memory, {"session": "alfa", "tags": ["home"]}, {"session": "beta", "tags": ["keep"]})
    assert found(memory, user, session="beta", tags=["keep"], since=DAYS[1])
    assert not found(memory, user, session="alfa", tags=["keep"])
    assert not found(memory, user, session="alfa", since=DAYS[1])
    assert memory.delete_all(user_id=user, session="alfa", tags=["keep"]).decisions == ()


def test_a_look_back_knows_the_sayings_of_then(memory):
    user = told(memory, {"session": "alfa"}, {"session": "beta"})
    before = memory.history("x0", user_id=user)[-1].note.recorded_at
    memory.delete("x1", user_id=user)
    assert not memory.search(ASKED, user_id=user, session="beta")
    assert memory.search(ASKED, user_id=user, session="beta", known_at=before)
    assert memory.search(ASKED, user_id=user, session="alfa", as_of="2026-02-01")


def test_a_saying_is_found_among_many_notes_that_were_said_twice_elsewhere(tenant, embedder):
    with Memory.connect(tenant=tenant, embedder=embedder, settings=Settings.load(recall={"pool": 4})) as memory:
        user = told(memory, {"session": "alfa"}, {"session": "wanted"})
        others = [
            f"The {colour} gate is open." for colour in ("red", "green", "blue", "grey", "white", "black", "brown")
        ]
        for session in ("alfa", "beta"):
            memory.add_many([{"text": text, "session": session} for text in others], user_id=user)
        hits = memory.search("Which gate is open?", user_id=user, session="wanted")
        assert [hit.note.text for hit in hits] == [WORDS]


def test_a_repeat_brings_its_tags(memory):
    user = told(memory, {"tags": ["home"]}, {"tags": ["keep"], "metadata": {"floor": 2}})
    (note,) = memory.get_all(user_id=user)
    assert note.tags == ("floor=2", "home", "keep")
    memory.delete("x0", user_id=user)
    assert memory.get("x1", user_id=user).tags == ("floor=2", "keep")


def test_a_summary_gives_back_the_saying_that_stays(tenant, embedder, clock):
    capped = Settings.load(lifecycle={"cap": 2, "target": 0.5, "information_weight": 0})
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=capped) as memory:
        user = told(memory, {"session": "alfa"}, {"session": "beta"})
        others = [f"Our {name} sleeps in the cellar." for name in ("dog", "cat")]
        memory.add_many([{"text": text, "session": "alfa"} for text in others], user_id=user)
        clock.later(timedelta(days=3))
        assert memory.evict(user_id=user).summaries == 1
        memory.delete_all(user_id=user, session="alfa")
        assert said_of(memory, user) == ["x1"]
        assert found(memory, user, session="beta")
        assert memory.verify(user_id=user) == []


SAYINGS = st.lists(
    st.fixed_dictionaries(
        {"session": st.sampled_from(["alfa", "beta"])},
        optional={
            "agent": st.sampled_from(["guide", "cook"]),
            "tags": st.lists(st.sampled_from(["home", "keep"]), max_size=2, unique=True),
        },
    ),
    min_size=2,
    max_size=3,
)
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "session": st.sampled_from(["alfa", "beta"]),
        "agent": st.sampled_from(["guide", "cook"]),
        "tags": st.sampled_from([["home"], ["keep"], ["home", "keep"]]),
        "since": st.sampled_from(DAYS),
        "until": st.sampled_from(DAYS[1:]),
    },
).filter(lambda some: some and some.get("since", "") <= some.get("until", "9"))


def meant(at, one, filters):
    return (
        filters.get("session", one["session"]) == one["session"]
        and filters.get("agent") in (None, one.get("agent"))
        and set(filters.get("tags", ())) <= set(one.get("tags", ()))
        and filters.get("since", "") <= DAYS[at] <= filters.get("until", "9")
    )


def check_filters(memory, sayings, filters):
    user = told(memory, *sayings)
    left = [f"x{at}" for at, one in enumerate(sayings) if not meant(at, one, filters)]
    assert bool(found(memory, user, **filters)) == (len(left) < len(sayings))
    memory.delete_all(user_id=user, **filters)
    assert said_of(memory, user) == left
    assert not found(memory, user, **filters)
    assert bool(found(memory, user)) == bool(left)


@settings(max_examples=1, suppress_health_check=list(HealthCheck))
@given(SAYINGS, FILTERS)
def test_a_filter_means_the_sayings_that_have_what_it_asks_for(memory, sayings, filters):
    check_filters(memory, sayings, filters)


@pytest.mark.long
@pytest.mark.timeout(3600)
@settings(max_examples=120, suppress_health_check=list(HealthCheck))
@given(SAYINGS, FILTERS)
def test_a_filter_means_the_sayings_that_have_what_it_asks_for_in_many_cases(memory, sayings, filters):
    check_filters(memory, sayings, filters)
