"""The experiments of `eval locomo` on the first turns of conversations, with a real, weak model that runs here."""

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

from bench import smollm
from bench.conversations import locomo_file
from bench.server import bench_settings, connected
from memgraph_engine.cli.show import bar
from memgraph_engine.cost import Cost
from memgraph_engine.evaluation import run as evaluation
from memgraph_engine.evaluation.experiment import Experiment, read
from memgraph_engine.evaluation.report import table
from memgraph_engine.evaluation.summary import JUDGE, RECALL, Summary
from memgraph_engine.evaluation.variants import ABLATIONS, MEMORY
from memgraph_engine.llm.roles import chat_named

PRESETS = ("memfly", "mla-arc", "lightmem-slm", "lightmem-tree", "memoryarchitect")
_MEASURES = (RECALL, "F1", "BLEU-1", JUDGE)
_AT_ONCE = 2  # requests


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the LoCoMo file (else MEMGRAPH_ENGINE_LOCOMO)")
    parser.add_argument(
        "--conversations", type=int, default=1, help="how many are read, those of the most categories first"
    )
    parser.add_argument("--turns", type=int, default=4, help="of each, the first so many")
    parser.add_argument("--top-k", type=int, default=5, help="notes that answers are made from")
    parser.add_argument("--out", type=Path, help="a folder that keeps the reports; a broken run goes on there")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Run all ablations by default settings, then each paper's preset; return flat figures and tables."""
    samples = json.loads(locomo_file(given.file).read_text("utf-8"))
    with TemporaryDirectory(prefix="memgraph-engine-") as kept, smollm.served(_AT_ONCE) as base:
        out: Path = given.out or Path(kept)
        out.mkdir(parents=True, exist_ok=True)
        part = out / "part.json"
        some = sorted((_first(one, given.turns) for one in samples), key=lambda one: -len(one["qa"]))
        part.write_text(json.dumps(some[: given.conversations]), "utf-8")
        with connected(bench_settings("minilm")):
            runs = {name: _run(part, out, base, name, given.top_k) for name in ("", *PRESETS)}
    return _figures(runs), _report(runs)


def _first(sample: Mapping[str, Any], turns: int) -> dict[str, Any]:
    """Return the first turns of a conversation, and of each category the first question that they answer."""
    said = {name: sample["conversation"][name] for name in ("speaker_a", "speaker_b", "session_1_date_time")}
    first = sample["conversation"]["session_1"][:turns]
    ids = {turn["dia_id"] for turn in first}
    answered = [one for one in sample["qa"] if one.get("evidence") and ids.issuperset(one["evidence"])]
    asked = {one["category"]: one for one in reversed(answered)}
    return {"sample_id": sample["sample_id"], "conversation": {**said, "session_1": first}, "qa": [*asked.values()]}


class _Ran(NamedTuple):
    summary: Summary
    spent: Cost
    failed: int
    seconds: float


def _run(part: Path, out: Path, base: str, preset: str, k: int) -> _Ran:
    """Run one experiment: by default settings with all ablations, or the memory alone by a paper's preset."""
    llm = {
        "model": smollm.NAME,
        "api_base": base,
        "max_tokens": 150,
        "batch_tokens": 250,
        "concurrency": _AT_ONCE,
        "timeout": 300,
    }
    settings = bench_settings("minilm", llm=llm, **({"preset": preset} if preset else {}))
    ablations = () if preset else tuple(ABLATIONS)
    experiment = Experiment(read(part), smollm.NAME, smollm.NAME, (k,), ablations, full_context=not preset)
    model, judge = (chat_named(smollm.NAME, settings.llm) for _ in range(2))
    begun = perf_counter()
    with evaluation.session(part, experiment, out / (preset or "ablations"), settings, llm=model, judge=judge) as one:
        with bar(preset or "ablations", lambda: 1) as running:

            def begin(steps: int) -> Callable[[int], None]:
                running.expect(steps)
                return running.advance

            patience = one.run(begin)
        return _Ran(one.write(), one.replies.spent, patience.failures, perf_counter() - begun)


def _figures(runs: Mapping[str, _Ran]) -> dict[str, float]:
    found = {f"{name or 'default'}.seconds": one.seconds for name, one in runs.items()}
    found |= {f"{name or 'default'}.failed": one.failed for name, one in runs.items()}
    return found | {
        f"{name or 'default'}.{key}": value for name, one in runs.items() for key, value in one.summary.flat().items()
    }


def _report(runs: Mapping[str, _Ran]) -> str:
    """Return a table of the runs, and one of what the first compares."""
    seconds = sum(one.seconds for one in runs.values())
    whole = [
        (
            name or "default",
            *_values(one.summary, MEMORY),
            f"{one.spent.calls:,}",
            f"{one.spent.tokens:,}",
            f"{one.summary.unusable}",
            f"{one.failed}",
            f"{one.seconds:.0f}",
        )
        for name, one in runs.items()
    ]
    first = runs[""].summary
    parts = [(one.name, *_values(first, one.name)) for one in first.experiment.variants]
    return "\n\n".join(
        (
            f"{first.questions()['all']} questions, {seconds / 60:.0f} minutes.",
            table(("settings", *_MEASURES, "requests", "tokens", "unusable", "failed", "seconds"), whole),
            table(("variant", *_MEASURES), parts),
        )
    )


def _values(summary: Summary, variant: str) -> list[str]:
    values = (summary.value(variant, measure) for measure in _MEASURES)
    return ["–" if value is None else f"{value:.1f}" for value in values]
