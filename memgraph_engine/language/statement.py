"""What a line states: its clauses, each as if it stood by itself, and whose state each tells."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import dropwhile, groupby, islice, pairwise, takewhile
from operator import attrgetter
from typing import NamedTuple
from unicodedata import normalize

from memgraph_engine.language.reading import Reading, once
from memgraph_engine.language.tense import is_verb, past, present
from memgraph_engine.language.terms import word_list
from memgraph_engine.language.verbs import asks, begin, finite_verb, imperative
from memgraph_engine.language.wording import (
    ORDINAL,
    Lists,
    Token,
    dates,
    names,
    numbers,
    parted,
    phrases_in,
    stems,
    taken_back,
    text_of,
    timeless,
    words,
)

_MARKS = r"\"“”„«»‹›「」『』⟨⟩＂`"
_QUOTED = re.compile(rf"(?m)[{_MARKS}][^{_MARKS}\n]*[{_MARKS}]|(?<!\w)['‘](?=\w).*?['’](?!\w)|^\s*>.*")
_COLON = re.compile(r"(?<=[\w)\]]):\s")
_MOST = 30  # clauses of a line that are read: each is held against each of others
_UNIT, _WHO = 3, 4  # letters that a unit is shorter than: "pm"; words that name one: "my boyfriend Tom"
_NAMED = ("a thing", "a name")  # how a subject begins
_LONGEST, _BESIDE = 12, 3  # words of a subject that are read, and parts of a sentence that may tell who it is


class Statement:
    """A clause, and what it tells without its words of change.

    `own` is the clause as it stands, `lead` what it goes on from: "in York" from "I work" behind "I work in Leeds and".
    It is `past` where it tells what was: that has no end to come.
    `changes` are its words of change, `around` those of other clauses of its sentence: "the fox came, I have 4 hens".
    `origin` is what was before, where it tells that; it is none of its `tokens`: "from 20" of "raised from 20 to 40".
    """

    def __init__(self, own: Sequence[Token], lead: Sequence[Token], line: Reading) -> None:
        self.own, self.lead, self.line, self.lists = own, lead, line, (lists := line.lists)
        before, self.origin, behind = _origin([*lead, *own], lists)
        self.tokens = [*before, *behind]
        self.words = words(self.tokens)
        told = phrases_in(self.words, lists.changing)
        over = frozenset[int]().union(*(told[phrase] for phrase in told.keys() & lists.over))  # "ya no" has no "ya"
        kept = {one: held for one, held in told.items() if one in lists.over or not held <= over}
        found = {phrase: held for phrase, held in kept.items() if self._tells_change(phrase, held)}
        self.changes, self.around, self._changing = tuple(found), tuple[str, ...](), found
        self.sentence = own[-1].sentence
        self.past = bool(phrases_in(self.words, lists.past))
        changing = frozenset[int]().union(*found.values())
        self.body = tuple(token for at, token in enumerate(self.tokens) if at not in changing)
        self.hedged = bool(phrases_in(words(self.body), lists.hedges))
        supposing = phrases_in(self.words, lists.supposing).items()
        ends = (
            _when(self.tokens[max(at)], self.tokens[max(at) + 1 :], lists)
            for word, at in supposing
            if word in lists.goals
        )
        self.supposed = len(supposing) > sum(ends)
        self.content = stems(self.body)

    def _tells_change(self, phrase: str, held: frozenset[int]) -> bool:
        """Tell whether a word of change is one where it stands: "new" only beside the noun that is told of.

        "My new boss" is another one; "a new cat" is one more, as "my new daughter" is, and "the new bike" a detail.
        What "I am used to" has not ended, as what "I used to" do has.
        """
        if "~" in phrase and phrase in self.lists.over and timeless(self.tokens[max(held) + 1 :][:1]):
            return False  # "I don't want any more soup"
        if phrase in self.lists.past:
            return not any(present(word, self.line.language) for word in self.words[: min(held)][-1:])
        if phrase not in self.lists.novelty:
            return True
        first, *rest = self.words
        beside = [one for at, one in enumerate(rest[:2], 1) if at not in held]
        return first in self.lists.determiners and len(beside) == 1 and beside[0] not in self.lists.several

    @cached_property
    def tells(self) -> bool:
        """Whether it may tell a change: it has a word of one, takes a value back, or tells a feeling."""
        takes_back = any(taken_back(self.tokens, self.lists))
        return not self.hedged and bool(self.changes or self.around or takes_back or self.feeling)

    @cached_property
    def event(self) -> bool:
        """Whether it tells what happened, and no change by it: that stays so, whatever happens next."""
        return not self.changes and past(self.words, self.line.language)

    @cached_property
    def turned(self) -> bool:
        """Whether its words of change are all verbs: "they moved it", not "it is at 9 now"."""
        return bool(self.changes) and len(self._verbs) == len(self.changes)

    @cached_property
    def values(self) -> Sequence[Token]:
        """The tokens of its body that may be the value of what it tells.

        Behind a verb of change they are what that leads to ("moved to Friday at 9"): the rest tells when and where it
        changed. Of what happened they are what it was done for ("booked for Friday"), of any other clause all.
        """
        if not self.event and not self.turned:
            return self.body
        ends = {max(held): phrase.split("_")[-1] in self.lists.goals for phrase, held in self._changing.items()}
        led = [*_led_to(self.tokens, ends, self.lists)]
        return [token for token in led if self._times(token)] if self.event else led

    def _times(self, token: Token) -> bool:
        """Tell whether it is a date, or a number that is told as a day or an hour: "the 5th", "8am", "8:30"."""
        if not token.number:
            return token.date is not None
        at = self.tokens.index(token)
        told = not {*words(self.tokens[at + 1 : at + 2])}.isdisjoint(ORDINAL | self.lists.clock)
        return told or ":" in token.written or bool(dates(self.tokens[at - 1 : at + 2]))

    @cached_property
    def _verbs(self) -> Sequence[int]:
        """Where its verbs of change end."""
        adverbs = self.lists.since | self.lists.corrections
        return [max(held) for phrase, held in self._changing.items() if phrase not in adverbs]

    @cached_property
    def acted_on(self) -> Sequence[Token]:
        """What its verb of change does something to, if that is one known thing, and what is told behind it.

        "My lesson to Friday" of "they moved my lesson to Friday".
        """
        things = (self.tokens[at + 1 :] for at in self._verbs)
        body = next((one for one in things if one and one[0].word in self.lists.determiners), [])
        return [token for token in body if token in self.body]

    @cached_property
    def becoming(self) -> frozenset[str]:
        """The numbers right behind its verb of change: "turned 7", "went up to 12"."""
        return frozenset(one.plain for at, one in enumerate(self.tokens) if one.number and at - 1 in self._verbs)

    @cached_property
    def patient(self) -> frozenset[str]:
        """The stems of the thing that is `acted_on`."""
        return stems(takewhile(lambda token: token.stem and not token.number, self.acted_on[1:]))

    @cached_property
    def relocates(self) -> frozenset[str]:
        """What he does elsewhere since, to live or to work: "moved back to York", not "moved my desk"."""
        lists = self.lists
        held = {max(self._changing[phrase]): phrase for phrase in self.changes if phrase in lists.relocation}
        back = {phrase.split("_")[-1] for phrase in self.changes} & lists.goals
        led = (
            at for at in held if self.words[at] in lists.details or {*self.words[at + 1 : at + 2]} & lists.goals or back
        )
        found = frozenset(lists.relocation[held[at]] for at in led)
        return found if lists.products.isdisjoint(self.words) else frozenset()

    def whose(self, thing: frozenset[str]) -> str:
        """Return how it tells whose a thing is, where it does: "my" of "my lesson", '' of "the lesson"."""
        owners = self.lists.determiners - self.lists.details - self.lists.dates.keys()  # "this"
        led = (before.word for before, token in pairwise(self.tokens) if token.stem in thing)
        word = next((word for word in led if word in owners), "")
        return "my" if word in self.lists.first_person else word

    def same_owner(self, other: "Statement", thing: frozenset[str]) -> bool:
        """Tell whether both tell of one owner's thing, as far as they say whose: not "my car" and "his car"."""
        return len({self.whose(thing), other.whose(thing)} - {""}) < 2

    def tells_of(self, was: "Statement", new: frozenset[str], old: frozenset[str]) -> bool:
        """Tell whether it tells of whom or what another one tells of; `new` and `old` are their lines' content.

        Whose a thing is counts in every comparison: "Ben's flight" says nothing of mine.
        """
        thing = self.patient | {was.subject.noun} - {""}
        return self.subject.is_same(was.subject, new, old) and self.same_owner(was, thing)

    def may_mean(self, was: "Statement") -> bool:
        """Tell whether it may speak of whom or what another one tells of, though it tells of something else itself."""
        mine, whose = self.subject, was.subject
        if whose.speaker or self.is_open(was):
            return self.is_open(was) or not self.lists.speaker.isdisjoint(self.words)
        about = {whose.noun, whose.name} - {""}
        known = not mine.mine and not mine.speaker and mine.told_in(was.content)
        return about.isdisjoint({mine.noun, mine.name}) and (known or (bool(about) and whose.told_in(self.content)))

    def is_open(self, was: "Statement") -> bool:
        """Tell whether it leaves open what it tells of, which may be that of another one: "it", "he"."""
        return self.subject._replace(other="") == Subject() and not (self.subject.other and was.subject.speaker)

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
        return frozenset(dates(self.body))

    @cached_property
    def names(self) -> frozenset[str]:
        """The names in it, without the speaker's."""
        told, leads = frozenset(names(self.tokens)) & self.written - self.line.speaker_names, self.lists.name_leads
        return told & self.led_by(leads) if leads else told

    def led_by(self, leads: Collection[str]) -> frozenset[str]:
        """Return the words with content, but for times, to which one of some words leads right away: "to york"."""
        led = (one for before, one in pairwise(self.body) if before.plain in leads)
        return frozenset(one.written for one in led if one.stem and not one.timely)

    @cached_property
    def denies(self) -> bool:
        """Whether it holds a negation, beside one that belongs to its words of change."""
        return any(token.plain in self.lists.negations for token in self.body)

    @cached_property
    def subject(self) -> "Subject":
        """Whose or what thing's state it tells."""
        verb = min(self._verbs, default=len(self.tokens))
        before = [token for token in self.tokens[:verb] if token in self.body]
        body = [*dropwhile(lambda token: token.word in self.lists.interjections, before or self.body)]
        told = Subject.of(body, self.lists, self.line.speaker_names)
        return told if before or told.noun or told.other else Subject(speaker=True)  # "Moved to Bergen!"

    @cached_property
    def predicate(self) -> frozenset[str]:
        """The stems of what it tells of its subject before it comes to a name or a time: "live" of "Ana lives in Faro".

        Of "Ana is in Faro" there are none.
        """
        names = self.names
        told = takewhile(lambda one: one.opens or not (one.timed or one.written in names), self.body)
        about = self.subject
        return timeless(told) - {about.noun, about.name, about.owner, *map(str.casefold, names)}

    @cached_property
    def finite(self) -> bool:
        """Whether it has a subject and a verb of its own: "he is strict", not "but fair", "great idea" or "book it"."""
        lists, own = self.lists, self.own[begin(self.own, self.lists) :] or self.own
        said, at = words(own), finite_verb(own, self.line)
        if is_verb(said[0], self.line.language) and (
            (self.lead and self.lead[-1].sentence != own[0].sentence) or self.own[0].timely
        ):
            at = 0  # "the rent is up. It's 960.", "tomorrow is my exam"
        if said[0] in lists.questions and at != 0:
            return False  # "what a day we had"
        if said[0] in word_list(self.line.language, "second-person") | (lists.hedges & lists.joints):
            return False  # "you are great", "… that Ana is ill"
        if said[0] in lists.determiners and at == 1:
            return False  # "this is wrong"
        return at is not None and not (self.wanted and not self.lead)

    @property
    def standing(self) -> bool:
        """Whether it asks for what is to be so from now on: "call me Sam", "never suggest pork"."""
        return self.wanted and bool(phrases_in(self.words, self.lists.standing))

    @cached_property
    def wanted(self) -> bool:
        """Whether it says what somebody is to do: "book it", "let us meet at 9"."""
        return imperative(self.own, self.line)

    @property
    def parts(self) -> tuple[str, str, str]:
        """Its subject, predicate and value, as they are written: "Ana", "lives in", "Faro".

        The subject is '' where it is who speaks. A language without lists has all in the value.
        """
        if not self.lists.persons:
            return "", "", text_of(self.tokens)
        lists = self.lists
        tokens = self.tokens[begin(self.tokens, lists) :] or self.tokens
        start = _verb(tokens, self.line)
        led = [*takewhile(lambda one: one.timely or not is_verb(one.word, self.line.language), tokens)]
        mine = next((at for at, one in enumerate(led) if one.word in lists.speaker and not one.stem), None)
        start = start if mine is None else mine + 1
        end = _behind_verb(tokens, start, self.line)
        told = () if mine is not None or tokens[0].word in lists.speaker else tokens[:start]
        about, predicate, value = map(self.line.as_said, (told, tokens[start:end], tokens[end:]))
        return about, predicate, value

    def comes_from(self, was: "Statement") -> bool:
        """Tell whether another one holds what was before it by its own words, if it tells that."""
        told = self.origin
        return timeless(told) <= was.content and numbers(told) <= was.numbers and dates(told) <= was.dates

    @cached_property
    def feeling(self) -> tuple[str, bool, frozenset[str]] | None:
        """How the speaker feels about what: the words, whether that is well, and the stems of what it is about."""
        for phrase, held in phrases_in(self.words, frozenset(self.lists.attitudes)).items():
            before = self.tokens[: min(held)]
            if not self.lists.first_person.isdisjoint(self.words[: max(held) + 1]):
                denied = any(token.plain in self.lists.negations for token in before)
                about = stems(self.tokens[max(held) + 1 :])
                return phrase, (self.lists.attitudes[phrase] == "+") != denied, about
        return None


