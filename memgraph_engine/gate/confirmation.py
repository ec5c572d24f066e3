"""Where an assistant only says again what the user told it: a confirmation, which is nothing new.

An assistant repeats and comments: "Your dog is called Rex, what a nice name!" Each clause does one of both. A comment
is no longer than what is repeated, and names nobody and no number. Who adds a word to what is repeated tells more, and
who answers a question with the question's own words tells something too.
"""

from itertools import groupby
from operator import attrgetter

from memgraph_engine.gate.difference import names, numbers, quoted, worded
from memgraph_engine.gate.known import Line
from memgraph_engine.gate.wording import Lists, Token, lists_of


def confirmation(new: Line, old: Line, language: str) -> str:
    """Say which of a user's words an assistant's line repeats, or '' if it says more, or something else.

    >>> from memgraph_engine.model.memory import Source
    >>> said = ("user", "My dog is called Rex."), ("assistant", "Your dog is called Rex, what a nice name!")
    >>> old, new = (Line(Source("1", text, "", role=role), "english") for role, text in said)
    >>> confirmation(new, old, "english")
    'The assistant confirms what the user said: "Rex", "called", "dog".'
    """
    lists = lists_of(language)
    if (new.role, old.role) != ("assistant", "user") or lists.first_person.isdisjoint(old.forms):
        return ""
    said, told = ([token for token in line.tokens if not token.asked] for line in (new, old))
    known = _content(told)
    clauses = [_content(list(clause)) for _, clause in groupby(said, key=attrgetter("clause"))]
    repeated = frozenset[str]().union(*(one for one in clauses if one <= known))
    own = _content(said) - known
    apart = all(one <= known or one.isdisjoint(known) for one in clauses)
    if not apart or len(repeated) < max(len(own), 2) or _names(said, lists) - _names(told, lists):
        return ""
    denies = [any(token.plain in lists.negations for token in tokens) for tokens in (said, told)]
    words = quoted(worded(repeated, told))
    return f"The assistant confirms what the user said: {words}." if denies[0] == denies[1] else ""


def _names(tokens: list[Token], lists: Lists) -> set[str]:
    """Return who is named, and the numbers."""
    return {name.casefold() for name in names(tokens, lists)} | numbers(tokens)


def _content(tokens: list[Token]) -> frozenset[str]:
    return frozenset(token.stem for token in tokens if token.stem)
