"""The gate without an LLM: its scores on all pairs of LoCoMo, and what it makes of whole conversations."""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

from bench import gate_calls, gate_corrections, gate_memory, gate_speed, statements
from bench.conversations import locomo_file, named_file
from bench.gate_fit import fit, fit_redundancy, fit_relation, ship
from bench.gate_pairs import (
    NOTHING,
    RELATED,
    RESTATED,
    Array,
    Told,
    auc,
    column,
    contradicted,
    decided,
    told,
)
from bench.observations import LANGUAGE, FiledEmbedder, observed
from memgraph_engine import Settings
from memgraph_engine.embedding.choose import MODELS
from memgraph_engine.evaluation.report import table
from memgraph_engine.gate.calibration import Calibration, calibration
from memgraph_engine.gate.gate import Gate
from memgraph_engine.model.scope import Scope

_PARTS = ("pairs", "statements", "corrections", "memory", "calls", "speed")
BY_COSINE, BY_RELATION = attrgetter("cosine"), attrgetter("relation")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the LoCoMo file (else MEMGRAPH_ENGINE_LOCOMO)")
    parser.add_argument(
        "--statements", type=Path, help="pairs of statements by class (else MEMGRAPH_ENGINE_TEST_PAIRS)"
    )
    parser.add_argument("--models", default="minilm,bge-small", help="embedders, with commas between")
    parser.add_argument(
        "--parts",
        default=",".join(_PARTS),
        help="what to measure, with commas between: observations added to turns (pairs), a file of statements by class \
(statements), corrections, memories that observations are added to (memory), calls of chat models (calls), speed",
    )
    parser.add_argument("--rounds", type=int, default=150, help="single additions that are timed")
    parser.add_argument("--undated", action="store_true", help="let observations enter without a time")
    parser.add_argument("--fit", action="store_true", help="write config/calibration/gate.json anew from this file")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure each model; return flat figures and a report. Figures without a model's name are the default's.

    Calls and speed are measured with the first model; corrections need none.
    """
    models, parts = given.models.split(","), given.parts.split(",")
    if unknown := set(parts) - set(_PARTS):
        raise SystemExit(f"There is no part {', '.join(sorted(unknown))}; the parts are {', '.join(_PARTS)}.")
    told = statements.read(_statements(given)) if "statements" in parts else []  # else nothing else is begun
    figures: dict[str, float] = {}
    pages = _pairs(given, models, figures) if "pairs" in parts else []
    measured = [(model, gate_memory.measure(given.file, model)) for model in models if "memory" in parts]
    if "statements" in parts:
        measured += [(model, statements.measure(told, FiledEmbedder(model))) for model in models]
    if "corrections" in parts:
        measured.insert(0, (models[0], gate_corrections.measure(given.file)))
    if "calls" in parts:
        measured.append((models[0], gate_calls.measure(given.file, models[0])))
    if "speed" in parts:
        measured.append((models[0], gate_speed.measure(given.file, models[0], given.rounds)))
    for model, (some, page) in measured:
        figures |= {f"{model}.{name}": value for name, value in some.items()}
        pages.append(page)
    default = Settings.load().embedder
    for model in (models[0], default):  # what was not measured with the default is the first's
        prefix = f"{model}."
        figures |= {name.removeprefix(prefix): value for name, value in figures.items() if name.startswith(prefix)}
    return figures, "\n\n".join(pages)


def _statements(given: argparse.Namespace) -> Path:
    return named_file(given.statements, "pairs of statements", "MEMGRAPH_ENGINE_TEST_PAIRS", option="--statements")


def _pairs(given: argparse.Namespace, models: Sequence[str], figures: dict[str, float]) -> list[str]:
    measured = {}
    for model in models:
        with gate_memory.kept(model) as memory:
            every = observed(locomo_file(given.file), FiledEmbedder(model), dated=not given.undated)
            measured[model] = told(memory, every)
    if given.fit:
        maps = {_embedder(model): fit_relation(every) for model, every in measured.items()}
        ship(fit_redundancy([(every, maps[_embedder(model)]) for model, every in measured.items()]), maps)
        calibration.cache_clear()
    return [_measure(model, every, figures) for model, every in measured.items()]


def _embedder(model: str) -> str:
    return MODELS[model].name if model in MODELS else model


def _measure(model: str, every: Sequence[Told], figures: dict[str, float]) -> str:
    names = list(dict.fromkeys(one.home for one in every))
    shipped = dict.fromkeys(names, calibration(_embedder(model)))
    held_out = {}
    for name in names:
        others = [one for one in every if name not in (one.home, one.other)] or every
        held_out[name] = fit(others)
    counts = [_counted(one, held_out[one.home]) for one in every]
    whole = _figures(every, counts, held_out)
    in_sample = _figures(every, [_counted(one, shipped[one.home]) for one in every], shipped)
    by_conversation = {}
    for name in names:
        places = [place for place, one in enumerate(every) if one.home == name]
        some, theirs = [every[place] for place in places], [counts[place] for place in places]
        by_conversation[name] = _figures(some, theirs, held_out)
    figures |= {f"{model}.{key}": value for key, value in whole.items()}
    figures |= {f"{model}.{key}.shipped": value for key, value in in_sample.items()}
    for name, values in by_conversation.items():
        figures |= {f"{model}.{key}.{name}": value for key, value in values.items()}
    columns = [whole, in_sample, *by_conversation.values()]
    rows = [(key, *(f"{one[key]:.4f}" for one in columns)) for key in whole]
    restated, related = (len(column(every, label, BY_COSINE)) for label in (RESTATED, RELATED))
    counted = f"{restated:,} restated, {related:,} related pairs"
    return f"### {model}: {counted}\n\n{table(('', 'held out', 'shipped maps', *names), rows)}"


def _counted(one: Told, maps: Calibration) -> Counter[str]:
    """Count what the gate decides on one observation, and on what is made of it to contradict it."""
    gate = Gate(Settings.load().gate, maps, Scope("bench", one.other), LANGUAGE, len(one.ids))
    verdict = decided(one, gate)
    joined = verdict.target if verdict.kind in ("merge", "reinforce") else ""
    if one.home != one.other:
        return Counter(
            {"foreign": 1, "foreign.joined": bool(joined), "foreign.linked": len(verdict.ties)}
            | {"foreign.near": len(one.near)}
        )
    labels = dict(zip(one.ids, one.label.tolist(), strict=True))
    counts = Counter(labels.values())
    sums = Counter(
        {
            "related": counts[RELATED],
            "cited": bool(counts[RESTATED]),
            "found": bool(joined) and labels[joined] == RESTATED,
            "false": bool(joined) and labels[joined] == RELATED,
            "elsewhere": bool(joined) and labels[joined] == NOTHING,
            "hidden": verdict.kind in ("reinforce", "supersede", "discard"),
            "near": any(labels[known.id] == RESTATED for known, _ in one.near),
        }
    )
    for label, name in ((RESTATED, "restated"), (RELATED, "related")):
        sums[f"linked.{name}"] = sum(labels[tie.note] == label for tie in verdict.ties)
        sums[f"{name}.near"] = sum(labels[known.id] == label for known, _ in one.near)
    own = replace(one.new, id="original")
    for edited in contradicted(one):
        sums["edits"] += 1
        sums["edits.joined"] += decided(one, gate, edited, [(own, 1.0)]).kind in ("merge", "reinforce")
        with_turns = decided(one, gate, edited)
        sums["edits.turns"] += with_turns.kind in ("merge", "reinforce") and labels[with_turns.target] == RESTATED
    return sums


def _figures(some: Sequence[Told], counts: Sequence[Counter[str]], maps: dict[str, Calibration]) -> dict[str, float]:
    """Measure some of the observations, each conversation with its own maps."""
    sums = sum(counts, Counter())

    def redundancy(one: Told) -> Array:
        return one.redundancy(maps[one.home])

    return {
        "auc.gate": auc(column(some, RESTATED, redundancy), column(some, RELATED, redundancy)),
        "auc.cosine": auc(column(some, RESTATED, BY_COSINE), column(some, RELATED, BY_COSINE)),
        "restatements_found": sums["found"] / max(sums["cited"], 1),
        "restatements_near": sums["near"] / max(sums["cited"], 1),
        "false_merge_rate": sums["false"] / sums["related"],
        "false_merges.other_sessions": sums["elsewhere"] / max(sums["cited"], 1),
        "false_merges.other_conversation": sums["foreign.joined"] / max(sums["foreign"], 1),
        "hidden": sums["hidden"] / max(sums["cited"], 1),
        "false_merge_contradictions": sums["edits.joined"] / sums["edits"],
        "false_merge_contradictions.turns": sums["edits.turns"] / sums["edits"],
        "auc.link": auc(column(some, RELATED, BY_RELATION), column(some, NOTHING, BY_RELATION)),
        "auc.link.cosine": auc(column(some, RELATED, BY_COSINE), column(some, NOTHING, BY_COSINE)),
        "linked.restated": sums["linked.restated"] / max(sums["restated.near"], 1),
        "linked.related": sums["linked.related"] / max(sums["related.near"], 1),
        "linked.unrelated": sums["foreign.linked"] / max(sums["foreign.near"], 1),
    }
