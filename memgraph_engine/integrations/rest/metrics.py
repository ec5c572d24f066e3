"""What a server counts, for Prometheus: requests by route and status, and how long they took. Nobody's ids or words."""

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_ELSEWHERE = "none"  # where a request was refused before its route was known, or has none
_METHODS = frozenset({"GET", "POST", "PUT", "DELETE"})


class Metrics:
    """The counts of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
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
        """Return all counts in the text form of Prometheus."""
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
