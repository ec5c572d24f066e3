"""What a message tells about who says it, found without a model: the name, the residence, the job, the diet and so on.

Only a plain statement in the first person counts: a clause that begins with a phrase of `english-profile.toml`, or of
another language's, and tells nothing behind the value that could take it back. One that denies what such a phrase says
("I'm not allergic to nuts after all") ends the value. What is missed costs little. What is wrong would stand in every
prompt.
"""

import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise, product

from memgraph_engine.language.reading import Reading
from memgraph_engine.language.statement import own_words
from memgraph_engine.language.terms import LISTED, word_list, word_values
from memgraph_engine.language.wording import ORDINAL, Token, parted, phrases_in, words
from memgraph_engine.model.marker import without_recalled
from memgraph_engine.model.profile import LONGEST_VALUE, Delta
from memgraph_engine.resources import resource

_LONGEST = 600  # characters of a message that is still told, and not pasted
_CAPITALS = 4  # words of a name or a place
_INTRODUCED = 2  # words of a name behind "I'm"
_ACTIVITY = 3  # words of a hobby, or of what somebody is allergic to
_WORK = 4  # words of a job, with the article
_DENIED = 4  # words of a clause among which what denies it begins
_OLDEST = 120  # years
_ACRONYM = re.compile(r"[A-Z]{2,4}")
_YEAR = re.compile(r"(?:18|19|20)\d\d")
_DAY = re.compile(r"\d{1,2}")

_Tokens = Sequence[Token]
_Read = list[tuple[str, int]]
"""Values, each with the number of tokens up to its end."""


def attributes(text: str, language: str) -> list[Delta]:
    """Return what a message tells about who says it, in order.

    >>> told = attributes("Hi! I live in Lisbon now and I'm allergic to nuts. Do I live in Faro?", "english")
    >>> [(one.name, one.value) for one in told]
    [('residence', 'Lisbon'), ('allergy', 'nuts')]
    >>> attributes("My friend lives in Porto. If I lived in Rome, I'd walk. Do I live in Faro?", "english")
    []
    >>> attributes("I don't live in Faro any more.", "english")
    [Delta(name='residence', value='Faro', ends=True)]
    """
    if language not in LISTED or len(text) > _LONGEST:
        return []
    reading, book = Reading(without_recalled(text), language), _phrasebook(language)
    if phrases_in(reading.forms, book.unreal):
        return []
    found: dict[tuple[str, str, bool], Delta] = {}
    opens = True
    for tokens, behind in pairwise([*parted(own_words(reading), "sentence"), []]):
        sentence = _Sentence(tokens, reading, book)
        for delta in () if book.takes_back(behind) else sentence.told(opens=opens):  # "Actually, York."
            found[delta.name, delta.value.casefold(), delta.ends] = delta
        opens = opens and sentence.begin >= len(tokens)
    return list(found.values())


