"""What a message tells about who says it, found without a model: the name, the residence, the job, the diet and so on.

It is read from what the message asserts (`language/assertion.py`) through a table: `english/profile.toml`, or another
language's. Only a firm assertion counts, with nothing behind its value that could take it back. One that denies what it
says ("I'm not allergic to nuts after all") ends the value. What is missed costs little. What is wrong would stand in
every prompt.
"""

import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby, pairwise, product
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memgraph_engine.errors import SettingsError
from memgraph_engine.language.assertion import Assertion, assertions
from memgraph_engine.language.reading import Reading
from memgraph_engine.language.terms import word_list, word_values
from memgraph_engine.language.verbs import finite_verb
from memgraph_engine.language.wording import ORDINAL, Token, parted, phrases_in, recurs, taken_back, words
from memgraph_engine.model.marker import without_recalled
from memgraph_engine.model.profile import LONGEST_NAME, LONGEST_VALUE, MANY, Delta
from memgraph_engine.resources import resource

_LONGEST = 600  # characters of a message that is still told, and not pasted
_CAPITALS = 4  # words of a name or a place
_INTRODUCED = 2  # words of a name behind "I'm"
_WORDS = 3  # of a hobby, a job or what somebody is allergic to
_DENIED = 4  # words of a clause among which what denies it stands
_OLDEST = 120  # years
_ACRONYM = re.compile(r"[A-Z]{2,4}")
_YEAR = re.compile(r"(?:18|19|20)\d\d")
_DAYS = frozenset(f"{day:0{digits}}" for day in range(1, 32) for digits in (1, 2))
_DAY = re.compile(r"(?:d-*m|m-*d)(?:-*y)?")  # "the 5th of May, 1990" by the kinds of its words
_GOES_ON = "…"
_PARTED = ("place", "languages", "pet", "person", "")  # of these a value, or what it needs, may stand behind a comma

_Tokens = Sequence[Token]
_Denial = Literal["", "not", "over"]
_List = Literal["foods", "allergens", "diets", "statuses"]


def attributes(text: str, language: str, own: str = "") -> list[Delta]:
    """Return what a message tells about who says it, in order; `own` is the path of a table beside the shipped one.

    >>> told = attributes("Hi! I live in Lisbon now and I'm allergic to nuts. Do I live in Faro?", "english")
    >>> [(one.name, one.value) for one in told]
    [('residence', 'Lisbon'), ('allergy', 'nuts')]
    >>> attributes("My friend lives in Porto. If I lived in Rome, I'd walk. Do I live in Faro?", "english")
    []
    >>> attributes("I don't live in Faro any more.", "english")
    [Delta(name='residence', value='Faro', ends=True)]
    """
    every = assertions(Reading(without_recalled(text), language))
    return list({(one.name, one.value.casefold(), one.ends): one for some in every for one in told(some, own)}.values())


def told(one: Assertion, own: str = "") -> list[Delta]:
    """Return what an assertion tells about who makes it: nothing in a message that may bring somebody else's text."""
    line = one.clause.line
    if len(line.text) > _LONGEST or not one.firm:
        return []
    table = _table(line.language, own)
    if phrases_in(line.forms, table.unreal):
        return []
    return _Clause(one, table).told() or [delta for part in _apart(one, table) for delta in _Clause(part, table).told()]


def _apart(one: Assertion, table: "_Table") -> Sequence[Assertion]:
    """Return the states that "and" joins, each by itself: "I live in Leeds and work there", not "… and came back"."""
    line, joints = one.clause.line, one.clause.lists.coordinators - table["alternatives"]
    led = {after.span: before.word for before, after in pairwise(line.tokens)}
    further = [part.clause for part in one.each[1:]]
    joined = all(
        led[part.own[0].span] in joints and finite_verb(part.tokens, line) == len(part.lead) for part in further
    )
    return one.each if joined and not any(part.clause.event or part.clause.changes for part in one.each) else ()


