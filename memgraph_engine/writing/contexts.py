"""Contexts that follow from the sources are made anew when these change.

A local context repeats the turn before. Once that turn is deleted, corrected or gone, no context may hold it.
Nor may one hold what ends earlier than its own note: nothing is made anew when something expires.
What a chat model or the user wrote is left alone.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.graph import notes, sources
from memgraph_engine.graph.database import Database
from memgraph_engine.graph.notes import Found, Rendering, Revision
from memgraph_engine.language.terms import tokenize
from memgraph_engine.lifecycle.policies import quoted
from memgraph_engine.model.memory import Key, Source
from memgraph_engine.model.scope import Scope
from memgraph_engine.recall.question import Filters
from memgraph_engine.rendering.context import Text, render, terms
from memgraph_engine.writing.commit import retried
from memgraph_engine.writing.transaction import Transaction

Repeatable = Mapping[Key, Source | None]
"""By a source's key: what a context may repeat of it from now on."""
_NONE: Key = ("", 0)
Outdated = tuple[Found, str]
"""A note, and the local context that it should have."""


@dataclass(frozen=True, slots=True)
class Turns:
    """What stands around the sources that change, and what contexts may repeat of them from now on."""

    around: Mapping[Key, sources.Around]
    now: Repeatable

    @classmethod
    def after(cls, db: Database, scope: str, changed: Repeatable, leaving: Collection[str] = ()) -> "Turns":
        """Read what is around the `changed` sources; the place of one (its id) that leaves takes the turn before it."""
        every = sources.around(db, scope, {*(key[0] for key in changed), *leaving})
        around = {key: one for key, one in every.items() if key in changed or key[0] in leaving}
        replaced = {key: _before(key, around, changed, leaving) for key in around if key[0] in leaving}
        return cls(around, {**changed, **replaced})

    def context(self, of: Found, language: str) -> str:
        """Return the context that a note has as it is `of`, once the sources have changed."""
        turns = [(source, quoted(self._previous(source.key), source, of.note)) for source in of.note.sources]
        return render(turns, language).context

    def _previous(self, key: Key) -> Source | None:
        one = self.around.get(key)
        return self.now.get(one.previous_key or _NONE, one.previous) if one else None


def follow(transaction: Transaction, decision: str, changed: Repeatable, without: Collection[str] = ()) -> None:
    """Plan new contexts for the notes of the turns after the `changed` sources; those `without` have theirs."""
    rewrite(transaction, decision, Turns.after(transaction.db, transaction.scope.name, changed), without)


def rewrite(transaction: Transaction, decision: str, turns: Turns, without: Collection[str] = ()) -> None:
    """Plan new contexts for the notes of the turns after those that change, but not those of the notes `without`."""
    followers = {note for one in turns.around.values() for note in one.followers} - set(without)
    found = notes.renderings(transaction.db, transaction.scope.name, sorted(followers))
    _rewrite(transaction, decision, outdated(found, transaction.language, turns.now))


def outdated(found: Iterable[Rendering], language: str, now: Repeatable = MappingProxyType({})) -> dict[str, Outdated]:
    """Return the notes whose local context is no longer what their turns make of it, each with that."""
    rendered = ((one.found, local(one, now, language)) for one in found if not one.found.constructed_by)
    return {one.note.id: (one, context) for one, context in rendered if context != one.note.context}


def render_anew(engine: Engine, scope: Scope) -> int:
    """Render the local contexts of a scope's notes anew, a page in a transaction; return how many changed."""
    pages = notes.pages(engine.db, scope.name, Filters().listing())
    return sum(_render(engine, scope, [note.id for note in page]) for page in pages)


@retried
def _render(engine: Engine, scope: Scope, ids: Sequence[str]) -> int:
    transaction = Transaction.begin(engine, scope)
    found = outdated(notes.renderings(engine.db, scope.name, ids), transaction.language)
    if found:
        _rewrite(transaction, transaction.decide("render").id, found)
        transaction.commit()
    return len(found)


def _rewrite(transaction: Transaction, decision: str, found: Mapping[str, Outdated]) -> None:
    for one, context in found.values():
        properties = terms_of(context, one.note.sources, transaction.language)
        transaction.revise(one, Revision(one.note.id, decision, properties, "rewritten"))


def texts_of(text: Text, sources: Sequence[Source], language: str) -> dict[str, Any]:
    """Return the properties of both texts of a note with these sources; what a model or a user told has none."""
    raw = {"raw": list(text.raw), "raw_terms": " ".join(terms(text.spoken, sources, language))}
    return {**raw, **terms_of(text.context, sources, language)}


def keywords_in(names: Iterable[str], given: Mapping[str, Any], language: str) -> tuple[str, ...]:
    """Return the keywords of which a note says all words, by the properties of its texts."""
    words = {*given["raw_terms"].split(), *given["context_terms"].split()}
    return tuple(name for name in names if set(tokenize(name, language)) <= words)


def terms_of(context: str, sources: Sequence[Source], language: str) -> dict[str, str]:
    """Return the properties of the context of a note with these sources; that of a text by a model has none."""
    return {"context": context, "context_terms": " ".join(terms(context, sources, language))}


def local(of: Rendering, now: Repeatable, language: str) -> str:
    """Return a note's local context."""
    note = of.found.note
    turns = [
        (now.get(turn.source.key) or turn.source, now.get(turn.previous_key or _NONE, turn.previous))
        for turn in of.turns
    ]
    return render([(source, quoted(before, source, note)) for source, before in turns], language).context


def _before(
    key: Key,
    around: Mapping[Key, sources.Around],
    now: Repeatable,
    leaving: Collection[str],
) -> Source | None:
    """Return the nearest turn before one that leaves, which stays and can be repeated."""
    seen = {key}
    while key in around:
        previous = around[key].previous_key
        if previous is None or previous in seen:
            return None
        if previous[0] not in leaving:
            return now.get(previous, around[key].previous)
        key = previous
        seen.add(key)
    return None
