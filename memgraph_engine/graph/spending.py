"""What chat models cost a scope, day by day."""

from collections.abc import Callable
from datetime import UTC, date, datetime

from memgraph_engine.cost import NOTHING, Cost
from memgraph_engine.errors import NotFound
from memgraph_engine.graph.database import Database, Runner
from memgraph_engine.graph.rows import made
from memgraph_engine.model.result import Spending


def days(db: Database, scope: str, since: date = date.min) -> list[Spending]:
    """Return what was spent on each day (UTC) with calls, newest first."""
    return [
        Spending(date.fromisoformat(row["day"]), made(Cost, row, money=None if row["unknown"] else row["money"]))
        for row in db.run("spending/days", scope=scope, since=since)
    ]


def add(db: Database, scope: str, now: datetime, cost: Cost, charged: Cost) -> None:
    """Add to the account of the day what calls cost, and what of it counts against the budget.

    A memory that was removed meanwhile has no account: nothing is written.
    """

    def work(tx: Runner) -> None:
        given = {name: getattr(cost, name) for name in ("calls", "input_tokens", "output_tokens", "money")}
        tx.run("spending/add", scope=scope, day=_day(now), **given)
        _charge(tx, scope, now, charged)

    db.write(work)


def reserve(db: Database, scope: str, now: datetime, estimate: Cost, check: Callable[[Cost, Cost], None]) -> None:
    """Charge what a call may cost to the day, unless `check` of what is charged so far and the estimate objects.

    Both happen under the scope's lock. Raises NotFound for a memory that was removed meanwhile.
    """

    def work(tx: Runner) -> None:
        charged = _charge(tx, scope, now, NOTHING)
        if charged is None:
            raise NotFound(f"{scope!r} was removed meanwhile, so no model is asked for it.")
        check(charged, estimate)
        _charge(tx, scope, now, estimate)

    db.write(work)


def settle(db: Database, scope: str, now: datetime, estimate: Cost, charged: Cost) -> None:
    """Charge to the day what a call cost in place of its estimate; nothing for a memory that was removed meanwhile."""
    money = (charged.money or 0.0) - (estimate.money or 0.0)
    less = Cost(charged.calls - estimate.calls, charged.tokens - estimate.tokens, 0, money)
    db.write(lambda tx: _charge(tx, scope, now, less))


def _charge(tx: Runner, scope: str, now: datetime, cost: Cost) -> Cost | None:
    """Charge a cost to the day, and return what is charged then, None if there is no such scope.

    An unknown price is none, and no budget takes it.
    """
    given = {"calls": cost.calls, "tokens": cost.tokens, "money": cost.money or 0.0}
    for row in tx.run("spending/charge", scope=scope, day=_day(now), charged=given):
        return Cost(row["calls"], row["tokens"], 0, row["money"])
    return None


def _day(now: datetime) -> date:
    return now.astimezone(UTC).date()