@dataclass(frozen=True)
class _Sentence:
    """A sentence, and what it tells about who says it."""

    tokens: _Tokens
    reading: Reading
    book: "_Phrasebook"

    def told(self, *, opens: bool) -> Iterator[Delta]:
        """Yield what it tells; the one that `opens` a message may introduce who says it."""
        tokens, book, first = self.tokens, self.book, self.begin
        if tokens[0].asked:
            return
        own, end, before = False, first, list[str]()  # the words so far, without the phrases that told something
        for at in range(first, len(tokens)):
            if at > first and not (own and (_apart(tokens, at) or (tokens[at - 1].word in book.joints and at > 1))):
                continue
            before += words(tokens[end:at])
            end = at
            changes, length = self._clause(tokens[at:], opens=opens and at == first)
            told = length > 0 and book.doubts.isdisjoint(before)  # not "I stopped", "I don't" before it
            if at == first:
                own = tokens[at].word in book.first_person or told
            if told:
                yield from changes
                end = at + length

    @cached_property
    def begin(self) -> int:
        """Where it begins without "hi", "well" and who is greeted with a name behind it."""
        at, tokens, book = 0, self.tokens, self.book
        while at < len(tokens) and (length := _opening(tokens[at:], book.idle)):
            denies = tokens[at].word in book.doubts  # "No vivo" is none, "No, vivo" is one
            if denies and not (at + 1 < len(tokens) and _apart(tokens, at + 1)):
                break
            at += length
        greeted = at and at + 1 < len(tokens) and tokens[at].capital and _apart(tokens, at + 1)
        return at + 1 if greeted and tokens[at].word not in book.first_person else at

    def _clause(self, clause: _Tokens, *, opens: bool) -> tuple[Sequence[Delta], int]:
        """Return what a clause tells that begins with the longest phrase, or a denied one, and that one's words."""
        for said, denial in ((clause, ""), *_undenied(clause, self.book)):
            for phrase, length in sorted(_phrases(said, self.book), key=lambda one: -one[1]):
                for kind, value in phrase:
                    if (kind == "introduction" and not opens) or (denial and kind.startswith("-")):
                        continue
                    if found := self._valued(kind, value, said[length:], denial):
                        return found, length + len(clause) - len(said)
        return (), 0

    def _valued(self, kind: str, value: str, rest: _Tokens, denial: str) -> list[Delta]:
        """Return what a phrase tells: the value that it has itself, or what stands behind it."""
        book = self.book
        over, kind = kind.startswith("-"), kind.removeprefix("-")
        ends = over or denial != ""
        name = _NAMES.get(kind, kind)
        if name != "birthday" and any(_YEAR.fullmatch(token.plain) for token in self.tokens):
            return []  # what was so in some year may be so no more
        if value or (over and kind not in _ENDED):
            read = [(one, 0) for one in value.split("+")]
        else:
            read = _READ[kind](self, rest)
        behind = rest[read[-1][1] :] if read else ()
        if not read or (denial and not self._wholly(denial, behind)):
            return []
        at = behind[self._until_untimed(behind) :] if kind in _EVENTS else behind  # "I turned 35 last week"
        if not (self._closed(at, denied=denial != "") or self._contrasted(kind, behind)):
            return []
        found = [Delta(name, one[:LONGEST_VALUE], ends) for one, _ in read]
        if name == "employer" and not ends:
            role = self._further("job", book.roles, behind)
            before = [Delta("job", ends=True)] if kind.startswith("new-") or (kind == "started" and role) else []
            return [*before, *found, *role] if kind != "started" or role else []
        if name != "job":
            return found
        # who has no job any more, or another one, is no more where he was; who only has not that one may be
        left = ends or kind.startswith("new-") or value != ""
        if denial:
            left = denial in book.no_more or _opening(behind, book.no_more) > 0
        firm = [] if ends else self._further("employer", book.firms, behind)
        return [*([Delta("employer", ends=True)] if left else []), *found, *firm]

    def _wholly(self, denial: str, behind: _Tokens) -> bool:
        """Tell whether a value is denied, and not what is said of it: "I'm not a nurse for the money" is one.

        "No longer" and "any more" leave no doubt.
        """
        book = self.book
        if denial in book.no_more or _opening(behind, book.no_more):
            return True
        behind = behind[_opening(behind, book.tails) :]
        return not self._goes_on(behind) or behind[0].word not in book.limits | book.reasons

    def _goes_on(self, behind: _Tokens) -> bool:
        """Tell whether tokens go on with the clause that stands before them."""
        return bool(behind) and not _apart(self.tokens, self.tokens.index(behind[0]))

    def _until_untimed(self, rest: _Tokens) -> int:
        """Count the words of time with which some tokens begin: "last week"."""
        times = (at for at, token in enumerate(rest) if not (token.timely or token.word in self.book.limits))
        return next(times, len(rest)) if any(token.timely for token in rest[:2]) else 0

    def _further(self, name: str, leads: Collection[str], rest: _Tokens) -> list[Delta]:
        """Read where somebody has the job that stands before, "at Acme", or as what he works there, "as a nurse"."""
        if not self._goes_on(rest) or rest[0].word not in leads:
            return []
        the = name == "employer" and bool(rest[1:]) and rest[1].word in self.book.definite
        behind, read = rest[1 + the :], self.workplace if the else self.proper if name == "employer" else self.work
        found = read(behind)
        behind = behind[found[0][1] :] if found else ()
        told = bool(found) and self._closed(behind[self._until_untimed(behind) :])
        return [Delta(name, found[0][0][:LONGEST_VALUE])] if told else []

    def _closed(self, rest: _Tokens, *, denied: bool = False) -> bool:
        """Tell whether a value ends where it ends: with its clause, or before a word that goes on about something else.

        What follows in the sentence has to be told of somebody or something: "…, sorry, York" is not. What is denied is
        not taken back by another denial: "I'm not a nurse any more, I quit".
        """
        book = self.book
        rest = rest[_opening(rest, book.tails) :]
        less = book.doubts - book.negations if denied else book.doubts
        if not (less | book.alternatives).isdisjoint(words(rest[:2])) or (book.takes_back(rest) and not denied):
            return False
        joined = bool(rest) and rest[0].word in book.joints
        if joined or not self._goes_on(rest):
            return denied or not rest[joined:] or rest[joined].word in book.subjects
        if rest[0].word in book.firms | book.roles:
            return bool(self._further("employer", book.firms, rest) or self._further("job", book.roles, rest))
        if rest[0].word in book.inside:  # "in March" tells when, "in this game" that it is none
            return any(token.day.startswith(("month", "season")) for token in rest[1:2])
        return rest[0].word in book.after

    def _contrasted(self, kind: str, rest: _Tokens) -> bool:
        """Tell whether another value of the kind is denied behind one: "I live in Braga, not in Lisbon"."""
        if not rest or rest[0].word not in self.book.negations or kind not in _READ:
            return False
        led = 2 if rest[1:2] and rest[1].word in word_list(self.book.language, "detail-words") else 1
        read = _READ[kind](self, rest[led:])
        return bool(read) and self._closed(rest[led + read[-1][1] :])

    # ---- values, read from what stands behind a phrase -------------------------------------------

    def capitals(self, rest: _Tokens) -> _Read:
        """Read a name or a place: words with capitals, and "de" or "of" between them."""
        end = 0
        for at, token in enumerate(rest[: 2 * _CAPITALS]):
            if at and _apart(rest, at):
                break
            if token.capital and token.word not in self.book.never_named:
                end = at + 1
            elif not (end and token.word in self.book.links):
                break
        return [(self.reading.words(rest[:end]), end)] if 0 < end <= _CAPITALS else []

    def place(self, rest: _Tokens) -> _Read:
        """Read a place, with the country behind a comma: "Lisbon, Portugal"."""
        read = self.capitals(rest)
        end = read[0][1] if read else 0
        further = self.capitals(rest[end:]) if read and rest[end:] and _apart(rest, end) else []
        behind = end + further[0][1] if further else 0
        if behind and (behind == len(rest) or _apart(rest, behind)):
            end = behind
        return [(self.reading.words(rest[:end]), end)] if end else []

    def dwelling(self, rest: _Tokens) -> _Read:
        """Read a place where somebody lives, in a sentence that speaks of no program, device or department."""
        read = self.place(rest) if self.book.products.isdisjoint(words(self.tokens)) else []
        return [] if self.book.known.issuperset(words(rest[: read[0][1] if read else 0])) else read

    def proper(self, rest: _Tokens) -> _Read:
        """Read a name of words that mean nothing else: "Acme", "Dr. Costa", not "Home" or "Crazy"."""
        read = self.capitals(rest)
        return read if read and self.book.known.isdisjoint(words(rest[: read[0][1]])) else []

    def introduced(self, rest: _Tokens) -> _Read:
        """Read a name of one or two words, none of which may be a people, a belief or another word with a capital."""
        read = self.capitals(rest)
        some = rest[: read[0][1]] if read else ()
        return read if all(self._named(token) for token in some) and len(some) <= _INTRODUCED else []

    def _named(self, token: Token) -> bool:
        # "Spanish" and "Brazilian" end as a people does; "ADHD" is short for something
        shaped = any(token.word.endswith(end[1:]) for end in self.book.others if end[0] == "-")
        return not (token.word in self.book.known or shaped or token.written.isupper())

    def activity(self, rest: _Tokens) -> _Read:
        """Read what somebody does: up to three words, until the clause goes on about something else."""
        start = _opening(rest, self.book.articles)
        end = self._until(rest, start, self.book.after)
        return [(self.reading.words(rest[start:end]), end)] if 0 < end - start <= _ACTIVITY else []

    def workplace(self, rest: _Tokens) -> _Read:
        """Read where somebody works behind "the": "county hospital"; "the moment" is none."""
        read = self.activity(rest)
        return [] if any(token.timely for token in rest[: read[0][1] if read else 0]) else read

    def _until(self, rest: _Tokens, start: int, stops: Collection[str]) -> int:
        """Return where the words behind a place end: with their clause, or before one of some words."""
        ends = (at for at in range(start, len(rest)) if rest[at].word in stops or (at > start and _apart(rest, at)))
        return next(ends, len(rest))

    def job(self, rest: _Tokens) -> _Read:
        """Read an occupation that is listed, with what is listed of it before and behind, or is in capitals: "UX"."""
        book = self.book
        start = at = _opening(rest, book.articles)
        found = False
        while at < len(rest) and not (at > start and _apart(rest, at)):
            if rest[at].word in book.occupations:
                found = True
            elif rest[at].word not in book.modifiers and (found or not _ACRONYM.fullmatch(rest[at].written)):
                break
            at += 1
        return [(self.reading.words(rest[start:at]), at)] if found else []

    def work(self, rest: _Tokens) -> _Read:
        """Read as what somebody works: an occupation that is listed, or looks like one, with any words before it.

        "I'm a terrible cook" tells no job, but "I work as a lead cook" does.
        """
        if read := self.job(rest):
            return read
        book, start = self.book, _opening(rest, self.book.articles)
        stops = book.after | book.joints | book.doubts | book.links | book.first_person | book.alternatives
        end = self._until(rest, start, stops | book.inside | book.roles | book.firms)
        last = rest[end - 1].word if end > start else ""
        told = last in book.occupations or (start and any(last.endswith(one[1:]) for one in book.agents))
        return [(self.reading.words(rest[start:end]), end)] if last and told and end - start < _WORK else []

    def food(self, rest: _Tokens) -> _Read:
        """Read what somebody eats no more, "no meat", and not only at a time, at a place or for a while."""
        book = self.book
        found = self._listed(rest, lambda some: all(one.word in book.foods for one in some))
        behind = rest[found[-1][1] :] if found else ()
        behind = behind[_opening(behind, book.tails) :]
        limited = self._goes_on(behind) and behind[0].word in book.limits
        return [] if limited else [(f"{book.without} {food}", end) for food, end in found]

    def eaten(self, rest: _Tokens) -> _Read:
        """Read what somebody eats again."""
        found = self.food(rest)
        behind = rest[found[-1][1] :] if found else ()
        size = _opening(behind, word_list(self.book.language, "anew"))
        return [*found[:-1], (found[-1][0], found[-1][1] + size)] if size else []

    def allergens(self, rest: _Tokens) -> _Read:
        """Read what somebody is allergic to, one behind another: "nuts, shellfish and pollen"."""
        return self._listed(rest, lambda some: all(one.word in self.book.allergens for one in some))

    def languages(self, rest: _Tokens) -> _Read:
        """Read languages, one behind another: "Polish and German"."""
        clause = rest[: next((at for at in range(len(rest)) if _apart(rest, at)), len(rest))]
        told = self._listed(clause, lambda some: len(some) == 1 and some[0].capital and bool(some[0].stem))
        return [(rest[end - 1].written, end) for _, end in told]

    def _listed(self, rest: _Tokens, fits: Callable[[_Tokens], bool]) -> _Read:
        """Read things of one or few words that fit, one behind another."""
        book, found, at = self.book, list[tuple[str, int]](), 0
        while at < len(rest):
            start = at
            while start < len(rest) and rest[start].word in book.articles | book.joints | book.alternatives:
                start += 1
            end = start
            while end < len(rest) and end - start < _ACTIVITY and fits(rest[start : end + 1]):
                if end > start and _apart(rest, end):
                    break
                end += 1
            if end == start or (found and not (start > at or _apart(rest, at))):
                break
            found.append((self.reading.words(rest[start:end]).casefold(), end))
            at = end
        return found

    def age(self, rest: _Tokens) -> _Read:
        """Read an age in years, which are named: "34 years old"."""
        read = self.turned(rest)
        years = _opening(rest[1:], self.book.years)
        return [(read[0][0], 1 + years)] if read and years else []

    def turned(self, rest: _Tokens) -> _Read:
        """Read the age that somebody has come to: "turned 35"."""
        told = rest[:1] and rest[0].plain.isdecimal() and 0 < int(rest[0].plain[:4]) < _OLDEST
        return [(rest[0].plain, 1)] if told else []

    def birthday(self, rest: _Tokens) -> _Read:
        """Read a day of the year: a month by its name, a day, and a year if there is one."""
        kinds, start, end = list[str](), -1, 0
        for at, token in enumerate(rest[:7]):
            month = token.day.startswith("month")
            kind = "month" if month else "year" if _YEAR.fullmatch(token.plain) else ""
            kind = kind or ("day" if _DAY.fullmatch(token.plain) else "")
            if kind:
                start, end = at if start < 0 else start, at + 1
                kinds.append(kind)
            elif token.word not in self.book.articles | self.book.links | ORDINAL:
                break
        told = sorted(kinds) in (["day", "month"], ["day", "month", "year"])
        return [(self.reading.words(rest[start:end]), end)] if told else []


