"""Read LoCoMo's conversations and questions, and measure retrieval by turns (DESIGN: R@k over sources)."""

import json
import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgraph_engine.ingest.readers import read

CUTS = (5, 10, 20)
_EVIDENCE = re.compile(r"D\s*:?\s*(\d+)[:;](\d+)")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its category number, and the ids of the turns that answer it."""

    text: str
    category: int
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation: its turns as messages of the public API, and its answerable questions."""

    id: str
    turns: Sequence[dict[str, Any]]
    questions: Sequence[Question]


def locomo_file(given: Path | None) -> Path:
    """Return the file given, or the one that MEMGRAPH_ENGINE_LOCOMO names."""
    named = given or os.environ.get("MEMGRAPH_ENGINE_LOCOMO")
    if not named:
        raise SystemExit("Name the LoCoMo file: --file FILE, or the variable MEMGRAPH_ENGINE_LOCOMO.")
    return Path(named)


def conversations(path: Path) -> Iterator[Conversation]:
    """Yield the conversations of a LoCoMo file; questions without evidence that exists are left out."""
    for sample in json.loads(path.read_text("utf-8")):
        turns = [item for item in read(path, "locomo", sample_id=sample["sample_id"]) if isinstance(item, dict)]
        known = {turn["id"] for turn in turns}
        questions = [
            Question(item["question"], item["category"], cited)
            for item in sample["qa"]
            if (cited := evidence(item.get("evidence") or [], known))
        ]
        yield Conversation(sample["sample_id"], turns, questions)


def evidence(given: Sequence[str], known: set[str]) -> tuple[str, ...]:
    """Read the ids of turns out of LoCoMo's evidence; those that exist, each once."""
    ids = (f"D{int(session)}:{int(turn)}" for text in given for session, turn in _EVIDENCE.findall(text))
    return tuple(dict.fromkeys(i for i in ids if i in known))


def score(found: Sequence[str], evidence: Sequence[str]) -> dict[str, float]:
    """Score the source ids found, in order: R@5, R@10, R@20, H@10 and nDCG@10, each 0 to 100."""
    wanted = set(evidence)
    first = list(dict.fromkeys(found))
    result = {f"R@{k}": 100 * len(wanted & set(first[:k])) / len(wanted) for k in CUTS}
    result["H@10"] = 100.0 * any(i in wanted for i in first[:10])
    gain = sum(1 / math.log2(place + 2) for place, i in enumerate(first[:10]) if i in wanted)
    best = sum(1 / math.log2(place + 2) for place in range(min(10, len(wanted))))
    result["nDCG@10"] = 100 * gain / best
    return result


def mean(scores: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each measure over the questions."""
    return {name: sum(one[name] for one in scores) / len(scores) for name in scores[0]} if scores else {}