class Subject(NamedTuple):
    """Whose or what thing's state a clause tells: by its noun, or by its name; by neither if that is not told.

    `owner` is whose it is ("Tom's birthday"), `which` what else tells which it is ("the dog of my brother"), `speaker`
    that it is who speaks, `other` a word like "she", `thing` that it is one known thing, `mine` that it is his.
    """

    noun: str = ""
    name: str = ""
    owner: str = ""
    which: str = ""
    speaker: bool = False
    other: str = ""
    thing: bool = False
    mine: bool = False

    @classmethod
    def of(cls, body: Sequence[Token], lists: Lists, own: Collection[str] = ()) -> "Subject":
        """Read it from the words that a clause begins with; by `own` names the speaker tells of himself."""
        if not body:
            return cls()
        first = body[0].word
        if first in lists.determiners:
            noun, *rest = body[1:] or [body[0]]
            if rest and rest[0].plain == "'s" and len(rest) > 1 and rest[1].stem:
                return cls(rest[1].stem, owner=noun.stem, thing=True)
            name = next((token.stem for token in rest[:1] if token.stem and token.capital), "")
            led = next(iter(rest[bool(name) :]), noun).word in lists.details - lists.indefinite
            which = next((token.word for token in rest[bool(name) + 1 : -1] if token.stem), "") if led else ""
            return cls(noun.stem, name, which=which, thing=not name, mine=first in lists.first_person)
        owns = len(body) > 2 and body[1].plain == "'s" and bool(body[2].stem) and not body[2].number
        if body[0].written in own:
            return cls(body[2].stem, thing=True, mine=True) if owns else cls(speaker=True)
        if first in lists.first_person:
            return cls(speaker=True)
        if owns:
            return cls(body[2].stem, owner=body[0].stem, thing=True)
        if first in lists.persons - lists.anaphors:
            return cls(other=first)
        return cls(name="" if numbers(body[:1]) else body[0].stem)

    def told_in(self, content: frozenset[str]) -> bool:
        """Tell whether the content of another clause knows it."""
        told = {self.noun, self.name} - {""}
        return (not told or not told.isdisjoint(content)) and self.owner in {"", *content}

    def is_same(self, was: "Subject", new: frozenset[str], old: frozenset[str]) -> bool:
        """Tell whether a new clause tells of what an old one tells of, or each is known to the other's content."""
        if self.speaker and was.speaker:
            return True
        if (self.speaker and was.other) or (self.other and was.speaker):
            return False
        # "my dog", "my aunt's dog" and "the dog of my aunt" are three, as "he" and "she" are two
        others = (one.owner or (one.which and not one.mine) for one in (self, was))
        if (self.mine != was.mine and any(others)) or any(
            one and other and one != other for one, other in ((self.which, was.which), (self.other, was.other))
        ):
            return False
        known = self.speaker or self.told_in(old), was.speaker or was.told_in(new)
        return all(known) and not (self.name and was.name and self.name != was.name)


