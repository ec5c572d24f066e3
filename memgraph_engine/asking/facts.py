"""The facts about somebody or something: what speakers stated, clause by clause, and until when it held."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from memgraph_engine.gate.known import Line
from memgraph_engine.language.statement import Statement, statements
from memgraph_engine.language.terms import tokenize
from memgraph_engine.model.fact import Fact
from memgraph_engine.model.memory import Note
from memgraph_engine.model.result import SUCCEEDS, Contrary


def facts(notes: Iterable[Note], ties: Iterable[Contrary], about: str, language: str) -> list[Fact]:
    """Return the facts that notes tell of what is called `about`, those said last first; for '' all that users stated.

    A tie by which a later note took a place ends the facts that it names the words of, or all of the older note.

    >>> facts([], [], "Ana", "english")
    []
    """
    later: defaultdict[str, list[Contrary]] = defaultdict(list)
    for tie in sorted(ties, key=lambda tie: tie.newer_said):
        if tie.kind in SUCCEEDS:
            later[tie.older].append(tie)
    found: dict[tuple[str, str], Fact] = {}
    for note in notes:
        for fact in _told(note, frozenset(tokenize(about, language)), language):
            ended = _ended(fact, note, later[note.id])
            said = fact.speaker, " ".join(fact.text.casefold().split())
            known = found.get(said)
            found[said] = _again(known, ended) if known else ended
    return sorted(found.values(), key=lambda fact: fact.since, reverse=True)


def _told(note: Note, about: frozenset[str], language: str) -> Iterator[Fact]:
    """Yield the facts in a note's sources; an assistant's words are no facts."""
    for source in note.sources:
        if source.role == "assistant" or source.kind != "message":
            continue
        line = Line(source, language)
        if line.long:
            continue
        some = [*_grouped(statements(line))]
        met = False
        for at, group in enumerate(some):
            met = about <= frozenset[str]().union(*(one.content for one in group)) or (
                met and group[0].is_open(some[at - 1][-1])
            )
            if met:
                subject, predicate, value = group[0].parts
                every = [token for one in group for token in one.own]
                text = line.words(every)
                value = f"{value}{text.removeprefix(line.words(group[0].own))}"
                said = source.said_at or note.said_at
                yield Fact(text, subject, predicate, value, source.speaker, said, note.id, (source.id,))


def _grouped(clauses: Sequence[Statement]) -> Iterator[list[Statement]]:
    """Yield each clause that has a subject and a verb, with those behind it in its sentence that have none."""
    group: list[Statement] = []
    for one in clauses:
        if group and not one.finite and not one.supposed and one.own[0].sentence == group[0].own[0].sentence:
            group.append(one)
            continue
        if group:
            yield group
        group = [one] if one.finite and not one.supposed else []
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
