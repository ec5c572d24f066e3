"""Where an assistant says again what the user told it: a confirmation, which is nothing new, or an echo in its answer.

"Your dog is called Rex, what a nice name!" Each clause repeats or comments. A comment is no longer than what is
repeated, and names nobody and no number. An echo beside the assistant's own words changes with what the user said.
"""

from operator import itemgetter

from memgraph_engine.gate.difference import quoted, worded
from memgraph_engine.gate.known import Line
from memgraph_engine.language.wording import Token, names, numbers, parted, stems, wording


def confirmation(new: Line, old: Line) -> str:
    """Say which of a user's words an assistant's line repeats, or '' if it says more, or something else.

    >>> from memgraph_engine.model.memory import Source
    >>> said = ("user", "My dog is called Rex."), ("assistant", "Your dog is called Rex, what a nice name!")
    >>> old, new = (Line(Source("1", text, "", role=role), "english") for role, text in said)
    >>> confirmation(new, old)
    'The assistant confirms what the user said: "Rex", "called", "dog".'
    """
    lists = new.lists
    if (new.role, old.role) != ("assistant", "user") or lists.first_person.isdisjoint(old.forms):
        return ""
    said, told = ([token for token in line.tokens if not token.asked] for line in (new, old))
    known = stems(told)
    clauses = [stems(clause) for clause in parted(said, "clause")]
    repeated = frozenset[str]().union(*(one for one in clauses if one <= known))
    own = stems(said) - known
    apart = all(one <= known or one.isdisjoint(known) for one in clauses)
    if not apart or len(repeated) < max(len(own), 2) or _named(said) - _named(told):
        return ""
    denies = [any(token.plain in lists.negations for token in tokens) for tokens in (said, told)]
    words = quoted(worded(repeated, told))
    return f"The assistant confirms what the user said: {words}." if denies[0] == denies[1] else ""


def _named(tokens: list[Token]) -> set[str]:
    """Return who is named, and the numbers."""
    return {name.casefold() for name in names(tokens)} | numbers(tokens)


def echo(line: Line, old: Line, former: str, *, at_once: bool) -> str:
    """Return the words with which an assistant says again what a user said, of which `former` has changed.

    Their sentence holds another word with content that they stood beside; where the change came `at_once`, they are
    enough. '' if there are none.

    >>> from memgraph_engine.model.memory import Source
    >>> said = ("user", "I live in Bristol."), ("assistant", "Nice. Since you live in Bristol, see the harbour!")
    >>> old, line = (Line(Source("1", text, "", role=role), "english") for role, text in said)
    >>> echo(line, old, "Bristol", at_once=False)
    'Bristol'
    """
    if (line.role, old.role) != ("assistant", "user") or (line.said_at and old.said_at and line.said_at < old.said_at):
        return ""
    value = stems(wording(former, line.language)) or old.content
    beside = old.content - value
    needed = 0 if at_once or not beside else 1
    told = [(len(beside & said), one) for one in line.sentences if value <= (said := stems(one))]
    shared, sentence = max(told, key=itemgetter(0), default=(-1, ()))
    return line.words([token for token in sentence if token.stem in value]) if shared >= needed else ""
