"""Where somebody puts right what he has just said ("Sorry, Wednesday at 7."): it repairs the statement before it.

A repair is seldom a whole statement. It follows at once, may have an editing term ("sorry", "I meant"), and then has
the right word for the wrong one (W. Levelt, "Monitoring and self-repair in speech", Cognition 14, 1983). So it shares
no words with what it repairs, and is told by its place: behind the statement, in one session, by the same one. A clause
of it has nothing but a value, and what it repairs has one of the same kind.

Without an editing term only a slip is repaired: what looks much like the wrong value, as "221" does like "212".
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import groupby
from operator import attrgetter

from memgraph_engine.gate.difference import dates, quoted
from memgraph_engine.gate.known import Line
from memgraph_engine.gate.update import Update
from memgraph_engine.gate.wording import Lists, Token, lists_of

REACH = 2
"""Messages that a repair may come after what it repairs: an assistant may have answered between."""
_BRIEF = 6  # words of a message that may be a repair without an editing term
_SLIP = 0.6  # share of the letters in the same order from which two values may be one that was mistyped
_SHORT = 3  # letters of which a value has as many at least, or it looks like many others
_FEW = 3  # words that are put in another's place at most
_UNIT = 3  # letters that a unit, or what makes a number an ordinal one, is shorter than: "pm", "nd"
_DIGIT = re.compile(r"\d")


def may_repair(line: Line) -> bool:
    """Tell whether a line may repair what was said right before: a user's that has an editing term, or is brief."""
    return line.role != "assistant" and not line.long and (len(line.tokens) <= _BRIEF or bool(line.editing))


def repair(new: Line, old: Line, language: str) -> Update | None:
    """Say how a new line repairs the one that its speaker said right before; None if it does not.

    >>> from memgraph_engine.model.memory import Source
    >>> said = (("my flight leaves at 6:40 on Sunday", 0), ("ugh, misread the ticket, it's 8:15", 2))
    >>> old, new = (Line(Source("1", text, "", speaker="Ana", session="s1", seq=seq), "english") for text, seq in said)
    >>> repair(new, old, "english").former
    '6:40'
    """
    if not new.follows(old, REACH) or not may_repair(new) or old.role == "assistant" or old.long:
        return None
    lists = lists_of(language)
    terms = new.editing
    held = frozenset[int]().union(*terms.values())
    clauses = _clauses(new, held, lists)
    found = next(filter(None, (_value(one, old.tokens, lists, edited=bool(terms)) for one in clauses)), None)
    if not found and any(lists.edits.get(term, "+") == "+" for term in terms):
        found = next(filter(None, (_word(one, old.tokens, lists) for one in clauses)), None)
    if not found:
        return None
    put, out = found
    gone = old.words(out)
    term = min(terms, key=lambda term: min(terms[term]), default="").replace("_", " ")
    says = f'The new one says "{term}" right behind it.' if term else "It comes right behind it, and is much like it."
    return Update(f"{says} It has {quoted([put])}, not {quoted([gone])}.", gone)


def _clauses(line: Line, terms: frozenset[int], lists: Lists) -> list[Sequence[Token]]:
    """Return the clauses that state something, without editing terms: those behind the first term before the others."""
    first = line.tokens[min(terms)].clause if terms else 0
    rest = [token for at, token in enumerate(line.tokens) if at not in terms and not token.asked]
    clauses = [list(group) for _, group in groupby(rest, key=attrgetter("clause"))]
    stated = [one for one in clauses if lists.hedges.isdisjoint(_plain(one))]
    return sorted(stated, key=lambda one: one[0].clause < first)


_Found = tuple[str, Sequence[Token]]


def _value(clause: Sequence[Token], old: Sequence[Token], lists: Lists, *, edited: bool) -> _Found | None:
    """Return the values that are all of a clause, and the words of an old line that have others of their kinds."""
    told, stems = [token for token in clause if token.stem], {token.stem for token in old}
    mine = {kind: _of_kind(kind, told, lists, opens=edited) for kind in _KINDS}
    values = [token for some in mine.values() for token in some]
    if any(one not in values and one.stem not in stems and len(one.written) >= _UNIT for one in told):
        return None
    found: list[tuple[Sequence[Token], Sequence[Token]]] = []
    for kind, some in mine.items():
        theirs = _of_kind(kind, old, lists)
        put = [token for token in some if token.plain not in _plain(theirs)]
        out = [token for token in theirs if token.plain not in _plain(some)]
        slips = [token for token in out if put and _slip(put[0], token)][:1]
        alike = [token for token in out if put and (kind != "number" or _shape(token) == _shape(put[0]))]
        if put and ((kind == "name" and not out) or (not edited and (found or not slips or len(put) > 1))):
            return None  # it is about somebody else, or tells another thing besides
        if slips or 0 < len(_plain(alike)) <= len(put):
            found.append((put, slips or alike))
    parts = [[token for some in side for token in some] for side in zip(*found, strict=True)]
    return (_text(parts[0]), parts[1]) if parts else None


def _word(clause: Sequence[Token], old: Sequence[Token], lists: Lists) -> _Found | None:
    """Return the new words that are all of a clause, and the one of an old line that they most likely replace."""
    stems = {token.stem for token in old}
    put = [token for token in clause if token.stem]
    valued = any(_of_kind(kind, put, lists) for kind in _KINDS)
    if valued or not 0 < len(put) <= _FEW or any(token.stem in stems for token in put):
        return None
    stated = [token for token in old if token.stem and not token.asked and token.plain not in lists.times]
    common = [token for token in stated if token.written.islower()]
    slips = [token for token in common if _slip(put[-1], token)]
    return (_text(put), (slips or common)[-1:]) if common else None


_KINDS = ("number", "date", "name")


def _of_kind(kind: str, tokens: Sequence[Token], lists: Lists, *, opens: bool = False) -> list[Token]:
    """Return the numbers, the days and months, or the names; `opens`: also one that a sentence opens with."""
    if kind == "number":
        return [token for token in tokens if token.number]
    if kind == "date":
        return [token for token in tokens if dates([token], lists)]
    capital = (token for token in tokens if token.stem and token.written[0].isupper() and (opens or not token.opens))
    return [token for token in capital if token.written.casefold() not in lists.dates and not token.number]


def _shape(token: Token) -> str:
    """Return a number with all digits alike: "18:40" is of a kind with "16:25", not with "1"."""
    return _DIGIT.sub("0", token.plain)


def _slip(one: Token, other: Token) -> bool:
    """Tell whether one may be the other, mistyped."""
    new, old = one.plain.casefold(), other.plain.casefold()
    return min(len(new), len(old)) >= _SHORT and SequenceMatcher(None, new, old).ratio() >= _SLIP


def _plain(tokens: Sequence[Token]) -> set[str]:
    return {token.plain for token in tokens}


def _text(tokens: Sequence[Token]) -> str:
    return " ".join(token.written for token in sorted(tokens, key=attrgetter("span")))
