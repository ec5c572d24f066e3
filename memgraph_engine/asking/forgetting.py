"""What a query to forget means. A context may tell too much; an erasure may not, so relevance chooses nothing here.

What holds each content word of the query, in one passage, is meant. What only looks alike, holds some of the words, or
belongs to what is meant, is near: it is told, and stays unless it is asked for. Signs that nobody sees part no words.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memgraph_engine.asking.reader import Reader
from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput, NotFound, named
from memgraph_engine.graph import erasures, scopes
from memgraph_engine.graph.erasures import Said
from memgraph_engine.ingest.messages import check_name, check_switches, parse_time
from memgraph_engine.interface.defaults import TOP_K
from memgraph_engine.language.terms import closed_terms, tokenize
from memgraph_engine.model.marker import UNSEEN
from memgraph_engine.model.result import Chosen, ErasurePlan
from memgraph_engine.model.scope import Scope
from memgraph_engine.trust import TRUST
from memgraph_engine.writing.erasure import plan

_NAMED = 5  # unknown ids that an error names
_HALF = 0.5  # of the query's words, from which a source is near
_AROUND = ".,;:!?()[]\"'“”¿¡"  # what stands around words
_FAR = "A search finds it first, though hardly relevant: only its id takes it."
_FEW = 3  # sources that are told at most where nothing is meant, though a search finds them hardly relevant
_ALIKE = 6  # letters with which two words begin that may be one: "allergy", "allergic"


def forget(
    reader: Reader,
    scope: Scope,
    session: str | None,
    source: object,
    before: datetime | str | None,
    query: str | None,
    policy: str | None,
    *,
    near: bool,
    keep: object,
    everything: bool,
) -> ErasurePlan:
    """Plan to erase what is meant: of several ways to say it, what all of them mean, without what is to be kept.

    Raises InvalidInput, or NotFound.
    """
    engine = reader.engine
    check_switches(near=near, everything=everything)
    ways = {"session": session, "source": source, "before": before, "query": query, "policy": policy}
    given = [name for name, value in ways.items() if value is not None]
    if everything == bool(given):
        raise InvalidInput(
            "forget takes what is meant: a session, a source, before, a query or a policy, or else everything=True."
        )
    if (near and query is None) or (keep and everything):
        raise InvalidInput("near widens a query, and everything keeps nothing: leave near or keep out.")
    db, state = engine.db, scopes.state(engine.db, scope.name)
    if not state and not (everything and scopes.left(db, scope.name)):
        raise NotFound(f"The memory of {scope} is empty: there is nothing to erase.")
    ids = _told_by(engine, scope, source, "source") if source is not None else None
    kept = set(_told_by(engine, scope, keep, "keep"))
    means = _meaning(reader, scope, query, state.language) if state and query is not None else None
    why = {**means.meant, **means.near, **means.far} if means else {}
    if means:
        asked = why.keys() if ids is None else {*ids}
        ids = [one for one in why if one in asked]
    found = erasures.select(
        db,
        scope.name,
        ids=ids,
        session=None if session is None else check_name(session, "session"),
        policy=None if policy is None else check_name(policy, "policy"),
        before=parse_time(before, "before", engine.settings.timezone),
    )
    rank = {one: at for at, one in enumerate(ids or ())}
    found = sorted((one for one in found if one.id not in kept), key=lambda one: rank.get(one.id, 0))
    taken = {*means.meant, *(means.near if near else ())} if means else {one.id for one in found}
    meant, beside = ([one for one in found if (one.id in taken) == goes] for goes in (True, False))
    if not found and not everything:
        raise NotFound(f"The memory of {scope} holds nothing that is meant: there is nothing to erase.")
    rule = ", ".join([*([erasures.EVERYTHING] if everything else given), *["near"] * near, *["keep"] * bool(kept)])
    version = state.version if state else 0
    return plan(engine, scope, meant, version, rule, everything=everything, why=why, near=beside)


def _told_by(engine: Engine, scope: Scope, given: object, where: str) -> list[str]:
    """Return the ids of sources, or of a note's sources where a name is a note's, in the order of the names.

    Raises NotFound for names that are neither, and InvalidInput.
    """
    if not isinstance(given, str | list | tuple | set | frozenset):
        raise InvalidInput(f"{where} must be an id, or a list of ids, not {named(given)}.")
    names = list(dict.fromkeys(check_name(name, where) for name in ([given] if isinstance(given, str) else given)))
    told = erasures.told_by(engine.db, scope.name, names) if names else {}
    if unknown := [repr(name) for name in names if not told[name]]:
        more = f" and {len(unknown) - _NAMED:,} more" if len(unknown) > _NAMED else ""
        shown = ", ".join(unknown[:_NAMED])
        raise NotFound(f"There is no note or source {shown}{more} ({where}) in the memory of {scope}.")
    return list(dict.fromkeys(one for name in names for one in told[name]))


def _meaning(reader: Reader, scope: Scope, query: str, language: str) -> "Meaning":
    """Return which sources of a scope a query to forget means, and which are near."""
    engine = reader.engine
    hits = reader.found(scope, query, TOP_K, include=tuple(engine.policies.classes), trust=TRUST[-1])
    found = {hit.note.id: hit.relevance for hit in hits if hit.reaches(engine.settings.answer.relevance)}
    beyond = [hit.note.id for hit in hits if hit.note.id not in found]
    said = list(erasures.said(engine.db, scope.name))
    return meaning(query, said, found, scope.user or "", language, beyond)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a query means to forget: what is `meant` and what is `near`, by the sources' ids, the best first.

    `far` is what comes next to it by meaning, where nothing is meant: it may be what was looked for in other words.
    """

    meant: Mapping[str, Chosen]
    near: Mapping[str, Chosen]
    far: Mapping[str, Chosen]


