"""What reflection makes of right answers on LoCoMo, beside the turns that hold them; and the rankings of two papers."""

import argparse
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path

from bench.conversations import conversations, locomo_file
from bench.scores import mean, score
from bench.server import bench_settings, connected, of_its_own
from memgraph_engine import Memory
from memgraph_engine.asking.reflection import FIRST
from memgraph_engine.evaluation.locomo import ADVERSARIAL, Conversation
from memgraph_engine.evaluation.report import table
from memgraph_engine.evaluation.run import after
from memgraph_engine.settings import Preset, Settings

_WAYS = ("alone", "related", "contradicts")
_MEASURES = ("R@10", "R@20")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the LoCoMo file (else MEMGRAPH_ENGINE_LOCOMO)")
    parser.add_argument("--model", default="minilm", help="the embedder")
    parser.add_argument("--conversations", type=int, default=5, help="how many")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure; return flat figures and a report in Markdown."""
    some = list(islice(conversations(locomo_file(given.file)), given.conversations))
    with connected(bench_settings(given.model)) as memory, of_its_own(memory) as mine:
        for one in some:
            mine.add_many(one.turns, user_id=one.id)
        papers: tuple[Preset, ...] = ("", "mla-arc", "memoryarchitect")
        found = {paper or "learned": _ranked(mine, some, paper) for paper in papers}  # before anything was used
        told, questions = _told(mine, some)
    every = Counter[str]()
    for (way, _), number in told.items():
        every[way] += number
    rows = [(way, every[way], f"{told[way, True] / max(every[way], 1):.1%}") for way in (*_WAYS, "unused")]
    figures = {f"{way}.evidence": told[way, True] / max(every[way], 1) for way in (*_WAYS, "unused")}
    held = sum(number for (_, evidence), number in told.items() if evidence)
    used = told["alone", True] + told["related", True]
    figures["evidence.used"] = used / max(held, 1)
    figures |= {f"{name}.{measure}": of[measure] for name, of in found.items() for measure in _MEASURES}
    pages = [
        f"{questions} questions. Of the {held} shown notes that hold an answer, {used / max(held, 1):.1%} were used.",
        table(("told", "notes", "that hold the answer"), rows),
        table(("ranking", *_MEASURES), [(name, *(of[one] for one in _MEASURES)) for name, of in found.items()]),
    ]
    return figures, "\n\n".join(pages)


def _told(memory: Memory, some: Iterable[Conversation]) -> tuple[Counter[tuple[str, bool]], int]:
    """Count what the first notes shown were, by how that was known and whether they hold the answer."""
    told, questions = Counter[tuple[str, bool]](), 0
    for one in some:
        ended = after(one, memory)
        for question in one.questions:
            if question.category == ADVERSARIAL:
                continue
            shown = ended.context(question.text, user_id=one.id)
            if not shown.entries:
                continue
            questions += 1
            holds = {
                entry.note.id: any(source.id in question.evidence for source in entry.sources)
                for entry in shown.entries
            }
            for note in ended.reflect(question.text, shown, question.answer, user_id=one.id).notes[:FIRST]:
                way = next((way for way in _WAYS if way in note.why), "unused")
                told[way, holds[note.note]] += 1
    return told, questions


def _ranked(memory: Memory, some: Iterable[Conversation], paper: Preset) -> dict[str, float]:
    """Return what the ranking of a paper, or the default one, finds of the turns that hold the answers."""
    given = memory.engine.settings
    recall = Settings.paper(paper).recall
    scores = []
    for one in some:
        ended = after(one, memory)
        asked = Memory(replace(ended.engine, settings=given.model_copy(update={"recall": recall})))
        for question in one.questions:
            hits = asked.search(question.text, user_id=one.id, top_k=20)
            scores.append(score([source.id for hit in hits for source in hit.sources], question.evidence))
    return mean(scores)
