"""What models cost is counted, told and limited; a message is stored whatever the budget says."""

import os
import subprocess
import sys
from datetime import UTC, date, datetime
from threading import Barrier, Thread

import pytest

from memgraph_engine.cost import Cost
from memgraph_engine.errors import InvalidInput, ModelUnavailable
from memgraph_engine.model.ports import Reply
from memgraph_engine.testing import ScriptedChat
from tests.models import extracted, memory_with, said

BUOYS = [f"Buoy {name} is green." for name in ("one", "two", "three", "four")]


def reply(context="A buoy.", money=0.1):
    return Reply(said(extracted(context)), Cost(1, 100, 20, money))


class Priced(ScriptedChat):
    """A scripted model whose price is known."""

    def estimate(self, messages, max_tokens):
        return Cost(1, 100, 50, 0.25)


def alone(tenant, embedder, chat, **given):
    return memory_with(tenant, embedder, chat, only=["extraction"], **given)


def test_a_receipt_tells_cost_and_seconds_by_stage(tenant, embedder):
    with alone(tenant, embedder, [reply()]) as (memory, _):
        receipt = memory.add(BUOYS[0], user_id="ana")
        assert (receipt.cost.calls, receipt.cost.input_tokens, receipt.cost.output_tokens) == (1, 100, 20)
        assert receipt.cost.money == 0.1
        assert {"extract", "construct", "gate", "write", "look-up"} <= set(receipt.seconds)
        assert all(seconds >= 0 for seconds in receipt.seconds.values())
        assert memory.decisions(user_id="ana")[0].cost.money == 0.1


def test_without_a_model_nothing_is_spent(memory):
    receipt = memory.add(BUOYS[0], user_id="ana")
    assert (receipt.cost, receipt.fallbacks, memory.cost(user_id="ana")) == (Cost(), (), [])


def test_a_memorys_cost_is_kept_by_day(tenant, embedder):
    with alone(tenant, embedder, [reply(), reply(), reply()]) as (memory, _):
        for place, day in enumerate((1, 1, 2)):
            then = datetime(2026, 3, day, 12, tzinfo=UTC)
            object.__setattr__(memory.engine, "clock", lambda then=then: then)
            memory.add(BUOYS[place], user_id="ana")
        second, first = memory.cost(user_id="ana")
        assert (first.day, first.cost.calls, first.cost.tokens) == (date(2026, 3, 1), 2, 240)
        assert first.cost.money == pytest.approx(0.2)
        assert (second.day, second.cost.calls) == (date(2026, 3, 2), 1)
        assert memory.cost(user_id="ana", since="2026-03-02") == [second]
        assert memory.cost(user_id="bo") == []
        with pytest.raises(InvalidInput, match="since"):
            memory.cost(user_id="ana", since="yesterday")


def test_an_unknown_price_makes_the_sum_unknown(tenant, embedder):
    with alone(tenant, embedder, [reply(), reply(money=None)]) as (memory, _):
        memory.add(BUOYS[0], user_id="ana")
        assert memory.add(BUOYS[1], user_id="ana").cost.money is None
        assert memory.cost(user_id="ana")[0].cost.money is None


def test_what_fails_is_paid_for_too(tenant, embedder):
    lost = ModelUnavailable("Too slow.", Cost(1, 70, 0, 0.01))
    with alone(tenant, embedder, [Reply("no", Cost(1, 100, 1, 0.1)), lost]) as (memory, _):
        receipt = memory.add(BUOYS[0], user_id="ana")
        assert receipt.fallbacks == ("Extraction was done without a model: Too slow.",)
        assert (receipt.cost.calls, receipt.cost.tokens) == (2, 171)
        assert memory.cost(user_id="ana")[0].cost.money == pytest.approx(0.11)
        assert memory.decisions(user_id="ana")[0].cost.calls == 0


def test_a_write_that_fails_is_paid_for_too(tenant, embedder, monkeypatch):
    from memgraph_engine.errors import Unreachable
    from memgraph_engine.writing.transaction import Transaction

    def broken(*_):
        raise Unreachable("gone")

    with alone(tenant, embedder, [reply()]) as (memory, _):
        monkeypatch.setattr(Transaction, "commit", broken)
        with pytest.raises(Unreachable):
            memory.add(BUOYS[0], user_id="ana")
        assert memory.cost(user_id="ana")[0].cost.calls == 1


# ---- budgets --------------------------------------------------------------------------------------


def test_a_budget_of_a_call_stops_before_it_is_passed(tenant, embedder):
    limits = {"batch_tokens": 10, "concurrency": 1, "call_budget": {"calls": 2}}
    with alone(tenant, embedder, [reply("One."), reply("Two.")], llm=limits) as (memory, chat):
        receipt = memory.add_many(BUOYS, user_id="ana")
        assert (len(receipt.entries), receipt.cost.calls, chat.left) == (4, 2, 0)
        (why,) = receipt.fallbacks
        assert "could pass the budget of this call of 2 calls" in why
        assert memory.stats(user_id="ana").sources == 4
        assert memory.cost(user_id="ana")[0].cost.calls == 2


