"""Judge new notes against what is known, without an LLM (MemFly, section 3.3.2): merge, link, append, and beyond."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.gate.calibration import calibration
from memgraph_engine.gate.comparison import Compared, Comparison, Known
from memgraph_engine.gate.verdict import APPEND, Tie, Verdict
from memgraph_engine.gate.words import function_terms
from memgraph_engine.graph.database import Database
from memgraph_engine.graph.neighbourhood import neighbourhood
from memgraph_engine.model.candidate import Candidate
from memgraph_engine.model.result import Considered, Relation
from memgraph_engine.model.scope import Scope
from memgraph_engine.settings import GateSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ALONE = 1 << 18  # multiplications that BLAS does without waking a second thread, which may wait for a core
_WORDS = 8  # of a new note, by which full text is asked for others


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
        self._settings, self._scope, self._language = settings, scope, language
        self._comparison = Comparison(settings, calibration(embedder), scope, language, notes)
        self.contexts: Mapping[str, str] = {}

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
        stored = {note.id: self._comparison.stored(note) for note in near.notes.values()}
        self.contexts = {note.id: note.context for note in near.notes.values()}
        beside = _beside(candidates, self._settings.near)
        earlier: list[Known] = []
        rows: list[Sequence[Compared]] = []
        made = 0  # notes by the batch so far, as if they were stored: some join others
        for place, candidate in enumerate(candidates):
            new = self._comparison.new(candidate)
            known = [(stored[other], cosine) for other, cosine in near.near[place].items() if other != new.id]
            known += [(earlier[before], cosine) for before, cosine in beside[place]]
            rows.append(self._comparison.compared(new, known, made))
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

    def _decide(
        self, new: Known, compared: Sequence[Compared], homes: Mapping[str, str], opinions: Mapping[str, Opinion]
    ) -> Verdict:
        """Choose: join the nearest repeat, else replace what is corrected, else stand alone, tied to what is near."""
        settings = self._settings
        best: list[tuple[Compared, Considered]] = []
        for note, parts in _by_note(compared, homes).items():
            one = self._comparison.whole(new, parts)
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


def _by_note(compared: Sequence[Compared], homes: Mapping[str, str]) -> dict[str, list[Compared]]:
    """Gather by the notes that they are part of now, if of any; the nearest first."""
    found: dict[str, list[Compared]] = {}
    for one in compared:
        home = homes.get(one.known.id, one.known.id)
        note = homes.get(home, home)
        if note:
            found.setdefault(note, []).append(one)
    return found


def _joins(verdict: Verdict) -> bool:
    return verdict.kind in ("merge", "reinforce")


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
