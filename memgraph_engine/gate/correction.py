"""Where a new note takes an old one back: it says so, and says nothing else.

That two notes differ keeps them apart; that one replaces the other takes it out of sight. So a correction is told word
by word: without the phrase that announces it ("no longer", "actually") it is all that the old note states, or that with
one number, date or name in another's place. A word of the old one that it leaves out, or a second statement there,
would be hidden with what is taken back: then the old note stays, and `update` tells what of it has ended.
"""

from collections.abc import Sequence

from memgraph_engine.gate.difference import aligned, quoted, swapped, worded
from memgraph_engine.gate.known import Line
from memgraph_engine.gate.statement import Statement, only, statements
from memgraph_engine.gate.wording import shown


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
    if any(one.hedged for one in told) or not all(known):
        return ""
    for now in told:
        # other clauses may only go on about the same subject: "I no longer live in Rome, I moved to Bari."
        if all(_goes_on(one, now) for one in told):
            evidence = [_takes_back(now, was) for was in known if was]
            if all(evidence):
                return evidence[0]
    return ""


def _goes_on(one: Statement, now: Statement) -> bool:
    parted = one.own[0].clause not in {token.clause for token in now.own}  # not "… when I swim"
    return one is now or (parted and not one.lead and one.body[0].word == now.body[0].word)


def _takes_back(now: Statement, was: Statement) -> str:
    """Say what the old statement says and the new one, behind its phrase, denies or has otherwise."""
    lists = now.lists
    phrase = next((one for one in now.changes if one in lists.denials | lists.corrections), "")
    if not phrase or now.body[0].plain in lists.indefinite or was.hedged or was.past or now.denies or was.denies:
        return ""
    if not lists.over.isdisjoint(was.changes):
        return ""
    blocks = [block for block in aligned(now.body, was.body)[1] if block[0] or any(token.stem for token in block[1])]
    says = f'The new one says "{shown(phrase)}"'
    if phrase in lists.denials:
        return "" if blocks else f"{says} of what the old one says: {quoted(worded(now.content, now.body))}."
    if len(blocks) != 1 or len(blocks[0][0]) != 1 or len(blocks[0][1]) != 1:
        return ""
    (put,), (out,), place = blocks[0]
    about = put.kind == "name" and (not place or now.body[place - 1].stem)  # whom it is about is no detail of it
    if about or put.kind == "word" or put.kind != out.kind:
        return ""
    return f"{swapped(put.kind, {put.written}, {out.written})} {says}."
