"""Claims, and the notes that support them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.graph import schema
from memgraph_engine.graph.database import Database, Row, Runner, paged
from memgraph_engine.graph.rows import made, moment, packed, place_of, trust_of
from memgraph_engine.model.claim import Claim, confidence
from memgraph_engine.model.memory import UNKNOWN_PAST
from memgraph_engine.trust import TRUST, Trust

_PAGE = 50  # notes that are read, and written, at once
_SOME = 1000  # claims in one statement, or in one transaction that removes them


@dataclass(frozen=True, slots=True)
class ClaimsState:
    """What a run begins with: a scope's version and language, how many runs read anything before it, the last when."""

    version: int
    language: str
    cycle: int
    begun: datetime | None


@dataclass(frozen=True, slots=True)
class Unread:
    """A note whose claims are to be looked for, the stamp of its version, what is said in it, who spoke, and its trust.

    One that was `recalled` is as it was when it was read before, and has been shown since.
    """

    id: str
    stamp: int
    said: Sequence[str]
    speakers: Sequence[str] = ()
    recalled: bool = False
    trust: Trust = "user"


@dataclass(frozen=True, slots=True)
class Supported:
    """A claim with the stamps of the notes that support it and can be read; without any nobody is told of it."""

    claim: Claim
    stamps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class General:
    """A claim that enough users make, and whether an end of it has one of the keys that were asked for."""

    claim: Claim
    named: bool


def state(db: Database, scope: str) -> ClaimsState | None:
    """Return what a run begins with; None if there is no such scope. Raises StoreMismatch (`schema.told`)."""
    return schema.told(db, "claims/state", scope, ClaimsState)


def unread(db: Database, scope: str, recalled: datetime | None = None) -> Iterator[list[Unread]]:
    """Yield pages of notes that no run has read as they are, or that were `recalled` since then, the oldest first."""
    given = {"scope": scope, "after": UNKNOWN_PAST, "after_id": "", "recalled": recalled}
    for rows in paged(db, "claims/notes", _PAGE, place_of, **given):
        yield [made(Unread, row, trust=trust_of(row["from"])) for row in rows]


def known(db: Database, scope: str, ids: Sequence[str]) -> set[str]:
    """Return which of some claims are stored."""
    return {row["id"] for row in db.run("claims/known", scope=scope, ids=list(ids))} if ids else set()


def write(db: Database, scope: str, cycle: int, rows: Sequence[Row]) -> tuple[int, int]:
    """Store what notes claim: id, stamp, recalled, done, claims.

    Of a claim: id, kind, text, subject, object, both keys, mark, vector and made_by or None, reworded. Return how many
    of the notes were still as they were read, and how many of these are done.
    """
    given = [{**row, "claims": [{**one, "vector": packed(one["vector"])} for one in row["claims"]]} for row in rows]
    for row in db.commit("claims/write", scope=scope, cycle=cycle, rows=given):
        return row["notes"], row["done"]
    return 0, 0


def told(tx: Runner, scopes: Sequence[str], ids: Sequence[str] | None = None) -> Iterator[Supported]:
    """Yield all claims of some scopes, or those of some ids, as the notes support them now."""
    given = {"scopes": list(scopes), "ids": None if ids is None else list(ids), "after": ""}
    for rows in paged(tx, "claims/told", _SOME, lambda row: {"after": "{scope} {id}".format(**row["claim"])}, **given):
        yield from map(_supported, rows)


def near(
    tx: Runner, scopes: Sequence[str], vector: "NDArray[np.float32]", keys: Sequence[str], limit: int
) -> dict[tuple[str, str], tuple[bool, float]]:
    """Return the claims nearest to a vector, and those of which an end has one of some keys, by scope and id.

    Of each it tells whether an end is named, and its cosine.
    """
    given = {"vector": packed(vector), "keys": list(keys), "limit": limit}
    rows = tx.run("claims/near", scopes=list(scopes), **given)
    return {(row["scope"], row["id"]): (row["named"], row["score"]) for row in rows}


def general(
    tx: Runner,
    shared: str,
    users: int,
    *,
    ids: Sequence[str] | None = None,
    keys: Sequence[str] = (),
    named: bool = False,
    vector: "NDArray[np.float32] | None" = None,
) -> Iterator[General]:
    """Yield the claims that at least so many users of a tenant make now, if it shares them.

    All of them, those of some ids, or where it is to be `named` those of which an end has one of some keys.
    """
    given = {
        "shared": shared,
        "users": users,
        "ids": None if ids is None else list(ids),
        "keys": list(keys),
        "named": named,
        "vector": None if vector is None else packed(vector),
    }
    for rows in paged(tx, "claims/general", _SOME, lambda row: {"after": row["claim"]["id"]}, after="", **given):
        for row in rows:
            sure, score = confidence([""] * row["users"], 0), row["score"]
            claim = Claim(**row["claim"], scope=shared, confidence=sure, users=row["users"], score=score)
            yield General(claim, row["named"])


def _supported(row: Row) -> Supported:
    """Return a claim by those that say so in its own words, and those that do in others: without the former by none."""
    own = [one for one in row["support"] if not one["reworded"]]
    support = row["support"] if own else []
    times = [one["at"] for one in support] or [0]
    claim = Claim(
        **row["claim"],
        confidence=confidence([one["session"] for one in support], max(row["idle"], 0)),
        notes=tuple(one["id"] for one in support),
        first_at=moment(min(times)),
        last_at=moment(max(times)),
        made_by=min((one["made_by"] for one in own), key=bool, default=""),
        trust=min((trust_of(one["from"]) for one in own), key=TRUST.index, default=TRUST[-1]),
    )
    return Supported(claim, tuple(one["stamp"] for one in support))
