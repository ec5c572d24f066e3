"""What OpenTelemetry costs a call, off and on (needs its SDK: the environment of `make test-otel`)."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from bench.conversations import conversations, locomo_file
from bench.server import bench_settings, connected, of_its_own
from memgraph_engine import Memory, Settings
from memgraph_engine.evaluation.report import table
from memgraph_engine.telemetry import Telemetry, observed, statement

_PASSES, _TRIES = 10_000, 7
_BEGUN = 5  # calls of each way that are not counted


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the LoCoMo file (else MEMGRAPH_ENGINE_LOCOMO)")
    parser.add_argument("--model", default="minilm", help="the embedder")
    parser.add_argument("--turns", type=int, default=200, help="turns that the memory holds")
    parser.add_argument("--rounds", type=int, default=150, help="calls of each kind, off and on")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure; return flat figures and a report in Markdown.

    On is beside off, call by call, with an SDK that encodes all for a collector, by the median of pairs. What the place
    of a span takes where nobody observes is far less than calls differ by, so off over none is reckoned: that, times
    how often a call passes one, over the call's own time of the processor.
    """
    conversation = next(conversations(locomo_file(given.file)))
    turns = [str(turn["text"]) for turn in conversation.turns]
    questions = [question.text for question in conversation.questions]
    exported = _exported()
    with connected(bench_settings(given.model)) as root, of_its_own(root) as off:
        off.add_many(turns[: given.turns], user_id="bench")
        ways = {"off": off, "on": Memory(replace(off.engine, telemetry=Telemetry(text=False)))}
        calls: dict[str, Callable[[Memory, int], object]] = {
            "add": lambda one, n: one.add(f"{turns[n % len(turns)]} That was number {n}.", user_id="bench"),
            "search": lambda one, n: one.search(questions[n // 2 % len(questions)], user_id="bench"),
            "context": lambda one, n: one.context(questions[n // 2 % len(questions)], user_id="bench"),
        }
        measured = {name: _measured(ways, call, given.rounds, exported) for name, call in calls.items()}
    figures = {f"{name}_{what}": value for name, values in measured.items() for what, value in values.items()}
    prices = _prices()
    figures |= {f"otel_span_{way}_us": 1000 * taken for way, taken in prices.items()}
    for name, one in measured.items():
        off_over_none = 1 + one["spans"] * prices["off"] / one["off_cpu_ms"]
        figures[f"{name}_off_over_none"] = off_over_none
        figures[f"{name}_on_over_none"] = one["on_over_off"] * off_over_none
    for ratio in ("off_over_none", "on_over_none", "on_over_off_cpu"):
        figures[f"otel_{ratio}"] = max(figures[f"{name}_{ratio}"] for name in calls)
    return figures, table(("figure", "value"), [(name, f"{value:.4f}") for name, value in sorted(figures.items())])


def _exported() -> list[int]:
    """Give the process an SDK, as a program would have it, and return what it exported: the spans of each batch."""
    from opentelemetry import metrics, trace
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult

    class Encoding:
        def export(self, spans: Any) -> Any:
            encode_spans(spans).SerializeToString()
            batches.append(len(spans))
            return SpanExportResult.SUCCESS

        def shutdown(self) -> None:
            pass

    batches = list[int]()
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(Encoding()))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([InMemoryMetricReader()]))
    return batches


def _measured(
    ways: Mapping[str, Memory], call: Callable[[Memory, int], object], rounds: int, exported: list[int]
) -> dict[str, float]:
    """Call by each way in turn, so that what else the machine does falls on both; the CPU is that of all threads."""
    taken = {way: list[tuple[float, float]]() for way in ways}
    exported.clear()
    for number in range(-_BEGUN, rounds):
        for place, way in enumerate(sorted(ways, reverse=number % 2 == 0)):
            begun, before = perf_counter(), process_time()
            call(ways[way], number * 2 + place)
            if number >= 0:
                taken[way].append((1000 * (perf_counter() - begun), 1000 * (process_time() - before)))
    _flush()
    told = {"spans": sum(exported) / (rounds + _BEGUN)}
    for way, some in taken.items():
        told |= {f"{way}_ms": median(one for one, _ in some), f"{way}_cpu_ms": median(cpu for _, cpu in some)}
    pairs = list(zip(taken["on"], taken["off"], strict=True))
    return told | {
        "on_over_off": 1 + median(on - off for (on, _), (off, _) in pairs) / told["off_ms"],
        "on_over_off_cpu": 1 + median(on - off for (_, on), (_, off) in pairs) / told["off_cpu_ms"],
    }


def _flush() -> None:
    from opentelemetry import trace

    provider: Any = trace.get_tracer_provider()
    provider.force_flush()


@dataclass
class _Engine:
    telemetry: Telemetry | None
    settings: Settings


@dataclass
class _Owner:
    engine: _Engine

    def plain(self) -> None:
        for _ in range(_PASSES):
            pass

    @observed
    def seen(self) -> None:
        for _ in range(_PASSES):
            with statement("notes/read", "neo4j"):
                pass


def _prices() -> dict[str, float]:
    """Return the milliseconds of the processor that a span takes, off and on, over a loop that does nothing."""
    settings, prices = Settings.load(), dict[str, float]()
    for way, by in (("off", None), ("on", Telemetry(text=False))):
        owner, taken = _Owner(_Engine(by, settings)), list[float]()
        for _ in range(_TRIES):
            begun = process_time()
            owner.plain()
            middle = process_time()
            owner.seen()
            _flush()
            taken.append((process_time() - middle) - (middle - begun))
        prices[way] = 1000 * median(taken) / _PASSES
    return prices
