"""Erasures as the graph keeps them while they run, and the receipts that stay of them."""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import takewhile
from typing import Any

from memgraph_engine.errors import InvalidInput
from memgraph_engine.graph import copying, scopes, topics
from memgraph_engine.graph.database import Database, Row, Runner, paged
from memgraph_engine.graph.rows import made, moment
from memgraph_engine.interface.results import json_form
from memgraph_engine.model.memory import UNKNOWN_PAST, Source, cut_up
from memgraph_engine.model.result import ErasurePlan, ErasureReceipt, Hold
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.topic import Topic, label

_PAGE = 1000
_BEFORE = re.compile(r"\[before:")  # so begins what a context quotes of another turn
_FEW = 20  # receipts that are read at once where only the newest count
HIDDEN = UNKNOWN_PAST
"""When what an erasure hides has ended, long before anything else."""
EVERYTHING = "everything"
"""The rule of an erasure that takes all of a memory."""
_LEASES = ("work", "write", "process", "topics", "blocks", "claims", "import")


@dataclass(frozen=True, slots=True)
class Meant:
    """A source that an erasure may mean, or a former text of one."""

    id: str
    session: str
    text: str
    cuts: Sequence[int] | None
    speaker: str
    role: str
    caption: str
    tags: Sequence[str] = ()
    metadata: str = "{}"

    @property
    def words(self) -> str:
        """All that it says, with its tags and the values of its metadata."""
        _, values = _filed(json.loads(self.metadata))
        return " ".join([self.text, self.caption or "", *self.tags, *values])


@dataclass(frozen=True, slots=True)
class Said:
    """All that a source says, or said: its `texts`, passage by passage, and what a user wrote of a note of it.

    Its tags and the values of its metadata stand with each passage; `names` are the words that name these values.

    `notes` are those that tell it, or did; `statuses` are the present ones of these. `changes` are the notes that took
    the place of one of them, or whose place one took.
    """

    id: str
    texts: tuple[str, ...]
    notes: frozenset[str]
    statuses: frozenset[str]
    changes: frozenset[str] = frozenset()
    names: str = ""


@dataclass(frozen=True, slots=True)
class Concerned:
    """A note that an erasure concerns: whether a version `told` one of its sources, and whether others keep it."""

    id: str
    told: bool
    kept: bool


@dataclass(frozen=True, slots=True)
class Began:
    """When an erasure began, and when it ended, None if it has not; and whether it is one of everything."""

    begun: datetime
    ended: datetime | None
    everything: bool


@dataclass(frozen=True, slots=True)
class Erasure:
    """An erasure that is begun: `kept` are notes to make anew, of which those `losing` lose sources.

    Its `state` is hidden, or removed once nothing of it is left but the check.
    """

    id: str
    state: str
    rule: str
    begun: datetime
    everything: bool
    sources: tuple[str, ...]
    kept: tuple[str, ...]
    losing: tuple[str, ...]
    notes: int


def select(
    db: Database,
    scope: str,
    *,
    ids: Sequence[str] | None = None,
    session: str | None = None,
    policy: str | None = None,
    before: datetime | None = None,
) -> list[Meant]:
    """Return the sources that are meant, with their former texts."""
    given = {"ids": ids, "session": session, "policy": policy, "before": before}
    return [Meant(**row) for row in db.run("erasures/select", scope=scope, **given)]


def everything(db: Database, scope: str) -> tuple[list[tuple[str, str]], int]:
    """Return the sources that a scope holds, or held, each with its session, and how many notes there are."""
    row = db.run("erasures/all", scope=scope)[0]
    return [(id, session) for id, session in row["sources"]], row["notes"]