def meaning(
    query: str,
    said: Sequence[Said],
    found: Mapping[str, float | None],
    user: str,
    language: str,
    beyond: Sequence[str] = (),
) -> Meaning:
    """Return what a query means of all that is said; `found` is the relevance of the notes that a search found.

    `beyond` are the notes that it found hardly relevant, the best first.

    >>> texts = {"1": "The wifi password is hunter2.", "2": "I drink green tea.", "3": "The wifi is slow."}
    >>> said = [Said(id, (text,), frozenset((f"n{id}",)), frozenset()) for id, text in texts.items()]
    >>> made = meaning("our wifi passwords", said, {"n2": 0.4}, "ana", "english")
    >>> [one.why for one in made.meant.values()]
    ['It holds "wifi" and "password".']
    >>> [one.why for one in made.near.values()]
    ['It holds "wifi", not all of the words.', 'A search finds it (relevance 0.40).']
    >>> said = [Said("1", ("I'm allergic to nuts.",), frozenset(), frozenset())]
    >>> meaning("allergy", said, {}, "ana", "english").near["1"].why
    'It holds what is like it: "allergic".'
    """
    readings = [content(text, user, language) for text in _readings(query)]
    terms = frozenset[str]().union(*readings)
    rank = {note: at for at, note in enumerate(found)}
    ordered = sorted(said, key=lambda one: min((rank[note] for note in one.notes if note in rank), default=len(rank)))
    held = {
        one.id: max((_held(text, one.names, terms, language) for text in one.texts), default=Held()) for one in ordered
    }
    meant = {
        one.id: Chosen(one.id, "", f"It holds {_listed(held[one.id].words.values())}.", _status(one))
        for one in ordered
        if any(some and some <= held[one.id].words.keys() for some in readings)
    }
    told = frozenset(note for one in ordered if one.id in meant for note in one.notes)
    wanted = min(map(len, readings))
    near = {
        one.id: Chosen(one.id, "", why, _status(one))
        for one in sorted(ordered, key=lambda one: -len(held[one.id]))
        if one.id not in meant and (why := _near(one, held[one.id], wanted, found, told))
    }
    left = {note: one for one in ordered if one.id not in near for note in one.notes}
    far = {} if meant else {one.id: Chosen(one.id, "", _FAR, _status(one)) for one in map(left.get, beyond) if one}
    return Meaning(meant, near, dict([*far.items()][:_FEW]))


