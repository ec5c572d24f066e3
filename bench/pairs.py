"""What the gate makes of a second statement, by pairs that were written without looking at it, and what a model would.

The pairs are in `bench/pairs/`: in four languages, each the same, an update, ended, a conflict, related or none.
"""

import argparse
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench import statements
from bench.asking import kept
from bench.observations import FiledEmbedder
from bench.pair_model import RELATIONS, Example, Model
from bench.statements import Statements, constructed, nowhere
from memgraph_engine import Settings
from memgraph_engine.embedding.choose import named_in
from memgraph_engine.evaluation.report import table
from memgraph_engine.gate.calibration import calibration

FOLDER = Path(__file__).parent / "pairs"
HELD = ("held", "held-others")  # sets that nothing is fitted on; the model's features were chosen with them in view
SURE = 0.9  # likelihood from which the model's reading counts
_CHANGED = ("update", "ended")
_ASIDE, _ASIDES = "aside", 2  # old statements of other pairs beside a new one: most of what a memory holds
_DAYS = "2025-03-03T10:00:00", "2025-04-10T10:00:00"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--folder", type=Path, default=FOLDER, help="files of pairs (else those of the bench)")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure the gate on all pairs, and on the held ones a model that is fitted on the others."""
    sets = {file.stem: statements.read(file) for file in sorted(given.folder.glob("*.tsv"))}
    embedders = _embedders({pair.language for pairs in sets.values() for pair in pairs})
    settings = Settings.load()
    figures, rows = dict[str, float](), list[tuple[str, ...]]()
    for name, pairs in sets.items():
        for language in dict.fromkeys(pair.language for pair in pairs):
            some = [pair for pair in pairs if pair.language == language]
            found = [_by_gate(pair, embedders[language], settings) for pair in some]
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
    for embedder in embedders.values():
        embedder.keep()
    columns = ("pairs", "changes found", "same found", "wrongly changed", "wrongly the same")
    return figures, f"### Pairs of statements that the gate has not seen\n\n{table(('set', *columns), rows)}"


def _embedders(languages: Collection[str]) -> dict[str, FiledEmbedder]:
    """Return for each language the embedder that a new memory of it gets."""
    names = {language: named_in(Settings.load(embedder="", language=kept(language))) for language in languages}
    made = {name: FiledEmbedder(name) for name in names.values()}
    return {language: made[name] for language, name in names.items()}


def _by_gate(pair: Statements, embedder: FiledEmbedder, settings: Settings) -> str:
    """Return what the gate makes of the second, said weeks later: "changed", "same" or ''."""
    said = [
        {"id": text, "text": text, "role": "user", "session": time, "time": time}
        for text, time in zip((pair.old, pair.new), _DAYS, strict=True)
    ]
    made, gate = constructed(said, kept(pair.language), embedder, settings)
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


def _examples(pairs: Sequence[Statements], embedders: Mapping[str, FiledEmbedder]) -> list[Example]:
    """Return pairs as examples, related by their vectors."""
    found = []
    for language, embedder in embedders.items():
        some = [pair for pair in pairs if pair.language == language]
        if not some:
            continue
        relation = calibration(embedder.name).relation
        sides = [pair.old for pair in some], [pair.new for pair in some]
        old, new = (np.asarray(embedder.embed_documents(texts)) for texts in sides)
        lengths = np.linalg.norm(old, axis=1) * np.linalg.norm(new, axis=1)
        for pair, cosine in zip(some, ((old * new).sum(axis=1) / lengths).tolist(), strict=True):
            counts = 1.0 if pair.kind == _ASIDE else 2.0
            related = relation(max(cosine, 0.0))
            found.append(Example(kept(language), pair.want, pair.old, pair.new, related, counts))
    return found


def _mismatched(pairs: Sequence[Statements]) -> list[Statements]:
    """Return new statements beside old ones of other pairs, that have nothing to do with them."""
    chosen, found = random.Random(0), []
    for pair in pairs:
        others = [other for other in pairs if other.language == pair.language and other is not pair]
        found += [replace(pair, kind=_ASIDE, want="none", old=other.old) for other in chosen.sample(others, _ASIDES)]
    return found
