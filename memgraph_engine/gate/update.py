"""Where a new note tells the present state of what an old one tells: true until then, and not since.

A word of change ("now", "postponed") presupposes that it was otherwise, and the new clause is the old one with another
value in the same place, or names what was before. One of both is not enough: much is new now, and a person may have
two of anything. An update hides nothing: what is taken for one wrongly can still be read.
"""

from collections.abc import Collection, Sequence
from datetime import timedelta
from functools import cached_property
from itertools import groupby, pairwise, takewhile
from operator import attrgetter

from memgraph_engine.gate.amount import amounts, replaced
from memgraph_engine.gate.contrast import Update, contrast
from memgraph_engine.gate.difference import as_written, denied, quoted, swapped, swapped_dates, worded
from memgraph_engine.gate.known import Line, only
from memgraph_engine.gate.pairs import Judged, read, weights_of
from memgraph_engine.language.statement import Statement, statements
from memgraph_engine.language.tense import present
from memgraph_engine.language.terms import LISTED
from memgraph_engine.language.wording import (
    Lists,
    Token,
    aligned,
    numbers,
    recurs,
    shown,
    stems,
    text_of,
    timeless,
    words,
)

SURE = 0.9  # likelihood from which the model takes a line for news of another
UNLISTED = 0.85  # the same in a language without lists: fewer cues tell there
_NEWS = timedelta(days=90)  # what had changed so long before a line was said, its speaker knew when he said that
_ALIKE = 0.5  # share of tokens from which one word in another's place tells of another thing; below, of other wording


def update(new: Line, old: Line, related: float, *, again: bool = False) -> Update | None:
    """Say how a new line tells the present state of what an old one tells; None if it does not.

    By their vectors both are `related` (0…1). The model of pairs is not asked where it says the old one `again`.

    >>> from memgraph_engine.model.memory import Source
    >>> said = ("Elsa has 14 plants and Jip is 4.", "bought three more, so Elsa's got 17 plants now")
    >>> old, new = (Line(Source("1", text, "", speaker="Ana"), "english") for text in said)
    >>> update(new, old, 0.8)[:2]
    ('The new one says "now". They differ in a number: "17", not "14".', 'Elsa has 14 plants')
    """
    if new.long or old.long or "assistant" in (new.role, old.role):
        return None
    return (_exchange(new, old) if new.tells else None) or (None if again else _news(new, old, related))


def _exchange(new: Line, old: Line) -> Update | None:
    """Say which value of an old line a new one has another for, beside a word of change."""
    if found := contrast(new, old):
        return found
    telling = [told for told in statements(new) if told.tells]  # most have none: then the old one is not read
    if not telling:
        return None
    alone = (one.relocates or one.becoming or one.content <= one.numbers for one in telling if one.subject.speaker)
    if new.content.isdisjoint(old.content) and not any(alone):  # "I turned 40"
        return None
    known = [was for was in statements(old) if not was.past]
    for told in telling:
        named = {told.subject.name, told.subject.noun} - {""}  # who names what a clause is about means no other clause
        about = [was for was in known if named & was.content] or known
        pairs = [pair for was in about if (pair := _Pair(told, was)).evidence]
        if pairs and not (told.turned and _known_before(new, old)):
            nearest = min(pairs, key=lambda pair: pair.distance)
            return Update(nearest.evidence, nearest.former)
    return None


def _news(new: Line, old: Line, related: float) -> Update | None:
    """Say why the model of pairs takes a new line for news of an old one."""
    reading = read(new, old, related)
    sure = SURE if new.language in LISTED else UNLISTED
    if not reading or reading.news <= sure or _known_before(new, old) or not _of_one(new, old):
        return None
    told = reading.told
    part = old.words(told.old.tokens) if len(told.old.tokens) < len(old.tokens) else ""
    return Update(_evidence(reading, new.language), nearest(old, told.new.content) or part)


