"""Where a new note tells the present state of what an old one tells: true until then, and not since.

A word of change ("now", "postponed") presupposes that it was otherwise, and the new clause is the old one with another
value in the same place, or names what was before. One of both is not enough: much is new now, and a person may have
two of anything. An update hides nothing: what is taken for one wrongly can still be read.
"""

from collections.abc import Collection, Sequence
from datetime import timedelta
from functools import cached_property
from itertools import groupby, pairwise, product, takewhile
from operator import attrgetter
from typing import NamedTuple

from memgraph_engine.gate.difference import as_written, quoted, swapped, swapped_dates, worded
from memgraph_engine.gate.known import Line, only
from memgraph_engine.gate.pairs import Judged, by_encoder, read, weights_of
from memgraph_engine.language.amounts import amounts, replaced
from memgraph_engine.language.statement import Statement, statements
from memgraph_engine.language.tense import present
from memgraph_engine.language.wording import (
    Token,
    aligned,
    denied,
    numbers,
    parted,
    recurs,
    shown,
    stems,
    taken_back,
    timeless,
    words,
)

SURE = 0.85  # likelihood, by the cross-encoder, from which a line is news of another
LIKELY, HALF = 0.8, 0.5  # by the linear model, or of one of several statements; of what stands beside that one
UNLIKE = 0.1  # below which words of change tell nothing
_NEWS = timedelta(days=90)  # what had changed so long before a line was said, its speaker knew when he said that


class Update(NamedTuple):
    """What tells that a line is the present state of another, and the words of this one that are true no more.

    `former` is '' where that is all it says. `put` are the words that a repair has for these, which is not `sure` where
    they may as well be the name of whom one speaks to: "Sorry, Maria."
    """

    evidence: str
    former: str
    put: str = ""
    sure: bool = True


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
    every = _exchange(new, old) if new.tells else ()
    if len({one.former for one in every}) > 1:  # it may be another one of two
        return None
    found = next(iter(every), None)
    if again or not (found or (_of_one(new, old) and not _known_before(new, old))):
        return found
    reading = read(new, old, related)
    if found:
        return None if reading and reading.encoded and _unlike(reading, found.former) else found
    return _news(new, old, reading) if reading else None


def _exchange(new: Line, old: Line) -> Sequence[Update]:
    """Say which value of an old line a new one has another for, or ends, beside a word of change: all that may be."""
    telling = [told for told in statements(new) if told.tells]
    known = [was for was in statements(old) if not was.past and not _goes_on(was, new)] if telling else []
    for told in telling:
        known = [was for was in known if told.comes_from(was)]
        named = {told.subject.name, told.subject.noun} - {""}  # who names what a clause is about means no other clause
        about = [was for was in known if named & was.content] or known
        pairs = [pair for was in about if (pair := _Pair(told, was)).evidence]
        if pairs and not (told.turned and _known_before(new, old)):
            least = min(pair.distance for pair in pairs)
            return [Update(pair.evidence, pair.former) for pair in pairs if pair.distance == least]
    return ()


def _goes_on(was: Statement, new: Line) -> bool:
    """Tell whether a new line says what an old one states as well, and does not end it."""
    said = (now for now in statements(new) if {*words(was.own)} <= {*words(now.body)} <= {*words(was.tokens)})
    return any(new.lists.over.isdisjoint(now.changes) for now in said)


def _unlike(reading: Judged, former: str) -> bool:
    """Tell whether the cross-encoder takes nothing of a new line for news of the old one, or of what is over."""
    new, (old, _) = reading.told.new, reading.texts
    said = {new.line.words(tokens) for tokens in (new.tokens, *parted(new.tokens, "sentence"))}
    return reading.news < UNLIKE and max(by_encoder([*product({old, former or old}, said)])) < UNLIKE


def _news(new: Line, old: Line, reading: Judged) -> Update | None:
    """Say why the models of pairs take a new line for news of an old one."""
    if reading.news <= (SURE if reading.encoded else LIKELY):
        return None
    if (former := _by_encoder(old, reading) if reading.encoded else _by_words(new, old, reading)) is None:
        return None
    by = quoted(weights_of(new.language).words(reading.told))
    return Update(f"It reads as news of the old one{by and f' by {by}'} ({reading.news:.2f}).", former)


