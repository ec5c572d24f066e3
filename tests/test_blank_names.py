"""A name of whose memory is meant, or of what was said where, that nobody can see is refused on every surface."""

import pytest

from memgraph_engine import InvalidInput, Memory
from memgraph_engine.ingest.messages import parse_message
from memgraph_engine.integrations.mem0 import Memory as Mem0
from memgraph_engine.model.marker import shows
from memgraph_engine.model.scope import Scope

BLANK = [" ", "\t\n", "\u00a0", "\u200b", "\u2060\ufeff", "\u3164", "\u2800", "\u3000 \u200d", "\u202e", "\ufe0f"]
SEEN = ["ana", " ana ", "ő", "日本", "🛶", "\u0301", "ana\u200b", "0", "/", "\U0001f469\u200d\U0001f4bb"]
NAMES = ("id", "session", "agent", "speaker", "policy")


@pytest.mark.parametrize("name", BLANK)
def test_what_shows_nothing_is_no_name(name):
    assert not shows(name)
    with pytest.raises(InvalidInput, match=r"user_id .* is blank: give a name that can be seen"):
        Scope("acme", name)
    with pytest.raises(InvalidInput, match=r"tenant .* is blank"):
        Scope(name)
    for field in NAMES:
        with pytest.raises(InvalidInput, match=f"message 0: {field} .* is blank: leave it out"):
            parse_message({"text": "I moved.", field: name}, "message 0", timezone="UTC", max_text=100)
    with pytest.raises(InvalidInput, match=r"tags .* is blank"):
        parse_message({"text": "I moved.", "tags": [name]}, "message 0", timezone="UTC", max_text=100)


@pytest.mark.parametrize("name", SEEN)
def test_what_shows_something_is_one(name):
    assert Scope(name, name).user == name
    given = dict.fromkeys(NAMES, name)
    assert parse_message({"text": "I moved.", **given}, "message 0", timezone="UTC", max_text=100).session == name


def test_what_is_left_out_stays_left_out():
    given = dict.fromkeys(NAMES, "")
    assert parse_message({"text": "I moved.", **given}, "message 0", timezone="UTC", max_text=100).agent == ""


def test_a_tenant_that_is_blank_is_refused_before_anything_is_connected(embedder):
    with pytest.raises(InvalidInput, match="tenant ' ' is blank"):
        Memory.connect("bolt://127.0.0.1:9", tenant=" ", embedder=embedder)


@pytest.mark.integration
@pytest.mark.parametrize("name", [" ", "\u200b"])
def test_no_call_takes_a_blank_name(memory, name):
    memory.add("I moved.", user_id="ana")
    calls = (
        lambda: memory.add("I moved.", user_id=name),
        lambda: memory.search("Where?", user_id=name),
        lambda: memory.prompt("Where?", user_id=name),
        lambda: memory.forget(user_id=name, everything=True),
        lambda: memory.profile(user_id=name),
        lambda: memory.search("Where?", user_id="ana", session=name),
        lambda: memory.context("Where?", user_id="ana", agent=name),
        lambda: memory.get_all(user_id="ana", speaker=name),
        lambda: memory.delete_all(user_id="ana", session=name),
        lambda: memory.forget(user_id="ana", session=name),
        lambda: memory.prompt("Where?", user_id="ana", session=name),
        lambda: memory.end_session(name, user_id="ana"),
    )
    for call in calls:
        with pytest.raises(InvalidInput, match="is blank"):
            call()
    with pytest.raises(InvalidInput):
        Mem0(memory=memory).add("I moved.", user_id=name)
    assert [user.id for user in memory.users()] == ["ana"]
