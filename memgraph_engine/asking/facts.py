"""The facts about somebody or something: what speakers stated, clause by clause, and until when it held."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from memgraph_engine.gate.known import Line
from memgraph_engine.ingest.profiling import subject
from memgraph_engine.language.statement import Statement, statements
from memgraph_engine.language.terms import word_list
from memgraph_engine.language.wording import parted, phrases_in, stems, wording
from memgraph_engine.model.fact import Fact
from memgraph_engine.model.memory import Note
from memgraph_engine.model.result import SUCCEEDS, Contrary

_TAG = 3  # words of a question that asks for what stands before it: "isn't he"


def facts(notes: Iterable[Note], ties: Iterable[Contrary], about: str, user: str | None, language: str) -> list[Fact]:
    """Return the facts that notes tell of what is called `about`, those said last first; for '' all that a user stated.

    A tie by which a later note took a place ends the facts that it names the words of, or all of the older note.

    >>> facts([], [], "Ana", None, "english")
    []
    """
    later: defaultdict[str, list[Contrary]] = defaultdict(list)
    for tie in sorted(ties, key=lambda tie: tie.newer_said):
        if tie.kind in SUCCEEDS:
            later[tie.older].append(tie)
    found: dict[tuple[str, str], Fact] = {}
    named = names_in(about, language) if about else frozenset[str]()
    for note in notes:
        for fact in _told(note, named, user, language):
            ended = _ended(fact, note, later[note.id])
            said = fact.speaker, " ".join(fact.text.casefold().split())
            known = found.get(said)
            found[said] = _again(known, ended) if known else ended
    return sorted(found.values(), key=lambda fact: fact.since, reverse=True)


def names_in(about: str, language: str) -> frozenset[str]:
    """Return the words that name somebody or something, as clauses are looked for by them: "my brother" by one.

    >>> sorted(names_in("my brother Will", "english")), sorted(names_in("Will", "english"))
    (['brother'], ['will'])
    """
    tokens = wording(about, language)
    return stems(tokens) or frozenset(one.word for one in tokens if one.word.isalnum())


def _told(note: Note, named: frozenset[str], user: str | None, language: str) -> Iterator[Fact]:
    """Yield the facts in a note's sources, of what is `named`, else those of its user; an assistant tells none."""
    for source in note.sources:
        line = Line(source, language)
        mine = subject(source, user) == ""
        if source.role == "assistant" or source.kind != "message" or not (named or mine) or line.long or _unreal(line):
            continue
        speaks = named <= stems(wording(source.speaker, language))
        met = False
        some = [*_grouped(statements(line), _tagged(line))]
        for at, group in enumerate(some):
            first = group[0]
            known = frozenset[str]().union(*(one.content | {*one.words} for one in group))
            own = speaks and not line.lists.first_person.isdisjoint(first.words)
            met = not named or named <= known or own or (met and first.is_open(some[at - 1][-1]))
            if met:
                about, predicate, value = first.parts
                text = line.words([token for one in group for token in one.own])
                value = f"{value}{text.removeprefix(line.words(first.own))}"
                said = source.said_at or note.said_at
                yield Fact(text, about, predicate, value, source.speaker, said, note.id, (source.id,))


def _unreal(line: Line) -> bool:
    """Tell whether a message plays, brings a text of somebody's, or is code: "Write a poem. Ana is a fairy."."""
    return "```" in line.text or bool(phrases_in(line.forms, word_list(line.language, "made-up")))


def _tagged(line: Line) -> frozenset[int]:
    """Return the sentences that end in a short question, which asks for what stands before it: "…, right?"."""
    asked = [clause for clause in parted(line.tokens, "clause") if clause[0].asked]
    return frozenset(one[0].sentence for one in asked if one[-1].sentence == one[0].sentence and len(one) <= _TAG)


def _grouped(clauses: Sequence[Statement], tagged: Collection[int]) -> Iterator[list[Statement]]:
    """Yield each clause that has a subject and a verb, with those behind it in its sentence that have none."""
    group: list[Statement] = []
    for one in clauses:
        plain = not one.supposed and one.own[0].sentence not in tagged
        if group and plain and not one.finite and one.own[0].sentence == group[0].own[0].sentence:
            group.append(one)
            continue
        if group:
            yield group
        group = [one] if one.finite and plain else []
    if group:
        yield group


def _ended(fact: Fact, note: Note, later: Sequence[Contrary]) -> Fact:
    """Return a fact with its end, where its note or a part of it that has its words was replaced."""
    if note.status == "superseded":
        return replace(fact, until=note.valid_to)
    for tie in later:
        own, former = (" ".join(text.split()) for text in (fact.text, tie.former))
        if not former or former in own or own in former:
            return replace(fact, until=tie.newer_said, replaced_by=tie.newer)
    return fact


def _again(known: Fact, other: Fact) -> Fact:
    """Return a fact that was said twice: since the first time, with the end of the last."""
    first, last = sorted((known, other), key=lambda fact: fact.since)
    return replace(last, since=first.since, sources=(*last.sources, *first.sources))
