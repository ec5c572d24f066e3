"""What a query to forget means. A context may tell too much; an erasure may not, so relevance chooses nothing here.

What holds each content word of the query, in one passage, is meant. What only looks alike, holds some of the words, or
belongs to what is meant, is near: it is told, and stays unless it is asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memgraph_engine.graph.erasures import Said
from memgraph_engine.language import CLOSED, LISTED, listed_terms, tokenize
from memgraph_engine.model.result import Chosen

_HALF = 0.5  # of the query's words, from which a source is near


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a query means to forget: what is `meant` and what is `near`, by the sources' ids, the best first."""

    meant: Mapping[str, Chosen]
    near: Mapping[str, Chosen]


def meaning(query: str, said: Sequence[Said], found: Mapping[str, float | None], user: str, language: str) -> Meaning:
    """Return what a query means of all that is said; `found` is the relevance of the notes that a search found.

    >>> texts = {"1": "The wifi password is hunter2.", "2": "I drink green tea.", "3": "The wifi is slow."}
    >>> said = [Said(id, (text,), frozenset((f"n{id}",)), frozenset()) for id, text in texts.items()]
    >>> made = meaning("our wifi passwords", said, {"n2": 0.4}, "ana", "english")
    >>> [one.why for one in made.meant.values()]
    ['It holds "wifi" and "password".']
    >>> [one.why for one in made.near.values()]
    ['It holds "wifi", not all of the words.', 'A search finds it (relevance 0.40).']
    """
    terms = content(query, user, language)
    rank = {note: at for at, note in enumerate(found)}
    ordered = sorted(said, key=lambda one: min((rank[note] for note in one.notes if note in rank), default=len(rank)))
    held = {one.id: max((_held(text, terms, language) for text in one.texts), key=len, default={}) for one in ordered}
    meant = {
        one.id: Chosen(one.id, "", f"It holds {_listed(held[one.id])}.", _status(one))
        for one in ordered
        if terms and held[one.id].keys() == terms
    }
    told = frozenset(note for one in ordered if one.id in meant for note in one.notes)
    near = {
        one.id: Chosen(one.id, "", why, _status(one))
        for one in sorted(ordered, key=lambda one: -len(held[one.id]))
        if one.id not in meant and (why := _near(one, held[one.id], terms, found, told))
    }
    return Meaning(meant, near)


def content(query: str, user: str, language: str) -> frozenset[str]:
    """Return the terms of a query that tell what it is about: none of grammar, nor the name of the user.

    >>> sorted(content("what is Ana's wifi password", "ana", "english"))
    ['password', 'wifi']
    """
    words = frozenset(tokenize(query, language))
    told = words - listed_terms(language, *CLOSED) if language in LISTED else words
    return told - frozenset(tokenize(user, language)) or told


def _held(text: str, terms: frozenset[str], language: str) -> dict[str, str]:
    """Return the terms that a text holds, each as it is written there."""
    found: dict[str, str] = {}
    if terms.isdisjoint(tokenize(text, language)):
        return found
    for word in text.split():
        for term in tokenize(word, language):
            if term in terms:
                found.setdefault(term, word.strip(".,;:!?()[]\"'“”¿¡"))
    return found


def _near(
    one: Said, held: Mapping[str, str], terms: frozenset[str], found: Mapping[str, float | None], told: frozenset[str]
) -> str:
    """Say why a source that is not meant is near to what is, or ''."""
    if not told.isdisjoint(one.notes):
        return "A note tells it together with what is meant."
    if not told.isdisjoint(one.changes):
        return "It took the place of what is meant, or that of it."
    if terms and len(held) / len(terms) >= _HALF:
        return f"It holds {_listed(held)}, not all of the words."
    hits = [found[note] for note in one.notes if note in found]
    if not hits:
        return ""
    relevance = max((hit for hit in hits if hit is not None), default=None)
    return "A search finds it." if relevance is None else f"A search finds it (relevance {relevance:.2f})."


def _listed(held: Mapping[str, str]) -> str:
    words = [f'"{word}"' for word in held.values()]
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def _status(one: Said) -> str:
    """Return the status of the note of a source, the one that can be read if it has several."""
    order = ("active", "pending", "superseded", "archived", "deleted")
    return min(one.statuses, key=lambda status: order.index(status) if status in order else len(order), default="")
