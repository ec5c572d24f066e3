"""What OpenTelemetry's SDK is told: a tree of spans for each call and job, metrics, and log records by their span."""

import json
import logging
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

pytest.importorskip("opentelemetry.sdk", reason="run by make test-otel")

from opentelemetry import metrics, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from memgraph_engine import InvalidInput, Memory
from memgraph_engine.cost import Cost
from memgraph_engine.errors import ModelRefused, NotFound
from memgraph_engine.model.ports import Reply
from memgraph_engine.telemetry import Telemetry
from memgraph_engine.testing import ScriptedChat
from memgraph_engine.worker.work import Worker
from tests.models import extracted, memory_with, roles_of

pytestmark = pytest.mark.otel

ANA = {"user_id": "ana-amaranth"}
PLANTED = ("quebec", "amaranth", "zulu", "oleander")
FACT, QUESTION = "My code is quebec zulu.", "What is the code of oleander?"
ANSWER = Reply("It is quebec zulu [1].", Cost(1, 900, 12, 0.004))
EXPORTED, READER = InMemorySpanExporter(), InMemoryMetricReader()


@pytest.fixture(scope="module", autouse=True)
def _sdk():
    """The one tracer and meter that a process has."""
    spans = TracerProvider()
    spans.add_span_processor(SimpleSpanProcessor(EXPORTED))
    trace.set_tracer_provider(spans)
    metrics.set_meter_provider(MeterProvider([READER]))


@pytest.fixture(autouse=True)
def _empty():
    EXPORTED.clear()
    log = logging.getLogger("memgraph_engine")
    before = [*log.filters]
    yield
    log.filters[:] = before


@pytest.fixture
def seen(memory):
    """Make an observed memory whose role `answering` says what is in a queue."""

    def make(*answers, text=False, only=("answering",), **llm):
        roles = roles_of(ScriptedChat(answers, name="loop/back"), only, **llm)
        return Memory(replace(memory.engine, telemetry=Telemetry(text=text), roles=roles))

    return make


def spans(name=""):
    return [one for one in EXPORTED.get_finished_spans() if one.name.startswith(name)]


def below(span):
    return [one for one in spans() if one.parent and one.parent.span_id == span.context.span_id]


def everything():
    """All that was exported, as text."""
    return " ".join(one.to_json() for one in spans()) + READER.get_metrics_data().to_json()


def points(metric, **attributes):
    """The points of a metric that have these attributes, written with `_` for dots."""
    wanted = {name.replace("__", "."): value for name, value in attributes.items()}
    return [
        point
        for resource in READER.get_metrics_data().resource_metrics
        for scope in resource.scope_metrics
        for one in scope.metrics
        if one.name == metric
        for point in one.data.data_points
        if wanted.items() <= dict(point.attributes).items()
    ]


def test_each_call_is_a_tree_of_its_statements_and_requests(seen):
    memory = seen(ANSWER)
    memory.add(FACT, **ANA)
    memory.search(QUESTION, **ANA)
    assert memory.answer(QUESTION, **ANA).text.startswith("It is quebec")
    roots = [one for one in spans() if one.parent is None]
    assert [one.name for one in roots] == [f"memgraph_engine.{name}" for name in ("add", "search", "answer")]
    assert len({one.context.trace_id for one in roots}) == 3
    add, search, answer = map(below, roots)
    for parts in (add, search):
        (embedded,) = {
            one.attributes.get("gen_ai.request.model") for one in parts if one.name.startswith("embeddings ")
        }
        assert embedded == memory.engine.embedder.name
        statements = [one for one in parts if "db.system.name" in one.attributes]
        assert statements
        assert all(one.attributes["db.system.name"] == "neo4j" for one in statements)
        assert all(one.attributes["db.operation.name"] == one.name and "/" in one.name for one in statements)
        assert all(one.kind is SpanKind.CLIENT for one in parts)
    (chat,) = [one for one in answer if one.name.startswith("chat")]
    assert dict(chat.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "loop",
        "gen_ai.request.model": "loop/back",
        "gen_ai.request.temperature": 0.0,
        "gen_ai.request.max_tokens": memory.engine.settings.llm.max_tokens,
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 900,
        "gen_ai.usage.output_tokens": 12,
        "memgraph_engine.cost": 0.004,
    }
    assert {one.context.trace_id for one in answer} == {roots[2].context.trace_id}
    assert all(one.status.status_code is StatusCode.UNSET for one in spans())


