"""Decisions: the audit log, what undo goes by, and the profiles that they tell of."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from datetime import datetime

from memgraph_engine.graph.database import Row, Runner
from memgraph_engine.graph.rows import decision_from, made, moment, stored, trust_of
from memgraph_engine.model import memory
from memgraph_engine.model.fact import Fact
from memgraph_engine.model.memory import NEVER, TRUE_ONCE, Note
from memgraph_engine.model.profile import Delta, Profile, Stated, folded, is_gone
from memgraph_engine.model.result import SUCCEEDS, About, Considered, Contrary, Decision, Tie
from memgraph_engine.trust import below

_WORDS = 4  # notes and sources of a decision whose words are told
_CONSIDERED = [field.name for field in fields(Considered)]
_SCORED = {field.name for field in fields(Considered) if field.default is MISSING}  # the others are left out if empty


@dataclass(frozen=True, slots=True)
class Tied:
    """Two notes, by id, that are tied, or were until the decision `untied_by`."""

    newer: str
    older: str
    kind: str
    untied_by: str | None


def recorded(decision: Decision) -> Row:
    """Return the row that records a decision; one without a note, or on a profile, is tied to its source."""
    on_profile = decision.subject is not None
    told_elsewhere = ["at", "undone_by", "scrubbed_by", "about", *([] if on_profile else ["subject", "delta", "hash"])]
    considered = [
        {name: value for name in _CONSIDERED if (value := getattr(one, name)) or name in _SCORED}
        for one in decision.considered
    ]
    own = {**stored(decision.cost), "considered": json.dumps(considered, ensure_ascii=False)}
    return {
        "id": decision.id,
        "properties": {**stored(decision, *own, "cost", *told_elsewhere), **own},
        "source": decision.sources[0] if decision.sources and (not decision.note or on_profile) else None,
        "undoes": decision.undoes,
    }


def find(tx: Runner, scope: str, id: str) -> Decision | None:
    """Return a decision by its id."""
    rows = tx.run("decisions/find", scope=scope, id=id)
    return decision_from(rows[0]["decision"]) if rows else None


def page(tx: Runner, scope: str, before: datetime, limit: int) -> list[Decision]:
    """Return the decisions made at or before a time, newest first, with the words that each is about."""
    rows = tx.run("decisions/page", scope=scope, before=before, limit=limit, words=_WORDS)
    return [
        replace(
            decision_from(row["decision"]),
            about=tuple(made(About, one, text=" / ".join(one["lines"])) for one in row["about"]),
        )
        for row in rows
    ]


def of_kinds(
    tx: Runner, scope: str, kinds: Sequence[str], since: datetime, until: datetime
) -> list[tuple[Decision, int]]:
    """Return the decisions of some kinds made within a time, newest first, each with how many notes it was about."""
    rows = tx.run("decisions/of_kinds", scope=scope, kinds=kinds, since=since, until=until)
    return [(decision_from(row["decision"]), row["notes"]) for row in rows]


def of_note(tx: Runner, scope: str, id: str) -> list[Decision]:
    """Return every decision about a note, oldest first, each once; also those by which another took its place."""
    found = [decision_from(row["decision"]) for row in tx.run("decisions/of_note", scope=scope, id=id)]
    return list({one.id: one for one in found}.values())


def outdated(tx: Runner, scope: str, some: Sequence[Note]) -> list[Note]:
    """Return notes that each say until when it was true, and what took its place."""
    ties = contrary(tx, [scope], [one.id for one in some], NEVER)
    later = defaultdict[str, list[tuple[str, datetime, str]]](list)
    for tie in sorted(ties, key=lambda tie: (tie.newer_said, tie.newer)):
        if tie.kind in SUCCEEDS:
            later[tie.older].append((tie.newer, tie.newer_said, tie.former))
    return [memory.outdated(one, later[one.id]) for one in some]


def told(tx: Runner, scope: str, id: str, made: Iterable[Decision]) -> dict[str, Decision]:
    """Return decisions by their ids as they are told of a note: without the words of others that are kept apart."""
    found = {one.id: one for one in made}
    named = {name for one in found.values() for name in (one.note, *(seen.note for seen in one.considered))}
    rows = tx.run("notes/apart", scope=scope, ids=sorted(named - {id, ""}))
    apart = {row["id"] for row in rows}
    for one in found.values() if apart else ():
        others = tuple(seen for seen in one.considered if seen.note not in apart)
        if one.note in apart:  # what it is held against is told in its words, too
            others = tuple(replace(seen, evidence="") for seen in others)
        if one.note in apart or len(others) < len(one.considered):
            found[one.id] = replace(one, considered=others, evidence="")
    return found


def ties(tx: Runner, scope: str, id: str) -> list[Tie]:
    """Return the notes that a note is tied to, the strongest ties first."""
    return [Tie(**row) for row in tx.run("decisions/ties", scope=scope, id=id)]


def between(tx: Runner, scope: str, note: str, other: str) -> list[Tied]:
    """Return the ties between two notes, whichever is the newer."""
    rows = tx.run("decisions/between", scope=scope, note=note, other=other)
    return [Tied(**row) for row in rows]


def untied(tx: Runner, scope: str, decision: str) -> bool:
    """Tell whether a tie that a decision took back can be brought back."""
    return bool(tx.run("decisions/untied", scope=scope, decision=decision))


def contrary(tx: Runner, scopes: Sequence[str], ids: Sequence[str], known_at: datetime) -> list[Contrary]:
    """Return what contradicts notes, or took their place or lost it to them, as far as it was there at `known_at`."""
    given = {"scopes": scopes, "ids": sorted(ids), "statuses": TRUE_ONCE, "known_at": known_at}
    alive = {"alive": known_at} if known_at < NEVER else {}  # else the present
    rows = tx.run("decisions/contrary", **given, **alive)
    return [_contrary(row) for row in rows]


def _contrary(row: Row) -> Contrary:
    """Return a tie of two notes; those of two classes of trust are of two speakers, whatever they are called."""
    ends = {row[end]: trust_of(row[f"{end}_from"]) for end in ("newer", "older")}
    lower = next((id for id, one in ends.items() if any(below(one, other) for other in ends.values())), "")
    return made(Contrary, row, same_speaker=row["same_speaker"] and not lower, lower=lower)


def profile(tx: Runner, scope: str, subject: str, known_at: datetime | None = None) -> Profile:
    """Return the profile of a subject, as the memory knows it now, or as it knew it then."""
    given = {"statuses": TRUE_ONCE, "known_at": known_at or NEVER, **({"alive": known_at} if known_at else {})}
    return folded(subject, list(_stated(tx, scope, subject.casefold(), given)))


def _stated(tx: Runner, scope: str, subject: str, given: dict[str, object]) -> Iterator[Stated]:
    every = tx.run("profile/told", scope=scope, subject=subject, **given)
    rows = [(row, [Delta(**one) for one in json.loads(row["delta"])]) for row in every]
    tells = defaultdict[str, set[str]](set)
    for row, deltas in rows:
        tells[row["note"]].update(one.name for one in deltas)
    for row, deltas in rows:
        since = moment(row["at"] if row["said_at"] is None else row["said_at"])
        replaced = [] if row["until"] is None else [(moment(row["until"]), "")]
        sources = (row["source"],) if row["source"] else ()
        for delta in deltas:
            changed = (
                (moment(change["at"]), change["note"])
                for change in row["changes"]
                if is_gone(delta, change["former"] or "", tells[change["note"]])
            )
            until, by = min((*replaced, *(end for end in changed if end[0] >= since)), default=(NEVER, ""))
            parts = f"{delta.name}: {delta.value}", "", delta.name, delta.value
            end = None if until == NEVER else max(until, since), by, (delta.name,), row["decision"]
            yield Stated(Fact(*parts, subject, since, row["note"], sources, *end), delta.ends)
