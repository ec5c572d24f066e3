"""What two texts can disagree on, read off by word lists: what is denied, numbers, dates, names, tense.

The lists are in `config/language/`. Their entries are words in lower case, with `_` between the words of a phrase
and `=` before a value. English and Spanish have them; in other languages only digits are read.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any

from memgraph_engine.language import tokenize, word_list
from memgraph_engine.model.text import Said

_REACH = 8  # words that a negation reaches, unless its clause ends before
_LONGEST_PHRASE = 4
LISTED = ("english", "spanish")  # languages with all lists
_COMMON = ("function-words", "interjections", "weak-words", "time-words")
_APOSTROPHES = str.maketrans(dict.fromkeys("‘’‛ʼ`´", "'"))
_TOKEN = re.compile(r"\d+(?:[.,:/-]\d+)*(?:st|nd|rd|th)?|[^\W\d_]+(?:['-][^\W\d_]+)*|[^\w\s]|\n")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)$")
_ENDS = frozenset(".!?…\n")
_BREAKS = frozenset(',;:()[]–—"“”«»')
_POSSESSIVE = re.compile(r"'s?$")
_NO_NAME = re.compile(r"(?:s|ing|ly|ed)$")
_YEAR = re.compile(r"(?:19|20)\d\d$")


@dataclass(frozen=True, slots=True)
class Facts:
    """What a line holds that another can contradict.

    `affirmed` and `denied` are content stems by where a negation reaches; `dates` has the values by kind (month,
    weekday, year, day, season, relative); `names` are case-folded words in order, the speaker's for a first person; the first of
    them may open the line; `implied` is the speaker where a line leaves out whom it is about;
    `plain` are the words in lower case, which are no names; `verbs` are stems with
    their tense; `cues` announce a correction.
    """

    affirmed: frozenset[str]
    denied: frozenset[str]
    numbers: frozenset[str]
    dates: Mapping[str, frozenset[str]]
    names: tuple[str, ...]
    opens: str
    implied: str
    plain: frozenset[str]
    verbs: frozenset[tuple[str, str]]
    cues: frozenset[str]

    @property
    def terms(self) -> frozenset[str]:
        """All content stems."""
        return self.affirmed | self.denied


@dataclass(frozen=True)
class _Lists:
    """A language's words, as `config/language/` has them."""

    negations: frozenset[str] = frozenset()
    no_negations: frozenset[str] = frozenset()
    clause_words: frozenset[str] = frozenset()
    corrections: frozenset[str] = frozenset()
    first_person: frozenset[str] = frozenset()
    light_words: frozenset[str] = frozenset()  # neither affirmed nor denied, and no verb of interest
    interjections: frozenset[str] = frozenset()
    stop_words: frozenset[str] = frozenset()
    pronouns: frozenset[str] = frozenset()
    adverbs: frozenset[str] = frozenset()
    time_words: frozenset[str] = frozenset()
    common: frozenset[str] = frozenset()  # never a name
    numbers: Mapping[str, str] = field(default_factory=dict)
    dates: Mapping[str, str] = field(default_factory=dict)
    tenses: Mapping[str, str] = field(default_factory=dict)


@cache
def _lists(language: str) -> _Lists:
    if language not in LISTED:
        return _Lists()
    given: dict[str, Any] = {}
    for one in fields(_Lists):
        if one.name == "common":
            common = (word_list(f"{language}-{kind}") for kind in _COMMON)
            given[one.name] = frozenset().union(*common)
        elif one.default is MISSING:
            given[one.name] = _values(f"{language}-{one.name}")
        else:
            given[one.name] = word_list(f"{language}-{one.name.replace('_', '-')}")
    return _Lists(**given)


@cache
def _values(name: str) -> Mapping[str, str]:
    pairs = (entry.partition("=") for entry in word_list(name))
    return {word: value for word, _, value in pairs}


@dataclass(frozen=True, slots=True)
class _Word:
    """A word where it stands: `lower` for lists, `opens` if it begins a sentence, `asked` if that is a question."""

    written: str
    lower: str
    opens: bool
    asked: bool


