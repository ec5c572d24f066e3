"""`memgraph-engine process`."""

from memgraph_engine.cli import progress
from memgraph_engine.cli.connect import known
from memgraph_engine.cli.options import Json, Shared, Tenant, User, whose
from memgraph_engine.cli.tally import Tally


def process(user: User = None, shared: Shared = False, tenant: Tenant = None, as_json: Json = False) -> None:
    """Construct the notes that were added with --no-wait.

    Can be stopped and run again, or run several times at once: each note is constructed once.
    """
    from memgraph_engine.errors import MemgraphEngineError

    owner = whose(user, shared)
    tally = Tally()
    with known(tenant, owner) as memory:
        most = memory.engine.settings.ingest_batch
        with progress.bar("Constructing", lambda: memory.stats(**owner).notes.get("pending", 0)) as bar:
            try:
                while (receipt := memory.process(**owner, limit=most)).entries:
                    tally.count(receipt)
                    bar.advance(len(receipt.entries))
            except (KeyboardInterrupt, MemgraphEngineError):
                bar.tell(f"Stopped: {tally}. Run the same command again to go on.")
                raise
    tally.tell(as_json=as_json)