def test_nothing_says_what_users_said_or_who_they_are(seen):
    memory = seen(ANSWER, ModelRefused(f"I won't speak of {FACT}"))
    memory.add(FACT, id="m-oleander", session="s-oleander", speaker="Oleander", tags=["zulu"], **ANA)
    memory.search(QUESTION, session="s-oleander", **ANA)
    memory.answer(QUESTION, **ANA)
    memory.answer(QUESTION, **ANA)  # the model refuses
    memory.update("m-oleander", "My code is oleander.", **ANA)
    with pytest.raises(NotFound, match="amaranth"):
        memory.delete("amaranth", **ANA)
    memory.add("The zulu tide.", wait=False, **ANA)
    assert Worker(memory.engine).once()
    told = everything().lower()
    assert "chat loop/back" in told
    assert "memgraph_engine.job.construct" in told
    assert [word for word in (*PLANTED, memory.engine.settings.tenant) if word in told] == []


def test_with_text_they_say_so(seen):
    memory = seen(ANSWER, text=True)
    memory.add(FACT, **ANA)
    memory.answer(QUESTION, **ANA)
    with pytest.raises(NotFound):
        memory.delete("amaranth", **ANA)
    (answer,), (delete,), (chat,) = map(spans, ("memgraph_engine.answer", "memgraph_engine.delete", "chat"))
    assert (answer.attributes["user.id"], answer.attributes["memgraph_engine.tenant"]) == (
        "ana-amaranth",
        memory.engine.settings.tenant,
    )
    assert "amaranth" in delete.status.description
    assert "quebec" in json.loads(chat.attributes["gen_ai.input.messages"])[-1]["parts"][0]["content"]
    assert json.loads(chat.attributes["gen_ai.output.messages"]) == [
        {"role": "assistant", "parts": [{"type": "text", "content": ANSWER.text}], "finish_reason": "stop"}
    ]


def test_what_fails_says_so_by_its_type(seen):
    memory = seen(ModelRefused("No.", Cost(1, 30, 0, None)))
    with pytest.raises(InvalidInput):
        memory.add("", **ANA)
    memory.add(FACT, **ANA)
    memory.answer(QUESTION, **ANA)
    (failed, added), (chat,), (answer,) = map(spans, ("memgraph_engine.add", "chat", "memgraph_engine.answer"))
    assert (failed.status.status_code, failed.status.description) == (StatusCode.ERROR, None)
    assert failed.attributes["error.type"] == "memgraph_engine.errors.InvalidInput"
    assert failed.events == ()
    assert (chat.attributes["error.type"], chat.attributes["gen_ai.usage.input_tokens"]) == (
        "memgraph_engine.errors.ModelRefused",
        30,
    )
    assert {one.status.status_code for one in (added, answer)} == {StatusCode.UNSET}  # there is an answer without it


def test_an_auditors_questions_are_calls_too(seen):
    memory = seen()
    memory.audit.deleted(**ANA)
    (call,) = spans("memgraph_engine.deleted")
    assert below(call)


def test_a_stream_is_one_span_up_to_its_end_and_leaves_its_reader_alone(seen):
    memory = seen(ANSWER, ANSWER)
    memory.add(FACT, **ANA)
    EXPORTED.clear()
    own = trace.get_tracer("a program")
    with own.start_as_current_span("reader") as reader:
        pieces = memory.answer_stream(QUESTION, **ANA)
        next(pieces)
        assert trace.get_current_span() is reader
        assert spans("memgraph_engine.answer_stream") == []
        *_, answer = pieces
    assert answer.text == ANSWER.text
    (stream,), (chat,) = spans("memgraph_engine.answer_stream"), spans("chat")
    assert stream.parent.span_id == reader.get_span_context().span_id
    assert chat in below(stream)
    assert chat.attributes["gen_ai.usage.output_tokens"] == 12

    EXPORTED.clear()
    pieces = memory.answer_stream(QUESTION, **ANA)
    next(pieces)
    pieces.close()  # the reader goes away
    (stream,), (chat,) = spans("memgraph_engine.answer_stream"), spans("chat")
    assert {one.status.status_code for one in (stream, chat)} == {StatusCode.UNSET}


