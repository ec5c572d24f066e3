"""Where a new note takes an old one back: it says so, and says nothing else.

That two notes differ keeps them apart; that one replaces the other takes it out of sight. So a correction is told word
by word: without the phrase that announces it ("no longer", "actually") it is the old statement itself, or that with one
number, date or name in another's place. The old one may say a little more; whatever the new one adds makes it another
matter. What is missed stays beside what it corrects; what is hidden wrongly is not found.
"""

from collections.abc import Iterator, Sequence
from itertools import dropwhile, groupby, product
from operator import attrgetter

from memgraph_engine.gate.difference import aligned, numbers, quoted, swapped, worded
from memgraph_engine.gate.known import Line
from memgraph_engine.gate.wording import Lists, Token, lists_of, phrases_in, shown
from memgraph_engine.language import places

_Statement = tuple[Token, ...]
_SUBJECT = 2  # words with content: so far a statement tells whom it is about


def correction(new: Line, old: Sequence[Line], language: str) -> str:
    """Say how a new line takes back what the lines of an old note state, or ''.

    >>> from memgraph_engine.model.memory import Source
    >>> lines = ("I no longer eat fish.", "I eat fish with rice.")
    >>> new, old = (Line(Source("1", line, "", speaker="Ana"), "english") for line in lines)
    >>> correction(new, [old], "english")
    'The new one says "no longer" of what the old one says: "eat", "fish".'
    """
    lists = lists_of(language)
    if not new.announces:
        return ""
    whole = frozenset().union(*(line.content for line in old))
    statements = [_begun(one, lists) for line in old for one in _parted(line.tokens, "sentence")]
    stated = [one for one in statements if 2 * len(_content(one)) > len(whole)]  # a detail hides no long note
    for sentence in _parted(new.tokens, "sentence"):
        rest = [token for token in new.tokens if token.sentence != sentence[0].sentence]
        if not _doubtful(rest, lists):
            for (phrase, plain), one in product(_plain(sentence, lists), stated):
                if evidence := _takes_back(phrase, plain, one, lists):
                    return evidence
    return ""


def _parted(tokens: Sequence[Token], by: str) -> list[_Statement]:
    """Return the clauses or sentences, without questions."""
    some = (tuple(group) for _, group in groupby(tokens, key=attrgetter(by)))
    return [one for one in some if not one[0].asked]


def _content(tokens: Sequence[Token]) -> frozenset[str]:
    return frozenset(token.stem for token in tokens if token.stem)


def _plain(sentence: _Statement, lists: Lists) -> Iterator[tuple[str, _Statement]]:
    """Yield each phrase of correction in a sentence, and the clause that it speaks of without it.

    Other clauses may only go on about the same subject: "I no longer live in Rome, I moved to Bari."
    """
    idle = lists.neutral | lists.interjections
    clauses = [one for one in _parted(sentence, "clause") if any(token.plain.casefold() not in idle for token in one)]
    for place, clause in enumerate(clauses):
        words = tuple(token.plain.casefold() for token in clause)
        for phrase in (*lists.denials, *lists.corrections):
            if not (held := places(words, phrase)):
                continue
            left = tuple(token for at, token in enumerate(clause) if at not in held)
            others = clauses[:place] + clauses[place + 1 :]
            if not left and len(others) == 1:  # "Actually, the concert is in June."
                yield phrase, _begun(others[0], lists)
            elif left and all(_goes_on(one, left) and not _doubtful(one, lists) for one in others):
                yield phrase, _begun(left, lists)


def _begun(statement: _Statement, lists: Lists) -> _Statement:
    """Leave out what leads up to a statement: "Well, the ferry is late."."""
    return tuple(dropwhile(lambda token: token.plain in lists.neutral, statement))


def _goes_on(clause: _Statement, about: _Statement) -> bool:
    return clause[0].plain.casefold() == about[0].plain.casefold()


def _tells_past(tokens: Sequence[Token], lists: Lists) -> bool:
    """Tell whether it is told what was: that has no end to come."""
    return bool(phrases_in([token.plain.casefold() for token in tokens], lists.past))


def _doubtful(tokens: Sequence[Token], lists: Lists) -> bool:
    return any(token.asked or token.plain.casefold() in lists.hedges for token in tokens)


def _takes_back(phrase: str, new: _Statement, old: _Statement, lists: Lists) -> str:
    """Say what the old statement says and the new one, behind its phrase, denies or has otherwise."""
    mine, theirs = _content(new), _content(old)
    if not mine or len(mine - theirs) > 1 or 2 * len(mine) < len(theirs) or new[0].plain in lists.indefinite:
        return ""
    if any(token.plain in lists.negations for token in (*new, *old)) or _tells_past(old, lists):
        return ""
    _, blocks = aligned(new, old)
    # "my brother-in-law" is not "my brother": what the old one says more is no part of whom it is about
    if any(not put and len(_content(new[:place])) < min(_SUBJECT, len(mine)) for put, _, place in blocks):
        return ""
    more = [token for put, out, place in blocks if not put and place for token in out]
    if _doubtful(more, lists) or any(token.plain in lists.joints for token in more):
        return ""
    changed = [block for block in blocks if block[0] or not block[2]]
    says = f'The new one says "{shown(phrase)}"'
    if phrase in lists.denials:
        return "" if changed else f"{says} of what the old one says: {quoted(worded(mine, new))}."
    if len(changed) != 1 or len(changed[0][0]) != 1 or len(changed[0][1]) != 1:
        return ""
    (put,), (out,), place = changed[0]
    kind = _kind(put, out, lists)
    if not kind or (kind == "name" and (not place or new[place - 1].stem)):  # whom it is about is no detail of it
        return ""
    return f"{swapped(kind, {put.written}, {out.written})} {says}."


def _kind(one: Token, other: Token, lists: Lists) -> str:
    """Return what two words both are: a number, a date or a name; '' if they are anything else."""
    pair = [one], [other]
    if all(map(numbers, pair)):
        return "number"
    if all(word.written.casefold() in lists.dates for word in (one, other)):
        return "date"
    return "name" if all(word.written[0].isupper() and word.stem and not word.opens for word in (one, other)) else ""
