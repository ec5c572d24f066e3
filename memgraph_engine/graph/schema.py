"""The schema of the graph: made once, versioned, and bound to one embedding model."""

from functools import partial

from memgraph_engine.errors import QueryFailed, StoreMismatch
from memgraph_engine.graph import leases
from memgraph_engine.graph.database import Database, Row, Runner
from memgraph_engine.graph.statements import statements

# Since 12 notes end: older processes would write notes without a life, and read the ended. Since 21 models describe
# blocks: older ones would leave their words where a note has changed. Since 22 there are claims: older ones would not
# take them away with their notes. Since 23 they are marked for what users share: older ones would leave new ones
# unmarked. Since 24 there are keys: older ones would leave those of a user of whom they erase everything. Since 25
# there are items: older ones would merge messages into them, and evict them. Since 26 notes say whether several sources
# tell them: filters would find those of older ones by the first alone.
VERSION = 26
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
_OTHERS = ("schema/await", "schema/drop", *_COMPLETED)  # make no index or constraint
_WAIT = 300  # seconds for the indexes of a new database


def prepare(db: Database, model: str, dimensions: int) -> None:
    """Make the schema in a new database, complete that of an older version, and check that it fits.

    A process of an older version may go on meanwhile: it reads the schema with each scope's version, before it prepares
    a write, and is refused (`check`); what it prepared before names a version that is past.

    Raises StoreMismatch, which says the way out, when it was made with another model or a newer schema.
    """
    rows = _known(db)
    if not rows or rows[0]["schema"] < VERSION:
        _define(db, "schema/lease_name", {})
        with leases.held(db, "schema"):  # of clients that meet one makes it
            rows = _known(db)
            if not rows or rows[0]["schema"] < VERSION:
                rows = _make(db, rows, model, dimensions)
    store = rows[0]
    if (store["model"], store["dimensions"]) != (model, dimensions):
        raise StoreMismatch(
            f"The database at {db.uri} holds vectors of {store['model']} ({store['dimensions']} numbers); "
            f"vectors of {model} ({dimensions}) can't be mixed with them. Connect with that embedder "
            "(MEMGRAPH_ENGINE_EMBEDDER), or use another database or another MEMGRAPH_ENGINE_HOME."
        )


def _known(db: Database) -> list[Row]:
    """Return what the database was made with, if anything; raises StoreMismatch for a newer schema."""
    rows = db.run("store/read")
    for row in rows:
        check(db, max(row["schema"], row["upgrading"] or 0))
    return rows


def _make(db: Database, rows: list[Row], model: str, dimensions: int) -> list[Row]:
    """Make what an older schema lacks, or has in another form; can be done again after it was cut off."""
    older = rows[0]["schema"] if rows else VERSION
    if rows:
        db.write(lambda tx: tx.run("store/upgrade", schema=VERSION))
        db.commit("store/overtake")
    for name, since in _MADE_ANEW.items():
        if older < since:
            db.write(partial(_drop, name=name))
    for name, since in _COMPLETED.items():
        if older < since:
            db.commit(name)
    define(db, dimensions, _WAIT)
    return db.write(lambda tx: tx.run("store/create", model=model, dimensions=dimensions, schema=VERSION))


def define(db: Database, dimensions: int, seconds: int) -> None:
    """Make the constraints and indexes that there are not yet, and wait so long until all of them answer."""
    for name, statement in statements().items():
        if name.startswith("schema/") and name not in _OTHERS:
            _define(db, name, {"dimensions": dimensions} if statement.parameters else {})
    db.run("schema/await", seconds=seconds)


def check(db: Database, found: int) -> None:
    """Raise StoreMismatch where the database has a newer schema than this process writes."""
    if found > VERSION:
        raise StoreMismatch(
            f"The database at {db.uri} has schema {found}, newer than schema {VERSION}, which this process writes. "
            "Nothing was written. Run the package version that upgraded it (a process that was running then must be "
            "started again), or use another database."
        )


def _drop(tx: Runner, name: str) -> None:
    tx.run("schema/drop", name=name)


def _define(db: Database, name: str, parameters: Row) -> None:
    """Run a schema statement; of clients that meet in a new database one makes it, whichever."""
    try:
        db.write(lambda tx: tx.run(name, **parameters))
    except QueryFailed as error:  # IF NOT EXISTS looks before it locks
        if error.code != "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists":
            raise
