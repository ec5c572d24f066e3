"""Bulk ingest and jobs on many machines, by Ray (docs/fleet.md); the core imports none of this."""

from memgraph_engine.errors import needed

with needed("work on many machines", "ray"):
    import ray.exceptions  # noqa: F401  a folder `ray`, as Ray leaves in /tmp, can be imported too

from memgraph_engine.fleet.bulk import ingest, over
from memgraph_engine.fleet.jobs import Workers

__all__ = ["Workers", "ingest", "over"]
