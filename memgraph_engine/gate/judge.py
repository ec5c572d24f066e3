"""Judge new notes against what is known, without an LLM (MemFly, section 3.3.2): merge, link, append, and beyond."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from functools import partial
from typing import TYPE_CHECKING

from memgraph_engine.gate.batch import note_id
from memgraph_engine.gate.calibration import calibration
from memgraph_engine.gate.contradiction import NONE, Difference, compare
from memgraph_engine.gate.facts import Facts, announces, facts
from memgraph_engine.gate.score import Features, Line, Scores, Statistics, features, same_speaker, says_as_much, score
from memgraph_engine.gate.verdict import APPEND, Tie, Verdict
from memgraph_engine.gate.words import function_terms
from memgraph_engine.graph.database import Database
from memgraph_engine.graph.neighbourhood import Neighbour, neighbourhood
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.cost import NOTHING, Cost
from memgraph_engine.model.result import Considered, Relation
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.text import Said
from memgraph_engine.rendering import events, words
from memgraph_engine.settings import GateSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ALONE = 1 << 18  # multiplications that BLAS does without waking a second thread, which may wait for a core
_WORDS = 8  # of a new note, by which full text is asked for others


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


Ask = Callable[[Sequence[str], Sequence[Sequence[Compared]]], Mapping[tuple[int, str], "Opinion"]]
"""From the candidates' contexts and the notes beside each to opinions, by the candidate's place and the note."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a chat model holds of a pair; `cost` is the pair's share of the request."""

    redundancy: float
    complementarity: float
    relation: Relation
    evidence: str
    model: str
    cost: Cost

    def considered(self, note: str, similarity: float, thresholds: Mapping[str, float]) -> Considered:
        """Return it as a decision records it: "same" and "related" hold only above the thresholds."""
        relation = self.relation
        if relation == "same" and self.redundancy <= thresholds["merge"]:
            relation = "related"
        if relation == "related" and self.complementarity <= thresholds["link"]:
            relation = "none"
        scores = round(self.redundancy, 4), round(self.complementarity, 4), round(similarity, 4)
        return Considered(note, *scores, relation, self.evidence)


