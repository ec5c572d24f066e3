"""The notes that a question is scored against: what the channels propose, read from the cache or fetched."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log
from typing import Any

from memgraph_engine.graph.database import Row
from memgraph_engine.graph.note_cache import CachedNote
from memgraph_engine.model.result import Anchor
from memgraph_engine.settings import RecallSettings

ANCHORED = ("keywords", "topics")
"""Pathways that lead over keywords."""
PATHWAYS = (*ANCHORED, "related", "blocks")
_SETTINGS = {"lexical": ("lexical_raw", "lexical_context")}  # of other channels the setting has their name

Proposed = Mapping[str, Mapping[int, float]]
"""The stamps that each channel proposes, with what a pathway gives to each, 0 for other channels."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Notes in the order in which they were proposed, and by whom.

    `proposed` has the stamps of each channel, `pathways` what each of PATHWAYS gives to rows. `closed` tells of a look
    back when the versions ended, by row, in milliseconds. `fetched` notes were not in the cache.
    """

    notes: Sequence[CachedNote]
    proposed: Proposed
    pathways: Mapping[str, Mapping[int, float]]
    closed: Mapping[int, int]
    fetched: int

    @classmethod
    def of(cls, answer: Row, by: Proposed, stored: Mapping[int, CachedNote], fetched: int) -> "Pool":
        """Return the pool of the notes that are `stored` of those that channels propose."""
        place = {stamp: row for row, stamp in enumerate(stamp for stamp in stamps_of(by) if stamp in stored)}
        return cls(
            list(map(stored.__getitem__, place)),
            by,
            {way: {place[one]: score for one, score in by.get(way, {}).items() if one in place} for way in PATHWAYS},
            {
                place[stamp]: at
                for entry in answer["proposed"]
                for stamp, at in zip(entry[1], entry[2] or (), strict=False)
                if stamp in place
            },
            fetched,
        )

    def only(self, rows: Sequence[int]) -> "Pool":
        """Return a pool of some of the notes."""
        place = {row: at for at, row in enumerate(rows)}
        return Pool(
            [self.notes[row] for row in rows],
            self.proposed,
            {
                way: {place[row]: score for row, score in by.items() if row in place}
                for way, by in self.pathways.items()
            },
            {place[row]: at for row, at in self.closed.items() if row in place},
            self.fetched,
        )


def proposals(answer: Row, settings: RecallSettings) -> Proposed:
    """Return what each channel of an answer of `notes/propose` proposes; one that is off proposes nothing."""
    return {
        channel: some
        for channel, some in _proposed(answer, settings.anchored).items()
        if settings.has(*_SETTINGS.get(channel, (channel,)))
    }


def stamps_of(by: Proposed) -> list[int]:
    """Return all that channels propose, each stamp once."""
    return list(dict.fromkeys(chain.from_iterable(by.values())))


def _proposed(answer: Row, anchored: int) -> dict[str, dict[int, float]]:
    """Return what each channel proposes: stamps with what a pathway gives to each, 0 for other channels."""
    found: dict[str, dict[Any, float]] = defaultdict(dict)
    total = sum(scope["notes"] for scope in answer["sums"])
    for channel, stamps, _, score, carried, _ in answer["proposed"]:
        some = found[channel]
        if channel in ANCHORED:
            weight = score * rarity(total, carried)
            for stamp in stamps:
                if stamp is not None:
                    some[stamp] = some.get(stamp, 0.0) + weight
        else:
            some.update(zip(stamps, score, strict=True) if score else dict.fromkeys(stamps, 0.0))
            some.pop(None, None)
    for way in ANCHORED:
        best = sorted(found[way].items(), key=lambda pair: -pair[1])
        found[way] = dict(best[:anchored])
    return found


def anchor_scores(answer: Row, anchored: int) -> dict[int, float]:
    """Return the stamps of the notes that keywords and topics lead to, with their shares of a pathway's best score."""
    found: dict[int, float] = {}
    for way, scores in _proposed(answer, anchored).items():
        if way in ANCHORED and scores:
            best = max(scores.values())
            found |= {stamp: max(found.get(stamp, 0.0), score / best) for stamp, score in scores.items()}
    return found


def rarity(notes: int, carried: int) -> float:
    """Return the idf of a keyword that so many of the scopes' notes carry."""
    return log(1 + (max(notes - carried, 0) + 0.5) / (carried + 0.5))


def anchors_of(answer: Row, notes: Mapping[int, CachedNote]) -> list[Anchor]:
    """Return the keywords that pathways lead over, those of each channel best first, of an answer that was traced."""
    total = sum(scope["notes"] for scope in answer["sums"])
    found = [
        Anchor(
            channel=channel,
            keyword=name[0],
            topic=name[1],
            score=score,
            rarity=rarity(total, carried),
            notes=tuple(sorted(notes[stamp].id for stamp in stamps if stamp in notes)),
        )
        for channel, stamps, _, score, carried, name in answer["proposed"]
        if channel in ANCHORED
    ]
    return sorted(found, key=lambda anchor: (anchor.channel, -anchor.score, anchor.keyword))
