"""How long an agent waits for its hooks: at a prompt and at the end of a turn, by a server and alone."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from uuid import uuid4

from bench.conversations import conversations, locomo_file
from bench.serve import served
from bench.server import bench_settings, connected, of_its_own
from bench.speed import percentile
from memgraph_engine.cli.hook import project
from memgraph_engine.evaluation.report import table
from memgraph_engine.graph import keys
from memgraph_engine.model.key import new_key
from memgraph_engine.model.scope import Scope

_EVENTS = {"": "UserPromptSubmit", "keep_": "Stop"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the LoCoMo file (else MEMGRAPH_ENGINE_LOCOMO)")
    parser.add_argument("--model", default="minilm", help="the embedder")
    parser.add_argument("--turns", type=int, default=200, help="turns of a dialogue that the project's memory holds")
    parser.add_argument("--rounds", type=int, default=60, help="turns by each way")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure; return flat figures and a report in Markdown."""
    conversation = next(conversations(locomo_file(given.file)))
    questions = [question.text for question in conversation.questions][: given.rounds]
    with TemporaryDirectory() as folder, connected(bench_settings(given.model)) as root, of_its_own(root) as memory:
        settings = memory.engine.settings
        memory.add_many(list(conversation.turns)[: given.turns], user_id=project(folder))
        made = new_key("bench", Scope(settings.tenant), ["read", "write"], now=memory.engine.now())
        keys.store(memory.engine.db, made)
        own = {"HOME": str(settings.home), "EMBEDDER": settings.embedder, "TENANT": settings.tenant, "URI": ""}
        with served(memory) as wire:
            url = f"http://127.0.0.1:{wire.port}"
            ways = {"": {"REMOTE__URL": url, "REMOTE__KEY": made.secret, **own}, "alone_": own}
            figures = _figures(ways, questions, folder)
    return figures, table(("figure", "value"), [(name, f"{value:.1f}") for name, value in sorted(figures.items())])


def _figures(ways: Mapping[str, Mapping[str, str]], questions: Sequence[str], folder: str) -> dict[str, float]:
    """Time each event of each turn; the ways take turns, so that what else the machine does falls on both."""
    taken = {f"{way}{event}": list[tuple[float, float]]() for way in ways for event in _EVENTS}
    told, run = dict.fromkeys(ways, 0), uuid4().hex  # what a session was told, it is not told again
    for number, question in enumerate(questions):
        for way, settings in ways.items():
            for event, name in _EVENTS.items():
                known = {"session_id": f"{way}{run}{number}", "prompt_id": str(number), "cwd": folder}
                said = {"prompt": question, "last_assistant_message": f"That was asked before: {question}"}
                seconds, cpu, answer = _timed(name, json.dumps({**known, **said}), settings)
                taken[f"{way}{event}"].append((seconds * 1000, cpu * 1000))
                told[way] += b"additionalContext" in answer
    figures = dict[str, float]()
    for which, some in taken.items():
        for what, times in (("ms", [one for one, _ in some]), ("cpu_ms", [one for _, one in some])):
            figures[f"hook_{which}{what}"] = percentile(sorted(times), 0.5)
            figures[f"hook_{which}p95_{what}"] = percentile(sorted(times), 0.95)
    return figures | {f"hook_{way}told": float(some) for way, some in told.items()}


def _timed(event: str, given: str, settings: Mapping[str, str]) -> tuple[float, float, bytes]:
    """Run a hook as an agent does; return its seconds, those of the processor, and what it printed."""
    environment = {**os.environ, **{f"MEMGRAPH_ENGINE_{name}": value for name, value in settings.items()}}
    command = [sys.executable, "-m", "memgraph_engine", "hook", event]
    start, before = perf_counter(), os.times()
    done = subprocess.run(command, input=given.encode(), env=environment, stdout=subprocess.PIPE, check=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return perf_counter() - start, cpu, done.stdout
