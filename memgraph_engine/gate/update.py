"""Where a new note tells the present state of what an old one tells: true until then, and not since.

Nobody says "actually" when life goes on: "I have 14 plants." becomes "… so I've got 17 plants now." Two things tell it.
The words of change ("now", "instead", "postponed") presuppose that it was otherwise; such words are a closed class. And
the two have the same frame with another value in it: who and what they tell of is the same, a number, a date, a name, a
feeling or one other thing is not. Neither does by itself: much is new now, and a person may have two of anything.

An update hides nothing: what is taken for one wrongly can still be read.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise, takewhile
from operator import attrgetter
from typing import NamedTuple
from weakref import WeakKeyDictionary

from memgraph_engine.gate.correction import places
from memgraph_engine.gate.difference import aligned, dates, names, numbers, quoted, swapped
from memgraph_engine.gate.known import Line
from memgraph_engine.gate.wording import Lists, Token, lists_of

_HEAD = 3  # tokens with which both tell whose state it is: "my office is"
_ALIKE = 0.5  # share of tokens from which one word in another's place tells of another thing; below, of other wording
_BRIEF = 3  # content words of a clause that says no more than that something is over


class Update(NamedTuple):
    """What tells that a line is the present state of another, and the words of this one that are true no more.

    `former` is '' where that is all it says.
    """

    evidence: str
    former: str


def update(new: Line, old: Line, language: str) -> Update | None:
    """Say how a new line tells the present state of what an old one tells; None if it does not.

    >>> from memgraph_engine.model.memory import Source
    >>> said = ("Elsa has 14 plants and Jip is 4.", "bought three more, so Elsa's got 17 plants now")
    >>> old, new = (Line(Source("1", text, "", speaker="Ana"), "english") for text in said)
    >>> update(new, old, "english")
    Update(evidence='The new one says "now". They differ in a number: "17", not "14".', former='Elsa has 14 plants')
    """
    lists = lists_of(language)
    if new.long or old.long or lists.telling.isdisjoint(new.forms) or "assistant" in (new.role, old.role):
        return None
    if new.content.isdisjoint(old.content):
        return None
    for told in _statements(new, lists):
        known = _statements(old, lists) if told.tells and not told.hedged else ()
        pairs = [_Pair(told, was, new, old, lists) for was in known if told.content & was.content]
        for pair in sorted(pairs, key=lambda pair: pair.distance):
            if evidence := pair.evidence:
                return Update(evidence, _former(told, pair.was, new, old, lists))
    return None


def _former(told: "_Statement", was: "_Statement", new: Line, old: Line, lists: Lists) -> str:
    """Return the words of an old line that are true no more, beginning with what `told` tells of `was`; '' for all.

    Who tells that one thing has changed tells the rest as it is now: "Elsa is 8 and Jip is 5 now."
    """
    rest = [one for one in _statements(new, lists) if one is not told and one.single and not one.hedged]
    gone = [
        one
        for one in _statements(old, lists)
        if one is was or (one.single and any(_Pair(now, one, new, old, lists).exchange for now in rest))
    ]
    tokens = [token for one in gone for token in one.about(told)]
    left = any(token.stem and not token.asked and token not in tokens for token in old.tokens)
    return old.words(tokens) if left else ""


class _Statement:
    """A clause of a line, or a sentence of several: what it tells without its words of change."""

    def __init__(self, clauses: Sequence[Sequence[Token]], line: Line, lists: Lists) -> None:
        self.clauses = clauses
        tokens = [token for clause in clauses for token in clause]
        self._lists, self._words = lists, tuple(token.plain.casefold() for token in tokens)
        # "a new cat" is one more; "my new boss" is another one
        found = {
            phrase: held
            for phrase, held in self._found(lists.changing).items()
            if lists.indefinite.isdisjoint(self._words[min(held) - 1 : min(held)])
        }
        self.tokens = tokens
        self.changes = tuple(found)
        self.tells = not lists.telling.isdisjoint(self._words)
        self.hedged = not lists.hedges.isdisjoint(self._words)
        changing = frozenset[int]().union(*found.values())
        self.body = tuple(token for at, token in enumerate(tokens) if at not in changing)
        self.content = frozenset(token.stem for token in self.body if token.stem)
        self._speaker = frozenset(line.speaker.split())

    @property
    def single(self) -> bool:
        """Whether it is one clause."""
        return len(self.clauses) == 1

    @cached_property
    def written(self) -> frozenset[str]:
        """Its words, as they are written."""
        return frozenset(token.written for token in self.body)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The numbers in it."""
        return frozenset(numbers(self.body))

    @cached_property
    def dates(self) -> frozenset[tuple[str, str]]:
        """The dates in it, by kind."""
        return frozenset(dates(self.body, self._lists))

    @cached_property
    def names(self) -> frozenset[str]:
        """The names in it, without the speaker's."""
        return frozenset(names(self.body, self._lists)) - self._speaker

    def _found(self, phrases: Mapping[str, Sequence[str]]) -> dict[str, frozenset[int]]:
        """Return which of some phrases, given by their last words, are in it, and where; the longest first."""
        some = (phrase for word in dict.fromkeys(self._words) for phrase in phrases.get(word, ()))
        longest = sorted(some, key=lambda phrase: (-len(phrase), phrase))
        return {phrase: held for phrase in longest if (held := places(self._words, phrase))}

    @cached_property
    def denies(self) -> bool:
        """Whether it holds a negation, beside one that belongs to its words of change."""
        return any(token.plain in self._lists.negations for token in self.body)

    @cached_property
    def counted(self) -> frozenset[str]:
        """The stems of what it counts."""
        pairs = ((one.plain, after.stem) for one, after in pairwise(self.body) if one.plain[0].isdigit())
        return frozenset(stem for _, stem in pairs if stem) - self._lists.times

    @cached_property
    def subject(self) -> str:
        """The stem of whose or what thing it tells, '' if it does not begin with that: "my office"."""
        if len(self.body) < 2 or self.body[0].plain.casefold() not in self._lists.determiners:
            return ""
        led = takewhile(lambda token: token is not self.body[0], self.tokens)
        return "" if any(token.stem for token in led) else self.body[1].stem

    @cached_property
    def feeling(self) -> tuple[str, bool, frozenset[str]] | None:
        """How the speaker feels about what: the words, whether that is well, and the stems of what it is about."""
        for phrase, held in self._found(self._lists.feeling).items():
            before = self.tokens[: min(held)]
            if not self._lists.first_person.isdisjoint(self._words[: min(held)]):
                denied = any(token.plain in self._lists.negations for token in before)
                about = frozenset(token.stem for token in self.tokens[max(held) + 1 :] if token.stem)
                return phrase, (self._lists.attitudes[phrase] == "+") != denied, about
        return None

    def about(self, other: "_Statement") -> Sequence[Token]:
        """Return what of a sentence another statement may speak of: the clauses that share a word, or hold a value."""
        values = self.numbers | self.names
        clauses = (
            clause
            for clause in self.clauses
            if any(
                token.stem in other.content or not values.isdisjoint((token.plain, token.written)) for token in clause
            )
        )
        return [token for clause in clauses for token in clause]

    def frame(self, values: frozenset[str]) -> frozenset[str]:
        """Return the stems of what it tells of, without the values and the times."""
        return _timeless((t for t in self.body if t.plain not in values and t.written not in values), self._lists)