def statements(line: Reading) -> Sequence[Statement]:
    """Return the clauses of a line that state something of somebody or something, each as if it stood by itself."""
    return _read(line)[0]


def clauses(line: Reading) -> Sequence[Statement]:
    """Return what a line states, also what tells nothing but a change: "we broke up"."""
    stated, bare = _read(line)
    return sorted((*stated, *bare), key=lambda one: one.own[0].span) if bare else stated


@once
def _read(line: Reading) -> tuple[Sequence[Statement], Sequence[Statement]]:
    found: list[Statement] = []
    bare: list[Statement] = []
    before: list[Token] = []
    for clause in islice(_stated(line), _MOST):
        sentences = {clause[0].sentence, clause[0].sentence - (clause[0].word in line.lists.anaphors)}
        goes_on = bool(found) and found[-1].sentence in sentences
        lead, own = _begun(clause, found[-1]) if goes_on else ((), clause)
        one = Statement([*before, *own], lead, line)
        one.sentence = found[-1].sentence if goes_on else one.sentence
        if one.content:
            found.append(one)
            before = []
        elif one.changes and line.lists.idle.issuperset(words(one.body)):  # "Scratch that. It is in May."
            before = list(one.own)
        elif one.changes:
            bare.append(one)
    if before and found and found[-1].sentence == before[0].sentence:  # "It is in May, actually."
        found[-1] = Statement([*found[-1].own, *before], found[-1].lead, line)
    for _, some in groupby(found, key=attrgetter("sentence")):
        every = list(some)
        for one in every:
            one.around = tuple(phrase for other in every if other is not one for phrase in other.changes)
    return found, bare