def facts(said: Said, language: str) -> Facts:
    """Read a line's facts; a caption of an image and the time of saying are none.

    >>> found = facts(Said("Ana", "I don't like the two dogs of Bob", ""), "english")
    >>> sorted(found.denied), sorted(found.numbers), sorted(found.names)
    (['bob', 'dog', 'like', 'two'], ['2'], ['ana', 'bob'])
    """
    lists = _lists(language)
    words = list(_words(said.text))
    affirmed, denied = _polarity(words, lists, language)
    dates, used = _dates(words, lists)
    own = said.speaker.casefold().partition(" ")[0]
    plain = frozenset(word.lower for word in words if word.written[0].islower())
    named = _names(words, lists, own, plain)
    return Facts(
        affirmed=affirmed,
        denied=denied,
        numbers=_numbers(words, lists, used),
        dates=dates,
        names=named.names,
        opens=named.opens,
        implied=named.implied,
        plain=plain,
        verbs=_verbs(words, lists, named.names, language),
        cues=frozenset(filter(None, (_phrase(words, place, lists.corrections) for place in range(len(words))))),
    )


def _words(text: str) -> Iterator[_Word]:
    tokens = _TOKEN.findall(text.translate(_APOSTROPHES))
    ends = [place for place, token in enumerate(tokens) if token in _ENDS] + [len(tokens)]
    opens, end = True, 0
    for place, token in enumerate(tokens):
        while ends[end] < place:
            end += 1
        asked = ends[end] < len(tokens) and tokens[ends[end]] == "?"
        yield _Word(token, token.casefold(), opens, asked)
        opens = token in _ENDS or (opens and not token[0].isalnum())


def _phrase(words: Sequence[_Word], place: int, known: frozenset[str] | Mapping[str, str]) -> str:
    """Return the longest listed phrase that begins here, or ''."""
    for length in range(_LONGEST_PHRASE, 0, -1):
        phrase = "_".join([word.lower for word in words[place : place + length]])
        if phrase in known:
            return phrase
    return ""


