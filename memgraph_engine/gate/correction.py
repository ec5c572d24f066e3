"""Where a new note takes an old one back: without its denial ("no longer") it is all that the old note states.

A word that it leaves out or has another for, or a second statement, would be hidden with the rest: then the old note
stays, and `update` tells what of it has ended.
"""

from collections.abc import Sequence

from memgraph_engine.gate.difference import quoted, worded
from memgraph_engine.gate.known import Line, only
from memgraph_engine.language.statement import Statement, statements
from memgraph_engine.language.wording import aligned, shown


def correction(new: Line, old: Sequence[Line]) -> str:
    """Say how a new line takes back all that the lines of an old note state, or ''.

    >>> from memgraph_engine.model.memory import Source
    >>> lines = ("I no longer eat fish.", "I eat fish.", "I eat fish. I eat meat.")
    >>> new, old, more = (Line(Source("1", line, "", speaker="Ana"), "english") for line in lines)
    >>> correction(new, [old])
    'The new one says "no longer" of what the old one says: "eat", "fish".'
    >>> correction(new, [more])
    ''
    """
    if not new.announces or new.asks:
        return ""
    known = [only(line) for line in old]
    told = statements(new)
    if not told or any(one.hedged for one in told) or not all(known):
        return ""
    # other clauses may only go on with what has changed of the same subject: not "…, I lied."
    now, *rest = told
    if any(one.lead or one.body[0].word != now.body[0].word or not one.changes for one in rest):
        return ""
    evidence = [_takes_back(now, was) for was in known if was]
    return evidence[0] if all(evidence) else ""


def _takes_back(now: Statement, was: Statement) -> str:
    """Say what the old statement says and the new one denies, word for word."""
    lists = now.lists
    phrase = next((one for one in now.changes if one in lists.denials), "")
    if not phrase or now.body[0].plain in lists.indefinite or was.hedged or was.past or now.denies or was.denies:
        return ""
    another = now.subject.other or now.body[0].word in lists.anaphors  # "he" may be another one by now
    if another or aligned(now.body, was.body)[1] or not lists.over.isdisjoint(was.changes):
        return ""
    return f'The new one says "{shown(phrase)}" of what the old one says: {quoted(worded(now.content, now.body))}.'