def _begun(clause: Sequence[Token], before: Statement) -> tuple[Sequence[Token], Sequence[Token]]:
    """Return what a clause goes on from, and its own words: "it's 960" behind "they put the rent up" is of the rent."""
    if clause[0].word not in before.lists.anaphors:
        return _lead(clause, before), clause
    told, lists, thing = before.tokens, before.lists, list[Token]()
    for at, (one, after) in enumerate(pairwise(told)):
        known, owner = one.word in lists.determiners and after.stem, one.capital and one.stem and after.plain == "'s"
        thing = told[at : at + 2 + bool(owner)] if known or owner else thing
    return thing, (clause[1:] if thing else ()) or clause


def _lead(clause: Sequence[Token], before: Statement) -> Sequence[Token]:
    """Return what a clause without a subject of its own goes on from: the words before its like in the one before.

    So "and at 10" behind "we meet at 9" goes on from "we meet", "and my boss" behind "I like my job" from "I like";
    what has no like there, as "and works in Leeds", from the subject alone.
    """
    first, tokens, lists = clause[0].word, before.tokens, before.lists
    bare = sum(bool(token.stem) for token in clause) < 2 and all(token.stem for token in clause[1:])
    is_told = clause[0].stem and any(present(one.word, before.line.language) for one in clause[1:2])  # "tea is at 4"
    speaks = first in lists.speaker and clause[0].stem  # "trabajo en Acme"
    if first in lists.persons or speaks or is_told or (not bare and (first in lists.determiners or clause[0].capital)):
        return ()
    alike = [at for at in range(1, len(tokens)) if _like(tokens[at], lists) == _like(clause[0], lists)]
    at = len(tokens) - 1 if bare and tokens[-1].stem else _subject_length(tokens, lists)
    return tokens[: max(alike, key=lambda at: (tokens[at].number == clause[0].number, at), default=at)]


