"""What of the hits goes into a context: of notes that contradict or repeat each other, one."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from math import inf, nextafter
from textwrap import shorten
from typing import NamedTuple

from memgraph_engine.answer.repeats import Said
from memgraph_engine.model.memory import NEVER, Note, Source, by_time
from memgraph_engine.model.result import Contrary, Hit, steps_behind

_MOST_REMARKS = 3
_AS_RELEVANT = 0.3  # times an older note's relevance that what has perhaps replaced it needs to come before it
_QUOTED = 60  # characters of a note's words in a remark

Gone = dict[str, tuple[str, str]]
"""By the id of a note that is left out: the note that stands for it, and how so."""


class Remark(NamedTuple):
    """What has to be known about a note: `text` alone, or up to `at` and then which line took its place, and `rest`.

    `by` is the id of that line's note; '' for none.
    """

    text: str
    by: str = ""
    at: str = ""
    rest: str = ""

    def shown(self, numbers: Mapping[str, str]) -> str:
        """Return it with the number of the line that it points to, if there is one."""
        return " ".join(filter(None, (self.at, numbers[self.by], self.rest))) if self.by in numbers else self.text


@dataclass(frozen=True, slots=True)
class Fact:
    """A note for the context: with the sources of those that it stands for, what has to be known about it, its rank.

    `score` is the best of these notes, and `past` tells that it is true no more. `behind` counts the notes that have
    each taken the place of the next one, down to this. `repairs` are the ids of those that it puts right, which it
    says little without ("make that 20").
    """

    note: Note
    score: float
    sources: tuple[Source, ...]
    remarks: tuple[Remark, ...] = ()
    past: bool = False
    behind: int = 0
    repairs: tuple[str, ...] = ()

    @property
    def days(self) -> tuple[date, ...]:
        """The days on which it was said, as they were given; none where no time was."""
        given = {source.said_as for source in self.sources if source.said_as}
        return tuple(sorted({datetime.fromisoformat(time).date() for time in given}))

    @property
    def newness(self) -> tuple[datetime, float]:
        """Orders notes of which only the newest counts; of those said at once it is the best."""
        return self.note.said_at, self.score


def facts(
    hits: Sequence[Hit], ties: Sequence[Contrary], outdated: Mapping[str, Hit], share: float, language: str
) -> tuple[list[Fact], Gone]:
    """Return what the hits tell, best first, and what is left out.

    `outdated` has the later hit that has perhaps taken a note's place, by the note's id.

    What was replaced leaves its place to what replaced it. Of notes that repeat each other the best stays, with the
    sources of all. What has changed since stays, right behind its present state; so does what has perhaps changed, and
    what contradicts a newer note: both may be true all the same.
    """
    gone: Gone = {}
    standing = {hit.note.id: Fact(hit.note, hit.score, hit.note.sources) for hit in hits}
    # words that a note no longer has need no end
    ties = [tie for tie in ties if tie.older not in standing or standing[tie.older].note.says(tie.former)]
    for tie in ties:
        if tie.kind == "supersede" and tie.newer in standing and tie.older in standing:
            _yield(standing, gone, tie.older, tie.newer, "replaced it")
    for tie in ties:
        pair = [standing[one] for one in (tie.newer, tie.older) if one in standing]
        if tie.kind == "conflict" and len(pair) == 2 and pair[0].note.speaker == pair[1].note.speaker:
            newer, older = sorted(pair, key=lambda one: one.newness, reverse=True)
            _precede(standing, newer.note.id, older.note.id)
    behind = steps_behind([(tie.newer, tie.older) for tie in ties if tie.kind == "change"], standing)
    changes = [tie for tie in ties if tie.kind == "change" and {tie.newer, tie.older} <= standing.keys()]
    for tie in sorted(changes, key=lambda tie: (-behind[tie.newer], tie.newer_said)):
        _precede(standing, tie.newer, tie.older)
    told = {note for tie in ties for note in (tie.newer, tie.older)}
    replacing = {tie.newer for tie in ties if tie.kind in ("supersede", "change")}  # what they replace is known
    perhaps = {
        old: new
        for old, new in outdated.items()
        if old not in told
        and new.note.id not in replacing
        and {old, new.note.id} <= standing.keys()
        and not _alike(standing[old].note, new.note, share, language)
    }
    relevance = {hit.note.id: hit.relevance or 0.0 for hit in hits}
    for old, new in sorted(perhaps.items(), key=lambda pair: pair[1].note.said_at):
        if relevance[new.note.id] >= _AS_RELEVANT * relevance[old]:
            _precede(standing, new.note.id, old)
    changed = {tie.older for tie in ties if tie.kind == "change" and not tie.former}
    present_first = sorted(ties, key=lambda tie: behind.get(tie.newer, 0))
    marked = [
        replace(
            fact,
            remarks=_remarks(fact.note, present_first, perhaps.get(id)),
            past=fact.note.status == "superseded" or id in changed,
            behind=behind[id],
            repairs=tuple(tie.older for tie in changes if tie.newer == id and tie.at_once),
        )
        for id, fact in standing.items()  # noqa: A001  the graph's own word
    ]
    marked.sort(key=lambda fact: (-fact.score, fact.note.id))
    return _distinct(marked, share, language, gone), gone


def _yield(standing: dict[str, Fact], gone: Gone, loser: str, winner: str, why: str) -> None:
    """Let one note take the place of another; the rank that this had is its own then."""
    lost = standing.pop(loser)
    standing[winner] = replace(standing[winner], score=max(standing[winner].score, lost.score))
    gone[loser] = winner, why


def _precede(standing: dict[str, Fact], first: str, second: str) -> None:
    """Let one note come before another, which then stands right behind it: it may tell more than what has changed."""
    one, other = standing[first], standing[second]
    if one.score <= other.score:
        standing[first] = replace(one, score=nextafter(other.score, inf))


def _remarks(note: Note, ties: Sequence[Contrary], later: Hit | None) -> tuple[Remark, ...]:
    """Return what has to be known of a note; `ties` are given with those to what is true now first."""
    remarks = []
    changes = [tie for tie in ties if tie.kind == "change" and tie.older == note.id]
    made = (tie for tie in ties if tie.kind == "change" and tie.newer == note.id)
    nearest = max(made, key=lambda tie: (tie.same_speaker, tie.older_said), default=None)
    ends = {tie.former: tie.newer_said for tie in sorted(changes, key=lambda tie: tie.newer_said, reverse=True)}
    if later:
        remarks.append(_perhaps(later.note.id, later.note.said_at, note.said_at))
    if note.status == "superseded":
        since = f" since {note.valid_to:%Y-%m-%d}" if note.valid_to != NEVER else ""
        remarks.append(Remark(f"no longer true{since}"))
    elif note.status == "archived":
        remarks.append(Remark("archived"))
    for tie in ties:
        if tie.kind == "supersede" and tie.newer == note.id:
            remarks.append(Remark(f"replaces what was said on {tie.older_said:%Y-%m-%d}"))
        elif tie is nearest:
            at = "puts right" if tie.at_once else "newer than"
            remarks.append(Remark(_newer_than(tie.older_said, tie.newer_said), tie.older, at))
        elif tie in changes and tie.former in ends:
            remarks.append(_changed(tie, ends.pop(tie.former)))
        elif tie.kind == "conflict" and note.id in (tie.newer, tie.older):
            remarks.append(_conflict(note, tie))
    return tuple(dict.fromkeys(remarks))[:_MOST_REMARKS]


def _changed(tie: Contrary, until: datetime) -> Remark:
    """Return the remark of what was true until something else was said, which others may have replaced since."""
    what = f'"{_quoted(tie.former)}" ' if tie.former else ""
    if tie.older_said.date() == tie.newer_said.date():
        at, rest = f"{what}was replaced by", "of that day"
    else:
        at, rest = f"{what}was true until {until:%Y-%m-%d}; replaced by", ""
    return Remark(f"{at} a later statement {rest}".rstrip(), tie.newer, at, rest)


def _alike(one: Note, other: Note, share: float, language: str) -> bool:
    """Tell whether one of two notes says nothing besides the other: then it has not changed, whichever is later."""
    said, again = Said.of(one), Said.of(other)
    return said.adds_nothing_to(again, share, language) or again.adds_nothing_to(said, share, language)


def _quoted(words: str) -> str:
    """Return words of a note for a remark, without what would change how the rest of the line is shown."""
    plain = "".join(one for one in words if unicodedata.category(one) not in ("Cc", "Cf"))
    return shorten(plain, _QUOTED, placeholder=" …")


def _conflict(note: Note, tie: Contrary) -> Remark:
    """Return what has to be known of a contradiction: who says something else later has most likely changed it."""
    came_later = tie.newer == note.id
    own, other, by = tie.older_said, tie.newer_said, tie.newer
    if came_later:
        own, other, by = other, own, tie.older
    if not tie.same_speaker:
        return Remark(f"disputed: something else was said on {other:%Y-%m-%d}")
    if own > other or (own == other and came_later):
        return Remark(_newer_than(other, own), by, "newer than")
    return _perhaps(by, other, own)


def _newer_than(other: datetime, own: datetime) -> str:
    """Return the remark of what was said after something else; two of one day are no days to tell apart."""
    return f"newer than what was said {'earlier that day' if other.date() == own.date() else f'on {other:%Y-%m-%d}'}"


def _perhaps(by: str, moment: datetime, said: datetime) -> Remark:
    """Return the remark of what something else that was said later has perhaps replaced."""
    when = "later that day" if moment.date() == said.date() else f"{moment:%Y-%m-%d}"
    return Remark(f"perhaps only until {when}", by, "perhaps replaced by")


def _distinct(ranked: Sequence[Fact], share: float, language: str, gone: Gone) -> list[Fact]:
    """Leave out what a better note says too; that one gets its sources, and so its days.

    What is true stands for what was true before and says the same, with its own days alone.
    """
    kept: list[Fact] = []
    said: list[Said] = []
    for fact in ranked:
        own = Said.of(fact.note)
        at = next((at for at, other in enumerate(said) if own.adds_nothing_to(other, share, language)), None)
        if at is None:
            kept.append(fact)
            said.append(own)
            continue
        known = kept[at]
        if known.past != fact.past:
            kept[at], other = (replace(fact, score=known.score), known) if known.past else (known, fact)
            gone[other.note.id] = kept[at].note.id, "says the same"
            continue
        sources = {source.key: source for source in (*known.sources, *fact.sources)}
        remarks = tuple(dict.fromkeys((*known.remarks, *fact.remarks)))[:_MOST_REMARKS]
        kept[at] = replace(known, sources=tuple(sorted(sources.values(), key=by_time)), remarks=remarks)
        gone[fact.note.id] = known.note.id, "says the same"
    return kept


def mixed(ranked: Sequence[Fact], recent: float) -> list[Fact]:
    """Order facts for a context: the best first, and the share `recent` of the places for the newest of the rest."""
    rest, order = list(ranked), list[Fact]()
    while rest:
        places = len(order)
        newest = places > 0 and int((places + 1) * recent) > int(places * recent)
        chosen = max(rest, key=lambda fact: fact.newness) if newest else rest[0]
        rest.remove(chosen)
        order.append(chosen)
    return order
