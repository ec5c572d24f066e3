"""Judge new notes against what is known, without an LLM (MemFly, section 3.3.2): merge, link, append, and beyond."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from memgraph_engine.gate.batch import note_id
from memgraph_engine.gate.calibration import calibration
from memgraph_engine.gate.contradiction import Difference, compare
from memgraph_engine.gate.facts import Facts, facts
from memgraph_engine.gate.score import Features, Scores, Statistics, features, score
from memgraph_engine.gate.verdict import APPEND, Kind, Tie, Verdict
from memgraph_engine.graph.database import Database
from memgraph_engine.graph.neighbourhood import Neighbour, neighbourhood
from memgraph_engine.language import word_list
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.names import key
from memgraph_engine.model.result import Considered, Relation
from memgraph_engine.model.scope import Scope
from memgraph_engine.rendering import events
from memgraph_engine.settings import GateSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORDS = 12  # of a new note, by which full text is asked for others


@dataclass(frozen=True, slots=True)
class Known:
    """A note as it is compared: what it is scored by, and what it can be contradicted in."""

    id: str
    features: Features
    facts: tuple[Facts, ...]
    said_at: datetime | None
    days: frozenset[datetime]


@dataclass(frozen=True, slots=True)
class Compared:
    """A known note beside a new one."""

    known: Known
    scores: Scores
    difference: Difference

    @property
    def closeness(self) -> tuple[float, float, float]:
        """Order by redundancy, then similarity, then age."""
        said = self.known.said_at.timestamp() if self.known.said_at else 0.0
        return -self.scores.redundancy, -self.scores.cosine, said


class Judge:
    """Judges the candidates of one batch."""

    def __init__(self, settings: GateSettings, embedder: str, scope: Scope, language: str, notes: int) -> None:
        self._settings, self._scope, self._language, self._notes = settings, scope, language, notes
        self._calibration = calibration(embedder)

    def verdicts(self, db: Database, candidates: Sequence[Candidate]) -> list[Verdict]:
        """Judge candidates in order, each against stored notes and the candidates before it.

        One look-up for all of them. A candidate that joins a note is known by that note to those after it.
        """
        if not self._settings.update or not candidates:
            return [self._alone(candidate) for candidate in candidates]
        words = [_content(candidate, self._language) for candidate in candidates]
        near = neighbourhood(
            db, self._scope, candidates, words, near=self._settings.near, lexical=self._settings.lexical
        )
        stored = {note.id: self._stored(note) for note in near.notes.values()}
        earlier: list[Known] = []
        homes: list[str] = []
        verdicts: list[Verdict] = []
        for place, candidate in enumerate(candidates):
            own = note_id(self._scope.name, candidate.source.id)
            new = self._new(candidate, own)
            beside = dict(_beside(candidates, place, homes, self._settings.near))
            known = [(stored[other], cosine) for other, cosine in near.near[place].items() if other != own]
            known += [(earlier[before], cosine) for before, cosine in beside.items()]
            verdict = self._judge(candidate, new, known, {earlier[i].id: homes[i] for i in beside})
            verdicts.append(verdict)
            earlier.append(new)
            homes.append("" if verdict.kind == "discard" else verdict.target if _joins(verdict) else own)
        return verdicts

    def _alone(self, candidate: Candidate) -> Verdict:
        """Judge a candidate by itself."""
        if self._settings.discard and candidate.noise:
            return Verdict("discard", evidence=f"It is {candidate.noise}.")
        return APPEND

    def _judge(
        self, candidate: Candidate, new: Known, known: Sequence[tuple[Known, float]], homes: Mapping[str, str]
    ) -> Verdict:
        alone = self._alone(candidate)
        if alone.kind == "discard" or not known:
            return alone
        others = [one.features for one, _ in known]
        cosines = [max(cosine, 0.0) for _, cosine in known]
        scores = score(new.features, others, Statistics.of(self._notes, others), self._calibration, cosines)
        compared = [
            Compared(one, its, self._difference(new, one, its)) for (one, _), its in zip(known, scores, strict=True)
        ]
        return self._decide(new, sorted(compared, key=lambda one: one.closeness), homes)

    def _difference(self, new: Known, old: Known, scores: Scores) -> Difference:
        """Say what differs, where it matters: in pairs that would be merged or tied."""
        if (
            scores.redundancy <= self._settings.merge_threshold
            and scores.complementarity <= self._settings.link_threshold
        ):
            return Difference("none", "")
        if new.days and old.days and not new.days & old.days:
            return Difference("differs", "They tell of different days.")
        return compare(new.facts, old.facts, self._language)

    def _decide(self, new: Known, compared: Sequence[Compared], homes: Mapping[str, str]) -> Verdict:
        """Choose: join the nearest repeat, else replace what is corrected, else stand alone, tied to what is near."""
        settings = self._settings
        best: list[tuple[Compared, Considered]] = []
        for one in compared:  # the nearest first; what joined the same note before is the same note
            seen = self._considered(one, homes)
            if seen.note not in {other.note for _, other in best}:
                best.append((one, seen))
        considered = tuple(seen for _, seen in best)
        same = next((pair for pair in best if pair[1].relation == "same"), None)
        if settings.merge and same:
            one, seen = same
            plain = any(line.terms == new.features.lines[0].terms for line in one.known.features.lines)
            kind: Kind = "reinforce" if plain else "merge"
            return Verdict(kind, seen.note, considered=considered, evidence=seen.evidence)
        old = next((pair for pair in best if pair[1].relation == "update"), None)
        if old and (not settings.supersede or _before(new, old[0].known)):
            old = None
        ties = tuple(self._ties(best, "" if old is None else old[1].note))
        if old:
            return Verdict("supersede", old[1].note, ties, considered, old[1].evidence)
        return Verdict("link" if ties else "append", "", ties, considered)

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

    def _considered(self, one: Compared, homes: Mapping[str, str]) -> Considered:
        scores, settings = one.scores, self._settings
        repeats = scores.redundancy > settings.merge_threshold
        related = scores.complementarity > settings.link_threshold
        difference = one.difference
        relation: Relation
        if difference.kind == "corrects":
            relation, evidence = "update", difference.evidence
        elif repeats:
            relation = "same" if difference.kind == "none" else "conflict"
            evidence = difference.evidence or "It says as much."
        else:
            relation, evidence = ("related", "") if related else ("none", "")
        return Considered(
            homes.get(one.known.id, one.known.id),
            round(scores.redundancy, 4),
            round(scores.complementarity, 4),
            round(scores.cosine, 4),
            relation,
            evidence,
        )

    def _new(self, candidate: Candidate, id: str) -> Known:  # noqa: A002  the graph's own word
        source = candidate.source
        speaker = source.speaker or source.role
        keywords = frozenset(keyword.key for keyword in candidate.keywords)
        return self._known(id, (candidate.raw,), speaker, keywords, source.said_at)

    def _stored(self, note: Neighbour) -> Known:
        return self._known(note.id, note.raw, note.speaker, frozenset(note.keywords), note.said_at)

    def _known(
        self,
        id: str,  # noqa: A002
        raw: tuple[str, ...],
        speaker: str,
        keywords: frozenset[str],
        said_at: datetime | None,
    ) -> Known:
        seen = features(raw, speaker=speaker, keywords=keywords, language=self._language)
        told = (event for line in seen.lines for event in events(line.said.text, said_at, self._language))
        days = frozenset(event.start for event in told)
        return Known(id, seen, tuple(facts(line.said, self._language) for line in seen.lines), said_at, days)


def _joins(verdict: Verdict) -> bool:
    return verdict.kind in ("merge", "reinforce")


def _before(new: Known, old: Known) -> bool:
    """Tell whether the new note was said before the old one, and so corrects nothing."""
    return bool(new.said_at and old.said_at and new.said_at < old.said_at)


def _content(candidate: Candidate, language: str) -> list[str]:
    """Return the words by which full text is asked: the distinct longest, without those of time and grammar."""
    common = {key(word, language) for word in word_list(f"{language}-function-words")} if _listed(language) else set()
    words = sorted({term for term in candidate.raw_terms if term not in common}, key=lambda term: (-len(term), term))
    return words[:_WORDS]


def _listed(language: str) -> bool:
    return language in ("english", "spanish")


def _beside(
    candidates: Sequence[Candidate], place: int, homes: Sequence[str], most: int
) -> Iterator[tuple[int, float]]:
    """Yield the nearest of the candidates before one, which no index holds yet, and their larger cosine."""
    import numpy as np

    own = candidates[place]
    before = [i for i in range(place) if homes[i] and candidates[i].raw_vector is not None]
    if not before or own.raw_vector is None or own.context_vector is None:
        return
    raw = _stack([candidates[i].raw_vector for i in before]) @ own.raw_vector
    context = _stack([candidates[i].context_vector for i in before]) @ own.context_vector
    larger = np.maximum(raw, context)
    for index in np.argsort(-raw, kind="stable")[:most]:
        yield before[int(index)], float(larger[index])


def _stack(vectors: "Sequence[NDArray[np.float32] | None]") -> "NDArray[np.float32]":
    import numpy as np

    return np.stack([vector for vector in vectors if vector is not None])