def said(db: Database, scope: str) -> Iterator[Said]:
    """Yield what each source of a scope says, by their ids; what is to be erased by now says nothing."""
    for rows in paged(db, "erasures/said", _PAGE, scope=scope, after=""):
        for row in rows:
            filed, texts = [_filed(json.loads(text["metadata"])) for text in row["texts"]], list[str]()
            for text, (_, values) in zip(row["texts"], filed, strict=True):
                whole, beside = Source("", text["text"], "", caption=text["caption"] or ""), [*text["tags"], *values]
                pieces = cut_up(whole, text["cuts"] or ())
                texts += [f"{piece.text} {piece.caption} {' '.join(beside)}" for piece in pieces]
            notes, statuses, changes = (frozenset(row[name]) for name in ("notes", "statuses", "changes"))
            names = " ".join(dict.fromkeys(name for names, _ in filed for name in names))
            yield Said(row["id"], (*texts, *row["written"]), notes, statuses, changes, names)


def _filed(metadata: object) -> tuple[list[str], list[str]]:
    """Return all names of metadata, and all values."""
    names, values, waiting = list[str](), list[str](), [metadata]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            names += one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
        elif one is not None and not isinstance(one, bool):
            values.append(str(one))
    return names, values


def told_by(db: Database, scope: str, names: Sequence[str]) -> dict[str, list[str]]:
    """Return for names of notes and sources which sources each means; raises InvalidInput for one of both."""
    found = dict[str, list[str]]()
    for row in db.run("erasures/told_by", scope=scope, names=list(names)):
        name, own = row["name"], row["of_note"]
        if own and row["is_source"] and name not in own:
            raise InvalidInput(f"{name!r} is the id of a note and that of another note's source: name {own} instead.")
        found[name] = own or ([name] if row["is_source"] else [])
    return found


def quoting(db: Database, scope: str, sessions: Sequence[str], quotes: Collection[str]) -> list[str]:
    """Return the notes of sessions whose context holds a quote that begins so, or was written by a chat model."""
    lengths = {len(quote) for quote in quotes}
    rows = db.run("erasures/quoting", scope=scope, sessions=sessions) if sessions else []

    def quotes_one(context: str) -> bool:
        begins = (begin.start() for begin in _BEFORE.finditer(context))
        return any(context[at : at + length] in quotes for at in begins for length in lengths)

    return sorted({row["note"] for row in rows if row["context"] is None or quotes_one(row["context"])})


def notes(db: Database, scope: str, ids: Sequence[str], quoting: Sequence[str]) -> list[Concerned]:
    """Return the notes that an erasure of sources concerns, of which some are known to quote one."""
    return [Concerned(**row) for row in db.run("erasures/notes", scope=scope, ids=ids, quoting=quoting)]


def hide(db: Database, scope: str, plan: ErasurePlan, concerned: Sequence[Concerned], now: datetime) -> bool:
    """Begin an erasure of sources; False, with nothing changed, if somebody wrote since the plan was made.

    Topics name the erased keywords no more.
    """
    whole = [one.id for one in concerned if not one.kept]  # one that joined another is kept as its past alone
    kept = [one.id for one in concerned if one.kept]
    losing = [one.id for one in concerned if one.kept and one.told]
    properties = _begun(plan, now, kept, losing)
    given = {"ids": list(plan.sources), "whole": whole, "kept": kept, "losing": losing}

    def begin(tx: Any) -> bool:
        rows = tx.run("erasures/hide", scope=scope, version=plan.version, id=plan.id, properties=properties, **given)
        if rows:
            tx.run("erasures/topics", scope=scope)
        return bool(rows)

    return db.write(begin)


def set_aside(db: Database, scope: str, plan: ErasurePlan, now: datetime) -> bool:
    """Begin an erasure of everything; False, with nothing changed, if somebody wrote since the plan was made.

    What the scope holds is Erased from then on; what is written later is no part of that.
    """
    given = {"version": plan.version, "id": plan.id, "properties": _begun(plan, now, [], [])}
    return bool(db.commit("erasures/set_aside", scope=scope, **given))


