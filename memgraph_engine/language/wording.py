"""How a text is worded: the one tokeniser of the gate, and its one notion of a content word.

A token is a word or a number as it is written, or a sign. `plain` is the form in which two tokens are the same: only
what never changes a meaning is gone from it (an apostrophe's shape, a contraction, a spelling, a number in words, a
capital that opens a sentence). All else counts: case, signs, marks, and the words of closed classes, which exchange
meaning like any others. A language without lists has no closed class, so each of its words has content.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import SequenceMatcher
from functools import cache, cached_property, lru_cache
from itertools import chain, dropwhile, groupby, pairwise
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from memgraph_engine.language.terms import APOSTROPHES, CLOSED, places, tokenize, word_list, word_values, written_words

_ENDS = frozenset(".!?…。！？।\n")
_OPENING = frozenset("\"'“‘«([¿¡「")
_MARKS = _ENDS | _OPENING | frozenset(",;:)]-–—”»，；：、」")
ORDINAL = frozenset(("st", "nd", "rd", "th"))  # behind a number these make it one of a row
LONG = 500  # tokens
EXCLAIMED = 2  # words of a clause that states nothing, if only one of them has content: "Wow, great!"
_DENIED = 2  # content words that a negation reaches
_LED = 3  # words behind a negation of which the last is denied: "not on the 5th"
_PHRASE = 5  # words of the longest phrase with which a clause may begin
_HYPHENS = ("-", "\u2010", "\u2011")
_TIMES = "×"  # how a word that counts times is compared
_CLOCK = re.compile(r"\d?\d:\d\d")


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number or sign.

    `stem` is '' unless it is a content word. `day` is what is listed of it if it tells a day, a month or the like
    ("month:5"), `timely` that it is a word of time or measure, or such a one. `clause` and `sentence` number what it
    stands in, `opens` tells that it is the first of its sentence, and `asked` that the sentence is a question. `span`
    is where its word begins and ends in the text, as Unicode NFC.
    """

    written: str
    plain: str
    stem: str
    day: str
    timely: bool
    clause: int
    sentence: int
    opens: bool
    asked: bool = False
    span: tuple[int, int] = field(default=(0, 0), compare=False)

    @property
    def word(self) -> str:
        """The form in which words are listed."""
        return self.plain.casefold()

    @property
    def number(self) -> bool:
        """Whether it is a number."""
        return any(map(str.isdigit, self.plain[:2]))

    @property
    def capital(self) -> bool:
        """Whether it begins with a capital."""
        return self.written[0].isupper()

    @property
    def date(self) -> tuple[str, str] | None:
        """The date that it is, by kind: month, weekday, season, part of the day, or day beside today."""
        if not self.day:  # as of most
            return None
        kind, _, value = self.day.partition(":")
        told = kind != "which" and (not kind.endswith("?") or self.capital)
        return (kind.rstrip("?"), value) if told else None

    @property
    def timed(self) -> bool:
        """Whether it is a number or a date."""
        return self.number or self.date is not None

    @property
    def kind(self) -> Literal["number", "date", "name", "word"]:
        """What kind of value it is."""
        if self.number:
            return "number"
        if self.date:
            return "date"
        return "name" if self.capital and not self.opens else "word"


