"""Change a profile: by what a message tells, or by what a program sets. Each change is a decision of its own.

A profile is stored nowhere: it follows from these decisions, and from the notes that tell them (`graph/decisions.py`).
"""

from uuid import uuid4

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput
from memgraph_engine.ingest.construct import waiting
from memgraph_engine.ingest.messages import check_name, check_text, source_of
from memgraph_engine.ingest.profiling import Profiled, evidence
from memgraph_engine.model.candidate import Placed
from memgraph_engine.model.marker import hides, without_marks
from memgraph_engine.model.memory import Source
from memgraph_engine.model.profile import LONGEST_NAME, LONGEST_VALUE, Delta
from memgraph_engine.model.result import Decision
from memgraph_engine.model.scope import Scope
from memgraph_engine.writing.commit import retried
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


def set_profile(engine: Engine, scope: Scope, name: str, value: str | None, given: str) -> Decision:
    """Give an attribute of a subject a value, or end what it has, in a decision. Raises InvalidInput."""
    label, subject = _line(name, "name", LONGEST_NAME).casefold(), subject_of(scope, given)
    if value is None:
        return _set(engine, scope, subject, Delta(label, "", ends=True))
    told = engine.redaction.text(_line(value, "value", LONGEST_VALUE), "value")
    message = {"text": f"{label}: {told}", "id": f"profile-{uuid4().hex}"}
    source = source_of(engine.settings, engine.policies, engine.redaction, scope, message, "value", engine.now())
    if source.apart:
        raise InvalidInput(
            f"The policy {source.policy!r} keeps this value apart, so it can't stand in a profile, which is in "
            "every prompt. Nothing was stored."
        )
    return _set(engine, scope, subject, Delta(label, told), source)


def subject_of(scope: Scope, given: object) -> str:
    """Return whose profile is meant, as it is stored; raises InvalidInput."""
    if given == "" and not scope.user:
        raise InvalidInput("Nobody is the user of the shared memory: say by subject whose profile is meant.")
    return "" if given == "" else check_name(given, "subject").casefold()


def _line(given: object, where: str, most: int) -> str:
    """Return a line that can stand in a profile; raises InvalidInput."""
    text = " ".join(check_text(given, where, most).split(" ")).strip()
    if len(text) > most or hides(text):
        raise InvalidInput(f"{where} must be one line of at most {most} characters: a profile is in every prompt.")
    return without_marks(text)


@retried
def _set(engine: Engine, scope: Scope, subject: str, delta: Delta, source: Source | None = None) -> Decision:
    """Decide it; a value is kept as a source without a note."""
    engine.open(scope)  # a profile may be the first that a memory holds
    transaction = Transaction.begin(engine, scope)
    sources, hash_ = ((source.id,), source.hash) if source else ((), "")
    told = {"evidence": evidence((delta,)), "subject": subject, "delta": (delta,), "hash": hash_}
    decision = transaction.decide("profile", "", sources, **told)
    if source:
        transaction.store(waiting([Placed(source, noise="what a program set")], transaction.language))
    transaction.commit()
    return decision
