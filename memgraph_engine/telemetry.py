"""Spans and metrics of OpenTelemetry: of calls, statements, requests to models and jobs; nothing where it is off.

What an observed call or job does, in whichever thread, is a part of its span. OpenTelemetry's API is imported where the
setting `telemetry.on` says so; what becomes of spans and metrics is for the program's SDK to say. They hold no words of
users, nor names of tenants and users, unless `telemetry.text` says so (docs/telemetry.md).
"""

import json
import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack
from contextvars import Context, ContextVar, copy_context
from functools import cached_property, partial, wraps
from inspect import isgenerator
from time import perf_counter
from typing import Any, Self, TypeVar, cast

from memgraph_engine.errors import needed
from memgraph_engine.resources import VERSION

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
Attributes = Mapping[str, Any]

_CALL, _JOB = "memgraph_engine.operation.duration", "memgraph_engine.job.duration"
_STATEMENT, _REQUEST = "db.client.operation.duration", "gen_ai.client.operation.duration"
_FINE = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10)  # OpenTelemetry's for databases
_SECONDS = {
    _CALL: _FINE,
    _JOB: (0.01, 0.1, 1, 10, 60, 600, 3600),
    _STATEMENT: _FINE,
    _REQUEST: tuple(0.01 * 2**n for n in range(14)),
}
"""The histograms, one for each kind of what is observed, and their bounds: the SDK's own are of milliseconds."""


class Span:
    """What a call, statement, request or job is told to, from its begin to its end; this one, of none, ignores it."""

    def run(self, work: Callable[..., T], *given: Any) -> T:
        """Return what some work returns, which is a part of this."""
        return work(*given)

    def tell(self, **attributes: Any) -> None:
        """Give it more attributes, of the engine's own."""

    def replied(self, reply: Any) -> None:
        """Tell what a chat model replied (`model.ports.Reply`)."""

    def failed(self, error: BaseException) -> None:
        """Tell that it failed; an error that leaves the block is told by itself."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        pass


_UNOBSERVED = Span()
_BY: ContextVar["Telemetry | None"] = ContextVar("memgraph_engine.telemetry", default=None)


class _Observed(Span):
    def __init__(self, by: "Telemetry", kind: str, name: str, measured: Attributes, more: Attributes) -> None:
        self._by, self._kind, self._measured = by, kind, dict(measured)
        to = by.trace.SpanKind.CLIENT if kind in (_STATEMENT, _REQUEST) else by.trace.SpanKind.INTERNAL
        self._span = by.tracer.start_span(name, kind=to, attributes={**measured, **more})
        self._began = perf_counter()

    @cached_property
    def _context(self) -> Context:
        context = copy_context()
        context.run(_BY.set, self._by)
        context.run(self._by.attach, self._by.trace.set_span_in_context(self._span))
        return context

    def run(self, work: Callable[..., T], *given: Any) -> T:
        return self._context.run(work, *given)

    def tell(self, **attributes: Any) -> None:
        self._span.set_attributes({f"memgraph_engine.{name}": value for name, value in attributes.items()})

    def replied(self, reply: Any) -> None:
        self._span.set_attribute("gen_ai.response.finish_reasons", [reply.finish_reason])
        if self._by.text:
            told = _spelt(_message("assistant", reply.text, finish_reason=reply.finish_reason))
            self._span.set_attribute("gen_ai.output.messages", told)
        self._cost(reply.cost)

    def _cost(self, cost: Any) -> None:
        for what in ("input", "output"):
            if number := getattr(cost, f"{what}_tokens"):
                self._span.set_attribute(f"gen_ai.usage.{what}_tokens", number)
                self._by.tokens.record(number, {**self._measured, "gen_ai.token.type": what})
        if cost.money is not None:
            self.tell(cost=cost.money)
            self._by.money.add(cost.money, self._measured)

    def failed(self, error: BaseException) -> None:
        kind = type(error)
        self._measured["error.type"] = f"{kind.__module__}.{kind.__qualname__}"
        self._span.set_attribute("error.type", self._measured["error.type"])
        self._span.set_status(self._by.trace.StatusCode.ERROR, str(error) if self._by.text else None)
        if self._kind is _REQUEST and (cost := getattr(error, "cost", None)):
            self._cost(cost)

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is not None and not isinstance(error, GeneratorExit):
            self.failed(error)
        seconds, context = perf_counter() - self._began, self._by.trace.set_span_in_context(self._span)
        self._by.seconds[self._kind].record(seconds, self._measured, context)  # which exemplars are of
        self._span.end()


class Telemetry:
    """Observes what an engine does, by the program's tracer and meter; raises MissingExtra."""

    def __init__(self, *, text: bool) -> None:
        with needed("the setting telemetry.on", "otel"):
            from opentelemetry import metrics, trace
            from opentelemetry.context import attach
        self.text, self.trace, self.attach = text, trace, attach
        self.tracer, meter = trace.get_tracer("memgraph_engine", VERSION), metrics.get_meter("memgraph_engine", VERSION)

        def histogram(name: str, unit: str, bounds: Sequence[float]) -> metrics.Histogram:
            return meter.create_histogram(name, unit, explicit_bucket_boundaries_advisory=bounds)

        self.seconds = {name: histogram(name, "s", bounds) for name, bounds in _SECONDS.items()}
        self.tokens = histogram("gen_ai.client.token.usage", "{token}", [4**n for n in range(14)])
        self.money = meter.create_counter("memgraph_engine.cost", "{USD}")
        logging.getLogger("memgraph_engine").addFilter(_with_ids)

    def whose(self, tenant: str | None, user: str | None) -> Attributes:
        """Return whose memory it is, as far as that may be told."""
        names = {"memgraph_engine.tenant": tenant, "user.id": user}
        return {name: value for name, value in names.items() if self.text and isinstance(value, str)}


