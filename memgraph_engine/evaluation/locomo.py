"""Read LoCoMo's conversations and questions (Maharana et al. 2024)."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgraph_engine.errors import InvalidInput
from memgraph_engine.ingest.readers import Reader

CATEGORIES: Mapping[int, str] = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
"""LoCoMo's names of its categories; papers shift them, so a category is meant by its number."""

ADVERSARIAL = 5
NOT_MENTIONED = "Not mentioned in the conversation"
"""What is right to answer an adversarial question, whose premise is false."""

_EVIDENCE = re.compile(r"D\s*:?\s*(\d+)[:;](\d+)")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its category number, the ids of the turns that answer it (those that exist), and the answer."""

    text: str
    category: int
    evidence: tuple[str, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation: its turns as messages of the public API, and its questions."""

    id: str
    turns: Sequence[dict[str, Any]]
    questions: Sequence[Question]


def conversations(path: Path) -> Iterator[Conversation]:
    """Yield the conversations of a LoCoMo file; raises InvalidInput for a file that is none."""
    try:
        samples = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} can't be read: {error}.") from error
    if not (isinstance(samples, list) and samples and all(isinstance(sample, dict) for sample in samples)):
        raise InvalidInput(f"{path} is no LoCoMo file: that is a JSON array of samples.")
    names = Counter(str(sample.get("sample_id")) for sample in samples)
    if twice := [name for name, times in names.items() if times > 1]:
        raise InvalidInput(f"{path} has several samples {twice[0]!r}: each needs a sample_id of its own.")
    for sample in samples:
        try:
            yield _conversation(path, sample)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            name = sample.get("sample_id", "without a sample_id")
            raise InvalidInput(f"Sample {name} of {path} is not of LoCoMo's form: {error!r}.") from error


def _conversation(path: Path, sample: Mapping[str, Any]) -> Conversation:
    turns = [item for item in Reader("locomo", sample["sample_id"]).read(path) if isinstance(item, dict)]
    known = {turn["id"] for turn in turns}
    if len(known) < len(turns):
        raise ValueError("two turns have the same dia_id")
    return Conversation(sample["sample_id"], turns, [_question(item, known) for item in sample["qa"]])


def _question(item: Mapping[str, Any], known: set[str]) -> Question:
    category = int(item["category"])
    if category not in CATEGORIES:
        raise ValueError(f"there is no category {category}")
    answer = NOT_MENTIONED if category == ADVERSARIAL else str(item["answer"])
    text, given = str(item["question"]), item.get("evidence") or []
    if not text.strip() or "\0" in text:
        raise ValueError(f"a question is {text!r}")
    if not isinstance(given, list):
        raise ValueError(f"the evidence of {text!r} is no list")
    return Question(text, category, evidence(given, known), answer)


def evidence(given: Sequence[str], known: set[str]) -> tuple[str, ...]:
    """Read the ids of turns out of LoCoMo's evidence; those that exist, each once.

    >>> evidence(["D1:03; D2:1", "D 9:9"], {"D1:3", "D2:1"})
    ('D1:3', 'D2:1')
    """
    ids = (f"D{int(session)}:{int(turn)}" for text in given for session, turn in _EVIDENCE.findall(text))
    return tuple(dict.fromkeys(i for i in ids if i in known))