def _polarity(words: Sequence[_Word], lists: _Lists, language: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems outside and inside the reach of a negation; a question denies nothing."""
    sides: dict[bool, set[str]] = {True: set(), False: set()}
    reach = skip = 0
    for place, word in enumerate(words):
        if skip := max(skip - 1, 0):
            continue
        if word.lower in _ENDS or word.lower in _BREAKS or word.lower in lists.clause_words:
            reach = 0
        elif idiom := _phrase(words, place, lists.no_negations):
            skip = idiom.count("_") + 1
        elif negation := _negation(words, place, lists):
            reach, skip = (0 if word.asked or reach else _REACH), negation  # two negations cancel out
        elif word.lower[0].isalnum():
            if word.lower not in lists.light_words:
                sides[reach > 0].update(tokenize(word.lower, language))
            reach = max(reach - 1, 0)
    return frozenset(sides[False] - sides[True]), frozenset(sides[True] - sides[False])


def _negation(words: Sequence[_Word], place: int, lists: _Lists) -> int:
    """Return how many words the negation has that begins here; 0 if there is none."""
    phrase = _phrase(words, place, lists.negations)
    return phrase.count("_") + 1 if phrase else int(bool(lists.negations) and words[place].lower.endswith("n't"))


def _numbers(words: Sequence[_Word], lists: _Lists, dates: frozenset[int]) -> frozenset[str]:
    found = set()
    for place, word in enumerate(words):
        if place in dates:
            continue
        if word.lower[0].isdigit():
            ordinal = _ORDINAL.match(word.lower)
            found.add(f"#{ordinal[1]}" if ordinal else word.lower.replace(",", ""))
        elif word.lower in lists.numbers:
            found.add(lists.numbers[word.lower])
    return frozenset(found)


def _dates(words: Sequence[_Word], lists: _Lists) -> tuple[Mapping[str, frozenset[str]], frozenset[int]]:
    """Return dates by kind, and the places of the words that spell them."""
    known = lists.dates
    found: dict[str, set[str]] = defaultdict(set)
    used: set[int] = set()
    for place, word in enumerate(words):
        kind, _, value = known.get(word.lower, "").partition(":")
        around = [w for w in (place - 1, place + 1) if 0 <= w < len(words)]
        if kind == "month" and (word.written[0].isupper() or len(word.lower) > 5):
            found["month"].add(value)
            for near in around:
                if words[near].lower[0].isdigit() and not _YEAR.match(words[near].lower):
                    found["day of the month"].add(re.sub(r"\D.*", "", words[near].lower))
                    used.add(near)
        elif kind in ("weekday", "season", "day"):
            found[kind].add(value)
        elif _YEAR.match(word.lower) and known:
            found["year"].add(word.lower)
            used.add(place)
        if kind in ("unit", "weekday", "month", "season"):
            for near in around:  # before it in English, behind it in Spanish
                which, _, direction = known.get(words[near].lower, "").partition(":")
                if which == "which":
                    found[f"which {value if kind == 'unit' else kind}"].add(direction)
    return {kind: frozenset(values) for kind, values in found.items()}, frozenset(used)


@dataclass(frozen=True, slots=True)
class _Named:
    """Who and what a line names, in order; who it opens with, and who is meant where nobody is named."""

    names: tuple[str, ...]
    opens: str
    implied: str


def _names(words: Sequence[_Word], lists: _Lists, own: str, plain: frozenset[str]) -> _Named:
    """Find the names of a line; a first person is the speaker, `own`.

    Who is left out ("Just moved!") is the speaker as well, unless the line opens with a name. Whom a speaker
    addresses ("Thanks, Ann!") is not what the line is about.
    """
    if not lists.common:
        return _Named((), "", "")
    letters = [word for word in words if word.written[0].isalpha()]
    shouted = 2 * sum(word.written.isupper() and len(word.written) > 1 for word in letters) > len(letters)
    first = next((place for place, word in enumerate(words) if word.lower in lists.first_person), None)
    found: dict[str, int] = {own: first} if own and first is not None else {}
    for place, word in enumerate(words):
        if word.written[0].isupper() and not shouted and _is_name(words, place, lists):
            for part in _POSSESSIVE.sub("", word.written).split("-"):
                if part[:1].isupper() and part.casefold() not in plain:
                    found.setdefault(part.casefold(), place)
    names = sorted(found, key=lambda name: found[name])
    opens = names[0] if names and found[names[0]] == 0 else ""
    return _Named(tuple(names), opens, "" if first is not None or opens else own)


def _is_name(words: Sequence[_Word], place: int, lists: _Lists) -> bool:
    word = words[place]
    name = _POSSESSIVE.sub("", word.lower)
    if len(name) < 2 or {word.lower, name} & lists.time_words or word.lower in lists.first_person:
        return False
    if _addressed(words, place, lists):
        return False
    if word.opens:
        return not {name, name.partition("'")[0]} & (lists.common | lists.light_words) and _opening_name(
            words, place, lists
        )
    return name not in lists.interjections and name not in lists.stop_words


def _addressed(words: Sequence[_Word], place: int, lists: _Lists) -> bool:
    before = words[place - 1].lower if place else "."
    after = words[place + 1].lower if place + 1 < len(words) else "."
    return after in ".!?," and (before in lists.interjections or (before in ",.!?" and after in ".!?"))


def _opening_name(words: Sequence[_Word], place: int, lists: _Lists) -> bool:
    """Tell whether a capital that opens a sentence is a name's: by its ending, and by a verb behind it."""
    word = words[place].lower
    after = words[place + 1].lower if place + 1 < len(words) else "."
    if word.endswith(("'s", "'")):
        return True
    if not after[0].isalpha() or (after in lists.stop_words - {"and", "y"} and after not in lists.tenses):
        return False
    return not _NO_NAME.search(word) or after in lists.tenses or after.endswith(("s", "ed"))


def _verbs(words: Sequence[_Word], lists: _Lists, names: Sequence[str], language: str) -> frozenset[tuple[str, str]]:
    """Return the verbs right after a pronoun or name with their tense: past, present or future.

    "Be" is known by what follows: ("be nurs", "past").
    """
    found = set()
    for place, word in enumerate(words):
        tense = lists.tenses.get(word.lower, "")
        subject = word.lower in lists.pronouns or word.lower in names
        if not subject and not tense:
            continue
        rest = [near for near in words[place + subject : place + 6] if near.lower not in lists.adverbs]
        phrase = _phrase(rest, 0, lists.tenses)
        content = [near.lower for near in rest[phrase.count("_") + bool(phrase) :] if near.lower[0].isalpha()]
        content = [near for near in content if near not in lists.light_words] if phrase else content[:1]
        if not content or content[0] in lists.light_words:
            continue
        stem = " ".join(tokenize(content[0], language))
        if phrase:
            tense = lists.tenses[phrase]
            found.add((stem if tense == "future" else f"be {stem}", tense))
        elif language == "english":
            found.add((stem, "past" if content[0].endswith("ed") else "present"))
    return frozenset(found)
