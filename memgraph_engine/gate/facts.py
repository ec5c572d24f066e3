"""What two texts can disagree on, read off by word lists: what is denied, numbers, dates, names, tense."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memgraph_engine.gate.words import ENDS, Lists, Word, correcting, lists_of, words_of
from memgraph_engine.language import APOSTROPHES, tokenize
from memgraph_engine.model.text import Said

_REACH = 8  # words that a negation reaches, unless its clause ends before
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)$")
_BREAKS = frozenset(',;:()[]–—"“”«»')
_POSSESSIVE = re.compile(r"'s?$")
_NO_NAME = re.compile(r"(?:s|ing|ly|ed)$")
_YEAR = re.compile(r"(?:19|20)\d\d$")


@dataclass(frozen=True, slots=True)
class Facts:
    """What a line holds that another can contradict.

    `affirmed` and `denied` are content stems by where a negation reaches; `dates` has the values by kind (month,
    weekday, year, day, season, …); `names` are case-folded words in order, the speaker's for a first person.
    `opens` is the name that the line opens with, `implied` the speaker where it leaves out whom it is about.
    `plain` are the words in lower case, which are no names; `verbs` are stems with their tense; `cues` announce
    a correction. `nouns` are stems with the words behind a determiner, where an ending tells who is meant.
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
    nouns: frozenset[tuple[str, str]]

    @property
    def terms(self) -> frozenset[str]:
        """All content stems."""
        return self.affirmed | self.denied


def facts(said: Said, language: str) -> Facts:
    """Read a line's facts; a caption of an image and the time of saying are none.

    >>> found = facts(Said("Ana", "I don't like the two dogs of Bob", ""), "english")
    >>> sorted(found.denied), sorted(found.numbers), sorted(found.names)
    (['bob', 'dog', 'like', 'two'], ['2'], ['ana', 'bob'])
    """
    return facts_of(list(words_of(said.text)), speaker_of(said), language)


def speaker_of(said: Said) -> str:
    """Return the first name of who says it, in lower case."""
    return said.speaker.casefold().partition(" ")[0]


def facts_of(words: Sequence[Word], own: str, language: str) -> Facts:
    """Read the facts of some of a line's words, which `own` says."""
    lists = lists_of(language)
    affirmed, denied = _polarity(words, lists, language)
    dates, used = _dates(words, lists)
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
        cues=_cues(words, lists),
        nouns=_nouns(words, lists, language),
    )


def _nouns(words: Sequence[Word], lists: Lists, language: str) -> frozenset[tuple[str, str]]:
    """Return Spanish nouns, whose stem is that of "abuelo" and "abuela"; "la llevo" and "lo lleva" hold a pronoun."""
    if language != "spanish":
        return frozenset()
    nouns = (
        word.lower
        for before, word in pairwise(words)
        if before.lower in lists.determiners and before.lower != "lo" and word.lower[0].isalpha()
        if not (before.lower in ("la", "las") and word.lower.endswith(("o", "os")))
    )
    return frozenset((stem, noun) for noun in nouns for stem in tokenize(noun, language))


def announces(said: Said, language: str) -> bool:
    """Tell whether a line holds a cue of a correction: most don't, and then it corrects nothing.

    >>> [announces(Said("Ana", text, ""), "english") for text in ("I moved to Porto.", "I live in Porto.")]
    [True, False]
    """
    return bool(correcting(language).search(said.text.translate(APOSTROPHES).casefold()))


def _cues(words: Sequence[Word], lists: Lists) -> frozenset[str]:
    return frozenset(filter(None, (lists.phrase_at(words, place, lists.corrections) for place in range(len(words)))))