def _begun(plan: ErasurePlan, now: datetime, kept: Sequence[str], losing: Sequence[str]) -> Row:
    told = {"rule": plan.rule, "everything": plan.everything, "notes": plan.notes, "sources": list(plan.sources)}
    return {**told, "state": "hidden", "begun": now, "kept": kept, "losing": losing}


def begun(tx: Runner, scope: str) -> list[Erasure]:
    """Return the erasures of a scope that are begun and not done, the oldest first."""
    return [made(Erasure, row["erasure"]) for row in tx.run("erasures/begun", scope=scope)]


def lately(tx: Runner, scope: Scope, since: datetime) -> list[Began]:
    """Return the erasures of a scope that are not done, or were done since a time."""
    running = [Began(one.begun, None, one.everything) for one in begun(tx, scope.name)]
    ended = takewhile(lambda one: one.ended >= since, _newest(tx, scope.tenant))
    mine = (one for one in ended if one.scope == salted(one.id, scope.name))
    return [*running, *(Began(one.begun, one.ended, one.rule == EVERYTHING) for one in mine)]


def gone(tx: Runner, scope: str, by: datetime = HIDDEN) -> list[str]:
    """Return the notes of a scope that are to be erased by a time, or are being erased, and are still there."""
    return [row["id"] for row in tx.run("erasures/gone", scope=scope, by=by)]


def lives(db: Database, scope: str, ids: Sequence[str]) -> dict[str, tuple[datetime, datetime]]:
    """Return when notes end, and are to be erased, that an erasure hid."""
    rows = db.run("erasures/lives", scope=scope, ids=list(ids))
    return {row["id"]: (moment(row["expires_at"]), moment(row["erase_at"])) for row in rows}


def remove(db: Database, scope: str) -> None:
    """Remove the sources and former versions that are erased."""
    db.commit("erasures/remove", scope=scope, rows=_PAGE)


def purge(db: Database, scope: str, id: str) -> None:
    """Remove what an erasure of everything has set aside."""
    db.commit("erasures/purge", scope=scope, id=id, rows=_PAGE)


def unplace(db: Database, scope: str, meant: Sequence[Meant]) -> None:
    """Keep no more where folders lay whose last documents are meant."""
    sessions = {one.session for one in meant}
    above = {session[: sign.start()] for session in sessions for sign in re.finditer("/", session)}

    def write(tx: Any) -> None:
        tx.run("scopes/lock", scope=scope)
        known = scopes.folders(tx, scope)
        ended = [id for id in known if id in above]
        gone = {*ended} - {row["id"] for row in tx.run("erasures/placed", scope=scope, ids=ended)}
        if gone:
            scopes.keep_folders(tx, scope, {id: at for id, at in known.items() if id not in gone})

    if above:
        db.write(write)


def tidy(db: Database, scope: str) -> list[str]:
    """Let topics and their runs name no keyword that is gone, and blocks hold no vector of it; return these topics."""
    db.commit("erasures/blocks", scope=scope)
    stale = [row["id"] for row in db.commit("erasures/topics", scope=scope)]
    for row in db.run("topics/runs", scope=scope, limit=_PAGE):
        run = row["run"]
        moves = json.loads(run["moves"])
        names = sorted({move["keyword"] for move in moves})
        there = {row["name"] for row in db.run("erasures/carried", scope=scope, names=names)} if names else set()
        if len(there) < len(names):
            kept = json.dumps([move for move in moves if move["keyword"] in there])
            db.commit("erasures/moves", scope=scope, id=run["id"], moves=kept)
    return stale


def centre(db: Database, scope: str) -> None:
    """Put the centroids of all topics where the keywords are that they have; end those that have none."""

    def write(tx: Any) -> None:
        names_of, left = defaultdict[str, list[str]](list), list[Topic]()
        for name, topic in topics.members(tx, scope):
            names_of[topic or ""].append(name)
        for one in topics.every(tx, scope):
            if names := names_of[one.id]:
                keywords = one.keywords or tuple(names[:3])
                left.append(replace(one, label=one.label or label(keywords), size=len(names), keywords=keywords))
            else:
                topics.end(tx, scope, [one.id])
        topic_of = {name: one.id for one in left for name in names_of[one.id]}
        topics.write(tx, scope, left, topics.middles(tx, scope, topic_of))

    db.write(write)