@dataclass(frozen=True)
class Lists:
    """The lists that the gate reads, from `config/language/`; all empty for a language without them."""

    closed: frozenset[str]  # of all closed classes
    abbreviations: frozenset[str]  # a dot behind these ends no sentence
    neutral: frozenset[str]  # put in, they change nothing
    interjections: frozenset[str]  # alone in a clause, they state nothing
    details: frozenset[str]  # put in, they lead up to a detail
    negations: frozenset[str]
    first_person: frozenset[str]
    indefinite: frozenset[str]  # with these a noun is somebody or something, not the one known
    joints: frozenset[str]  # behind them stands another matter
    coordinators: frozenset[str]  # they join words as well as clauses: "and"
    hedges: frozenset[str]  # with these less is stated than a plain fact
    modals: frozenset[str]  # of these hedges what is supposed, hoped, or said by others
    unstated: frozenset[str]  # beside these a clause is thought or denied by somebody, or holds for a while
    denials: frozenset[str]  # phrases that take back what they stand in
    corrections: frozenset[str]  # phrases that put something in another's place
    changes: frozenset[str]  # words with which a state is another than before: "now", "instead", "postponed"
    endings: frozenset[str]  # those of them with which it is over: "sold", "no longer"
    novelty: frozenset[str]  # those of the words of change that stand beside a noun: "new"
    since: frozenset[str]  # those that are no verbs: "now", with which all that the clause tells may be otherwise
    goals: frozenset[str]  # behind these stands what something is changed or set to: "moved to", "booked for"
    origins: frozenset[str]  # behind these stands what it was before: "moved from"
    edits: Mapping[str, str]  # with these one repairs what one has just said, by their kinds (`repair.py`)
    dwelling: Mapping[str, str]  # with these it is told where somebody lives, or works
    relocation: Mapping[str, str]  # words of change, with which he does so elsewhere: "moved to", "got the job at"
    products: frozenset[str]  # of these one moves to no place: "moved to Linux"
    attitudes: Mapping[str, str]  # how one feels about something, as + or -
    name_leads: frozenset[str]  # where nouns have capitals, these alone lead to a name: "in Kassel"
    objects: frozenset[str]  # these stand behind a verb: "me", "the"
    adverbs: frozenset[str]  # these stand between a subject and its verb, or before one: "still"
    subjects: frozenset[str]  # these are subjects as nouns are: "everybody"
    noun_links: frozenset[str]  # behind a noun these lead to what belongs to it: "of"
    single: frozenset[str]  # phrases that mean one thing: no clause ends within them
    standing: frozenset[str]  # with these one asks for what holds from now on: "always", "call me"
    determiners: frozenset[str]  # with these begins whose or which thing is told of: "my", "the"
    several: frozenset[str]  # behind these may stand one thing as well as another: "allergic to"
    persons: frozenset[str]  # who speaks, is spoken to or was spoken of, as whose state it is: "I", "she"
    anaphors: frozenset[str]  # of these the thing that was told of last: "it"
    back_references: Mapping[str, str]  # these stand for what was named before, by kinds (`references.py`)
    past: frozenset[str]  # with these it is told what was: "used to"
    singular: frozenset[str]  # verbs of one, not of many: "is"
    questions: frozenset[str]
    values_asked: frozenset[str]  # with these a value is asked for, and no yes or no
    times: frozenset[str]  # words of time and measure
    clock: frozenset[str]  # behind a number they tell that it is a time of the day
    spellings: Mapping[str, str]  # what is written in two ways
    numbers: Mapping[str, str]
    dates: Mapping[str, str]
    often: Mapping[str, str]  # with these it is told how often, in numbers: "once", "times"

    @cached_property
    def articles(self) -> frozenset[str]:
        """The words that may lead up to a noun, and of which hardly a meaning depends: "the", "a"."""
        return self.details & (self.determiners | self.indefinite)

    @cached_property
    def idle(self) -> frozenset[str]:
        """The words that state nothing: put in, or alone in a clause."""
        return self.neutral | self.interjections

    @cached_property
    def leading(self) -> frozenset[str]:
        """The phrases that may stand before what a clause tells: "well", "by the way", "now"."""
        who = self.persons | self.determiners | self.first_person
        return (self.idle | self.joints | self.since | self.corrections) - who

    @cached_property
    def leads(self) -> frozenset[str]:
        """The words that lead up to a noun: "my", "some"."""
        return self.determiners | self.indefinite

    @cached_property
    def pointing(self) -> frozenset[str]:
        """The words for what is pointed at: "those"."""
        return frozenset(one for one, kind in self.back_references.items() if kind == "pointed")

    @cached_property
    def behind_verbs(self) -> frozenset[str]:
        """The words that begin an object: "the", "some", "those"."""
        return self.objects | self.leads | self.pointing

    @cached_property
    def speaker(self) -> frozenset[str]:
        """The words for who speaks: "I", not "my"."""
        return self.first_person - self.determiners

    @cached_property
    def mine(self) -> frozenset[str]:
        """The words for what is the speaker's: "my", not "I"."""
        return self.first_person & self.determiners

    @cached_property
    def over(self) -> frozenset[str]:
        """The phrases with which a value ends, and none takes its place."""
        return self.endings | self.denials

    @cached_property
    def supposing(self) -> frozenset[str]:
        """The phrases beside which nothing is stated."""
        return self.modals | self.unstated

    @cached_property
    def changing(self) -> frozenset[str]:
        """All phrases with which something is another than before."""
        return self.changes | self.over | self.corrections | frozenset(self.relocation)


_FILES = {
    "neutral": "neutral-words",
    "details": "detail-words",
    "joints": "clause-words",
    "since": "change-adverbs",
    "edits": "editing-terms",
    "questions": "question-words",
    "values_asked": "value-questions",
    "times": "time-words",
}
"""The lists whose files have other names than the fields of `Lists`."""