@dataclass(frozen=True)
class _Pair:
    """A statement of the new line beside one of the old line."""

    now: _Statement
    was: _Statement
    new: Line
    old: Line
    lists: Lists

    @property
    def evidence(self) -> str:
        """What tells that the new one is the present state of the old one, or ''."""
        if not self._same_subject:
            return ""
        said = next(iter(self.now.changes), "") or self._denied_value
        found = said and (self.exchange or self._end)
        if found:
            return f'The new one says "{said.replace("_", " ").replace("~", " … ")}". {found}'
        return self._turn

    @property
    def distance(self) -> tuple[bool, bool, float]:
        """Orders the clauses of one line by how likely a new one speaks of each; whole sentences come last.

        It speaks of whom it names first, else of what it shares most with.
        """
        first = next((token.written for token in self.now.body), "")
        named = first in {token.written for token in self.was.body if token.stem}
        same_day = len(self.now.dates & self.was.dates)
        return not self.was.single, not named, -same_day - len(self._shared) / max(len(self._frames[1]), 1)

    @property
    def exchange(self) -> str:
        """What of the old one the new one has another value of, whether or not it speaks of a change; or ''."""
        if not self._same_subject or self._another:
            return ""
        return self._swap or self._head or self._slot

    @property
    def _same_subject(self) -> bool:
        """Whether what each begins with is known to the other line, or both tell of the same name."""
        known = {"", *self.old.content} >= {self.now.subject} and {"", *self.new.content} >= {self.was.subject}
        return known or bool(self.now.names & self.was.names)

    @property
    def _denied_value(self) -> str:
        """What the new one takes back of the old one's values: "8, not 7"."""
        values = self.was.numbers | self.was.names
        pairs = pairwise(self.now.tokens)
        denied = (pair for pair in pairs if pair[0].plain in self.lists.negations and pair[1].plain in values)
        return next((f"{no.plain} {value.written}" for no, value in denied), "")

    @property
    def _another(self) -> bool:
        """Whether a number is another one of another thing: "20 mg of statins" is no news of "10 mg of ramipril"."""
        if not swapped("number", self.now.numbers, self.was.numbers):
            return False
        ratio, blocks = aligned(self.now.body, self.was.body)
        told = ((self._told(put), self._told(out)) for put, out, _ in blocks)
        return ratio > _ALIKE and any(mine and theirs and mine != theirs for mine, theirs in told)

    def _told(self, side: Sequence[Token]) -> frozenset[str]:
        """Return the stems of a block without numbers and times."""
        return _timeless((token for token in side if not numbers([token])), self.lists)

    @cached_property
    def _shared(self) -> frozenset[str]:
        return self._frames[0] & self._frames[1]

    @cached_property
    def _frames(self) -> tuple[frozenset[str], frozenset[str]]:
        now, was = self.now, self.was
        return (
            now.frame(now.numbers - was.numbers | now.names - was.written),
            was.frame(was.numbers - now.numbers | was.names - now.written),
        )

    @property
    def _swap(self) -> str:
        """Tell a number, a date or a name of the same matter in another's place."""
        mine, theirs = self._frames
        known = len(self._shared) > 1 or mine <= self.old.content or self.now.counted & self.was.counted
        if not self._shared or not known or 2 * len(self._shared) < max(len(mine), min(len(mine), len(theirs))):
            return ""
        kinds = sorted({kind for kind, _ in self.now.dates | self.was.dates})
        days = (
            swapped("date", *({value for k, value in one.dates if k == kind} for one in (self.now, self.was)))
            for kind in kinds
        )
        stays = {one for one in self.now.numbers if self._denied_value.endswith(f" {one}")}
        return (
            swapped("number", self.now.numbers - stays, self.was.numbers)
            or next(filter(None, days), "")
            or (
                ""
                if any(map(self._object, self.now.names - self.was.names))
                else swapped("name", self.now.names, self.was.names)
            )
        )

    def _object(self, value: str) -> bool:
        """Tell whether a value is what somebody does something with: then there may be several.

        Nothing but words with content leads to it ("I speak Dutch now."), or a word like "to" and "with" ("I'm
        allergic to pollen now."). Behind another word ("in", "a", "is called") is where, what or who somebody is.
        """
        led = list(takewhile(lambda token: token.written != value, self.now.body))
        closed = any(token.written.islower() and not token.stem for token in led[1:])
        several = bool(led) and led[-1].plain.casefold() in self.lists.several
        return several or (bool(led) and bool(led[-1].stem) and not closed)

    @property
    def _head(self) -> str:
        """Tell the same thing in another state: "my office is"."""
        pairs = zip(self.now.body, self.was.body, strict=False)
        same = takewhile(lambda pair: pair[0].plain.casefold() == pair[1].plain.casefold(), pairs)
        head = [token for token, _ in same]
        if len(head) < _HEAD or not self.now.subject or head[-1].stem or self.now.denies or self.was.denies:
            return ""
        rest = [body[len(head) :] for body in (self.now.body, self.was.body)]
        unique = sum(bool(token.stem) for token in head) > 1  # "my favourite colour"
        if not all(rest) or not (unique or all(map(self._placed, rest)) or all(map(self._code, rest))):
            return ""
        return f"Both tell what is of {quoted([' '.join(token.written for token in head)])}."

    def _placed(self, side: Sequence[Token]) -> bool:
        """Tell whether a place or time is told: it begins with a word of a closed class that is no article."""
        return not side[0].stem and not {side[0].plain.casefold()} <= self.lists.determiners | self.lists.indefinite

    def _code(self, side: Sequence[Token]) -> bool:
        """Tell whether an address or the like is told, which is no word: "ana@harbour.pt"."""
        return any(not token.plain[0].isalnum() or token.plain[0].isdigit() for token in side)

    @property
    def _slot(self) -> str:
        """Tell one thing in another's place, and nothing else that differs."""
        now, was = self.now.body, self.was.body
        blocks = [(put, out) for put, out, _ in aligned(now, was)[1]]
        # whoever likes one thing now may like the other as well
        if not self._shared or self.now.feeling or len(blocks) != 1 or not all(map(self._one, blocks[0])):
            return ""
        if bool(numbers(blocks[0][0])) != bool(numbers(blocks[0][1])):  # "34" is no other thing than "pregnant"
            return ""
        put, out = (" ".join(token.written for token in side) for side in blocks[0])
        return "" if self._object(put) else f"They differ in {quoted([put])}, not {quoted([out])}."

    def _one(self, side: Sequence[Token]) -> bool:
        return len(side) == 1 and bool(side[0].stem) and side[0].stem not in self.lists.times

    @property
    def _end(self) -> str:
        """Tell that what the old one tells of is over: "we cancelled Crete"."""
        over, was_over = (not self.lists.endings.isdisjoint(one.changes) for one in (self.now, self.was))
        mine = self._frames[0]
        if (
            not over
            or was_over
            or self.was.denies
            or self.now.denies
            or not mine
            or not mine <= self.was.content
            or len(self.now.content) > _BRIEF
        ):
            return ""
        named = any(token.stem in mine and token.written in self.was.names for token in self.was.body)
        return f"So is {quoted(mine)} no more." if len(mine) > 1 or named else ""

    @property
    def _turn(self) -> str:
        """Tell another feeling about the same thing."""
        now, was = self.now.feeling, self.was.feeling
        if not now or not was or now[1] == was[1]:
            return ""
        shared = now[2] & was[2]
        if not shared or 2 * len(shared) < max(len(now[2]), len(was[2])):
            return ""
        words = (quoted([phrase.replace("_", " ")]) for phrase, *_ in (now, was))
        return f"They differ in how {quoted(shared)} is liked: {', not '.join(words)}."


