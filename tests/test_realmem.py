"""What `python -m bench realmem` reads and counts: turns in order, what is asked before it is stored, its evidence."""

import argparse
import json
from contextlib import contextmanager

import pytest

from bench import realmem
from bench.baselines import Vectors, Words
from bench.realmem import Question, steps
from memgraph_engine.testing import HashingEmbedder

GIVEN = {
    "dialogues": [
        {
            "session_uuid": "s1",
            "current_time": "2025-12-15 (Monday)",
            "dialogue_turns": [
                {"speaker": "User", "content": "My knee hurts when I run."},
                {"speaker": "Assistant", "content": "Then  try swimming in the lake."},
            ],
            "extracted_memory": [
                {"content": "A knee hurts.", "source_turn": 1, "source_content_snapshot": ""},
                {"content": {"advice": "swim"}, "source_turn": 9, "source_content_snapshot": "then try swimming"},
                {"content": "Lost.", "source_turn": 9, "source_content_snapshot": "never said"},
            ],
        },
        {
            "session_uuid": "s2",
            "current_time": "2025-12-20 (Saturday)",
            "dialogue_turns": [
                {"speaker": "User", "content": "Good morning."},
                {"speaker": "Assistant", "content": ""},
                {
                    "speaker": "User",
                    "content": "Which sport is good for my knee?",
                    "is_query": True,
                    "category_name": "Hint",
                },
                {
                    "speaker": "Assistant",
                    "content": "Swimming.",
                    "memory_used": [
                        {"session_uuid": "s1", "content": "A  knee hurts."},
                        {"session_uuid": "s1", "content": {"advice": "swim"}},
                        {"session_uuid": "s2", "content": "Of this session."},
                        {"session_uuid": "s1", "content": "Lost."},
                    ],
                },
                {"speaker": "User", "content": "Nothing known of this?", "is_query": True},
            ],
        },
    ]
}
ASKED = Question("Which sport is good for my knee?", "Hint", frozenset({"s1:0", "s1:1"}), frozenset({"s1"}))


def test_turns_come_in_order_and_a_question_before_it_is_stored():
    first, greeting, asked, *rest = steps(GIVEN)
    assert [(one["id"], one["role"], one["time"]) for one in first] == [
        ("s1:0", "user", "2025-12-15T09:00:00"),
        ("s1:1", "assistant", "2025-12-15T09:01:00"),
    ]
    assert [one["content"] for one in greeting] == ["Good morning.", "(no text)"]
    assert asked == ASKED
    assert [[one["id"] for one in some] for some in rest] == [["s2:2", "s2:3"], ["s2:4"]]


def test_a_ranking_is_scored_by_turns_and_by_sessions():
    scored = ASKED.scored(["s3:0", "s1:1", *(f"s{n}:0" for n in range(4, 14)), "s1:0"])
    assert (scored["R@5"], scored["R@20"], scored["H@10"], scored["all@10"]) == (50, 100, 100, 100)
    assert ASKED.scored([f"s{n}:0" for n in range(2, 12)] + ["s1:0"])["all@10"] == 0


def test_baselines_take_more_texts_and_rank_them():
    words, vectors = Words(), Vectors(HashingEmbedder())
    assert words.best("goat") == vectors.best("goat") == []
    for texts in (["the bees hum"], ["a goat bleats", "the goats sleep, a goat bleats"]):
        words.add(texts)
        vectors.add(texts)
    assert set(words.best("goats")) == {1, 2}  # what shares no word is not found
    assert vectors.best("a goat bleats", 1) == [1]


@pytest.mark.integration
def test_the_bench_asks_in_order_and_tells_how_much_of_the_evidence_a_context_has(memory, monkeypatch, tmp_path):
    (tmp_path / "Ana_dialogues.json").write_text(json.dumps(GIVEN), "utf-8")

    @contextmanager
    def connected(settings):
        yield memory

    monkeypatch.setattr("bench.realmem.connected", connected)
    monkeypatch.setenv("MEMGRAPH_ENGINE_REALMEM", str(tmp_path))
    parser = argparse.ArgumentParser()
    realmem.arguments(parser)
    figures, page = realmem.run(parser.parse_args(["--baseline", "--users", "Ana"]))
    for way in ("engine", "dense", "bm25"):
        assert figures[f"realmem.{way}.H@10"] == figures[f"realmem.{way}.all@10"] == 100
    assert figures["realmem.engine.R@10"] == figures["realmem.engine.R@10.Hint"]
    assert "1 questions, bge-small" in page
    with pytest.raises(SystemExit, match="begins with 'Bo'"):
        realmem.run(parser.parse_args(["--users", "Bo"]))