class _Row(BaseModel):
    """A line of the table: by the phrases with which a clause begins, what it tells; see `english/profile.toml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=rf"^\w[\w -]{{0,{LONGEST_NAME - 1}}}$")]
    said: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]
    value: (
        Literal["", "capitals", "name", "person", "place", "words", "job", "work", "day", "years", "languages", "pet"]
        | _List
    ) = ""
    values: tuple[str, ...] = ("",)
    form: str = "{}"
    behind: frozenset[str] = frozenset()
    closes: tuple[str, ...] = ()
    beside: bool = False
    ends: bool = False
    event: bool = False
    opens: bool = False
    whole: bool = False


class _File(BaseModel):
    """A table as it is written: what phrases tell, and the words of grammar around values."""

    model_config = ConfigDict(extra="forbid")

    tells: tuple[_Row, ...]
    grammar: dict[str, str] = {}


@dataclass(frozen=True)
class _Clause:
    """An assertion, and what it tells about who makes it by a table."""

    one: Assertion
    table: "_Table"

    def told(self) -> list[Delta]:
        """Return what the longest phrase that it begins with tells; who opens a message may introduce himself."""
        for said, denial in self._sides():
            for row, length in sorted(self.table.rows(said), key=lambda one: -one[1]):
                fits = (self.one.opens or not row.opens) and not (denial and row.ends)
                if fits and (found := self._deltas(row, said, length, denial)):
                    return found
        return []

    def _sides(self) -> Iterator[tuple[_Tokens, _Denial]]:
        """Yield its tokens, and then those without the words that deny it: "I live in Faro" of "I no longer live …"."""
        before = {one.span for one in self.one.clause.origin}  # "from Ghent" of "I moved from Ghent to Antwerp"
        tokens = [one for one in self.one.tokens[self.one.begin :] if one.span not in before]
        yield tokens, ""
        over = frozenset[int]().union(*phrases_in(words(tokens), self.one.clause.lists.denials).values())
        no = over or {at for at, one in enumerate(tokens[:_DENIED]) if one.word in self.table["denial"]}
        if no:
            yield [one for at, one in enumerate(tokens) if at not in no], "over" if over else "not"

    def _deltas(self, row: _Row, said: _Tokens, length: int, denial: _Denial) -> list[Delta]:
        """Return what a row tells: the values that it has itself, or those that stand behind its phrase.

        What is denied is denied wholly: "I'm not a nurse for the money" is one.
        """
        rest = [one for one in said[length:] if not denial or one.clause == said[length - 1].clause]
        if row.value not in _LISTS and row.value not in _PARTED:
            rest = [one for part in parted(rest, "clause") if not self._beside(row, rest, part) for one in part]
        value, more = (rest, []) if row.whole or denial == "not" else self._cut(row, rest)
        further = self._further(row, more)
        behind = [one.word for one in more[:1]] if not further else []
        if not self._closed(row, behind, denial) or (row.beside and not further):
            return []
        ends = row.ends or denial != ""
        read = (row.form.replace("{}", one) for one in self._read(row, value, event=row.event))
        found = [Delta(row.name, one[:LONGEST_VALUE], ends) for one in read]
        closing = row.closes if found and (row.event or row.ends or denial == "over") else ()
        return [*(Delta(name, ends=True) for name in closing), *found, *(further if found and not ends else ())]

    def _cut(self, row: _Row, rest: list[Token]) -> tuple[list[Token], list[Token]]:
        """Part the value from what goes on behind it: "because …", "at Acme" behind a job, but not "not in York"."""
        back = [no for no, value in taken_back(rest, self.one.clause.lists) if value.capital or row.value in _LISTS]
        for at, token in enumerate(rest):
            if token in back or self._aside(row, rest[at:]):
                return rest[: at - (rest[at - 1].word in self.one.clause.lists.joints)], []  # "but not to cats"
            if token.word in self.table["ends"] or [*self._more(row, rest[at:])]:
                return rest[:at], rest[at:]
        return rest, []

    def _beside(self, row: _Row, rest: _Tokens, part: _Tokens) -> bool:
        """Tell whether what stands behind a comma says more of the value, and takes none of it back: ", mostly nights".

        A place goes on behind one ("Lisbon, Portugal"), and a job may be told with where it is (", at Acme").
        """
        lists = self.one.clause.lists
        back = lists.coordinators | lists.negations | lists.hedges | lists.supposing | lists.corrections
        return part[0] is not rest[0] and back.isdisjoint(words(part)) and not [*self._more(row, part)]

    def _aside(self, row: _Row, behind: _Tokens) -> bool:
        """Tell whether what goes on leaves the value as it is: where a job is, what somebody moved for, or his age."""
        lead, told = behind[0].word, self.table.bare(behind[1:])
        if row.value == "person" and behind[0].clause != self.one.tokens[self.one.begin].clause:
            return _years(behind[:1], self.table) and not any(one.stem for one in behind[1:2])
        if row.value in ("job", "work"):
            body = bool(told) and told[-1].word in self.table["bodies"]
            return bool(told) and lead in self.table["where"] and (body or _place(told, self.table))
        moved = row.event and row.value in ("place", "statuses") and lead in self.table["reasons"]
        return moved and not any(one.timely for one in behind)

    def _more(self, row: _Row, rest: _Tokens) -> Iterator[tuple[_Row, int]]:
        """Yield the rows with which a clause may go on from a value: of a job "at Acme", of an employer "as …"."""
        found = self.table.rows(rest, _GOES_ON) if row.name in self.table.going_on else ()
        return ((further, length) for further, length in found if further.name != row.name)

    def _further(self, row: _Row, more: _Tokens) -> list[Delta]:
        read = ((further, self._read(further, more[length:], event=True)) for further, length in self._more(row, more))
        return next(([Delta(further.name, found[0][:LONGEST_VALUE])] for further, found in read if found), [])

    def _closed(self, row: _Row, behind: Sequence[str], denial: _Denial) -> bool:
        """Tell whether what goes on says no more of the value: somebody else's clause, or a reason for it."""
        table, after = self.table, self.one.behind
        led = bool(after) and after[0].word in table["joints"]
        others = {*words(after[led : led + 1])} & table.subjects
        if after and not (others or self._aside(row, after) or self._tells_other(row, after[1:])):
            lists = self.one.clause.lists
            apart = after[0].clause != self.one.tokens[-1].clause
            further = (
                apart
                and after[0].word not in lists.joints
                and not phrases_in(words(after), lists.hedges | lists.changing)
            )
            behind = behind if denial == "over" or further else [*behind, after[0].word]
        return not behind or (behind[0] in table["ends"] and not row.whole and denial != "not")

    def _tells_other(self, row: _Row, said: _Tokens) -> bool:
        """Tell whether a clause tells another attribute: "everyone calls me Del"."""
        some = ((other, self._cut(other, [*said[length:]])[0]) for other, length in self.table.rows(said))
        return any(other.name != row.name and self._read(other, value, event=other.event) for other, value in some)

    def _read(self, row: _Row, rest: _Tokens, *, event: bool) -> list[str]:
        """Return the values that some words are, but for those that tell little or when: "again", "last week"."""
        table, line, kept, told = self.table, self.one.clause.line, [*rest], set[str]()
        timed = event and any(one.timely for one in rest) and not recurs(words(rest), line.lists)
        while kept:
            phrases = ("_".join(words(kept[-length:])) for length in (3, 2, 1))
            said = next((one for one in phrases if one in table["tails"] | row.behind), "")
            if not said and not (
                timed and (kept[-1].timely or (kept[-1].number and not row.value) or kept[-1].word in table["limits"])
            ):
                break
            told.add(said)
            del kept[-1 - said.count("_") :]
        if row.behind.isdisjoint(told) and row.behind:
            return []
        if not row.value:
            return [] if kept else [*row.values]
        kind, listed = _KINDS[row.value], row.value in _LISTS
        if row.value == "place" and not table["products"].isdisjoint(words(self.one.tokens)):
            return []  # "I moved to Zoltrix, a better text editor"
        leads = frozenset(word for phrase in row.said for word in phrase.split()[-1].split("|"))  # "to"
        items = table.items(kept, leads) if listed or row.value == "languages" else [table.bare(kept)]
        items = [self._meant(row, one) for one in items]
        texts = [line.words(one) + self._called(row) for one in items if one and kind(one, table)]
        return [one.casefold() if listed else one for one in texts] if len(texts) == len(items) else []

    def _meant(self, row: _Row, some: _Tokens) -> _Tokens:
        """Return what some words of a list stand for: "it" for what was told of last that the list has."""
        before = reversed(self.one.before if {*words(some)} <= self.one.clause.lists.anaphors else ())
        return next(([one] for one in before if one.word in self.table[row.value]), some)

    def _called(self, row: _Row) -> str:
        """Return the name that the sentence behind a pet gives it, behind a blank: "We've a cat. She's called Mo."."""
        told, named = parted(self.one.after, "sentence")[:1] if row.value == "pet" else [], self.table["named"]
        found = (one[length:][:1] for one in told for length in (3, 2) if "_".join(words(one[:length])) in named)
        return next((f" {one[0].written}" for one in found if one and _name(one, self.table)), "")


