"""A name that there is not is answered with the one that is meant, on every surface alike."""

import asyncio

import pytest

from memgraph_engine import InvalidInput
from memgraph_engine.aio import AsyncMemory
from memgraph_engine.interface.arguments import ARGUMENTS, did_you_mean
from memgraph_engine.interface.filters import FILTERS, filters_of, unknown

NUMBERS = ("limit", "k", "n", "size", "count", "topk", "top_n", "max_results")


@pytest.mark.parametrize("name", [*NUMBERS, "nResults", "TOP-K"])
def test_how_many_is_top_k(name):
    told = unknown([name], FILTERS, ("top_k",))
    assert told.startswith(f"There is no filter {name!r}. Did you mean 'top_k'? The filters are session, speaker")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("sesion", "session"),
        ("session_id", "session"),
        ("thread_id", "session"),
        ("agentId", "agent"),
        ("speker", "speaker"),
        ("userId", "user_id"),
        ("user", "user_id"),
        ("threshold", "min_similarity"),
        ("where", "metadata"),
    ],
)
def test_other_names_of_filters_and_slips_are_known(name, meant):
    assert did_you_mean(name, (*FILTERS, "user_id")) == f" Did you mean {meant!r}?"


def test_what_resembles_nothing_is_only_refused():
    assert unknown(["colour"], FILTERS) == f"There is no filter 'colour'. The filters are {', '.join(FILTERS)}."
    with pytest.raises(InvalidInput, match="There is no filter 'colour'"):
        filters_of({"colour": ["red"]})
    assert unknown(FILTERS, FILTERS) == ""


def test_no_name_of_an_argument_stands_for_two_of_one_call():
    arguments = ("user_id", "top_k", *FILTERS)
    others = [other for name in arguments for other in ARGUMENTS.get(name, ())]
    assert len(others) == len(set(others))
    assert not set(others) & set(arguments)


@pytest.mark.integration
@pytest.mark.parametrize("name", NUMBERS)
def test_memory_names_top_k(memory, name):
    for call in (memory.search, memory.context, memory.answer):
        with pytest.raises(TypeError, match="Did you mean 'top_k'"):
            call("Where?", user_id="ana", **{name: 3})
    with pytest.raises(TypeError, match="Did you mean 'top_k'"):
        asyncio.run(AsyncMemory(memory).search("Where?", user_id="ana", **{name: 3}))


@pytest.mark.integration
def test_a_listing_has_no_number(memory):
    for call in (memory.get_all, memory.delete_all):
        with pytest.raises(TypeError, match="Did you mean 'session'"):
            call(user_id="ana", sesion="s")
        with pytest.raises(TypeError, match=r"There is no filter 'limit'\. The filters are"):
            call(user_id="ana", limit=3)
