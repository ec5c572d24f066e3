"""What the hits tell: of notes that repeat each other one, and what has changed behind what took its place."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from textwrap import shorten
from typing import NamedTuple

from memgraph_engine.model.memory import NEVER, Note, Source, by_time
from memgraph_engine.model.result import Contrary, Hit, steps_behind
from memgraph_engine.trust import marked

_MOST_REMARKS = 3
_QUOTED = 60  # characters of a note's words in a remark

Gone = dict[str, tuple[str, str]]
"""By the id of a note that is left out: the note that stands for it, and how so."""


class Remark(NamedTuple):
    """What has to be known about a note: `text`, or up to `at` and then the number of another line, and `rest`.

    `by` is the id of that line's note; '' for none. Without a text it says nothing where that line is not told.
    """

    text: str
    by: str = ""
    at: str = ""
    rest: str = ""

    def shown(self, numbers: Mapping[str, str] | None) -> str:
        """Return it with the number of the line that it points to, if there is one; at its longest for None."""
        if numbers is None:
            return self.text or f"{self.at} [00]"
        return " ".join(filter(None, (self.at, numbers[self.by], self.rest))) if self.by in numbers else self.text


_OTHERS = Remark("other parts of it were replaced or disputed later")


@dataclass(frozen=True, slots=True)
class Fact:
    """A note for the context: with the sources of those that it stands for, what has to be known about it, its rank.

    `score` and `relevance` are the best of these notes, and `past` tells that it is true no more. `behind` counts the
    later notes on the same matter, down to this. `rank` tells which are told where not all are, from 0 for the best.
    """

    note: Note
    score: float
    relevance: float
    sources: tuple[Source, ...]
    remarks: tuple[Remark, ...] = ()
    past: bool = False
    behind: int = 0
    rank: int = 0

    @property
    def days(self) -> tuple[date, ...]:
        """The days on which it was said, as they were given; none where no time was."""
        given = {source.said_as for source in self.sources if source.said_as}
        return tuple(sorted({datetime.fromisoformat(time).date() for time in given}))


def facts(hits: Sequence[Hit], ties: Sequence[Contrary], read: Mapping[str, object]) -> tuple[list[Fact], Gone]:
    """Return what the hits tell, best first, and what is left out; `read` has what each reads like, by its note's id.

    What was replaced leaves its place to what replaced it. Of notes of one speaker that read the same the best stays,
    with the sources of all. What has changed stands right behind its present state, and says so. Two notes that are
    perhaps on the same matter (`Hit.later`) stand together too, in order of time but for the best of all, which is
    first; there the later one says that it is later, and nothing else.
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
        if hit.later in standing and known.isdisjoint((hit.later, hit.note.id)) and read[hit.later] != read[hit.note.id]
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
        )
        for id, fact in standing.items()
    ]
    ranked.sort(key=lambda fact: (-fact.score, fact.note.id))
    # what is perhaps on the matter of another is told by its own rank
    some = _together(_distinct(ranked, read, gone), tied)
    return _together([replace(fact, rank=rank) for rank, fact in enumerate(some)], [*tied, *near]), gone


def relevance(hit: Hit) -> float:
    """Return the relevance of a hit, 0 where the embedder was never calibrated."""
    return hit.relevance or 0.0


def _in_time(tie: Contrary, standing: Mapping[str, Fact]) -> tuple[str, str]:
    """Return the ids of the later and of the earlier note of a tie; of notes said at once the better one is later."""
    ends = ((tie.newer, tie.newer_said), (tie.older, tie.older_said))
    found = [(said, standing[note].score if note in standing else 0.0, note) for note, said in ends]
    (*_, older), (*_, newer) = sorted(found, key=lambda one: one[:2])
    return newer, older


def _yield(standing: dict[str, Fact], gone: Gone, loser: str, winner: str, why: str) -> None:
    """Let one note take the place of another; the rank that this had is its own then."""
    lost, won = standing.pop(loser), standing[winner]
    best = max(won.score, lost.score), max(won.relevance, lost.relevance)
    standing[winner] = replace(won, score=best[0], relevance=best[1])
    gone[loser] = winner, why


