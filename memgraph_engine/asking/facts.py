"""The facts about somebody or something: what speakers stated, clause by clause, and until when it held."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from memgraph_engine.gate.known import Line
from memgraph_engine.ingest.attributes import told
from memgraph_engine.ingest.profiling import subject
from memgraph_engine.language.assertion import Assertion, assertions
from memgraph_engine.language.wording import stems, wording
from memgraph_engine.model.fact import Fact
from memgraph_engine.model.memory import Note
from memgraph_engine.model.profile import Delta, closes, is_gone
from memgraph_engine.model.result import SUCCEEDS, Contrary


class Facts:
    """The facts that notes tell of what is called `about`, for '' all that a `user` stated, read from the last note on.

    A fact ends where a later one tells another value of what a profile has once, such as the residence, or where a
    later note took the place of its words, or of its whole note.

    >>> Facts("Ana", None, "english").read([], [])
    []
    """

    def __init__(self, about: str, user: str | None, language: str, own: str = "") -> None:
        self._user, self._language, self._own = user, language, own
        self._named = names_in(about, language) if about else frozenset[str]()
        self._later: dict[str | None, list[tuple[Fact, Delta]]] = defaultdict(list)  # by of whom it tells
        self._tells: dict[str, set[str]] = defaultdict(set)  # the attributes that a note tells

    def read(self, notes: Iterable[Note], ties: Iterable[Contrary]) -> list[Fact]:
        """Return the facts of further notes, those said last first; `ties` are those that take the place of others."""
        later: defaultdict[str, list[Contrary]] = defaultdict(list)
        for tie in sorted(ties, key=lambda tie: tie.newer_said):
            if tie.kind in SUCCEEDS:
                later[tie.older].append(tie)
        every = [(note, *one) for note in notes for one in self._told(note)]
        for note, who, fact, deltas in every:
            self._tells[note.id].update(one.name for one in deltas)
            self._later[who] += ((fact, one) for one in deltas)
        found: dict[tuple[str, str], Fact] = {}
        for note, who, fact, deltas in every:
            ended = self._ended(fact, deltas, self._later[who], note, later[note.id])
            said = fact.speaker, " ".join(fact.text.casefold().split())
            known = found.get(said)
            found[said] = _again(known, ended) if known else ended
        return sorted(found.values(), key=lambda fact: fact.since, reverse=True)

    def _told(self, note: Note) -> Iterator[tuple[str | None, Fact, list[Delta]]]:
        """Yield the facts in a note's sources, each with whose profile it tells what of; an assistant tells none."""
        for source in note.sources:
            line = Line(source, self._language)
            who = subject(source, self._user)
            told_of = bool(self._named) or who == ""
            if source.role == "assistant" or source.kind != "message" or not told_of or line.long:
                continue
            speaks = self._named <= stems(wording(source.speaker, self._language))
            for one in self._about(assertions(line), speaks=speaks):
                about, predicate, value = one.parts
                said = source.said_at or note.said_at
                fact = Fact(one.text, about, predicate, value, source.speaker, said, note.id, (source.id,))
                yield who, fact, told(one, self._own) if who is not None else []

    def _about(self, every: Sequence[Assertion], *, speaks: bool) -> Iterator[Assertion]:
        """Yield what is told of what is named, and what goes on from it with "it" or "she"."""
        met, before = False, None
        for one in every:
            words = {*stems(one.tokens), *(word.word for word in one.tokens)}
            own = speaks and not one.clause.lists.first_person.isdisjoint(one.clause.words)
            met = self._named <= words or own or (met and before is not None and one.clause.is_open(before.clause))
            before = one
            if met:
                yield one

    def _ended(
        self,
        fact: Fact,
        deltas: Sequence[Delta],
        told: Iterable[tuple[Fact, Delta]],
        note: Note,
        later: Iterable[Contrary],
    ) -> Fact:
        """Return a fact with its end, if it has one: by what is `told` of the same profile, or by a `later` tie."""
        for new, delta in told:
            if new.since > fact.since and any(closes(delta, one) for one in deltas if not one.ends):
                return replace(fact, until=new.since, replaced_by=new.note)
        if note.status == "superseded":
            return replace(fact, until=note.valid_to)
        for tie in later:
            own, former = (" ".join(text.split()) for text in (fact.text, tie.former))
            whole = not former and all(is_gone(one, "", self._tells[tie.newer]) for one in deltas)
            if whole or (former and (former in own or own in former)):
                return replace(fact, until=tie.newer_said, replaced_by=tie.newer)
        return fact


def names_in(about: str, language: str) -> frozenset[str]:
    """Return the words that name somebody or something, as clauses are looked for by them: "my brother" by one.

    >>> sorted(names_in("my brother Will", "english")), sorted(names_in("Will", "english"))
    (['brother'], ['will'])
    """
    tokens = wording(about, language)
    return stems(tokens) or frozenset(one.word for one in tokens if one.word.isalnum())


def _again(known: Fact, other: Fact) -> Fact:
    """Return a fact that was said twice: since the first time, with the end of the last."""
    first, last = sorted((known, other), key=lambda fact: fact.since)
    return replace(last, since=first.since, sources=(*last.sources, *first.sources))
