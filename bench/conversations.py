"""LoCoMo's conversations with the questions that retrieval can be measured by (DESIGN: R@k over sources)."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from memgraph_engine.evaluation import locomo
from memgraph_engine.evaluation.locomo import Conversation


def named_file(given: Path | None, what: str, variable: str, *, option: str = "--file") -> Path:
    """Return the file given by an option, or the one that a variable names; ends the bench if neither does."""
    named = given or os.environ.get(variable)
    if not named:
        raise SystemExit(f"Name the {what}: {option} FILE, or the variable {variable}.")
    return Path(named)


def locomo_file(given: Path | None) -> Path:
    """Return the file given, or the one that MEMGRAPH_ENGINE_LOCOMO names."""
    return named_file(given, "LoCoMo file", "MEMGRAPH_ENGINE_LOCOMO")


def conversations(path: Path) -> Iterator[Conversation]:
    """Yield the conversations of a LoCoMo file; questions without evidence that exists are left out."""
    for conversation in locomo.conversations(path):
        yield replace(conversation, questions=[one for one in conversation.questions if one.evidence])
