"""Hold a new note against known ones: what each pair shares, and what differs where that matters."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from typing import Literal

from memgraph_engine.gate.calibration import Calibration
from memgraph_engine.gate.contradiction import difference
from memgraph_engine.gate.correction import Statement, correction, relocation, statements
from memgraph_engine.gate.facts import Facts, announces, facts
from memgraph_engine.gate.score import (
    Features,
    Line,
    Scores,
    Statistics,
    exchanges,
    features,
    same_speaker,
    says_as_much,
    score,
    tells,
)
from memgraph_engine.graph.neighbourhood import Neighbour
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.memory import note_id
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.text import Said
from memgraph_engine.rendering import events, words
from memgraph_engine.settings import GateSettings

Kind = Literal["none", "differs", "corrects"]


@dataclass(frozen=True, slots=True)
class Difference:
    """What a new note says otherwise than an old one, and the sentence that explains it; '' if nothing.

    differs   they can't be merged; whether one of them is wrong is left open
    corrects  the new one takes the old one back
    """

    kind: Kind
    evidence: str


_NONE = Difference("none", "")


@dataclass(frozen=True, slots=True)
class Known:
    """A note as it is compared."""

    id: str
    text: str
    features: Features
    said_at: datetime | None


@dataclass(frozen=True, slots=True)
class Compared:
    """A known note beside a new one.

    `asked` says that only one of the two is a mere question, `plain` that the words are the same, `as_much` that they
    differ in no more than detail.
    """

    known: Known
    scores: Scores
    difference: Difference
    asked: bool
    plain: bool
    as_much: bool

    @property
    def closeness(self) -> tuple[float, float, float]:
        """Order by redundancy, then similarity, then age."""
        said = self.known.said_at.timestamp() if self.known.said_at else 0.0
        return -self.scores.redundancy, -self.scores.cosine, said


class Comparison:
    """Compares the notes of one batch with those near them; what it reads in a note, it reads once."""

    def __init__(
        self, settings: GateSettings, calibration: Calibration, scope: Scope, language: str, notes: int
    ) -> None:
        self._settings, self._calibration = settings, calibration
        self._scope, self._language, self._notes = scope, language, notes
        self._read: dict[str, list[Facts]] = {}
        self._stated: dict[str, list[Statement]] = {}
        self._named: dict[str, frozenset[datetime]] = {}
        self._cued: dict[str, bool] = {}

    def new(self, candidate: Candidate) -> Known:
        """Return a note to be as it is compared."""
        source = candidate.source
        keywords = frozenset(keyword.key for keyword in candidate.keywords)
        own = note_id(self._scope.name, source.id)
        speaker = source.speaker or source.role
        return self._known(own, candidate.context, (candidate.raw,), speaker, keywords, source.said_at)

    def stored(self, note: Neighbour) -> Known:
        """Return a stored note as it is compared."""
        return self._known(note.id, note.context, note.raw, note.speaker, frozenset(note.keywords), note.said_at)

    def _known(
        self,
        id: str,  # noqa: A002  the graph's own word
        text: str,
        raw: tuple[str, ...],
        speaker: str,
        keywords: frozenset[str],
        said_at: datetime | None,
    ) -> Known:
        seen = features(raw, speaker=speaker, keywords=keywords, language=self._language)
        return Known(id, text, seen, said_at)

    def compared(self, new: Known, known: Sequence[tuple[Known, float]], made: int) -> list[Compared]:
        """Score a new note against those near it, the nearest first; the memory has grown by `made`."""
        if not known:
            return []
        others = [one.features for one, _ in known]
        cosines = [max(cosine, 0.0) for _, cosine in known]
        statistics = Statistics.of(self._notes + made, others, self._language)
        scores = score(new.features, others, statistics, self._calibration, cosines)
        compared = [self._beside(new, one, its) for (one, _), its in zip(known, scores, strict=True)]
        return sorted(compared, key=lambda one: one.closeness)

    def _beside(self, new: Known, old: Known, scores: Scores) -> Compared:
        lines = new.features.lines[0], old.features.lines[scores.line]
        repeats = scores.redundancy > self._settings.merge_threshold  # the same words always do
        plain = repeats and self._words(new)[0] in self._words(old)
        # "Yes." says what it answers
        plain = plain and (new.text == old.text or tells(lines[0], self._language))
        difference = self._difference(new, [old], scores)
        as_much = repeats and says_as_much(*lines, self._language)
        if as_much and difference.kind == "none":
            as_much = not exchanges(*lines, self._language)
        return Compared(
            old,
            scores,
            difference,
            asked=repeats and _asks(lines[0]) != _asks(lines[1]),
            plain=plain,
            as_much=plain or as_much,
        )

    def _difference(self, new: Known, old: Sequence[Known], scores: Scores) -> Difference:
        """Say what differs from a note, given in one or more parts, where it matters: in a repeat or a correction."""
        repeats = scores.redundancy > self._settings.merge_threshold
        may_correct = self._announces(new) and any(_may_be_own(new.features, one.features) for one in old)
        if not repeats:
            # not complementarity, which is low for what repeats in part: a correction is neither this nor a restatement
            related = self._calibration.relation(max(scores.overlap, scores.cosine))
            if related <= self._settings.link_threshold or not may_correct:
                return _NONE
        new_days, old_days = self._days(new), frozenset().union(*map(self._days, old))
        other_days = bool(new_days and old_days and not new_days & old_days)
        if may_correct:
            states, stated = self._statements(new), [one for part in old for one in self._statements(part)]
            # what is ahead can be put off; what has been on another day has been as well
            evidence = correction(states, stated) if not other_days or _ahead(new, old_days) else ""
            if evidence := evidence or relocation(states, stated, later=_after(new_days, old)):
                return Difference("corrects", evidence)
        if other_days:
            return Difference("differs", "They tell of different days.")
        if repeats:
            lines, others = self._facts(new), [line for one in old for line in self._facts(one)]
            cues = {cue for line in lines for cue in line.cues} - {cue for line in others for cue in line.cues}
            if evidence := difference(lines, others):
                return Difference("differs", evidence)
            if cues:
                return Difference("differs", f'Only the new one says "{min(cues).replace("_", " ")}".')
        return _NONE

    def _announces(self, of: Known) -> bool:
        """Tell whether a new note has a word by which it may correct another."""
        if of.id not in self._cued:
            self._cued[of.id] = any(announces(line.said, self._language) for line in of.features.lines)
        return self._cued[of.id]

    def _facts(self, of: Known) -> list[Facts]:
        """Read a note's facts when they are first asked for: it takes half a millisecond a line."""
        if of.id not in self._read:
            self._read[of.id] = [facts(line.said, self._language) for line in of.features.lines]
        return self._read[of.id]

    def _statements(self, of: Known) -> list[Statement]:
        """Read what a note states, which only a correction asks for."""
        if of.id not in self._stated:
            self._stated[of.id] = [one for line in of.features.lines for one in statements(line.said, self._language)]
        return self._stated[of.id]

    def _days(self, of: Known) -> frozenset[datetime]:
        """Return the first days of the times that a note names, each line's by the day on which that was said."""
        if of.id not in self._named:
            told = (
                event
                for line in of.features.lines
                for event in events(line.said.text, _moment(line.said, of.said_at), self._language)
            )
            self._named[of.id] = frozenset(event.start for event in told)
        return self._named[of.id]

    def whole(self, new: Known, parts: Sequence[Compared]) -> Compared:
        """Return a note and what joined it in this batch as one, as it is compared once it is stored."""
        nearest = parts[0]
        if len(parts) == 1:
            return nearest
        difference = self._difference(new, [one.known for one in parts], nearest.scores)
        return replace(nearest, difference=difference, plain=any(one.plain for one in parts))

    def _words(self, of: Known) -> list[tuple[str, ...]]:
        said = (line.said for line in of.features.lines)
        return [words(one.speaker, one.text, one.caption) for one in said]


def _asks(line: Line) -> bool:
    """Tell whether a line does nothing but ask: "Do you paint boats?" tells nobody that you do."""
    text = line.said.text.strip()
    return text.endswith(("?", "？")) and not re.search(r"[.!。！]\s", text)


def _moment(said: Said, said_at: datetime | None) -> datetime | None:
    return datetime.combine(said.said_on, time(), UTC) if said.said_on else said_at


def _ahead(new: Known, days: Collection[datetime]) -> bool:
    return new.said_at is not None and all(day.date() >= new.said_at.date() for day in days)


def _may_be_own(new: Features, old: Features) -> bool:
    """Tell whether the old note may be the new one's speaker's own: nobody takes back what another has said."""
    return any(same_speaker(line, other) is not False for line in new.lines for other in old.lines)


def _after(days: Collection[datetime], old: Sequence[Known]) -> bool:
    """Tell whether all days, if there are any, are after the old note, or the day on which it was said."""
    return bool(days) and all(one.said_at and one.said_at.date() <= day.date() for one in old for day in days)