# ---- the kinds of values: each tells whether some words are one -----------------------------------


def _capitals(some: _Tokens, table: "_Table", others: Collection[str] = ()) -> bool:
    """Tell whether they have capitals, with "de" or "of" between them, and are none of some `others`."""
    named = [one.capital and one.word not in others for one in some]
    linked = all(name or one.word in table["links"] for name, one in zip(named, some, strict=True))
    return linked and named[0] and named[-1] and len(some) <= _CAPITALS and some[0].clause == some[-1].clause


def _name(some: _Tokens, table: "_Table") -> bool:
    """Tell whether they mean nothing else: "Acme", "Dr. Costa", "Home Depot", not "Home" or "Crazy"."""
    return _capitals(some, table, table.never_named) and (len(some) > 1 or table.known.isdisjoint(words(some)))


def _person(some: _Tokens, table: "_Table") -> bool:
    """Tell whether they name a person, and no people or belief: "Spanish" and "Curious" end as adjectives do."""
    shaped = some[0].word[2:].endswith(table.endings) or any(one.written.isupper() for one in some)
    product = not table["products"].isdisjoint(words(some))
    return _name(some, table) and not (shaped or product) and len(some) <= _INTRODUCED


def _place(some: _Tokens, table: "_Table") -> bool:
    """Tell whether they name a place: "Lisbon, Portugal"."""
    parts = parted(some, "clause")
    return (
        len(parts) < 3
        and all(_capitals(one, table, table.never_named) for one in parts)
        and not table.known >= {*words(parts[0])}
    )


