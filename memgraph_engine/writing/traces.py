"""Take what is erased out of the log of retrievals: ids of notes, and words of questions.

A question that led to what is erased may be about it, so its words go. So do those of others that say what is erased:
that hold five of its words together, or, of the memory's own reader, a single word that nothing which stays has.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from memgraph_engine.graph import erasures, retrievals, scopes
from memgraph_engine.graph.database import Database
from memgraph_engine.graph.erasures import Erasure, Meant
from memgraph_engine.language.terms import DEFAULT_LANGUAGE, closed_terms, tokenize
from memgraph_engine.model.scope import Scope

_RUN = 5
Run = tuple[str, ...]


class Runs(frozenset[Run]):
    """Runs of words by which a text is known again: each five that stand together, or all of a shorter one.

    >>> sorted(Runs.of(["The code is 4711."]).found_in(["What? The code is 4711!", "The code is 12."]))
    [('the', 'code', 'is', '4711')]
    """

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Runs":
        """Return all runs of some texts."""
        every = ((words, max(len(words) - _RUN, 0) + 1) for words in map(_words, texts) if words)
        return cls(tuple(words[at : at + _RUN]) for words, runs in every for at in range(runs))

    @cached_property
    def _lengths(self) -> set[int]:
        return {len(one) for one in self}

    def found_in(self, texts: Iterable[str]) -> set[Run]:
        """Return those that some texts hold."""
        return {
            run
            for text in texts
            for words in (_words(text),)
            for length in self._lengths
            for at in range(len(words) - length + 1)
            if (run := tuple(words[at : at + length])) in self
        }


def _words(text: str) -> list[str]:
    return "".join(sign if sign.isalnum() else " " for sign in text.casefold()).split()


@dataclass(frozen=True, slots=True)
class Traces:
    """By what the erased would be known again.

    `runs` are those of its words, and `notes` the ids that `readers` (scopes) may have been given: these are empty
    where nothing of them is recorded. What was given after `until` is of notes that were made anew.
    """

    runs: Runs = field(default_factory=Runs)
    notes: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()
    until: datetime | None = None


def of(db: Database, scope: Scope, one: Erasure, meant: Sequence[Meant]) -> Traces:
    """Return the traces of what an erasure means, before anything of it is removed."""
    own = Runs.of(f"{source.text} {source.caption or ''}" for source in meant)
    readers = tuple(retrievals.readers(db, scope))
    if one.everything:
        readers = tuple(name for name in readers if name != scope.name)  # the erasure takes all that is recorded there
    if not readers:
        return Traces(own)
    if not one.everything:
        return Traces(own, tuple(erasures.gone(db, scope.name)), readers)
    taken = db.run("erasures/taken", scope=scope.name, id=one.id)
    return Traces(own, tuple(row["id"] for row in taken), readers, one.begun)


def forget(db: Database, scope: Scope, one: Erasure, meant: Sequence[Meant], known: Traces) -> None:
    """Let nothing of the log name what is erased, nor say its words."""
    if not known.readers:
        return
    sessions = sorted({source.session for source in meant if source.session and isinstance(source.session, str)})
    retrievals.forget(db, scope.name, known.readers, known.notes, one.kept, sessions, known.until)
    asked = list(retrievals.questions(db, known.readers, known.until))
    if not asked:
        return
    language = state.language if (state := scopes.state(db, scope.name)) else DEFAULT_LANGUAGE
    own = [question.words for question in asked if question.reader == scope.name]
    # own are none where everything goes: nothing is worked out of what that removes
    wanted = _terms(own, language) & _terms((source.words for source in meant), language) if own else set()
    said = known.runs.found_in(question.words for question in asked)
    if not wanted and not said:
        return
    for kept in erasures.said(db, scope.name):
        wanted -= _terms(kept.texts, language)
        said -= known.runs.found_in(kept.texts)
    gone: dict[str, list[str]] = {}
    for question in asked:
        told = question.reader == scope.name and not wanted.isdisjoint(tokenize(question.words, language))
        if told or not said.isdisjoint(known.runs.found_in([question.words])):
            gone.setdefault(question.reader, []).append(question.id)
    for reader, ids in gone.items():
        retrievals.unask(db, reader, ids)


def _terms(texts: Iterable[str], language: str) -> set[str]:
    """Return the terms of some texts that tell what they are about."""
    terms = {term for text in texts for term in tokenize(text, language)}
    return terms - closed_terms(language)
