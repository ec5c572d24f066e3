"""Where the verb of a clause stands: with a subject the clause tells something, without one it may ask for it."""

import re
from collections.abc import Sequence
from functools import cache
from itertools import dropwhile, pairwise

from memgraph_engine.language.reading import Reading
from memgraph_engine.language.tense import is_verb, past
from memgraph_engine.language.terms import spoken, tokenize, word_list, word_values
from memgraph_engine.language.wording import Lists, Token, opening, phrases_in, stems, words
from memgraph_engine.resources import LANGUAGES

_OPENING = 3  # words of a sentence that may be those with which a request begins


def begin(tokens: Sequence[Token], lists: Lists) -> int:
    """Return how many tokens tell nothing before others do: "well", "by the way", "last week"; "no vivo" denies."""
    at = 0
    while at < len(tokens):
        one, size = tokens[at], opening(tokens[at:], lists.leading)
        denies = one.word in lists.negations and tokens[at + 1 :] and tokens[at + 1].clause == one.clause
        if denies or not (size or (one.timely and not one.capital)):
            break
        at += size or 1
    return at


def finite_verb(tokens: Sequence[Token], line: Reading) -> int | None:
    """Return where the verb of a clause stands that has a subject, or needs none; None where there is no such verb.

    It is a listed form, what stands behind a pronoun, or a word that agrees with the noun before it.

    >>> said = "The gym opens at six.", "Dinner ideas for six.", "Moved to York.", "Book the gym."
    >>> [finite_verb((line := Reading(one, "english")).tokens, line) for one in said]
    [2, None, 0, None]
    """
    language, lists, first = line.language, line.lists, tokens[0]
    if not lists.persons:
        return 0 if first.stem and first.capital and len(tokens) > 1 else None
    denied = first.word in lists.negations & lists.interjections - lists.indefinite  # "no como"
    speaks = first.word in lists.speaker and (first.stem or is_verb(first.word, language))  # "vivo en", "soy"
    if denied or speaks or past(words(tokens[:1]), language):
        return int(denied)
    pronouns = (lists.persons | lists.speaker) - lists.determiners - lists.pointing
    leads = lists.leads - lists.persons
    for at, (before, one) in enumerate(pairwise(tokens), 1):
        told = before.word in (lists.speaker - lists.objects if at > 1 else pronouns)
        listed = is_verb(one.word, language) and not (one.stem and before.word in leads)  # not "my left knee"
        led = at > 1 and tokens[at - 2].word in lists.details  # "for me"
        if listed or (told and not led) or _agrees(tokens, at, line):
            return at
    goes_on = any(one.word in lists.behind_verbs | lists.details for one in tokens[1:2])
    busy = first.opens and first.stem and goes_on and _ends(first, "verb", line)  # "going to the zoo"
    return 0 if busy or (is_verb(first.word, language) and first.word not in lists.questions) else None


def _agrees(tokens: Sequence[Token], at: int, line: Reading) -> bool:
    """Tell whether a word is a verb, as it agrees with the noun before it: "the gym opens at 6", "the trains run late".

    A noun may look so ("dinner plans"). An object behind it tells them apart, or else two of these: its subject is a
    known thing or a name, it is a verb elsewhere, more stands behind it; one more where it often is a noun.
    """
    lists, one, first, after = line.lists, tokens[at], tokens[0], tokens[at + 1 : at + 2]
    place = next((place for place in range(at - 1, -1, -1) if tokens[place].word not in lists.adverbs), 0)
    before, weak = tokens[place], word_list(line.language, "weak-words")
    owned = tokens[at - 1].plain == "'s" or (before.number and not place)  # "Ana's plans", "31 hits"
    closed = not one.stem or one.word in lists.adverbs or one.word in lists.noun_links
    if closed or owned or one.timed or one.timely or one.capital or not (before.stem or before.word in lists.subjects):
        return False
    acts = any(other.number or other.word in lists.behind_verbs for other in after)
    led = before.capital > before.opens or first.number or first.word in lists.leads
    of_one, of_many = _ends(one, "one", line), _ends(one, "all", line)
    many = not before.capital and _ends(before, "many", line)
    joined = of_many and not lists.coordinators.isdisjoint(words(tokens[:at]))
    if not (joined or (of_one and (acts or not many)) or (of_many and many and (led or first.opens))):
        return False
    listed = one.word in lists.singular
    known = listed or not stems([one]).isdisjoint(_verbs(line.language))
    thing = led or (known and not place and before.word not in weak)  # "Leo walks to school"
    mine = first.word in lists.mine and not _ends(before, "verb", line)  # not "my running shoes"
    more = mine or any(other.word not in lists.noun_links and other.word not in lists.idle for other in after)
    noun = one.word in weak and not (listed or many)
    return acts or first.word in lists.subjects or bool(thing) + known + more - noun > 1


def _ends(token: Token, kind: str, line: Reading) -> bool:
    """Tell whether a word has an ending that is listed."""
    return re.search(f"(?:{word_values(line.language, 'shapes').get(kind, '(?!)')})$", token.word) is not None


def asks(tokens: Sequence[Token], line: Reading) -> bool:
    """Tell whether a sentence asks something of an assistant, but not for what is to be so from now on.

    >>> said = "Book those for me.", "I need a recipe.", "Never suggest pork.", "I book trips."
    >>> [asks((line := Reading(one, "english")).tokens, line) for one in said]
    [True, True, False, False]
    """
    if not tokens:  # of a text that is blank
        return False
    wanted = requests(words(tokens)) or requests(spoken(line.words(tokens))) or imperative(tokens, line)
    return wanted and not phrases_in(words(tokens), line.lists.standing)


def imperative(tokens: Sequence[Token], line: Reading) -> bool:
    """Tell whether a clause says what somebody is to do: "please book those", "let's meet at 9".

    It begins as requests do, or with a bare verb: what is no noun, as an object stands right behind it.
    """
    lists = line.lists
    rest = tokens[begin(tokens, lists) :] or tokens
    rest = [*dropwhile(lambda token: token.word in lists.adverbs, rest)] or rest
    first, after = rest[0], rest[1:2]
    if requests(words(rest)):
        return first.word not in lists.speaker
    if not first.stem or first.timed or first.timely or first.word in lists.attitudes or first.word in lists.dwelling:
        return False
    if is_verb(first.word, line.language) or _ends(first, "never", line):
        return False
    if any(one.word in lists.speaker - lists.persons for one in after):
        return True  # "hilf mir"
    weak, verbs = word_list(line.language, "weak-words"), _verbs(line.language)
    known = first.word not in weak and not stems([first]).isdisjoint(verbs)
    acts = any(one.word in lists.behind_verbs | lists.persons or (known and one.capital) for one in after)
    return acts and (known or finite_verb(rest[1:], line) is None)


def requests(said: Sequence[str]) -> bool:
    """Tell whether words begin as what one asks of an assistant does, in any listed language."""
    return any(0 in held for held in phrases_in(said[:_OPENING], _openings()).values())


@cache
def _openings() -> frozenset[str]:
    return frozenset[str]().union(*(word_list(language, "requests") for language in LANGUAGES))


@cache
def _verbs(language: str) -> frozenset[str]:
    """Return the stems of frequent words that have a form which only verbs have: "opening", Spanish "abriendo"."""
    form = re.compile(f"(?:{word_values(language, 'shapes').get('verb', '(?!)')})$")
    return frozenset(
        one for word in filter(form.search, word_list(language, "common-words")) for one in tokenize(word, language)
    )