def _origin(tokens: Sequence[Token], lists: Lists) -> tuple[Sequence[Token], Sequence[Token], Sequence[Token]]:
    """Return the value that its verb of change leads away from before it comes to another, between all the rest."""
    led = [at for at, token in enumerate(tokens) if token.word in lists.origins]  # most have none
    verbs = phrases_in(words(tokens), lists.changing - lists.since - lists.corrections).values() if led else ()
    behind = min(map(max, verbs), default=len(tokens))
    first = next((at for at in led if at >= behind), len(tokens))
    last = next((at for at in range(first, len(tokens)) if tokens[at].word in lists.goals), first)
    first += first == behind  # "went from" is a verb of change
    value = first <= behind + 1 or any(one.kind != "word" for one in tokens[first:last])  # not "la clave del wifi"
    return (tokens[:first], tokens[first:last], tokens[last:]) if value and first < last else (tokens, (), ())


def _like(token: Token, lists: Lists) -> str:
    """Return what kind of phrase a word may begin."""
    if token.word in lists.determiners | lists.indefinite or token.number:
        return "a thing"
    return ("a name" if token.capital else f"the word {token.span}") if token.stem else token.word


def _subject_length(tokens: Sequence[Token], lists: Lists) -> int:
    """Count the words of the subject that a clause begins with: "my friend Ana", "Lea and Tom"."""
    tokens = tokens[:_LONGEST]
    first = 2 if tokens[0].word in lists.determiners else 1
    length = first + len([*takewhile(lambda token: token.capital and token.stem, tokens[first:])])
    more = tokens[length + 1 :]
    joined = more and tokens[length].word in lists.coordinators and _like(more[0], lists) in _NAMED
    end = length + 1 + _subject_length(more, lists) if joined else length
    of_one = not lists.singular.isdisjoint(words(tokens[end : end + 2]))  # "Nado y mi prima vive en Faro"
    return length if joined and of_one and _like(tokens[0], lists) != _like(more[0], lists) else end


