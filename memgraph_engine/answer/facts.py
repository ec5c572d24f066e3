"""What the hits tell: of notes that repeat each other one, and what has changed behind what took its place."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from textwrap import shorten
from typing import NamedTuple

from memgraph_engine.answer.repeats import Said
from memgraph_engine.model.memory import NEVER, Note, Source, by_time
from memgraph_engine.model.result import Contrary, Hit, steps_behind

_MOST_REMARKS = 3
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

    `score` and `relevance` are the best of these notes, and `past` tells that it is true no more. `behind` counts the
    later notes on the same matter, down to this. `repairs` are the ids of those that it puts right, which it says
    little without ("make that 20").
    """

    note: Note
    score: float
    relevance: float
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


def facts(hits: Sequence[Hit], ties: Sequence[Contrary], share: float, language: str) -> tuple[list[Fact], Gone]:
    """Return what the hits tell, best first, and what is left out.

    What was replaced leaves its place to what replaced it. Of notes that repeat each other the best stays, with the
    sources of all. What has changed stands right behind its present state, and says so. Two notes that are perhaps on
    the same matter (`Hit.later`) stand together too; there the later one says that it is later, and nothing else.
    """
    gone: Gone = {}
    standing = {hit.note.id: Fact(hit.note, hit.score, relevance(hit), hit.note.sources) for hit in hits}
    # words that a note no longer has need no end
    ties = [tie for tie in ties if tie.older not in standing or standing[tie.older].note.says(tie.former)]
    for tie in ties:
        if tie.kind == "supersede" and tie.newer in standing and tie.older in standing:
            _yield(standing, gone, tie.older, tie.newer, "replaced it")
    tied = [
        (tie.newer, tie.older) if tie.kind == "change" else _in_time(tie, standing)
        for tie in ties
        if tie.kind == "change" or (tie.kind == "conflict" and tie.same_speaker)
    ]
    known = {note for tie in ties for note in (tie.newer, tie.older)}
    near = [
        (hit.later, hit.note.id)
        for hit in hits
        if hit.later in standing
        and known.isdisjoint((hit.later, hit.note.id))
        and not _alike(hit.note, standing[hit.later].note, share, language)
    ]
    behind = steps_behind(tied, standing)
    changes = {(tie.newer, tie.older) for tie in ties if tie.kind == "change"}
    earlier = {new: standing[old] for new, old in (*tied, *near) if old in standing and (new, old) not in changes}
    present_first = sorted(ties, key=lambda tie: behind.get(tie.newer, 0))
    changed = {tie.older for tie in ties if tie.kind == "change" and not tie.former}
    ranked = [
        replace(
            fact,
            remarks=_remarks(fact.note, present_first, earlier.get(id)),
            past=fact.note.status == "superseded" or id in changed,
            behind=behind[id],
            repairs=tuple(tie.older for tie in ties if tie.at_once and tie.newer == id and tie.older in standing),
        )
        for id, fact in standing.items()  # noqa: A001  the graph's own word
    ]
    ranked.sort(key=lambda fact: (-fact.score, fact.note.id))
    return _together(_distinct(ranked, share, language, gone), [*tied, *near]), gone


def relevance(hit: Hit) -> float:
    """Return the relevance of a hit, 1 where the embedder was never calibrated."""
    return 1.0 if hit.relevance is None else hit.relevance


def _in_time(tie: Contrary, standing: Mapping[str, Fact]) -> tuple[str, str]:
    """Return the ids of the later and of the earlier note of a tie; of notes said at once the better one is later."""
    found = [(said, standing[note].score if note in standing else 0.0, note) for note, said in _moments(tie)]
    (*_, older), (*_, newer) = sorted(found, key=lambda one: one[:2])
    return newer, older


def _moments(tie: Contrary) -> tuple[tuple[str, datetime], ...]:
    return (tie.newer, tie.newer_said), (tie.older, tie.older_said)


def _yield(standing: dict[str, Fact], gone: Gone, loser: str, winner: str, why: str) -> None:
    """Let one note take the place of another; the rank that this had is its own then."""
    lost, won = standing.pop(loser), standing[winner]
    best = max(won.score, lost.score), max(won.relevance, lost.relevance)
    standing[winner] = replace(won, score=best[0], relevance=best[1])
    gone[loser] = winner, why


def _together(ranked: Sequence[Fact], pairs: Sequence[tuple[str, str]]) -> list[Fact]:
    """Put notes of one matter together where the best of them stands: what has changed last, else the best first."""
    groups = [[fact] for fact in ranked]
    at = {fact.note.id: group for fact, group in zip(ranked, groups, strict=True)}
    for one, other in pairs:
        if one in at and other in at and at[one] is not at[other]:
            first, second = sorted((at[one], at[other]), key=lambda group: groups.index(group))
            first += second
            groups.remove(second)
            at |= {fact.note.id: first for fact in second}
    return [fact for group in groups for fact in sorted(group, key=lambda fact: (fact.behind, -fact.score))]


def _remarks(note: Note, ties: Sequence[Contrary], earlier: Fact | None) -> tuple[Remark, ...]:
    """Return what has to be known of a note; `ties` are given with those to what is true now first.

    Of two notes one alone speaks of the other: what is true no more of what took its place, what came later of the
    `earlier` one.
    """
    remarks = []
    changes = [tie for tie in ties if tie.kind == "change" and tie.older == note.id]
    ends = {tie.former: tie.newer_said for tie in sorted(changes, key=lambda tie: tie.newer_said, reverse=True)}
    if note.status == "superseded":
        since = f" since {note.valid_to:%Y-%m-%d}" if note.valid_to != NEVER else ""
        remarks.append(Remark(f"no longer true{since}"))
    elif note.status == "archived":
        remarks.append(Remark("archived"))
    if earlier:
        said = f"later than what was said on {earlier.note.said_at:%Y-%m-%d}"
        remarks.append(Remark(said, earlier.note.id, "later than"))
    for tie in ties:
        if tie.kind == "supersede" and tie.newer == note.id:
            remarks.append(Remark(f"replaces what was said on {tie.older_said:%Y-%m-%d}"))
        elif tie in changes and tie.former in ends:
            remarks.append(_changed(tie, ends.pop(tie.former)))
        elif tie.kind == "conflict" and not tie.same_speaker and note.id in (tie.newer, tie.older):
            other = next(said for one, said in _moments(tie) if one != note.id)
            remarks.append(Remark(f"disputed: something else was said on {other:%Y-%m-%d}"))
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