def test_the_next_call_has_a_budget_of_its_own(tenant, embedder):
    with alone(tenant, embedder, [reply(), reply()], llm={"call_budget": {"calls": 1}}) as (memory, _):
        assert [memory.add(buoy, user_id="ana").fallbacks for buoy in BUOYS[:2]] == [(), ()]


def test_a_budget_of_the_day_holds_for_all_calls_of_a_scope(tenant, embedder):
    with alone(tenant, embedder, [reply(), reply()], llm={"day_budget": {"calls": 1}}) as (memory, _):
        assert memory.add(BUOYS[0], user_id="ana").fallbacks == ()
        receipt = memory.add(BUOYS[1], user_id="ana")
        assert (receipt.entries[0].status, receipt.cost.calls) == ("active", 0)
        assert f"today's budget of user 'ana' of tenant '{tenant}'" in receipt.fallbacks[0]
        assert memory.add(BUOYS[1], user_id="bo").fallbacks == ()
        assert memory.stats(user_id="ana").sources == 2


def test_a_new_day_has_a_new_budget(tenant, embedder):
    with alone(tenant, embedder, [reply(), reply()], llm={"day_budget": {"calls": 1}}) as (memory, _):
        for place in (0, 1):
            then = datetime(2026, 3, 1 + place, 12, tzinfo=UTC)
            object.__setattr__(memory.engine, "clock", lambda then=then: then)
            assert memory.add(BUOYS[place], user_id="ana").fallbacks == ()


def test_a_budget_of_money_counts_what_was_paid_and_holds_back_what_may_be(tenant, embedder):
    chat = Priced([reply(money=0.1), reply(money=0.1), reply(money=0.1)])
    with alone(tenant, embedder, chat, llm={"day_budget": {"money": 0.4}}) as (memory, _):
        told = [memory.add(buoy, user_id="ana").fallbacks for buoy in BUOYS[:3]]
        assert told[:2] == [(), ()]
        assert "0.2000 dollars are spent" in told[2][0]
        assert memory.cost(user_id="ana")[0].cost.money == pytest.approx(0.2)


def test_without_a_price_no_budget_of_money_lets_a_call_pass(tenant, embedder):
    with alone(tenant, embedder, [], llm={"day_budget": {"money": 0.4}}) as (memory, _):
        receipt = memory.add(BUOYS[0], user_id="ana")
        assert "price is not known" in receipt.fallbacks[0]
        assert memory.cost(user_id="ana") == []


def test_what_was_spent_without_a_budget_counts_when_there_is_one(tenant, embedder):
    with alone(tenant, embedder, [reply()]) as (memory, _):
        memory.add(BUOYS[0], user_id="ana")
    with alone(tenant, embedder, [], llm={"day_budget": {"calls": 1}}) as (memory, _):
        assert len(memory.add(BUOYS[1], user_id="ana").fallbacks) == 1


def test_a_budget_of_the_day_is_not_passed_by_clients_at_the_same_time(tenant, embedder):
    barrier, calls, fallbacks = Barrier(4), [], []

    class Slow(ScriptedChat):
        def chat(self, messages, **given):
            calls.append(1)
            return super().chat(messages, **given)

    def write(place):
        with alone(tenant, embedder, Slow([reply()]), llm={"day_budget": {"calls": 2}}) as (memory, _):
            barrier.wait()
            fallbacks.extend(memory.add(BUOYS[place], user_id="ana").fallbacks)

    writing = [Thread(target=write, args=(place,)) for place in range(4)]
    for one in writing:
        one.start()
    for one in writing:
        one.join()
    assert (len(calls), len(fallbacks)) == (2, 2)


DYING = """
import os, signal
from memgraph_engine import Memory, Settings
class Chat:
    name = "dying"
    def chat(self, messages, **given):
        os.kill(os.getpid(), signal.SIGKILL)
settings = Settings.load(llm={"day_budget": {"calls": 1}, "roles": {"gating": {"model": ""}}})
with Memory.connect(tenant=os.environ["TENANT"], settings=settings, llm=Chat()) as memory:
    memory.add("Buoy one is green.", user_id="ana")
"""


@pytest.mark.slow
def test_a_call_that_somebody_died_over_stays_on_the_bill(tenant, embedder):
    environment = {**os.environ, "TENANT": tenant}
    assert subprocess.run([sys.executable, "-c", DYING], env=environment, check=False).returncode == -9
    with alone(tenant, embedder, [], llm={"day_budget": {"calls": 1}}) as (memory, _):
        assert len(memory.add(BUOYS[0], user_id="ana").fallbacks) == 1
