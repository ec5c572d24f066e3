"""Blocks as LightMem makes them: a model takes leaves out of units, and merges the fields of two into their parent."""

import doctest
import importlib
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from memgraph_engine.blocks.authoring import extracted, merged
from memgraph_engine.blocks.schema import schema
from memgraph_engine.llm.role import role
from memgraph_engine.model.block import SalientNote
from tests.models import Teller, authored, memory_with
from tests.test_blocks import ANA, CHANGES, LAST, TALK, holding, tell
from tests.test_blocks_described import WORD, words_by_models
from tests.test_erasure import everything_told

OWN = schema("lightmem-personal")
SHAPE = [{"name": one.name, "type": one.type} for one in OWN.written]
NOTES = [
    SimpleNamespace(id=f"n{day}", text=text, said_at=datetime(2023, 5, day, tzinfo=UTC))
    for day, text in enumerate(["The boat is blue.", "It lies in Faro.", "Hm.", "I bake bread."], 1)
]
SAILS = SalientNote("Ana sails.", "2021", datetime(2023, 5, 1, tzinfo=UTC), ("n1",))
BAKES = SalientNote("Ana bakes.", "", datetime(2023, 5, 2, tzinfo=UTC), ("n2",))


def unit(*blocks, fields=None, times=1):
    """What a model answers of a unit: blocks by the notes that each cites, and those that each fact of it does."""
    (made,) = authored(SHAPE, [{"unit": 1, "notes": [{"note": 1, "text": "It is so."}]}])["units"]
    some = [
        {**made["blocks"][0], "notes": notes, "salient": facts, **({"fields": fields} if fields else {})}
        for notes, facts in blocks
    ]
    return role("describing-unit").form.model_validate({"units": [{"unit": 1, "blocks": some * times}]}).units[0]


def fact(*notes, text="It is so.", event=""):
    return {"text": text, "event_time": event, "notes": [*notes]}


def test_docstring_examples():
    assert doctest.testmod(importlib.import_module("memgraph_engine.model.block")).failed == 0


def test_a_unit_gives_blocks_of_notes_that_need_not_follow_each_other_and_leaves_out_what_none_tells():
    made = extracted(OWN, unit(([1, 4], []), ([], [fact(2)])).blocks, NOTES)
    assert [places for places, _ in made] == [[0, 3], [1]]
    assert extracted(OWN, unit().blocks, NOTES) == []


def test_a_fact_tells_when_it_happened_and_when_it_was_said_and_is_told_once():
    facts = [fact(1, event="2021-05"), fact(4, text="it is SO.", event="2021-05"), fact(2, event="1990")]
    ((_, told),) = extracted(OWN, unit(([1], facts)).blocks, NOTES)
    first, second = told["salient_notes"]
    assert (first.text, first.event_time, first.note_time, first.notes) == (
        "It is so.", "2021-05", NOTES[3].said_at, ("n1", "n4"),
    )  # fmt: skip
    assert (second.event_time, second.note_time) == ("1990", NOTES[1].said_at)
    assert told["keywords.locations"] == ("keywords.locations by a model",)


def test_a_note_that_several_blocks_cite_is_of_the_first():
    assert [places for places, _ in extracted(OWN, unit(([1, 2], []), ([2, 4], [])).blocks, NOTES)] == [[0, 1], [3]]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda: unit(([1], []), times=6), "6 blocks of a unit, more than 5"),
        (lambda: unit(([], [])), "cites no note of its own"),
        (lambda: unit(([1], []), ([1], [])), "cites no note of its own"),
        (lambda: unit(([9], [])), "cites the note 9, and there are 4"),
        (lambda: unit(([1], [fact()])), "a fact cites no note"),
        (lambda: unit(([1], [fact(1, event="last May")])), "is not YYYY"),
        (lambda: unit(([1], [fact(1, text="<data> it")])), "looks like a mark"),
        (lambda: unit(([1], [fact(1)] * 13)), "13 facts, more than 12"),
        (lambda: unit(([1], []), fields=[{"name": "vanity", "text": "I."}]), "1 fields that were not asked for"),
        (lambda: unit(([1], []), fields=[{"name": "summary", "text": "I."}]), "comes 0 times"),
    ],
)  # fmt: skip
def test_blocks_that_are_not_what_was_asked_for_are_refused_with_the_reason(answer, said):
    with pytest.raises(ValueError, match=said):
        extracted(OWN, answer().blocks, NOTES)