def _timeless(tokens: Iterable[Token], lists: Lists) -> frozenset[str]:
    """Return the stems of tokens without those of dates and times."""
    return frozenset(t.stem for t in tokens if t.stem and t.written.casefold() not in lists.dates) - lists.times


_KEPT: "WeakKeyDictionary[Line, Sequence[_Statement]]" = WeakKeyDictionary()
"""The statements of lines that are being judged: a line is held against many, and nothing of it outlives it."""


def _statements(line: Line, lists: Lists) -> Sequence[_Statement]:
    """Return the clauses of a line that state something, and behind them each sentence of several."""
    if (kept := _KEPT.get(line)) is not None:
        return kept
    stated = list(_stated(line, lists))
    groups = (list(group) for _, group in groupby(stated, key=lambda clause: clause[0].sentence))
    parts = [*([clause] for clause in stated), *(clauses for clauses in groups if len(clauses) > 1)]
    found = _KEPT[line] = [_Statement(clauses, line, lists) for clauses in parts]
    return found


def _stated(line: Line, lists: Lists) -> Iterator[list[Token]]:
    """Yield the clauses without those that ask: of a sentence that ends in a question this is its last."""
    clauses = list(_clauses(line, lists))
    for place, clause in enumerate(clauses):
        last = place + 1 == len(clauses) or clauses[place + 1][0].sentence != clause[0].sentence
        if not clause[0].asked or not (last or clause[0].plain.casefold() in lists.questions):
            yield clause


def _clauses(line: Line, lists: Lists) -> Iterator[list[Token]]:
    """Yield the clauses, which also end before a word behind which stands another matter: "and", "so"."""
    for _, group in groupby(line.tokens, key=attrgetter("clause")):
        clause: list[Token] = []
        for token in group:
            if token.plain.casefold() in lists.joints:
                if clause:
                    yield clause
                clause = []
            else:
                clause.append(token)
        if clause:
            yield clause
