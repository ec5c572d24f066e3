"""A node of a cluster goes away in the middle of an ingest."""

from pathlib import Path

import pytest

ray = pytest.importorskip("ray")

from ray.cluster_utils import Cluster  # noqa: E402

from memgraph_engine import fleet  # noqa: E402
from memgraph_engine.fleet import bulk  # noqa: E402
from tests import fleets  # noqa: E402

pytestmark = [pytest.mark.fleet, pytest.mark.timeout(600)]


def test_a_node_that_goes_away_costs_nothing_but_time(tenant, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent.parent))
    monkeypatch.setenv("RAY_worker_niceness", "0")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    settings, some = fleets.settings_of(tenant), fleets.records()
    alone = fleets.by_one_process(settings, lambda memory: bulk.bring(memory, some))
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        nodes = [made.add_node(num_cpus=1) for _ in range(2)]
        ray.init(address=made.address, log_to_driver=False)
        gone = []
        with fleet.over(settings, workers=3, clock=fleets.noon) as memory:
            every = (*memory.engine.spread.preparers, *memory.engine.spread.loaders)
            before = ray.get([one.process.remote() for one in every])

            def lose(done):
                if not gone and done.done.added:
                    gone.append(nodes[0])
                    made.remove_node(nodes[0])

            done = bulk.bring(memory, some, lose)
            after = ray.get([one.process.remote() for one in every])
            fleets.assert_same(alone, fleets.whole(memory))
        assert gone
        assert before != after  # some lived there
        assert sum(done.users.values()) == len(some)
        assert not done.faulty
    finally:
        ray.shutdown()
        made.shutdown()
