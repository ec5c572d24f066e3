"""Where a line says what is right and denies what is wrong: "the clinic is at 14, not 41".

Who names the very word that is wrong needs no word of change, and need not say it at once. What it is wrong in is told
by the rest: both are about the same one, the right word stands in the place of the wrong one, and only one of them says
anything besides. "My cousin lives in Braga, not Porto" says nothing about the brother in Porto.
"""

from collections.abc import Collection, Sequence
from itertools import pairwise, product
from typing import NamedTuple

from memgraph_engine.gate.difference import swapped
from memgraph_engine.gate.known import Line
from memgraph_engine.gate.statement import Statement, Subject, statements
from memgraph_engine.gate.wording import Lists, Token, dates, lists_of, taken_back

_NOON = 12
_FEW = 3  # words of a name at most


class Contrast(NamedTuple):
    """The right words, the negation of the wrong one as it is written, this one in the old line, and what both are."""

    right: str
    denial: str
    wrong: Sequence[Token]
    kind: str

    @property
    def evidence(self) -> str:
        """What tells it."""
        return swapped(self.kind, {self.right}, {_written(self.wrong)})


def contrast(new: Line, old: Line, language: str, *, at_once: bool = False) -> Contrast | None:
    """Return what a new line says in the place of a word of an old one, which it denies; None if it does not.

    Said `at_once`, it need not say what of: "it's at 10, not 9".

    >>> from memgraph_engine.model.memory import Source
    >>> said = ("My son lives in Porto.", "My son lives in Braga, not Porto.", "My aunt lives in Faro, not Porto.")
    >>> old, new, other = (Line(Source("1", text, "", speaker="Ana"), "english") for text in said)
    >>> contrast(new, old, "english").right, contrast(other, old, "english")
    ('Braga', None)
    """
    lists = lists_of(language)
    stated = [one for one in statements(new, lists) if not one.hedged and not one.past]
    denied = [(one, pair) for one in stated for pair in taken_back(one.tokens, lists)]
    known = statements(old, lists) if denied else []
    pairs = ((now, was, pair) for (now, pair), was in product(denied, known))
    return next(filter(None, (_contrast(*pair, lists, at_once=at_once) for pair in pairs)), None)


def _contrast(
    now: Statement, was: Statement, denied: tuple[Token, Token], lists: Lists, *, at_once: bool
) -> Contrast | None:
    no, value = denied
    kind = kind_of(value, lists)
    wrong = next((token for token in reversed(was.own) if _same(token, value, was.own, now.tokens, lists)), None)
    said = [token for token in now.body if not no.span[0] <= token.span[0] < value.span[1]]
    telling = [token for token in said if token.stem or dates([token], lists)]  # "May" is also of a closed class
    unknown = [
        token for token in telling if not any(_same(token, one, now.tokens, was.tokens, lists) for one in was.tokens)
    ]
    right = [token for token in unknown if kind_of(token, lists) == kind]
    parted = right and said.index(right[-1]) - said.index(right[0]) >= len(right)
    if not wrong or not right or parted or len(right) > (_FEW if kind == "name" else 1):
        return None
    more = [token for token in unknown if token not in right]
    known = {token.stem for token in was.body if token.stem and token is not wrong}
    leads = _before(right[0], now.tokens), _before(wrong, was.tokens)
    adds = _only_one_adds(more, known - now.content, was, lists) or (
        at_once and _only_verbs_differ(now, was, (more, right[0]), wrong, lists)
    )
    told = _told_alike(leads, kind, lists) and adds
    about = _meant(now, was, at_once=at_once) and (bool(known & now.content) or (at_once and kind != "word"))
    if not (told and about) and not _named_alike(leads, kind, lists):
        return None
    denial = f"{no.written} {value.written}"
    return Contrast(_written(_whole(right, now.tokens)), denial, _whole([wrong], was.own), kind)


def _meant(now: Statement, was: Statement, *, at_once: bool) -> bool:
    """Tell whether both are about the same one. Said at once, "he" and "it" are who or what was told of."""
    left_open = now.subject in (Subject(), Subject(other=not was.subject.speaker))
    return now.tells_of(was, now.content, was.content) or (at_once and left_open)