def _job(some: _Tokens, table: "_Table") -> bool:
    """Tell whether they are an occupation that is listed, with what is listed of it or in capitals: "UX"."""
    known = table["occupations"] | table["occupation-modifiers"]
    fit = all(one.word in known or _ACRONYM.fullmatch(one.written) for one in some)
    return fit and not table["occupations"].isdisjoint(words(some))


def _work(some: _Tokens, table: "_Table") -> bool:
    """Tell whether they are what somebody works as: "lead bike fitter", where "terrible cook" tells no job."""
    looks = some[-1].word in table["occupations"] or some[-1].word.endswith(table.agents)
    return _job(some, table) or (looks and all(one.stem for one in some) and len(some) <= _WORDS)


def _day(some: _Tokens, table: "_Table") -> bool:
    """Tell whether they are a day of the year, with a year or without: "the 5th of May"."""
    idle = table["articles"] | table["links"] | ORDINAL
    month = ("m" if one.day.startswith("month") else "-" if one.word in idle else "" for one in some)
    numbers = ("y" if _YEAR.fullmatch(one.plain) else "d" if one.plain in _DAYS else "?" for one in some)
    return _DAY.fullmatch("".join(kind or number for kind, number in zip(month, numbers, strict=True))) is not None


def _listed(name: str, some: _Tokens, table: "_Table") -> bool:
    return len(some) <= _WORDS and table[name] >= {*words(some)}


def _few(some: _Tokens, _: "_Table") -> bool:
    """Tell whether they are few, of one clause, and tell no time."""
    return len(some) <= _WORDS and some[0].clause == some[-1].clause and not any(one.timely for one in some)


def _years(some: _Tokens, _: "_Table") -> bool:
    """Tell whether they are a number that may be an age."""
    return len(some) == 1 and some[0].plain.isdecimal() and 0 < int(some[0].plain[:4]) < _OLDEST


def _language(some: _Tokens, _: "_Table") -> bool:
    return len(some) == 1 and some[0].capital and some[0].stem != ""


def _pet(some: _Tokens, table: "_Table") -> bool:
    """Tell whether they are an animal, with its name or without: "an old dog", "a cat called Mo", "a cat, Mo"."""
    end = next((at for at, one in enumerate(some, 1) if one.word in table["pets"]), _WORDS + 1)
    beside = some[end:] if some[end:] and some[end].clause != some[end - 1].clause else []  # "a cat, Mo"
    called = beside or (some[end + 1 :] if not {*words(some[end : end + 1])} - table["named"] else some)
    return end <= _WORDS and (len(some) == end or (bool(called) and _name(called, table)))


_LISTS = get_args(_List)
_KINDS: Mapping[str, Callable[[_Tokens, "_Table"], bool]] = {
    "capitals": _capitals,
    "name": _name,
    "person": _person,
    "place": _place,
    "words": _few,
    "job": _job,
    "work": _work,
    "day": _day,
    "years": _years,
    "languages": _language,
    "pet": _pet,
    **{name: partial(_listed, name) for name in _LISTS},
}