def _verb(tokens: Sequence[Token], line: Reading) -> int:
    """Return where the verb stands, else the word behind the subject: "my wifi password is …", "moved to …"."""
    told = finite_verb(tokens, line)
    return min(_subject_length(tokens, line.lists), len(tokens)) if told is None else told


def _behind_verb(tokens: Sequence[Token], start: int, line: Reading) -> int:
    """Return where the predicate ends: behind the verb, what belongs to it and a word that leads to the value.

    "Am allergic to", "do not eat", "moved to"; of "have asthma" and "is strict" the value is the last word.
    """
    lists, end = line.lists, start
    things = lists.determiners | lists.indefinite | lists.details
    while end < len(tokens):
        one, ends = tokens[end], tokens[end + 1 :][:1]
        told = is_verb(one.word, line.language)
        value = one.number or (one.timely and not told) or not one.word[0].isalnum()  # "1,250", "year 3", "£"
        if value or (end > start and (one.capital or one.word in things)):
            break
        verb = told or not one.stem or one.word in lists.adverbs
        if not verb and end > start and (not ends or ends[0].span[0] == one.span[1]):
            break
        end += 1
        if not verb:
            break
    leads = lists.details - lists.determiners - lists.indefinite
    return end + (tokens[end].word in leads) if start < end < len(tokens) else end


