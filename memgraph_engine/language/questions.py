"""What a text wants: it asks, or asks again, or goes for small talk; and what its question is after."""

import re
from collections.abc import Collection, Sequence
from functools import cache

from memgraph_engine.language.reading import Reading
from memgraph_engine.language.tense import past
from memgraph_engine.language.terms import (
    CLAUSES,
    CLOSED,
    closed_terms,
    sentences,
    spoken,
    tokenize,
    word_list,
    word_values,
)
from memgraph_engine.language.verbs import asks, requests
from memgraph_engine.language.wording import lists_of, parted, phrases_in, wording, words
from memgraph_engine.resources import LANGUAGES

_BEHIND = " \t\r\n\"'”’»)*_"  # what may stand behind a question mark
_ELLIPTIC, _LONGEST_ASKED = 4, 200  # words of a question that goes on: "And Ben's?"; signs of one about oneself
_BRIEF = 2  # words; so short a sentence states nothing by itself


def is_question(text: str) -> bool:
    """Tell whether what was said ends with a question mark.

    >>> is_question('She said: "Where is Ana?" '), is_question("Where is Ana? I don't know.")
    (True, False)
    """
    return text.rstrip(_BEHIND).endswith(("?", "？", "؟"))


def only_asks(text: str, language: str) -> bool:
    """Tell whether each sentence is a question, or asks something of an assistant; a short one counts beside no other.

    >>> [only_asks(text, "english") for text in ("Hi! Plan me a day in Porto. Is it far?", "I lost it. Where is it?")]
    [True, False]
    """
    stated = [one for one in sentences(text, language) if len(one.split()) > _BRIEF] or [text]
    if not word_list(language, "persons"):  # as of most notes, whose words alone are looked at
        return all(is_question(one) or requests(spoken(one)) for one in stated)
    return all(is_question(one) or asks((line := Reading(one, language)).tokens, line) for one in stated)


def asks_again(told: Sequence[str], question: str, language: str) -> bool:
    """Tell whether texts ask what is asked, and say nothing besides.

    Each sentence opens as questions do and goes on to its end ("Where do I live now?"), and none of the words that tell
    what it is about is missing in the question. "My wife is Eva, no?" tells it, and so does "I live here?".

    >>> asks_again(["Where do I live now?"], "Where do I live?", "english")
    True
    """
    if not told or not all(map(is_question, told)):
        return False
    opens, text = word_list(language, "question-words"), "\n".join(told)
    if opens and not all(said[0] in opens for one in CLAUSES.split(text) if (said := spoken(one))):
        return False
    known, asked = (set(tokenize(one, language)) for one in (text, question))
    # where the grammar of a language is not known, the words are the same
    return known - closed_terms(language) <= asked if opens else known == asked


def asks_amount(question: str, language: str) -> bool:
    """Tell whether a number answers a question.

    >>> [asks_amount(text, "english") for text in ("How many of us are coming?", "Who is coming?")]
    [True, False]
    """
    return bool(phrases_in(spoken(question), word_list(language, "amount-questions")))


def asks_for_value(text: str, language: str) -> bool:
    """Tell whether a turn asks for a value: then what follows is an answer, though it begins with an apology.

    >>> asks_for_value("Shall I remind you?", "english"), asks_for_value("What's your cat called?", "english")
    (False, True)
    >>> asks_for_value("Got it. And Ben's?", "english")
    True
    """
    lists = lists_of(language)
    asked = (token for token in wording(text, language) if token.asked)
    questions = map(words, parted(asked, "sentence"))
    return any(
        not lists.values_asked.isdisjoint(one) or (one[0] in lists.joints and len(one) <= _ELLIPTIC)
        for one in questions
    )


def asks_about_user(question: str) -> bool:
    """Tell whether a question asks for what is known about the user, in any language, and has no word of aught else.

    >>> asked = "What do you know about me so far?", "What do you know about me and Bo?", "Who am I?", "Am I well?"
    >>> [asks_about_user(one) for one in asked]
    [True, False, True, False]
    """
    said = spoken(question)
    return any(
        phrases_in(said, word_list(language, "about-oneself"))  # as in few questions
        and _only(said, word_list(language, "knowing"), language)
        for language in LANGUAGES
    )


