"""What the gate makes of a second statement, by pairs that were written without looking at it; fits its model on them.

The pairs are in `bench/pairs/`: in four languages, each the same, an update, ended, a conflict, related or none.
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench import pair_encoder, realmem, statements
from bench.asking import kept
from bench.chats import Ask, Chat, chats, holds, plain, turns
from bench.observations import FiledEmbedder
from bench.pair_model import Example, Fitted, common_words
from bench.statements import Statements, constructed, nowhere
from memgraph_engine import Settings
from memgraph_engine.embedding.choose import named_in
from memgraph_engine.evaluation.report import table
from memgraph_engine.gate.calibration import calibration
from memgraph_engine.gate.pairs import ENCODED, ENCODER, FILE, PLAIN, RELATIONS, weights_of
from memgraph_engine.resources import resource

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memgraph_engine.model.ports import Embedder

FOLDER = Path(__file__).parent / "pairs"
HELD = (
    *("held", "held-others", "unseen", "unseen-others", "plain", "last", "last-others"),
    *("ordinary-english", "ordinary-others", "neighbours", "events"),
)
"""Sets that nothing is fitted on. On the last four nothing was chosen; the features were with the others in view.

The sets in `pairs/next/` are for the next fit: none that is shipped was made on them. `english-ah`, `-ai`
and `-aj`, everyday statements and what ends or updates them, were written for the cross-encoder: the linear model was
fitted before them.
"""
_CHANGED = ("update", "ended")
_ASIDE = "aside"  # the class of an old statement of another pair beside a new one: most of what a memory holds
_ASIDES, _NEXT, _LAST = 2, 5, 40  # so many of each new one, of those that are the 5th to the 40th nearest to it
_UNTOLD = ("german", "french")  # read as a memory reads them that is told no language, too
_COUNTS = {_ASIDE: 1.0, "pinned": 6.0}  # by class; any other pair counts twice as much as one beside
_DAYS = "2025-03-03T10:00:00", "2025-04-10T10:00:00"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--folder", type=Path, default=FOLDER, help="files of pairs (else those of the bench)")
    parser.add_argument("--held", action="store_true", help="measure on the held sets alone")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="LANGUAGE", help="measure these alone, and fit them beside all others"
    )
    parser.add_argument(
        "--fit", action="store_true", help="fit the model of pairs first, on all sets but the held ones"
    )
    parser.add_argument(
        "--fit-encoder",
        action="store_true",
        help="fit the cross-encoder, by what the fitted model chooses of each pair",
    )
    parser.add_argument(
        "--chats", type=Path, action="append", default=[], metavar="FILE", help="chats to fit it on besides"
    )


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure the gate on all pairs; or fit its model on those of the open sets first."""
    sets = {file.stem: statements.read(file) for file in sorted(given.folder.glob("*.tsv"))}
    if given.only:
        sets = {name: [one for one in pairs if one.language in given.only] for name, pairs in sets.items()}
    embedders = _embedders(sorted({pair.language for pairs in sets.values() for pair in pairs}))
    if given.fit or given.fit_encoder:
        opened = [pairs for name, pairs in sets.items() if name not in HELD]
        told = [chat for file in given.chats for chat in _chats(file) if chat.language in embedders]
        asides = [beside(chat, embedders[chat.language]) for chat in told]
        if given.fit:
            fit(opened, asides, embedders, alone=not given.only)
        if given.fit_encoder:
            read = {language: one for language, one in embedders.items() if language in ENCODED}
            pair_encoder.fit(_examples(_all(opened, asides, embedders), read), resource(*ENCODER))
    settings = Settings.load()
    figures, rows = dict[str, float](), list[tuple[str, ...]]()
    for name, pairs in sets.items():
        if name in HELD or not given.held:
            for language in dict.fromkeys(pair.language for pair in pairs):
                some = [pair for pair in pairs if pair.language == language]
                found = [_by_gate(pair, embedders[language], settings) for pair in some]
                rows.append(_row(f"{name}, {language}", some, found, figures))
    for embedder in embedders.values():
        embedder.keep()
    columns = ("pairs", "changes found", "same found", "wrongly changed", "wrongly the same")
    return figures, f"### Pairs of statements\n\n{table(('set', *columns), rows)}"


def _chats(file: Path) -> list[Chat]:
    """Read chats, or a user of RealMem's."""
    return [realmem.chat(file)] if file.suffix == ".json" else chats(file)


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


