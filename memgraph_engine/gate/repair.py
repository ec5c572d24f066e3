"""Where somebody puts right what he has just said ("Sorry, Wednesday at 7."): it repairs the statement before it.

A repair follows at once, has an editing term ("sorry", "I meant"), and then the right word for the wrong one (W.
Levelt, "Monitoring and self-repair in speech", Cognition 14, 1983). It shares no words with what it repairs, and is
told by its place: behind the statement, in one session, by the same one. A clause of it has nothing but a value, and
what it repairs has one of the same kind. Without an editing term only who names the wrong word ("6, not 5") repairs.
"""

from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from operator import attrgetter
from unicodedata import combining, normalize

from memgraph_engine.gate.difference import quoted
from memgraph_engine.gate.known import STAR, Line, same_speaker
from memgraph_engine.gate.update import Update
from memgraph_engine.language.amounts import amounts, replaced
from memgraph_engine.language.questions import asks_for_value, is_question
from memgraph_engine.language.wording import ORDINAL, Lists, Token, parted, shown, stems, taken_back, text_of, words
from memgraph_engine.model.memory import Source
from memgraph_engine.model.result import AT_ONCE

NEAR = 2
"""Messages that a repair may come after what it repairs: an assistant may have answered between."""
FAR = 8
"""Likewise, where nobody has asked anything between, and the speaker has said nothing."""
_SLIP = (
    0.85  # share of the letters in the same order from which two words are one that was mistyped, not "lake", "late"
)
_SHORT = 3  # letters of which a value has as many at least, or it looks like many others
_FEW = 3  # words that are put in another's place at most
_ANY, _ERROR, _WEAK = "+!-"  # editing terms: enough for any word, telling an error, often of other use ("sorry")
_BARE = ""  # a negation alone in its clause
_UNIT = 3  # letters that a unit, or what makes a number an ordinal one, is shorter than: "pm", "nd"


def may_repair(line: Line) -> bool:
    """Tell whether a line may repair what was said right before: a user's that has an editing term, or names a word."""
    return line.role != "assistant" and not line.long and bool(line.editing or line.denies or line.objects)


def answers(line: Line, before: Source) -> bool:
    """Tell whether a line that may repair something may answer the turn before it, and so repairs nothing.

    "No, Thursday." puts right what one has said oneself, unless it is asked, or another person said something between.
    """
    if asks_for_value(before.text, line.language):
        return True
    foreign = before.role != "assistant" and (before.speaker or before.role).casefold() != line.speaker.casefold()
    return line.objects and (foreign or is_question(before.text))


def reach(line: Line, others: Collection[Line]) -> int:
    """Count the messages that a line may come after what it repairs; `others` were said around it.

    It is NEAR, or as far as FAR to what its speaker said last, if that was ten minutes ago at most and nobody asked
    anything since: in a group, others may say much in between. It is 0 where one of them is spoken to: "Sorry, Tom."
    """
    # a clause of no more words than a name may be one
    called = {line.words(one).casefold() for one in parted(line.tokens, "clause") if len(one) <= _FEW}
    if not called.isdisjoint(one.speaker.casefold() for one in others):
        return 0
    before = {behind: other for other in others if 0 < (behind := line.behind(other)) <= FAR}
    last = min((at for at, other in before.items() if same_speaker(line, other)), default=0)
    if last <= NEAR or any(other.asks for at, other in before.items() if at < last):
        return NEAR
    now, then = line.said_at, before[last].said_at
    return NEAR if now and then and now - then > AT_ONCE else last


def repair(new: Line, old: Line, reach: int = NEAR) -> Update | None:
    """Say how a new line repairs the one that its speaker said right before; None if it does not.

    >>> from memgraph_engine.model.memory import Source
    >>> said = (("my flight leaves at 6:40 on Sunday", 0), ("ugh, misread the ticket, it's 8:15", 2))
    >>> old, new = (Line(Source("1", text, "", speaker="Ana", session="s1", seq=seq), "english") for text, seq in said)
    >>> repair(new, old).former
    '6:40'
    """
    if not 0 < new.behind(old) <= reach or not may_repair(new) or old.role == "assistant" or old.long:
        return None
    lists, says = new.lists, "The new one says so right behind it."
    if found := _named(new, old.tokens, lists):
        return _update(says, found[0], old.words(found[1]))
    meant = not {_ANY, _ERROR}.isdisjoint(lists.edits.get(term, _ANY) for term in new.editing)
    for term, kind, clauses in _terms(new, lists):
        found = next(filter(None, (_value(one, old.tokens, lists) for one in clauses)), None)
        if not found and kind != _BARE and clauses:
            found = _word(clauses[0], old.tokens, lists, any_word=kind == _ANY)
        if found:
            put, out = found
            # a name alone, in the place of one that is not like it, may be whom one speaks to
            called = put in map(text_of, clauses) and list(out) == _of_kind("name", out)
            sure = meant or not called or SequenceMatcher(None, put.casefold(), out[0].word).ratio() >= _SLIP
            return _update(f'The new one says "{shown(term)}" right behind it.', put, old.words(out), sure=sure)
    return None


