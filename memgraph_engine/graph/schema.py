"""The schema of the graph: made once, versioned, and bound to one embedding model."""

from functools import partial

from memgraph_engine.errors import QueryFailed, StoreMismatch
from memgraph_engine.graph.database import Database, Row, Runner
from memgraph_engine.graph.statements import statements

VERSION = 6
# Quantised to one bit, the server's default, an index fails on a search that finds nothing once something was deleted
# (2026.08), and to bytes it is slower and its scores are not exact. Databases of schemas before 6 have such indexes.
_VECTORS = ("note_raw", "note_context", "keyword_embedding", "topic_embedding")
_NOT_QUANTISED = 6
_WAIT = 300  # seconds for the indexes of a new database


def prepare(db: Database, model: str, dimensions: int) -> None:
    """Make the schema in a new database, complete that of an older version, and check that it fits.

    Raises StoreMismatch, which says the way out, when it was made with another model or a newer schema.
    """
    rows = db.run("store/read")
    if not rows or rows[0]["schema"] < VERSION:
        for name in _VECTORS if rows and rows[0]["schema"] < _NOT_QUANTISED else ():
            db.write(partial(_drop, name=name))
        for name, statement in statements().items():
            if name.startswith("schema/") and name not in ("schema/await", "schema/drop"):
                _define(db, name, {"dimensions": dimensions} if statement.parameters else {})
        db.run("schema/await", seconds=_WAIT)
        rows = db.write(lambda tx: tx.run("store/create", model=model, dimensions=dimensions, schema=VERSION))
    store = rows[0]
    if store["schema"] > VERSION:
        raise StoreMismatch(
            f"The database at {db.uri} has schema {store['schema']}, this package writes schema {VERSION}. "
            "Use the package version that made it, or another database."
        )
    if (store["model"], store["dimensions"]) != (model, dimensions):
        raise StoreMismatch(
            f"The database at {db.uri} holds vectors of {store['model']} ({store['dimensions']} numbers); "
            f"vectors of {model} ({dimensions}) can't be mixed with them. Connect with that embedder "
            "(MEMGRAPH_ENGINE_EMBEDDER), or use another database or another MEMGRAPH_ENGINE_HOME."
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
