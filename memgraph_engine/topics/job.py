"""The topics job of one memory with the parts that the settings name; what chat models cost is written down."""

from collections.abc import Callable

from memgraph_engine.engine.account import on_account
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput
from memgraph_engine.model.ports import Partitioner
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.topic import TopicRun


def partitioner_of(engine: Engine, given: str | Partitioner | None = None) -> Partitioner:
    """Return the given partition engine, which may be a name, else that of the settings; raises MissingExtra."""
    from memgraph_engine.topics.engines import engine_named

    chosen = engine.settings.topics.engine if given is None else given
    if isinstance(chosen, str):
        return engine_named(chosen)
    if not (hasattr(chosen, "partition") and hasattr(chosen, "name")):  # bytes have the one, which is another
        raise InvalidInput(
            f"engine must be a name, or have a `name` and a method `partition`; {chosen!r} has not both."
        )
    return chosen


def rebuild_topics(
    engine: Engine,
    scope: Scope,
    partitioner: str | Partitioner | None = None,
    progress: Callable[[str], None] | None = None,
) -> TopicRun:
    """Run the topics job over a memory; `progress` is told each phase, and ends the job by raising."""
    from memgraph_engine.topics.naming import Labeller
    from memgraph_engine.topics.rebuild import rebuild

    one = partitioner_of(engine, partitioner)
    with on_account(engine, scope) as spent:
        return rebuild(engine, scope, one, progress, Labeller(engine.roles, spent))
