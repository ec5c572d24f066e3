"""Work that nobody waits for: pending notes are constructed, topics found anew when that is due."""

from memgraph_engine.worker.jobs import Job
from memgraph_engine.worker.schedule import Schedule
from memgraph_engine.worker.work import Worker, give_way, pausing

__all__ = ["Job", "Schedule", "Worker", "give_way", "pausing"]
