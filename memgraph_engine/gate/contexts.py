"""Contexts that follow from the sources are made anew when these change.

A local context repeats the turn before. Once that turn is deleted, corrected or gone, no context may hold it.
What a chat model or the user wrote is left alone.
"""

from collections.abc import Collection, Mapping

from memgraph_engine.embedding import CheckedEmbedder
from memgraph_engine.gate.plan import Plan
from memgraph_engine.graph import notes, sources
from memgraph_engine.graph.database import Database
from memgraph_engine.graph.notes import Rendering, Revision, Turn
from memgraph_engine.language import tokenize
from memgraph_engine.model.memory import Source
from memgraph_engine.rendering import render

Repeatable = Mapping[str, Source | None]
"""By a source's id: what a context may repeat of it from now on."""


def rewrite(
    db: Database,
    plan: Plan,
    decision: str,
    changed: Repeatable,
    *,
    language: str,
    embedder: CheckedEmbedder,
    leaving: Collection[str] = (),
    without: Collection[str] = (),
) -> None:
    """Plan new contexts for the notes of the turns after the `changed` ones, but not those of the notes `without`.

    Of a source that is `leaving`, the turn before it takes the place.
    """
    scope = plan.scope.name
    around = sources.around(db, scope, sorted(changed))
    now = dict(changed)
    for id in leaving:  # noqa: A001  oldest turns first would matter only for runs of leaving turns
        now[id] = _before(id, around, now, leaving)
    followers = {note for one in around.values() for note in one.followers} - set(without)
    found = [one for one in notes.renderings(db, scope, sorted(followers)) if not one.found.constructed_by]
    contexts = {one.found.note.id: context(one, now, language) for one in found}
    stale = [one.found for one in found if contexts[one.found.note.id] != one.found.note.context]
    vectors = embedder.embed_documents([contexts[one.note.id] for one in stale])
    for one, made in zip(stale, vectors, strict=True):
        text, vector = contexts[one.note.id], None if one.note.status == "pending" else made
        properties = {"context": text, "context_terms": " ".join(tokenize(text, language))}
        plan.revise(one, Revision(one.note.id, decision, properties, "rewritten", context_vector=vector))


def context(of: Rendering, changed: Repeatable, language: str) -> str:
    """Return a note's local context, as it is once the `changed` sources are."""
    return render([(changed.get(t.source.id) or t.source, _previous(t, changed)) for t in of.turns], language).context


def _previous(turn: Turn, changed: Repeatable) -> Source | None:
    return changed.get(turn.previous_id or "", turn.previous)


def _before(
    id: str,  # noqa: A002
    around: Mapping[str, sources.Around],
    now: Mapping[str, Source | None],
    leaving: Collection[str],
) -> Source | None:
    """Return the nearest turn before one that leaves, which stays and can be repeated."""
    seen = {id}
    while id in around:
        previous = around[id].previous
        if previous is None or previous.id in seen:
            return None
        if previous.id not in leaving:
            return now.get(previous.id, previous)
        id = previous.id  # noqa: A001
        seen.add(id)
    return None