_NAMES = {
    "introduction": "name",
    "moved": "residence",
    "work": "job",
    "new-job": "job",
    "new-work": "job",
    "started": "employer",
    "new-employer": "employer",
    "workplace": "employer",
    "turned": "age",
    "without": "diet",
    "eaten": "diet",
}
"""Attributes by the kinds of phrases that are read otherwise than their own."""

_ENDED = ("allergy", "hobby", "without", "eaten")
"""Kinds of which a phrase ends the value that stands behind it, and not all."""

_EVENTS = frozenset({"turned", "moved", "started", "workplace", "new-employer", "new-job", "new-work"})
"""Kinds of which it is told when it came to them: "last week" does not say that it is over."""

_READ: Mapping[str, Callable[[_Sentence, _Tokens], _Read]] = {
    "name": _Sentence.capitals,
    "introduction": _Sentence.introduced,
    "nickname": _Sentence.proper,
    "residence": _Sentence.dwelling,
    "origin": _Sentence.place,
    "moved": _Sentence.dwelling,
    "job": _Sentence.job,
    "work": _Sentence.work,
    "new-job": _Sentence.job,
    "new-work": _Sentence.work,
    "employer": _Sentence.proper,
    "started": _Sentence.proper,
    "new-employer": _Sentence.proper,
    "workplace": _Sentence.workplace,
    "without": _Sentence.food,
    "eaten": _Sentence.eaten,
    "allergy": _Sentence.allergens,
    "language": _Sentence.languages,
    "age": _Sentence.age,
    "turned": _Sentence.turned,
    "birthday": _Sentence.birthday,
    "hobby": _Sentence.activity,
}


