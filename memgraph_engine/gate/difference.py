"""Whether two lines state the same fact, and what tells that they don't.

A score sees how much two lines share, not what the rest of them does. What that is can be told without knowing what
words mean, by how the two are worded:

- verbatim   nothing differs but what never changes a meaning
- reordered  where, when or with whom stands elsewhere in it
- reworded   the one reports by name what the other's speaker said
- exchanged  the one is the other with something in its place: that is what it is told for, whatever it is
"""

import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from math import inf
from typing import Literal

from memgraph_engine.gate.known import Known, Line, same_speaker
from memgraph_engine.language.statement import Statement, statements
from memgraph_engine.language.tense import happened, present
from memgraph_engine.language.wording import Token, aligned, denied, forms, names, numbers, recurs, stems, text_of

SHORT = 3  # content words below which a line may only answer the turn before it
PARALLEL = 0.7  # share of tokens from which two sentences are one with something exchanged
SPOKEN = 4  # one word in so many is of a closed class, in a text of the language whose lists are read

Wording = Literal["verbatim", "reordered", "reworded", "exchanged"]
Verdict = Literal["same", "conflict", "related"]
SAYS: Mapping[Wording, str] = {
    "verbatim": "It says the same.",
    "reordered": "It says the same in another order.",
    "reworded": "It says as much in other words.",
}
_APART = "They tell of different days."
_Block = tuple[Sequence[Token], Sequence[Token]]


