"""What stands before every route: who asks, whether the request is one that can be read, and what is counted of it."""

import asyncio
import json
import re
import time
from collections.abc import Mapping
from urllib.parse import unquote_to_bytes, urlsplit

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.registry import Collector
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memgraph_engine.errors import KeyRefused, MemgraphEngineError
from memgraph_engine.integrations.access import Access
from memgraph_engine.integrations.rest.problems import Refused, of_engine, problem
from memgraph_engine.integrations.tokens import WELL_KNOWN
from memgraph_engine.interface.arguments import deeper
from memgraph_engine.settings import ServeSettings

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_ELSEWHERE = "none"  # where a request was refused before its route was known, or has none
_METHODS = frozenset({"GET", "POST", "PUT", "DELETE"})


class Metrics:
    """The counts of one server, and what waits for workers."""

    def __init__(self, waiting: Collector) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(waiting)
        self._requests = Counter(
            "memgraph_engine_requests",
            "Requests that were answered.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "memgraph_engine_request_seconds",
            "How long they took, all of a stream included.",
            ("method", "route"),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._running = Gauge(
            "memgraph_engine_requests_in_flight", "Requests that are being answered.", registry=self._registry
        )

    def page(self) -> bytes:
        """Return all counts in the text form of Prometheus; it asks the database."""
        return generate_latest(self._registry)

    async def watch(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Count a request, and what becomes of it."""
        began, status = time.perf_counter(), 500

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            with self._running.track_inprogress():
                await app(scope, receive, sent)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else "other"
            route = getattr(scope.get("route"), "path_format", _ELSEWHERE)
            self._requests.labels(method, route, str(status)).inc()
            self._seconds.labels(method, route).observe(time.perf_counter() - began)


OPEN = frozenset({"/health/live", "/health/ready", "/openapi.json"})
"""What is told without a key."""
_HEADS = frozenset({"authorization", "x-api-key"})
PAGE = "/ui"
"""Where the page is, which asks for a key by a form of its own, and sends forms."""
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_FORM = 1 << 16  # bytes of a form, which is read before anybody has brought a key
_DRAINED = 1 << 28  # bytes of a body too large that are read and thrown away, so that the client hears of it
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json\s*(?:;|$)", re.IGNORECASE)


class Gate:
    """Lets a request in: with its `caller` in the request's state, and its body read, within what the settings allow.

    Where no key is asked for, only what names this machine as its host is let in, and no page of another origin: else
    any page in a browser on this machine could ask.
    """

    def __init__(self, app: ASGIApp, access: Access, settings: ServeSettings, metrics: Metrics) -> None:
        self._app, self._access, self._settings, self._metrics = app, access, settings, metrics
        self._hosts = LOOPBACK | {settings.host.casefold()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http":
            await self._metrics.watch(self._admit, scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1003})
        else:
            await self._app(scope, receive, send)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        path = scope["path"].removeprefix(scope.get("root_path", ""))  # of another app that it is mounted in
        try:
            _check_address(scope)
            form = path == PAGE or path.startswith(f"{PAGE}/")
            if form:
                self._check_alone(headers, secret=None)
            elif path in OPEN or path.startswith(WELL_KNOWN):
                await self._app(scope, receive, send)  # no body is asked for, and none read
                return
            else:
                scope.setdefault("state", {})["caller"] = await self._caller(headers)
            body = await self._body(headers, receive, form=form)
        except MemgraphEngineError as error:
            if isinstance(error, KeyRefused):
                error.challenge = self._access.challenge(brought=_HEADS.intersection(headers) != set())
            await of_engine(error)(scope, receive, send)
            return
        except Refused as error:
            await problem(error.status, error.detail, headers=error.headers)(scope, receive, send)
            return
        except ClientDisconnect:
            return
        await self._app(scope, _again(body, receive), _challenging(scope, send))

    async def _caller(self, headers: Headers) -> object:
        secret = secret_of(headers)
        self._check_alone(headers, secret)
        if known := self._access.known(secret):
            return known
        return await run_in_threadpool(self._access.caller, secret)

    def _check_alone(self, headers: Headers, secret: str | None) -> None:
        if secret is not None or self._access.required:
            return
        origin = headers.get("origin")
        host = headers.get("host", "")
        if _name(f"//{host}") not in self._hosts or (origin is not None and origin != f"http://{host}"):
            raise Refused(403, "Without a key this server answers only what is asked of it by a name of this machine.")

    async def _body(self, headers: Headers, receive: Receive, *, form: bool) -> bytes:
        most = self._settings.body
        try:
            async with asyncio.timeout(self._settings.slow):
                body = await self._read(headers, receive, min(_FORM, most) if form else most)
        except TimeoutError:
            told = f"The body did not come within {self._settings.slow:g} seconds."
            raise Refused(408, told, {"Connection": "close"}) from None
        if form:
            return body
        if body and not _JSON.match(headers.get("content-type", "")):
            raise Refused(415, "The body must be JSON, and say so: Content-Type: application/json.")
        if body and json.detect_encoding(body) not in ("utf-8", "utf-8-sig"):
            raise Refused(400, "The body's JSON must be UTF-8.")
        if body and deeper(body, self._settings.depth):
            raise Refused(400, f"The body's JSON has more than {self._settings.depth} levels.")
        return body

    async def _read(self, headers: Headers, receive: Receive, most: int) -> bytes:
        told = headers.get("content-length", "")
        if told and "transfer-encoding" in headers:
            told_twice = "Content-Length and Transfer-Encoding both say how long the body is: send one of them."
            raise Refused(400, told_twice, {"Connection": "close"})
        size = int(told) if told.isdecimal() else 0
        if size > most and "expect" in headers:
            raise _too_large(most)  # it waits to be told
        chunks, size = list[bytes](), 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            size += len(message.get("body", b""))
            if size <= most:
                chunks.append(message.get("body", b""))
            else:
                chunks.clear()
            if not message.get("more_body", False) or size > _DRAINED:
                break
        if size > most:
            raise _too_large(most)
        return b"".join(chunks)


def _check_address(scope: Scope) -> None:
    """Refuse what is no UTF-8: else names that differ would become one."""
    try:
        for part in (scope.get("raw_path") or b"", scope["query_string"]):
            unquote_to_bytes(part).decode()
    except UnicodeDecodeError:
        raise Refused(400, "The address must be UTF-8, percent-encoded.") from None


def _too_large(most: int) -> Refused:
    return Refused(413, f"The body has more than {most:,} bytes.", {"Connection": "close"})


def _again(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read, and then what comes behind it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def give() -> Message:
        return waiting.pop() if waiting else await receive()

    return give


def _challenging(scope: Scope, send: Send) -> Send:
    """Return what sends an answer as 403 if a tool lacked a scope: only so a client of MCP hears that it can get it."""

    async def sent(message: Message) -> None:
        challenge = scope.get("state", {}).get("challenge")
        if challenge and message["type"] == "http.response.start":
            headers = [*message["headers"], (b"www-authenticate", challenge.encode())]
            message = {**message, "status": 403, "headers": headers}
        await send(message)

    return sent


def secret_of(headers: Mapping[str, str]) -> str | None:
    """Return the secret that a request brings, None for none; raises KeyRefused for another scheme than Bearer.

    >>> secret_of({"authorization": "bearer mge_1"}), secret_of({"x-api-key": "mge_2"}), secret_of({})
    ('mge_1', 'mge_2', None)
    """
    given = headers.get("authorization")
    if given is None:
        return headers.get("x-api-key")
    scheme, _, secret = given.strip().partition(" ")
    if scheme.casefold() != "bearer":
        raise KeyRefused("A key comes as `Authorization: Bearer KEY`, or as `X-API-Key: KEY`.")
    return secret.strip()


def _name(url: str) -> str:
    """Return the name of a host, without its port; '' for none."""
    try:
        return (urlsplit(url).hostname or "").casefold()
    except ValueError:
        return ""
