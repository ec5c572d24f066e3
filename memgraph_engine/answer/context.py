"""Compose a context: facts in order, as many and as long as the budget allows, numbered, between marks."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from memgraph_engine.answer.facts import Fact, facts
from memgraph_engine.answer.lines import Place, head, places, shortened, text
from memgraph_engine.llm.tokens import most_tokens
from memgraph_engine.model.answer import UNSURE, Cited, Context
from memgraph_engine.model.claim import Claim
from memgraph_engine.model.marker import as_line, enclose
from memgraph_engine.model.memory import Note
from memgraph_engine.model.result import Contrary, Hit
from memgraph_engine.model.text import personal
from memgraph_engine.settings import AnswerSettings
from memgraph_engine.trust import marked

PASSAGES = ("document", "code")

LEAST_BUDGET = 200
"""Tokens: a head with all its remarks and a few words have room in it."""
GENERAL = 0.25
"""Share of the budget that claims have at most where none is given."""
_LEAST_TEXT = 30  # tokens of a note's text; of a fact that has less room nothing is told
_NEW_LINE = 1
_NEAREST = 7  # lines; behind them what somebody says of himself comes first: a request shares no word with it
_AS_GOOD = 0.7  # of the best one's relevance: so much has what is told beyond the lines that are told anyway
_ABOVE = 0.5  # most share of the budget for what blocks tell
_CITED = 3  # notes that a claim is told by
_MARKS = most_tokens(enclose("\n\n"))
_UNSURE_TOKENS = most_tokens(UNSURE) + _NEW_LINE


def compose(
    question: str,
    hits: Sequence[Hit],
    ties: Sequence[Contrary],
    budget: int,
    settings: AnswerSettings,
    language: str = "standard",
    claims: Sequence[Claim] = (),
    clauses: Mapping[str, str] = MappingProxyType({}),
    *,
    share: float = GENERAL,
    above: Sequence[str] = (),
    sure: bool = True,
) -> Context:
    """Return what the hits tell, in at most `budget` tokens (200 or more); the best is always in it.

    The best are told whatever their relevance, up to the settings `lines` and `enough`, behind the first seven those in
    which somebody speaks of himself: a request shares no word with the preference that it bears on. Beyond these lines
    only what is nearly as relevant as the best is told. `ties` are the contradictions and replacements among the hits,
    and between them and others. `claims` are told behind the notes, if any of these are, in at most their `share` of
    the budget. A context that is not `sure` says so in its first line.

    `clauses` has by their ids what notes tell in facts, with the ends of these: they are told so, before all others,
    and with half of what is `enough`. The lines `above` stand before them, in half of the budget; without hits in all.

    >>> from memgraph_engine import Settings
    >>> compose("Where does Ana live?", [], [], 200, Settings.load().answer).text
    ''
    """
    general, taken = _fitting([_general(claim, {}) for claim in claims], int(budget * share))
    claims = claims[: len(general)]
    head_lines, more = _fitting(above, int(budget * _ABOVE) if hits else budget - _MARKS - _UNSURE_TOKENS)
    taken += more
    notes = {hit.note.id: hit.note for hit in hits}
    read = {id: (as_line(clauses[id]), "") if id in clauses else text(note, language) for id, note in notes.items()}
    chosen, gone = facts(hits, ties, read)
    if clauses:
        settings = settings.model_copy(update={"enough": settings.enough // 2})
        chosen = sorted(chosen, key=lambda fact: fact.note.id not in clauses)
    told = {place for fact in chosen for place in places(fact.note)}
    texts = {fact.note.id: _beside(told, fact.note, *read[fact.note.id]) for fact in chosen}
    order = sorted(range(len(chosen)), key=lambda at: chosen[at].rank)
    further = sorted(order[_NEAREST:], key=lambda at: not personal(chosen[at].note.role, *chosen[at].note.raw))
    order = [*order[:_NEAREST], *further]
    taken += 0 if sure else _UNSURE_TOKENS
    lengths = _lengths([chosen[at] for at in order], texts, budget - taken - _MARKS, settings)
    kept = [(chosen[at], limit) for at, limit in sorted(zip(order, lengths, strict=True)) if limit]
    left_out = {fact.note.id: "better ones took its place" for fact in chosen}
    numbers = {fact.note.id: f"[{number}]" for number, (fact, _) in enumerate(kept, 1)}
    entries = [
        _entry(number, fact, shortened(texts[fact.note.id], limit, question, language), texts[fact.note.id], numbers)
        for number, (fact, limit) in enumerate(kept, 1)
    ]
    left_out = {note: why for note, why in left_out.items() if note not in numbers}
    left_out |= {note: f"{numbers.get(by, by)} {why}" for note, (by, why) in gone.items()}
    general = [_general(claim, numbers) for claim in claims] if entries else []
    lines = [*([] if sure else [UNSURE]), *head_lines, *(entry.line for entry in entries), *general]
    marked = enclose("\n" + "\n".join(lines) + "\n") if entries or head_lines else ""
    blocks = tuple(head_lines)
    given = question, marked, tuple(entries), most_tokens(marked), budget, left_out
    return Context(*given, general=tuple(general), blocks=blocks, sure=sure)


def _beside(told: Collection[Place], note: Note, said: str, asked: str) -> str:
    """Return a note's text as it stands beside what is told of some places: a question stands there once."""
    return said + asked if any((session, turn - 1) not in told for session, turn in places(note)) else said


def _fitting(lines: Sequence[str], room: int) -> tuple[list[str], int]:
    """Return the first lines that have room, and how many tokens they may take."""
    chosen, taken = list[str](), 0
    for line in lines:
        length = most_tokens(line) + _NEW_LINE
        if taken + length > room:
            break
        chosen.append(line)
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
    mark = f" ({origin})" if (origin := marked(claim.trust)) else ""
    return f"In general, by {' '.join(cited)}{mark}: {claim.text}"


def _lengths(chosen: Sequence[Fact], texts: Mapping[str, str], room: int, settings: AnswerSettings) -> list[int]:
    """Return the tokens that each fact's text may take, 0 for one that is left out.

    What is as good as the best is told as far as there is room; anything else as long as there are not `lines`, in
    what is `enough`. What is left of this goes to those that are shortened, the best first.
    """
    best, longest = max((fact.relevance for fact in chosen), default=0.0), int(room * settings.longest)
    enough, lines, given = settings.enough, 0, list[int]()
    needs = [most_tokens(texts[fact.note.id]) for fact in chosen]
    for at, (fact, need) in enumerate(zip(chosen, needs, strict=True), 1):
        whole = any(source.kind in PASSAGES for source in fact.sources)
        wanted = min(need, max(longest, settings.line) if whole else settings.line)
        before = most_tokens(head(at, fact)) + _NEW_LINE
        free = at == 1 or fact.relevance >= max(settings.relevance, _AS_GOOD * best)
        length = min(wanted, (room if free else min(room, enough)) - before)
        if length < min(need, _LEAST_TEXT) or not (free or lines < settings.lines):
            length = 0
        else:
            room, enough, lines = room - before - length, enough - before - length, lines + 1
        given.append(length)
    for at, (need, length) in enumerate(zip(needs, given, strict=True)):
        more = min(need - length, room, max(enough, 0)) if length else 0
        given[at], room, enough = length + more, room - more, enough - more
    return given


def _entry(number: int, fact: Fact, part: str, whole: str, numbers: Mapping[str, str]) -> Cited:
    remarks = tuple(filter(None, (remark.shown(numbers) for remark in fact.remarks)))
    return Cited(number, head(number, fact, numbers) + part, fact.note, fact.sources, remarks, part != whole)
