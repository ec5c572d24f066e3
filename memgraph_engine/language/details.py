"""What a text must not lose where it is told in fewer words: its names, numbers, dates and denials."""

from memgraph_engine.language.reading import Reading
from memgraph_engine.language.terms import CLOSED, listed_terms
from memgraph_engine.language.wording import denied

_COMMON = ("common-words", "weak-words", "content-words", "time-words", "changes", "change-adverbs", *CLOSED)
_DATED = ("month", "weekday")
Detail = tuple[str, str]
"""A name, number, date or denial: of which kind, and the word in small letters; of a denial, what it denies."""


def details(text: str, language: str) -> frozenset[Detail]:
    """Return the names, numbers, dates and denials of a text.

    >>> sorted(details("In May Ana did not take 2 trains.", "english"))
    [('date', 'may'), ('denial', 'take'), ('name', 'ana'), ('number', '2')]
    """
    reading = Reading(text, language)
    tokens, found = reading.tokens, set[Detail]()
    common = listed_terms(language, *_COMMON)
    for token in tokens:
        if token.number:
            found.add(("number", token.plain))
        elif token.date and token.date[0] in _DATED:
            found.add(("date", token.word))
        # a capital tells nothing at the beginning, unless no list has the word
        elif token.stem and token.capital and (not token.opens or (common and token.stem not in common)):
            found.add(("name", token.written.casefold()))
    told = denied(tokens, reading.lists, 1)
    bare = not told and any(token.plain in reading.lists.negations for token in tokens)
    return frozenset(found | {("denial", word) for word in (told or ([""] if bare else ()))})


def held(text: str, language: str) -> frozenset[str]:
    """Return all words of a text, in the form in which its details have them."""
    return frozenset(
        form for token in Reading(text, language).tokens for form in (token.word, token.written.casefold())
    )
