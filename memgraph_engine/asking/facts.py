"""The facts about somebody or something: what speakers stated, clause by clause, and until when it held."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial

from memgraph_engine.gate.known import Line
from memgraph_engine.ingest.attributes import told
from memgraph_engine.ingest.profiling import subject
from memgraph_engine.language.assertion import Assertion, assertions
from memgraph_engine.language.verbs import finite_verb
from memgraph_engine.language.wording import compounds, stems, text_of, wording, words
from memgraph_engine.model.fact import Fact
from memgraph_engine.model.memory import Note
from memgraph_engine.model.profile import Profile
from memgraph_engine.model.result import SUCCEEDS, Contrary
from memgraph_engine.trust import Trust, below


class Facts:
    """The facts that notes tell of what is called `about`, for '' all that a `user` stated, for None whoever said it.

    What tells a value of somebody's `profile` holds as long as that does, any other until a later note took the place
    of its words, or of its whole note. `own` is the path of a table of attributes, '' for none. `partly` are the ids of
    notes that say more than their facts do: "Only matcha these days." What is trusted less than `least` tells none.

    >>> Facts("Ana", None, "english", "", Profile).read([], [])
    []
    """

    def __init__(
        self,
        about: str | None,
        user: str | None,
        language: str,
        own: str,
        profile: Callable[[str], Profile],
        least: Trust = "user",
    ) -> None:
        self._about, self._user, self._language, self._own, self._least = about, user, language, own, least
        self._named = names_in(about, language) if about else frozenset[str]()
        self._profile = cache(profile)
        self._values, self.partly = set[Fact](), set[str]()  # values of profiles that a clause tells

    def read(self, notes: Iterable[Note], ties: Iterable[Contrary]) -> list[Fact]:
        """Return the facts of further notes, those said last first; `ties` are those that take the place of others."""
        later, found = defaultdict[str, list[Contrary]](list), dict[tuple[str, ...], Fact]()
        for tie in sorted((tie for tie in ties if tie.kind in SUCCEEDS), key=lambda tie: tie.newer_said):
            later[tie.older].append(tie)
        for note in notes:
            for every in self._told(note):
                self._values.update(every[0][-1])
                whole, *parts = (_ended(*one, note, later[note.id]) for one in every)
                for fact in parts if len({one.until for one in parts}) > 1 else [whole]:
                    said = fact.speaker, *words(wording(fact.text, self._language))  # however it is spelled
                    found[said] = _again(found[said], fact) if said in found else fact
        return sorted(found.values(), key=lambda fact: fact.since, reverse=True)

    def untold(self) -> list[Fact]:
        """Return what a profile has that no clause of these notes tells: set, read by a model, or put right."""
        told = self._profile((self._about or "").casefold())
        return [one for one in (*told.attributes, *told.former) if one not in self._values]

    def _told(self, note: Note) -> Iterator[list[tuple[Fact, str, list[Fact]]]]:
        """Yield the facts in a note's sources: each with its own words, and values of a profile.

        Each is followed by its parts: one may end, and another hold: "I live in Leeds and work as a nurse".
        """
        for source in note.sources:
            line = Line(source, self._language)
            who = subject(source, self._user)
            if below(source.trust, self._least) or line.long or (who != "" and self._about == ""):
                continue
            speaks = self._named <= stems(wording(source.speaker, self._language))
            said = source.said_at or note.said_at
            asserted = [one for one in assertions(line) if not one.clause.wanted]
            stated = {id(word) for one in asserted for word in one.tokens}
            left = [one.clause for one in line.tokens if one.stem and not one.asked and id(one) not in stated]
            self.partly.update([note.id] if len(left) > len({*left}) else ())  # two words of one clause
            for one in self._about_it(asserted, line, speaks=speaks):
                deltas = told(one, self._own) if who is not None else []
                held = [value for delta in deltas if (value := self._profile(who or "").held(delta, said))]
                made = partial(Fact, speaker=source.speaker, since=said, note=note.id, sources=(source.id,))
                each = [(made(one.text, *one.parts, attributes=_names(held)), one.text, held)]
                for part in one.each if len(one.each) > 1 and all(map(_stands, one.each)) else ():
                    text, own = text_of(part.tokens), line.words(part.clause.own)
                    values = [value for value in held if value.value.casefold() in text.casefold()]
                    each.append((made(text, *part.clause.parts, attributes=_names(values)), own, values))
                yield each

    def _about_it(self, every: Sequence[Assertion], line: Line, *, speaks: bool) -> Iterator[Assertion]:
        """Yield what is told of what is named, and what goes on from it with "it" or "she".

        A compound is named by all of its words: "my mother-in-law" is not my mother.
        """
        whole = compounds(line.tokens, line.text, self._language) if self._named else ()
        others = {one.span for some in whole if not stems(some) <= self._named for one in some}
        met, before = False, None
        for one in every:
            tokens = [word for word in one.tokens if word.span not in others]
            words = {*stems(tokens), *(word.word for word in tokens)}
            own = speaks and not one.clause.lists.first_person.isdisjoint(one.clause.words)
            met = self._named <= words or own or (met and before is not None and one.clause.is_open(before.clause))
            before = one
            if met:
                yield one


def _stands(part: Assertion) -> bool:
    """Tell whether a clause can be told by itself: it has a verb, and names not what stands before it ("a cat, Mo")."""
    clause = part.clause
    named = clause.lead and clause.lead[-1].word in clause.lists.leads and clause.own[0].capital
    return not named and finite_verb(part.tokens, clause.line) is not None


def _names(values: Sequence[Fact]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value.predicate for value in values))


def _ended(fact: Fact, text: str, values: Sequence[Fact], note: Note, later: Iterable[Contrary]) -> Fact:
    """Return a fact of this `text` with its end, if it has one: of one of its `values`, or by a `later` tie."""
    if ends := [(one.until, one.replaced_by) for one in values if one.until]:
        until, by = min(ends)
        return replace(fact, until=until, replaced_by=by)
    if note.status == "superseded":
        return replace(fact, until=note.valid_to)
    for tie in later:
        own, former = (" ".join(text.split()) for text in (text, tie.former))
        if (former in own or own in former) if former else not values:
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