class Pair:
    """A line of a new note beside one of an old note."""

    def __init__(self, new: Line, old: Line, notes: tuple[Known, Known]) -> None:
        self.new, self.old, self.notes = new, old, notes
        self.language, self.lists = new.language, new.lists

    @property
    def plain(self) -> bool:
        """Whether the same one says the same words, as they are written, of the same days, and answers nothing else."""
        written = self.new.written == self.old.written and self.new.days == self.old.days
        return written and not self.foreign and not _answer(self)

    @property
    def foreign(self) -> bool:
        """Whether another one says so: "I moved" from another mouth is another fact."""
        return same_speaker(self.new, self.old) is False

    @cached_property
    def alike(self) -> list[tuple[Statement, Statement, bool]]:
        """The statements of both beside each other, and whether they tell of one person or thing."""
        said = self.told(self.new), self.told(self.old)
        pairs = [] if self.new.long or self.old.long else product(statements(self.new), statements(self.old))
        return [(now, was, now.tells_of(was, *said)) for now, was in pairs]

    @property
    def of_one(self) -> bool:
        """Whether the same one says so, and may mean one person or thing: else neither repeats or ends the other."""
        known = not self.alike or any(alike or now.may_mean(was) for now, was, alike in self.alike)
        return known and not self.foreign

    @property
    def apart(self) -> bool:
        """Whether they tell of different days."""
        return bool(self.new.days and self.old.days) and self.new.days.isdisjoint(self.old.days)

    @property
    def ahead(self) -> bool:
        """Whether the one tells of what was still to come when the other was said: that can be put off.

        What has been on one day may have been on another as well.
        """
        said, before = self.new.said_at, self.old.said_at
        later, earlier = (self.old, self.new) if said and before and said < before else (self.new, self.old)
        return later.awaits(earlier.days)

    @cached_property
    def finding(self) -> "tuple[Verdict, str]":
        """What the new line is to the old one by the first rule that speaks, and the sentence that says why."""
        for rule in RULES:
            if evidence := rule.evidence(self):
                return rule.verdict, evidence
        return "same", SAYS[self.wording]

    @property
    def disputed(self) -> bool:
        """Whether they contradict each other and can't both be true: of one frame, with one other thing in it.

        Two that tell of other things besides may well both be true, and so may the same words on two days. So may
        the lines of a list, which differ in what they tell of: in two places ("Room 5 is Tom's."), or in the first;
        and so may what had happened by one day and by another, unless that is denied.
        """
        if self.finding[0] != "conflict" or (self.happened and not _denial(self)):
            return False
        ratio, blocks = self.blocks
        exchanged = [put[0].opens and out[0].opens for put, out in blocks if put and out]
        return ratio > PARALLEL and bool(blocks) and exchanged in ([], [False])

    @cached_property
    def happened(self) -> bool:
        """Whether each was said on a day of its own, and tells what had happened by then."""
        said, before = self.new.said_at, self.old.said_at
        days = {moment.date() for moment in (said, before) if moment}
        return len(days) > 1 and happened(self.new.text, self.old.text, self.language)

    @cached_property
    def blocks(self) -> tuple[float, list[_Block]]:
        """The share of tokens that both have in the same order, and what stands between these."""
        ratio, blocks = aligned(self.new.stated, self.old.stated)
        return ratio, [(put, out) for put, out, _ in blocks if not self._neutral(put, out)]

    @cached_property
    def wording(self) -> Wording:
        """How the one is worded beside the other."""
        if not self.blocks[1]:
            return "verbatim"
        if self.new.long or self.old.long or not self._spoken:
            return "exchanged"
        if self._reordered:
            return "reordered"
        return "reworded" if self.report else "exchanged"

    @property
    def _reordered(self) -> bool:
        """Whether all that differs is where some details stand: "In March I moved." for "I moved in March.".

        Order tells who does what to whom, not who is who ("Dr. Roe is my dentist."). Articles may be missing.
        """
        if stems(self.new.stated) != stems(self.old.stated):  # of most pairs
            return False
        articles, others = ({one.plain for one in line.stated} & self.lists.articles for line in (self.new, self.old))
        told, known = self._phrases(self.new.stated, self.old.stated), self._phrases(self.old.stated, self.new.stated)
        new, old = [*chain(*told)], [*chain(*known)]
        if not (articles <= others or others <= articles) or Counter(new) != Counter(old):
            return False
        if all(line.stated[0].clause != line.stated[-1].clause for line in (self.new, self.old)):
            return new == old  # what stands in one clause belongs together: "Iron at 8, zinc at 9."
        turned = ([*old[at + 1 :], verb, *old[:at]] for at, verb in enumerate(old) if present(verb, self.language))
        return new in turned or any(_swapped(told, known[at:] + known[:at]) for at in range(len(known)))

    def _phrases(self, tokens: Sequence[Token], others: Sequence[Token]) -> list[list[str]]:
        """Cut a line into words of closed classes with what they lead to, and times: "In May | I moved | to Rome".

        Articles are left out where they lead up to a word with content: of "a cat", not of "a little".
        """
        found, led, timely = list[list[str]](), True, False
        for at, (one, form) in enumerate(zip(tokens, forms(tokens, others), strict=True), 1):
            since = one.word in self.lists.since  # "now"
            leads = one.word in self.lists.indefinite or not (one.stem or one.date or since)
            now = one.timely or one.timed or since
            if led and (leads or now != timely or not found):
                found.append([])
            if not (one.plain in self.lists.articles and stems(tokens[at : at + 1])):
                found[-1].append(form)
            led, timely = not leads, now
        return found

    @cached_property
    def report(self) -> tuple[Line, Line] | None:
        """The line that tells by name what the other's speaker says, and the other: "Ana is looking for a boat.".

        Of two that are worded alike the other is in the first person: "Bo is looking for a boat." tells of Bo.
        """
        if self.new.reports == self.old.reports:
            return None
        report, said = (self.new, self.old) if self.new.reports else (self.old, self.new)
        alike = self.blocks[0] > PARALLEL and self.lists.first_person.isdisjoint(said.forms)
        return None if alike else (report, said)

    def told(self, line: Line) -> frozenset[str]:
        """Return the stems of what a line states: not who speaks, nor an exclamation ("Wow, Ana!", "Hey Bo, …")."""
        named = self.new.speaker_names | self.old.speaker_names
        return stems(token for token in line.telling if token.written not in named)

    @property
    def _spoken(self) -> bool:
        """Whether both are in the language whose closed words are listed."""
        tokens = [*self.new.stated, *self.old.stated]
        return SPOKEN * sum(not token.stem for token in tokens) >= len(tokens)

    def _neutral(self, new: Sequence[Token], old: Sequence[Token]) -> bool:
        """Tell whether a block differs in nothing but blanks, courtesy, or a face behind it all."""
        said, before = (self._said([token.plain for token in block]) for block in (new, old))
        if "".join(said) == "".join(before):
            return True
        if said and before:
            return False
        line, block = (self.new, new) if said else (self.old, old)
        face = all(unicodedata.category(one[0]) in ("So", "Mn") for one in said or before)
        return face and block[-1] is line.stated[-1]

    def _said(self, words: list[str]) -> list[str]:
        """Leave out what is only put in: "please", "as I said"."""
        kept: list[str] = []
        while words:
            lengths = (n for n in (3, 2, 1) if "_".join(words[:n]).casefold() in self.lists.neutral)
            length = next(lengths, 0)
            kept += [] if length else words[:1]
            words = words[length or 1 :]
        return kept


def _swapped(some: Sequence[Sequence[str]], others: Sequence[Sequence[str]]) -> bool:
    """Tell whether phrases are others, but for two next to each other that may have changed places."""
    at = next((at for at, (one, other) in enumerate(zip(some, others, strict=False)) if one != other), len(some))
    return [*others[:at], *others[at : at + 2][::-1], *others[at + 2 :]] == [*some]


@dataclass(frozen=True, slots=True)
class Rule:
    """What keeps a new line from joining an old one; `evidence` says why, or ''.

    conflict  one of them may be wrong: they are tied so
    related   another fact of the same matter
    """

    name: str
    verdict: Verdict
    evidence: Callable[[Pair], str]


