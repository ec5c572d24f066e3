"""Routes for whoever runs the server: whether it lives, whether it can serve, what it counts."""

import asyncio
import logging
import time

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from memgraph_engine.client import Memory
from memgraph_engine.errors import MemgraphEngineError, NotAllowed
from memgraph_engine.forks import begun
from memgraph_engine.integrations.rest.asked import OfTenant
from memgraph_engine.integrations.rest.gate import MEDIA, Metrics

router = APIRouter(tags=["of the server"])

_PATIENCE = 5.0  # seconds that a look at the database may take
_KEPT = 1.0  # seconds for which what was seen is told again
_EVER = 999_999_999.0  # work that waits is a worker's matter: the server can serve
_STATE = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
_log = logging.getLogger("memgraph_engine")


class Readiness:
    """Whether a server can serve: its database answers, has its schema, and the same time. One look at a time."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        begun(self, Readiness._begin)

    def _begin(self) -> None:
        self._ok, self._until = False, float("-inf")
        self._look: asyncio.Task[bool] | None = None

    async def ok(self) -> bool:
        """Return whether it can, as of a second ago at most; False where the database does not answer in time."""
        if time.monotonic() >= self._until:
            if self._look is None or self._look.done():
                self._look = asyncio.create_task(asyncio.to_thread(self._looked))
            done, _ = await asyncio.wait({self._look}, timeout=_PATIENCE)
            self._ok = bool(done) and self._look.result()
            self._until = time.monotonic() + _KEPT
        return self._ok

    def _looked(self) -> bool:
        try:
            found = self._memory.health(overdue=_EVER)
        except MemgraphEngineError as error:
            _log.error("Not ready: %s", error)
            return False
        for fault in found.faults:
            _log.error("Not ready: %s", fault)
        return found.ok


def _told(*, ok: bool) -> Response:
    return JSONResponse({"ok": ok}, 200 if ok else 503)


_LIVES = {"description": "It does.", "content": {"application/json": {"schema": _STATE}}}
_LIVES_NOT = {"description": "Not now.", "content": {"application/json": {"schema": _STATE}}}
_COUNTS = {"description": "All counts.", "content": {"text/plain": {"schema": {"type": "string"}}}}


@router.get("/health/live", operation_id="live", responses={200: _LIVES})
async def live(_request: Request) -> Response:
    """Tell that the process serves requests; no key is asked for."""
    return _told(ok=True)


@router.get("/health/ready", operation_id="ready", responses={200: _LIVES, 503: _LIVES_NOT})
async def ready(request: Request) -> Response:
    """Tell whether the database answers, has the right schema and the same time; no key is asked for."""
    readiness: Readiness = request.app.state.readiness
    return _told(ok=await readiness.ok())


HEALTH = (Route("/health/live", live), Route("/health/ready", ready))
"""The same for what is no server of memories."""


@router.get("/metrics", operation_id="metrics", responses={200: _COUNTS})
async def metrics(request: Request, asked: OfTenant) -> Response:
    """Tell what is counted, and what waits in all tenants, for Prometheus, to a key of the server's own tenant."""
    if asked.caller.memory is not asked.access.own:
        raise NotAllowed("What the server counts is told to a key of the server's own tenant.")
    counts: Metrics = request.app.state.metrics
    return Response(await run_in_threadpool(counts.page), media_type=MEDIA)
