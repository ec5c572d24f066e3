"""`memgraph-engine serve`."""

import logging
from typing import Annotated

import typer

from memgraph_engine.cli.options import Tenant

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