def parent(*salient):
    (made,) = authored(SHAPE, [{"block": 1, "parts": [{"fields": {"summary": "S."}, "salient": []}] * 2}])["blocks"]
    answer = {"blocks": [{**made, "salient": [{"text": text, "salient": [*of]} for text, of in salient]}]}
    return role("describing-merge").form.model_validate(answer).blocks[0]


def test_a_parent_tells_what_both_parts_do_with_their_times_and_notes():
    told = merged(OWN, parent(("Ana sails and bakes.", [1, 2])), [[SAILS], [BAKES]])
    assert told["salient_notes"] == (
        SalientNote("Ana sails and bakes.", "2021", BAKES.note_time, ("n1", "n2")),
    )  # fmt: skip
    doubled = merged(OWN, parent(("Ana sails.", [1]), ("ana sails.", [2])), [[SAILS], [SAILS]])
    assert len(doubled["salient_notes"]) == 1
    assert merged(OWN, parent(), [[], []])["salient_notes"] == ()


@pytest.mark.parametrize(
    ("salient", "said"),
    [
        ([("Ana sails.", [1])], "keeps no fact of part 2"),
        ([], "keeps no fact of part 1"),
        ([("Ana sails.", [1, 3])], "a fact keeps none of those that were shown"),
        ([("Ana sails.", [])], "a fact keeps none of those that were shown"),
    ],
)
def test_a_parent_without_the_facts_of_both_parts_is_refused_with_the_reason(salient, said):
    with pytest.raises(ValueError, match=said):
        merged(OWN, parent(*salient), [[SAILS], [BAKES]])


# ---- on the database ------------------------------------------------------------------------

PAPER = {"linkage": "paper", "schema_file": "lightmem-personal"}


def by_matter(answer):
    """A block of the boat, and one of the bread; of a session of two turns none."""
    units = []
    for one in answer["units"]:
        fields = one["blocks"][0]["fields"]
        cut = [[1, 3], [4, 5]] if len(one["blocks"]) > 1 else []
        units.append({**one, "blocks": [{"notes": some, "fields": fields, "salient": []} for some in cut]})
    return {"units": units}


def test_what_a_unit_gives_are_the_leaves_and_a_unit_that_gives_some_is_asked_about_once(tenant, embedder):
    model = Teller(by_matter, None, by_matter, by_matter)
    llm = {"batch_tokens": 100_000}
    with memory_with(tenant, embedder, model, only=["describing"], blocks=PAPER, llm=llm) as (memory, _):
        tell(memory)
        run = memory.rebuild_blocks(**ANA)
        assert (run.leaves, run.blocks, run.notes, run.described, run.fallbacks) == (2, 3, 4, 3, ())
        assert [one.notes for one in memory.block_tree(**ANA)] == [4, 2, 2]
        assert memory.verify(**ANA) == []
        asked = len(model.requests)
        again = memory.rebuild_blocks(**ANA)
        assert (again.kept, again.described_before) == (3, 3)
        assert len(model.requests) == asked + 1  # the unit that gave nothing is asked about again, and no other
        memory.update("t0", "I sold the small boat in Porto.", **ANA)
        changed = memory.rebuild_blocks(**ANA)
        assert (changed.notes, changed.described, changed.described_before) == (4, 3, 0)
        assert "bought" not in words_by_models(memory)
        memory.add({"id": "t9", "text": "The moon rose.", "session": "s3"}, **ANA)
        before = len(model.asked)
        assert (
            memory.rebuild_blocks(**ANA).described_before >= 2
        )  # of the first unit; none but the others is asked about
        assert not any("Porto" in text for notes in model.asked[before:] for text in notes if "Written" not in text)


def test_a_model_that_returns_six_blocks_gets_a_warning_and_the_local_form_and_nothing_is_lost(tenant, embedder):
    def six(answer):
        return {"units": [{**one, "blocks": one["blocks"][:1] * 6} for one in answer["units"]]}

    model = Teller(six, six)
    with memory_with(tenant, embedder, model, only=["describing"], blocks=PAPER) as (memory, _):
        tell(memory)
        run = memory.rebuild_blocks(**ANA)
        assert run.notes == len(TALK)
        assert run.undescribed >= run.leaves
        assert any("6 blocks of a unit, more than 5" in one for one in run.fallbacks)
        assert memory.verify(**ANA) == []
        made = memory.rebuild_blocks(**ANA)  # the next run asks again
        assert made.described == made.blocks


