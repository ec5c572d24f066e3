"""Give a note, or a message with all of its notes, another text."""

from dataclasses import replace

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput
from memgraph_engine.graph import notes, sources
from memgraph_engine.ingest.construct import Placed
from memgraph_engine.ingest.messages import content_hash
from memgraph_engine.ingest.passages import of_message
from memgraph_engine.model.memory import Source
from memgraph_engine.model.result import Decision
from memgraph_engine.model.scope import Scope
from memgraph_engine.rendering.context import render
from memgraph_engine.writing import change
from memgraph_engine.writing.construction import Work, construct_alone, tell
from memgraph_engine.writing.lives import unsummed
from memgraph_engine.writing.profile import change_profile
from memgraph_engine.writing.rewording import Reworded, reword


@unsummed
def update(engine: Engine, scope: Scope, id: str, text: str, like: Source | None = None) -> Decision:
    """Give a note, or a message with all of its notes, a new text, and tags and metadata `like` a source's."""
    at = change.target(engine, scope, id)
    if at.source.kind == "item":
        raise InvalidInput(f"{id!r} of {scope} is an item of a store: it is changed there, by its key.")
    if at.whole:
        with Work.begin(engine, scope) as work:
            return _reword(work, at, text, like)
    changed = replace(at.source, text=text)
    changed = replace(changed, hash=content_hash(changed))
    waits = at.found.note.status == "pending"
    (candidate,) = construct_alone(at.transaction, [Placed(changed)], waits=waits)
    if at.found.note.raw == (candidate.raw,) and (made := _made(engine, scope, at.found)):
        return made
    return change.update(at, candidate)


def _reword(work: Work, at: change.Target, text: str, like: Source | None) -> Decision:
    """Give a source a new text."""
    engine, scope, language = work.engine, work.scope, at.transaction.language
    old = sources.passages(engine.db, scope.name, at.whole)
    new = replace(sources.joined(old), text=text)
    new = replace(new, tags=like.tags, metadata=like.metadata) if like else new
    new = replace(new, hash=content_hash(new))
    told = at.message or at.found.note.raw == render([(new, None)], language).raw
    if told and new.hash == old[0].hash and (made := _made(engine, scope, at.found)):
        return made
    if at.found.note.status != "pending":  # else it is read when it is constructed
        for one in tell(work, language, [new]).values():
            change_profile(at.transaction, new, at.found.note.id, one)
    stored = notes.renderings(engine.db, scope.name, [one.note.id for one in at.notes])
    return reword(at.transaction, Reworded(old, of_message(new, engine.settings.passage), stored))


def _made(engine: Engine, scope: Scope, found: notes.Found) -> Decision | None:
    """Return the update that made a note what it is, if one did: a text that is given twice is one update."""
    made = notes.history(engine.db, scope.name, found.note.id)[-1].decision
    return made if made and made.kind == "update" else None
