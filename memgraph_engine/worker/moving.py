"""Move a tenant from one server to another while it is in use.

All of it is copied, and compared until nothing differs: beside those who write, and at last while nobody does. Then it
is gone from the one server, by what that says of it (Presence), at which each statement of the tenant looks; one
transaction of the catalogue says where it lives; the other server lets it be used; and what is left behind is removed.
How far it is stands in the graphs, so a move that was cut off is taken up by calling it again. Each run has a number,
and none goes on where one of a larger number has been.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

from memgraph_engine.errors import InvalidInput, NotFound, StoreError, StoreMismatch, WriteConflict
from memgraph_engine.graph import copying, erasures, leases, schema
from memgraph_engine.graph.database import Database, Row, Runner
from memgraph_engine.graph.servers import Servers
from memgraph_engine.graph.statements import first_set, of_set
from memgraph_engine.model.ports import Counted
from memgraph_engine.model.result import ErasureReceipt
from memgraph_engine.model.scope import Scope

_STOPPED = 15.0  # seconds for which nothing is written when whoever moves is killed; prolonged as long as it lives
_QUIET, _GONE = 30.0, 600.0  # that a stop waits for what writes, and a removal for what reads
_PAUSE = 0.02
_ATTEMPTS = 4
_COUNTED = {"nodes": "", "sources": "Source", "notes": "Note"}
_OF_SERVER = ("lock", "filled")  # properties of a scope that say nothing of it


def move(servers: Servers, tenant: str, to: str, counted: Counted = lambda *_: None) -> Row:
    """Move a tenant to another server, or take up a move that was cut off; to where it lives takes that back.

    Returns {tenant, left: the former server, server, nodes, notes: how many it had there, stopped: for how many seconds
    nothing was written, None where an earlier run did that part, receipt: the number of that of what was removed}.
    `counted` is told how many nodes of a memory are copied, of how many. Raises NotFound for an unknown tenant or
    server, InvalidInput where it lives there or is being moved, StoreMismatch where that server has another schema or
    embedder, a StoreError where one can't be used. Then it lives where it did.
    """
    servers.named(to)
    with leases.held_if_free(servers.catalogue, f"move {tenant}") as mine:
        if not (found := servers.find(tenant)):
            raise NotFound(f"The catalogue at {servers.catalogue.uri} has no tenant {tenant!r}; nothing was moved.")
        if not mine:
            raise InvalidInput(f"The tenant {tenant!r} is being moved by another process; nothing was begun.")
        server, going, back = found["server"], found["to"], found["server"] == to and found["to"]
        if server == to and not (going or found["left"]):
            raise InvalidInput(f"The tenant {tenant!r} lives on {to!r} already; nothing was moved.")
        if to not in (server, going) and (going or found["left"]):
            raise InvalidInput(
                f"A move of the tenant {tenant!r} to {going or server!r} was cut off: make it again, or take it "
                f"back by a move to {server!r}. Nothing else was begun."
            )
        job = _Job(servers, found, back or to, counted)
        return job.take_back() if back else job.run()


class _Job:
    """One run of a move."""

    def __init__(self, servers: Servers, found: Row, to: str, counted: Counted) -> None:
        self._catalogue, self._found, self._to, self._counted = servers.catalogue, found, to, counted
        self._tenant = str(found["name"])
        self._former, self._new = (servers.named(name) for name in (found["left"] or found["server"], to))
        self._own = {"tenant": self._tenant, "mover": 0}
        self._dimensions, self._until = 0, 0.0

    def run(self) -> Row:
        """Do what is left to do."""
        if not (self._found["to"] or self._found["left"]):
            self._check()
        begun, stopped = self._begin(), None
        if not self._found["left"]:
            if self._say(self._former, "servers/mark", state="copying", keep=True) != "gone":
                stopped = self._carry()
            held = self._scan(self._former)
            moved = {name: sum(held[key] for key in held if label in ("", key[1])) for name, label in _COUNTED.items()}
            self._say(self._catalogue, "servers/flip", moved=moved)
        self._say(self._new, "servers/mark", state="here", keep=False)
        (found,) = self._catalogue.run("servers/tenants", tenant=self._tenant)
        self._say(self._former, "servers/mark", state="gone", keep=True)
        self._wait(self._former, _GONE, reading=True)
        self._remove(self._former)
        # erasures know it by a scope's name, and this is of all
        salted, began = erasures.salted(begun["move"], self._tenant), datetime.fromtimestamp(found["begun"] / 1000, UTC)
        counts = {"sources": found["sources"], "notes": found["notes"], "remade": 0}
        rule, now = f"moved from {found['left']} to {self._to}", datetime.now(UTC)
        receipt = ErasureReceipt(0, begun["move"], salted, rule, began, now, counts, 0, 0, "", "")
        number = erasures.append(self._new, self._tenant, receipt).number
        self._say(self._catalogue, "servers/end")
        told = {name: found[name] for name in ("left", "server", "nodes", "notes")}
        return {"tenant": self._tenant, **told, "stopped": stopped, "receipt": number}

    def take_back(self) -> Row:
        """Remove what was copied by a move that was cut off, and let the tenant live where it does."""
        self._begin()
        self._say(self._new, "servers/mark", state="coming", keep=False)
        # said last: where it lives, nothing is removed
        if self._say(self._former, "servers/mark", state="here", keep=True) == "gone":
            raise InvalidInput(f"The tenant {self._tenant!r} has left for {self._to!r}: move it there first.")
        self._remove(self._new)
        self._say(self._new, "servers/mark", state="gone", keep=False)
        self._say(self._catalogue, "servers/end")
        return {"tenant": self._tenant, "left": self._to, "server": self._found["server"], "stopped": None}

    def _begin(self) -> Row:
        given = {"tenant": self._tenant, "to": self._to, "now": datetime.now(UTC)}
        (begun,) = self._catalogue.commit("servers/begin", **given)
        self._own["mover"] = begun["mover"]
        return begun

    def _check(self) -> None:
        """Raise StoreMismatch where the servers have not the same vectors, by the same names, or are to have others."""
        (here,), (there,) = (db.run("store/read") for db in (self._former, self._new))
        self._dimensions, vectors = here["dimensions"], here["vectors"]
        one, other = ((row["schema"], row["model"], row["vectors"]) for row in (here, there))
        second = (row for db in (self._former, self._new) for row in db.run("vectors/second"))
        changing = any(row["state"] == "filling" for row in second)
        if changing or one != other or there["schema"] != schema.VERSION:
            raise StoreMismatch(
                f"The tenant {self._tenant!r} was not moved: {self._to!r} has another schema or embedder, or that is "
                f"being changed: {other}, not {(schema.VERSION, *one[1:])} (schema, model, set of vectors)."
            )
        self._former, self._new = self._former.of(vectors), self._new.of(vectors)

    def _say(self, db: Database, name: str, **given: Any) -> str:
        """Run a statement about the move on a server, or in the catalogue, and return what it tells."""
        return self._mine(db.commit(name, **self._own, **given))

    def _mine(self, rows: Sequence[Row]) -> str:
        for row in rows:
            return str(row["state"])
        raise WriteConflict(f"The move of {self._tenant!r} was taken up elsewhere, or stood still: make it again.")

    def _write(self, db: Database, name: str, **given: Any) -> list[Row]:
        """Run a writing statement on a server, unless another run has the move, or the tenant is in use there."""

        def work(tx: Runner) -> list[Row]:
            self._mine(tx.run("servers/mine", **self._own))
            return tx.run(name, **given)

        return db.write(work)

    # ---- the copy -----------------------------------------------------------------------------

    def _carry(self) -> float:
        """Copy all, until the tenant is gone from where it was; return for how many seconds nothing was written."""
        self._check()
        self._say(self._new, "servers/mark", state="coming", keep=False)
        for _ in range(2):  # the second copies what was written during the first
            self._compare(whole=True)
        here, there = ({label for _, label in self._scan(db)} for db in (self._former, self._new))
        if unknown := here - there:
            raise StoreError(f"{self._former.uri} holds what this process can't move: {sorted(unknown)}.")
        begun, self._until = time.monotonic(), float("-inf")
        try:
            self._beat()
            self._wait(self._former, _QUIET)
            self._compare(whole=False)
            self._say(self._former, "servers/leave", vectors=self._former.vectors)
        except BaseException:
            self._say(self._former, "servers/mark", state="copying", keep=True)
            raise
        self._until = 0.0
        return time.monotonic() - begun

    def _beat(self) -> None:
        """Keep writers out for longer, where they are kept out."""
        if self._until and time.monotonic() > self._until:
            self._say(self._former, "servers/stop", milliseconds=int(_STOPPED * 1000))
            self._until = time.monotonic() + _STOPPED / 5

    def _wait(self, db: Database, patience: float, *, reading: bool = False) -> None:
        """Wait for what writes, or is `reading` too, of the tenant now; raises WriteConflict after so many seconds."""

        def running() -> set[str]:
            return {row["id"] for row in db.run("servers/running", tenant=self._tenant, reading=reading)}

        until, before = time.monotonic() + patience, running()
        while before := before and before & running():
            if time.monotonic() > until:
                raise WriteConflict(
                    f"A statement of {self._tenant!r} runs on {db.uri} for more than {patience:.0f} s: move it later."
                )
            self._beat()
            time.sleep(_PAUSE)

    def _compare(self, *, whole: bool) -> None:
        """Make the new server hold what the former one does; while nothing is written, until nothing differs."""
        both = self._former, self._new
        names = {row["scope"] for db in both for row in db.run("scopes/of_tenant", tenant=self._tenant)}
        for scope in ("", *sorted(names)):
            given, attempts = {"scope": scope, "tenant": "" if scope else self._tenant}, 0
            while self._differed(given, whole=whole or attempts > 0) and self._until:
                if (attempts := attempts + 1) == _ATTEMPTS:
                    raise StoreError(f"What {self._new.uri} holds of {self._tenant!r} is not what was written there.")

    def _differed(self, given: Row, *, whole: bool) -> bool:
        """Make the new server hold the same of a scope, or of what is beside all; return whether it did not."""
        here, there = (dict(self._nodes(db, given, whole=whole)) for db in (self._former, self._new))
        gone = [place for key, place in there.items() if key not in here]
        missing = [place for key, place in here.items() if key not in there]
        places = {place: there[key] for key, place in here.items() if key in there}
        for ids in copying.batches(gone):
            self._write(self._new, "servers/remove", ids=ids, **given)
        for ids in copying.batches(missing):
            places |= self._copy(given, ids)
            self._counted(len(places), len(here))
        names = {place: key for key, place in here.items() if place in places}
        theirs = {places[place]: key for place, key in names.items()}
        ties = {key: row["id"] for key, row in self._ties(self._new, given, theirs)}
        new, lacking = self._ties(self._former, given, names), 0
        for rows in copying.batches(row for key, row in new if ties.pop(key, None) is None):
            self._write(self._new, "copy/write_relationships", rows=copying.moved(rows, places))
            lacking += len(rows)
        for ids in copying.batches(ties.values()):
            self._write(self._new, "servers/cut", ids=ids, scope=given["scope"])
        return bool(gone or missing or lacking or ties)

    def _copy(self, given: Row, ids: Sequence[str]) -> Mapping[str, str]:
        """Write nodes of the former server; return the place of each by its place there."""
        rows = [self._told(self._former, row) for row in self._former.run("servers/nodes", ids=ids, **given)]
        for row in rows:
            row["vectors"] = {of_set(name, self._new.vectors): own for name, own in row["vectors"].items()}
        written = self._write(self._new, "copy/write_nodes", rows=copying.with_vectors(rows))
        return {row["id"]: row["written"] for row in written}

    def _nodes(self, db: Database, given: Row, *, whole: bool) -> Iterator[tuple[bytes, str]]:
        """Yield the places of a scope's nodes, each behind what it holds."""
        found = Counter[bytes]()
        for row in db.stream("servers/members", whole=whole, **given):
            self._beat()
            one = self._told(db, row)
            vectors = sorted(one["vectors"].items())
            held = one["labels"], sorted(one["properties"].items()), [name for name, _ in vectors]
            yield _key(found, held, *(vector.tobytes() for _, vector in vectors)), row["id"]

    def _ties(self, db: Database, given: Row, names: Mapping[str, bytes]) -> Iterator[tuple[bytes, Row]]:
        """Yield a scope's relationships, each behind what it holds, and what is at its ends."""
        found = Counter[bytes]()
        for row in db.stream("servers/ties", **given):
            self._beat()
            if row["a"] in names and row["b"] in names:
                held = row["kind"], sorted(copying.exact(row["properties"]).items())
                yield _key(found, held, names[row["a"]], names[row["b"]]), row
            elif self._until:  # else it is new
                raise StoreError(f"A relationship {row['kind']} leads out of {given['scope']!r}: it can't be moved.")

    def _told(self, db: Database, row: Row) -> Row:
        """Return a node with its vectors parted from its properties, by the names of the first set."""
        left = _OF_SERVER if row["labels"] == ["Scope"] else ()
        given = {name: value for name, value in row["properties"].items() if value is not None and name not in left}
        return copying.parted({**row, "properties": first_set(given, db.vectors)}, self._dimensions)

    # ---- what is left -------------------------------------------------------------------------

    def _remove(self, db: Database) -> None:
        """Remove all that a server holds of the tenant; raises StoreError where something stays."""
        for _ in range(_ATTEMPTS):
            found = self._scan(db)
            for scope in {scope for scope, _ in found}:
                given = {"scope": scope, "tenant": "" if scope else self._tenant}
                rows = list(db.stream("servers/members", whole=False, **given))
                for some in copying.batches(rows):
                    self._write(db, "servers/remove", ids=[row["id"] for row in some], **given)
            self._write(db, "servers/leases", prefix=f" {Scope(self._tenant).name}")
            if not found:
                return
        raise StoreError(f"{db.uri} holds some of the tenant {self._tenant!r} still: {sorted(found)}.")

    def _scan(self, db: Database) -> Counter[tuple[str, str]]:
        """Count all that a server holds of the tenant by scope and label, of whatever kind; '' is what is in none."""
        rows = db.run("servers/scan", prefix=Scope(self._tenant).name, tenant=self._tenant)
        return Counter({(row["scope"] or "", row["label"]): row["number"] for row in rows})


def _key(found: Counter[bytes], held: object, *parts: bytes) -> bytes:
    """Return what tells a node or relationship from any that holds something else; of those alike, which it is."""
    digest = blake2b(repr(held).encode(), digest_size=16)
    for part in parts:
        digest.update(part)
    key = digest.digest()
    found[key] += 1
    return key + found[key].to_bytes(4)
