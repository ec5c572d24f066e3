"""Where a line says what is right and denies what is wrong: "the clinic is at 14, not 41".

It needs no word of change, at any time. Both lines are about the same one, the right word stands in the place of the
wrong one, and only one of them says anything besides.
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from memgraph_engine.gate.difference import swapped
from memgraph_engine.gate.known import Line
from memgraph_engine.language.statement import Statement, statements
from memgraph_engine.language.wording import Token, stems, taken_back, words

_NOON = 12
_FEW = 3  # words of a name at most


class Update(NamedTuple):
    """What tells that a line is the present state of another, and the words of this one that are true no more.

    `former` is '' where that is all it says. `put` are the words that a repair has for these, which is not `sure` where
    they may as well be the name of whom one speaks to: "Sorry, Maria."
    """

    evidence: str
    former: str
    put: str = ""
    sure: bool = True


def contrast(new: Line, old: Line, *, at_once: bool = False) -> Update | None:
    """Return what a new line says in the place of a word of an old one, which it denies; None if it does not.

    Said `at_once`, it need not say what of: "it's at 10, not 9".

    >>> from memgraph_engine.model.memory import Source
    >>> said = ("My son lives in Porto.", "My son lives in Braga, not Porto.", "My aunt lives in Faro, not Porto.")
    >>> old, new, other = (Line(Source("1", text, "", speaker="Ana"), "english") for text in said)
    >>> contrast(new, old).put, contrast(other, old)
    ('Braga', None)
    """
    stated = [one for one in statements(new) if not one.hedged and not one.past]
    denied = [(one, pair) for one in stated for pair in taken_back(one.tokens, new.lists)]
    pairs = product(denied, statements(old) if denied else [])
    return next(filter(None, (_contrast(now, was, *pair, at_once=at_once) for (now, pair), was in pairs)), None)


def _contrast(now: Statement, was: Statement, no: Token, value: Token, *, at_once: bool) -> Update | None:
    kind, denied = value.kind, _forms(value, now)
    held = [token for token in was.own if token in was.tokens]  # without what was before
    wrong = next((token for token in reversed(held) if not denied.isdisjoint(_forms(token, was))), None)
    said = [token for token in now.body if not no.span[0] <= token.span[0] < value.span[1]]
    told = frozenset[str]().union(*(_forms(token, was) for token in was.tokens))
    # "May" is also of a closed class
    unknown = [token for token in said if (token.stem or token.date) and told.isdisjoint(_forms(token, now))]
    right = [token for token in unknown if token.kind == kind]
    parted = right and said.index(right[-1]) - said.index(right[0]) >= len(right)
    if not wrong or not right or parted or len(right) > (_FEW if kind == "name" else 1):
        return None
    more = [token for token in unknown if token not in right]
    known = stems(token for token in was.body if token is not wrong)
    # two that both tell more tell of two things; but a day is a detail of what has none
    only_one_adds = known <= now.content or not [token for token in more if was.dates or not token.date]
    adds = only_one_adds or (at_once and _only_verbs_differ(now, was, more, right[0], wrong))
    meant = now.tells_of(was, now.content, was.content) or (at_once and now.is_open(was))  # "he" is who was told of
    about = meant and (bool(known & now.content) or (at_once and kind != "word"))
    lead, led = (one.tokens[one.tokens.index(token) - 1] for one, token in ((now, right[0]), (was, wrong)))
    alike = lead.word == led.word
    named = kind == "number" and alike and lead.kind == "name"  # "Elm Street 12, not 21"
    # "lives in" and "lives near" lead to like places, "is called" does not; a number or a day may stand anywhere
    placed = {lead.plain, led.plain} <= now.lists.details or (lead is now.tokens[-1] and led is was.tokens[-1])
    if not named and not (about and adds and (kind in ("number", "date") or alike or placed)):
        return None
    put, out = now.line.words(_whole(right[0], right[-1], now.tokens)), was.line.words(_whole(wrong, wrong, was.own))
    return Update(f'The new one says "{no.written} {value.written}". {swapped(kind, {put}, {out})}', out, put)


def _only_verbs_differ(now: Statement, was: Statement, more: Sequence[Token], right: Token, wrong: Token) -> bool:
    """Tell whether both tell a value of one known thing, each behind a word of its own: "are booked for", "come at"."""
    lost = [token for token in was.body if token.stem and token is not wrong and token.stem not in now.content]
    single = len(more) <= 1 and len(lost) <= 1 and all(token.kind == "word" for token in (*more, *lost))
    before = all(token.span < right.span for token in more) and all(token.span < wrong.span for token in lost)
    return single and before and was.subject.thing and now.subject == was.subject


def _forms(token: Token, one: Statement) -> set[str]:
    """Return the forms in which a word of a statement is the same: "8pm" is 8 and 20, "8:00" is 8."""
    plain = token.plain.removesuffix(".00") if token.number else token.word
    at = one.tokens.index(token) + 1
    later = any(word in one.lists.clock and word.startswith("p") for word in words(one.tokens[at : at + 1]))
    return {plain, str(int(plain) + _NOON)} if later and plain.isdigit() and int(plain) < _NOON else {plain}


def _whole(first: Token, last: Token, tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens between two, with those that no blank parts from them: "heron42" is a word and a number."""
    start, end = tokens.index(first), tokens.index(last)
    while start and tokens[start - 1].span[1] == tokens[start].span[0]:
        start -= 1
    while end + 1 < len(tokens) and tokens[end + 1].span[0] == tokens[end].span[1]:
        end += 1
    return tokens[start : end + 1]
