"""What runs until it is stopped: servers, the keys by which they may be asked, and the worker."""

import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from threading import Timer
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, connect, on_tenant
from memgraph_engine.cli.group import Commands
from memgraph_engine.cli.options import Ray, Shared, Tenant, User, user_names, whose
from memgraph_engine.errors import MissingExtra, NotFound

if TYPE_CHECKING:
    from memgraph_engine.client import Memory
    from memgraph_engine.model.health import JobRun
    from memgraph_engine.model.key import Key, Right
    from memgraph_engine.worker.work import Worker

_LEAVING = 5.0  # seconds in which a stopped server leaves its database
LINE = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def serve(
    host: Annotated[str | None, "ADDRESS: Where it listens; else the setting `serve.host`."] = None,
    port: Annotated[
        int | None, "N: 0 is any free one; else the setting `serve.port`.", {"min": 0, "max": 65535}
    ] = None,
    tenant: Tenant = None,
    ui: Annotated[bool, "Serve a page to look at memories, at /ui."] = False,
) -> None:
    """Serve the memory over HTTP: REST, and MCP at /mcp.

    The settings under `serve` say what it takes. Who may ask is a matter of keys (`memgraph-engine keys`): on
    this machine none is asked for as long as there is none, and beyond it nothing is served without one.
    SIGTERM or an interrupt ends it cleanly, with exit code 0, within the setting `serve.stop` and some seconds.
    """
    _stopped_at_once()
    from memgraph_engine.client import Memory
    from memgraph_engine.integrations.rest import serving
    from memgraph_engine.settings import Settings

    logging.basicConfig(format=LINE)  # else the first library that logs chooses how
    settings = Settings.load(**({"tenant": tenant} if tenant else {}))
    chosen = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = settings.model_copy(update={"serve": settings.serve.model_copy(update=chosen)})
    with serving.listen(settings.serve.host, settings.serve.port) as one, Memory.connect(settings=settings) as memory:
        access = serving.admitted(memory, alone=serving.loopback(one))
        at, number = one.getsockname()[:2]
        where = f"[{at}]" if ":" in at else at
        issued = f" or a token of {settings.serve.oauth.issuer}" if access.tokens else ""
        who = f"with a key{issued}" if access.required else f"without a key, for tenant {settings.tenant!r}"
        if access.required and not serving.opened(memory):
            who += " (no key opens anything now: `memgraph-engine keys add` makes one)"
        page = f"; the page is http://{where}:{number}/ui" if ui else ""
        typer.echo(f"Serving {who} at http://{where}:{number} (Ctrl+C to stop){page}", err=True)
        serving.serve(memory, access, one, ui=ui, ending=lambda: _end_within(settings.serve.stop + _LEAVING))


def mcp(
    user: User = None,
    shared: Shared = False,
    tenant: Tenant = None,
    read_only: Annotated[bool, "Offer no tool that writes or erases."] = False,
) -> None:
    """Serve one memory to an MCP client.

    It talks over standard input and output, until the client ends it. The client's configuration names the user; a
    model never does. Needs the extra `mcp`.
    """
    owner = whose(user, shared)
    try:
        from memgraph_engine.integrations import mcp as surface
    except ModuleNotFoundError as error:
        raise MissingExtra("The MCP server", "mcp") from error
    rights: tuple[Right, ...] = ("read",) if read_only else ("read", "write", "forget")
    surface.serve_stdio(lambda: connect(tenant), owner, rights)


keys_app = Commands("keys", "Keys: who may ask a server, and what for.")


@keys_app.command()
@on_tenant
def add(
    on: Target,
    name: Annotated[str, "NAME: What you will know the key by."],
    user: Annotated[
        str | None, "--user -u NAME: The user whose memory it opens.", {"autocompletion": user_names}
    ] = None,
    whole_tenant: Annotated[bool, "It opens all memories of the tenant."] = False,
    right: Annotated[
        list[str] | None, "RIGHT: read, write or forget; can be repeated. Without it: read and write."
    ] = None,
    expires: Annotated[str | None, "TIME: When it ends, ISO 8601; a day means its end."] = None,
) -> Iterator[object]:
    """Make a key, and print its secret this once.

    Only a hash of the secret is stored.
    """
    if (user is None) != whole_tenant:
        raise typer.BadParameter("say whose memory it opens: --user, or else --whole-tenant.", param_hint="--user")
    from memgraph_engine.graph import keys
    from memgraph_engine.ingest.messages import parse_time
    from memgraph_engine.model.key import new_key
    from memgraph_engine.model.memory import NEVER
    from memgraph_engine.model.scope import Scope

    memory = on.connect()
    scope, now = Scope(memory.engine.settings.tenant, user), memory.engine.now()
    until = parse_time(expires, "--expires", memory.engine.settings.timezone, end=True) or NEVER
    made = new_key(name, scope, right or ("read", "write"), now=now, expires_at=until)
    keys.store(memory.engine.db, made)
    yield made
    typer.echo(show.clean(f"Made {_told(made.key)}. This is its secret, which is not shown again:"), err=True)
    typer.echo(made.secret)


