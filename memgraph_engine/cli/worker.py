"""`memgraph-engine worker`."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import connect
from memgraph_engine.cli.options import Tenant

if TYPE_CHECKING:
    from memgraph_engine.model.job import JobRun
    from memgraph_engine.worker.work import Worker


def worker(
    once: Annotated[bool, "Do what is due, then end."] = False,
    tenant: Tenant = None,
    every_tenant: Annotated[bool, "--all-tenants: Work for every tenant of the database."] = False,
    as_json: Annotated[bool, "--json: Print one JSON document a line, for machines."] = False,
) -> None:
    """Construct pending notes and find topics when it is due.

    The settings under `worker` say when.
    Any number of workers, on any number of machines, share the work. SIGTERM or an interrupt ends a worker cleanly,
    with exit code 0; a second one ends it at once. When a worker is killed, the memory stays as it was, and another
    worker takes over within 10 seconds. It runs at a low priority (nice 10), so that what answers users goes first.

    With --once, it has the priority of whoever calls it, says at its end for what topics wait, and the exit code is 1
    if a job failed.
    """
    if every_tenant and tenant is not None:
        raise typer.BadParameter("it stands for every tenant: leave --tenant out.", param_hint="--all-tenants")
    with connect(tenant) as memory:
        from memgraph_engine.worker.work import Worker, give_way

        engine = memory.engine

        def tell(run: "JobRun") -> None:
            show.line(run) if as_json else typer.echo(f"{_time(run.at)}  {show.clean(_said(run))}")

        one = Worker(engine, every_tenant=every_tenant, tell=tell)
        whose = "every tenant" if every_tenant else f"tenant {engine.settings.tenant}"
        table = "; ".join(f"{name} {when}" for name, when in one.plans.items())
        _event(engine.now(), "started", f"for {whose}; {table}", as_json=as_json)
        fine = True
        with _stopped_by_signals(one):
            if once:
                fine = one.once()
                if waits := one.waits():
                    _event(engine.now(), "waits", waits, as_json=as_json)
            else:
                give_way()
                one.run()
        _event(engine.now(), "stopped", "", as_json=as_json)
    if not fine:
        raise typer.Exit(1)


@contextmanager
def _stopped_by_signals(one: "Worker") -> Iterator[None]:
    """Let the first SIGTERM or SIGINT stop the worker cleanly, and another one interrupt it."""

    def asked(_signal: int, _frame: object) -> None:
        if one.stopping:
            raise KeyboardInterrupt
        one.stop()

    former = {which: signal.signal(which, asked) for which in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for which, by in former.items():
            signal.signal(which, by)


def _event(at: datetime, name: str, text: str, *, as_json: bool) -> None:
    if as_json:
        show.line({"kind": name, "at": at, "text": text})
    else:
        typer.echo(f"{_time(at)}  worker {name} {show.clean(text)}".rstrip())


def _said(run: "JobRun") -> str:
    """Return what a run of a job did, in a line."""
    counts = ", ".join(f"{number:,} {name}" for name, number in run.counts.items())
    what = " ".join(part for part in (run.scope, run.kind, run.outcome) if part)
    why = f" ({run.why}; {run.seconds:.1f} s)" if run.why else ""
    cost = f"; {run.cost.calls:,} calls of chat models, {show.money(run.cost)}" if run.cost.calls else ""
    told = "".join(f"; {one}" for one in ([run.error] if run.error else []) + list(run.fallbacks))
    return f"{what}{why}{f': {counts}' if counts else ''}{cost}{told}"


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"