def _update(says: str, put: str, former: str, *, sure: bool = True) -> Update:
    return Update(f"{says} It has {quoted([put])}, not {quoted([former])}.", former, put, sure)


def mended(new: Source, old: Source, language: str) -> str:
    """Return what an old message says with the right words for the wrong ones; '' if it is not sure to be repaired.

    >>> said = (("I live in Bristol and I cook.", 0), ("sorry, Bath not Bristol", 2))
    >>> old, new = (Source("1", text, "", speaker="Ana", session="s1", seq=seq) for text, seq in said)
    >>> mended(new, old, "english")
    'I live in Bath and I cook.'
    """
    found = repair(Line(new, language), Line(old, language), FAR)
    text = " ".join(normalize("NFC", old.text).split())
    return text.replace(found.former, found.put, 1) if found and found.sure and found.former in text else ""


def _named(new: Line, old: Sequence[Token], lists: Lists) -> "_Found | None":
    """Return the right words and the wrong one, where a line says nothing but these, and this behind a negation."""
    held, known = frozenset[int]().union(*new.editing.values()), {*words(old), *ORDINAL}
    said = [token for at, token in enumerate(new.tokens) if at not in held]
    denied = [found for clause in parted(said, "clause") for found in taken_back(clause, lists)]
    if len(denied) != 1 or any(token.asked or token.plain in lists.hedges for token in said):
        return None
    ((no, wrong),) = denied
    put = [token for token in said if token.stem and token.word not in known]
    out = [token for token in old if token.word == wrong.word and not token.asked][-1:]
    if not out or not 0 < len(put) <= _FEW or said.index(put[-1]) - said.index(put[0]) >= len(put):
        return None
    value = len(put) == 1 or all(one.capital for one in put) or any(one.timed for one in put)
    alike = len({one.kind if one.timed else "" for one in (*put, wrong)}) == 1
    plain = wrong.kind == "word" and not wrong.capital and not _slip(put[-1], wrong)  # "Dinner not ready"
    state = put[0].clause == no.clause and (plain or said.index(wrong) - said.index(no) > 1)
    return (_text(put), out) if value and alike and not state else None


def _slip(one: Token, other: Token) -> bool:
    """Tell whether a word is another one mistyped: not where it begins with that, as "Melanie" does with "Mel"."""
    new, old = one.word, other.word
    if new == old or min(len(new), len(old)) < _SHORT:
        return False
    if _unaccented(new) == _unaccented(old):
        return True
    part = new.startswith(old) or old.startswith(new) or one.stem == other.stem
    return not part and SequenceMatcher(None, new, old, autojunk=False).ratio() >= _SLIP


def _terms(line: Line, lists: Lists) -> Iterator[tuple[str, str, Sequence[Sequence[Token]]]]:
    """Yield each editing term with its kind and the clauses that may have the right words, the likeliest first.

    It begins its clause ("can't wait" is none), unless it tells an error. What stands behind it there is meant; where
    that is nothing, the clauses behind it, or the one before where there are none ("It's blue, sorry."); and behind a
    term that tells an error also what else is said.
    """
    if line.objects:
        behind = [token for token in line.tokens if token.clause > line.tokens[0].clause]
        no = next(token.plain for token in line.tokens if token.word in lists.negations)
        yield no, _BARE, _stated(behind, lists)[:1]
    held = frozenset[int]().union(*line.editing.values())
    others = [(at, token) for at, token in enumerate(line.tokens) if at not in held]
    for term, places in sorted(line.editing.items(), key=lambda one: min(one[1])):
        kind = lists.edits.get(term, _ANY)
        first, clause = min(places), line.tokens[min(places)].clause
        before = [token for at, token in others if token.clause == clause and at < first]
        if term == STAR and before:  # "Tuesday*"
            yield term, kind, _stated(before, lists)
            continue
        led = any(token.stem for token in before) and kind != _ERROR
        denied = not lists.negations.isdisjoint(_plain(before))
        refused = kind != _ERROR and _plain(before) <= lists.negations | lists.interjections  # "oh no wait"
        if line.tokens[first].asked or led or (denied and not refused):
            continue
        rest = [token for at, token in others if token.clause == clause and at > first]
        alone = not any(token.stem for token in rest)
        behind = [token for _, token in others if token.clause > clause]
        earlier = _stated([token for _, token in others if token.clause < clause], lists)
        if kind == _WEAK and rest and rest[0].plain in lists.details | lists.several:
            continue  # "sorry for Bochum"
        later = _stated(behind, lists) if alone or kind != _WEAK else []
        yield term, kind, [*_stated(rest, lists), *later, *(earlier[-1:] if alone and not behind else [])]