def asked_attributes(question: str, language: str) -> frozenset[str]:
    """Return the attributes of who asks that a question asks for, as they are; none if it has a word of aught else.

    >>> asked_attributes("So where do I live?", "english"), asked_attributes("Where does my son live?", "english")
    (frozenset({'residence'}), frozenset())
    """
    said = words(wording(question if len(question) <= _LONGEST_ASKED else "", language))
    told = word_values(language, "asked-attributes")
    own = not word_list(language, "first-person").isdisjoint(said) and not past(said, language)
    return frozenset(told[one] for one in said if one in told) if own and _only(said, told, language) else frozenset()


def _only(said: Sequence[str], asking: Collection[str], language: str) -> bool:
    """Tell whether words are some of those that ask for a thing, and beside these none that tell anything."""
    closed = word_list(language, *CLOSED, "time-words", "courtesies", "knowing")
    return not {*said}.isdisjoint(asking) and not {*said}.difference(asking, closed)


def asks_assistant(question: str, language: str) -> bool:
    """Tell whether a question speaks to who is asked: "What did you recommend?"."""
    return not word_list(language, "second-person").isdisjoint(spoken(question))


def counts(text: str) -> bool:
    """Tell whether a text has a number, in digits or in a word of any listed language.

    >>> counts("We are twelve."), counts("We are many.")
    (True, False)
    """
    return any(word[0].isdigit() or word in _numbers() for word in spoken(text))


def of_oneself(text: str) -> bool:
    """Tell whether who says a text speaks of himself, in any listed language.

    >>> of_oneself("My cat is grey."), of_oneself("ideas for a gift")
    (True, False)
    """
    return not _first_person().isdisjoint(spoken(text))


@cache
def _first_person() -> frozenset[str]:
    return frozenset().union(*(word_list(one, "first-person") for one in LANGUAGES if word_list(one, "persons")))


@cache
def _numbers() -> frozenset[str]:
    """Return the words for how many; those for places in a row ("#2") are none."""
    pairs = (pair for one in LANGUAGES if word_list(one, "persons") for pair in word_values(one, "numbers").items())
    return frozenset(word for word, value in pairs if value[0] != "#")


def supposes(text: str, language: str) -> bool:
    """Tell whether each sentence of more than two words supposes something: "If I won, I'd buy a boat."."""
    stated = [told for one in sentences(text, language) if len(told := spoken(one)) > _BRIEF]
    return bool(stated) and all(phrases_in(told, word_list(language, "suppositions")) for told in stated)


def small_talk(text: str, language: str, *, assistant: bool = False, answers: bool = True) -> bool:
    """Tell whether a text is greetings, thanks and laughter alone.

    "Yes" and "no" answer the turn before. So may "great" where it stands alone, unless it `answers` nothing. An
    assistant also offers its help, whatever was said before; its "sure" alone may be an answer.

    >>> said = "Ok, thanks! See you soon.", "Yum, thanks, that's great!", "No, thanks.", "Great!"
    >>> [small_talk(text, "english") for text in said]
    [True, True, False, False]
    >>> said = "Sure, happy to help! Let me know if you need anything else.", "Sure.", "Sure, I booked it. Enjoy!"
    >>> [small_talk(text, "english", assistant=True) for text in said]
    [True, False, False]
    """
    said = _plain(text)
    return bool(said) and _small_talk(language, assistant, answers).fullmatch(said) is not None


def _plain(text: str) -> str:
    """Return the words alone, each with a space behind it."""
    return "".join(f"{word} " for word in re.findall(r"[^\W_]+", text.casefold()))


@cache
def _small_talk(language: str, assistant: bool, answers: bool) -> re.Pattern[str]:
    """Return what matches a row of phrases of small talk, with acknowledgements around them.

    The longest phrases come first, and the row is possessive, so that a long text takes no longer.
    """
    idle, courteous = (word_list(language, kind) for kind in ("small-talk", "acknowledgements"))
    if assistant:
        idle, courteous = idle | word_list(language, "courtesies"), courteous | word_list(language, "assents")
    phrases, around = (_any(some) for some in (idle if answers else idle | courteous, idle | courteous))
    return re.compile(f"(?:(?!{phrases}){_any(courteous)})*+{phrases}{around}*+" if idle else r"(?!)")


def _any(phrases: Collection[str]) -> str:
    """Return a pattern of one of some phrases, the longest first."""
    return f"(?:{'|'.join(sorted(map(_plain, phrases), key=len, reverse=True))})"
