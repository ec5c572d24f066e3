"""Change a profile: by what a message tells, or by what a program sets. Each change is a decision of its own.

A profile is stored nowhere: it follows from these decisions, and from the notes that tell them (`graph/profiles.py`).
"""

from datetime import datetime
from uuid import uuid4

from memgraph_engine.graph import scopes
from memgraph_engine.graph.database import Database
from memgraph_engine.ingest.construct import Placed, waiting
from memgraph_engine.ingest.profiling import Profiled, evidence
from memgraph_engine.model.memory import Source
from memgraph_engine.model.profile import Delta
from memgraph_engine.model.result import Decision
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing.commit import Stale
from memgraph_engine.writing.transaction import Transaction


def change_profile(transaction: Transaction, source: Source, note: str, told: Profiled) -> None:
    """Note what a source tells of a profile, if anything; `note` tells the source."""
    if told.delta:
        transaction.decide(
            Decision(
                uuid4().hex,
                "profile",
                transaction.now,
                note,
                (source.id, *told.beside),
                evidence=evidence(told.delta),
                model=told.model,
                cost=told.cost,
                subject=told.subject,
                delta=told.delta,
                hash=source.hash,
            )
        )


def set_attribute(
    db: Database, scope: Scope, subject: str, name: str, value: str, source: Source | None, language: str, now: datetime
) -> Decision:
    """Give an attribute a value, which `source` holds; without one the attribute ends. Raises Stale."""
    state = scopes.state(db, scope.name)
    if not state:
        raise Stale
    transaction = Transaction(scope, state.version, now)
    delta = (Delta(name, value, ends=source is None),)
    decision = transaction.decide(
        Decision(
            uuid4().hex,
            "profile",
            now,
            "",
            (source.id,) if source else (),
            evidence=evidence(delta),
            subject=subject,
            delta=delta,
            hash=source.hash if source else "",
        )
    )
    if source:
        transaction.store(waiting([Placed(source, noise="what a program set")], language))
    transaction.commit(db)
    return decision