def _only_one_adds(mine: Sequence[Token], theirs: Collection[str], was: Statement, lists: Lists) -> bool:
    """Tell whether only one tells more than the other: two that both do tell of two things.

    A day is a detail of what has none.
    """
    return not theirs or not [token for token in mine if was.dates or not dates([token], lists)]


def _alike(one: Token, other: Token) -> bool:
    return one.plain.casefold() == other.plain.casefold()


def _only_verbs_differ(
    now: Statement, was: Statement, added: tuple[Sequence[Token], Token], wrong: Token, lists: Lists
) -> bool:
    """Tell whether both tell a value of one known thing, each behind a word of its own: "are booked for", "come at"."""
    more, right = added
    lost = [token for token in was.body if token.stem and token is not wrong and token.stem not in now.content]
    words = len(more) <= 1 and len(lost) <= 1 and all(kind_of(token, lists) == "word" for token in (*more, *lost))
    before = all(token.span < right.span for token in more) and all(token.span < wrong.span for token in lost)
    return words and before and was.subject.thing and now.subject == was.subject


def _same(one: Token, other: Token, its: Sequence[Token], others: Sequence[Token], lists: Lists) -> bool:
    """Tell whether two words are one, or two numbers one hour: "8am" and "8:00"; `its` and `others` are around them."""
    if one.number and other.number:
        return not _hours(one, its, lists).isdisjoint(_hours(other, others, lists))
    return _alike(one, other)


def _hours(number: Token, around: Sequence[Token], lists: Lists) -> set[str]:
    """Return what a number may be written as: "8pm" is 8 and 20, "8:00" is 8."""
    plain = number.plain.removesuffix(".00")
    at = around.index(number)
    clock = [token.plain.casefold() for token in around[at + 1 : at + 2]]
    later = clock[0] in lists.clock and clock[0].startswith("p") if clock else False
    return {plain, str(int(plain) + _NOON)} if later and plain.isdigit() and int(plain) < _NOON else {plain}


def kind_of(token: Token, lists: Lists) -> str:
    """Return what kind of value a word is."""
    if token.number:
        return "number"
    if dates([token], lists):
        return "date"
    return "name" if token.written[0].isupper() and not token.opens else "word"


def _before(token: Token, tokens: Sequence[Token]) -> Token | None:
    return tokens[at - 1] if (at := tokens.index(token)) else None


_Leads = tuple[Token | None, Token | None]


def _told_alike(leads: _Leads, kind: str, lists: Lists) -> bool:
    """Tell whether two values stand in like places: behind "lives in" and "lives near", but not behind "is called".

    A number or a day stands for another one wherever it is told.
    """
    one, other = leads
    if kind in ("number", "date") or not one or not other:
        return kind in ("number", "date") or one is other
    return _alike(one, other) or {one.plain, other.plain} <= lists.details


def _named_alike(leads: _Leads, kind: str, lists: Lists) -> bool:
    """Tell whether two numbers are of one name, which tells what they are of: "Elm Street 12, not 21"."""
    one, other = leads
    return kind == "number" and bool(one and other and _alike(one, other) and kind_of(one, lists) == "name")


def _whole(some: Sequence[Token], tokens: Sequence[Token]) -> Sequence[Token]:
    """Return some tokens with those that no blank parts from them: "heron42" is a word and a number."""
    first, last = tokens.index(some[0]), tokens.index(some[-1])
    while first and tokens[first - 1].span[1] == tokens[first].span[0]:
        first -= 1
    while last + 1 < len(tokens) and tokens[last + 1].span[0] == tokens[last].span[1]:
        last += 1
    return tokens[first : last + 1]


def _written(tokens: Sequence[Token]) -> str:
    blanks = ["" if one.span[1] == after.span[0] else " " for one, after in pairwise(tokens)]
    return "".join(token.written + blank for token, blank in zip(tokens, [*blanks, ""], strict=True))