def _by_words(new: Line, old: Line, reading: Judged) -> str | None:
    """Return the words of an old line that are over, '' for all; None where it may be any of several statements."""
    every = statements(old)
    former = nearest(old, reading.told.new.content) or _part(old, reading)
    again = any(_goes_on(was, new) for was in every)
    return None if again or (len(every) > 1 and not former) else former


def _by_encoder(old: Line, reading: Judged) -> str | None:
    """Return the words that are over, as `_by_words`: of several statements the one without which there is no news.

    Where that needs another to tell whom it is about ("we've got twins, they're 5"), it is the one that goes on. Where
    there is news of each, it is the likeliest one. What stands beside it and is over too by itself goes with it.
    """
    over = every = reading.told.old.stated
    if len(every) > 1:
        rest = _likely([[*every[:at], *every[at + 1 :]] for at in range(len(every))], reading)
        likely = _likely([[one] for one in every], reading)
        needed = [at for at, left in enumerate(rest) if left <= LIKELY]
        sure = needed if len(needed) < 2 else [at for at in needed if every[at].subject.other]
        first = last = sure[0] if len(sure) == 1 else likely.index(max(likely))
        if len(sure) != 1 and likely[first] <= LIKELY:
            if sum(one.finite for one in every) > 1:
                return None
            first, last = 0, len(every) - 1  # "I take ramipril, 5 mg"
        while first and likely[first - 1] > HALF and first - 1 not in needed:
            first -= 1
        while last + 1 < len(likely) and likely[last + 1] > HALF and last + 1 not in needed:
            last += 1
        over = every[first : last + 1]
    if any(_goes_on(was, reading.told.new.line) for was in over):
        return None
    whole = len(every) < 2 or [*over] == [*statements(old)]
    return _part(old, reading) if whole else old.words([token for one in over for token in one.own])


def _likely(some: Sequence[Sequence[Statement]], reading: Judged) -> list[float]:
    """Return how likely a new line is news of some statements, as they are told one behind another."""
    told = (" ".join(token.written for one in part for token in (*one.lead, *one.own)) for part in some)
    return by_encoder([(text, reading.texts[1]) for text in told])


def _part(old: Line, reading: Judged) -> str:
    """Return the words of the sentence of a long line that the models read; '' for all of a line."""
    tokens = reading.told.old.tokens
    return old.words(tokens) if len(tokens) < len(old.tokens) else ""


def _of_one(new: Line, old: Line) -> bool:
    """Tell whether both may tell of one: not "Ana's wedding" and "Karim's", nor "not in York" of who lives in Leeds."""
    mine, theirs = ({one.subject for one in statements(line)} for line in (new, old))
    nouns = [(now.noun, was.noun) for now in mine for was in theirs]
    if nouns and all(now and was and now not in old.content and was not in new.content for now, was in nouns):
        return False  # "my uncle", "my aunt"
    from_another = (now.origin and not any(map(now.comes_from, statements(old))) for now in statements(new))
    alike = [(one, other) for one in mine for other in theirs if one.noun and one.noun == other.noun]
    owners = [(one.owner or one.mine, other.owner or other.mine) for one, other in alike]
    if any(from_another) or (any(map(all, owners)) and all(one != other for one, other in owners)):
        return False
    named = {token.stem for token in new.tokens if token.capital and not token.opens}
    return denied(new.tokens, new.lists) & named <= old.content


def nearest(old: Line, content: Collection[str]) -> str:
    """Return the one of several statements that shares most with others' content, or those of one sentence; or ''."""
    every, shared = statements(old), frozenset(content)
    counts = [(len(one.content & shared), len(stems(one.own) & shared)) for one in every]
    best = max(counts, default=(0, 0))
    if not best[0] or len(every) < 2:
        return ""
    first, length = counts.index(best), counts.count(best)
    told = every[first : first + length]
    together = counts[first : first + length] == [best] * length and len({one.sentence for one in told}) == 1
    return old.words([token for one in told for token in one.own]) if together else ""


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


