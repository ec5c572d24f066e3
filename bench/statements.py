"""Pairs of statements by class: what the gate makes of the second when it is added after the first.

A file of tab-separated lines with a header: class, language, want (same, different or update), old, new.
"""

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.evaluation.report import table
from memgraph_engine.gate.calibration import calibration
from memgraph_engine.gate.gate import Gate
from memgraph_engine.gate.verdict import Verdict
from memgraph_engine.ingest.construct import Constructor, place
from memgraph_engine.ingest.messages import parse_message
from memgraph_engine.ingest.worth import worthless
from memgraph_engine.model.candidate import Candidate, Neighbourhood
from memgraph_engine.model.ports import Embedder
from memgraph_engine.model.scope import Scope
from memgraph_engine.settings import Settings


@dataclass(frozen=True, slots=True)
class Statements:
    """Two statements of one speaker, and what may become of the second: `want` is same, different or update."""

    kind: str
    language: str
    want: str
    old: str
    new: str


def read(path: Path) -> list[Statements]:
    """Read a file of pairs."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [Statements(row["class"], row["language"], row["want"], row["old"], row["new"]) for row in rows]


def nowhere(candidates: Sequence[Candidate], *_: object) -> Neighbourhood:
    """Find nothing stored near candidates."""
    return Neighbourhood({}, [{} for _ in candidates])


def constructed(
    messages: Sequence[dict[str, Any]], language: str, embedder: Embedder, settings: Settings
) -> tuple[list[Candidate], Gate]:
    """Return what is made of messages that one batch brings, and the gate that judges it."""
    sources = [parse_message(one, str(at), timezone="UTC", max_text=65536) for at, one in enumerate(messages)]
    noise = worthless(sources, language, settings.gate)
    constructor = Constructor(CheckedEmbedder(embedder), settings.max_keywords)
    placed = place(sources, {}, noise=noise)
    made = constructor.construct(placed, {}, language)
    return made, Gate(settings.gate, calibration(embedder.name), Scope("bench", "ana"), language, 0)


def verdict(pair: Statements, embedder: Embedder, settings: Settings) -> Verdict:
    """Judge the second statement in a memory that holds the first, as one batch brings both."""
    messages = [{"id": n, "text": text, "speaker": "Ana"} for n, text in (("old", pair.old), ("new", pair.new))]
    made, gate = constructed(messages, pair.language, embedder, settings)
    return gate.verdicts(nowhere, made)[-1]


def outcome(pair: Statements, verdict: Verdict) -> str:
    """Return hidden, merged, recognised or apart; what an update may do is no fault."""
    if pair.want == "same":
        return "recognised" if verdict.kind in ("reinforce", "merge", "discard") else "apart"
    if verdict.kind in ("reinforce", "discard") or (verdict.kind == "supersede" and pair.want == "different"):
        return "hidden"
    return "merged" if verdict.kind == "merge" else "apart"


def measure(every: Sequence[Statements], embedder: Embedder) -> tuple[dict[str, float], str]:
    """Judge all pairs; return the shares by what was wanted, and a page by class."""
    settings = Settings.load()
    sums: Counter[tuple[str, str]] = Counter()
    classes: dict[str, Counter[str]] = {}
    for pair in every:
        came = outcome(pair, verdict(pair, embedder, settings))
        sums[pair.want, came] += 1
        sums[pair.want, "all"] += 1
        classes.setdefault(pair.kind, Counter()).update({f"{pair.want}": 1, came: 1})
    apart = sums["different", "all"] + sums["update", "all"]
    figures = {
        "pairs.hidden": (sums["different", "hidden"] + sums["update", "hidden"]) / max(apart, 1),
        "pairs.merged": (sums["different", "merged"] + sums["update", "merged"]) / max(apart, 1),
        "pairs.recognised": sums["same", "recognised"] / max(sums["same", "all"], 1),
    }
    columns = ("different", "update", "same", "hidden", "merged", "recognised")
    rows = [(name, *(str(counts[column] or "") for column in columns)) for name, counts in classes.items()]
    total = [(name, f"{value:.3f}", *[""] * 5) for name, value in figures.items()]
    return figures, f"### Pairs of statements\n\n{table(('class', *columns), [*rows, *total])}"


def told(every: Iterable[Statements], embedder: Embedder, settings: Settings) -> list[str]:
    """Return a line for each pair, for whoever wants to see them."""
    lines = []
    for pair in every:
        one = verdict(pair, embedder, settings)
        lines.append(
            f"{outcome(pair, one)}\t{one.kind}\t{pair.kind}\t{pair.want}\t{pair.old}\t{pair.new}\t{one.evidence}"
        )
    return lines
