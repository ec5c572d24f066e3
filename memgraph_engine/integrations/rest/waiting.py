"""What waits for workers, as Prometheus reads it."""

import logging
import time
from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from memgraph_engine.client import Memory
from memgraph_engine.errors import MemgraphEngineError
from memgraph_engine.worker.queue import Queue, queues
from memgraph_engine.writing.adding import Construction

_KEPT = 5.0  # seconds for which what was seen is told again: others may ask often
_log = logging.getLogger("memgraph_engine")


class Waiting(Collector):
    """What waits in the memories of a tenant, or of all if none is named; nothing while no database answers."""

    def __init__(self, memory: Memory, tenant: str | None) -> None:
        self._memory, self._tenant = memory, tenant
        self._found, self._until = list[Queue](), float("-inf")

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the notes that wait, the jobs that are due and how old the oldest is."""
        if time.monotonic() >= self._until:
            try:
                self._found = queues(self._memory.engine, self._tenant)
            except MemgraphEngineError as error:
                _log.error("What waits is not known: %s", error)
                self._found = []
            self._until = time.monotonic() + _KEPT
        now, by = self._memory.engine.now(), ("group", "job")
        notes = GaugeMetricFamily("memgraph_engine_waiting_notes", "Notes that are not constructed yet.", labels=by[:1])
        due = GaugeMetricFamily("memgraph_engine_due_jobs", "Memories in which a job is due.", labels=by)
        oldest = GaugeMetricFamily("memgraph_engine_oldest_seconds", "How long the first has waited.", labels=by)
        for one in self._found:
            due.add_metric([one.group, one.job], one.memories)
            if one.job == Construction.name:
                notes.add_metric([one.group], one.notes)
            if one.since:
                oldest.add_metric([one.group, one.job], (now - one.since).total_seconds())
        yield from (notes, due, oldest)