class _Table:
    """The table of a language: what phrases tell of who says them, and words by what they are."""

    def __init__(self, language: str, own: str) -> None:
        shipped = resource("config", "language", language, "profile.toml")
        given = _file(shipped) if shipped.is_file() else _File(tells=())
        listed = partial(word_list, language)
        self._words = {kind: listed(kind) for kind in ("occupations", "occupation-modifiers", "products", *_LISTS)}
        self._words |= {kind: frozenset(some.split()) for kind, some in given.grammar.items()}
        self._rows: dict[str, list[_Row]] = {}
        for row in (*given.tells, *own_rows(own)):
            for phrase in (spelt for pattern in row.said for spelt in _spelt_out(pattern.casefold())):
                self._rows.setdefault(phrase, []).append(row)
        self._longest = max((phrase.count(" ") + 1 for phrase in self._rows), default=0)
        self.going_on = {one.name for phrase, rows in self._rows.items() if phrase[0] == _GOES_ON for one in rows}
        self.never_named = frozenset(word_values(language, "dates")) | listed("time-words", "stop-words")
        self.known = listed("not-names", "common-words", "weak-words", "content-words")
        self.endings = tuple(one[1:] for one in listed("not-names") if one[0] == "-")
        self.agents = tuple(one[1:] for one in self["agents"])
        self.unreal = listed("suppositions") | self["borrowed"]
        self.subjects = listed("persons", "determiners", "first-person")

    def __getitem__(self, kind: str) -> frozenset[str]:
        """Return the words of a kind, none of one that is not listed."""
        return self._words.get(kind, frozenset())

    def rows(self, clause: _Tokens, *said: str) -> Iterator[tuple[_Row, int]]:
        """Yield what is listed for each phrase that a clause begins with, adverbs aside, and the tokens it takes."""
        told = list(said)
        for at, token in enumerate(clause):
            if (at and token.clause != clause[at - 1].clause) or len(told) >= self._longest:
                return
            if token.word not in self["adverbs"] or not at:
                told.append(token.word)
            more = clause[at + 1 :]
            skipped = next((n for n, one in enumerate(more) if one.word not in self["adverbs"]), len(more))
            for row in self._rows.get(" ".join(told), ()):
                yield row, at + 1 + skipped

    def items(self, some: _Tokens, leads: frozenset[str]) -> list[_Tokens]:
        """Return what stands one behind another: "nuts", "shellfish" and "to pollen", but for the words that lead."""
        apart = self["joints"] | self["alternatives"]
        clauses = parted(some, "clause")
        parts = (groupby(clause, key=lambda one: one.word in apart) for clause in clauses)
        joined = len(clauses) < 2 or not apart.isdisjoint(words(clauses[-1]))  # "English, Siri" is none
        every = [[*one] for part in parts for joint, one in part if not joint] if joined else []
        return [self.bare(one[one[0].word in leads :]) for one in every]

    def bare(self, some: _Tokens) -> _Tokens:
        """Return words without an article before them: "the Netherlands"."""
        return some[bool(some) and some[0].word in self["articles"] and not some[0].capital :]


_table = cache(_Table)


def names(own: str) -> list[str]:
    """Return the attributes that are looked for: those that are known, and those of an own table, '' for none."""
    return list(dict.fromkeys((*MANY, *(row.name for row in own_rows(own)))))


def own_rows(own: str) -> Sequence[_Row]:
    """Return the rows of an own table; raises SettingsError where it can't be used."""
    return _file(Path(own)).tells if own else ()


@cache
def _file(path: Path) -> _File:
    """Read a table; raises SettingsError naming the file and what is wrong with it."""
    try:
        return _File.model_validate(tomllib.loads(path.read_text("utf-8")))
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
    except (OSError, ValueError) as error:  # it can't be read, or is no TOML in UTF-8
        faults = str(error)
    raise SettingsError(f"The table of attributes {path} can't be used: {faults}. docs/lifecycle.md shows one.")


def _spelt_out(pattern: str) -> Iterator[str]:
    """Yield the phrases that a pattern stands for: "|" stands between alternatives, "?" behind what may lack.

    >>> [*_spelt_out("i|we have? moved to")]
    ['i have moved to', 'i moved to', 'we have moved to', 'we moved to']
    """
    choices = ([*word.rstrip("?").split("|"), *([""] if word.endswith("?") else [])] for word in pattern.split())
    return (" ".join(filter(None, some)) for some in product(*choices))
