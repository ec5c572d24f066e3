"""A server over HTTP: `Memory` as REST, with keys, limits, an OpenAPI document and counts (docs/rest.md)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from memgraph_engine.errors import MemgraphEngineError, needed

with needed("a server over HTTP", "serve"):
    import prometheus_client  # noqa: F401
    import uvicorn  # noqa: F401
    from fastapi import FastAPI
    from fastapi.exceptions import RequestValidationError
    from fastapi.telemetry import TelemetryConfig
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.exceptions import HTTPException

from memgraph_engine.client import Memory
from memgraph_engine.integrations import mcp, page
from memgraph_engine.integrations.access import Access
from memgraph_engine.integrations.rest import document, problems, routes, service
from memgraph_engine.integrations.rest.asked import parameters
from memgraph_engine.integrations.rest.gate import Gate, Metrics
from memgraph_engine.integrations.rest.waiting import Waiting
from memgraph_engine.integrations.rest.work import Work
from memgraph_engine.resources import VERSION

_ANY_HOST = TransportSecuritySettings(enable_dns_rebinding_protection=False)
_QUIET: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "auto_configure": False,
}  # nothing is sent anywhere


def app(memory: Memory, *, access: Access | None = None, ui: bool = False) -> FastAPI:
    """Return the ASGI app that serves a memory, and those of all tenants that keys are made for.

    The settings under `serve` say what it takes. `memory` stays the caller's to close, after the app has ended. Without
    an `access`, a key is asked for once the database has one, as on a machine of one's own. MCP is served beside REST,
    at /mcp, and with `ui` the page at /ui.
    """
    settings = memory.engine.settings.serve
    given = access or Access(memory, required=settings.keys == "always")
    work = Work(settings.concurrency, settings.patience, settings.timeout)
    tools = mcp.server(mcp.over_http, plans=given.plans)
    # the gate has looked at the host already, and each call is one request
    spoken = tools.streamable_http_app(stateless_http=True, json_response=True, transport_security=_ANY_HOST)

    @asynccontextmanager
    async def life(_app: FastAPI) -> AsyncIterator[None]:
        async with tools.session_manager.run():
            yield
        await work.close()
        given.close()

    made = FastAPI(
        title="memgraph-engine",
        version=VERSION,
        lifespan=life,
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_QUIET,
    )
    metrics = Metrics(Waiting(memory, None))
    made.state.access, made.state.work, made.state.metrics = given, work, metrics
    made.state.readiness = service.Readiness(memory)
    for part in (routes, service):
        made.include_router(part.router)
    made.router.routes.extend((*spoken.routes, *(given.tokens.routes() if given.tokens else ())))
    if ui:
        page.install(made)
    for kind in (MemgraphEngineError, problems.Refused, RequestValidationError, HTTPException, Exception):
        made.add_exception_handler(kind, problems.told)
    made.openapi = lambda: document.openapi(made)  # type: ignore[method-assign]  # as FastAPI says to do it
    made.state.parameters = parameters(made.openapi)
    made.add_middleware(Gate, access=given, settings=settings, metrics=metrics)
    return made