def _of_one(new: Line, old: Line) -> bool:
    """Tell whether both may tell of one: not "Ana's wedding" and "Karim's", nor "not in York" of who lives in Leeds.

    Where they share no word, they have to: "we moved to Genoa" is news of where I live, not of where my sister does.
    """
    mine, theirs = ({one.subject for one in statements(line)} for line in (new, old))
    from_another = (now.origin and not any(map(now.comes_from, statements(old))) for now in statements(new))
    owners = [(one.owner, other.owner) for one in mine for other in theirs if one.noun and one.noun == other.noun]
    if any(from_another) or (any(map(all, owners)) and all(one != other for one, other in owners)):
        return False
    named = {token.stem for token in new.tokens if token.capital and not token.opens}
    if not denied(new.tokens, new.lists) & named <= old.content:
        return False
    return not new.content.isdisjoint(old.content) or not mine.isdisjoint(theirs)


def _evidence(reading: Judged, language: str) -> str:
    words = weights_of(language).words(reading.told)
    by = f" by {quoted(words)}" if words else ""
    return f"It reads as news of the old one{by} ({reading.news:.2f})."


def nearest(old: Line, content: Collection[str]) -> str:
    """Return the one of several statements of an old line that shares most with others' content; '' for none."""
    every, shared = statements(old), frozenset(content)
    counts = [(len(one.content & shared), len(stems(one.own) & shared)) for one in every]
    best = max(counts, default=(0, 0))
    return old.words(every[counts.index(best)].own) if best[0] and counts.count(best) == 1 < len(every) else ""


def anew(new: Line, old: Line) -> bool:
    """Tell whether a line says of an older one that it is so again: without its words of change it is that one.

    >>> from memgraph_engine.model.memory import Source
    >>> old, new = (Line(Source("1", f"I live in {place}.", ""), "english") for place in ("Rome", "Rome again"))
    >>> anew(new, old)
    True
    """
    if not new.changes or new.content.isdisjoint(old.content):
        return False
    now, was = only(new), only(old)
    if not now or not was or not new.lists.over.isdisjoint((*now.changes, *was.changes)):
        return False
    return now.content == was.content and now.denies == was.denies


def telling(lines: Sequence[Line]) -> str | None:
    """Return the words with which lines tell a change, '' for all of them; None where none of several tells one."""
    for line in lines:
        every = statements(line)
        runs = ([*some] for tells, some in groupby(every, key=attrgetter("tells")) if tells or len(every) == 1)
        if told := next(runs, []):
            return "" if [told] == [every] * len(lines) else line.words([token for one in told for token in one.own])
    return None


def _known_before(new: Line, old: Line) -> bool:
    """Tell whether what has changed had changed long before the old line was said: it is no news of that."""
    said = old.said_at
    return said is not None and bool(new.days) and all(end.date() < (said - _NEWS).date() for _, end in new.days)


def _item(one: Statement) -> str:
    """Return the kind of the values that are all of a clause that goes on from another, '' for any other clause."""
    told = [token for token in one.own if token.stem or token.date] if one.lead else []
    kinds = {token.kind for token in told}
    return kinds.pop() if len(kinds) == 1 and "word" not in kinds else ""