class Judge:
    """Judges the candidates of one batch."""

    def __init__(self, settings: GateSettings, embedder: str, scope: Scope, language: str, notes: int) -> None:
        self._settings, self._scope, self._language, self._notes = settings, scope, language, notes
        self._calibration = calibration(embedder)
        self.contexts: Mapping[str, str] = {}
        self._read: dict[str, list[Facts]] = {}
        self._named: dict[str, frozenset[datetime]] = {}
        self._cued: dict[str, bool] = {}

    def verdicts(self, db: Database, candidates: Sequence[Candidate], opinions: "Ask" = lambda *_: {}) -> list[Verdict]:
        """Judge candidates in order, each against stored notes and the candidates before it.

        One look-up for all of them. `opinions` may ask a model about the pairs, and goes before the local scores.
        """
        if not self._settings.update or not candidates:
            return [self._alone(candidate) for candidate in candidates]
        terms = [_content(candidate, self._language) for candidate in candidates]
        near = neighbourhood(
            db, self._scope, candidates, terms, near=self._settings.near, lexical=self._settings.lexical
        )
        stored = {note.id: self._stored(note) for note in near.notes.values()}
        self.contexts = {note.id: note.context for note in near.notes.values()}
        beside = _beside(candidates, self._settings.near)
        earlier: list[Known] = []
        rows: list[Sequence[Compared]] = []
        made = 0  # notes by the batch so far, as if they were stored: some join others
        for place, candidate in enumerate(candidates):
            new = self._new(candidate)
            known = [(stored[other], cosine) for other, cosine in near.near[place].items() if other != new.id]
            known += [(earlier[before], cosine) for before, cosine in beside[place]]
            rows.append(self._compare(new, known, made))
            earlier.append(new)
            made += candidate.raw_vector is not None
        self.contexts = {**self.contexts, **{one.id: one.text for one in earlier}}
        return self._in_order(
            candidates, earlier, rows, opinions([candidate.context for candidate in candidates], rows)
        )

    def _in_order(
        self,
        candidates: Sequence[Candidate],
        new: Sequence[Known],
        rows: Sequence[Sequence[Compared]],
        opinions: Mapping[tuple[int, str], Opinion],
    ) -> list[Verdict]:
        """Decide one after the other: one that joined a note is known by that note to those after it."""
        homes: dict[str, str] = {}
        verdicts: list[Verdict] = []
        for place, (candidate, own, row) in enumerate(zip(candidates, new, rows, strict=True)):
            verdict = self._alone(candidate)
            if verdict.kind != "discard" and row:
                held = {one.known.id: opinion for one in row if (opinion := opinions.get((place, one.known.id)))}
                verdict = self._decide(own, row, homes, held)
            homes[own.id] = "" if verdict.kind == "discard" else verdict.target if _joins(verdict) else own.id
            if verdict.kind == "supersede":
                homes[verdict.target] = ""  # from here on it is as little known as if it had been replaced before
            verdicts.append(verdict)
        return verdicts

    def _alone(self, candidate: Candidate) -> Verdict:
        """Judge a candidate by itself."""
        if candidate.noise:
            return Verdict("discard", evidence=f"It is {candidate.noise}.")
        return APPEND

    def _compare(self, new: Known, known: Sequence[tuple[Known, float]], made: int) -> list[Compared]:
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
        return Compared(
            old,
            scores,
            self._difference(new, [old], scores),
            asked=repeats and _asks(lines[0]) != _asks(lines[1]),
            plain=plain,
            as_much=plain or (repeats and says_as_much(*lines, self._language)),
        )

    def _difference(self, new: Known, old: Sequence[Known], scores: Scores) -> Difference:
        """Say what differs from a note, given in one or more parts, where it matters: in a repeat or a correction."""
        if scores.redundancy <= self._settings.merge_threshold:
            # not complementarity, which is low for what repeats in part: a correction is neither this nor a restatement
            related = self._calibration.relation(max(scores.overlap, scores.cosine))
            if related <= self._settings.link_threshold or not self._announces(new):
                return NONE
            if not any(_may_correct(new.features, one.features) for one in old):
                return NONE
        new_days, old_days = self._days(new), frozenset().union(*map(self._days, old))
        if new_days and old_days and not new_days & old_days:
            return Difference("differs", "They tell of different days.")
        difference = compare(self._facts(new), [line for one in old for line in self._facts(one)], self._language)
        if difference.kind == "corrects" and not any(_may_correct(new.features, one.features) for one in old):
            return Difference("differs", difference.evidence)
        return difference

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

    def _decide(
        self, new: Known, compared: Sequence[Compared], homes: Mapping[str, str], opinions: Mapping[str, Opinion]
    ) -> Verdict:
        """Choose: join the nearest repeat, else replace what is corrected, else stand alone, tied to what is near."""
        settings = self._settings
        best: list[tuple[Compared, Considered]] = []
        for note, parts in _by_note(compared, homes).items():
            one = self._whole(new, parts)
            opinion = next((held for part in parts if (held := opinions.get(part.known.id))), None)
            best.append((one, self._considered(one, note, opinion)))
        best.sort(key=lambda pair: -pair[1].redundancy)  # a model's scores may order them otherwise
        considered = tuple(seen for _, seen in best)
        model = next((opinion.model for opinion in opinions.values()), "")
        cost = sum((opinion.cost for opinion in opinions.values()), NOTHING)
        asked = partial(Verdict, considered=considered, model=model, cost=cost)
        same = next((pair for pair in best if pair[1].relation == "same"), None)
        if settings.merge and same:
            one, seen = same
            if one.plain:
                return asked("reinforce", seen.note, evidence=seen.evidence)
            if best[0][1].relation != "conflict":  # what contradicts the nearest note joins no other one
                return asked("merge", seen.note, evidence=seen.evidence)
        old = next((pair for pair in best if pair[1].relation == "update"), None)
        if old and (not settings.supersede or _before(new, old[0].known)):
            old = None
        ties = tuple(self._ties(best, "" if old is None else old[1].note))
        if old:
            return asked("supersede", old[1].note, ties, evidence=old[1].evidence)
        return asked("link" if ties else "append", "", ties)

    def _whole(self, new: Known, parts: Sequence[Compared]) -> Compared:
        """Return a note and what joined it in this batch as one, as it is compared once it is stored."""
        nearest = parts[0]
        if len(parts) == 1:
            return nearest
        difference = self._difference(new, [one.known for one in parts], nearest.scores)
        return replace(nearest, difference=difference, plain=any(one.plain for one in parts))

    def _words(self, of: Known) -> list[tuple[str, ...]]:
        said = (line.said for line in of.features.lines)
        return [words(one.speaker, one.text, one.caption, self._language) for one in said]

    def _ties(self, best: Sequence[tuple[Compared, Considered]], without: str) -> Iterator[Tie]:
        if not self._settings.link:
            return
        wanted = [
            (seen, "link" if seen.relation in ("related", "same") else "conflict")
            for _, seen in best
            if seen.relation != "none" and seen.note != without
        ]
        wanted.sort(key=lambda pair: -max(pair[0].complementarity, pair[0].redundancy))
        once = {seen.note: (seen, kind) for seen, kind in reversed(wanted)}
        for seen, kind in list(reversed(once.values()))[: self._settings.most_links]:
            score_ = seen.redundancy if kind == "conflict" else seen.complementarity
            yield Tie(seen.note, "conflict" if kind == "conflict" else "link", round(score_, 4))

    def _considered(self, one: Compared, note: str, opinion: Opinion | None) -> Considered:
        if opinion:
            return opinion.considered(note, one.scores.cosine, self._settings.thresholds)
        scores, settings = one.scores, self._settings
        repeats = scores.redundancy > settings.merge_threshold
        related = scores.complementarity > settings.link_threshold
        difference = one.difference
        relation: Relation
        if difference.kind == "corrects":
            relation, evidence = "update", difference.evidence
        elif repeats and one.asked:
            relation, evidence = "related", "One of them only asks."
        elif repeats and not one.as_much:
            relation, evidence = "related", "They share words, and each says something else."
        elif repeats:
            relation = "same" if difference.kind == "none" else "conflict"
            evidence = difference.evidence or "It says as much."
        else:
            relation, evidence = ("related", "") if related else ("none", "")
        return Considered(
            note,
            round(scores.redundancy, 4),
            round(scores.complementarity, 4),
            round(scores.cosine, 4),
            relation,
            evidence,
        )

    def _new(self, candidate: Candidate) -> Known:
        source = candidate.source
        keywords = frozenset(keyword.key for keyword in candidate.keywords)
        own = note_id(self._scope.name, source.id)
        speaker = source.speaker or source.role
        return self._known(own, candidate.context, (candidate.raw,), speaker, keywords, source.said_at)

    def _stored(self, note: Neighbour) -> Known:
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