@cache
def lists_of(language: str) -> Lists:
    """Return the lists of a language."""
    read: dict[Any, Callable[[str, str], Any]] = {frozenset[str]: word_list, Mapping[str, str]: word_values}
    files = ((one.name, _FILES.get(one.name, one.name.replace("_", "-")), one.type) for one in fields(Lists)[1:])
    lists: dict[str, Any] = {name: read[kind](language, file) for name, file, kind in files if kind in read}
    lists["closed"] = frozenset().union(*(word_list(language, kind) for kind in CLOSED))
    lists["changes"] |= lists["since"]
    lists["hedges"] |= lists["modals"]
    return Lists(**lists)


def phrases_in(words: Sequence[str], phrases: frozenset[str]) -> dict[str, frozenset[int]]:
    """Return which of some phrases stand among words, and where; the longest first."""
    listed = _by_last_word(phrases)
    some = (phrase for word in listed.keys() & {*words} for phrase in listed[word])
    longest = sorted(some, key=lambda phrase: (-len(phrase), phrase))
    return {phrase: held for phrase in longest if (held := places(words, phrase))}


def compounds(tokens: Sequence[Token], text: str, language: str) -> Iterator[Sequence[Token]]:
    """Yield the words of each compound among the tokens of a text.

    >>> text = "My sister in law is well-read."
    >>> [" ".join(words(some)) for some in compounds(wording(text, "english"), text, "english")]
    ['sister in law', 'well read']
    """
    written = unicodedata.normalize("NFC", text)
    behind = frozenset[int]().union(*phrases_in(words(tokens), word_list(language, "compounding")).values())
    some = [*tokens[:1]]
    for at, (one, after) in enumerate(pairwise(tokens), 1):
        if at not in behind and written[one.span[1] : after.span[0]] not in _HYPHENS:
            yield from [some] if len(some) > 1 else []
            some = []
        some.append(after)
    yield from [some] if len(some) > 1 else []


def opening(rest: Sequence[Token], phrases: Collection[str]) -> int:
    """Return how many tokens the longest of some phrases has with which a clause begins; 0 for none."""
    said = words(one for one in rest[:_PHRASE] if one.clause == rest[0].clause)
    return next((size for size in range(len(said), 0, -1) if "_".join(said[:size]) in phrases), 0)


def taken_back(tokens: Sequence[Token], lists: Lists) -> Iterator[tuple[Token, Token]]:
    """Yield each negation with the value behind it, to which other words may lead: "not on Monday", "not Dr. Silva".

    A value is a number, a name or a date, or the word with content that the clause ends with: "not green".
    """
    leads = lists.determiners | lists.details | lists.abbreviations
    for at, no in enumerate(tokens):
        if no.plain in lists.negations:
            after = tokens[at + 1 : at + 1 + _LED]
            behind = [*dropwhile(lambda token: token.word in leads, after)]
            while (
                len(behind) > 1 and behind[0].span[1] == behind[1].span[0] and not measured(behind[0], behind[1], lists)
            ):
                del behind[0]  # "heron42" is a word and a number
            last = tokens[at + 1 + len(after) :][:1] if len(behind) == 1 else behind[1:2]
            ends = not last or last[0].clause != behind[0].clause
            value = bool(behind) and (behind[0].capital or behind[0].day or any(map(str.isdigit, behind[0].written)))
            if value or (behind and behind[0].stem and ends):
                yield no, behind[0]


def denied(tokens: Sequence[Token], lists: Lists, most: float = _DENIED) -> frozenset[str]:
    """Return the stems of the first words with content behind each negation; a question denies nothing."""
    found: set[str] = set()
    clause, left = -1, 0.0
    for token in tokens:
        if token.plain in lists.negations and not token.asked:
            clause, left = token.clause, 0 if left and clause == token.clause else most  # two of them cancel out
        elif token.plain in lists.joints and most == _DENIED:
            left = 0  # "it isn't great but I stay"; "no fish or meat" denies both
        elif left and clause == token.clause and token.stem:
            found.add(token.stem)
            left -= 1
    return frozenset(found)


def measured(number: Token, unit: Token, lists: Lists) -> bool:
    """Tell whether a word behind a number without a blank is what it is counted in: "8am", "50mg"; not "7b"."""
    return number.number and not unit.number and (len(unit.written) > 1 or unit.word in lists.clock)


def numbers(tokens: Sequence[Token]) -> set[str]:
    """Return the numbers in digits, in which two are the same: the hour 16:40 is "16.40", two is "2"."""
    return {token.plain for token in tokens if token.number}


