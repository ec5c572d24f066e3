"""Blocks on the real database: built when asked, never found when stale, and gone with what they are made of."""

import doctest
import json
import threading
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import neo4j
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings, strategies as st
from typer.testing import CliRunner

from memgraph_engine import Memory, Settings
from memgraph_engine.asking import remembered
from memgraph_engine.blocks.rebuild import PHASES
from memgraph_engine.cli import app
from memgraph_engine.errors import InvalidInput, NotFound, SettingsError
from memgraph_engine.graph import blocks as block_graph
from memgraph_engine.testing import purge
from memgraph_engine.worker.work import Worker

ANA = {"user_id": "ana"}
TALK = [
    ("s1", "I bought a small boat in Porto."),
    ("s1", "The boat has a blue sail and a long mast."),
    ("s1", "We sailed the boat along the coast."),
    ("s1", "My bread needs more yeast and a hot oven."),
    ("s1", "The oven bakes bread with a dark crust."),
    ("s2", "The harbour keeps the boat through the winter."),
    ("s2", "Grandmother wrote down the recipe of the bread."),
]


def tell(memory, user="ana", talk=TALK):
    said = (
        {"id": f"t{n}", "text": text, "session": session, "speaker": "Ana"} for n, (session, text) in enumerate(talk)
    )
    memory.add_many(list(said), user_id=user)


def notes_of(block):
    return {note.text for note in block.fields["salient_notes"]}


def build(memory):
    tell(memory)
    memory.rebuild_blocks(**ANA)


@pytest.fixture
def told(memory):
    build(memory)
    return memory


@pytest.fixture(scope="module")
def standing(kept):
    """The same as `told`, for tests that only read."""
    return kept(build)


def test_docstring_examples():
    assert doctest.testmod(remembered).failed == 0


def test_a_tree_of_equal_vectors_is_no_fault_also_where_an_older_one_has_a_sign(server, memory):
    tell(memory, talk=[(f"s{n}", "The boat sails at noon.") for n in range(4)] + TALK)
    memory.rebuild_blocks(**ANA)
    scope = f"{memory.engine.settings.tenant}/ana"
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        signs = "MATCH (b:Block {scope: $scope}) SET b.distance = CASE b.level % 2 WHEN 0 THEN 0.0 ELSE -0.0 END"
        driver.execute_query(signs, scope=scope)
    assert memory.verify(**ANA) == []


def test_nothing_is_built_until_it_is_asked_for(memory):
    tell(memory)
    assert memory.blocks("Where is the boat?", **ANA) == []
    assert memory.outline(**ANA) == memory.block_tree(**ANA) == memory.block_runs(**ANA) == []
    assert memory.stats(**ANA).blocks == 0


def test_a_tree_holds_each_note_once(standing):
    tree = standing.block_tree(**ANA)
    leaves = [standing.block(block.id, **ANA) for block in tree if not block.level]
    assert sorted(text for leaf in leaves for text in notes_of(leaf)) == sorted(text for _, text in TALK)
    assert tree[0].notes == len(TALK)
    assert standing.stats(**ANA).blocks == len(tree) == 2 * len(leaves) - 1
    assert standing.verify(**ANA) == []


def test_a_question_finds_the_blocks_nearest_to_it_and_none_within_another(standing):
    found = standing.blocks("Where is the boat?", **ANA)
    assert any("boat" in text for text in notes_of(found[0]))
    assert [block.score for block in found] == sorted((block.score for block in found), reverse=True)
    assert not any(
        one.entered <= two.entered and two.left <= one.left for one in found for two in found if one is not two
    )


def by_blocks_too(memory, **more):
    """Return the same memory whose searches go by blocks as well."""
    settings = memory.engine.settings
    recall = settings.recall.switched(blocks=True).model_copy(update={"pathways": "always", **more})
    return Memory(replace(memory.engine, settings=settings.model_copy(update={"recall": recall})))


