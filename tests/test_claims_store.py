"""Claims beside notes in searches, contexts, prompts and answers, where a setting or a plan gives them a share."""

import pytest

from memgraph_engine.testing import ScriptedChat
from tests.models import memory_with

ANA = {"user_id": "ana"}
TALK = [
    "Whales are mammals.",
    "Copper is a metal.",
    *(f"Ana watched whales from island {number} in the fog." for number in range(8)),
]
ASKED = "Where did Ana watch whales?"
CLAIM = "Whales are mammals"
PLANNED = {"recall": {"rounds": 2, "sufficient": 0.0}, "answer": {"rounds": 2}}


def told(memory):
    memory.add_many([{"text": text, "session": f"s{at}"} for at, text in enumerate(TALK)], **ANA)
    memory.consolidate(**ANA)


def planned(queries, general):
    return {"questions": [{"question": 1, "queries": queries, "general": general}]}


def with_share(tenant, embedder, share, *answers, **given):
    return memory_with(
        tenant, embedder, ScriptedChat(list(answers)), claims={"share": share}, gate={"update": False}, **given
    )


def test_by_default_claims_are_told_nowhere(tenant, embedder):
    with with_share(tenant, embedder, 0.0, only=[]) as (memory, _):
        told(memory)
        assert memory.search(ASKED, **ANA).claims == ()
        assert memory.context(ASKED, **ANA).general == ()
        assert "In general" not in memory.prompt(ASKED, **ANA).messages[0]["content"]


def test_with_a_share_what_the_question_names_is_told_in_the_place_of_notes(tenant, embedder):
    with with_share(tenant, embedder, 0.25, "Whales are mammals [1].", only=["answering"]) as (memory, chat):
        told(memory)
        hits = memory.search(ASKED, **ANA, top_k=4)
        assert [claim.text for claim in hits.claims] == [CLAIM]
        assert len(hits) == 3
        (line,) = memory.context(ASKED, **ANA).general
        assert memory.context(ASKED, **ANA, claims=False).general == ()
        assert CLAIM in line
        assert line in memory.prompt(ASKED, **ANA).messages[0]["content"]
        memory.answer(ASKED, **ANA)
        assert "In general" in chat.calls[-1].text
        assert CLAIM in chat.calls[-1].text


def test_the_only_hit_that_is_asked_for_is_a_note(tenant, embedder):
    with with_share(tenant, embedder, 0.5, only=[]) as (memory, _):
        told(memory)
        hits = memory.search(ASKED, **ANA, top_k=1)
        assert (hits.claims, len(hits)) == ((), 1)


def test_a_question_that_names_no_end_of_a_claim_has_all_its_notes(tenant, embedder):
    with with_share(tenant, embedder, 0.5, only=[]) as (memory, _):
        told(memory)
        hits = memory.search("Who was in the fog?", **ANA, top_k=4)
        assert (hits.claims, len(hits)) == ((), 4)


def test_what_filters_narrow_has_no_claims_and_whoever_asks_for_both_is_told(tenant, embedder):
    with with_share(tenant, embedder, 0.25, only=[]) as (memory, _):
        told(memory)
        hits = memory.search(ASKED, **ANA, top_k=4, session="s3")
        assert hits.claims == ()
        assert memory.context(ASKED, **ANA, session="s3").general == ()


def test_a_plan_routes_queries_to_claims_which_are_none_for_notes_then(tenant, embedder):
    routed = planned(["Which islands did Ana see?", "Are whales mammals?"], ["Are whales mammals?"])
    with with_share(tenant, embedder, 0.1, routed, only=["planning"], **PLANNED) as (memory, _):
        told(memory)
        hits = memory.search("What do I know of islands?", **ANA, top_k=8, explain=True)
        (first, *_) = hits[0].explanation.rounds
        assert first.plan.queries == ("Which islands did Ana see?",)
        assert first.plan.general == ("Are whales mammals?",)
        assert first.plan.share == 0.5
        assert [claim.text for claim in hits.claims] == [CLAIM]


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_what_a_plan_calls_general_is_looked_for_among_notes_where_claims_have_no_share(tenant, embedder, share):
    routed = planned(["Are whales mammals?"], ["Are whales mammals?"])
    with with_share(tenant, embedder, share, routed, only=["planning"], **PLANNED) as (memory, _):
        told(memory)
        hits = memory.search("What do I know of islands?", **ANA, explain=True)
        assert hits[0].explanation.rounds[0].plan.queries == (() if share else ("Are whales mammals?",))
        assert bool(hits.claims) == bool(share)
