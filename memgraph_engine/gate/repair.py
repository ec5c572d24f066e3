"""Where somebody puts right what he has just said ("Sorry, Wednesday at 7."): it repairs the statement before it.

A repair is seldom a whole statement. It follows at once, has an editing term ("sorry", "I meant"), and then has
the right word for the wrong one (W. Levelt, "Monitoring and self-repair in speech", Cognition 14, 1983). So it shares
no words with what it repairs, and is told by its place: behind the statement, in one session, by the same one. A clause
of it has nothing but a value, and what it repairs has one of the same kind.

Without an editing term nothing is repaired, however much two values look alike: lists and other people's numbers do.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from operator import attrgetter

from memgraph_engine.gate.difference import dates, quoted
from memgraph_engine.gate.known import Line
from memgraph_engine.gate.update import Update
from memgraph_engine.gate.wording import Lists, Token, lists_of, shown, wording

REACH = 2
"""Messages that a repair may come after what it repairs: an assistant may have answered between."""
_SLIP = 0.6  # share of the letters in the same order from which two values may be one that was mistyped
_SHORT = 3  # letters of which a value has as many at least, or it looks like many others
_ELLIPTIC = 4  # words of a question that goes on from what was said: "And Ben's?"
_FEW = 3  # words that are put in another's place at most
_ANY, _ERROR, _WEAK = "+!-"  # editing terms: enough for any word, telling an error, often of other use ("sorry")
_UNIT = 3  # letters that a unit, or what makes a number an ordinal one, is shorter than: "pm", "nd"
_DIGIT = re.compile(r"\d")


def may_repair(line: Line) -> bool:
    """Tell whether a line may repair what was said right before: a user's that has an editing term."""
    return line.role != "assistant" and not line.long and bool(line.editing)


def asks_for_value(text: str, language: str) -> bool:
    """Tell whether a turn asks for a value: then what follows is an answer, though it begins with an apology.

    >>> asks_for_value("Shall I remind you?", "english"), asks_for_value("What's your cat called?", "english")
    (False, True)
    >>> asks_for_value("Got it. And Ben's?", "english")
    True
    """
    lists = lists_of(language)
    tokens = (token for token in wording(text, language) if token.asked)
    questions = ([token.plain.casefold() for token in some] for _, some in groupby(tokens, key=attrgetter("sentence")))
    return any(
        not lists.values_asked.isdisjoint(one) or (one[0] in lists.joints and len(one) <= _ELLIPTIC)
        for one in questions
    )


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
    for term, kind, clauses in _terms(new, lists):
        found = next(filter(None, (_value(one, old.tokens, lists) for one in clauses)), None)
        if not found and kind == _ANY:
            found = next(filter(None, (_word(one, old.tokens, lists) for one in clauses[:1])), None)
        if found:
            put, out = found
            gone = old.words(out)
            says = f'The new one says "{shown(term)}" right behind it.'
            return Update(f"{says} It has {quoted([put])}, not {quoted([gone])}.", gone)
    return None


def _terms(line: Line, lists: Lists) -> Iterator[tuple[str, str, Sequence[Sequence[Token]]]]:
    """Yield each editing term with its kind and the clauses that may have the right words, the likeliest first.

    It begins its clause ("can't wait" is none), unless it tells an error. What stands behind it there is meant; where
    that is nothing, the clauses behind it, or the one before ("It's blue, sorry."); and behind a term that tells an
    error also what else is said.
    """
    held = frozenset[int]().union(*line.editing.values())
    others = [(at, token) for at, token in enumerate(line.tokens) if at not in held]
    for term, places in sorted(line.editing.items(), key=lambda one: min(one[1])):
        kind = lists.edits.get(term, _ANY)
        first, clause = min(places), line.tokens[min(places)].clause
        before = [token for at, token in others if token.clause == clause and at < first]
        led = any(token.stem for token in before) and kind != _ERROR
        if line.tokens[first].asked or led or any(token.plain in lists.negations for token in before):
            continue
        rest = [token for at, token in others if token.clause == clause and at > first]
        alone = not any(token.stem for token in rest)
        behind = [token for _, token in others if token.clause > clause]
        earlier = _stated([token for _, token in others if token.clause < clause], lists)
        if kind == _WEAK and rest and rest[0].plain in lists.details:
            continue  # "sorry for Bochum"
        later = _stated(behind, lists) if alone or kind != _WEAK else []
        yield term, kind, [*_stated(rest, lists), *later, *(earlier[-1:] if alone else [])]


def _stated(tokens: Sequence[Token], lists: Lists) -> list[Sequence[Token]]:
    """Return the clauses that state something."""
    clauses = [list(group) for _, group in groupby(tokens, key=attrgetter("clause"))]
    return [one for one in clauses if not one[0].asked and lists.hedges.isdisjoint(_plain(one))]


_Found = tuple[str, Sequence[Token]]
"""The right words, and the wrong ones."""


def _value(clause: Sequence[Token], old: Sequence[Token], lists: Lists) -> _Found | None:
    """Return the values that are all of a clause, and the words of an old line that have others of their kinds."""
    told, stems = [token for token in clause if token.stem], {token.stem for token in old}
    names = [token for token in old if token.stem and token.written[0].isupper()]
    slipped = [token for token in told if any(_slip(token, name) for name in names)]
    mine = {kind: _of_kind(kind, told, lists, slipped) for kind in _KINDS}
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
        if put and kind == "name" and not out:
            return None  # it is about somebody else
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


def _of_kind(kind: str, tokens: Sequence[Token], lists: Lists, names: Sequence[Token] = ()) -> list[Token]:
    """Return the numbers, the days and months, or the names; `names` are some though a sentence opens with them."""
    if kind == "number":
        return [token for token in tokens if token.number]
    if kind == "date":
        return [token for token in tokens if dates([token], lists)]
    capital = [token for token in tokens if token.stem and token.written[0].isupper()]
    named = (token for token in capital if not token.opens or token in names)
    return [token for token in named if token.written.casefold() not in lists.dates and not token.number]


def _shape(token: Token) -> str:
    """Return a number with all digits alike: "18:40" is of a kind with "16:25", not with "1"."""
    return _DIGIT.sub("0", token.plain)


def _slip(one: Token, other: Token) -> bool:
    """Tell whether one may be the other, mistyped: not where it begins with the other, as "Melanie" does with "Mel"."""
    new, old = one.plain.casefold(), other.plain.casefold()
    if new.startswith(old) or old.startswith(new):
        return False
    return min(len(new), len(old)) >= _SHORT and SequenceMatcher(None, new, old).ratio() >= _SLIP


def _plain(tokens: Sequence[Token]) -> set[str]:
    return {token.plain for token in tokens}


def _text(tokens: Sequence[Token]) -> str:
    return " ".join(token.written for token in sorted(tokens, key=attrgetter("span")))