def lifted(memory, question="Where is the boat?", **narrow):
    """Return the ids of the hits that blocks proposed."""
    hits = memory.search(question, explain=True, **{**ANA, **narrow})
    return {hit.note.id for hit in hits if "blocks" in hit.explanation.proposed_by}


def test_by_default_blocks_propose_nothing_to_a_search(standing):
    assert lifted(standing) == set()


def test_with_a_weight_the_notes_of_the_nearest_blocks_are_proposed(standing):
    for k in (1, 2, 3, 10):  # of which none holds another: that would leave no place for the next
        nearest = standing.blocks("Where is the boat?", **ANA, top_k=k)
        notes = {note.id for block in nearest for note in block.fields["salient_notes"]}
        assert lifted(by_blocks_too(standing, block_anchors=k)) == notes


def test_what_only_blocks_propose_is_found_and_stays_within_filters_scopes_and_time(told):
    tell(told, "ben")
    told.rebuild_blocks(user_id="ben")
    alone = by_blocks_too(told, channels=("blocks",), ranking="weights")
    assert lifted(alone) == {hit.note.id for hit in alone.search("Where is the boat?", **ANA)} != set()
    assert {hit.sources[0].session for hit in alone.search("Where is the boat?", **ANA, session="s2")} == {"s2"}
    bens = {hit.note.id for hit in alone.search("Where is the boat?", user_id="ben")}
    assert bens
    assert bens <= {note.id for note in told.get_all(user_id="ben")}
    assert alone.search("Where is the boat?", user_id="nobody") == []
    assert alone.search("Where is the boat?", **ANA, known_at=told.engine.now()) == []


def test_a_stale_block_proposes_nothing_to_a_search(told):
    alone = by_blocks_too(told, block_anchors=1)
    (before,) = told.blocks("Where is the boat?", **ANA, top_k=1)
    told.delete(before.fields["salient_notes"][0].id, **ANA)
    (now,) = told.blocks("Where is the boat?", **ANA, top_k=1)
    assert now.id != before.id
    assert lifted(alone) == {note.id for note in now.fields["salient_notes"]}


def test_a_block_tells_its_fields_from_its_notes(standing):
    found = standing.blocks("Who bakes bread?", **ANA, top_k=1)[0]
    assert found.fields["subjects"] == ("Ana",)
    assert found.fields["summary"] in " ".join(text for _, text in TALK)
    assert found.fields["keywords"]
    assert set(found.fields["scope"]) <= {"s1", "s2"}
    assert found.fields["example_questions"][0].startswith("What did Ana say about ")
    assert next(iter(found.to_dict()["fields"])) == "summary"


@pytest.mark.parametrize("nodes", [1, 2, 3, 100])
def test_an_outline_holds_all_notes_in_so_many_blocks(standing, nodes):
    found = standing.outline(nodes, **ANA)
    leaves = sum(not block.level for block in standing.block_tree(**ANA))
    assert len(found) == min(nodes, leaves)
    assert sum(block.notes for block in found) == len(TALK)
    assert sorted({text for block in found for text in notes_of(block)}) == sorted(text for _, text in TALK)


def test_the_same_notes_give_the_same_blocks_and_nothing_is_written_twice(told):
    before = told.block_tree(**ANA)
    run = told.rebuild_blocks(**ANA)
    assert told.block_tree(**ANA) == before
    assert (run.kept, run.created, run.renewed, run.ended) == (len(before), 0, 0, 0)
    assert next(one.id for one in told.block_runs(**ANA)) == run.id


LAST = "Grandmother wrote down the recipe of the bread."
CHANGES = {
    "update": lambda memory: memory.update("t6", "Grandmother lost all that she wrote.", **ANA),
    "delete": lambda memory: memory.delete("t6", **ANA),
    "undo": lambda memory: memory.undo(memory.explain("t6", **ANA).decisions[-1].id, **ANA),
    "kept apart": lambda memory: memory.set_policy("t6", "private", **ANA),
    "erase": lambda memory: memory.erase(memory.forget(source="t6", **ANA)),
}


