"""The schema of the graph: made once, versioned, and bound to one embedding model."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from memgraph_engine.arrays import NDArray, np
from memgraph_engine.errors import QueryFailed, StoreMismatch
from memgraph_engine.graph import leases
from memgraph_engine.graph.database import Database, Row
from memgraph_engine.graph.rows import made
from memgraph_engine.graph.statements import of_set, statements

T = TypeVar("T")

# Since 12 notes end: older processes would write notes without a life, and read the ended. Since 21 models describe
# blocks: older ones would leave their words where a note has changed. Since 22 there are claims: older ones would not
# take them away with their notes. Since 23 they are marked for what users share: older ones would leave new ones
# unmarked. Since 24 there are keys: older ones would leave those of a user of whom they erase everything. Since 25
# there are items: older ones would merge messages into them, and evict them. Since 26 notes say whether several sources
# tell them: filters would find those of older ones by the first alone. Since 27 there may be two sets of vectors: older
# ones would search the former, and leave those of words that are erased. Since 28 sources have a class of trust: older
# ones would let a document end what the user said.
VERSION = 28
# Indexes that databases of older schemas have in another form. Quantised to one bit, the server's default, an index of
# vectors fails on a search that finds nothing once something was deleted (2026.08), and to bytes it is slower and its
# scores are not exact. Full text held the terms of all scopes alike. Notes did not end, nor say whether several sources
# tell them.
_MADE_ANEW = {
    "note_raw": 26,
    "note_context": 26,
    "keyword_embedding": 6,
    "topic_embedding": 6,
    "note_terms": 7,
    "note_status": 12,
    "decision_at": 14,
}
# what older nodes lack, or differ in
_COMPLETED = {
    "schema/scoped_terms": 7,
    "schema/stamps": 8,
    "schema/resting": 15,
    "schema/lives": 12,
    "schema/unmarked": 23,
    "schema/sayings": 26,
}
OF_CATALOGUE = ("schema/server_name", "schema/server_id", "schema/tenant_name")
OF_SERVERS = (*OF_CATALOGUE, "schema/presence_tenant")  # made by `servers add` alone
_OTHERS = ("schema/await", "schema/drop", *OF_SERVERS, *_COMPLETED)  # make no index or constraint of every database
_ALIKE = 0.9  # cosine of one word's vectors: of a model in 4 bits on two kinds of machine it is above .99
_WAIT = 300  # seconds for the indexes of a new database


@dataclass(frozen=True, slots=True)
class Recorded:
    """The embedder whose vectors a database searches: the name that it reports, and what settings call it.

    `vectors` is the number of the set. `former` is the name of the one that this took the place of. `catalogue` is the
    address of the catalogue of several servers, where this is one of them.
    """

    model: str = ""
    named: str = ""
    vectors: int = 1
    former: str = ""
    calibration: str = ""
    dimensions: int = 0
    catalogue: str = ""


def recorded(db: Database) -> Recorded:
    """Return the embedder of the database; that of a new one has no name."""
    return next((made(Recorded, row) for row in db.run("store/read")), Recorded())


def prepare(db: Database, model: str, dimensions: int, probe: "NDArray[np.float32] | None" = None) -> str:
    """Make the schema in a new database, complete that of an older version, and check that it fits.

    A process of an older version may go on meanwhile: it reads the schema with each scope's version, before it prepares
    a write, and is refused (`check`); what it prepared before names a version that is past.

    `probe` is the model's vector of one word, by which it is known again where its name is one that settings give; None
    for a program's own embedder, which answers for its name. Returns what is calibrated of the model, "" for nothing.
    Raises StoreMismatch, which says the way out, when the database was made with another model or a newer schema.
    """
    rows = _known(db)
    if not rows or rows[0]["schema"] < VERSION:
        make(db, "schema/lease_name", {})
        with leases.held(db, "schema"):  # of clients that meet one makes it
            rows = _known(db)
            if not rows or rows[0]["schema"] < VERSION:
                rows = _make(db, rows, model, dimensions)
    store = rows[0]
    if (store["model"], store["dimensions"]) != (model, dimensions):
        raise StoreMismatch(
            f"The database at {db.uri} holds vectors of {store['model']} ({store['dimensions']} numbers); "
            f"vectors of {model} ({dimensions}) can't be mixed with them. Connect with that embedder "
            "(MEMGRAPH_ENGINE_EMBEDDER), change the database's (`memgraph-engine embedder change`), or use another "
            "database or another MEMGRAPH_ENGINE_HOME."
        )
    if probe is not None:
        known = store["probe"] or db.commit("store/prove", probe=probe.tolist())[0]["probe"]
        _same(db, model, probe, known)
    fitted = str(store["calibration"] or "")
    if fitted and (named := json.loads(fitted)["embedder"]) != model:
        raise StoreMismatch(
            f"The database at {db.uri} holds vectors of {model}, and a calibration of {named}, by which their "
            "scores would mean nothing. Remove the property calibration of its node :Store, then run `memgraph-engine "
            "calibrate`."
        )
    return fitted


def calibrate(db: Database, fitted: str) -> None:
    """Record what `calibrate` fitted for the embedder, which clients read as they connect."""
    db.write(lambda tx: tx.run("store/calibrate", calibration=fitted))


def _same(db: Database, model: str, probe: "NDArray[np.float32]", known: Sequence[float]) -> None:
    """Check that vectors are of the model that the database was made with: a name is soon given twice."""
    cosine = float(probe @ known / np.linalg.norm(probe) / np.linalg.norm(known))
    if cosine < _ALIKE:
        raise StoreMismatch(
            f"The database at {db.uri} was made with another model of the name {model}, or with this one read "
            f"otherwise: the same word had another vector (cosine {cosine:.2f}). Connect with that one, or use another "
            "database."
        )


def _known(db: Database) -> list[Row]:
    """Return what the database was made with, if anything; raises StoreMismatch for a newer schema."""
    rows = db.run("store/read")
    for row in rows:
        check(db, max(row["schema"], row["upgrading"] or 0))
    return rows


def _make(db: Database, rows: list[Row], model: str, dimensions: int) -> list[Row]:
    """Make what an older schema lacks or has in another form, also after that was cut off; return what there is."""
    older = rows[0]["schema"] if rows else VERSION
    if rows:
        db.write(lambda tx: tx.run("store/upgrade", schema=VERSION))
        db.commit("store/overtake")
    former = [of_set(name, db.vectors) for name, since in _MADE_ANEW.items() if older < since]
    db.write(lambda tx: [tx.run("schema/drop", name=name) for name in former])
    for name, since in _COMPLETED.items():
        if older < since:
            db.commit(name)
    define(db, dimensions, _WAIT)
    return db.commit("store/create", model=model, dimensions=dimensions, schema=VERSION, vectors=db.vectors)


def define(db: Database, dimensions: int, seconds: int) -> None:
    """Make the constraints and indexes that there are not yet, and wait so long until all of them answer."""
    for name, statement in statements().items():
        if name.startswith("schema/") and name not in _OTHERS:
            make(db, name, {"dimensions": dimensions} if statement.parameters else {})
    db.run("schema/await", seconds=seconds)


def undefine(db: Database) -> None:
    """Drop the indexes of the database's set of vectors."""
    indexes = [name for name, one in statements().items() if "CREATE VECTOR INDEX" in one.text]
    names = [of_set(name.removeprefix("schema/"), db.vectors) for name in indexes]
    db.write(lambda tx: [tx.run("schema/drop", name=name) for name in names])


