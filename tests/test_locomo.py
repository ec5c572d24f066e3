"""Retrieval on a real conversation, where the LoCoMo file is there: a guard against sudden loss, not a benchmark."""

import os
from pathlib import Path

import pytest

from bench.conversations import conversations
from bench.scores import mean, score
from tests.conftest import LOCOMO


@pytest.mark.slow
@pytest.mark.skipif(not LOCOMO, reason="MEMGRAPH_ENGINE_LOCOMO names no file")
def test_most_answers_are_among_the_first_twenty(memory):
    conversation = min(conversations(Path(LOCOMO)), key=lambda c: len(c.turns))
    memory.add_many(conversation.turns, user_id="ana")
    scores = [
        score(
            [source.id for hit in memory.search(question.text, user_id="ana") for source in hit.sources],
            question.evidence,
        )
        for question in conversation.questions
    ]
    assert mean(scores)["R@20"] > 75
    assert memory.verify(user_id="ana") == []
    assert "MEMGRAPH_ENGINE_LOCOMO" not in os.environ  # no setting leaks into the tests