def holding(memory, text):
    """The ids of the blocks whose fields hold a text."""
    return {block.id for block in memory.block_tree(**ANA) if text in str(memory.block(block.id, **ANA).to_dict())}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_is_found_no_more_at_once_and_the_rest_still_is(told, change):
    held = holding(told, LAST)
    assert held
    CHANGES[change](told)
    found = {block.id for block in told.blocks("What did grandmother write?", **ANA, top_k=100)}
    assert found
    assert not found & held
    assert {block.id for block in told.block_tree(**ANA) if block.stale} == held
    assert not holding(told, LAST)
    assert told.verify(**ANA) == []
    run = told.rebuild_blocks(**ANA)
    tree = told.block_tree(**ANA)
    assert not any(block.stale for block in tree)
    assert tree[0].notes == run.notes == len(TALK) - (change != "update")
    assert not holding(told, LAST)
    assert told.verify(**ANA) == []


def test_what_is_new_waits_for_the_next_run_and_leaves_the_rest_as_it_is(told):
    before = told.block_tree(**ANA)
    told.add("The moon rose over the desert.", **ANA)
    assert told.block_tree(**ANA) == before
    run = told.rebuild_blocks(**ANA)
    assert run.notes == len(TALK) + 1
    assert run.kept >= sum(not block.level for block in before)


def test_nobody_finds_the_blocks_of_another(told):
    tell(told, "ben", [("s1", "Ben has a boat too, a green one.")])
    told.rebuild_blocks(user_id="ben")
    assert {text for block in told.blocks("boat", user_id="ben", top_k=50) for text in notes_of(block)} == {
        "Ben has a boat too, a green one."
    }
    with pytest.raises(NotFound):
        told.block(told.block_tree(**ANA)[0].id, user_id="ben")


def test_a_users_question_finds_the_shared_blocks_as_well(told):
    told.add("The office boat is for all of us.", shared=True)
    told.rebuild_blocks(shared=True)
    assert "The office boat is for all of us." in {
        text for block in told.blocks("boat", **ANA, top_k=50) for text in notes_of(block)
    }


def test_what_is_wrong_is_refused(standing):
    for call in (
        lambda: standing.blocks("boat", **ANA, top_k=0),
        lambda: standing.blocks("", **ANA),
        lambda: standing.outline(0, **ANA),
    ):
        with pytest.raises(InvalidInput):
            call()
    for unknown in (lambda: standing.block("none", **ANA), lambda: standing.outline(below="none", **ANA)):
        with pytest.raises(NotFound, match="no block 'none'"):
            unknown()
    with pytest.raises(NotFound):
        standing.rebuild_blocks(user_id="nobody")


def test_what_has_ended_is_told_no_more_and_its_blocks_are_stale_after_the_sweep(tenant, embedder, clock):
    with Memory.connect(tenant=tenant, embedder=embedder, clock=clock) as memory:
        tell(memory)
        memory.add({"id": "brief", "text": "The code of the gate is 1234.", "policy": "ephemeral"}, **ANA)
        memory.rebuild_blocks(**ANA)
        held = holding(memory, "1234")
        assert held
        clock.later(timedelta(days=2))
        assert not holding(memory, "1234")
        memory.sweep(**ANA)
        assert {block.id for block in memory.block_tree(**ANA) if block.stale} == held
        assert memory.rebuild_blocks(**ANA).notes == len(TALK)
        assert memory.verify(**ANA) == []


# ---- runs that are disturbed ----------------------------------------------------------------


def stored(memory, user="ana"):
    """All that is stored of the present tree, by ids; vectors to five digits."""
    with memory.engine.db._session() as session:
        rows = session.run(
            "MATCH (b:Block {scope: $scope}) WHERE b.state IN ['live', 'stale'] RETURN properties(b) AS block, "
            "COLLECT { MATCH (b)<-[:IN_BLOCK]-(n) RETURN n.id ORDER BY n.id } AS notes, "
            "COLLECT { MATCH (b)<-[:PART_OF]-(c) RETURN c.id ORDER BY c.id } AS parts",
            scope=f"{memory.engine.settings.tenant}/{user}",
        ).data()
    return {
        row["block"].pop("id"): {
            **row,
            "block": {**row["block"], "embedding": np.round(row["block"]["embedding"], 5).tolist()},
        }
        for row in rows
    }