def _stated(line: Reading) -> Iterator[Sequence[Token]]:
    """Yield the clauses without those that ask: of a sentence that ends in a question this is its last."""
    for clause, after in pairwise((*_clauses(line), ())):
        last = not after or after[0].sentence != clause[0].sentence
        if not clause[0].asked or not (last or clause[0].word in line.lists.questions):
            yield clause


def _clauses(line: Reading) -> Iterator[list[Token]]:
    """Yield the clauses, which also end before a word behind which stands another matter: "and", "so".

    What a value is told instead of is part of its clause ("8, not 7"), and so is who does it together: "Tom and I".
    """
    clause, lists = list[Token](), line.lists
    subjects = lists.persons | lists.determiners | lists.first_person
    for some in _apposed(parted(own_words(line), "clause"), line):
        pair = next(taken_back(some, lists), None)
        rest = some[some.index(pair[1]) + 1 :] if pair else ()
        units = all(one.number or one.capital or len(one.written) < _UNIT for one in rest)
        denied = pair is not None and pair[0] is some[0] and units
        if clause and not (denied and clause[-1].sentence == some[0].sentence):
            yield clause
            clause = []
        phrases = phrases_in(words(some), lists.changing | lists.single)
        within = frozenset[int]().union(*(held for phrase, held in phrases.items() if "~" not in phrase))
        size = _subject_length(some, lists)
        for at, token in enumerate(some):
            speaks = any(one.word in lists.speaker & lists.persons for one in some[at + 1 : at + 2])
            named = len(clause) < _WHO and all(one.stem or one.word in lists.determiners for one in clause)
            together = clause and ((named and speaks) or at < size or _when(token, some[at + 1 :], lists))
            if token.word not in lists.joints or at in within or together:
                clause.append(token)
                continue
            if clause:
                yield clause
            # "if" tells that less is stated than a plain fact, and stays with its clause; "Dana, who quit" is of her
            others = any(one.capital or one.word in subjects for one in some[at + 1 : at + 2])  # "in Rome when I quit"
            name = [one for one in clause[-1:] if one.capital and token.word in lists.questions and not others]
            clause = [token] if token.word in lists.hedges - lists.questions else name
    if clause:
        yield clause


def _when(lead: Token, behind: Sequence[Token], lists: Lists) -> bool:
    """Tell whether a word that may begin a clause leads to no more than a time: "until May 18"."""
    led = [*takewhile(lambda one: one.word not in lists.joints, behind)]
    only = all(one.timed or one.timely or not one.stem for one in led) and any(one.timed or one.timely for one in led)
    return only and lead.word not in lists.coordinators


def _apposed(parts: Iterable[list[Token]], line: Reading) -> Iterator[list[Token]]:
    """Yield the parts of sentences, with the subject put to its verb: "Ana is a nurse" of "Ana, my sister, is a nurse".

    Of "my aunt, who is a nurse, is ill" there are two.
    """
    held, lists = list[list[Token]](), line.lists
    for some in parts:
        goes_on = 0 < len(held) <= _BESIDE and held[0][0].sentence == some[0].sentence
        size = _subject_length(some, lists)
        told = is_verb(some[0].word, line.language) or (len(held) > 1 and _like(some[0], lists) not in _NAMED)
        who = [one for one in held if one[0].word not in lists.questions]  # "Ana", "my sister"
        if goes_on and told and len({_like(one[0], lists) for one in who}) == len(who):
            further = [one[1:] for one in held[1:] if one[0].word in lists.questions]
            yield from ([*held[0], *one] for one in (*further, some) if one)
        elif goes_on and len(some) > size and any(one.word in lists.coordinators for one in some[:size]):
            yield [token for one in (*held, some) for token in one]  # "Ana, Tom and Bo live here"
        elif (size >= len(some) and _like(some[0], lists) in _NAMED) or (goes_on and some[0].word in lists.questions):
            yield from () if goes_on else held
            held = [*held, some] if goes_on else [some]
            continue
        else:
            yield from (*held, some)
        held = []
    yield from held


