"""What chat models cost a scope, day by day."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from memgraph_engine.graph.database import Database
from memgraph_engine.model.cost import Cost
from memgraph_engine.model.result import Spending


def days(db: Database, scope: str, since: date = date.min) -> list[Spending]:
    """Return what was spent on each day (UTC) with calls, newest first."""
    return [
        Spending(date.fromisoformat(row["day"]), _cost(row))
        for row in db.run("spending/days", scope=scope, since=since)
    ]


def _cost(row: Mapping[str, Any]) -> Cost:
    money = None if row["unknown"] else row["money"]
    return Cost(row["calls"], row["input_tokens"], row["output_tokens"], money)


def charged_on(db: Database, scope: str, now: datetime) -> Cost:
    """Return what counts against the budget of the day so far."""
    today = now.astimezone(UTC).date()
    for row in db.run("spending/days", scope=scope, since=today):
        if row["day"] == today.isoformat():
            return Cost(row["charged_calls"], row["charged_tokens"], 0, row["charged_money"])
    return Cost()


def add(db: Database, scope: str, now: datetime, cost: Cost, charged: Cost) -> None:
    """Add to the account of the day what calls cost, and what of it counts against the budget."""
    db.write(
        lambda tx: tx.run(
            "spending/add",
            scope=scope,
            day=now.astimezone(UTC).date(),
            calls=cost.calls,
            input_tokens=cost.input_tokens,
            output_tokens=cost.output_tokens,
            money=cost.money,
            charged={"calls": charged.calls, "tokens": charged.tokens, "money": charged.money},
        )
    )
