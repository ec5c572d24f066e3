"""Read a memory from a file that an export wrote, into an empty scope, under the same or another name.

It stands under a name that no user can have until it is whole; then one transaction gives it its own. So nothing of an
import that was cut off is ever read, and the next one into that scope removes it, or a sweep, or any erasure.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import Any

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput, QueryFailed, StoreError, WriteConflict
from memgraph_engine.graph import copying, erasures, leases, notes, scopes
from memgraph_engine.graph.database import Row, Runner
from memgraph_engine.graph.memory_file import Reader
from memgraph_engine.graph.statements import of_set
from memgraph_engine.model.memory import note_id
from memgraph_engine.model.ports import Counted
from memgraph_engine.model.result import Imported
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing.vectors import Filling

_ID = re.compile("[0-9a-f]{32}")
_NO_MEMORY = "Neo.TransientError.General.MemoryPoolOutOfMemoryError"
_ELSEWHERE = 0  # the number of no set of vectors of this database
_NAMING = ("note", "considered", "evidence")  # properties of decisions that name notes


def import_(engine: Engine, scope: Scope, path: Path, counted: Counted, *, re_embed: bool = False) -> Imported:
    """Read a file into an empty scope, the whole of it before anything is written.

    With `re_embed` that of another embedder gets vectors of this one.
    """
    file = Reader(path)
    same = file.fits(engine.embedder.name, engine.embedder.dimensions, re_embed=re_embed)
    with leases.held(engine.db, scopes.import_lease(scope.name)):
        scopes.purge(engine.db, scopes.importing(scope.name), whole=False)
        _check_empty(engine.db, scope)
        ids = _Ids(scope, Scope(file.head.tenant, file.head.user or None))
        for _, row in file.lines():
            ids.see(row)
        try:
            nodes, relationships = _Import(engine, scope, file, ids, counted, anew=not same).run()
        except BaseException:
            with suppress(StoreError):  # else the next import or sweep does so
                scopes.purge(engine.db, scopes.importing(scope.name), whole=False)
            raise
    engine.notes.drop([scope.name])
    return Imported(str(path), nodes, relationships)


def _check_empty(tx: Runner, scope: Scope) -> None:
    if erasures.begun(tx, scope.name):
        raise InvalidInput(
            f"An erasure of {scope} was begun and is not done: it would take what is imported with it. Nothing was "
            "imported. Finish it first (`memgraph-engine sweep`), then import."
        )
    if found := [row["label"] for row in copying.members(tx, scope.name, 2) if row["label"] != "Scope"]:
        whose = f"{f'--user {quote(scope.user)}' if scope.user else '--shared'} --tenant {quote(scope.tenant)}"
        raise InvalidInput(
            f"The memory of {scope} is not empty: it holds a {found[0]}. Nothing was imported. Import it under another "
            f"name, or erase what is there first (`memgraph-engine forget --all {whose}`)."
        )


class _Ids:
    """What the notes of a file are called in the scope that they come into: under another name their ids are others.

    The id of a note is made from its scope and its first source, so that a write that is tried again makes the same.
    """

    def __init__(self, scope: Scope, former: Scope) -> None:
        self._scope, self._same = scope.name, scope == former
        self._known: dict[str, str | None] = {}

    def see(self, row: Row) -> None:
        """Take note of what a note's id was made from."""
        if not self._same and {"Note", "Past"}.intersection(row.get("labels", ())):
            made = note_id(self._scope, *row["of"]) if row["of"] else None
            former = row["properties"]["id"]
            self._known[former] = self._known.get(former) or made

    def of(self, id: str) -> str:
        """Return what a note is called here; what is no note of the file keeps its name."""
        if id not in self._known:
            return id
        return self._known[id] or hashlib.blake2b(f"{self._scope}\0{id}".encode(), digest_size=16).hexdigest()

    def renamed(self, label: str, given: Mapping[str, Any]) -> Row:
        """Return the properties of a node, which may name notes: by its id, in a list, or in texts."""
        if label in ("Note", "Past", "Usage"):
            return {**given, "id": self.of(given["id"])}
        if label == "Retrieval":
            return {**given, "notes": list(map(self.of, given["notes"]))}
        if label == "Decision" and self._known:
            texts = {name: _ID.sub(lambda found: self.of(found[0]), given.get(name, "")) for name in _NAMING}
            return {**given, **texts}
        return dict(given)


