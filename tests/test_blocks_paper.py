"""The paper's own linkage: what a merged block tells takes the place of its two parts."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from memgraph_engine.blocks.tree import Placed, paper_tree
from memgraph_engine.errors import SettingsError
from tests.models import Teller, memory_with
from tests.test_blocks import ANA, TALK, from_nothing, stored, tell
from tests.test_erasure import rows, scope_of


def placed(n):
    """Notes that are a leaf each."""
    return [Placed(f"n{at}", f"s{at}", 0, at, 1) for at in range(n)]


def planted(leaves, merged=()):
    """What tells the vectors of leaves, and then those of merges; one that none is planted for has its mean."""
    waiting = [*merged]

    def speak(nodes, means):
        if nodes[0].level == 0:
            return np.asarray(leaves, dtype=float)
        return np.asarray([waiting.pop(0)], dtype=float) if waiting else means

    return speak


def shape(tree):
    """The sets of notes that the tree's inner blocks hold, in the order of their heights."""
    inside = {node.id: {one for other in tree.nodes if node.entered <= other.entered <= node.left for one in other.own}
              for node in tree.nodes}  # fmt: skip
    return [inside[node.id] for node in sorted(tree.nodes, key=lambda node: (node.height, node.level)) if node.level]


A, B, C, D = [1, 0, 0.0], [0.9, 0.1, 0.0], [0.6, 0.8, 0.0], [0, 0, 1.0]


def test_the_two_nearest_are_merged_and_what_they_tell_together_is_merged_on():
    near_c = paper_tree("acme/ana", placed(4), np.array([A, B, C, D]), planted([A, B, C, D]))
    assert shape(near_c) == [{"n0", "n1"}, {"n0", "n1", "n2"}, {"n0", "n1", "n2", "n3"}]
    near_d = paper_tree("acme/ana", placed(4), np.eye(4), planted([A, B, C, D], [[0, 0.1, 1.0], A, A]))
    assert shape(near_d) == [{"n0", "n1"}, {"n0", "n1", "n3"}, {"n0", "n1", "n2", "n3"}]


def test_of_equal_distances_the_smaller_ids_are_merged_in_whatever_order_the_notes_come():
    same = planted(np.ones((5, 3)))
    one, other = (paper_tree("acme/ana", some, np.ones((5, 3)), same) for some in (placed(5), placed(5)[::-1]))
    assert [node.id for node in one.nodes] == [node.id for node in other.nodes]
    first = next(node for node in one.nodes if node.level == 1)
    assert set(first.parts) == set(sorted(node.id for node in one.nodes if not node.level)[:2])


def test_a_distance_below_those_before_it_leaves_intervals_and_heights_in_order():
    told = planted([A, [0, 1, 0.0], D], [D])  # the first two, at 1, tell the very words of the third
    tree = paper_tree("acme/ana", placed(3), np.eye(3), told)
    root = tree.nodes[0]
    inner = next(node for node in tree.nodes if node.level == 1)
    assert root.height >= inner.height == 1
    check_nested(tree)


@pytest.mark.parametrize(("farthest", "roots"), [(2.0, 1), (0.5, 2), (0.0, 4)])
def test_what_is_farther_apart_than_a_bound_is_not_merged(farthest, roots):
    told = planted([A, B, C, D])
    tree = paper_tree("acme/ana", placed(4), np.array([A, B, C, D]), told, farthest=farthest)
    assert len(tree.roots) == roots
    assert sum(root.notes for root in tree.roots) == 4
    assert max(node.height for node in tree.nodes) <= farthest
    check_nested(tree)


def check_nested(tree):
    of = {node.id: node for node in tree.nodes}
    for node in tree.nodes:
        if node.parent:
            above = of[node.parent]
            assert above.entered < node.entered <= node.left <= above.left
            assert above.height >= node.height
            assert node.id in above.parts
    assert [node.entered for node in tree.nodes] == list(range(len(tree.nodes)))


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_whatever_merges_tell_the_tree_is_whole(n, seed):
    chance = np.random.default_rng(seed)
    tree = paper_tree("acme/ana", placed(n), np.eye(n), lambda nodes, _: chance.normal(size=(len(nodes), 5)))
    assert len(tree.nodes) == 2 * n - 1
    assert (tree.nodes[0].notes, tree.nodes[0].leaves) == (n, n)
    check_nested(tree)


def test_too_many_leaves_are_refused_before_anything_is_asked():
    def speak(nodes, means):
        raise AssertionError

    with pytest.raises(SettingsError, match=r"acme/ana has 4 leaves, more than 3 \(blocks\.paper_leaves\)"):
        paper_tree("acme/ana", placed(4), np.eye(4), speak, limit=3)
    assert paper_tree("acme/ana", [], np.zeros((0, 3)), speak).nodes == ()


# ---- on the database ------------------------------------------------------------------------

PAPER = {"linkage": "paper"}


class Counting:
    """An embedder that counts what it is given."""

    def __init__(self, inner):
        self._inner, self.name, self.texts = inner, inner.name, []

    def embed_documents(self, texts):
        self.texts += texts
        return self._inner.embed_documents(texts)

    def embed_query(self, text):
        return self._inner.embed_query(text)