def test_requests_of_several_threads_are_of_the_call_that_makes_them(tenant, embedder):
    given = {"telemetry": {"on": True}, "llm": {"concurrency": 4, "batch_tokens": 1}}
    answers = [extracted("Ana moved to Lisbon.")] * 6
    with memory_with(tenant, embedder, answers, only=("extraction",), **given) as (memory, chat):
        memory.add_many([f"I moved to Lisbon {number} times." for number in range(6)], **ANA)
        assert len(chat.calls) > 1
    (call,), asked = spans("memgraph_engine.add_many"), spans("chat")
    assert len(asked) == len(chat.calls)
    assert {one.parent.span_id for one in asked} == {call.context.span_id}


def test_a_job_is_a_tree_with_its_outcome(seen):
    memory = seen()
    memory.add(FACT, wait=False, **ANA)
    EXPORTED.clear()
    Worker(memory.engine).once()
    job, again = spans("memgraph_engine.job.construct")  # up to the one that finds nothing
    assert (job.attributes["memgraph_engine.job"], job.attributes["memgraph_engine.outcome"]) == ("construct", "done")
    assert "memgraph_engine.outcome" not in again.attributes
    assert below(job)
    assert job.parent is None
    assert spans("memgraph_engine.job.embed") == []  # nothing changes the embedder
    EXPORTED.clear()
    Worker(memory.engine).once()
    assert spans() == []  # a look that finds nothing leaves none


def test_a_job_that_fails_says_so(seen, monkeypatch):
    memory = seen()
    memory.add(FACT, wait=False, **ANA)
    monkeypatch.setattr("memgraph_engine.writing.adding.Construction.work", lambda _: 1 / 0)
    Worker(memory.engine).once()
    (job,) = spans("memgraph_engine.job.construct")
    assert (job.attributes["error.type"], job.attributes["memgraph_engine.outcome"]) == (
        "builtins.ZeroDivisionError",
        "failed",
    )


def test_calls_statements_requests_and_tokens_are_metrics(seen):
    memory = seen(ANSWER)
    before = sum(point.count for point in points("memgraph_engine.operation.duration"))
    memory.add(FACT, **ANA)
    memory.answer(QUESTION, **ANA)
    assert sum(point.count for point in points("memgraph_engine.operation.duration")) == before + 2
    (answers,) = points("memgraph_engine.operation.duration", memgraph_engine__operation="answer")
    assert 0 < answers.sum / answers.count < 60
    assert answers.explicit_bounds[0] == 0.001  # seconds, not the SDK's milliseconds
    asked = {"gen_ai__request__model": "loop/back", "gen_ai__operation__name": "chat"}
    assert sum(one.sum for one in points("gen_ai.client.token.usage", gen_ai__token__type="output", **asked)) >= 12
    assert points("gen_ai.client.operation.duration", **asked)
    assert points("db.client.operation.duration", db__system__name="neo4j")[0].sum > 0
    assert points("memgraph_engine.cost")[0].value > 0


def test_log_records_name_the_span_in_which_they_are_made(seen, caplog):
    memory = seen()
    log = logging.getLogger("memgraph_engine")

    def tell(*_, **__):
        log.warning("within")
        return []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memgraph_engine.graph.spending.days", tell)
        memory.cost(**ANA)
    log.warning("without")
    (span,) = spans("memgraph_engine.cost")
    within, without = caplog.records
    assert within.otelTraceID == trace.format_trace_id(span.context.trace_id)
    assert within.otelSpanID == trace.format_span_id(span.context.span_id)
    assert (without.otelTraceID, without.otelSpanID) == ("0", "0")


def test_a_collector_gets_them_by_http(seen):
    got = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self):
            got.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        seen().add(FACT, **ANA)
        exporter = OTLPSpanExporter(f"http://127.0.0.1:{server.server_port}/v1/traces")
        exporter.export(spans())
        exporter.shutdown()
        server.shutdown()
    ((path, body),) = got
    assert path == "/v1/traces"
    assert b"memgraph_engine.add" in body
    assert b"quebec" not in body
