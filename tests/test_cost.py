"""Costs add up, unknown ones too, and a budget says no before it is passed."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from memgraph_engine.cost import NOTHING, Budget, Cost
from memgraph_engine.errors import BudgetSpent
from memgraph_engine.llm.spent import Meter, budget_of, reserved
from memgraph_engine.settings import BudgetSettings


def test_costs_add_up():
    assert Cost(1, 2, 3, 0.5, 4.0) + Cost(10, 20, 30, 0.25, 40.0) == Cost(11, 22, 33, 0.75, 44.0)
    assert NOTHING + NOTHING == NOTHING


def test_an_unknown_price_stays_unknown():
    assert (Cost(money=None) + Cost(money=1.0)).money is None
    assert (Cost(money=1.0) + Cost(money=None)).money is None


@pytest.mark.parametrize("budget", [Budget(calls=2), Budget(tokens=20), Budget(money=0.2)])
def test_a_budget_can_be_used_up_but_not_passed(budget):
    one = Cost(1, 6, 4, 0.1)
    assert budget.allows(one, one)
    assert not budget.allows(one + one, one)


def test_prices_that_are_no_binary_fractions_fit_to_the_last():
    one = Cost(1, money=0.1)
    assert Budget(money=0.3).allows(one + one, one)


def test_an_unknown_price_fits_no_limit_of_money_but_any_other():
    unknown = Cost(1, 10, 10, None)
    assert not Budget(money=100.0).allows(NOTHING, unknown)
    assert Budget(calls=1, tokens=20).allows(NOTHING, unknown)


def test_zero_in_the_settings_is_no_limit():
    assert budget_of(BudgetSettings()) == Budget()
    assert Budget().allows(Cost(10**9, 10**9, 10**9, 1e9), Cost(1, 1, 1, None))


def test_calls_at_the_same_time_never_pass_a_budget_together():
    meter = Meter(Budget(calls=5, money=0.5))
    together = Barrier(8)

    def calls(_):
        together.wait()
        made = 0
        for _ in range(20):
            try:
                with meter.reserved(Cost(1, money=0.1)) as bill:
                    bill.append(Cost(1, money=0.1))
                    made += 1
            except BudgetSpent:
                pass
        return made

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(calls, range(8))) == 5
    assert meter.spent.calls == 5


def test_what_runs_is_reserved_at_its_estimate():
    meter = Meter(Budget(tokens=100))
    with meter.reserved(Cost(1, 0, 60)), pytest.raises(BudgetSpent), meter.reserved(Cost(1, 0, 60)):
        pass
    with meter.reserved(Cost(1, 0, 60)):
        pass


def test_a_call_that_may_be_on_the_bill_counts_as_expected():
    meter = Meter(Budget(money=1.0))
    with meter.reserved(Cost(1, 50, 50, 0.4)) as bill:
        bill.append(Cost(1, money=None))
    assert meter.spent.money is None
    assert meter.charged == Cost(1, 50, 50, 0.4)


def test_a_call_that_one_of_two_budgets_refuses_is_reserved_on_neither():
    day, call = Meter(Budget(calls=2)), Meter(Budget(calls=1))
    with reserved([day, call], Cost(1)) as bill:
        bill.append(Cost(1))
    with pytest.raises(BudgetSpent), reserved([day, call], Cost(1)):
        pass
    with reserved([day], Cost(1)):
        pass
    assert (day.spent.calls, call.spent.calls) == (1, 1)


def test_what_was_spent_before_counts():
    meter = Meter(Budget(calls=3), spent=Cost(3), name="the day's budget")
    with pytest.raises(BudgetSpent, match="the day's budget of 3 calls; 3 calls"), meter.reserved(Cost(1)):
        pass
    assert meter.spent == NOTHING
