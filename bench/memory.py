"""How much memory a client takes: one that ingests long messages, one that asks a memory of 20,000 notes."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from itertools import cycle, islice
from pathlib import Path
from select import select
from typing import IO
from uuid import uuid4

import psutil

from bench import fillers
from bench.conversations import conversations, locomo_file
from bench.server import bench_settings, connected
from memgraph_engine.evaluation.report import table
from memgraph_engine.graph.server.local import LocalServer
from memgraph_engine.testing import purge

_MESSAGES, _WORDS = 300, 500
_QUESTIONS = 300
# A client is a process of its own that imports nothing but the engine. It says when it has connected, and when it is
# done; what it holds is looked at from here.
_CLIENT = """
import json, os, sys
from memgraph_engine import Memory
with Memory.connect(tenant=os.environ["TENANT"]) as memory:
    texts = json.load(sys.stdin)
    print("connected", flush=True)
    {work}
    print("done", flush=True)
    os.read(int(os.environ["UNTIL"]), 1)  # until it has been looked at
"""
_INGEST = 'memory.add_many(texts, user_id="ana")'
_ASK = '[memory.search(text, user_id="user-0") for text in texts]'


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the bench takes."""
    parser.add_argument("--file", type=Path, help="the LoCoMo file (else MEMGRAPH_ENGINE_LOCOMO)")
    parser.add_argument("--model", default="bge-small", help="the embedder")
    parser.add_argument("--notes", type=int, default=20_000, help="notes in the memory that is asked")


def run(given: argparse.Namespace) -> tuple[dict[str, float], str]:
    """Measure; return flat figures, in MB of 2^20 bytes, and a report in Markdown."""
    every = list(conversations(locomo_file(given.file)))
    settings = bench_settings(given.model)
    settings = settings.model_copy(update={"home": settings.home.with_name(f"{given.model}-memory")})
    with connected(settings) as memory:
        filled = fillers.fill(memory, every, notes=given.notes, scopes=1)
        address = LocalServer(settings).start()
        words = cycle(word for one in every for turn in one.turns for word in str(turn["text"]).split())
        messages = [" ".join(islice(words, _WORDS)) for _ in range(_MESSAGES)]
        questions = list(islice(cycle(question.text for one in every for question in one.questions), _QUESTIONS))
        environment = {
            **os.environ,
            "MEMGRAPH_ENGINE_URI": address.uri,
            "MEMGRAPH_ENGINE_PASSWORD": address.password,
            "MEMGRAPH_ENGINE_EMBEDDER": given.model,
        }
        tenant = f"bench-{uuid4().hex}"
        try:
            parts = {
                f"ingest of {_MESSAGES} messages of {_WORDS} words": _held(_INGEST, messages, environment, tenant),
                f"{_QUESTIONS} questions to {given.notes:,} notes": _held(_ASK, questions, environment, filled),
            }
        finally:
            purge(tenant, settings=memory.engine.settings)
    (ingest, ask) = parts.values()
    figures = {
        "client_mb": max(ingest[2], ask[2]),
        "client_mb.ingest": ingest[2],
        "client_mb.ask": ask[2],
        "client_mb.connected": ingest[0],
    }
    head = ("client", "connected", "at the end", "at most")
    rows = [(name, *(f"{part:.0f}" for part in of)) for name, of in parts.items()]
    return figures, f"### Resident memory of a client in MB, {given.model}\n\n{table(head, rows)}"


def _held(work: str, texts: Iterable[str], environment: dict[str, str], tenant: str) -> tuple[float, float, float]:
    """Run a client; return what it held when it had connected, at the end, and at most."""
    until, end = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", _CLIENT.format(work=work)],
        env={**environment, "TENANT": tenant, "UNTIL": str(until)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=[until],
        bufsize=0,  # what was not read yet is in the pipe, where it is waited for
    ) as client:
        assert client.stdin
        assert client.stdout
        os.close(until)
        seen = psutil.Process(client.pid)
        client.stdin.write(json.dumps(list(texts)).encode())
        client.stdin.close()
        _expect(client.stdout, b"connected\n")
        connected_mb = most = _resident(seen)
        while not select([client.stdout], [], [], 0.01)[0]:
            most = max(most, _resident(seen))
        _expect(client.stdout, b"done\n")
        last = _resident(seen)
        os.close(end)
    return connected_mb, last, max(most, last)


def _expect(said: IO[bytes], line: bytes) -> None:
    if said.readline() != line:
        raise SystemExit("The client ended before its work was done.")


def _resident(process: psutil.Process) -> float:
    return float(process.memory_info().rss) / (1 << 20)
