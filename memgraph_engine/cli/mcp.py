"""`memgraph-engine mcp`."""

from typing import TYPE_CHECKING, Annotated

from memgraph_engine.cli.connect import connect
from memgraph_engine.cli.options import Shared, Tenant, User, whose
from memgraph_engine.errors import MissingExtra

if TYPE_CHECKING:
    from memgraph_engine.model.key import Right


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