def left_behind(memory):
    with memory.engine.db._session() as session:
        return session.run(
            "MATCH (b:Block {scope: $scope}) WHERE NOT b.state IN ['live', 'stale'] RETURN count(b)",
            scope=f"{memory.engine.settings.tenant}/ana",
        ).single()[0]


def from_nothing(memory):
    """The tree as it is built where there is none."""
    with memory.engine.db._session() as session:
        session.run(
            "MATCH (b:Block {scope: $scope}) DETACH DELETE b", scope=f"{memory.engine.settings.tenant}/ana"
        ).consume()
    memory.rebuild_blocks(**ANA)
    return stored(memory)


@pytest.mark.parametrize("phase", [*PHASES, "second write"])
def test_a_run_that_is_killed_leaves_the_former_tree_and_the_next_one_does_the_rest(told, phase, monkeypatch):
    monkeypatch.setattr(block_graph, "_BATCH", 2)
    before = [block.id for block in told.block_tree(**ANA)]
    told.update("t0", "I sold the small boat in Porto.", **ANA)
    told.add({"text": "The moon rose over the desert.", "session": "s3"}, **ANA)
    told.add({"text": "The desert is cold at night.", "session": "s4"}, **ANA)
    reached = []

    def killed(now):
        reached.append(now)
        if now == phase or reached.count("write") == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        told.rebuild_blocks(**ANA, progress=killed)
    assert told.verify(**ANA) == []
    if phase != "tidy":
        assert {block.id for block in told.block_tree(**ANA)} <= set(before)
    assert "I bought a small boat" not in str([block.fields for block in told.blocks("boat", **ANA, top_k=50)])
    told.rebuild_blocks(**ANA)
    assert left_behind(told) == 0
    assert stored(told) == from_nothing(told)


def test_two_runs_at_once_do_the_work_once(memory):
    tell(memory)
    runs, go = [], threading.Barrier(2)

    def run():
        go.wait()
        runs.append(memory.rebuild_blocks(**ANA))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({one.id for one in runs}) == 1
    assert [one.id for one in memory.block_runs(**ANA)] == [runs[0].id]


def test_a_run_that_others_write_beside_is_done_and_what_they_changed_is_stale(told):
    written = []

    def beside(phase):
        if phase == "publish":
            text = f"Grandmother lost {len(written)} recipes."
            told.update("t6", text, **ANA)
            written.append(text)

    run = told.rebuild_blocks(**ANA, progress=beside)
    assert len(written) == 3
    assert run.changed_since == 1
    tree = told.block_tree(**ANA)
    assert {block.id for block in tree if block.stale} == holding(told, written[-1])
    assert told.verify(**ANA) == []
    told.rebuild_blocks(**ANA)
    assert stored(told) == from_nothing(told)


def test_a_note_that_is_deleted_while_the_last_attempt_runs_is_in_no_block(told):
    told.update("t0", "I sold the small boat in Porto.", **ANA)
    left = ["t6", "t5", "t4"]
    run = told.rebuild_blocks(
        **ANA, progress=lambda phase: told.delete(left.pop(), **ANA) if phase == "publish" and left else None
    )
    assert run.changed_since
    assert not holding(told, LAST)
    assert told.verify(**ANA) == []


STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "update", "delete", "undo", "build"]), st.integers(0, 30)),
    min_size=4,
    max_size=10,
)


