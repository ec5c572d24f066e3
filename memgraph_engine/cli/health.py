"""`memgraph-engine health`."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, on_tenant

if TYPE_CHECKING:
    from memgraph_engine.model.health import Health


@on_tenant
def health(
    on: Target,
    overdue: Annotated[float, "MINUTES: Work that waits longer than this is a fault.", {"min": 0}] = 60.0,
) -> Iterator[object]:
    """Tell whether the database answers, and what waits.

    It tells the schema and the clock, and what waits for a worker.
    It starts no server and loads no embedder. The exit code is 1 if anything is wrong.
    """
    found = _look(on.tenant, timedelta(minutes=overdue))
    on.failed = not found.ok
    yield found
    waits = {f"waits to {one.job}": _since(one.since, one.memories) for one in found.undone}
    facts = {"server": found.server, "schema": f"{found.schema} of {found.expected}", "clock": f"{found.clock:+} s"}
    topics = {"topics": _topics(found.fresh)} if found.fresh else {}
    show.facts(show.console(), {**facts, **waits, **topics, "state": "well" if found.ok else "not well"})
    for fault in found.faults:
        typer.echo(show.clean(fault), err=True)


def _since(since: datetime | None, memories: int) -> str:
    return f"{memories:,} memories" + (f", since {show.moment(since)}" if since else "")


def _topics(fresh: int) -> str:
    from memgraph_engine.settings import Settings

    after = Settings.load().worker.topics_after
    due = f"; a worker finds topics anew from {after:,} on" if after else ""
    return f"{show.count(fresh, 'new note')} with keywords, in the memory that has most{due}"


def _look(tenant: str | None, overdue: timedelta) -> "Health":
    from memgraph_engine.engine.wiring import open_database
    from memgraph_engine.errors import LocalServerError, StoreError
    from memgraph_engine.graph.health import look
    from memgraph_engine.model.health import Health
    from memgraph_engine.settings import Settings

    settings = Settings.load(**({"tenant": tenant} if tenant else {}))
    if not settings.uri:
        from memgraph_engine.graph.server.local import LocalServer

        if not LocalServer(settings).address():
            return Health("", ("The managed server does not run: memgraph-engine db start starts it.",))
    try:
        with open_database(settings) as db:
            return look(db, settings.tenant, settings.lifecycle.cap, overdue)
    except (StoreError, LocalServerError) as error:
        return Health(settings.uri, (str(error),))
