"""The gate without an LLM: its scores on all pairs of LoCoMo, and what it makes of whole conversations."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from bench import gate_calls, gate_corrections, gate_memory, gate_speed
from bench.conversations import locomo_file
from bench.gate_fit import fit_redundancy, fit_relation, ship
from bench.gate_pairs import (
    LINK,
    MERGE,
    NEIGHBOURHOOD,
    NOTHING,
    RELATED,
    RESTATED,
    Array,
    Contradicted,
    Scored,
    auc,
    contradicted,
    cut,
    mapped,
    of,
    pooled,
    score_all,
)
from bench.observations import Observed, observed
from memgraph_engine import Settings
from memgraph_engine.embedding.onnx import MODELS
from memgraph_engine.evaluation.report import table
from memgraph_engine.gate.calibration import Calibration, calibration
from memgraph_engine.gate.score import Statistics, score

_PARTS = ("pairs", "corrections", "memory", "calls", "speed")
FALSE_POSITIVES = 0.005  # of the related, at which restatements are counted


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything scored with one embedder."""

    model: str
    every: Sequence[Observed]
    scored: Scored
    contradictions: dict[str, list[Contradicted]]

    @property
    def names(self) -> list[str]:
        """The conversations' ids."""
        return [one.id for one in self.every]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the LoCoMo file (else MEMGRAPH_ENGINE_LOCOMO)")
    parser.add_argument("--models", default="minilm,bge-small", help="embedders, with commas between")
    parser.add_argument(
        "--parts",
        default=",".join(_PARTS),
        help="what to measure, with commas between: all pairs of turns and observations (pairs), corrections \
(corrections), memories that observations are added to (memory), calls of chat models (calls), speed",
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
    figures: dict[str, float] = {}
    pages = _pairs(given, models, figures) if "pairs" in parts else []
    measured = [(model, gate_memory.measure(given.file, model)) for model in models if "memory" in parts]
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


def _pairs(given: argparse.Namespace, models: Sequence[str], figures: dict[str, float]) -> list[str]:
    measured = []
    for model in models:
        every = observed(locomo_file(given.file), model, dated=not given.undated)
        measured.append(Measured(model, every, score_all(every), {one.id: contradicted(one) for one in every}))
    if given.fit:
        redundancy = [fit_redundancy(one.scored, one.names) for one in measured]
        ship(redundancy, {_embedder(one.model): fit_relation(one.scored, one.names) for one in measured})
        calibration.cache_clear()
    return [_measure(one, figures) for one in measured]


def _embedder(model: str) -> str:
    return MODELS[model].name if model in MODELS else model


def _measure(one: Measured, figures: dict[str, float]) -> str:
    shipped = calibration(_embedder(one.model))
    held_out: dict[str, Calibration] = {}
    for name in one.names:
        others = [other for other in one.names if other != name] or one.names
        held_out[name] = Calibration(fit_redundancy(one.scored, others), fit_relation(one.scored, others))
    by_conversation = {name: _figures(one, [name], {name: held_out[name]}) for name in one.names}
    whole = _figures(one, one.names, held_out)
    in_sample = _figures(one, one.names, dict.fromkeys(one.names, shipped))
    figures |= {f"{one.model}.{key}": value for key, value in whole.items()}
    figures |= {f"{one.model}.{key}.shipped": value for key, value in in_sample.items()}
    for name, values in by_conversation.items():
        figures |= {f"{one.model}.{key}.{name}": value for key, value in values.items()}
    figures[f"{one.model}.score_ms_per_note"] = _milliseconds(one)
    columns = [whole, in_sample, *by_conversation.values()]
    rows = [(key, *(f"{column[key]:.4f}" for column in columns)) for key in whole]
    head = ("", "held out", "shipped maps", *one.names)
    counted = f"{len(of(one.scored, one.names, RESTATED, 'raw')):,} restated, "
    counted += f"{len(of(one.scored, one.names, RELATED, 'raw')):,} related, "
    counted += f"{len(of(one.scored, one.names, NOTHING, 'raw')):,} unrelated pairs, "
    counted += f"{sum(map(len, one.contradictions.values())):,} contradictions"
    return f"### {one.model}: {counted}\n\n{table(head, rows)}"


def _figures(one: Measured, names: Sequence[str], maps: dict[str, Calibration]) -> dict[str, float]:
    """Measure the conversations named, each with its own maps; thresholds are found on all the others."""
    restated, related = _redundancy(one, names, maps, RESTATED), _redundancy(one, names, maps, RELATED)
    links = [_links(one, names, maps, label) for label in (RESTATED, RELATED, NOTHING)]
    found, false = zip(*(_found(one, name) for name in names), strict=True)
    differs = [pooled(_differs(one, name, label) for name in names) for label in (RESTATED, RELATED)]
    merged = [scores > MERGE for scores in (restated, related)]
    edits = [(maps[name], edit) for name in names for edit in one.contradictions[name]]
    cosine = {label: _cosine(one, names, label) for label in (RESTATED, RELATED, NOTHING)}
    by_turn = [any(map(_blind, edit.raw_turns, edit.differs_turns, [by] * 9)) for by, edit in edits]
    by_fact = [_blind(edit.raw_original, edit.differs_original, by) for by, edit in edits]
    return {
        "auc.gate": auc(restated, related),
        "auc.cosine": auc(cosine[RESTATED], cosine[RELATED]),
        "restatements_found": float(pooled(found).mean()),
        "restatements_found.false": float(pooled(false).mean()),
        "restatements_found.cosine": float((cosine[RESTATED] > cut(cosine[RELATED], FALSE_POSITIVES)).mean()),
        "restatements_merged.by_score": float(merged[0].mean()),
        "restatements_merged": float((merged[0] & (differs[0] == 0)).mean()),
        "false_merge_rate.by_score": float(merged[1].mean()),
        "false_merge_rate": float((merged[1] & (differs[1] == 0)).mean()),
        "false_merge_contradictions": sum(by_fact) / len(edits),
        "false_merge_contradictions.turns": sum(by_turn) / len(edits),
        "auc.link": auc(links[1], links[2]),
        "auc.link.cosine": auc(cosine[RELATED], cosine[NOTHING]),
        "linked.restated": float((links[0] > LINK).mean()),
        "linked.related": float((links[1] > LINK).mean()),
        "linked.unrelated": float((links[2] > LINK).mean()),
    }


def _blind(raw: float, differs: bool, by: Calibration) -> bool:
    return by.redundancy(raw) > MERGE and not differs


def _parts(one: Measured, name: str, label: int) -> list[tuple[str, str]]:
    """Return the keys of the pairs of a conversation's observations: with its own turns, or with all others'."""
    return [key for key in one.scored if key[0] == name and (key[1] == name) == (label != NOTHING)]


def _column(one: Measured, name: str, label: int, column: str) -> Array:
    parts = [one.scored[key] for key in _parts(one, name, label)]
    if label == NOTHING:
        return pooled(getattr(part, column) for part in parts)
    return pooled(getattr(part, column)[part.label == label] for part in parts)


def _differs(one: Measured, name: str, label: int) -> Array:
    return _column(one, name, label, "differs")


def _cosine(one: Measured, names: Sequence[str], label: int) -> Array:
    return pooled(_column(one, name, label, "cosine") for name in names)


def _redundancy(one: Measured, names: Sequence[str], maps: dict[str, Calibration], label: int) -> Array:
    return pooled(mapped(_column(one, name, label, "raw"), maps[name].redundancy) for name in names)


def _links(one: Measured, names: Sequence[str], maps: dict[str, Calibration], label: int) -> Array:
    """Return the complementarity of pairs, as the engine computes it."""
    return pooled(
        (1 - mapped(_column(one, name, label, "raw"), maps[name].redundancy))
        * mapped(_column(one, name, label, "relation"), maps[name].relation)
        for name in names
    )


def _found(one: Measured, name: str) -> tuple[Array, Array]:
    """Return which restated and which related pairs lie above the others' threshold for the false positives."""
    others = [other for other in one.names if other != name] or one.names
    threshold = cut(of(one.scored, others, RELATED, "raw"), FALSE_POSITIVES)
    return _column(one, name, RESTATED, "raw") > threshold, _column(one, name, RELATED, "raw") > threshold


def _milliseconds(one: Measured) -> float:
    """Return what scoring an observation against 30 turns takes, statistics included."""
    turns = [turn.features for turn in one.every[0].turns[:NEIGHBOURHOOD]]
    maps = calibration(_embedder(one.model))
    start = perf_counter()
    for new in one.every[0].observations:
        score(new.features, turns, Statistics.of(500, turns), maps)
    return (perf_counter() - start) * 1000 / len(one.every[0].observations)
