"""What is left of what was erased, and how long it takes to erase a thousand notes."""

import argparse
import time
from pathlib import Path
from uuid import uuid4

from bench.conversations import conversations, locomo_file
from bench.server import bench_settings, connected
from memgraph_engine.evaluation.report import table
from memgraph_engine.testing import purge


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the LoCoMo file (else MEMGRAPH_ENGINE_LOCOMO)")
    parser.add_argument("--model", default="minilm", help="the embedder")
    parser.add_argument("--notes", type=int, default=1000, help="sources to erase")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure; return flat figures and a report in Markdown."""
    settings = bench_settings(given.model).model_copy(update={"tenant": f"bench-{uuid4().hex}"})
    with connected(settings) as memory:
        try:
            for number, one in enumerate(conversations(locomo_file(given.file))):
                memory.add_many([{**turn, "id": f"{number}-{turn['id']}"} for turn in one.turns], user_id="u")
            every = [source.id for note in memory.get_all(user_id="u") for source in note.sources]
            plan = memory.forget(user_id="u", source=every[: given.notes])
            begun = time.perf_counter()
            receipt = memory.erase(plan)
            figures = {"erase_1k_s": time.perf_counter() - begun, "erasure_residue": float(receipt.residue)}
        finally:
            purge(settings.tenant, settings=settings)
    rows = [(name, f"{value:.3f}") for name, value in sorted(figures.items())]
    return figures, f"### {given.model}\n\n{table(('figure', 'value'), rows)}"