def _examples(
    pairs: Sequence[Statements], embedders: Mapping[str, FiledEmbedder], untold: Collection[str] = ()
) -> list[Example]:
    """Return pairs as examples, related by their vectors; of some languages as examples of no told language, too."""
    found = []
    for language, embedder in embedders.items():
        some = [pair for pair in pairs if pair.language == language]
        if not some:
            continue
        relation = calibration(embedder.name).relation
        old, new = (_vectors(texts, embedder) for texts in zip(*((one.old, one.new) for one in some), strict=True))
        for pair, cosine in zip(some, (old * new).sum(axis=1).tolist(), strict=True):
            counts = _COUNTS.get(pair.kind, 2.0)
            related = relation(max(cosine, 0.0))
            names = [kept(language), *(["standard"] if language in untold else [])]
            found += [Example(name, pair.want, pair.old, pair.new, related, counts) for name in names]
    return found


def _mismatched(pairs: Sequence[Statements], embedders: Mapping[str, FiledEmbedder]) -> list[Statements]:
    """Return new statements beside old ones of other pairs: near ones, which are nothing to them all the same.

    One that stands beside several old ones is compared enough.
    """
    chosen, found = random.Random(0), list[Statements]()
    told = Counter(pair.new for pair in pairs)
    alone = [pair for pair in pairs if told[pair.new] == 1]
    for language in dict.fromkeys(pair.language for pair in alone):
        some = [pair for pair in alone if pair.language == language]
        old, new = (
            _vectors(texts, embedders[language]) for texts in zip(*((one.old, one.new) for one in some), strict=True)
        )
        for pair, cosines in zip(some, new @ old.T, strict=True):
            others = [some[at] for at in np.argsort(-cosines) if some[at].old != pair.old]
            beside = chosen.sample(others[_NEXT:_LAST], _ASIDES) if len(others) > _LAST else others[_NEXT:]
            found += [
                replace(pair, kind=_ASIDE, want="none", old=other.old) for other in (*beside, chosen.choice(others))
            ]
    return found


def _vectors(texts: Sequence[str], embedder: "Embedder") -> "NDArray[np.float64]":
    """Return the vectors of some texts, of length 1: (texts, dimensions)."""
    made = np.asarray(embedder.embed_documents(list(texts)), dtype=np.float64)
    found: NDArray[np.float64] = made / np.linalg.norm(made, axis=1, keepdims=True)
    return found


def beside(chat: Chat, embedder: FiledEmbedder) -> list[Statements]:
    """Return what a user said beside what he had said before that is nearest to it.

    It is news of that where a question has the one for what was true once, and the other for what is true now.
    """
    said, found = turns(chat, "user"), list[Statements]()
    vectors = _vectors(said, embedder)
    for at, new in enumerate(said):
        for place in np.argsort(-vectors[:at] @ vectors[at])[:_NEXT]:
            changed = any(_changed(ask, said[place], new) for ask in chat.asks)
            found.append(Statements(_ASIDE, chat.language, "update" if changed else "none", said[place], new))
    return found


def _changed(ask: Ask, old: str, new: str) -> bool:
    sides = (old, ask.former), (new, ask.current)
    return all(any(holds(plain(text), wanted) for wanted in strings) for text, strings in sides)


def fit(
    sets: Sequence[Sequence[Statements]],
    told: Sequence[Sequence[Statements]],
    embedders: Mapping[str, FiledEmbedder],
    *,
    alone: bool,
) -> None:
    """Fit the weights of the model on sets of pairs, and on what chats told; write them, a feature a line.

    Where they are not fitted `alone`, the plain numbers and the cues of all other languages stay as they are.
    """
    known: dict[str, Any] = {"common": {}, "plain": {}, "cues": {}}
    if alone:
        texts = [text for some in sets for one in some if one.language in _UNTOLD for text in (one.old, one.new)]
        known["common"] = {"standard": common_words(texts, "standard")}
        _write({**known, "plain": {name: [0.0] * len(RELATIONS) for name in PLAIN}})
        weights_of.cache_clear()
    else:
        known = json.loads(resource(*FILE).read_text(encoding="utf-8"))
    found = Fitted(_examples(_all(sets, told, embedders), embedders, _UNTOLD if alone else ()), known["plain"]).kept()
    _write({"common": known["common"], "plain": found["plain"], "cues": known["cues"] | found["cues"]})
    weights_of.cache_clear()


def _all(
    sets: Sequence[Sequence[Statements]], told: Sequence[Sequence[Statements]], embedders: Mapping[str, FiledEmbedder]
) -> list[Statements]:
    """Return all that a model is fitted on."""
    pairs = [pair for some in sets for pair in (*some, *_mismatched(some, embedders))]
    return [*pairs, *(pair for some in told for pair in some)]


def _write(weights: Mapping[str, Any]) -> None:
    text = json.dumps(weights, ensure_ascii=False, separators=(",", ":"))
    resource(*FILE).write_text(text.replace("],", "],\n").replace("{", "{\n") + "\n", encoding="utf-8")
