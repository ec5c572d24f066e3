"""What an answer made of the notes that it was given (MemoryArchitect, section II.D.1), told without a model.

Where an answer cites, that says it best. Else a word tells where it comes from that one note alone has. Only where
neither is found, what is related to the answer counts as used.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from re import compile as pattern

from memgraph_engine.arrays import np
from memgraph_engine.embedding.checked import CheckedEmbedder
from memgraph_engine.gate.calibration import calibration
from memgraph_engine.gate.difference import Pair, quoted
from memgraph_engine.gate.known import Known, Line
from memgraph_engine.gate.score import Scores, Statistics, score
from memgraph_engine.gate.update import update
from memgraph_engine.language.assertion import assertions
from memgraph_engine.language.reading import Reading
from memgraph_engine.language.references import as_of_now, as_own
from memgraph_engine.language.terms import common_terms, content, sentences, tokenize
from memgraph_engine.model.memory import Note, Source
from memgraph_engine.model.usage import Outcome

FIRST = 5
"""Notes that are unused where an answer leaves them: the paper shows up to five, and who is shown twenty needs few."""
_RELATED, _REDUNDANT = 0.5, 0.3
_NUMBERED = pattern(r"\s*\[[\d\s,;–-]+\]")
_NOBODY = ""

Told = tuple[Outcome, str]
"""What a note was, and why."""


@dataclass(frozen=True)
class Judge:
    """Judges what an answer to a question made of the notes shown for it, best first.

    `notes` counts the memory's. What days the answer names is read as of `now`.
    """

    question: str
    answer: str
    shown: Sequence[Note]
    cited: Collection[str]
    language: str
    notes: int
    embedder: CheckedEmbedder
    now: datetime

    def judged(self) -> list[Told]:
        """Return what each was."""
        found: dict[str, Told] = {note.id: ("used", "It was cited.") for note in self.shown if note.id in self.cited}
        found |= {note: ("contradicted", why) for note, why in self._contradicted.items() if note not in found}
        found |= {note: ("used", why) for note, why in self._named.items() if note not in found}
        if not any(outcome == "used" for outcome, _ in found.values()):
            found |= {note: ("used", why) for note, why in self._related.items() if note not in found}
        left: list[Told] = [("unused", "Nothing of it is in the answer."), ("shown", "It stood far behind.")]
        return [found.get(note.id) or left[place >= FIRST] for place, note in enumerate(self.shown)]

    @cached_property
    def _plain(self) -> str:
        return _NUMBERED.sub("", self.answer)

    @cached_property
    def _contradicted(self) -> Mapping[str, str]:
        """Return the notes that a sentence of the answer contradicts, as the gate sees it, each with the evidence.

        A sentence is read as whom it is told to would say it himself: "your train" is what he calls "my train".
        """
        known = [self._known(note.id, self._lines[note.id]) for note in self.shown]
        answer = as_own(self._plain, self.language)
        asserted = [one.text for one in assertions(Reading(answer, self.language)) if one.firm]
        statistics = Statistics.of(self.notes, known)
        maps = calibration(self.embedder.name, self.embedder.fitted)
        lines = [line for note in known for line in note.lines]
        held, stating = [*map(_words, lines)], {line for line in lines if assertions(line)}
        found: dict[str, str] = {}
        for said in sentences(answer, self.language):
            new = self._known(_NOBODY, [self._line(said)])
            # where one of the notes has its values too, and two of them differ, no answer did that
            states = any(one in said for one in asserted) and not any(_values(new.lines[0]) <= some for some in held)
            for old, scores in zip(known, score(new, known, [0.0] * len(known), statistics, maps), strict=True):
                pairs = [Pair(new.lines[0], line, (new, old)) for line in old.lines]
                stated = [line for line in old.lines if states and line in stating]
                if evidence := _disputed(pairs, scores) or self._otherwise(said, stated):
                    found.setdefault(old.id, f"The answer contradicts it. {evidence}")
        return found

    def _otherwise(self, said: str, lines: Collection[Line]) -> str:
        """Say how one of a note's lines would have changed if what an answer says were so now."""
        new = self._line(as_of_now(said, self.language))
        changed = (update(new, old, _RELATED) for old in lines if not _values(old) <= _words(new))
        return next((one.evidence for one in changed if one), "")

    @staticmethod
    def _known(note: str, lines: Sequence[Line]) -> Known:
        return Known(note, "", tuple(lines), frozenset(), None)

    @cached_property
    def _named(self) -> Mapping[str, str]:
        """Return the notes that alone have a rare word, a number or a name of the answer, or tell of a day of it."""
        held = {note.id: set(self._terms(note.text)) for note in self.shown}
        carried = Counter(term for terms in held.values() for term in terms)
        asked = set(self._terms(self.question))
        wanted = {term: word for term, word in self._telling.items() if term not in asked and carried[term] == 1}
        words = {note: [word for term, word in wanted.items() if term in terms] for note, terms in held.items()}
        told = {
            note: f"Of the notes shown it alone tells of {min(days):%Y-%m-%d}." for note, days in self._days.items()
        }
        return told | {note: f"Of the notes shown it alone has {quoted(own)}." for note, own in words.items() if own}

    @cached_property
    def _days(self) -> Mapping[str, list[datetime]]:
        """Return the notes that alone tell of a time that the answer names and the question does not."""
        asked, answered = (self._line(text).days for text in (self.question, self._plain))
        held = {note: frozenset().union(*(line.days for line in lines)) for note, lines in self._lines.items()}
        carried = Counter(day for days in held.values() for day in days)
        wanted = {day for day in answered - asked if carried[day] == 1}
        return {note: [start for start, _ in days & wanted] for note, days in held.items() if days & wanted}

    @cached_property
    def _lines(self) -> Mapping[str, list[Line]]:
        return {note.id: [Line(one, self.language) for one in note.sources] for note in self.shown}

    def _line(self, text: str) -> Line:
        return Line(Source(_NOBODY, text, _NOBODY, said_at=self.now), self.language)

    @cached_property
    def _telling(self) -> Mapping[str, str]:
        """The terms of the answer that are rare, numbers, or written as names inside a sentence; each with its word."""
        common = common_terms(self.language)
        found = {term: term for term in self._terms(self._plain) if term not in common or any(map(str.isdigit, term))}
        for token in Reading(self._plain, self.language).tokens:
            named = token.capital and not token.opens and len(token.written) > 1
            found |= {term: token.written for term in self._terms(token.written) if named or term in found}
        return found

    def _terms(self, text: str) -> list[str]:
        return content(text, self.language)

    @cached_property
    def _related(self) -> Mapping[str, str]:
        """Return the notes whose relation to the answer, calibrated as the gate's, is above a half."""
        if not tokenize(self._plain, self.language):
            return {}
        vectors = self.embedder.embed_documents([self._plain, *(note.context for note in self.shown)])
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        shares = map(calibration(self.embedder.name, self.embedder.fitted).relation, (units[1:] @ units[0]).tolist())
        found = {note.id: share for note, share in zip(self.shown, shares, strict=True)}
        return {
            note: f"It is related to the answer ({share:.2f})." for note, share in found.items() if share > _RELATED
        }


def _disputed(pairs: Sequence[Pair], scores: Scores) -> str:
    """Say in which value a line differs from one of a note that is worded alike."""
    return next((one.finding[1] for one in pairs if scores.redundancy > _REDUNDANT and one.disputed), "")


def _values(line: Line) -> frozenset[str]:
    """Return the numbers, dates and names of a line, else all its words with content."""
    told = (one for one in line.tokens if one.number or one.date or (one.stem and one.capital and not one.opens))
    return frozenset(one.word for one in told) or line.content


def _words(line: Line) -> frozenset[str]:
    return line.content.union(line.forms)