@keys_app.command("list")
@on_tenant
def list_(on: Target) -> Iterator[object]:
    """List the keys of a tenant, without their secrets."""
    from memgraph_engine.graph import keys

    memory = on.connect()
    found, now = keys.every(memory.engine.db, memory.engine.settings.tenant), memory.engine.now()
    yield found
    for key in found:
        typer.echo(show.clean(f"{_told(key)}{_ended(key, now)}"))
    if not found:
        typer.echo("The tenant has no keys.", err=True)


@keys_app.command()
@on_tenant
def revoke(on: Target, id: Annotated[str, "ID: The id of a key, as `list` shows it."]) -> Iterator[object]:
    """End a key; servers refuse it within five seconds."""
    from memgraph_engine.graph import keys

    memory = on.connect()
    of = memory.engine.settings.tenant
    key = keys.revoke(memory.engine.db, of, id, memory.engine.now())
    if key is None:
        raise NotFound(f"Tenant {of!r} has no key {id!r}.")
    yield key
    typer.echo(show.clean(f"Revoked {_told(key)}."))


def _told(key: "Key") -> str:
    until = "" if key.expires_at.year == 9999 else f", until {show.moment(key.expires_at)}"
    return f"{key.id}  {key.name}: {', '.join(key.rights)} for {key.whose}{until}"


def _ended(key: "Key", now: "datetime") -> str:
    if key.revoked_at.year < 9999:
        return f", revoked {show.moment(key.revoked_at)}"
    return "" if key.opens(now) else ", has ended"


def worker(
    once: Annotated[bool, "Do what is due, then end."] = False,
    tenant: Tenant = None,
    every_tenant: Annotated[bool, "--all-tenants: Work for every tenant of the database."] = False,
    metrics: Annotated[
        int | None,
        "PORT: Tell of it over HTTP where the setting `serve.host` says: /health/live, /health/ready, /metrics.",
        {"min": 0, "max": 65535},
    ] = None,
    ray: Ray = None,
    as_json: Annotated[bool, "--json: Print one JSON document a line, for machines."] = False,
) -> None:
    """Construct pending notes and find topics when it is due.

    The settings under `worker` say when.
    Any number of workers, on any number of machines, share the work. SIGTERM or an interrupt ends a worker cleanly,
    with exit code 0: a job has the setting `worker.stop` to end in. A second one ends it at once. When a worker is
    killed, the memory stays as it was, and another worker takes over within 10 seconds. It runs at a low priority
    (nice 10), so that what answers users goes first.

    With --once, it has the priority of whoever calls it, says at its end for what topics wait, and the exit code is 1
    if a job failed.
    """
    if every_tenant and tenant is not None:
        raise typer.BadParameter("it stands for every tenant: leave --tenant out.", param_hint="--all-tenants")
    _stopped_at_once()
    with connect(tenant) as memory, ExitStack() as stack:
        from memgraph_engine.worker.work import Worker, give_way

        engine = memory.engine

        def tell(run: "JobRun") -> None:
            show.line(run) if as_json else typer.echo(f"{_time(run.at)}  {show.clean(_said(run))}")

        if ray is None:
            one = Worker(engine, every_tenant=every_tenant, tell=tell)
        else:
            from memgraph_engine.fleet import Workers

            one = stack.enter_context(Workers.of(engine, ray, every_tenant=every_tenant, tell=tell))
        whose = "every tenant" if every_tenant else f"tenant {engine.settings.tenant}"
        table = "; ".join(f"{name} {when}" for name, when in one.plans.items())
        _event(engine.now(), "started", f"for {whose}; {table}", as_json=as_json)
        fine = True
        watched = _watched(memory, None if every_tenant else engine.settings.tenant, metrics)
        with watched, _stopped_by_signals(one, engine.settings.worker.stop):
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
def _stopped_by_signals(one: "Worker", seconds: float) -> Iterator[None]:
    """Let the first SIGTERM or SIGINT stop the worker cleanly, in so many seconds, and another one interrupt it."""

    def asked(_signal: int, _frame: object) -> None:
        if one.stopping:
            raise KeyboardInterrupt
        one.stop()
        _end_within(seconds)

    former = {which: signal.signal(which, asked) for which in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for which, by in former.items():
            signal.signal(which, by)


@contextmanager
def _watched(memory: "Memory", tenant: str | None, port: int | None) -> Iterator[None]:
    """Tell of a worker over HTTP, where there is a port for that."""
    if port is None:
        yield
        return
    from memgraph_engine.integrations.rest import serving

    with serving.listen(memory.engine.settings.serve.host, port) as one, serving.telling(memory, tenant, one):
        typer.echo(f"Metrics at http://{':'.join(map(str, one.getsockname()[:2]))}/metrics", err=True)
        yield


def _stopped_at_once() -> None:
    """End well at a SIGTERM, until there is anything to be ended: the first process of a container would ignore it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))


def _end_within(seconds: float) -> None:
    """End the process after so many seconds, whatever still runs: each of its writes is whole, or not there."""

    def end() -> None:
        logging.getLogger("memgraph_engine").warning("What still ran after %g seconds was cut off.", seconds)
        os._exit(0)

    timer = Timer(seconds, end)
    timer.daemon = True
    timer.start()


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
