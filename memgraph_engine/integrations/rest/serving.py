"""A process that serves: the socket it listens on, who may reach it, and how it ends."""

import asyncio
import errno
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from threading import Thread
from types import FrameType
from typing import Any

import uvicorn
from prometheus_client import CollectorRegistry, generate_latest
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from memgraph_engine.client import Memory
from memgraph_engine.errors import SettingsError
from memgraph_engine.graph import keys
from memgraph_engine.integrations.access import Access
from memgraph_engine.integrations.rest import app, service
from memgraph_engine.integrations.rest.gate import MEDIA
from memgraph_engine.integrations.rest.waiting import Waiting
from memgraph_engine.settings import ServeSettings

_KEEP_ALIVE = 15  # seconds for which a connection waits for the next request
_HEAD = 32_768  # most bytes of a request's head


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address; raises SettingsError where it can't, as another program does."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        # with its protocol: unless that is TCP, asyncio keeps back the half of an answer for 40 ms
        one = socket.socket(family, kind, protocol)
        try:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind(address)
            one.listen()
        except OSError:
            one.close()
            raise
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            why = "another program listens there; choose another port"
        else:
            why = error.strerror or str(error)
        raise SettingsError(f"The server can't listen on {host}, port {port}: {why}.") from None
    return one


def loopback(one: socket.socket) -> bool:
    """Tell whether a socket can be reached from this machine alone."""
    return ip_address(one.getsockname()[0].partition("%")[0]).is_loopback


def opened(memory: Memory) -> bool:
    """Tell whether there is a key that opens something, of any tenant, or an issuer of such."""
    return bool(memory.engine.settings.serve.oauth.issuer) or keys.some(memory.engine.db)


def admitted(memory: Memory, *, alone: bool) -> Access:
    """Return who may ask a server that this machine `alone` reaches, or others too.

    Raises SettingsError for a server that others reach, and that nothing opens.
    """
    if not alone and not opened(memory):
        raise SettingsError(
            "A server that other machines reach needs a key, and there is none: make one with "
            "`memgraph-engine keys add NAME --user USER` (or --whole-tenant), or listen on 127.0.0.1."
        )
    required = not alone or memory.engine.settings.serve.keys == "always" or keys.some(memory.engine.db, ended=True)
    return Access(memory, required=required)


def serve(
    memory: Memory, access: Access, one: socket.socket, *, ui: bool = False, ending: Callable[[], None] = lambda: None
) -> None:
    """Serve until SIGTERM or SIGINT: then nothing new is taken, and what runs may end.

    A second SIGINT ends it at once. `ending` is called as the end begins.
    """
    _Server(_config(app(memory, access=access, ui=ui), memory.engine.settings.serve), ending).run(sockets=[one])


@contextmanager
def telling(memory: Memory, tenant: str | None, one: socket.socket) -> Iterator[None]:
    """Tell of a worker beside it, in a thread: /health/live, /health/ready, and /metrics of what waits for a tenant.

    Of all tenants if none is named. No key is asked for: nothing but counts is told.
    """
    registry = CollectorRegistry()
    registry.register(Waiting(memory, tenant))

    async def metrics(_request: Request) -> Response:
        return Response(await run_in_threadpool(generate_latest, registry), media_type=MEDIA)

    told = Starlette(routes=[*service.HEALTH, Route("/metrics", metrics)])
    told.state.readiness = service.Readiness(memory)
    server = uvicorn.Server(_config(told, memory.engine.settings.serve))
    thread = Thread(target=server.run, kwargs={"sockets": [one]}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


def _config(told: ASGIApp, settings: ServeSettings) -> uvicorn.Config:
    return uvicorn.Config(
        told,
        http=_protocol(settings),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=settings.connections,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=round(settings.stop) or 1,
        h11_max_incomplete_event_size=_HEAD,
    )


class _Server(uvicorn.Server):
    """A server that ends by itself when it was asked to: the process does what is left to do, and ends well."""

    def __init__(self, config: uvicorn.Config, ending: Callable[[], None]) -> None:
        super().__init__(config)
        self._ending = ending

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._ending()
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        former = {which: signal.signal(which, self.handle_exit) for which in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for which, by in former.items():
                signal.signal(which, by)


def _protocol(settings: ServeSettings) -> type[H11Protocol]:
    """Return the protocol that closes a connection whose next request has not begun in time, with all of its head."""

    class Patient(H11Protocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait(settings.slow)

        def on_response_complete(self) -> None:
            before = self.cycle
            super().on_response_complete()
            if self.cycle is before:
                self._wait(_KEEP_ALIVE + settings.slow)

        def connection_lost(self, exc: Exception | None) -> None:
            if self._timer:
                self._timer.cancel()
            super().connection_lost(exc)

        def _wait(self, seconds: float) -> None:
            if self._timer:
                self._timer.cancel()
            self._timer = self.loop.call_later(seconds, self._ends, self.cycle)

        def _ends(self, seen: object) -> None:
            if self.cycle is seen and not self.transport.is_closing():
                self.transport.close()

    return Patient