def told(db: Database, name: str, scope: str, kind: type[T]) -> T | None:
    """Return what a statement tells of a scope; None if there is no such scope.

    Raises StoreMismatch where a newer process has upgraded the database meanwhile, or changed its embedder.
    """
    for row in db.run(name, scope=scope):
        current(db, *row["store"])
        return made(kind, row)
    return None


def current(db: Database, found: int, vectors: int, catalogue: str | None) -> None:
    """Raise StoreMismatch where the database has a newer schema, other vectors or a catalogue, than is known."""
    check(db, found)
    db.fits(vectors, catalogue)


def check(db: Database, found: int) -> None:
    """Raise StoreMismatch where the database has a newer schema than this process writes."""
    if found > VERSION:
        raise StoreMismatch(
            f"The database at {db.uri} has schema {found}, newer than schema {VERSION}, which this process writes. "
            "Nothing was written. Run the package version that upgraded it (a process that was running then must be "
            "started again), or use another database."
        )


def make(db: Database, name: str, parameters: Row) -> None:
    """Run a schema statement; of clients that meet in a new database one makes it, whichever."""
    try:
        db.write(lambda tx: tx.run(name, **parameters))
    except QueryFailed as error:  # IF NOT EXISTS looks before it locks
        if error.code != "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists":
            raise