@given(STEPS)
@example([("add", 1), ("build", 0), ("update", 2), ("delete", 0), ("undo", 0), ("build", 0), ("add", 2), ("delete", 3)])
@settings(phases=[Phase.explicit], suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_was_written_and_undone_the_next_tree_is_that_of_the_notes(server, embedder, steps):
    check_tree(embedder, steps)


@pytest.mark.long
@pytest.mark.timeout(3600)
@given(STEPS)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_was_written_and_undone_the_next_tree_is_that_of_the_notes_in_sixty_cases(server, embedder, steps):
    check_tree(embedder, steps)


def check_tree(embedder, steps):
    tenant = f"test-{uuid4().hex}"
    with Memory.connect(tenant=tenant, embedder=embedder) as memory:
        try:
            tell(memory, talk=TALK[:4])
            for number, (step, which) in enumerate(steps):
                sources = [note.sources[0].id for note in memory.get_all(**ANA) if note.sources]
                one = sources[which % len(sources)] if sources else None
                if step == "add":
                    memory.add({"text": f"Crate {number} holds {which} lemons.", "session": f"s{which % 3}"}, **ANA)
                elif step == "build":
                    memory.rebuild_blocks(**ANA)
                elif step == "undo":
                    undoable = [
                        one for one in memory.decisions(**ANA) if one.kind in ("append", "delete") and not one.undone_by
                    ]
                    for decision in undoable[:1]:
                        memory.undo(decision.id, **ANA, cascade=True)
                elif one and step == "update":
                    memory.update(one, f"Crate {number} was emptied {which} times.", **ANA)
                elif one:
                    memory.delete(one, **ANA)
            assert memory.verify(**ANA) == []
            memory.rebuild_blocks(**ANA)
            assert memory.verify(**ANA) == []
            assert left_behind(memory) == 0
            assert stored(memory) == from_nothing(memory)
        finally:
            purge(tenant)


# ---- around it ------------------------------------------------------------------------------


def test_a_worker_builds_blocks_after_so_many_writes_and_by_default_never(tenant, embedder, memory):
    for session, text in TALK:
        memory.add({"text": text, "session": session, "speaker": "Ana"}, **ANA)
    runs = []
    Worker(memory.engine, tell=lambda run: runs.append(run.kind)).once()
    assert "blocks" not in runs
    often = Settings.load(worker={"blocks_after": 3})
    with Memory.connect(tenant=tenant, embedder=embedder, settings=often) as busy:
        counts = []
        Worker(busy.engine, tell=lambda run: counts.append(run) if run.kind == "blocks" else None).once()
        assert [run.counts["notes"] for run in counts] == [len(TALK)]
        busy.add("The tide turns.", **ANA)
        Worker(busy.engine, tell=counts.append).once()
        assert len(counts) == 1


def test_nothing_of_a_memory_that_is_deleted_or_erased_stays_in_blocks(told):
    told.erase(told.forget(everything=True, **ANA))
    with told.engine.db._session() as session:
        left = session.run(
            "MATCH (b) WHERE b.scope = $scope AND (b:Block OR b:BlockRun) RETURN count(b)",
            scope=f"{told.engine.settings.tenant}/ana",
        ).single()[0]
    assert left == 0
    assert told.blocks("boat", **ANA) == []


def test_an_export_leaves_blocks_out_and_an_import_builds_the_same_ones(told, tmp_path):
    before = stored(told)
    told.export(tmp_path / "ana.jsonl", **ANA)
    assert "Block" not in (tmp_path / "ana.jsonl").read_text("utf-8")
    told.erase(told.forget(everything=True, **ANA))
    told.import_(tmp_path / "ana.jsonl", **ANA)
    assert told.block_tree(**ANA) == []
    told.rebuild_blocks(**ANA)
    assert stored(told) == before


def test_the_commands_tell_of_blocks(told, embedder, monkeypatch):
    monkeypatch.setattr("memgraph_engine.engine.wiring.embedder_named", lambda settings: embedder)
    monkeypatch.setenv("MEMGRAPH_ENGINE_TENANT", told.engine.settings.tenant)

    def cli(*words, code=0):
        done = CliRunner().invoke(app, ["blocks", *words, "--user", "ana"])
        assert done.exit_code == code, done.output
        return done.stdout

    tree = told.block_tree(**ANA)
    assert f"{len(tree)} blocks of {len(TALK)} notes" in cli("rebuild")
    lines = cli("list").splitlines()
    assert [line.split()[0] for line in lines] == [block.id for block in tree]
    assert lines[1].startswith("  ")
    assert "salient_notes: I bought a small boat" in cli("show", tree[0].id)
    assert cli("outline", "--limit", "2").count("summary: ") == 2
    assert json.loads(cli("search", "Where is the boat?", "--top-k", "1", "--json"))[0]["score"] > 0
    cli("show", "none", code=1)


# ---- a context ------------------------------------------------------------------------------


def test_a_context_by_blocks_tells_the_notes_of_the_blocks_nearest_to_the_question(standing):
    context = standing.context("Where does the harbour keep the boat?", by="blocks", budget=300, **ANA)
    lines = [entry.line for entry in context.entries]
    assert "The harbour keeps the boat through the winter." in lines[0]
    assert context.tokens <= 300
    assert context.entries[0].sources[0].id == "t5"


def test_a_context_by_blocks_is_empty_where_none_were_built_and_not_sure_where_none_is_relevant(memory):
    tell(memory)
    assert memory.context("Where is the boat?", by="blocks", **ANA).text == ""
    memory.rebuild_blocks(**ANA)
    assert memory.context("Where is the boat?", by="blocks", **ANA).text
    assert not memory.context("Which planet has rings of ice?", by="blocks", **ANA).sure


def test_a_context_by_blocks_takes_no_filters_and_no_other_way(standing):
    for wrong in ({"by": "blocks", "session": "s1"}, {"by": "trees"}):
        with pytest.raises(InvalidInput, match="blocks"):
            standing.context("Where is the boat?", **wrong, **ANA)


def test_what_blocks_gave_a_reader_is_recorded_where_that_is_asked_for(tenant, embedder):
    with Memory.connect(tenant=tenant, embedder=embedder, settings=Settings.load(audit={"retrievals": "ids"})) as one:
        tell(one)
        one.rebuild_blocks(**ANA)
        (found,) = one.blocks("Where is the boat?", **ANA, top_k=1)
        one.context("Where is the boat?", by="blocks", **ANA)
        calls = {row.call: {told.note for told in row.notes} for row in one.audit.retrievals(**ANA)}
    assert {note.id for note in found.fields["salient_notes"]} == calls["blocks"]
    assert "context" in calls


def test_a_schema_of_ones_own_says_what_blocks_tell(tenant, embedder, tmp_path):
    own = tmp_path / "own.toml"
    field = '[[field]]\nname = "{}"\ntype = "{}"\nmeaning = "It."\nlocal = "{}"\nembed = {}\n'
    fields = field.format("when", "dates", "span", "false"), field.format("what", "text", "about", "true")
    own.write_text("".join(["most = 1\n", *fields]))
    with Memory.connect(
        tenant=tenant, embedder=embedder, settings=Settings.load(blocks={"schema_file": str(own)})
    ) as memory:
        tell(memory)
        assert memory.rebuild_blocks(**ANA).leaves == 2  # one for each session
        (root,) = memory.outline(1, **ANA)
    assert list(root.fields) == ["when", "what"]
    assert root.fields["what"].startswith("Ana: ")
    assert root.fields["when"] == (root.first_at, root.last_at)


def test_a_wrong_schema_is_told_with_its_line_and_nothing_is_written(tenant, embedder, tmp_path):
    own = tmp_path / "own.toml"
    own.write_text("most = 0\n")
    with Memory.connect(
        tenant=tenant, embedder=embedder, settings=Settings.load(blocks={"schema_file": str(own)})
    ) as memory:
        tell(memory, talk=TALK[:1])
        with pytest.raises(SettingsError, match=r"own\.toml, line 1: most has to be a whole number"):
            memory.rebuild_blocks(**ANA)
        assert memory.block_runs(**ANA) == []