def advance(db: Database, scope: str, id: str, state: str) -> None:
    """Say how far an erasure has come."""
    db.commit("erasures/advance", scope=scope, id=id, state=state)


def end(db: Database, scope: str, one: Erasure) -> None:
    """End an erasure; one of everything with the scope and the leases that name it, unless it holds something again."""

    def write(tx: Any) -> None:
        tx.run("scopes/lock", scope=scope)
        ended = tx.run("erasures/end", scope=scope, id=one.id)
        if not (ended and one.everything) or begun(tx, scope) or len(copying.members(tx, scope, 2)) > 1:
            return
        tx.run("erasures/leases", scope=scope, kinds=_LEASES)
        tx.run("scopes/close", scope=scope)

    db.write(write)


def held(tx: Runner, scope: str) -> list[Hold]:
    """Return the holds of a scope, the oldest first: what they name must not be erased."""
    return [made(Hold, row) for row in tx.run("holds/list", scope=scope)]


def texts(db: Database, scope: str) -> Iterator[Row]:
    """Yield what notes and sources say: said, made, hidden."""
    for rows in paged(db, "erasures/texts", _PAGE, scope=scope, after=""):
        yield from rows


def told(db: Database, scope: str) -> list[str]:
    """Return what else may hold words: decisions, keywords, topics, blocks, their runs, ties, the places of folders."""
    rows = db.run("erasures/told", scope=scope)
    return rows[0]["made"] if rows else []


def salted(erasure: str, scope: str) -> str:
    """Return what a receipt has in place of a scope's name, by which whoever knows the name can find it."""
    return hashlib.sha256(f"{erasure} {scope}".encode()).hexdigest()


def append(db: Database, tenant: str, receipt: ErasureReceipt) -> ErasureReceipt:
    """Add a receipt to a tenant's chain, sealed there; one of the same id is added once."""
    while True:
        known = next((one for one in receipts(db, tenant) if one.id == receipt.id), None)
        if known:
            return known
        rows = db.run("receipts/last", tenant=tenant)
        number, previous = (rows[0]["number"] + 1, rows[0]["hash"]) if rows else (1, "")
        sealed = seal(replace(receipt, number=number, previous=previous))
        given = {"id": sealed.id, "previous": previous, "hash": sealed.hash, "body": json.dumps(json_form(sealed))}
        db.commit("receipts/create", tenant=tenant, number=number, properties=given)


def _newest(tx: Runner, tenant: str) -> Iterator[ErasureReceipt]:
    """Yield the receipts of a tenant, the last before others."""
    last = tx.run("receipts/last", tenant=tenant)
    number = last[0]["number"] if last else 0
    while number > 0:
        after = max(number - _FEW, 0)
        rows = tx.run("receipts/list", tenant=tenant, after=after, limit=number - after)
        yield from (made(ErasureReceipt, json.loads(row["receipt"]["body"])) for row in reversed(rows))
        number = after


def receipts(db: Database, tenant: str) -> Iterator[ErasureReceipt]:
    """Yield the receipts of a tenant, the first before others."""
    for rows in paged(
        db, "receipts/list", _PAGE, lambda row: {"after": row["receipt"]["number"]}, tenant=tenant, after=0
    ):
        yield from (made(ErasureReceipt, json.loads(row["receipt"]["body"])) for row in rows)


def seal(receipt: ErasureReceipt) -> ErasureReceipt:
    """Return a receipt with its hash, which covers all else of it."""
    form: Row = json_form(asdict(receipt))
    del form["hash"]
    body = json.dumps(form, sort_keys=True, ensure_ascii=False)
    return replace(receipt, hash=hashlib.sha256(body.encode()).hexdigest())
