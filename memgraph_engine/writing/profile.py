"""Change a profile: by what a message tells, or by what a program sets. Each change is a decision of its own.

A profile is stored nowhere: it follows from these decisions, and from the notes that tell them (`graph/profiles.py`).
"""

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.ingest.construct import Placed, waiting
from memgraph_engine.ingest.profiling import Profiled, evidence
from memgraph_engine.model.memory import Source
from memgraph_engine.model.profile import Delta
from memgraph_engine.model.result import Decision
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing.commit import Stale, retried
from memgraph_engine.writing.transaction import Transaction


def change_profile(transaction: Transaction, source: Source, note: str, told: Profiled) -> None:
    """Note what a source tells of a profile, if anything; `note` tells the source."""
    if told.delta:
        transaction.decide(
            "profile",
            note,
            (source.id, *told.beside),
            evidence=evidence(told.delta),
            model=told.model,
            cost=told.cost,
            subject=told.subject,
            delta=told.delta,
            hash=source.hash,
        )


@retried
def set_attribute(engine: Engine, scope: Scope, subject: str, name: str, value: str, source: Source | None) -> Decision:
    """Give an attribute a value, which `source` holds; without one the attribute ends."""
    transaction = Transaction.begin(engine, scope)
    if not transaction:
        raise Stale
    delta = (Delta(name, value, ends=source is None),)
    sources, hash_ = ((source.id,), source.hash) if source else ((), "")
    told = {"evidence": evidence(delta), "subject": subject, "delta": delta, "hash": hash_}
    decision = transaction.decide("profile", "", sources, **told)
    if source:
        transaction.store(waiting([Placed(source, noise="what a program set")], transaction.language))
    transaction.commit()
    return decision
