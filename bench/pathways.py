"""The pathways and rounds of recall, without an LLM: what they add to the other channels, and what pathways cost."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from bench import fillers
from bench.conversations import conversations, locomo_file
from bench.observations import FiledEmbedder
from bench.scores import mean, score
from bench.server import bench_settings, connected
from bench.speed import BASIC, Known, milliseconds, percentile
from memgraph_engine import Memory
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.evaluation.locomo import Conversation
from memgraph_engine.evaluation.report import table
from memgraph_engine.evaluation.run import after
from memgraph_engine.evaluation.variants import ABLATIONS
from memgraph_engine.testing import purge

_MEASURES = ("R@5", "R@10", "R@20", "H@10", "nDCG@10")
_HARD = (1, 2)  # categories: multi-hop and temporal
_ALL = {"pathways": "always"}
_VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "basic": {"switched": BASIC},
    "default": {},
    "all": _ALL,
    "without-topics": {**_ALL, "switched": {"topics": False}},
    "without-keywords": {**_ALL, "switched": {"keywords": False}},
    "without-related": {**_ALL, "switched": {"related": False}},
    "without-time": {**_ALL, "switched": {"time": False}},
    "rrf": {"ranking": "rrf"},
    "memfly": ABLATIONS["memfly-retrieval"]["recall"],
    "iterated": {"rounds": 3},
}
_LARGE, _SCOPES = 100_000, 200


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the LoCoMo file (else MEMGRAPH_ENGINE_LOCOMO)")
    parser.add_argument("--models", default="minilm,bge-small", help="embedders, with commas between")
    parser.add_argument("--rounds", type=int, default=200, help="questions that are timed")
    parser.add_argument("--no-speed", action="store_true", help="leave out 100,000 notes (some minutes)")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure each model; return flat figures and a report. Figures without a model's name are the last model's."""
    every = list(conversations(locomo_file(given.file)))
    models = given.models.split(",")
    figures: dict[str, float] = {}
    pages = []
    for model in models:
        found = _quality(every, model)
        figures |= {f"{model}.{name}": value for name, value in found.items()}
        figures |= found
        pages.append(f"### {model}\n\n{_page(found)}")
    if not given.no_speed:
        times = _speed(every, models[0], given.rounds)
        figures |= times
        rows = [(name, f"{value:.3f}") for name, value in times.items()]
        pages.append(f"### {_LARGE:,} notes over {_SCOPES} scopes, {models[0]}\n\n{table(('figure', 'value'), rows)}")
    return figures, "\n\n".join(pages)


def _page(found: Mapping[str, float]) -> str:
    rows = [
        (name, *(found[f"{m}.{name}"] for m in _MEASURES), *(found[f"{m}.cat12.{name}"] for m in ("R@10", "R@20")))
        for name in _VARIANTS
    ]
    return table(("", *_MEASURES, "R@10, categories 1 and 2", "R@20, 1 and 2"), rows)


def of(memory: Memory, change: Mapping[str, Any]) -> Memory:
    """Return the same memory with other settings of recall; `switched` are channels that are on or off."""
    settings = memory.engine.settings
    others = dict(change)
    recall = settings.recall.switched(**others.pop("switched", {})).model_copy(update=others)
    return Memory(replace(memory.engine, settings=settings.model_copy(update={"recall": recall})))


def _quality(every: Sequence[Conversation], model: str) -> dict[str, float]:
    """Ingest the conversations, find their topics, and ask their questions by each variant."""
    embedder = FiledEmbedder(model)
    settings = bench_settings(model).model_copy(update={"tenant": f"bench-{uuid4().hex}"})
    scores: dict[str, list[tuple[int, dict[str, float]]]] = {name: [] for name in _VARIANTS}
    with connected(settings, embedder) as memory:
        try:
            for conversation in every:
                memory.add_many(conversation.turns, user_id=conversation.id)
                memory.rebuild_topics(user_id=conversation.id)
                ended = after(conversation, memory)
                for name, change in _VARIANTS.items():
                    scores[name] += _asked(of(ended, change), conversation)
        finally:
            purge(settings.tenant, settings=settings)
            embedder.keep()
    figures: dict[str, float] = {}
    for name, some in scores.items():
        whole = mean([one for _, one in some])
        hard = mean([one for category, one in some if category in _HARD])
        figures |= {f"{measure}.{name}": whole[measure] for measure in _MEASURES}
        figures |= {f"{measure}.cat12.{name}": hard[measure] for measure in _MEASURES}
    return figures | {f"{measure}.cat12.once": figures[f"{measure}.cat12.all"] for measure in _MEASURES}


def _asked(memory: Memory, conversation: Conversation) -> list[tuple[int, dict[str, float]]]:
    return [
        (question.category, score(_sources(memory, question.text, conversation.id), question.evidence))
        for question in conversation.questions
    ]


def _sources(memory: Memory, question: str, user: str) -> list[str]:
    return [source.id for hit in memory.search(question, user_id=user, top_k=20) for source in hit.sources]


def _speed(every: Sequence[Conversation], model: str, rounds: int) -> dict[str, float]:
    """Time `search` with all pathways against the basic channels, in a large database with topics and ties."""
    settings = bench_settings(model)
    settings = settings.model_copy(update={"home": settings.home.with_name(f"{model}-{_LARGE}-{_SCOPES}")})
    with connected(settings) as memory:
        tenant = fillers.fill(memory, every, notes=_LARGE, scopes=_SCOPES)
        known = CheckedEmbedder(Known(memory.engine.embedder))
        users = [f"user-{number}" for number in range(_SCOPES)]
        mine = Memory(replace(fillers.complete(memory, tenant, users).engine, embedder=known))
        questions = [q.text for c in every for q in c.questions][:: max(1, 997 // rounds)][:rounds]
        asked = [(question, users[i % _SCOPES]) for i, question in enumerate(questions)]
        plain, every_way = of(mine, {"switched": BASIC}), of(mine, _ALL)
        taken: dict[str, list[float]] = {"basic": [], "all": []}
        for variant in ("basic", "all", "basic", "all"):  # the first of each is to warm up
            one = plain if variant == "basic" else every_way
            taken[variant] = milliseconds(partial(_search, one), asked)
    basic, whole = percentile(taken["basic"], 0.5), percentile(taken["all"], 0.5)
    return {"all_pathways_over_basic": whole / basic, "search_ms.basic": basic, "search_ms.all": whole}


def _search(memory: Memory, asked: tuple[str, str]) -> object:
    return memory.search(asked[0], user_id=asked[1])