def _asks(line: Line) -> bool:
    """Tell whether a line does nothing but ask: "Do you paint boats?" tells nobody that you do."""
    text = line.said.text.strip()
    return text.endswith(("?", "？")) and not re.search(r"[.!。！]\s", text)


def _by_note(compared: Sequence[Compared], homes: Mapping[str, str]) -> dict[str, list[Compared]]:
    """Gather by the notes that they are part of now, if of any; the nearest first."""
    found: dict[str, list[Compared]] = {}
    for one in compared:
        home = homes.get(one.known.id, one.known.id)
        note = homes.get(home, home)
        if note:
            found.setdefault(note, []).append(one)
    return found


def _moment(said: Said, said_at: datetime | None) -> datetime | None:
    return datetime.combine(said.said_on, time(), UTC) if said.said_on else said_at


def _joins(verdict: Verdict) -> bool:
    return verdict.kind in ("merge", "reinforce")


def _may_correct(new: Features, old: Features) -> bool:
    """Tell whether the old note may be the new one's speaker's own: nobody takes back what another has said."""
    return any(same_speaker(line, other) is not False for line in new.lines for other in old.lines)


def _before(new: Known, old: Known) -> bool:
    """Tell whether the new note was said before the old one, and so corrects nothing."""
    return bool(new.said_at and old.said_at and new.said_at < old.said_at)


def _content(candidate: Candidate, language: str) -> list[str]:
    """Return the words by which full text is asked: the distinct longest, without those of time and grammar."""
    distinct = {*candidate.raw_terms} - function_terms(language)
    return sorted(distinct, key=lambda term: (-len(term), term))[:_WORDS]


def _beside(candidates: Sequence[Candidate], most: int) -> list[list[tuple[int, float]]]:
    """Return for each the nearest candidates before it, which no index holds yet, with the larger cosine of each.

    What makes no note has no vectors, and is near to nothing.
    """
    import numpy as np

    found: list[list[tuple[int, float]]] = [[] for _ in candidates]
    notes = [place for place, one in enumerate(candidates) if one.raw_vector is not None]
    if len(notes) < 2:
        return found
    raw = _cosines([candidates[place].raw_vector for place in notes])
    larger = np.maximum(raw, _cosines([candidates[place].context_vector for place in notes]))
    for row, place in enumerate(notes):
        near = np.argsort(-raw[row, :row], kind="stable")[:most]
        found[place] = [(notes[int(i)], float(larger[row, i])) for i in near]
    return found


def _cosines(vectors: "Sequence[NDArray[np.float32] | None]") -> "NDArray[np.float32]":
    import numpy as np

    stacked = np.stack([vector for vector in vectors if vector is not None])
    rows = max(_ALONE // stacked.size, 1)
    return np.concatenate([stacked[at : at + rows] @ stacked.T for at in range(0, len(stacked), rows)])