def names(tokens: Sequence[Token]) -> set[str]:
    """Return the words that have a capital inside a sentence, but for dates and who is spoken to."""
    told = Counter(token.clause for token in tokens if token.stem)
    return {
        token.written
        for token in tokens
        if token.stem and token.capital and not token.opens and not token.day
        if len(token.written) > 1 and told[token.clause] > 1
    }


def dates(tokens: Iterable[Token]) -> set[tuple[str, str]]:
    """Return the dates, by kind."""
    return {token.date for token in tokens if token.date}


def stems(tokens: Iterable[Token]) -> frozenset[str]:
    """Return the stems of the words with content."""
    return frozenset(token.stem for token in tokens if token.stem)


def timeless(tokens: Iterable[Token]) -> frozenset[str]:
    """Return the stems of tokens without those of dates and times."""
    return stems(token for token in tokens if not token.timely)


def aligned(
    new: Sequence[Token], old: Sequence[Token]
) -> tuple[float, list[tuple[Sequence[Token], Sequence[Token], int]]]:
    """Return the share of tokens that both have in the same order, and what stands between these and where in `new`.

    To align takes the square of the length: long texts have either all in the same order or nothing.
    """
    if max(len(new), len(old)) > LONG:
        return (1.0, []) if forms(new, old) == forms(old, new) else (0.0, [(new, old, 0)])
    match = SequenceMatcher(None, forms(new, old), forms(old, new), autojunk=False)
    return match.ratio(), [(new[i:j], old[k:m], i) for tag, i, j, k, m in match.get_opcodes() if tag != "equal"]


def forms(tokens: Sequence[Token], others: Sequence[Token]) -> list[str]:
    """Return what is compared; a capital that opens a sentence counts if the word has one elsewhere."""
    elsewhere = {token.written for token in others if not token.opens}
    return [token.written if token.opens and token.written in elsewhere else token.plain for token in tokens]


def words(tokens: Iterable[Token]) -> tuple[str, ...]:
    """Return tokens in the form in which words are listed."""
    return tuple(token.word for token in tokens)


def text_of(tokens: Sequence[Token]) -> str:
    """Return tokens as they are written, with blanks where their text has some: "heron42" is two without one."""
    once = {(one.span, one.written): one for one in tokens}.values()  # "twice" is two tokens
    joined = (after.plain == "'s" or one.span[1] == after.span[0] for one, after in pairwise(once))
    blanks = chain([""], ("" if alike else " " for alike in joined))
    return "".join(f"{blank}{one.written}" for blank, one in zip(blanks, once, strict=False))


def parted(tokens: Iterable[Token], by: Literal["clause", "sentence"]) -> list[list[Token]]:
    """Part tokens into those of each clause or sentence."""
    return [list(some) for _, some in groupby(tokens, key=attrgetter(by))]


def recurs(words: Collection[str], lists: Lists) -> bool:
    """Tell whether a day that comes again is among some words: "Mondays", "weekdays"."""
    return any(word[-1] == "s" and {word, word[:-1]} <= lists.dates.keys() for word in words)


def shown(phrase: str) -> str:
    """Return a listed phrase as evidence has it.

    >>> shown("not~any_more")
    'not … any more'
    """
    return phrase.replace("_", " ").replace("~", " … ")


@cache
def _by_last_word(phrases: frozenset[str]) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for phrase in sorted(phrases):
        found.setdefault(re.split("[_~]", phrase)[-1], []).append(phrase)
    return found


def wording(text: str, language: str) -> tuple[Token, ...]:
    """Cut a text into tokens. Marks of sentences are none: they tell where clauses and sentences end.

    >>> [token.plain for token in wording("I'm at the well-known café at 5pm. It's -2 °C!", "english")]
    ['i', 'am', 'at', 'the', 'well', 'known', 'cafe', 'at', '5', 'pm', 'it', 'is', '-', '2', '°', 'C']
    """
    lists = lists_of(language)
    written = unicodedata.normalize("NFC", text).translate(APOSTROPHES)
    said: list[tuple[_Part, tuple[int, int, bool], tuple[int, int]]] = []
    asked = set[int]()  # sentences: the end of one tells it
    clause = sentence = 0
    opens, last = True, ""
    for match in written_words(language).finditer(written):
        one, before, after = match[0], written[: match.start()][-1:], written[match.end() : match.end() + 1]
        if one == "-" and before.isalpha() and after.isalpha():
            continue
        if one == "." and last.casefold() in lists.abbreviations and after:
            continue
        if one in _MARKS and _sets_off(one, before, after):
            clause += 1
            if one in _ENDS:
                asked |= {sentence} if one in "?？" else set()
                sentence, opens = sentence + 1, True
            continue
        for part in _read(one, language, opens=opens):
            said.append((part, (clause, sentence, opens), match.span()))
            opens, last = False, part.written
    tokens = [Token(*part, *where, asked=where[1] in asked, span=span) for part, where, span in said]
    for at, (owner, verb, other) in enumerate(zip(tokens, tokens[1:], tokens[2:], strict=False), 1):
        if owner.span == verb.span and (whole := lists.spellings.get(f"{verb.word}_{other.word}")):
            tokens[at] = replace(verb, written=whole, plain=whole)  # "she's got"
    return tuple(_often(_days_first(tokens), lists))