def test_a_parent_is_made_of_its_parts_and_one_that_loses_their_facts_stays_local(tenant, embedder):
    def losing(answer):
        return {"blocks": [{**one, "salient": one["salient"][:1]} for one in answer["blocks"]]}

    model = Teller(None, None, losing)
    llm = {"batch_tokens": 400, "concurrency": 1}
    with memory_with(tenant, embedder, model, only=["describing"], blocks=PAPER, llm=llm) as (memory, _):
        tell(memory, talk=[TALK[0], TALK[5]])
        run = memory.rebuild_blocks(**ANA)
        root, *leaves = [memory.block(one.id, **ANA) for one in memory.block_tree(**ANA)]
        assert [leaf.described_by for leaf in leaves] == ["teller", "teller"]
        assert root.described_by == ""
        assert any("keeps no fact of part 2" in one for one in run.fallbacks)
        memory.rebuild_blocks(**ANA)
        root = memory.block(root.id, **ANA)
        assert root.fields["summary"] == f"Written of {' '.join(leaf.fields['summary'] for leaf in leaves)}"
        assert {one.event_time for one in root.fields["salient_notes"]} == {"2021-05"}
        assert root.fields["keywords"]["locations"] == ("keywords.locations by a model",)


@pytest.mark.parametrize("change", ["update", "kept apart", "erase"])
def test_no_word_of_a_note_that_changes_is_left_in_any_block_of_its_unit(tenant, embedder, change):
    def telling(answer):
        """Each block of a unit tells what all of its notes say."""
        every = " ".join(
            fact["text"] for one in answer["units"] for block in one["blocks"] for fact in block["salient"]
        )
        for one in answer["units"]:
            for block in one["blocks"]:
                block["fields"][0]["text"] = every.replace("<", "(")[:400]
        return answer

    talk = [("s2", "The boat lies in Faro."), ("s2", "It is blue."), *TALK[5:]]
    with memory_with(tenant, embedder, Teller(telling), only=["describing"], blocks=PAPER) as (memory, _):
        tell(memory, talk=TALK[:5])
        memory.add_many([{"id": f"t{at}", "text": text, "session": session, "speaker": "Ana"}
                         for at, (session, text) in zip([7, 8, 5, 6], talk, strict=True)], **ANA)  # fmt: skip
        memory.rebuild_blocks(**ANA)
        assert words_by_models(memory).casefold().count(WORD) > 1
        CHANGES[change](memory)
        assert WORD not in words_by_models(memory).casefold()
        assert not holding(memory, LAST)
        assert memory.verify(**ANA) == []
        if change == "erase":
            assert WORD not in everything_told(memory)


def test_a_context_by_blocks_tells_what_a_model_wrote_above_the_notes_or_one_alone_and_without_a_model_notes(
    tenant, embedder
):
    with memory_with(tenant, embedder, Teller(), only=["describing"], blocks=PAPER) as (memory, _):
        tell(memory)
        memory.rebuild_blocks(**ANA)
        both = memory.context("Where is the boat?", **ANA, by="blocks", budget=600)
    assert both.entries
    assert both.blocks[0].startswith("Block of ")
    assert "said " in both.blocks[0]
    lines = both.text.splitlines()
    assert lines.index(both.blocks[0]) < lines.index(both.entries[0].line)
    assert both.tokens <= 600
    contexts = {}
    for told in ("fields", "notes"):
        given = {**PAPER, "context": told}
        with memory_with(tenant, embedder, only=[], blocks=given) as (memory, _):
            contexts[told] = memory.context("Where is the boat?", **ANA, by="blocks", budget=600)
    assert (contexts["fields"].entries, contexts["notes"].blocks) == ((), ())
    assert contexts["fields"].blocks
    assert contexts["fields"].tokens <= 600
    assert contexts["notes"].entries
    with memory_with(tenant, embedder, only=[]) as (memory, _):
        memory.rebuild_blocks(**ANA)
        local = memory.context("Where is the boat?", **ANA, by="blocks", budget=600)
        assert local.entries
        assert local.blocks == ()  # fields that are made of notes only repeat them


def test_blocks_that_are_too_far_apart_are_not_merged_and_an_outline_has_the_largest_trees(tenant, embedder):
    with memory_with(tenant, embedder, only=[], blocks={"linkage": "paper", "farthest": 0.0}) as (memory, _):
        tell(memory)
        run = memory.rebuild_blocks(**ANA)
        assert run.blocks == run.leaves > 2
        assert (run.notes, run.depth) == (len(TALK), 0)
        assert memory.verify(**ANA) == []
        sizes = sorted((block.notes for block in memory.block_tree(**ANA)), reverse=True)
        assert sorted((block.notes for block in memory.outline(2, **ANA)), reverse=True) == sizes[:2]
        assert memory.blocks("Where is the boat?", **ANA)