def _denial(pair: Pair) -> str:
    """Tell what one of them denies and no negation reaches in the other."""
    new, old = (denied(line.tokens, pair.lists) for line in (pair.new, pair.old))
    mine, theirs = (line.content - denied(line.tokens, pair.lists, inf) for line in (pair.new, pair.old))
    opposed = (new & theirs) | (old & mine)
    if new and not any(token.plain in pair.lists.negations for token in pair.old.tokens):
        opposed |= new  # a long old line may deny more, but what a new one denies the old one should not just leave out
    words = worded(opposed, (*pair.new.tokens, *pair.old.tokens))
    return f"Only one of them denies {quoted(words)}." if opposed else ""


def _numbers(pair: Pair) -> str:
    new, old = (numbers(line.tokens) for line in (pair.new, pair.old))
    return swapped("number", as_written(new - old, pair.new.tokens), as_written(old - new, pair.old.tokens))


def _weekly(pair: Pair) -> str:
    """Tell of days that come again, which exclude no others: who swims on Mondays may swim on Fridays too."""
    again = any(recurs(line.forms, pair.lists) for line in (pair.new, pair.old))
    return swapped_dates(pair.new.tokens, pair.old.tokens) if again else ""


def swapped_dates(new: Sequence[Token], old: Sequence[Token]) -> str:
    """Say which date of a kind each has that the other lacks, in their words; '' where there is none."""
    mine, theirs = ({token.date: token.written for token in tokens if token.date} for tokens in (new, old))
    for kind in sorted({kind for kind, _ in (*mine, *theirs)}):
        put, out = (
            {word for date, word in one.items() if date[0] == kind and date not in other}
            for one, other in ((mine, theirs), (theirs, mine))
        )
        if put and out:
            return swapped("date", put, out)
    return ""


def _names(pair: Pair) -> str:
    common = {token.written for line in (pair.new, pair.old) for token in line.tokens if token.written.islower()}
    known = pair.new.speaker_names | pair.old.speaker_names
    new, old = (
        {one for one in names(line.tokens) - known if one.lower() not in common} for line in (pair.new, pair.old)
    )
    return swapped("name", new, old)


def _subject(pair: Pair) -> str:
    """Tell "I moved" from "Bo moved", which one speaker says, and "my flight" from "Bo's flight".

    A report tells of its speaker, or of what the other line knows.
    """
    apart = pair.alike and not any(alike for *_, alike in pair.alike)
    if not apart or pair.wording in ("verbatim", "reordered"):  # "the e-mail" is "the email"
        return ""
    report, said = pair.report or (None, pair.old)
    about = [one.subject for one in statements(report)] if report else []
    known = any(one.speaker or one.told_in(pair.told(said)) for one in about)
    return "" if known else "They tell of different ones."


def _question(pair: Pair) -> str:
    asks = [bool(line.tokens) and all(token.asked for token in line.tokens) for line in (pair.new, pair.old)]
    return "Only one of them asks." if asks[0] != asks[1] else ""


def _answer(pair: Pair) -> str:
    new, old = pair.notes
    short = len(pair.new.content) < SHORT
    return "It answers another question." if short and new.answers and new.context != old.context else ""


def _worded(pair: Pair) -> str:
    if pair.wording != "exchanged":
        return ""
    if pair.blocks[0] < PARALLEL:
        return "They share words, and each says something else."
    new, old = map(text_of, pair.blocks[1][0])
    return (
        f"The one says {quoted([new])}, the other {quoted([old])}."
        if new and old
        else f"Only one says {quoted([new or old])}."
    )


RULES = (
    Rule("speaker", "related", lambda pair: "Another one says so." if pair.foreign else ""),
    Rule("days", "related", lambda pair: _APART if pair.apart and not pair.ahead else ""),
    Rule("subject", "related", _subject),
    Rule("put off", "conflict", lambda pair: _APART if pair.apart and pair.ahead else ""),
    Rule("denial", "conflict", _denial),
    Rule("number", "conflict", _numbers),
    Rule("weekly", "related", _weekly),
    Rule("date", "conflict", lambda pair: swapped_dates(pair.new.tokens, pair.old.tokens)),
    Rule("name", "conflict", _names),
    Rule("question", "related", _question),
    Rule("answer", "related", _answer),
    Rule("wording", "related", _worded),
)


def as_written(values: Collection[str], tokens: Sequence[Token]) -> set[str]:
    """Return some numbers as they are written among tokens."""
    return {token.written for token in tokens if token.number and token.plain in values}


def swapped(what: str, new: Collection[str], old: Collection[str]) -> str:
    """Say what each has that the other lacks; a detail that only one has is no difference."""
    mine, other = set(new) - set(old), set(old) - set(new)
    return f"They differ in a {what}: {quoted(mine)}, not {quoted(other)}." if mine and other else ""


def worded(stems: Collection[str], tokens: Sequence[Token]) -> list[str]:
    """Return the words of some stems, each once, as they are written."""
    return list({token.stem: token.written for token in reversed(tokens) if token.stem in stems}.values())


def quoted(words: Collection[str]) -> str:
    """Return a few words as evidence has them."""
    return ", ".join(f'"{word}"' for word in sorted(words)[:3])