def _apart(tokens: _Tokens, at: int) -> bool:
    """Tell whether a token begins another clause than the one before it."""
    return at > 0 and tokens[at].clause != tokens[at - 1].clause


def _opening(rest: _Tokens, phrases: Collection[str]) -> int:
    """Return how many tokens the longest of some phrases has with which a clause begins; 0 for none."""
    sizes = (phrase.count("_") + 1 for phrase in phrases if _is_at(rest, phrase))
    return max(sizes, default=0)


def _is_at(rest: _Tokens, phrase: str) -> bool:
    said = rest[: phrase.count("_") + 1]
    return "_".join(words(said)) == phrase and not any(_apart(said, at) for at in range(1, len(said)))


def _undenied(clause: _Tokens, book: "_Phrasebook") -> Iterator[tuple[_Tokens, str]]:
    """Yield a clause without the words that deny it, and these: "I live in Faro" and "no_longer"."""
    for at in range(min(_DENIED, len(clause))):
        if _apart(clause, at):
            return
        for denial in book.denials:
            if _is_at(clause[at:], denial):
                rest = clause[at + denial.count("_") + 1 :]
                if not rest or rest[0].clause == clause[at].clause:
                    yield [*clause[:at], *rest], denial
                return


def _phrases(clause: _Tokens, book: "_Phrasebook") -> Iterator[tuple[Sequence[tuple[str, str]], int]]:
    """Yield what is listed for each phrase that a clause begins with, adverbs aside, and the tokens that it takes."""
    said = list[str]()
    for at, token in enumerate(clause):
        if _apart(clause, at):
            return
        if token.word not in book.adverbs or not said:
            said.append(token.word)
        if found := book.phrases.get(" ".join(said)):
            more = clause[at + 1 :]
            skipped = next((n for n, one in enumerate(more) if one.word not in book.adverbs), len(more))
            yield found, at + 1 + skipped
        if len(said) >= book.longest:
            return


