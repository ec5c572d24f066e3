"""Several servers, and which tenant lives on which."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import printed
from memgraph_engine.cli.group import Commands
from memgraph_engine.errors import SettingsError

if TYPE_CHECKING:
    from memgraph_engine.graph.database import Row
    from memgraph_engine.graph.servers import Servers

servers_app = Commands("servers", "The servers among which tenants are distributed.")
tenants_app = Commands("tenants", "Tenants, and the servers that they live on.", ("list",))

Tenant = Annotated[str, "TENANT: The tenant's name."]
Server = Annotated[str, "SERVER: The server's name in the catalogue."]


@contextmanager
def _servers() -> "Iterator[Servers]":
    from memgraph_engine.engine.wiring import open_servers
    from memgraph_engine.settings import Settings

    with closing(open_servers(Settings.load())) as found:
        if not found.several:
            raise SettingsError(
                f"The server at {found.catalogue.uri} is of no catalogue: make one by `memgraph-engine servers add`."
            )
        yield found


@servers_app.command()
@printed
def add(name: Server, uri: Annotated[str, "URI: Where it answers, such as bolt://10.0.0.2:7687."]) -> Iterator[object]:
    """Add a server, with the tenants that lie there.

    The first one makes the catalogue, where the setting `catalogue` says, else on the server that the settings name.
    All take the user, the password and the database's name of the settings. An empty one gets the schema.
    """
    from memgraph_engine.engine.wiring import add_server
    from memgraph_engine.settings import Settings

    add_server(Settings.load(), name, uri)
    yield from _told({"name": name, "uri": uri})


@servers_app.command("list")
@printed
def list_() -> Iterator[object]:
    """List the servers of the catalogue."""
    with _servers() as servers:
        yield from _told(servers.known())


@servers_app.command()
@printed
def drain(name: Server) -> Iterator[object]:
    """Move all tenants of a server to those with the fewest.

    None is placed there any more. What was cut off is taken up by calling it again.
    """
    from memgraph_engine.worker.moving import move as moved

    with _servers() as servers:
        ends = servers.drain(name)
        yield from _told([moved(servers, tenant, to or servers.emptiest()) for tenant, to in ends])


@tenants_app.command()
@printed
def place(tenant: Tenant, server: Server) -> Iterator[object]:
    """Let a new tenant live on a server.

    Else its first connection places it on the one with the fewest.
    """
    with _servers() as servers:
        servers.place(tenant, server)
    yield from _told({"tenant": tenant, "server": server})


@tenants_app.command()
@printed
def move(tenant: Tenant, server: Server) -> Iterator[object]:
    """Move a tenant to another server while it is in use.

    Reads go on; for the last seconds writes wait. A move that was cut off is taken up by calling it again, and taken
    back by a move to where the tenant is.
    """
    from memgraph_engine.worker.moving import move as moved

    with _servers() as servers, show.bar("Copying", lambda: None) as bar:
        found = moved(servers, tenant, server, bar.reach)
    yield from _told(found)


def _told(found: "Row | list[Row]") -> Iterator[object]:
    yield found
    for row in found if isinstance(found, list) else [found]:
        typer.echo(show.clean(", ".join(f"{name} {value}" for name, value in row.items() if value is not None)))