def test_without_a_model_the_tree_follows_from_what_blocks_tell_locally_and_a_second_run_does_nothing(tenant, embedder):
    counting = Counting(embedder)
    with memory_with(tenant, counting, only=[], blocks=PAPER) as (memory, _):
        tell(memory)
        counting.texts.clear()
        run = memory.rebuild_blocks(**ANA)
        assert run.linkage == "paper"
        assert len(counting.texts) == run.blocks == 2 * run.leaves - 1
        before = stored(memory)
        again = memory.rebuild_blocks(**ANA)
        assert (again.kept, again.created, again.renewed) == (run.blocks, 0, 0)
        assert len(counting.texts) == run.blocks
        assert stored(memory) == before
        assert memory.verify(**ANA) == []
        assert sum(block.notes for block in memory.outline(3, **ANA)) == len(TALK)
        assert memory.blocks("Where is the boat?", **ANA)


def test_a_model_writes_what_each_merge_tells_once_and_only_what_changed_anew(tenant, embedder):
    model = Teller()
    with memory_with(tenant, embedder, model, only=["describing"], blocks=PAPER) as (memory, _):
        tell(memory)
        run = memory.rebuild_blocks(**ANA)
        assert (run.described, run.undescribed) == (run.blocks, 0)
        assert len(model.asked) == run.blocks
        assert memory.rebuild_blocks(**ANA).described_before == run.blocks
        assert len(model.asked) == run.blocks
        memory.update("t6", "Grandmother lost all that she wrote.", **ANA)
        changed = memory.rebuild_blocks(**ANA)
        assert len(model.asked) - run.blocks == changed.described == changed.created + changed.renewed
        assert "wrote down" not in str([memory.block(one.id, **ANA) for one in memory.block_tree(**ANA)])
        assert memory.verify(**ANA) == []


def test_a_run_that_is_killed_pays_for_no_merge_twice(tenant, embedder):
    model, reached = Teller(), []

    def killed(phase):
        reached.append(phase)
        if reached.count("describe") == 4:
            raise KeyboardInterrupt

    llm = {"batch_tokens": 400, "concurrency": 1}  # a request for each block, one after the other
    with memory_with(tenant, embedder, model, only=["describing"], blocks=PAPER, llm=llm) as (memory, _):
        tell(memory)
        with pytest.raises(KeyboardInterrupt):
            memory.rebuild_blocks(**ANA, progress=killed)
        assert memory.block_tree(**ANA) == []
        assert model.asked
        assert memory.rebuild_blocks(**ANA).blocks == len(model.asked)


def test_a_memory_that_is_too_large_is_refused_and_keeps_the_tree_that_it_has(tenant, embedder):
    with memory_with(tenant, embedder, only=[]) as (memory, _):
        tell(memory)
        memory.rebuild_blocks(**ANA)
        before = stored(memory)
    with memory_with(tenant, embedder, Teller(), only=["describing"], blocks={**PAPER, "paper_leaves": 2}) as (
        small,
        _,
    ):
        with pytest.raises(SettingsError, match="leaves, more than 2"):
            small.rebuild_blocks(**ANA)
        assert stored(small) == before


def test_the_default_linkage_takes_over_what_the_papers_built(tenant, embedder):
    with memory_with(tenant, embedder, Teller(), only=["describing"], blocks=PAPER) as (memory, _):
        tell(memory)
        memory.rebuild_blocks(**ANA)
    with memory_with(tenant, embedder, only=[]) as (memory, _):
        memory.rebuild_blocks(**ANA)
        assert memory.verify(**ANA) == []
        found = {key: (one["parts"], one["block"]["embedding"]) for key, one in stored(memory).items()}
        assert found == {key: (one["parts"], one["block"]["embedding"]) for key, one in from_nothing(memory).items()}


@pytest.mark.parametrize(("first", "then"), [("average", "paper"), ("paper", "average")])
def test_a_block_that_both_linkages_make_gets_the_distance_of_the_present_one(tenant, embedder, first, then):
    with memory_with(tenant, embedder, only=[], blocks={"linkage": first}) as (memory, _):
        tell(memory)
        memory.rebuild_blocks(**ANA)
        before = {block.id: block.distance for block in memory.block_tree(**ANA) if block.level}
    with memory_with(tenant, embedder, only=[], blocks={"linkage": then}) as (memory, _):
        memory.rebuild_blocks(**ANA)
        tree = memory.block_tree(**ANA)
        found = {block.id: block.distance for block in tree if block.level}
        assert [id for id in found.keys() & before.keys() if found[id] != before[id]]
        assert memory.verify(**ANA) == []
        for nodes in range(1, 1 + tree[0].leaves):
            assert sum(block.notes for block in memory.outline(nodes, **ANA)) == len(TALK)
        from_nothing(memory)
        assert found == {block.id: block.distance for block in memory.block_tree(**ANA) if block.level}


def test_a_block_that_is_nearer_in_itself_than_a_part_of_it_is_a_fault(tenant, embedder):
    with memory_with(tenant, embedder, only=[]) as (memory, _):
        tell(memory)
        memory.rebuild_blocks(**ANA)
        rows(memory, "MATCH (b:Block {scope: $scope, level: 1}) SET b.distance = 2.0", scope=scope_of(memory))
        assert any("nearer in itself than a part of it" in fault for fault in memory.verify(**ANA))
