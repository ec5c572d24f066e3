"""Turn-level retrieval on LoCoMo without an LLM: the defaults beside BM25, dense and RRF alone."""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from bench import fillers, ranking, robustness
from bench.conversations import conversations, locomo_file
from bench.scores import mean, score
from bench.server import bench_settings, connected
from bench.speed import BASIC
from memgraph_engine import Memory
from memgraph_engine.evaluation.locomo import CATEGORIES, Conversation, Question
from memgraph_engine.evaluation.report import table
from memgraph_engine.evaluation.run import after
from memgraph_engine.model.scope import Scope
from memgraph_engine.recall.fusion import Places, fuse, shipped_weights
from memgraph_engine.recall.question import Filters
from memgraph_engine.recall.search import Query, retrieve
from memgraph_engine.settings import RecallSettings
from memgraph_engine.testing import purge

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MEASURES = ("R@5", "R@10", "R@20", "H@10", "nDCG@10")
_FLAT = {"neighbours": False, "session": False, **BASIC}
_RRF = "RRF, k = 60"
_VARIANTS: Mapping[str, Mapping[str, bool]] = {  # channels to switch
    "weights alone": {},
    "BM25 alone": {**_FLAT, "dense_raw": False, "dense_context": False},
    "dense alone": {**_FLAT, "lexical_raw": False, "lexical_context": False},
    _RRF: {},
    "convex, nothing around": _FLAT,
    "convex and neighbours": {"session": False, **BASIC},
    "without pathways": BASIC,
}
# what leave-one-conversation-out chooses from: around the defaults, the share of words, of context, and what is around
_GRID = {
    "lexical": (0.35, 0.45, 0.55),
    "neighbour_1": (0.2, 0.3, 0.4),
    "neighbour_2": (0.1, 0.15, 0.2),
    "session": (0.2, 0.3, 0.4),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its pool and the channels' scores, so that fusions can be compared on the same pool.

    `ids` and `sources` (their ids) are those of the notes of the pool, `found` the sources that `search` returned.
    """

    conversation: str
    question: Question
    ids: Sequence[str]
    sources: Sequence[Sequence[str]]
    places: Places
    channels: "NDArray[np.float64]"
    found: Sequence[str]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the LoCoMo file (else MEMGRAPH_ENGINE_LOCOMO)")
    parser.add_argument("--models", default="minilm,bge-small", help="embedders, with commas between")
    parser.add_argument(
        "--fit",
        action="store_true",
        help="instead, fit how notes are ranked, on these dialogues, and on chats, documents and code (hours)",
    )
    parser.add_argument("--daily", type=Path, help="the file of chats to fit on (else MEMGRAPH_ENGINE_DAILY)")
    parser.add_argument(
        "--no-crowded", action="store_true", help="leave out MiniLM beside 200 filler scopes (10 minutes)"
    )
    parser.add_argument(
        "--robustness",
        action="store_true",
        help="instead, the preset memfly on the first conversation with each threshold moved by a fifth",
    )


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure each model; return flat figures and a report in Markdown."""
    if given.fit:
        return ranking.fit(ranking.Files(given.file, given.daily), given.models.split(","))
    every = list(conversations(locomo_file(given.file)))
    figures: dict[str, float] = {}
    pages = []
    if given.robustness:
        for model in given.models.split(","):
            some, page = robustness.measure(model, every[0])
            figures |= {f"{model}.{name}": value for name, value in some.items()}
            pages.append(page)
        return figures, "\n\n".join(pages)
    for model in given.models.split(","):
        with connected(bench_settings(model)) as memory:
            asked = _ask_all(memory, every)
            scores = [score(a.found, a.question.evidence) for a in asked]
            figures |= {f"{model}.{name}": value for name, value in mean(scores).items()}
            pages.append(_page(model, asked, scores, memory, figures))
            if not given.no_crowded and model == "minilm":
                fillers.fill(memory, every, notes=100_000)
                crowded = mean([score(a.found, a.question.evidence) for a in _ask_all(memory, every)])
                figures |= {f"{model}.{name}.crowded": value for name, value in crowded.items()}
                row = ("default, beside 200 scopes of 500 notes", *(crowded[m] for m in _MEASURES))
                pages.append(table(("", *_MEASURES), [row]))
    return figures, "\n\n".join(pages)


def _ask_all(memory: Memory, every: Iterable[Conversation]) -> list[Asked]:
    """Ingest each conversation as a user's memory, and ask its questions through the public API."""
    engine = memory.engine
    tenant = f"bench-{uuid4().hex}"
    mine = Memory(replace(engine, settings=engine.settings.model_copy(update={"tenant": tenant})))
    asked = []
    try:
        for conversation in every:
            mine.add_many(conversation.turns, user_id=conversation.id)
            ended = after(conversation, mine)
            scopes = [Scope(tenant, conversation.id), Scope(tenant)]
            for question in conversation.questions:
                hits = ended.search(question.text, user_id=conversation.id, top_k=20)
                found = [source.id for hit in hits for source in hit.sources]
                query = Query(
                    question.text, engine.embedder.embed_query(question.text), scopes, Filters(), 20, ended.engine.now()
                )
                pool = retrieve(engine.db, engine.notes, query, ["english"], engine.settings.recall)
                engine.notes.complete(engine.db, query.scope_names, pool.notes)
                asked.append(
                    Asked(
                        conversation.id,
                        question,
                        [note.id for note in pool.notes],
                        [[source.id for source in note.note().sources] for note in pool.notes],
                        Places.of(pool.notes),
                        pool.fused.raw,
                        found,
                    )
                )
    finally:
        purge(tenant, settings=engine.settings)
    return asked


def _ranked(asked: Asked, settings: RecallSettings, by: Mapping[str, float] | None = None) -> dict[str, float]:
    (total,) = fuse(asked.places, asked.channels[None], settings, by=by).total
    order = sorted(range(len(asked.ids)), key=lambda row: (-total[row], asked.ids[row]))
    found = [source for row in order[:20] for source in asked.sources[row]]
    return score(found, asked.question.evidence)


def _page(
    model: str, asked: Sequence[Asked], scores: Sequence[dict[str, float]], memory: Memory, figures: dict[str, float]
) -> str:
    default = memory.engine.settings.recall
    rows: list[Sequence[object]] = []
    for name, change in _VARIANTS.items():
        chosen = default.switched(**change).model_copy(update={"ranking": "rrf" if name == _RRF else "weights"})
        result = mean([_ranked(a, chosen) for a in asked])
        rows.append((name, *(result[m] for m in _MEASURES)))
        figures |= {f"{model}.{m}.{name.split(',')[0].replace(' ', '-')}": result[m] for m in _MEASURES}
    whole = mean(scores)
    rows.append(("**default, through `search`**", *(whole[m] for m in _MEASURES)))
    held_out = _leave_one_out(asked, default)
    rows.append(("weights chosen on the other conversations", *(held_out[m] for m in _MEASURES)))
    figures |= {f"{model}.{m}.held-out": held_out[m] for m in _MEASURES}
    categories: list[Sequence[object]] = []
    for number, title in CATEGORIES.items():
        some = [s for a, s in zip(asked, scores, strict=True) if a.question.category == number]
        if some:
            result = mean(some)
            categories.append((f"{number} ({title})", len(some), *(result[m] for m in _MEASURES)))
            figures |= {f"{model}.{m}.category{number}": result[m] for m in _MEASURES}
    return "\n\n".join(
        [
            f"### {model}, {len(asked)} questions",
            table(("", *_MEASURES), rows),
            table(("category", "questions", *_MEASURES), categories),
        ]
    )


def _leave_one_out(asked: Sequence[Asked], default: RecallSettings) -> dict[str, float]:
    """Score each conversation with the weights that are best for R@10 on the others."""
    every = [_weights(dict(zip(_GRID, point, strict=True))) for point in product(*_GRID.values())]
    table_of = [[_ranked(a, default, by) for a in asked] for by in every]
    names = sorted({a.conversation for a in asked})
    scores = []
    for name in names:
        inside = [i for i, a in enumerate(asked) if a.conversation == name]
        outside = [i for i, a in enumerate(asked) if a.conversation != name] or inside
        best = max(range(len(every)), key=lambda s: sum(table_of[s][i]["R@10"] for i in outside))
        scores += [table_of[best][i] for i in inside]
    return mean(scores)


def _weights(point: dict[str, float]) -> Mapping[str, float]:
    lexical = point.pop("lexical")
    shares = {
        "lexical_raw": lexical * 2 / 3,
        "lexical_context": lexical / 3,
        "dense_raw": (1 - lexical) * 6 / 11,
        "dense_context": (1 - lexical) * 5 / 11,
    }
    return {**shipped_weights(), **shares, **point}
