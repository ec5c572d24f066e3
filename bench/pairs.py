"""What the gate makes of a second statement, by pairs that were written without looking at it, and what a model would.

The pairs are in `bench/pairs/`: in four languages, each the same, an update, ended, a conflict, related or none.
"""

import argparse
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench import statements
from bench.observations import FiledEmbedder
from bench.pair_model import RELATIONS, Example, Model
from bench.statements import Statements, constructed, nowhere
from memgraph_engine import Settings
from memgraph_engine.evaluation.report import table
from memgraph_engine.gate.calibration import calibration
from memgraph_engine.language import LISTED

FOLDER = Path(__file__).parent / "pairs"
HELD = ("held", "held-others")  # sets of which nothing was used to fit or to choose anything
SURE = 0.9  # likelihood from which the model's reading counts
_CHANGED = ("update", "ended")
_MODELS = {"english": "bge-small"}
_MANY = "multilingual"
_ASIDE, _ASIDES = "aside", 2  # old statements of other pairs beside a new one: most of what a memory holds
_DAYS = "2025-03-03T10:00:00", "2025-04-10T10:00:00"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--folder", type=Path, default=FOLDER, help="files of pairs (else those of the bench)")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure the gate on all pairs, and on the held ones a model that is fitted on the others."""
    sets = {file.stem: statements.read(file) for file in sorted(given.folder.glob("*.tsv"))}
    embedders = {name: FiledEmbedder(name) for name in ("bge-small", _MANY)}
    figures, rows = dict[str, float](), list[tuple[str, ...]]()
    for name, pairs in sets.items():
        for language in dict.fromkeys(pair.language for pair in pairs):
            some = [pair for pair in pairs if pair.language == language]
            found = [_by_gate(pair, embedders[_MODELS.get(language, _MANY)]) for pair in some]
            rows.append(_row(f"{name}, {language}, gate", some, found, figures))
    open_sets = [pairs for name, pairs in sets.items() if name not in HELD]
    model = Model(_examples([pair for pairs in open_sets for pair in (*pairs, *_mismatched(pairs))], embedders))
    for name in HELD:
        for language in dict.fromkeys(pair.language for pair in sets[name]):
            some = [pair for pair in sets[name] if pair.language == language]
            likely = model.likelihoods(_examples(some, embedders))
            by = {kind: likely[:, RELATIONS.index(kind)] for kind in RELATIONS}
            read = np.where(by["update"] + by["ended"] > SURE, "changed", np.where(by["same"] > SURE, "same", ""))
            rows.append(_row(f"{name}, {language}, model", some, read.tolist(), figures))
    columns = ("pairs", "changes found", "same found", "wrongly changed", "wrongly the same")
    return figures, f"### Pairs of statements that the gate has not seen\n\n{table(('set', *columns), rows)}"


def _by_gate(pair: Statements, embedder: FiledEmbedder) -> str:
    """Return what the gate makes of the second, said weeks later: "changed", "same" or ''."""
    language = pair.language if pair.language in LISTED else "standard"
    said = [
        {"id": text, "text": text, "role": "user", "session": time, "time": time}
        for text, time in zip((pair.old, pair.new), _DAYS, strict=True)
    ]
    made, gate = constructed(said, language, embedder, Settings.load())
    verdict = gate.verdicts(nowhere, made)[-1]
    if verdict.kind == "supersede" or any(tie.kind == "change" for tie in verdict.ties):
        return "changed"
    return "same" if verdict.kind in ("merge", "reinforce") else ""


def _row(name: str, pairs: Sequence[Statements], found: Sequence[str], figures: dict[str, float]) -> tuple[str, ...]:
    """Return a row of the table, and note its figures."""
    shares = []
    for wanted, told in ((_CHANGED, "changed"), (("same",), "same")):
        right = [one == told for pair, one in zip(pairs, found, strict=True) if pair.want in wanted]
        shares.append(("found", told, sum(right) / max(len(right), 1)))
    apart = [one for pair, one in zip(pairs, found, strict=True) if pair.want in ("related", "none")]
    shares += [("wrongly", told, apart.count(told) / max(len(apart), 1)) for told in ("changed", "same")]
    key = name.replace(", ", ".")
    figures |= {f"pairs.{key}.{how}_{told}": share for how, told, share in shares}
    return (name, str(len(pairs)), *(f"{share:.3f}" for *_, share in shares))


def _examples(pairs: Sequence[Statements], embedders: dict[str, FiledEmbedder]) -> list[Example]:
    """Return pairs as examples, related by their vectors."""
    vectors: dict[tuple[str, str], np.ndarray] = {}
    for name, embedder in embedders.items():
        texts = [text for pair in pairs if _MODELS.get(pair.language, _MANY) == name for text in (pair.old, pair.new)]
        for text, vector in zip(texts, np.asarray(embedder.embed_documents(texts)) if texts else [], strict=True):
            vectors[name, text] = vector / np.linalg.norm(vector)
    found = []
    for pair in pairs:
        name = _MODELS.get(pair.language, _MANY)
        cosine = float(vectors[name, pair.old] @ vectors[name, pair.new])
        related = calibration(embedders[name].name).relation(max(cosine, 0.0))
        language = pair.language if pair.language in LISTED else "standard"
        counts = 1.0 if pair.kind == _ASIDE else 2.0
        found.append(Example(language, pair.want, pair.old, pair.new, related, counts))
    return found


def _mismatched(pairs: Sequence[Statements]) -> list[Statements]:
    """Return new statements beside old ones of other pairs, that have nothing to do with them."""
    chosen, found = random.Random(0), []
    for pair in pairs:
        others = [other for other in pairs if other.language == pair.language and other is not pair]
        found += [replace(pair, kind=_ASIDE, want="none", old=other.old) for other in chosen.sample(others, _ASIDES)]
    return found