class _Phrasebook:
    """The phrases of a language with which one tells of oneself, and the words of grammar around them."""

    def __init__(self, language: str) -> None:
        given = tomllib.loads(resource("config", "language", f"{language}-profile.toml").read_text(encoding="utf-8"))

        def listed(*kinds: str) -> frozenset[str]:
            return frozenset[str]().union(*(word_list(language, kind) for kind in kinds))

        def words_of(*kinds: str) -> frozenset[str]:
            return frozenset(word for kind in kinds for word in given["grammar"][kind].split())

        self.language, self.without = language, str(given["without"])
        self.phrases: dict[str, list[tuple[str, str]]] = {}  # kinds of what each tells, with the value if it has it
        for attribute, patterns in given["phrases"].items():
            kind, _, value = attribute.partition(":")
            for phrase in (one for pattern in patterns for one in _spelt_out(pattern)):
                self.phrases.setdefault(phrase, []).append((kind, value))
        self.longest = max(phrase.count(" ") + 1 for phrase in self.phrases)
        self.adverbs, self.years, self.articles = words_of("adverbs"), words_of("years"), words_of("articles")
        self.links, self.joints, self.inside = words_of("links"), words_of("joints"), words_of("inside")
        self.definite = words_of("definite")
        self.after, self.agents = words_of("ends"), words_of("agents")
        self.limits, self.reasons = words_of("limits", "inside"), words_of("reasons")
        self.roles, self.firms, self.alternatives = words_of("roles"), words_of("firms"), words_of("alternatives")
        self.denials = sorted(words_of("denials"), key=lambda one: -one.count("_"))
        self.no_more, self.tails = words_of("no_more"), words_of("tails", "no_more")
        self.idle = words_of("openers") | listed("neutral-words", "interjections")
        self.doubts = frozenset(word for word in listed("hedges", "modals", "negations") if "_" not in word)
        self.negations, self.first_person = listed("negations"), listed("first-person")
        self.never_named = frozenset(word_values(language, "dates")) | listed("time-words", "stop-words")
        self.occupations, self.modifiers = listed("occupations"), listed("occupation-modifiers")
        self.products, self.foods, self.allergens = listed("products"), listed("foods"), listed("allergens")
        self.others = listed("not-names")
        self.known = self.others | self.products | listed("common-words", "weak-words", "content-words")
        self.unreal = listed("made-up", "suppositions") | words_of("borrowed")
        self._retractions = frozenset(word_values(language, "editing-terms")) | listed("corrections")
        self.subjects = listed("persons", "determiners", "question-words") | self.first_person

    def takes_back(self, behind: _Tokens) -> bool:
        """Tell whether what follows a statement may take it back: "Actually, …", "Not."."""
        alone = len(behind) < _DENIED and not self.negations.isdisjoint(words(behind))
        return alone or _opening(behind, self._retractions) > 0


_phrasebook = cache(_Phrasebook)


def _spelt_out(pattern: str) -> Iterator[str]:
    """Yield the phrases that a pattern stands for: "|" stands between alternatives, "?" behind what may lack.

    >>> [*_spelt_out("i|we have? moved to")]
    ['i have moved to', 'i moved to', 'we have moved to', 'we moved to']
    """
    choices = ([*word.rstrip("?").split("|"), *([""] if word.endswith("?") else [])] for word in pattern.split())
    return (" ".join(filter(None, some)) for some in product(*choices))