def own_words(line: Reading) -> Sequence[Token]:
    """Return the tokens that are known to be the speaker's own words: what is quoted, he may not hold himself."""
    text, every = normalize("NFC", line.text), line.tokens
    spans = [match.span() for match in _QUOTED.finditer(text)]
    for colon in _COLON.finditer(text):
        head = parted([one for one in every if one.span[0] < colon.start()], "sentence")[-1:]
        spans += [(colon.end(), _end(told, line)) for told in head if not _is_own(told, line)]
    inside = ([one for one in every if start <= one.span[0] < end] for start, end in spans)
    said = [one for some in inside if not all(token.stem for token in some) for one in some]  # "Sol" is but a name
    for at, sentence in enumerate(parts := parted(every, "sentence")):
        if clauses := _reported(sentence, line.lists):
            before = text[sentence[-1].span[1] : parts[at + 1][0].span[0]] if clauses == 1 and parts[at + 1 :] else "."
            said += [one for some in (parts[at:] if before.isspace() else [sentence]) for one in some]  # "Jack said\n…"
    return [token for token in every if token not in said] if said else every


def _is_own(head: Sequence[Token], line: Reading) -> bool:
    """Tell whether a speaker announces his own words before a colon: "Big news:", "My address:"; not "Jack wrote:"."""
    lists, told = line.lists, words(head)
    mine = told[0] in lists.speaker or head[0].written in line.speaker_names
    thing = told[0] in lists.first_person and not phrases_in(told, lists.hedges) and not past(told, line.language)
    return mine or thing or bool(phrases_in(told, lists.changing)) or begin(head, lists) == len(head)


def _end(head: Sequence[Token], line: Reading) -> int:
    """Return where what a colon brings ends: with its sentence behind "Tell me what to say", where no text is named."""
    said, texts = {*words(head)}, line.lists.pointing | line.lists.mine | word_list(line.language, "works")
    apart = asks(head, line) and not said.isdisjoint(line.lists.values_asked) and said.isdisjoint(texts)
    return max(one.span[1] for one in line.tokens if not apart or one.sentence == head[0].sentence)


def _reported(sentence: Sequence[Token], lists: Lists) -> int:
    """Count the clauses of a sentence that another one has said, as one of them tells: "Jack said", "my boss told me".

    This names no more than the other one, and to whom; what goes on behind it ("so I quit") is the speaker's own again.
    """
    clauses, to_me = parted(sentence, "clause"), lists.speaker - lists.persons
    if any(clause[0].word in lists.joints for clause in clauses):
        return 0
    for clause in clauses:
        held = frozenset[int]().union(*phrases_in(words(clause), lists.supposing).values())
        rest = [one for at, one in enumerate(clause) if at not in held and one.word not in to_me]
        known = {*words(rest[:1])} <= lists.determiners and len(rest) == _subject_length(rest or clause, lists)
        named = known or all(one.capital and one.stem for one in rest)
        if held and rest and (named or {*words(rest)} <= lists.persons - lists.speaker):
            return len(clauses)
    return 0


def _led_to(tokens: Sequence[Token], ends: Mapping[int, bool], lists: Lists) -> Iterator[Token]:
    """Yield what stands behind a word like "to", or right behind a word of change, up to another preposition.

    `ends` has the place of the last word of each phrase of change, and whether that is a word like "to". Of a time that
    is set all parts are yielded: "to Friday at 9".
    """
    parting = lists.details - lists.determiners - lists.indefinite - lists.goals
    led = goal = timed = False
    for at, token in enumerate(tokens):
        if at in ends or token.word in lists.goals:
            led, goal = True, ends.get(at, True)
        elif token.word in parting:
            led = False
        elif led or (timed and token.timed):
            timed = timed or (goal and token.timed)
            yield token
