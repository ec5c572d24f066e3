"""Compose a context: facts in order, as many and as long as the budget allows, numbered, between marks."""

from collections.abc import Mapping, Sequence

from memgraph_engine.answer.facts import Fact, facts, mixed
from memgraph_engine.answer.lines import head, shortened, text, words
from memgraph_engine.answer.places import places, together
from memgraph_engine.answer.relevant import USUAL
from memgraph_engine.answer.succession import outdated
from memgraph_engine.llm.tokens import most_tokens
from memgraph_engine.model.answer import Cited, Context
from memgraph_engine.model.claim import Claim
from memgraph_engine.model.marker import enclose
from memgraph_engine.model.result import Contrary, Hit
from memgraph_engine.settings import AnswerSettings

LEAST_BUDGET = 200
"""Tokens: a head with all its remarks and a few words have room in it."""
_LEAST_TEXT = 30  # tokens of a note's text; of a fact that has less room nothing is told
_NEW_LINE = 1
_GENERAL = 0.25  # most share of the budget for claims
_CITED = 3  # notes that a claim is told by
_MARKS = most_tokens(enclose("\n\n"))


def compose(
    question: str,
    hits: Sequence[Hit],
    ties: Sequence[Contrary],
    budget: int,
    settings: AnswerSettings,
    language: str = "standard",
    notes: int = USUAL,
    claims: Sequence[Claim] = (),
) -> Context:
    """Return what the hits tell, in at most `budget` tokens (200 or more); the best is always in it.

    `ties` are the contradictions and replacements among the hits, and between them and others; `notes` is how many the
    memory holds. `claims` are told behind the notes, if any of these are; they take at most a quarter of the budget.

    >>> settings = AnswerSettings(budget=1000, rounds=1, longest=0.25, recent=0.25, similar=0.95, relevance=0.12)
    >>> compose("Where does Ana live?", [], [], 200, settings).text
    ''
    """
    claims, taken = _fitting(claims, int(budget * _GENERAL))
    ranked, gone = facts(hits, ties, outdated(question, hits, language, notes), settings.similar, language)
    chosen = mixed(ranked, settings.recent)
    told = {place for fact in chosen for place in places(fact.note)}
    texts = {fact.note.id: text(fact, told, language) for fact in chosen}
    lengths = _lengths(chosen, texts, budget - _MARKS - taken, settings.longest)
    crowded = {fact.note.id for fact, limit in zip(chosen, lengths, strict=True) if not limit}
    whole = {fact.note.id for fact in chosen if crowded.isdisjoint((fact.note.id, *fact.repairs))}
    left_out = {fact.note.id: "it had no room" for fact in chosen if fact.note.id not in whole}
    kept = together([pair for pair in zip(chosen, lengths, strict=True) if pair[0].note.id in whole])
    wanted = words(question)
    numbers = {fact.note.id: f"[{number}]" for number, (fact, _) in enumerate(kept, 1)}
    entries = [
        _entry(number, fact, shortened(texts[fact.note.id], limit, wanted), texts[fact.note.id], numbers)
        for number, (fact, limit) in enumerate(kept, 1)
    ]
    left_out |= {note: f"{numbers.get(by, by)} {why}" for note, (by, why) in gone.items()}
    general = tuple(_general(claim, numbers) for claim in claims) if entries else ()
    marked = enclose("\n" + "\n".join([*(entry.line for entry in entries), *general]) + "\n") if entries else ""
    return Context(question, marked, tuple(entries), most_tokens(marked), budget, left_out, general=general)


def _fitting(claims: Sequence[Claim], room: int) -> tuple[list[Claim], int]:
    """Return the first claims that have room, and how many tokens they may take."""
    chosen, taken = list[Claim](), 0
    for claim in claims:
        length = most_tokens(_general(claim, {})) + _NEW_LINE
        if taken + length > room:
            break
        chosen.append(claim)
        taken += length
    return chosen, taken


def _general(claim: Claim, numbers: Mapping[str, str]) -> str:
    """Return the line of a claim: by the numbers of its notes, or by the id of one if none has a number.

    Of one that users share it tells how many make it.
    """
    if claim.users:
        return f"In general, shared by {claim.users} users: {claim.text}"
    found = [numbers[note] for note in claim.notes if note in numbers][:_CITED]
    cited = sorted(found, key=lambda number: (len(number), number)) or [f"note {claim.notes[0]}"]
    return f"In general, by {' '.join(cited)}: {claim.text}"


def _lengths(chosen: Sequence[Fact], texts: Mapping[str, str], room: int, longest: float) -> list[int]:
    """Return the tokens that each fact's text may take, 0 for one that is left out.

    None takes more than the share `longest` while another waits; what is left then goes to those that are shortened.
    The first has at least the room that it needs.
    """
    most = max(int(room * longest), _LEAST_TEXT)
    needs = [most_tokens(texts[fact.note.id]) for fact in chosen]
    given = []
    for at, (fact, need) in enumerate(zip(chosen, needs, strict=True), 1):
        left = room - most_tokens(head(at, fact)) - _NEW_LINE
        length = min(need, most, left)
        if length < min(need, _LEAST_TEXT):
            length = 0
        else:
            room = left - length
        given.append(length)
    for at, (need, length) in enumerate(zip(needs, given, strict=True)):
        more = min(need - length, room) if length else 0
        given[at] += more
        room -= more
    return given


def _entry(number: int, fact: Fact, part: str, whole: str, numbers: Mapping[str, str]) -> Cited:
    remarks = tuple(remark.shown(numbers) for remark in fact.remarks)
    return Cited(number, head(number, fact, numbers) + part, fact.note, fact.sources, remarks, part != whole)
