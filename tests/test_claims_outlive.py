"""Claims outlive the notes that they were drawn from, as LightMem has it (section 3.6), but not what was erased."""

from datetime import timedelta

import pytest

from memgraph_engine import Memory, NotFound, Settings

ANA = {"user_id": "ana"}
TALK = [
    "Whales are mammals.",
    "Copper is a metal.",
    "Stress causes headaches.",
    "We sailed the boat along the coast.",
    "Our beekeeper sold two hives.",
    "The harbour froze over.",
]
CLAIMS = {"Whales are mammals", "Copper is a metal", "Stress causes headaches"}
OLDEST = {"cap": 3, "target": 0.75, "information_weight": 0}


def connect(tenant, embedder, clock, **settings):
    return Memory.connect(tenant=tenant, embedder=embedder, clock=clock, settings=Settings.load(**settings))


@pytest.fixture
def memory(tenant, embedder, clock):
    """One with a cap, of which the oldest leave first; those are what makes claims."""
    with connect(tenant, embedder, clock, lifecycle=OLDEST) as one:
        said = [
            {"id": f"t{number}", "text": text, "speaker": "Ana", "session": "s"} for number, text in enumerate(TALK)
        ]
        one.add_many([{**turn, "time": clock.now + timedelta(hours=n)} for n, turn in enumerate(said)], **ANA)
        clock.later(timedelta(days=40))
        yield one


def texts(memory):
    return {claim.text for claim in memory.claims(**ANA, top_k=1000)}


def evict(memory):
    """Evict: summaries tell what made claims then."""
    done = memory.evict(**ANA)
    assert all(memory.get(f"t{number}", **ANA).sums for number in range(3))
    return done


@pytest.mark.parametrize("first", ["consolidate", "evict"])
def test_what_a_cap_takes_is_claimed_on_whether_it_was_read_before_or_only_then(memory, first):
    if first == "consolidate":
        assert memory.consolidate(**ANA).claims == 3
        evict(memory)
        assert texts(memory) == CLAIMS
        assert memory.consolidate(**ANA).claims == 0  # it was read as it is
    else:
        evict(memory)
        assert memory.consolidate(**ANA).claims == 3
    assert texts(memory) == CLAIMS
    assert all(claim.notes for claim in memory.claims(**ANA))
    assert memory.verify(**ANA) == []


def test_what_happens_to_a_summary_leaves_the_claims_of_what_it_sums(memory):
    memory.consolidate(**ANA)
    evict(memory)
    for summary in [note for note in memory.get_all(**ANA) if note.sums]:
        memory.pin(summary.id, **ANA)
    assert texts(memory) == CLAIMS
    assert memory.consolidate(**ANA).claims == 0
    for summary in [note for note in memory.get_all(**ANA) if note.sums]:
        memory.delete(summary.id, **ANA)
    assert texts(memory) == set()


@pytest.mark.parametrize("how", ["delete", "update", "erase"])
def test_what_is_deleted_replaced_or_erased_after_a_cap_took_it_is_claimed_no_more(memory, how):
    memory.consolidate(**ANA)
    evict(memory)
    {
        "delete": lambda: memory.delete("t2", **ANA),
        "update": lambda: memory.update("t2", "The tide turned at noon.", **ANA),
        "erase": lambda: memory.erase(memory.forget(source="t2", **ANA)),
    }[how]()
    gone = "Stress causes headaches"
    assert gone not in texts(memory) | {claim.text for claim in memory.claims("headaches", **ANA)}
    memory.consolidate(**ANA)
    assert texts(memory) == CLAIMS - {gone}
    assert memory.verify(**ANA) == []


def test_an_erasure_leaves_no_word_of_a_claim_that_only_the_archive_supported(memory):
    memory.consolidate(**ANA)
    evict(memory)
    (claim,) = [one for one in memory.claims(**ANA) if "Copper" in one.text]
    assert memory.erase(memory.forget(source="t1", **ANA)).residue == 0
    with pytest.raises(NotFound):
        memory.claim(claim.id, **ANA)
    assert not any("Copper" in one.text for one in memory.claims(**ANA))
    memory.consolidate(**ANA)  # what else the same summary told was written anew
    assert texts(memory) == CLAIMS - {"Copper is a metal"}
    assert memory.stats(**ANA).claims == 2


def test_what_is_brought_back_from_the_archive_is_read_anew(memory):
    memory.consolidate(**ANA)
    for decision in evict(memory).decisions:
        memory.undo(decision.id, **ANA)
    assert texts(memory) == CLAIMS
    assert memory.consolidate(**ANA).claims == 3
    assert texts(memory) == CLAIMS


def test_the_end_of_a_class_ends_its_claims_also_in_the_archive(tenant, embedder, clock):
    with connect(tenant, embedder, clock, lifecycle=OLDEST | {"cap": 2}) as memory:
        end = clock.now + timedelta(days=60)
        memory.add_many([{"text": text, "speaker": "Ana", "session": "s", "expires": end} for text in TALK[:4]], **ANA)
        clock.later(timedelta(days=40))
        memory.consolidate(**ANA)
        assert memory.evict(**ANA).notes
        assert texts(memory) == CLAIMS
        clock.later(timedelta(days=30))
        assert texts(memory) == set()


# ---- what was recalled ------------------------------------------------------------------------


def test_what_was_recalled_is_read_anew_and_its_claims_decay_only_without_that(tenant, embedder, clock):
    told = {}
    for reread in (False, True):
        mine = {"user_id": f"ana-{reread}"}
        with connect(tenant, embedder, clock, claims={"reread": reread}, use={"record": "on"}) as memory:
            memory.add("Whales are mammals.", **mine)
            memory.consolidate(**mine)
            for number in range(3):
                memory.add({"text": f"Ana rowed to island {number} in the fog.", "session": f"d{number}"}, **mine)
                clock.later(timedelta(hours=1))
                assert memory.context("Are whales mammals?", **mine).entries
                memory.flush()
                memory.consolidate(**mine)
            told[reread] = memory.claims("whales", **mine)[0].confidence
            clock.later(timedelta(hours=1))
            assert memory.consolidate(**mine).notes == 0  # what was not shown since is not
    assert told == pytest.approx({False: 0.3 * 0.95**3, True: 0.3})
