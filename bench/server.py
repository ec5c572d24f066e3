"""A managed server for each model, with a home of its own: a database holds the vectors of one model."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout
from platformdirs import user_cache_path

from memgraph_engine import Memory, Settings
from memgraph_engine.graph.server.local import LocalServer
from memgraph_engine.model.ports import Embedder
from memgraph_engine.testing import purge


def bench_settings(model: str, **given: object) -> Settings:
    """Return the default settings with a model, and a home in the user's cache; `given` are settings that differ."""
    home = user_cache_path("memgraph-engine") / "bench" / model
    return Settings.load(uri="", embedder=model, tenant="bench", home=home, heap="2g", **given)


@contextmanager
def connected(settings: Settings, embedder: Embedder | None = None) -> Iterator[Memory]:
    """Yield a memory on the model's server, which is stopped afterwards; `embedder` stands in for the model.

    A bench has its home alone: another one would stop the server under it, and be timed beside it.
    """
    home = Path(settings.home)
    home.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(home.with_name(f"{home.name}.lock"), timeout=0):
            server = LocalServer(settings)
            try:
                with Memory.connect(settings=settings, embedder=embedder) as memory:
                    yield memory
            finally:
                server.stop()
    except Timeout as error:
        raise SystemExit(f"Another bench uses {home}; wait until it has ended.") from error


@contextmanager
def of_its_own(memory: Memory, language: str = "english") -> Iterator[Memory]:
    """Yield a memory of a new tenant in a language, which is removed afterwards."""
    tenant = f"bench-{uuid4().hex}"
    settings = memory.engine.settings.model_copy(update={"tenant": tenant, "language": language})
    try:
        yield Memory(replace(memory.engine, settings=settings))
    finally:
        purge(tenant, settings=settings)