class _Import:
    """One import: what it has written, and what waits for the end."""

    def __init__(self, engine: Engine, scope: Scope, file: Reader, ids: _Ids, counted: Counted, *, anew: bool) -> None:
        self._engine, self._anew = engine, anew
        self._db, self._scope, self._file, self._ids, self._counted = engine.db, scope, file, ids, counted
        self._under = scopes.importing(scope.name)
        self._places: dict[int, str] = {}
        self._itself: Row = {}
        self._hanging: list[Row] = []
        self._ties: list[Row] = []

    def run(self) -> tuple[int, int]:
        """Write all lines, then give the whole the scope's name; return how many nodes and relationships there are."""
        done = 0
        for lines in copying.batches(self._file.lines()):
            with self._told(f"the lines {lines[0][0]} to {lines[-1][0]}"):
                self._write_nodes([row for _, row in lines if "labels" in row])
                self._write_ties([row for _, row in lines if "kind" in row])
            self._counted(done := done + len(lines), self._file.head.total)
        if self._anew:
            self._embed()
        with self._told(f"all {done} lines at once"):
            self._db.write(self._take)
        relationships = self._file.head.relationships
        return done - relationships, relationships

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Say what the server refused."""
        try:
            yield
        except QueryFailed as error:
            if error.code == _NO_MEMORY:
                raise StoreError(
                    f"The server has too little memory for {what} of {self._file.path}; nothing was imported. Give it "
                    "more heap (the setting `heap` of the managed server), and import the file again."
                ) from error
            raise StoreError(f"{self._file.path}: {what} can't be stored, so nothing was imported. {error}") from error

    def _check(self, row: Row) -> None:
        """Refuse a secret unless they are kept: vectors and terms are made of it, and can't be covered."""
        redaction = self._engine.redaction
        texts = (
            text for value in row["properties"].values() for text in (value if isinstance(value, list) else [value])
        )
        if redaction.secrets != "keep" and any(
            redaction.covered(text, "the file") != text for text in texts if isinstance(text, str)
        ):
            raise InvalidInput(
                f"{self._file.path} holds a secret, and secrets are not kept (the setting `secrets`). Nothing was "
                "imported. Import it where they are kept, and erase what tells it."
            )

    def _write_nodes(self, rows: list[Row]) -> None:
        """Write nodes, but the scope itself and what hangs on it: that comes when all else is there."""
        made = []
        for row in rows:
            self._check(row)
            (label,) = row["labels"]
            given = self._ids.renamed(label, row["properties"])
            if label == "Scope":
                self._itself = given
            elif label == "Spending":
                self._hanging.append({**row, "properties": {**given, "scope": self._scope.name}})
            else:
                own = notes.scoped(self._scope, given) if label in ("Note", "Past") else {}
                made.append(self._named({**row, "properties": {**given, **own, "scope": self._under}}))
        if made:
            self._places |= copying.write_nodes(self._db, made)

    def _named(self, row: Row) -> Row:
        """Return a node with its vectors by their names in this database; or marks of those that are made anew."""
        if not self._anew:
            return {**row, "vectors": {of_set(name, self._db.vectors): own for name, own in row["vectors"].items()}}
        marks = {of_set(name, _ELSEWHERE): True for name in row["vectors"]}
        return {**row, "properties": {**row["properties"], **marks}, "vectors": {}}

    def _embed(self) -> None:
        """Give what has marks vectors of this database's embedder."""
        filling = Filling(self._engine, _ELSEWHERE)
        filling.fill(self._db, self._under, self._write_vectors, lambda _texts: None)
        self._db.of(_ELSEWHERE).commit("vectors/unmark", scope=self._under)

    def _write_vectors(self, batch: Row) -> None:
        self._db.commit("vectors/write", **batch)

    def _write_ties(self, rows: list[Row]) -> None:
        waiting = {0, *(row["id"] for row in self._hanging)}
        self._ties += [row for row in rows if waiting & {row["a"], row["b"]}]
        if ready := [row for row in rows if not waiting & {row["a"], row["b"]}]:
            copying.write_relationships(self._db, ready, self._places)

    def _take(self, tx: Runner) -> None:
        """Give all that is written the scope's name, unless somebody wrote to that meanwhile."""
        name, some = self._scope.name, [*self._places.values()][:1]
        there = tx.run("copy/take", scope=name)[0]
        if some and tx.run("copy/nodes_at", scope=name, ids=some):
            return  # it was committed, though the answer was lost
        self._db.fits(tx.run("store/read")[0]["vectors"])
        _check_empty(tx, self._scope)
        renamed = 0
        for ids in copying.batches(self._places.values()):
            renamed += tx.run("copy/rename", scope=self._under, name=name, ids=ids)[0]["renamed"]
        if renamed < len(self._places):
            raise WriteConflict(f"Another process imports into the memory of {self._scope}. Nothing was imported here.")
        given = {"tenant": self._scope.tenant, "user": self._scope.user or ""}
        version = max(self._itself["version"], there["version"] + 1 if there["version"] else 0)
        tx.run("copy/open", scope=name, properties={**self._itself, **given, "version": version})
        hanging = tx.run("copy/write_nodes", rows=copying.with_vectors(self._hanging))
        places = {**self._places, 0: there["id"], **{row["id"]: row["written"] for row in hanging}}
        tx.run("copy/write_relationships", rows=copying.moved(self._ties, places))
