"""Partitions: within bounds whatever the graph and the engine, the same by seed, and steady from run to run."""

import doctest
import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bench.planted import planted
from bench.topics import steadiness
from memgraph_engine.errors import InvalidInput, MissingExtra, SettingsError
from memgraph_engine.model.ports import Network
from memgraph_engine.topics import measures, partition as partition_module
from memgraph_engine.topics.engines import ENGINES, engine_named
from memgraph_engine.topics.measures import modularity, network
from memgraph_engine.topics.partition import Bounds, partition

ENGINE = engine_named("graspologic-native")


def clique(size, first=0):
    return [(first + a, first + b, 1.0) for a in range(size) for b in range(a + 1, size)]


def random_graph(nodes, edges, seed):
    chance = np.random.default_rng(seed)
    pairs = np.unique(np.sort(chance.integers(0, nodes, (edges, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return Network(nodes, pairs[:, 0], pairs[:, 1], chance.integers(1, 5, len(pairs)).astype(float))


class Foolish:
    """An engine that answers what it is told to."""

    name = "foolish"

    def __init__(self, answer):
        self.answer = answer

    def partition(self, graph, *, resolution, seed, start=None):
        return self.answer(graph.nodes)


@pytest.mark.parametrize("module", [measures, partition_module])
def test_docstring_examples(module):
    assert doctest.testmod(module).failed == 0


ANSWERS = {
    "one for all": lambda n: np.zeros(n, dtype=int),
    "each its own": np.arange,
    "by turns": lambda n: np.arange(n) % 7,
    "graspologic-native": None,
}


@settings(max_examples=60)
@given(
    nodes=st.integers(1, 300),
    density=st.floats(0, 4),
    seed=st.integers(0, 2**32 - 1),
    smallest=st.integers(1, 8),
    room=st.integers(0, 30),
    answer=st.sampled_from(sorted(ANSWERS)),
)
def test_bounds_hold_for_any_graph_and_engine(nodes, density, seed, smallest, room, answer):
    graph = random_graph(nodes, int(nodes * density), seed)
    bounds = Bounds(smallest, 2 * smallest + room)
    engine = Foolish(ANSWERS[answer]) if ANSWERS[answer] else ENGINE
    found = partition(graph, engine, bounds, seed=1).membership
    assert bounds.broken(found) == 0
    of = measures.components(graph)
    sizes = np.bincount(of)[of]
    assert ((found >= 0) == (sizes >= smallest)).all() or not graph.edges


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_every_engine_finds_what_was_planted_and_the_same_by_seed(name):
    pytest.importorskip({"graspologic-native": "graspologic_native"}.get(name, name))
    graph = network(30, [*clique(10), *clique(10, 10), *clique(10, 20), (0, 10, 1.0), (10, 20, 1.0)])
    first, second = (partition(graph, engine_named(name), Bounds(3, 100), seed=5) for _ in range(2))
    assert first.membership.tolist() == second.membership.tolist() == [0] * 10 + [1] * 10 + [2] * 10
    assert first.before == first.after == pytest.approx(modularity(graph, first.membership))
    noisy = random_graph(400, 1600, 3)
    runs = [partition(noisy, engine_named(name), Bounds(3, 40), seed=5).membership.tolist() for _ in range(2)]
    assert runs[0] == runs[1]


def test_an_edge_given_once_gives_the_modularity_of_other_engines():
    igraph = pytest.importorskip("igraph")
    graph = random_graph(2000, 8000, 1)
    ours = ENGINE.partition(graph, resolution=1.0, seed=1)
    theirs = engine_named("igraph").partition(graph, resolution=1.0, seed=1)
    assert modularity(graph, ours) == pytest.approx(modularity(graph, theirs), rel=0.02)
    whole = igraph.Graph(n=graph.nodes, edges=np.column_stack([graph.a, graph.b]))
    assert modularity(graph, ours) == pytest.approx(whole.modularity(ours.tolist(), weights=graph.weight.tolist()))


def test_one_giant_clique_is_cut():
    found = partition(network(250, clique(250)), ENGINE, Bounds(3, 100))
    sizes = np.bincount(found.membership)
    assert sizes.sum() == 250
    assert 3 <= sizes.min() <= sizes.max() <= 100


def test_a_star_is_cut_too():
    found = partition(network(500, [(0, leaf, 1.0) for leaf in range(1, 500)]), ENGINE, Bounds(3, 100))
    assert np.bincount(found.membership).max() <= 100


@pytest.mark.parametrize("nodes", [0, 1, 2, 100_000])
def test_nodes_without_edges_have_no_topic(nodes):
    found = partition(network(nodes, []), ENGINE, Bounds.of(nodes))
    assert found.topics == 0
    assert (found.membership == -1).all()


def test_many_nodes_beside_one_triangle():
    found = partition(network(100_000, clique(3)), ENGINE, Bounds.of(100_000))
    assert found.membership[:3].tolist() == [0, 0, 0]
    assert (found.membership[3:] == -1).all()


def test_a_component_below_the_smallest_size_has_no_topic():
    found = partition(network(6, [*clique(3), (3, 4, 9.0)]), ENGINE, Bounds(3, 100))
    assert found.membership.tolist() == [0, 0, 0, -1, -1, -1]


def test_a_long_path_is_one_component():
    nodes = 100_000
    line = Network(nodes, np.arange(nodes - 1), np.arange(1, nodes), np.ones(nodes - 1))
    assert measures.components(line).max() == 0


def test_a_warm_start_keeps_what_is_as_good():
    edges = [edge for first in range(0, 400, 20) for edge in clique(20, first)]
    noise = random_graph(400, 1000, 2)
    edges += [(a, b, 0.4) for a, b in zip(noise.a.tolist(), noise.b.tolist(), strict=True) if a // 20 != b // 20]
    graph = network(400, edges)
    first = partition(graph, ENGINE, Bounds(3, 100), seed=1)
    again = partition(graph, ENGINE, Bounds(3, 100), seed=2, start=first.membership)
    assert again.membership.tolist() == first.membership.tolist()


def test_a_new_node_joins_the_topic_that_it_is_tied_to():
    before = np.array([0] * 10 + [1] * 10 + [-1])
    graph = network(21, [*clique(10), *clique(10, 10), (20, 12, 1.0), (20, 3, 0.5), (20, 14, 1.0)])
    assert partition(graph, ENGINE, Bounds(3, 100), start=before).membership[20] == 1


@pytest.mark.parametrize("seed", [1, 2])
def test_full_topics_have_room_for_the_next_keywords(seed):
    """The planted communities are larger than any topic may be, so each is cut into pieces of the largest size."""
    figures = steadiness(planted(5_000, 50_000, seed), Bounds.of(5_000), seed)
    assert figures["stable_share"] >= 0.95
    assert figures["warm_over_cold"] >= 0.99


def test_a_warm_start_that_is_bad_is_left():
    before = np.arange(20) % 2
    graph = network(20, [*clique(10), *clique(10, 10)])
    found = partition(graph, ENGINE, Bounds(3, 100), start=before).membership
    assert found.tolist() == [0] * 10 + [1] * 10


@pytest.mark.parametrize("answer", [lambda n: [0], lambda n: [-1] * n, lambda n: [0.5] * n])
def test_an_engine_that_answers_nonsense_is_refused(answer):
    with pytest.raises(InvalidInput, match="foolish"):
        partition(network(3, clique(3)), Foolish(answer), Bounds(3, 100))


def test_bounds_that_can_not_hold_are_refused():
    with pytest.raises(InvalidInput, match="twice"):
        Bounds(5, 9)


@pytest.mark.parametrize(("name", "module"), [("igraph", "igraph"), ("leidenalg", "leidenalg")])
def test_an_engine_that_is_not_installed_says_how(monkeypatch, name, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"GPL.*memgraph-engine\[topics-{name}\]"):
        engine_named(name)


def test_an_engine_that_is_not_known_is_refused():
    with pytest.raises(SettingsError, match="graspologic-native"):
        engine_named("louvain")
