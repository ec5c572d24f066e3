"""What `python -m bench ordinary` counts: all that is wanted among the first hits, and what a context tells."""

import argparse
import json
from contextlib import contextmanager

import pytest

from bench import ordinary
from bench.chats import Ask

TURNS = [
    {"role": "user", "content": "I keep bees behind the barn.", "time": "2025-03-01T09:00:00", "session": "s1"},
    {"role": "assistant", "content": "Noted.", "time": "2025-03-01T09:01:00", "session": "s1"},
    {"role": "user", "content": "My goat is called Ludo.", "time": "2025-03-02T09:00:00", "session": "s2"},
]


def ask(*current, question="What is my goat called?", nothing=False):
    return Ask(question, None, current, [], [], nothing)


@pytest.mark.parametrize(
    ("wanted", "complete"),
    [(("one",), {1, 3, 5, 8, 10}), (("one", "TWO|deux"), {3, 5, 8, 10}), (("six",), {8, 10}), (("seven",), set())],
)
def test_all_that_is_wanted_is_among_the_first_k(wanted, complete):
    texts = ["the one", "Two", "three", "four", "five", "six"]
    figures = ordinary._complete(ask(*wanted), texts, "all")
    assert {k for k in (1, 3, 5, 8, 10) if figures[f"all@{k}"]} == complete


@pytest.mark.integration
@pytest.mark.parametrize(("kind", "language"), [("few facts", "english"), ("really changed", "german")])
def test_the_bench_measures_a_memory_and_the_baselines(memory, monkeypatch, tmp_path, capsys, kind, language):
    known = {"question": "What is my goat called?", "current": ["Ludo"], "former": ["Bo"], "foreign": []}
    none = {"question": "When is the eclipse?", "current": [], "former": [], "foreign": [], "nothing": True}
    asks = [{**known, "nothing": False}, none]
    chat = {"id": "a", "language": language, "kind": kind, "turns": TURNS, "asks": asks}
    file = tmp_path / "chats.jsonl"
    file.write_text(json.dumps(chat), encoding="utf-8")

    models = []

    @contextmanager
    def connected(settings):
        models.append(settings.embedder)
        yield memory

    monkeypatch.setattr("bench.asking.connected", connected)
    monkeypatch.setenv("MEMGRAPH_ENGINE_ORDINARY", str(file))
    parser = argparse.ArgumentParser()
    ordinary.arguments(parser)
    figures, page = ordinary.run(parser.parse_args(["--baseline", "--failures"]))
    for way in ("all", "cosine.all", "bm25.all"):
        assert figures[f"ordinary.{way}@1"] == figures[f"ordinary.{kind.split()[0]}.{way}@10"] == 1
    assert figures["ordinary.told"] == figures["ordinary.first"] == figures[f"ordinary.{language}.former"] == 1
    assert figures["ordinary.empty_when_known"] == 0
    assert figures["ordinary.stray"] >= 1 - figures["ordinary.nothing"]
    assert ("ordinary.false_marks" in figures) == kind.startswith("few")
    assert "1 chats, 2 questions, each language by the model of its own" in page
    assert models == ["bge-small" if language == "english" else "multilingual"]


def test_the_bench_needs_a_file(monkeypatch):
    monkeypatch.delenv("MEMGRAPH_ENGINE_ORDINARY", raising=False)
    with pytest.raises(SystemExit, match="MEMGRAPH_ENGINE_ORDINARY"):
        ordinary.run(argparse.Namespace(file=None, only=""))
