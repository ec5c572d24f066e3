"""`memgraph-engine process`."""

from memgraph_engine.cli import progress
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose
from memgraph_engine.cli.tally import tell


def process(user: User = None, shared: Shared = False, tenant: Tenant = None, as_json: Json = False) -> None:
    """Construct the notes that were added with --no-wait.

    Can be stopped and run again, or run several times at once: each note is constructed once.
    """
    from memgraph_engine.errors import MemgraphEngineError
    from memgraph_engine.model.ingested import Ingested

    owner = whose(user, shared)
    done = Ingested()
    with known(tenant, owner) as memory:
        most = memory.engine.settings.ingest_batch
        with progress.bar("Constructing", lambda: memory.stats(**owner).notes.get("pending", 0)) as bar:
            try:
                while (receipt := memory.process(**owner, limit=most)).entries:
                    done += Ingested.of(receipt)
                    bar.advance(len(receipt.entries))
            except (KeyboardInterrupt, MemgraphEngineError):
                bar.tell(f"Stopped: {done}. Run the same command again to go on.")
                raise
    tell(done, as_json=as_json)
