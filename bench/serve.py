"""How fast over the wire: a search by REST and by MCP beside the client's own, and 32 clients at once."""

import argparse
import http.client
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from time import monotonic, perf_counter

from bench.conversations import conversations, locomo_file
from bench.server import bench_settings, connected, of_its_own
from bench.speed import milliseconds, percentile
from memgraph_engine import Memory, NotFound
from memgraph_engine.evaluation.report import table
from memgraph_engine.graph import keys
from memgraph_engine.interface.defaults import TOP_K
from memgraph_engine.model.key import new_key
from memgraph_engine.model.scope import Scope

_USER = "ana"
_WARM = 3  # passes before any time is taken
_ADDED = 10  # of the requests of many clients, one in so many adds a message
_TIMEOUT = 120.0

Ask = Callable[[str], object]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the LoCoMo file (else MEMGRAPH_ENGINE_LOCOMO)")
    parser.add_argument("--model", default="minilm", help="the embedder")
    parser.add_argument("--rounds", type=int, default=300, help="questions")
    parser.add_argument("--clients", type=int, default=32, help="clients at once")
    parser.add_argument("--seconds", type=float, default=60.0, help="for how long they ask")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure; return flat figures and a report in Markdown."""
    conversation = next(conversations(locomo_file(given.file)))
    asked = [question.text for question in conversation.questions]
    questions = [asked[number % len(asked)] for number in range(given.rounds)]
    with connected(bench_settings(given.model)) as root, of_its_own(root) as memory:
        memory.add_many(conversation.turns, user_id=_USER)
        memory.rebuild_topics(user_id=_USER)
        with served(memory) as wire:
            taken = in_turns({"client": of_client(memory), "rest": wire.search, "mcp": wire.call}, questions)
            load = crowd(wire, questions, given.clients, given.seconds)
        figures = {f"{name}_ms": percentile(some, 0.5) for name, some in taken.items()}
        figures |= {f"{name}_p95_ms": percentile(some, 0.95) for name, some in taken.items()}
        own = percentile(taken["client"], 0.5)
        figures |= {f"{name}_over_client": figures[f"{name}_ms"] / own for name in taken if name != "client"}
        figures |= load.figures(given.seconds)
        lost = len(load.acknowledged) - sum(_there(memory, one) for one in load.acknowledged)
        figures["crowd_lost"] = lost
    flat = [(name, f"{value:.3f}") for name, value in sorted(figures.items())]
    return figures, table(("figure", "value"), flat)


def of_client(memory: Memory) -> Ask:
    """Return what asks as a program does that has the memory in its own process."""
    return lambda question: memory.search(question, user_id=_USER)


def in_turns(ways: Mapping[str, Ask], questions: Sequence[str]) -> dict[str, list[float]]:
    """Return the milliseconds of each question by each way, sorted.

    The ways take turns, so that what else the machine does falls on all of them; which goes first changes.
    """
    names, taken = list(ways), {name: list[float]() for name in ways}
    for counted in (*[False] * _WARM, True):
        for number, question in enumerate(questions):
            first = number % len(names)
            for name in names[first:] + names[:first]:
                (one,) = milliseconds(ways[name], [question])
                if counted:
                    taken[name].append(one)
    return {name: sorted(some) for name, some in taken.items()}


@dataclass(frozen=True, slots=True)
class Wire:
    """A server's port, the secret of a key of it, and one connection that stays open."""

    port: int
    secret: str
    connection: http.client.HTTPConnection

    def search(self, question: str) -> object:
        """Ask over HTTP; raises AssertionError for what is no result."""
        status, _, told = self.post("/v1/search", {"query": question})
        assert status == 200, told
        return told

    def call(self, question: str) -> object:
        """Ask by the tool of MCP, as many notes; raises AssertionError for what is no result."""
        called = {"name": "search", "arguments": {"query": question, "limit": TOP_K}}
        status, _, told = self.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called})
        assert status == 200, told
        assert isinstance(told, dict), told
        assert not told["result"]["isError"], told
        return told

    def post(self, path: str, body: object) -> tuple[int, Mapping[str, str], object]:
        """Send a body; return the status, the headers and the JSON."""
        kinds = "application/json, text/event-stream"
        headers = {"Authorization": f"Bearer {self.secret}", "Content-Type": "application/json", "Accept": kinds}
        self.connection.request("POST", path, json.dumps(body), headers)
        with self.connection.getresponse() as answer:
            return answer.status, dict(answer.headers), json.loads(answer.read())

    @contextmanager
    def another(self) -> Iterator["Wire"]:
        """Yield another connection to the same server."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=_TIMEOUT)) as one:
            yield Wire(self.port, self.secret, one)


@contextmanager
def served(memory: Memory) -> Iterator[Wire]:
    """Serve a memory's tenant by a process of its own, and stop it afterwards."""
    settings = memory.engine.settings
    made = new_key("bench", Scope(settings.tenant, _USER), ["read", "write"], now=memory.engine.now())
    keys.store(memory.engine.db, made)
    given = {"HOME": str(settings.home), "EMBEDDER": settings.embedder, "TENANT": settings.tenant, "URI": ""}
    environment = {**os.environ, **{f"MEMGRAPH_ENGINE_{name}": value for name, value in given.items()}}
    command = [sys.executable, "-m", "memgraph_engine", "serve", "--port", "0"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            if not found:
                raise SystemExit(f"The server did not start: {line}{process.stderr.read()}")
            with closing(http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=_TIMEOUT)) as one:
                yield Wire(int(found[1]), made.secret, one)
        finally:
            process.terminate()


@dataclass(slots=True)
class Load:
    """What became of the requests of many clients: how many of each kind, the times, and what was acknowledged."""

    outcomes: Counter[str] = field(default_factory=Counter)
    taken: list[float] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)

    def figures(self, seconds: float) -> dict[str, float]:
        """Return the figures."""
        taken = sorted(self.taken) or [0.0]
        return {
            "crowd_answered_per_s": self.outcomes["answered"] / seconds,
            "crowd_refused": self.outcomes["refused"],
            "crowd_errors": self.outcomes["error"],
            "crowd_ms": percentile(taken, 0.5),
            "crowd_p95_ms": percentile(taken, 0.95),
        }


def crowd(wire: Wire, questions: Sequence[str], clients: int, seconds: float) -> Load:
    """Let many clients ask and add, each as soon as it was answered; a refusal says 503, and when to come again."""
    load, until, numbers = Load(), monotonic() + seconds, count()

    def ask(_client: int) -> None:
        with wire.another() as mine:
            while monotonic() < until:
                number = next(numbers)
                began = perf_counter()
                load.outcomes[_once(mine, number, questions[number % len(questions)], load)] += 1
                load.taken.append((perf_counter() - began) * 1000)

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(ask, range(clients)))
    return load


def _once(wire: Wire, number: int, question: str, load: Load) -> str:
    adds = number % _ADDED == 0
    message = {"text": f"The {number}th boat is of colour {number * 7}.", "id": f"crowd-{number}"}
    try:
        status, headers, told = wire.post(
            "/v1/messages" if adds else "/v1/search", {"message": message} if adds else {"query": question}
        )
    except (OSError, http.client.HTTPException):
        wire.connection.close()
        return "error"
    if status == 200 and adds:
        load.acknowledged.append(f"crowd-{number}")
    if status == 200:
        return "answered"
    said = isinstance(told, dict) and bool(told.get("detail"))
    return "refused" if status == 503 and "retry-after" in headers and said else "error"


def _there(memory: Memory, source: str) -> bool:
    with suppress(NotFound):
        return memory.source(source, user_id=_USER).id == source
    return False