@dataclass(frozen=True, slots=True)
class Held:
    """What a text holds of the terms of a query, each as it is written there: `words`, and others that are `alike`."""

    words: Mapping[str, str] = field(default_factory=dict)
    alike: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.words) + len(self.alike)

    def __lt__(self, other: "Held") -> bool:
        return (len(self.words), len(self.alike)) < (len(other.words), len(other.alike))

    def __str__(self) -> str:
        words = _listed(self.words.values()) if self.words else ""
        if not self.alike:
            return f"It holds {words}, not all of the words"
        like = _listed(self.alike.values())
        return f"It holds {words}, and what is like the rest: {like}" if words else f"It holds what is like it: {like}"


def content(query: str, user: str, language: str) -> frozenset[str]:
    """Return the terms of a query that tell what it is about: none of grammar, nor the name of the user.

    >>> sorted(content("what is Ana's wifi password", "ana", "english"))
    ['password', 'wifi']
    """
    words = frozenset(tokenize(query, language))
    told = words - closed_terms(language)
    return told - frozenset(tokenize(user, language)) or told


def _readings(text: str) -> list[str]:
    """Return a text as it is, and without the signs that nobody sees, if it has any: some of these part words."""
    plain = text if text.isascii() else UNSEEN.sub("", text)
    return [text] if plain == text else [text, plain]


def _held(text: str, names: str, terms: frozenset[str], language: str) -> Held:
    """Return what a text holds of some terms; what only `names` a value of its metadata is no more than alike."""
    words, others = _written(text, terms, language)
    named, _ = _written(names, terms - words.keys(), language)
    alike = {term: others[token] for term, token in _alike(terms - words.keys(), others).items()}
    return Held(words, {**alike, **named})


def _written(text: str, terms: frozenset[str], language: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the terms that a text holds, as they are written there, and others, if one of them may be alike."""
    words: dict[str, str] = {}
    others: dict[str, str] = {}
    for reading in _readings(text):
        tokens = tokenize(reading, language)
        if terms.isdisjoint(tokens) and not _alike(terms, tokens):
            continue
        for word in reading.split():
            for token in tokenize(word, language):
                (words if token in terms else others).setdefault(token, word.strip(_AROUND))
    return words, others


def _alike(terms: Iterable[str], tokens: Iterable[str]) -> dict[str, str]:
    """Return for terms a token that begins with the same letters, so that both may be of one word."""
    begun = {token[:_ALIKE]: token for token in tokens if len(token) >= _ALIKE and token[:_ALIKE].isalpha()}
    return {term: begun[term[:_ALIKE]] for term in terms if len(term) >= _ALIKE and term[:_ALIKE] in begun}


def _near(one: Said, held: Held, wanted: int, found: Mapping[str, float | None], told: frozenset[str]) -> str:
    """Say why a source that is not meant is near to what is, or ''; the query has so many words."""
    if not told.isdisjoint(one.notes):
        return "A note tells it together with what is meant."
    if not told.isdisjoint(one.changes):
        return "It took the place of what is meant, or that of it."
    if wanted and len(held) / wanted >= _HALF:
        return f"{held}."
    hits = [found[note] for note in one.notes if note in found]
    if not hits:
        return ""
    relevance = max((hit for hit in hits if hit is not None), default=None)
    return "A search finds it." if relevance is None else f"A search finds it (relevance {relevance:.2f})."


def _listed(some: Iterable[str]) -> str:
    words = [f'"{word}"' for word in some]
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def _status(one: Said) -> str:
    """Return the status of the note of a source, the one that can be read if it has several."""
    order = ("active", "pending", "superseded", "archived", "deleted")
    return min(one.statuses, key=lambda status: order.index(status) if status in order else len(order), default="")