def _together(ranked: Sequence[Fact], pairs: Sequence[tuple[str, str]]) -> list[Fact]:
    """Put notes of one matter together where the best of them stands: what has changed last, else in order of time."""
    groups = [[fact] for fact in ranked]
    at = {fact.note.id: group for fact, group in zip(ranked, groups, strict=True)}
    for one, other in pairs:
        if one in at and other in at and at[one] is not at[other]:
            first, second = sorted((at[one], at[other]), key=lambda group: groups.index(group))
            first += second
            groups.remove(second)
            at |= {fact.note.id: first for fact in second}
    best = {fact.note.id for fact in ranked[:1]}  # and what came later of its matter
    for _ in pairs:
        best.update(new for new, old in pairs if old in best)
    for group in groups:
        group.sort(key=lambda fact: (fact.behind, fact.note.id not in best, fact.note.said_at))
    return [fact for group in groups for fact in group]


def _remarks(note: Note, ties: Sequence[Contrary], earlier: Fact | None) -> tuple[Remark, ...]:
    """Return what has to be known of a note; `ties` are given with those to what is true now first.

    Of two notes one alone speaks of the other: what is true no more of what took its place, what came later of the
    `earlier` one.
    """
    remarks = [Remark(mark)] if (mark := marked(note.trust)) else []
    changes = [tie for tie in ties if tie.kind == "change" and tie.older == note.id]
    ends = {tie.former: tie.newer_said for tie in sorted(changes, key=lambda tie: tie.newer_said, reverse=True)}
    if note.status == "superseded":
        since = f" since {note.valid_to:%Y-%m-%d}" if note.valid_to != NEVER else ""
        remarks.append(Remark(f"no longer true{since}"))
    elif note.status == "archived":
        remarks.append(Remark("archived"))
    if earlier:
        remarks.append(Remark("", earlier.note.id, "later than"))
    for tie in ties:
        if tie.kind == "supersede" and tie.newer == note.id:
            remarks.append(Remark(f"replaces what was said on {tie.older_said:%Y-%m-%d}"))
        elif tie in changes and tie.former in ends:
            remarks.append(_changed(tie, ends.pop(tie.former)))
        elif (
            tie.kind == "conflict"
            and not tie.same_speaker
            and note.id in {tie.newer, tie.older} & {tie.lower or note.id}
        ):
            other = tie.older_said if note.id == tie.newer else tie.newer_said
            remarks.append(Remark(f"disputed: something else was said on {other:%Y-%m-%d}"))
    return _few(remarks)


def _few(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    """Return remarks, each once; of many the first, and that there are others."""
    found = tuple(dict.fromkeys(remarks))
    return found if len(found) <= _MOST_REMARKS else (*found[: _MOST_REMARKS - 1], _OTHERS)


def _changed(tie: Contrary, until: datetime) -> Remark:
    """Return the remark of what was true until something else was said, which others may have replaced since."""
    what = f'"{_quoted(tie.former)}" ' if tie.former else ""
    if tie.older_said.date() == tie.newer_said.date():
        at, rest = f"{what}was replaced by", "of that day"
    else:
        at, rest = f"{what}was true until {until:%Y-%m-%d}; replaced by", ""
    return Remark(f"{at} a later statement {rest}".rstrip(), tie.newer, at, rest)


def _quoted(words: str) -> str:
    """Return words of a note for a remark, without what would change how the rest of the line is shown."""
    plain = "".join(one for one in words if unicodedata.category(one) not in ("Cc", "Cf"))
    return shorten(plain, _QUOTED, placeholder=" …")


def _distinct(ranked: Sequence[Fact], read: Mapping[str, object], gone: Gone) -> list[Fact]:
    """Leave out what reads like a better note of its speaker; that one gets its sources, and so its days.

    What is true stands for what was true before, with its own days alone.
    """
    kept: dict[object, Fact] = {}
    for fact in ranked:
        says = fact.note.speaker.casefold(), fact.note.trust, read[fact.note.id]
        known = kept.setdefault(says, fact)
        if known is fact:
            continue
        stays, goes = (fact, known) if known.past > fact.past else (known, fact)
        gone[goes.note.id] = stays.note.id, "says the same"
        if known.past == fact.past:
            sources = {source.key: source for source in (*known.sources, *fact.sources)}
            stays = replace(
                known,
                sources=tuple(sorted(sources.values(), key=by_time)),
                remarks=_few((*known.remarks, *fact.remarks)),
            )
        kept[says] = stays
    return list(kept.values())