def _stated(tokens: Sequence[Token], lists: Lists) -> list[Sequence[Token]]:
    """Return the clauses that state something, without those that deny it, or call somebody: "No, Bo, I am"."""
    less, found = lists.hedges | lists.negations, list[Sequence[Token]]()
    for one, after in pairwise((*parted(tokens, "clause"), [])):
        named = all(token.stem and token.capital and not token.number for token in one)
        called = named and after and after[0].sentence == one[0].sentence and after[0].word in lists.persons
        if not called and not one[0].asked and less.isdisjoint(_plain(one)):
            found.append(one)
    return found


_Found = tuple[str, Sequence[Token]]
"""The right words, and the wrong ones."""


def _value(clause: Sequence[Token], old: Sequence[Token], lists: Lists) -> _Found | None:
    """Return the values that are all of a clause, and the words of an old line that have others of their kinds."""
    told, before = [token for token in clause if token.stem], {token.stem for token in old}
    names = [token for token in old if token.stem and token.capital]
    slipped = [token for token in told if any(_slip(token, name) for name in names)]
    mine = {"date": _of_kind("date", told), "name": _of_kind("name", told, slipped)}
    values = [token for token in told if token.number or any(token in some for some in mine.values())]
    known = before | {token.stem for token in told if token.word in lists.times}
    if any(one not in values and one.stem not in known and len(one.written) >= _UNIT for one in told):
        return None
    found: list[tuple[Sequence[Token], Sequence[Token]]] = []
    if numbers := replaced(amounts(clause, lists), amounts(old, lists)):
        found.append(numbers)
    for kind, some in mine.items():
        theirs = _of_kind(kind, old)
        put = [token for token in some if token.plain not in _plain(theirs)]
        out = [token for token in theirs if token.plain not in _plain(some)]
        slips = [token for token in out if put and _slip(put[0], token)][:1]
        if put and kind == "name" and not out:
            return None  # it is about somebody else
        if put and (slips or 0 < len(_plain(out)) <= len(put)):
            found.append((put, slips or out))
    parts = [[token for some in side for token in some] for side in zip(*found, strict=True)]
    return (_text(parts[0]), parts[1]) if parts else None


def _word(clause: Sequence[Token], old: Sequence[Token], lists: Lists, *, any_word: bool) -> _Found | None:
    """Return the new words that are all of a clause, and the one of an old line that they are, mistyped.

    Or, for one that may stand for `any_word`, the one that it most likely replaces: several may tell something else.
    """
    put = [token for token in clause if token.stem]
    if not 0 < len(put) <= _FEW or any(token.timed for token in put) or stems(put) & stems(old):
        return None
    stated = [token for token in old if token.stem and not token.asked and token.plain not in lists.times]
    slips = [token for token in stated if _slip(put[-1], token)]
    common = [token for token in stated if token.written.islower()]
    out = slips if len(clause) == len(slips) == 1 else []
    if any_word and put[0].kind == "word":
        out = (slips or (common if len(put) == 1 else []))[-1:]
    return (_text(put), out) if out else None


def _of_kind(kind: str, tokens: Sequence[Token], names: Sequence[Token] = ()) -> list[Token]:
    """Return the days and months, or the names; `names` are some though a sentence opens with them."""
    if kind == "date":
        return [token for token in tokens if token.date]
    named = (token for token in tokens if not token.opens or token in names)
    return [token for token in named if token.stem and token.capital and not token.day and not token.number]


def _unaccented(word: str) -> str:
    return "".join(one for one in normalize("NFD", word) if not combining(one))


def _plain(tokens: Sequence[Token]) -> set[str]:
    return {token.plain for token in tokens}


def _text(tokens: Sequence[Token]) -> str:
    return text_of(sorted(tokens, key=attrgetter("span")))
