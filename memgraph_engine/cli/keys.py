"""`memgraph-engine keys`: who may ask a server."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import complete, show
from memgraph_engine.cli.command import Target, on_tenant
from memgraph_engine.cli.group import Commands
from memgraph_engine.errors import NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from memgraph_engine.client import Memory
    from memgraph_engine.model.key import Key

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
    from memgraph_engine.model.key import new_key
    from memgraph_engine.model.memory import NEVER
    from memgraph_engine.model.scope import Scope

    memory = on.connect()
    scope, now = Scope(memory.engine.settings.tenant, user), memory.engine.now()
    until = _end(memory, expires) or NEVER
    made = new_key(name, scope, right or ("read", "write"), now=now, expires_at=until)
    keys.store(memory.engine.db, made)
    yield made
    typer.echo(show.clean(f"Made {_told(made.key)}. This is its secret, which is not shown again:"), err=True)
    typer.echo(made.secret)


def _end(memory: "Memory", given: str | None) -> "datetime | None":
    from memgraph_engine.ingest.messages import parse_time

    return parse_time(given, "--expires", memory.engine.settings.timezone, end=True)


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
