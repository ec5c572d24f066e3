"""LoCoMo's conversations with the questions that retrieval can be measured by (DESIGN: R@k over sources)."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from memgraph_engine.evaluation import locomo
from memgraph_engine.evaluation.locomo import Conversation


def locomo_file(given: Path | None) -> Path:
    """Return the file given, or the one that MEMGRAPH_ENGINE_LOCOMO names."""
    named = given or os.environ.get("MEMGRAPH_ENGINE_LOCOMO")
    if not named:
        raise SystemExit("Name the LoCoMo file: --file FILE, or the variable MEMGRAPH_ENGINE_LOCOMO.")
    return Path(named)


def conversations(path: Path) -> Iterator[Conversation]:
    """Yield the conversations of a LoCoMo file; questions without evidence that exists are left out."""
    for conversation in locomo.conversations(path):
        yield replace(conversation, questions=[one for one in conversation.questions if one.evidence])