def _polarity(words: Sequence[Word], lists: Lists, language: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems outside and inside the reach of a negation; a question denies nothing."""
    sides: dict[bool, set[str]] = {True: set(), False: set()}
    reach = skip = 0
    for place, word in enumerate(words):
        if skip := max(skip - 1, 0):
            continue
        if word.lower in ENDS or word.lower in _BREAKS or word.lower in lists.clause_words:
            reach = 0
        elif idiom := lists.phrase_at(words, place, lists.no_negations):
            skip = idiom.count("_") + 1
        elif negation := _negation(words, place, lists):
            reach, skip = (0 if word.asked or reach else _REACH), negation  # two negations cancel out
        elif word.lower[0].isalnum():
            if word.lower not in lists.light_words:
                sides[reach > 0].update(tokenize(word.lower, language))
            reach = max(reach - 1, 0)
    return frozenset(sides[False] - sides[True]), frozenset(sides[True] - sides[False])


def _negation(words: Sequence[Word], place: int, lists: Lists) -> int:
    """Return how many words the negation has that begins here; 0 if there is none."""
    phrase = lists.phrase_at(words, place, lists.negations)
    return phrase.count("_") + 1 if phrase else int(bool(lists.negations) and words[place].lower.endswith("n't"))


def _numbers(words: Sequence[Word], lists: Lists, dates: frozenset[int]) -> frozenset[str]:
    found = set()
    for place, word in enumerate(words):
        if place in dates:
            continue
        if word.lower[0].isdigit() or (word.lower[0] in "-−" and len(word.lower) > 1):
            ordinal = _ORDINAL.match(word.lower)
            found.add(f"#{ordinal[1]}" if ordinal else word.lower.replace(",", "").replace("−", "-"))
        elif word.lower in lists.numbers:
            found.add(lists.numbers[word.lower])
    return frozenset(found)


def _dates(words: Sequence[Word], lists: Lists) -> tuple[Mapping[str, frozenset[str]], frozenset[int]]:
    """Return dates by kind, and the places of the words that spell them."""
    found: dict[str, set[str]] = defaultdict(set)
    used: set[int] = set()
    for place, word in enumerate(words):
        kind, _, value = lists.dates.get(word.lower, "").partition(":")
        if kind.endswith("?"):  # "may", "sat": a date if it has a capital
            kind = kind[:-1] if word.written[0].isupper() else ""
        if kind in ("month", "weekday", "season", "day"):
            found[kind].add(value)
        elif lists.dates and _YEAR.match(word.lower):
            found["year"].add(word.lower)
            used.add(place)
        for near in (place - 1, place + 1) if kind else ():  # "last May", "mayo pasado", "May 8"
            if 0 <= near < len(words):
                used |= _beside(words[near].lower, near, kind, value, lists, found)
    return {kind: frozenset(values) for kind, values in found.items()}, frozenset(used)


def _beside(word: str, place: int, kind: str, value: str, lists: Lists, found: dict[str, set[str]]) -> set[int]:
    """Add what a word says of the date beside it; return its place if it is a day of the month."""
    which, _, direction = lists.dates.get(word, "").partition(":")
    if which == "which":
        found[f"which {value if kind == 'unit' else kind}"].add(direction)
    elif kind == "month" and word[0].isdigit() and not _YEAR.match(word):
        found["day of the month"].add(re.sub(r"\D.*", "", word))
        return {place}
    return set()


@dataclass(frozen=True, slots=True)
class _Named:
    """Who and what a line names, in order; who it opens with, and who is meant where nobody is named."""

    names: tuple[str, ...]
    opens: str
    implied: str


def _names(words: Sequence[Word], lists: Lists, own: str, plain: frozenset[str]) -> _Named:
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


def _is_name(words: Sequence[Word], place: int, lists: Lists) -> bool:
    word = words[place]
    name = _POSSESSIVE.sub("", word.lower)
    if len(name) < 2 or {word.lower, name} & lists.time_words or word.lower in lists.first_person:
        return False
    if _addressed(words, place, lists):
        return False
    if word.opens:
        listed = any(one in lists.common or one in lists.light_words for one in (name, name.partition("'")[0]))
        return not listed and _opening_name(words, place, lists)
    return name not in lists.interjections and name not in lists.stop_words


def _addressed(words: Sequence[Word], place: int, lists: Lists) -> bool:
    before = words[place - 1].lower if place else "."
    after = words[place + 1].lower if place + 1 < len(words) else "."
    return after in ".!?," and (before in lists.interjections or (before in ",.!?" and after in ".!?"))


def _opening_name(words: Sequence[Word], place: int, lists: Lists) -> bool:
    """Tell whether a capital that opens a sentence is a name's: by its ending, and by a verb behind it."""
    word = words[place].lower
    after = words[place + 1].lower if place + 1 < len(words) else "."
    if word.endswith(("'s", "'")):
        return True
    goes_on = after in ("and", "y") or after in lists.tenses or lists.phrase_at(words, place + 1, lists.corrections)
    if not after[0].isalpha() or (after in lists.stop_words and not goes_on):
        return False
    return not _NO_NAME.search(word) or after in lists.tenses or after.endswith(("s", "ed"))


def _verbs(words: Sequence[Word], lists: Lists, names: Sequence[str], language: str) -> frozenset[tuple[str, str]]:
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
        phrase = lists.phrase_at(rest, 0, lists.tenses)
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
