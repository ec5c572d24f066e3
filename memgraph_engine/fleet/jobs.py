"""A worker's jobs on many machines: each has workers, which begin with their shares of the memories and take leases."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ray

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.fleet.actors import Working
from memgraph_engine.fleet.bulk import got
from memgraph_engine.fleet.cluster import AUTO, Where, check_nodes, has, joined, running, where
from memgraph_engine.worker.work import Worker


class Workers(Worker):
    """Does what `Worker` does, by workers on the nodes of a cluster."""

    def __init__(self, engine: Engine, actors: list[Any], at: Where, **given: Any) -> None:
        super().__init__(engine, **given)
        self._actors, self._where, self._every_tenant = actors, at, bool(given.get("every_tenant"))
        self._fine = True

    @classmethod
    @contextmanager
    def of(
        cls, engine: Engine, address: str = AUTO, *, workers: int | None = None, **given: Any
    ) -> Iterator["Workers"]:
        """Run workers on a Ray cluster for the block, one for each processor; `given` is what Worker takes.

        Raises as `over` does.
        """
        with joined(address):
            check_nodes(engine)
            # one call works, another one stops it
            with running(Working, workers or max(1, has("CPU")), max_concurrency=2) as actors:
                yield cls(engine, actors, where(engine, {}), **given)

    @property
    def fine(self) -> bool:
        """Whether all that was due was done."""
        return self._fine

    def stop(self) -> None:
        """Ask all workers to end soon."""
        super().stop()
        for one in self._actors:
            one.stop.remote()

    def look(self, *, again: bool) -> bool:
        """Let each worker do what is due; return whether any did anything."""
        number = len(self._actors)
        calls = [
            one.look.remote(self._where, at / number, every_tenant=self._every_tenant, again=again)
            for at, one in enumerate(self._actors)
        ]
        worked, self._fine = False, True
        while calls:
            (ref,), calls = ray.wait(calls, num_returns=1)
            did, fine, runs = got(ref)
            worked, self._fine = worked or did, self._fine and fine
            for run in runs:
                self._tell(run)
        return worked