def observed(method: F) -> F:
    """Let a method of what has an `engine` be a span, where the engine's settings say so: a generator up to its end."""
    name = method.__name__.rstrip("_")

    @wraps(method)
    def call(self: Any, *given: Any, **named: Any) -> Any:
        by = self.engine.telemetry
        if by is None:
            return method(self, *given, **named)
        whose = by.whose(self.engine.settings.tenant, named.get("user_id"))
        with ExitStack() as ends:
            span = _Observed(by, _CALL, f"memgraph_engine.{name}", {"memgraph_engine.operation": name}, whose)
            ends.push(span)
            made = span.run(partial(method, self, *given, **named))
            return _steps(span, made, ends.pop_all()) if isgenerator(made) else made

    return cast("F", call)


def _steps(span: Span, made: Generator[Any, Any, Any], ends: ExitStack) -> Generator[Any, None, None]:
    with ends:
        ends.callback(span.run, made.close)
        while True:
            try:
                one = span.run(next, made)
            except StopIteration:
                return
            yield one


def job(by: Telemetry | None, name: str, tenant: str | None = None, user: str | None = None) -> Span:
    """Return the span of a worker's job; it begins now."""
    if by is None:
        return _UNOBSERVED
    return _Observed(by, _JOB, f"memgraph_engine.job.{name}", {"memgraph_engine.job": name}, by.whose(tenant, user))


def statement(name: str, database: str) -> Span:
    """Return the span of a statement, by its name: its text is the file's, and its parameters are never told."""
    by = _BY.get()
    if by is None:
        return _UNOBSERVED
    told = {"db.system.name": "neo4j", "db.operation.name": name, "db.namespace": database}
    return _Observed(by, _STATEMENT, name, told, {})


def chat(model: str, messages: Sequence[Mapping[str, str]], temperature: float, most: int) -> Span:
    """Return the span of one request to a chat model, of at most so many tokens."""
    by = _BY.get()
    if by is None:
        return _UNOBSERVED
    more: dict[str, Any] = {"gen_ai.request.temperature": temperature, "gen_ai.request.max_tokens": most}
    if by.text:
        more["gen_ai.input.messages"] = _spelt(*(_message(one["role"], one["content"]) for one in messages))
    return _asked(by, "chat", model, more)


def embedding(model: str) -> Span:
    """Return the span of what an embedder is asked at once, in process or elsewhere."""
    by = _BY.get()
    return _UNOBSERVED if by is None else _asked(by, "embeddings", model.removeprefix("litellm/"), {})


def _asked(by: Telemetry, operation: str, model: str, more: Attributes) -> Span:
    provider, named, _ = model.partition("/")
    told = {"gen_ai.operation.name": operation, "gen_ai.request.model": model}
    told |= {"gen_ai.provider.name": provider} if named else {}
    return _Observed(by, _REQUEST, f"{operation} {model}", told, more)


def _message(role: str, text: str, **more: str) -> Attributes:
    return {"role": role, "parts": [{"type": "text", "content": text}], **more}


def _spelt(*messages: Attributes) -> str:
    return json.dumps(messages, ensure_ascii=False)


def _with_ids(record: logging.LogRecord) -> bool:
    """Name the span in which something is logged as OpenTelemetry's own instrumentation of `logging` does."""
    from opentelemetry import trace

    at = trace.get_current_span().get_span_context()
    record.otelTraceID = trace.format_trace_id(at.trace_id) if at.is_valid else "0"
    record.otelSpanID = trace.format_span_id(at.span_id) if at.is_valid else "0"
    return True