class _Part(NamedTuple):
    """What of a token is told by its word alone, wherever it stands."""

    written: str
    plain: str
    stem: str
    day: str
    timely: bool


@lru_cache(maxsize=1 << 15)
def _read(word: str, language: str, *, opens: bool) -> tuple[_Part, ...]:
    """Return the parts of a word, of which the first may open its sentence. Most words of a text were read before."""
    lists = lists_of(language)
    contraction, owner = lists.spellings.get(word.casefold()), word.removesuffix("'s")
    parts = contraction.split("_") if contraction else [owner, "'s"] if owner not in ("", word) else [word]
    read = tuple(_part(part, lists, language, opens=opens and not at) for at, part in enumerate(parts))
    return read if len(read) > 1 else (read[0]._replace(written=word),)


def _sets_off(mark: str, before: str, after: str) -> bool:
    """Tell whether a mark is one of the sentence: it has a blank or another mark on its outer side."""
    if mark == "\n":
        return True
    if mark == "-":  # between blanks it is a dash, before a number it is a sign
        return before.isspace() and after.isspace()
    outer = before if mark in _OPENING else after
    return (
        ord(mark) > 0x2FFF or not outer or outer.isspace() or outer in _MARKS or (mark in "\"'" and not after.strip())
    )


def _part(part: str, lists: Lists, language: str, *, opens: bool) -> _Part:
    lower = part.casefold()
    capital = part[1:] == part[1:].lower()
    if lists.numbers.get(lower, "#")[0] != "#":
        plain = lists.numbers[lower]
    elif capital and (opens or (lower in lists.closed and len(part) > 1)):
        plain = lower
    else:
        plain = part.replace(":", ".") if _CLOCK.fullmatch(part) else part
    stem = "" if lower in lists.closed or not part[0].isalnum() else "-".join(tokenize(plain, language)) or lower
    day = lists.dates.get(lower, "")
    return _Part(part, plain, stem, day, timely=bool(day) or lower in lists.times)


def _days_first(tokens: list[Token]) -> list[Token]:
    """Put the day before the month, in digits alone: "May 3rd" is "3 May"."""
    months = [at for at, token in enumerate(tokens) if token.capital and token.day.startswith("month")]
    for place in reversed(months):
        day = [token.plain for token in tokens[place + 1 : place + 2] if token.clause == tokens[place].clause]
        if day and day[0].isdigit() and len(day[0]) < 3:
            tokens[place : place + 2] = [tokens[place + 1], tokens[place]]
            place += 1
        for near in (place + 1, place - 1):
            if 0 < near < len(tokens) and tokens[near].plain in ORDINAL:
                del tokens[near]
    return tokens


def _often(tokens: list[Token], lists: Lists) -> list[Token]:
    """Write how often in one way: "once a day" and "twice a day" as 1 and 2 times, "una vez al día" as 1 vez."""
    if not any(token.word in lists.often or token.written.casefold() in lists.often for token in tokens):
        return tokens
    found: list[Token] = []
    for at, token in enumerate(tokens):
        count = lists.often.get(token.written.casefold())
        often = _per_period([one for one in tokens[at + 1 : at + 4] if one.clause == token.clause], lists)
        before = found[-1] if found and found[-1].clause == token.clause else None
        if count and often:
            found += replace(token, plain=count, stem=count), replace(token, plain=_TIMES, stem=_TIMES, opens=False)
        elif count == "" and before and (before.number or (often and before.word in lists.indefinite)):
            if not before.number:
                found[-1] = replace(before, plain="1", stem="1")
            found.append(replace(token, plain=_TIMES, stem=_TIMES))
        else:
            found.append(token)
    return found


def _per_period(words: Sequence[Token], lists: Lists) -> bool:
    """Tell whether a span of time follows in which something comes again: "a day", "daily", "a la semana"."""
    plain = [token.word for token in words]
    span = any(word in lists.times and word not in lists.dates for word in plain)
    return span and plain[0] not in lists.determiners and plain[0] not in lists.dates
