"""How much waits for workers, as who runs them watches it: by groups of tenants, and by jobs."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from memgraph_engine.engine.wiring import Engine, of_tenant
from memgraph_engine.errors import StoreError
from memgraph_engine.graph.servers import servers_of
from memgraph_engine.graph.waiting import Waiting
from memgraph_engine.worker.work import JOBS, backlog


@dataclass(slots=True)
class Queue:
    """In how many memories of a group of tenants a job is due, and since when in the first; None where none is known.

    `notes` counts those that wait to be constructed, in all of these memories.
    """

    group: str
    job: str
    memories: int = 0
    notes: int = 0
    since: datetime | None = None


def queues(engine: Engine, tenant: str | None) -> list[Queue]:
    """Return what workers would do now for a tenant, or for all if none is named: each job of each group, if 0 too.

    A tenant's group is the first of the setting `worker.tenant_groups` with which its name begins, else ''.
    """
    groups, now = (*engine.settings.worker.tenant_groups, ""), engine.now()
    found = {(group, job.name): Queue(group, job.name) for group in groups for job in JOBS}
    for one in _backlogs(engine, tenant):
        group = next(filter(one.scope.tenant.startswith, groups))
        for job in JOBS:
            if job.due(engine, one, now):
                queue = found[group, job.name]
                queue.memories += 1
                queue.notes += one.notes if job.sign == "pending" else 0
                if isinstance(since := getattr(one, job.sign, None), datetime):
                    queue.since = min(since, queue.since or since)
    return list(found.values())


def _backlogs(engine: Engine, tenant: str | None) -> Iterator[Waiting]:
    """Yield what waits for workers; of every tenant also on other servers, but for those that are down."""
    servers = servers_of(engine.db)
    if tenant is not None or not servers:
        yield from backlog(engine, tenant)
        return
    for row in servers.catalogue.run("servers/tenants", tenant=None):
        with suppress(StoreError):
            yield from backlog(of_tenant(engine, row["name"]), row["name"])
