"""How many functions stand between a public method and the driver: few, so that a call can be followed."""

import sys
from pathlib import Path

import neo4j
import pytest

import memgraph_engine

PACKAGE = str(Path(memgraph_engine.__file__).parent)


@pytest.fixture
def deepest(monkeypatch):
    """The names of the functions that were deepest below a method of `Memory` when a statement was sent."""
    deepest, run = [], neo4j.Session.run

    def counted(session, *given, **named):
        frame, found = sys._getframe(1), []
        while frame and frame.f_code.co_qualname[:7] != "Memory.":
            if frame.f_code.co_filename.startswith(PACKAGE):
                found.append(frame.f_code.co_qualname)
            frame = frame.f_back
        deepest[:] = max(deepest, found[::-1], key=len)
        return run(session, *given, **named)

    monkeypatch.setattr(neo4j.Session, "run", counted)
    return deepest


def test_a_message_goes_through_ten_functions_to_the_driver(memory, deepest):
    memory.add("I moved to Lisbon.", user_id="ana")
    memory.add("I live in Faro, and my cat is called Tom.", user_id="ana")
    assert len(deepest) <= 10, deepest


def test_a_question_goes_through_six_functions_to_the_driver(memory, deepest):
    memory.add("I moved to Lisbon.", user_id="ana")
    deepest.clear()
    for _ in range(2):  # without its notes in the cache, and with them
        assert memory.search("Where do I live?", user_id="ana")
    assert len(deepest) <= 6, deepest
