"""Where a new note takes an old one back: it says so, about the same, and they can't both hold.

That two notes differ keeps them apart; that one replaces the other takes it out of sight. So more is asked: of one
sentence each, the same subject, half of their words, and of the new one a phrase like "no longer" or "actually".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from memgraph_engine.gate.contradiction import CHECKS, quoted, swapped
from memgraph_engine.gate.facts import Facts, facts_of, speaker_of
from memgraph_engine.gate.words import LISTED, Lists, Word, lists_of, sentences_of
from memgraph_engine.language import tokenize, word_list
from memgraph_engine.model.text import Said

_EXCHANGED = ("number", "date")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that is no question.

    `subject` is whom or what it is about: a name in lower case, the stem of a noun, or the speaker where it begins
    with neither. `matter` are the stems of its words, without names, times, numbers and grammar.
    """

    facts: Facts
    subject: str
    matter: frozenset[str]


def statements(said: Said, language: str) -> list[Statement]:
    """Read what a line states; nothing in a language without word lists.

    >>> said = Said("Ana", "My cat is old. I fed it!", "")
    >>> [(one.subject, sorted(one.matter)) for one in statements(said, "english")]
    [('cat', ['cat', 'old']), ('ana', ['fed'])]
    """
    if language not in LISTED:
        return []
    lists, own, found = lists_of(language), speaker_of(said), []
    for words in sentences_of(said.text):
        if not words[0].asked:
            facts = facts_of(words, own, language)
            subject = _subject(words, facts, own, lists, language)
            found.append(Statement(facts, subject, _matter(words, facts, lists, language)))
    return found


def correction(new: Sequence[Statement], old: Sequence[Statement], language: str) -> str:
    """Say how a new note takes an old one back, or ''.

    >>> lines = "I no longer eat fish.", "I eat fish with rice."
    >>> new, old = (statements(Said("Ana", line, ""), "english") for line in lines)
    >>> correction(new, old, "english")
    'Only one of them denies "eat", "fish". The new one says "no longer".'
    """
    cued = [one for one in new if one.facts.cues]
    return next(filter(None, (_takes_back(one, other, language) for one, other in product(cued, old))), "")


def _takes_back(new: Statement, old: Statement, language: str) -> str:
    cues = new.facts.cues - old.facts.cues
    shared, either = len(new.matter & old.matter), len(new.matter) + len(old.matter)
    evidence = _opposed(new, old) if new.subject == old.subject and 4 * shared >= either > 0 else ""
    if cues and not evidence:
        homes = word_list(f"{language}-residence")
        cues = frozenset(cue for cue in cues if homes & {*cue.split("_")})
        evidence = _elsewhere(new, old, {stem for word in homes for stem in tokenize(word, language)})
    return f'{evidence} The new one says "{min(cues).replace("_", " ")}".' if cues and evidence else ""


def _opposed(new: Statement, old: Statement) -> str:
    """Say in what they can't both hold: most of what one denies the other affirms, or they exchange something."""
    for one, other in ((new.facts, old.facts), (old.facts, new.facts)):
        if opposed := one.denied & other.affirmed:  # less than most is of something else: "no longer in Lisbon"
            return f"Only one of them denies {quoted(opposed)}." if 2 * len(opposed) > len(one.denied) else ""
    return next(filter(None, (CHECKS[kind](new.facts, old.facts) for kind in _EXCHANGED)), "") or _renamed(new, old)


def _elsewhere(new: Statement, old: Statement, residence: set[str]) -> str:
    """Say where the same person lives by each; "my flat" is where its owner lives."""
    lives = old.subject == new.subject or (old.subject in residence and new.subject in old.facts.names)
    return _renamed(new, old) if lives and old.facts.terms & residence else ""


def _renamed(new: Statement, old: Statement) -> str:
    names = [frozenset(one.facts.names) - {new.subject, old.subject} for one in (new, old)]
    return swapped("name", *names)


def _matter(words: Sequence[Word], facts: Facts, lists: Lists, language: str) -> frozenset[str]:
    passed = lists.light_words | lists.adverbs | lists.interjections | lists.time_words
    passed |= {*lists.numbers, *lists.dates, *facts.names, *(part for cue in facts.cues for part in cue.split("_"))}
    kept = (word.lower for word in words if word.lower[0].isalpha() and word.lower not in passed)
    return frozenset(stem for word in kept for stem in tokenize(word, language))


def _subject(words: Sequence[Word], facts: Facts, own: str, lists: Lists, language: str) -> str:
    """Find the first word that can be one; behind a preposition none can."""
    place = 0
    while place < len(words):
        word, name = words[place].lower, words[place].lower.partition("'")[0]
        owner = word in lists.determiners or (word.endswith("'s") and name in facts.names)
        free = not place or words[place - 1].lower not in lists.prepositions
        if owner:
            place += 1
            if free and place < len(words) and words[place].lower[0].isalpha():
                return next(iter(tokenize(words[place].lower, language)), own)
        elif free and (word in lists.first_person or name in lists.pronouns or name in facts.names):
            return own if word in lists.first_person else name
        place += 1
    return own