class _Pair:
    """A statement of the new line beside one of the old line."""

    def __init__(self, now: Statement, was: Statement) -> None:
        self.now, self.was, self.lists = now, was, now.lists

    @cached_property
    def evidence(self) -> str:
        """What tells that the new one is the present state of the old one, or ''."""
        if not self.now.comes_from(self.was):
            return ""
        if not self._same_subject:
            return self._turn
        over = self.lists.over
        said = next((one for one in self.now.changes if one not in over), "")
        found = said and (self.exchange or self._back or self._left)
        if not found and (said := next(iter(self.now.around), "")):
            found = self._swap
        if not found and (said := next((one for one in self.now.changes if one in over), "")):
            found = self._end
        return f'The new one says "{shown(said)}". {found}' if found else self._turn

    @property
    def distance(self) -> tuple[bool, float]:
        """Orders clauses by how likely a new one speaks of each: whom it names first, else what it shares most with."""
        first = next((token.written for token in self.now.body), "")
        named = first in {token.written for token in self.was.body if token.stem}
        shared = self.now.content & self.was.content
        return not named, -len(self.now.dates & self.was.dates) - len(shared) / max(len(self.was.content), 1)

    @property
    def former(self) -> str:
        """The words of the old line that are true no more, beginning with what this is told of; '' for all.

        Who tells that one thing has changed tells the rest as it is now: "Elsa is 8 and Jip is 5 now."
        """
        rest = [one for one in statements(self.now.line) if one is not self.now and not one.hedged]
        known, old = statements(self.was.line), self.was.line
        gone = {at for at, was in enumerate(known) if any(_Pair(now, was).exchange for now in rest)}
        first = last = known.index(self.was)
        gone |= self._listed(known)
        while first - 1 in gone:
            first -= 1
        while last + 1 in gone:
            last += 1
        tokens = self._replaced or [token for one in known[first : last + 1] for token in one.own]
        told = (one for one in old.tokens if one not in tokens and (one.stem or one.word in self.lists.persons))
        left = any(not token.asked for token in told)
        return old.words(tokens) if left else ""

    def _listed(self, known: Sequence[Statement]) -> set[int]:
        """Return the places of the clauses of a list, of which nothing is left: "on Mondays" and "on Tuesdays".

        A value that the new line has too stays, and all others where it names the one that it replaces.
        """
        told = {*words(self.now.line.tokens)}
        at = first = known.index(self.was)
        while first and known[first].sentence == known[first - 1].sentence and _item(known[first]):
            first -= 1
        items = [*takewhile(lambda place: _item(known[place]), range(first + 1, len(known)))]
        kinds = {_item(known[place]) for place in items}
        if len(kinds) != 1 or at not in (first, *items):
            return set()
        (kind,) = kinds
        values = {place: {one.word for one in known[place].own if one.kind == kind} for place in (first, *items)}
        if not values[at] or not told.isdisjoint(values[at]) or all(one.kind != kind for one in self.now.values):
            return set()
        return {place for place, some in values.items() if some and told.isdisjoint(some)}

    @property
    def exchange(self) -> str:
        """What of the old one the new one has another value of, whether or not it speaks of a change; or ''."""
        if not self._same_subject:
            return ""
        return self._swap or ("" if self.was.event else self._move or self._slot)

    @cached_property
    def _same_subject(self) -> bool:
        """Whether both tell of one, or what the one tells of is known to the other."""
        now, was = self.now, self.was
        return now.tells_of(was, now.line.content, was.line.content) or self._same_thing

    @cached_property
    def _same_thing(self) -> bool:
        """Whether the new one tells what was done to the thing that the old one tells of, whoever did it."""
        now, was = self.now, self.was
        done_to = now.subject.thing and now.subject.noun and was.patient <= now.content
        thing = now.patient or (was.patient if done_to else frozenset())
        if not thing or not thing <= was.content:
            return False
        told = was.subject.speaker or was.subject.told_in(now.line.content) or thing <= was.patient
        return told and now.same_owner(was, thing)

    @property
    def _matter(self) -> Sequence[Token]:
        """What the new one tells, without who or what did it to the thing that both tell of."""
        return (self._same_thing and self.now.acted_on) or self.now.body

    @property
    def _swap(self) -> str:
        """Tell a number, a date or a name of the same matter in another's place."""
        now, was = self.now, self.was
        mine, theirs = self._names
        name = swapped("name", mine, theirs)
        date = swapped_dates(now.values, was.values)
        new, old = (as_written(some, one.body) for some, one in zip(self._numbers, (now, was), strict=True))
        number = swapped("number", new, old)  # "20 mg" is no news of "15 minutes"
        # who meets at 9 on Monday and at 10 on Tuesday meets twice; "the meeting" is one, whenever it is
        once = was.subject.thing and not recurs(was.words, self.lists)
        if (name and (date or number)) or (date and number and not once):
            return ""
        if number:
            return number if self._counts_the_same else ""
        put = now.numbers - was.numbers
        frame = timeless(one for one in self._matter if one.written not in mine and one.plain not in put)
        if not frame or not frame <= was.content:
            return ""
        # where somebody is now is not where he lives
        told_alike = now.predicate or not was.predicate or not was.predicate.isdisjoint(now.content)
        if not told_alike and not (date and was.subject.thing):
            return ""
        return date or (name if self._leads_alike and not any(map(self._object, mine)) else "")

    @cached_property
    def _names(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names of the new one that the old one lacks, and the other way round."""
        now, was = self.now, self.was
        mine, theirs = ({token.written for token in one.values} & one.names for one in (now, was))
        put, out = frozenset(mine) - was.written, frozenset(theirs) - now.written
        leads, led = ([*_leads(one.body, names, self.lists)] for one, names in ((now, put), (was, out)))
        places = self.lists.details - self.lists.several
        if len(leads) == 1 < len(led) and leads[0][0] in places:  # "in Leeds with Jonas" is not replaced by "in York"
            out = frozenset(token.written for lead, some in led if lead in places for token in some) or out
        return put, out

    @property
    def _move(self) -> str:
        """Tell where somebody lives since he moved; a sentence that tells more may tell of another time or person."""
        now, (mine, theirs) = self.now, self._names
        more = any(one is not now and one.sentence == now.sentence for one in statements(now.line))
        lived = {self.lists.dwelling.get(word) for word in self.was.words}
        moved = not now.relocates.isdisjoint(lived) and not now.acted_on and not more
        if moved and not (mine and theirs):  # a name in small letters
            leads = self.lists.details - self.lists.several - self.lists.articles
            mine, theirs = now.led_by(self.lists.goals), self.was.led_by(leads)
        return swapped("name", mine, theirs) if moved else ""

    @property
    def _leads_alike(self) -> bool:
        """Whether one name stands for one in a like place: "in Porto" is where she is, not what she "is called"."""
        pairs = zip((self.now, self.was), self._names, strict=True)
        led = [[lead for lead, _ in _leads(one.body, names, self.lists)] for one, names in pairs]
        return [len(leads) for leads in led] == [1, 1] and len({lead in self.lists.details for (lead,) in led}) == 1

    @property
    def _counts_the_same(self) -> bool:
        """Whether numbers are told of one matter: half of what is told of it is known, and all in a like sentence.

        "I'm at 1150 for the e-bike" is news of "saving for an e-bike, I've put aside 600".
        """
        now, was = self.now, self.was
        told = timeless(token for token in self._matter if not token.number)
        sentence = (one.content for one in statements(was.line) if one.sentence == was.sentence)
        shared = told & frozenset().union(*sentence) or now.counted & was.counted or timeless(now.origin)
        if now.becoming and told <= {now.subject.noun, now.subject.name}:  # "I turned 40"
            return any(self._is(one.plain) and after.plain in self._numbers[1] for one, after in pairwise(was.body))
        if not told:  # "I'm 35 now"
            new, old = ([one.word for one in clause.body if not one.number] for clause in (now, was))
            return new == old
        half = 2 * len(shared) >= len(told)
        return bool(shared) and (told <= shared or (half and aligned(now.body, was.body)[0] <= _ALIKE))

    @cached_property
    def _numbers(self) -> Sequence[set[str]]:
        """The numbers of the new one, and those of the old one in whose place they stand."""
        told = [[one for one in amounts(s.body, s.lists) if one.tokens[0] in s.values] for s in (self.now, self.was)]
        if not self.now.origin and not self.now.becoming:  # "7 teeth" is no news of "6"
            told[0] = [one for one in told[0] if not one.unit or any(other.unit or other.hour for other in told[1])]
        return [numbers(tokens) for tokens in replaced(*told) or ((), ())]

    @property
    def _replaced(self) -> Sequence[Token]:
        """The old number, with the words around it, where its clause has others that stay; none for the clause.

        Likewise what is over, where the clause tells more behind it: "I like tea" of "I like tea / coffee".
        """
        gone = self._numbers[1]
        if not gone or self.was.numbers <= gone | self.now.numbers:
            return (not gone and self._place) or self._over
        own = self.was.own
        places = [at for at, one in enumerate(own) if one.plain in gone]
        ends = (at + 1 + any(one.stem or one.day for one in own[at + 1 : at + 2]) for at in places)
        return [one for at, end in zip(places, ends, strict=True) for one in own[max(at - 1, 0) : end]]

    @property
    def _place(self) -> Sequence[Token]:
        """The old place, with the word that leads to it, where more is told behind it: "in Leeds with Jonas"."""
        out, own = self._names[1], self.was.own
        at = [place for place, token in enumerate(own) if token.written in out]
        rest = self.was.names - out - self.now.written
        return own[max(at[0] - 1, 0) : at[-1] + 1] if at and rest and (self._move or self._swap) else []

    @property
    def _over(self) -> Sequence[Token]:
        """The clause up to the last of what is over ("yoga classes"), where more than times stands behind that."""
        own, mine = self.was.own, timeless(self.now.origin) or timeless(self._matter)
        last = max((at for at, token in enumerate(own) if token.stem in mine), default=len(own))
        last += any(token.stem for token in own[last + 1 : last + 2])
        behind = any(token.stem and not token.number and not token.timely for token in own[last + 1 :])
        whole = self.exchange or mine <= {self.was.subject.noun, self.was.subject.name}
        return own[: last + 1] if behind and not whole else []

    def _is(self, lead: str) -> bool:
        """Tell whether a word leads to what somebody or something is: "is", "tiene"."""
        return lead == "'s" or present(lead.casefold(), self.now.line.language)

    def _object(self, value: str) -> bool:
        """Tell whether a value is what somebody does something with: then there may be several.

        Nothing but words with content leads to it ("I speak Dutch now."), or a word like "to" and "with" ("I'm
        allergic to pollen now."). Behind another word ("in", "a", "is called") is where, what or who somebody is.
        """
        led = list(takewhile(lambda token: token.written != value, self.now.body))
        while len(led) > 1 and led[-1].word in self.lists.determiners & self.lists.details:
            led.pop()
        closed = any(token.written.islower() and not token.stem for token in led[1:])
        several = bool(led) and led[-1].word in self.lists.several - (self.lists.goals if self.now.turned else set())
        return several or (bool(led) and bool(led[-1].stem) and not closed)

    @property
    def _slot(self) -> str:
        """Tell one thing in another's place, and nothing else that differs."""
        now, was = self.now.body, self.was.body
        blocks = [(put, out) for put, out, at in aligned(now, was)[1] if not numbers(now[at - 1 : at])]  # "two cats"
        # whoever likes one thing now may like the other as well, and "34" is no other thing than "pregnant"
        known = self.now.content & self.was.content
        if self.now.feeling or not known or self.now.content == self.was.content or len(blocks) != 1:
            return ""
        times = self.lists.times
        kinds = [[one.word in times if one.stem and not one.number else None for one in side] for side in blocks[0]]
        if kinds not in ([[False]] * 2, [[True]] * 2):  # one thing, or one time
            return ""
        put, out = map(text_of, blocks[0])
        return "" if self._object(put) else f"They differ in {quoted([put])}, not {quoted([out])}."

    @property
    def _end(self) -> str:
        """Tell that what the old one tells of is over: "we cancelled Crete"."""
        now, was = self.now, self.was
        over, was_over = (not self.lists.endings.isdisjoint(one.changes) for one in (now, was))
        mine = timeless(self._matter)
        if not over or was_over or was.denies or now.denies or not mine or (was.event and len(mine) == 1):
            return ""
        if was.feeling and self.lists.denials.isdisjoint(now.changes):
            return ""  # who sold it may like it still
        by = now.subject
        stranger = now.patient and (by.noun or by.name) and not by.told_in(was.line.content)  # "Tom sold the house"
        if not self._same_subject or (stranger and now.whose(now.patient) != "my"):
            return ""
        # on Fridays, or every day, no more is now and then still; but what died in May is dead
        sometimes = now.past or recurs(now.words, self.lists) or not self.lists.denials.isdisjoint(now.changes)
        new, old = ({one.date or one.stem for one in clause.body if one.timely} - {""} for clause in (now, was))
        if not mine <= was.content or (sometimes and not new <= old) or now.lasts:
            return ""
        named = any(token.stem in mine and token.written in was.names for token in was.body)
        if len(mine) == 1 and self._parted:
            return ""
        rest = [*was.body[:1], *(one for before, one in pairwise(was.body) if before.stem not in mine)]
        # "I sing in a choir on Tuesdays" tells of the choir, "I take yoga classes" of yoga
        plain = was.patient == mine or len(timeless(rest) - mine) <= 1
        return f"So is {quoted(worded(mine, now.body))} no more." if len(mine) > 1 or named or plain else ""

    @property
    def _back(self) -> str:
        """Tell that what the old one ended is so again."""
        over = [self.lists.endings.isdisjoint(one.changes) for one in (self.now, self.was)]
        alike = self.now.content == self.was.content and self.now.denies == self.was.denies
        told = quoted(worded(self.now.content, self.now.body))
        return f"So is {told} again." if alike and over == [True, False] else ""

    @property
    def _left(self) -> str:
        """Tell that a thing is no more what it was, in the new one's words: "I switched from tea to coffee"."""
        was, gone = self.was, timeless(self.now.origin)
        before = timeless(takewhile(lambda token: token.stem not in gone, was.body))
        plain = len(before - {was.subject.noun, was.subject.name}) < 2  # not "I know a guy at the bank"
        state = plain and not was.event and not was.feeling and not was.denies
        return f"So is {quoted(worded(gone, was.body))} no more." if gone and state else ""

    @property
    def _turn(self) -> str:
        """Tell another feeling about the same thing, or about all of what it is part of."""
        now, was = self.now.feeling, self.was.feeling
        if not now or not was or now[1] == was[1] or not now[2] or not now[2] <= was[2]:
            return ""
        words = (quoted([shown(phrase)]) for phrase, *_ in (now, was))
        about = quoted(worded(now[2], self.now.tokens))
        return f"They differ in how {about} is liked: {', not '.join(words)}."

    @property
    def _parted(self) -> bool:
        """Whether two part, which ends nothing else of one than who he is to the speaker: "Joris is my boyfriend"."""
        lists, was, mine = self.lists, self.was, timeless(self.now.body)
        pairs = pairwise(self.now.body)
        parts = any((one.stem and after.plain in lists.joints) or one.plain in lists.several for one, after in pairs)
        tells_who = {was.subject.name, was.subject.noun} & mine and len(timeless(was.body) - mine) == 1
        return parts and not (tells_who and lists.mine & {*words(was.body[1:])})


def _leads(tokens: Sequence[Token], values: frozenset[str], lists: Lists) -> list[tuple[str, Sequence[Token]]]:
    """Return what leads to each of some names, which may have several words: "an" to "an old Fiesta"."""
    found: list[tuple[str, Sequence[Token]]] = []
    for named, group in groupby(tokens, key=lambda token: token.written in values):
        some = [*group]
        if named:
            before = tokens[: tokens.index(some[0])]
            article = next((one for one in reversed(before) if not (one.stem and one.written.islower())), None)
            described = article is not None and article.plain in lists.indefinite & lists.details
            lead = article if described else next(iter(before[-1:]), None)
            found.append((lead.plain if lead else "", some))
    return found
