"""Corrections told by their words: those generated from observations that are found, and those that are none.

No embedder: the gate looks for a correction only among notes near in meaning, so it finds fewer of either.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.contradictions import edits
from bench.conversations import locomo_file
from bench.observations import LANGUAGE, observations
from memgraph_engine.evaluation.report import table
from memgraph_engine.gate.correction import correction
from memgraph_engine.gate.known import Line
from memgraph_engine.model.memory import Source

_Told = tuple[str, str, str]  # conversation, speaker, text
_Read = dict[_Told, Line]
_KINDS = ("negation", "number", "date", "name")


def measure(file: Path | None) -> tuple[dict[str, float], str]:
    """Compare all pairs; return flat figures and a report.

    False are those of a turn or observation that has a phrase of correction, and another of the same conversation
    and speaker, or one of another conversation told as if that speaker had said it; a real one among them, which is
    rare, counts as false.
    """
    every: list[_Told] = [
        (conversation.id, message["speaker"], message["text"])
        for conversation, observed in observations(locomo_file(file), dated=True)
        for message in (*conversation.turns, *(one.message for one in observed))
    ]
    read = {one: _read(one) for one in every}
    sums: Counter[str] = Counter()
    for new in every:
        if read[new].announces:
            sums["cued"] += 1
            for where, old in _beside(new, every, read):
                sums[where] += 1
                sums[f"{where}.false"] += bool(correction(read[new], [old]))
    for fact in (one for one in every if one[2].startswith(f"{one[1]} ")):
        for kind, text in _corrected(fact):
            sums[kind] += 1
            sums[f"{kind}.found"] += bool(correction(_read((*fact[:2], text)), [read[fact]]))
    figures: dict[str, float] = {
        f"corrections_found.{kind}": sums[f"{kind}.found"] / max(sums[kind], 1) for kind in _KINDS
    }
    figures |= {
        "false_corrections": sums["same.false"] / max(sums["same"], 1),
        "false_corrections.other": sums["other.false"] / max(sums["other"], 1),
    }
    rows = [(name, f"{value:.6f}") for name, value in figures.items()]
    counted = f"{sums['cued']:,} with a phrase of correction, {sums['same']:,} and {sums['other']:,} pairs, "
    counted += f"{sum(sums[kind] for kind in _KINDS):,} generated corrections"
    return figures, f"### Corrections: {counted}\n\n{table(('', 'all'), rows)}"


def _read(told: _Told) -> Line:
    return Line(Source("", told[2], "", speaker=told[1]), LANGUAGE)


def _beside(new: _Told, every: list[_Told], read: _Read) -> Iterator[tuple[str, Line]]:
    for old in every:
        if old[0] == new[0]:
            if old[1] == new[1] and old[2] != new[2]:
                yield "same", read[old]
        else:
            renamed = (new[0], new[1], old[2].replace(old[1], new[1]))
            if renamed not in read:
                read[renamed] = _read(renamed)
            yield "other", read[renamed]


def _corrected(fact: _Told) -> Iterator[tuple[str, str]]:
    """Yield the fact taken back: "no longer", or something exchanged behind "actually"."""
    _, speaker, text = fact
    rest = text.removeprefix(f"{speaker} ")
    if rest.partition(" ")[0].endswith("s") and rest.partition(" ")[0] not in ("is", "was", "has", "does"):
        yield "negation", f"{speaker} no longer {rest}"
    for edit in edits(text, speaker, "Alex"):
        if edit.kind != "negation" and edit.text.startswith(f"{speaker} "):
            yield edit.kind, f"{speaker} actually {edit.text.removeprefix(f'{speaker} ')}"
