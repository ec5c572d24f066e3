"""Servers, and the keys by which they may be asked."""

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import complete, show
from memgraph_engine.cli.command import Target, connect, on_tenant
from memgraph_engine.cli.group import Commands
from memgraph_engine.cli.options import Shared, Tenant, User, whose
from memgraph_engine.errors import MissingExtra, NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from memgraph_engine.model.key import Key, Right

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
    SIGTERM or an interrupt ends it cleanly, with exit code 0.
    """
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
        who = "with a key" if access.required else f"without a key, for tenant {settings.tenant!r}"
        if access.required and not serving.opened(memory):
            who += " (no key opens anything now: `memgraph-engine keys add` makes one)"
        page = f"; the page is http://{where}:{number}/ui" if ui else ""
        typer.echo(f"Serving {who} at http://{where}:{number} (Ctrl+C to stop){page}", err=True)
        serving.serve(memory, access, one, ui=ui)


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
        str | None, "--user -u NAME: The user whose memory it opens.", {"autocompletion": complete.users}
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
