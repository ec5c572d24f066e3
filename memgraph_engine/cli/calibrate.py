"""`memgraph-engine calibrate`."""

import json

import typer

from memgraph_engine.cli.connect import connect
from memgraph_engine.cli.options import Json


def calibrate(as_json: Json = False) -> None:
    """Fit relevance for an embedder that was never fitted.

    How relevant notes are, and which are tied, is told on the embedder's own scale then. The database keeps it, and
    clients read it as they connect.
    """
    from memgraph_engine.evaluation.calibrate import calibrate as calibrated
    from memgraph_engine.graph import schema
    from memgraph_engine.recall.relevance import weights

    with connect(None) as memory:
        embedder = memory.engine.embedder
        found: dict[str, object] = {"embedder": embedder.name, "calibrated": not weights(embedder.name)}
        told = f"{embedder.name} is calibrated with the package; nothing was done."
        if found["calibrated"]:
            one = calibrated(embedder)
            schema.calibrate(memory.engine.db, one.stored())
            found |= {**json.loads(one.stored()), "languages": [*one.languages]}
            told = f"{embedder.name} is calibrated, by the languages that it knows: {', '.join(one.languages)}."
    typer.echo(json.dumps(found) if as_json else told)