class _Pair:
    """A statement of the new line beside one of the old line."""

    def __init__(self, now: Statement, was: Statement) -> None:
        self.now, self.was, self.lists = now, was, now.lists
        self.denied = [pair for pair in taken_back(now.tokens, now.lists) if pair[1].word in was.words]
        self.told = [token for token in now.body if not any(token in pair for pair in self.denied)]

    @cached_property
    def evidence(self) -> str:
        """What tells that the new one is the present state of the old one, or ''."""
        over = self.lists.over
        said, ends = ([one for one in self.now.changes if (one in over) == ended] for ended in (False, True))
        denied = (f"{no.written} {value.written}" for no, value in self.denied)
        for phrase in (*said[:1], *self.now.around[:1], *denied):
            if found := self.exchange or (phrase in said and self._same_subject and self._left):
                return f'The new one says "{shown(phrase)}". {found}'
        return f'The new one says "{shown(ends[0])}". {self._end}' if ends and self._end else ""

    @property
    def distance(self) -> tuple[bool, int, float]:
        """Orders clauses by how likely a new one speaks of each: whom it names first, else what shares most."""
        named = {*words(self.now.body[:1])} & {token.word for token in self.was.body if token.stem}
        shared = self.now.content & self.was.content
        alike = len(self.now.dates & self.was.dates) + len(shared) / max(len(self.was.content), 1)
        return not named, -len(shared & stems(self.was.own)), -alike

    @property
    def former(self) -> str:
        """The clauses of the old line that are true no more, or what of one is over; '' for all of it.

        Who tells that one thing has changed tells the rest as it is now: "Elsa is 8 and Jip is 5 now." What goes on
        from words that are over is over with them: "we booked Crete for a week, two adults".
        """
        rest = [one for one in statements(self.now.line) if one is not self.now and not one.hedged]
        known, old = statements(self.was.line), self.was.line
        gone = {at for at, was in enumerate(known) if any(_Pair(now, was).exchange for now in rest)}
        first = last = known.index(self.was)
        while first - 1 in gone:
            first -= 1
        while last + 1 in gone:
            last += 1
        own, over = last, timeless(self.now.body) if not self.exchange else frozenset[str]()
        while last + 1 < len(known) and over and over <= stems(known[last + 1].lead):
            last += 1
        tokens = [token for one in known[first : last + 1] for token in one.own]
        if part := self._part:
            tokens = part
        elif not self.exchange and last == own:  # "I like tea" of "I like tea / coffee"
            tokens = self._ended_of(tokens)
        told = (one for one in old.tokens if one not in tokens and (one.stem or one.word in self.lists.persons))
        return old.words(tokens) if any(not token.asked for token in told) else ""

    def _ended_of(self, tokens: list[Token]) -> list[Token]:
        """Return what of clauses is over: nothing behind it that goes on, nor a value before it that is not named.

        "For a job at a mill" of "I moved to York for a job at a mill" is, for who quits the mill.
        """
        about, ended = self.was.subject, self.now.content | timeless(self.now.origin)
        held = [at for at, one in enumerate(tokens) if one.stem in ended]
        if not held:
            return tokens
        values = (at for at, one in enumerate(tokens[: held[0]]) if one.kind != "word" and one.stem)
        kept = max((at for at in values if tokens[at].stem not in {about.name, about.noun, about.owner}), default=-1)
        more = any(one.stem and not one.timed and not one.timely for one in tokens[held[-1] + 1 :])
        return tokens[kept + 1 : held[-1] + 1 if more else len(tokens)]

    @property
    def _part(self) -> list[Token]:
        """The old value with the word that leads to it, where its clause has others that stay: "from platform 4"."""
        if not self.exchange:
            return []
        now, was, own = self.now, self.was, self.was.own
        put, names = now.names - was.written, was.names - now.written
        leads = {before.plain for before, one in pairwise(now.body) if one.written in put}
        alike = {one.written for before, one in pairwise(was.body) if one.written in names and before.plain in leads}
        told = [one for one in own if one.kind != "word" and one.written not in now.written]
        gone = {*self._numbers[1], *((alike or names) if put else ())}
        kinds = {kind for kind, _ in now.dates}
        lost = [one for one in told if {one.plain, one.written} & gone or (one.date and one.date[0] in kinds)]
        out = [at for at, one in enumerate(own) if one in lost]
        if not 0 < len(out) < len(told):
            return []
        month = [*takewhile(lambda one: one.date, own[out[-1] + 1 :])]
        return [*own[max(out[0] - 1, 0) : out[-1] + 1 + len(month)]]

    @cached_property
    def _same_subject(self) -> bool:
        return self.now.tells_of(self.was, self.now.line.content, self.was.line.content)

    @cached_property
    def exchange(self) -> str:
        """The number, date or name that the new one has in another's place, and all else of it is known; or ''."""
        now, was = self.now, self.was
        if not self._same_subject:
            return ""
        values = [token for token in now.values if token in self.told]
        numbers = (as_written(some, one.body) for some, one in zip(self._numbers, (now, was), strict=True))
        names = ({token.written for token in some} & one.names for some, one in ((values, now), (was.values, was)))
        number, date = swapped("number", *numbers), swapped_dates(values, was.values)
        several = now.relocates or any(map(self._several, now.names - was.written))  # "Ben moved to Rome": see `_move`
        name = "" if several else swapped("name", *names)
        # who meets at 9 on Monday and at 10 on Tuesday meets twice; "the meeting" is one, whenever it is
        once = was.subject.thing and not recurs(was.words, self.lists)
        if (name and (date or number)) or (date and number and not once):
            return ""
        told = (number or date or name) if self._known_frame(names=bool(name)) else ""
        return told or self._move or self._other_word

    @property
    def _move(self) -> str:
        """Tell where somebody lives since he moved; a sentence that tells more may tell of another time or person."""
        now, was = self.now, self.was
        more = any(one is not now and one.sentence == now.sentence for one in statements(now.line))
        leads = self.lists.details - self.lists.several - self.lists.articles
        elsewhere = any(self.lists.dwelling.get(word) in now.relocates for word in was.words)
        moved = elsewhere and not now.acted_on and not more and not was.event
        names = now.names - was.written, was.names - now.written
        if not all(names):  # a name in small letters
            names = now.led_by(self.lists.goals), was.led_by(leads)
        return swapped("name", *names) if moved else ""

    @property
    def _other_word(self) -> str:
        """Tell one word in another's place, and nothing else that differs: "at the yard" for "at the mill"."""
        now, was = self.now, self.was
        blocks = aligned(self.told, was.body)[1]
        if len(blocks) != 1 or was.event or now.content.isdisjoint(was.content):
            return ""
        put, out, _ = blocks[0]
        words = [one for one in (*put, *out) if one.stem and one.kind == "word" and not one.timely]
        plain = len(put) == len(out) == 1 and len(words) == 2 and not self._several(put[0].written)
        # "6 goats" is no other thing than "6 hens" where the old line tells of the speaker's goats as well
        others = (one for one in statements(was.line) if plain and one is not was and put[0].stem in one.content)
        plain = plain and not any(now.tells_of(one, now.line.content, was.line.content) for one in others)
        return f"They differ in {quoted([put[0].written])}, not {quoted([out[0].written])}." if plain else ""

    def _several(self, value: str) -> bool:
        """Tell whether somebody may have several such values: behind words with content, or one like "to" and "with".

        "I speak Dutch now", "I'm allergic to pollen now"; not "in Porto", "is called Rex", "moved to Bergen".
        """
        led = [*takewhile(lambda one: one.written != value, self.now.body)]
        while len(led) > 1 and led[-1].word in self.lists.articles & self.lists.determiners:
            led.pop()
        closed = any(one.written.islower() and not one.stem for one in led[1:])
        several = self.lists.several - (self.lists.goals if self.now.turned else set())
        return bool(led) and (led[-1].word in several or (bool(led[-1].stem) and not closed))

    def _known_frame(self, *, names: bool) -> bool:
        """Whether the old one tells all that the new one does, but for its values: "I'm 35 now" of "I'm 34".

        Where somebody is now is not where he lives, and who speaks Dutch now may speak more.
        """
        now, was = self.now, self.was
        values = now.names - was.written if names else frozenset[str]()
        told = timeless(one for one in self.told if one.written not in values and not one.number)
        if not told:
            new, old = ([one.word for one in clause.body if not one.timed] for clause in (now, was))
            return new == old
        if now.becoming and told <= {now.subject.noun, now.subject.name}:  # "I turned 40" is news of "I'm 39"
            leads = [one.plain for one, after in pairwise(was.body) if after.plain in self._numbers[1]]
            is_one = any(lead == "'s" or present(lead, now.line.language) for lead in leads)
            return is_one or not was.becoming.isdisjoint(self._numbers[1])
        known = was.content.union(*(one.content for one in statements(was.line) if one.sentence == was.sentence))
        alike = now.predicate or not was.predicate or not was.predicate.isdisjoint(now.content)
        return told <= known and bool(alike or now.numbers or (now.dates and was.subject.thing))

    @cached_property
    def _numbers(self) -> Sequence[set[str]]:
        """The numbers of the new one, and those of the old one in whose place they stand: "mg" is no news of "pm"."""
        beside = (self.told, self.now), (self.was.body, self.was)
        told = [[one for one in amounts(some, s.lists) if one.tokens[0] in s.values] for some, s in beside]
        told[0] = [one for one in told[0] if not one.unit or any(other.unit or other.hour for other in told[1])]
        return [numbers(tokens) for tokens in replaced(*told) or ((), ())]

    @property
    def _left(self) -> str:
        """Tell that a thing is no more what it was, in the new one's words: "I switched from tea to coffee"."""
        was, gone = self.was, timeless(self.now.origin)
        before = timeless(takewhile(lambda token: token.stem not in gone, was.body))
        plain = len(before - {was.subject.noun, was.subject.name}) < 2  # not "I know a guy at the bank"
        state = plain and not was.event and not was.feeling and not was.denies
        return f"So is {quoted(worded(gone, was.body))} no more." if gone and state else ""

    @cached_property
    def _end(self) -> str:
        """Tell that what the old one tells of is over: "we cancelled Crete"."""
        now, was = self.now, self.was
        over, was_over = (not self.lists.endings.isdisjoint(one.changes) for one in (now, was))
        mine = timeless(one for one in now.body if one.word not in self.lists.adverbs)  # "finally sold it"
        if not over or was_over or was.denies or now.denies or not mine or not mine <= was.content:
            return ""
        moved = mine <= was.patient and now.same_owner(was, mine)  # "they moved my flight"
        if not (self._same_subject or moved) or (was.feeling and self.lists.denials.isdisjoint(now.changes)):
            return ""  # who sold it may like it still
        # on Fridays, or every day, no more is now and then still; but what died in May is dead
        sometimes = now.past or recurs(now.words, self.lists) or not self.lists.denials.isdisjoint(now.changes)
        new, old = ({one.date or one.stem for one in clause.body if one.timely} - {""} for clause in (now, was))
        if (sometimes and not new <= old) or (len(mine) == 1 and (was.event or self._parted or self._done(mine))):
            return ""
        return f"So is {quoted(worded(mine, now.body))} no more."

    def _done(self, mine: Collection[str]) -> bool:
        """Tell whether what is over is done to a thing in the old one: who stopped running may run a shop."""
        return any(one.stem in mine and after.word in self.lists.leads for one, after in pairwise(self.was.body))

    @property
    def _parted(self) -> bool:
        """Whether two part, which ends nothing else of one than who he is to the speaker: "Joris is my boyfriend"."""
        lists, was, mine = self.lists, self.was, timeless(self.now.body)
        pairs = pairwise(self.now.body)
        parts = any((one.stem and after.plain in lists.joints) or one.plain in lists.several for one, after in pairs)
        tells_who = {was.subject.name, was.subject.noun} & mine and len(timeless(was.body) - mine) == 1
        return parts and not (tells_who and lists.mine & {*words(was.body[1:])})
