"""Give notes another life: bring back what expired, pin it, let it end again, or apply the policies of now.

A life that changes is a new version of the note. Its sources live as it does from then on. Its context may quote only
what ends no earlier, and the turn after it may quote it now, or no more: so these are rendered anew. What is kept apart
from now on loses its keywords, and what is so no more gets them; its ties rest meanwhile, since nothing reads them.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from memgraph_engine.embedding import CheckedEmbedder
from memgraph_engine.errors import InvalidInput, NotFound
from memgraph_engine.graph import notes, scopes, sources
from memgraph_engine.graph.database import Database
from memgraph_engine.graph.notes import USER, Found, Rendering, Revision
from memgraph_engine.graph.scopes import ScopeState
from memgraph_engine.ingest.construct import Phrases, Placed, Vectors, construct
from memgraph_engine.lifecycle import Life, Policies, life_of, quoted
from memgraph_engine.model.candidate import Keyword
from memgraph_engine.model.memory import NEVER, READABLE, TRUE_ONCE, Key, Note, Source
from memgraph_engine.model.names import key
from memgraph_engine.model.result import Applied, Decision, DecisionKind
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.usage import Usage
from memgraph_engine.rendering import Text, render
from memgraph_engine.writing import contexts, summaries
from memgraph_engine.writing.parting import part
from memgraph_engine.writing.transaction import Transaction

_ENDED = ("expired", "archived")


@dataclass(frozen=True, slots=True)
class Change:
    """The life that a note gets, and whether it is pinned; `begins` is when its life begins anew, None if it does not.

    An archived note gets its `former` version's status and keywords. `given` is the class that a user gives it, None to
    leave that as it is.
    """

    life: Life
    pinned: bool = False
    begins: datetime | None = None
    former: Note | None = None
    given: str | None = None


def restore(
    db: Database,
    scope: Scope,
    id: str,  # noqa: A002  the graph's own word
    policies: Policies,
    embedder: CheckedEmbedder,
    most: int,
    now: datetime,
    keep: float,
) -> Decision:
    """Bring back what expired, or was evicted. Raises NotFound, InvalidInput for what can be read, or Stale.

    The class of what expired begins anew. What was evicted leaves its summary, which is made anew and keeps the share
    `keep` of the words of the rest.
    """
    state, found = _found(db, scope, id)
    ended = [one for one in found if one.note.status in _ENDED]
    if not ended:
        raise InvalidInput(
            f"{id!r} of {scope} is {found[0].note.status}, not expired or archived: there is nothing to restore."
        )

    def change(one: Found) -> Change:
        note = one.note
        former = None
        if note.status == "archived":
            versions = (version.note for version in reversed(notes.history(db, scope.name, note.id)))
            # an erasure may have removed what quoted it
            former = next((one for one in versions if one.status != "archived"), replace(note, status="active"))
        life = policies.anew(note, now)
        if former and note.expires_at > now:
            return Change(Life(note.policy, note.expires_at, note.erase_at, life.apart), note.pinned, None, former)
        return Change(life, note.pinned, now, former)

    leaving = {other for one in ended if one.summed_by for other in (one.note.id, *one.note.sums)}
    changes = {one.note.id: change(one) for one in ended}
    return _live(db, scope, state, "restore", changes, embedder, most, now, leaving=leaving, keep=keep)


def pin(
    db: Database,
    scope: Scope,
    id: str,  # noqa: A002
    policies: Policies,
    embedder: CheckedEmbedder,
    most: int,
    now: datetime,
    *,
    pinned: bool,
) -> Decision:
    """Let a note live for ever, or as its sources say again, which may be no longer. Raises NotFound, InvalidInput."""
    state, found = _found(db, scope, id)
    live = [one for one in found if one.note.status in READABLE]
    if not live:
        raise NotFound(f"{id!r} of {scope} is {found[0].note.status}; only what can be read is pinned or unpinned.")
    if all(one.note.pinned == pinned for one in live):
        raise InvalidInput(f"{id!r} of {scope} is {'pinned already' if pinned else 'not pinned'}.")
    changes = {
        one.note.id: Change(life_of(one.note).endless if pinned else policies.of_note(one.note), pinned) for one in live
    }
    return _live(db, scope, state, "pin", changes, embedder, most, now, "" if pinned else "Unpinned.")


def end_session(
    db: Database, scope: Scope, session: str, policies: Policies, embedder: CheckedEmbedder, most: int, now: datetime
) -> Decision:
    """End what lives as long as a session. Raises NotFound where nothing does, or Stale."""
    lives = policies.of_sessions(now)
    state = scopes.state(db, scope.name)
    ids = notes.of_session(db, scope.name, session, list(lives)) if state and lives else []
    if not state or not ids:
        raise NotFound(f"No note of {scope} that can be read lives as long as the session {session!r}.")
    told = [one.found.note for one in notes.renderings(db, scope.name, ids)]
    changes = {
        note.id: Change(replace(policies.classes[note.policy].life(now, now), apart=note.apart)) for note in told
    }
    return _live(db, scope, state, "expire", changes, embedder, most, now, "Its session was ended.")


def assign(
    db: Database,
    scope: Scope,
    id: str,  # noqa: A002
    policy: str,
    policies: Policies,
    embedder: CheckedEmbedder,
    most: int,
    now: datetime,
) -> Decision:
    """Give a note a class, which it keeps whatever the rules say. Raises NotFound, InvalidInput or Stale."""
    state, found = _found(db, scope, id)
    live = [one.note for one in found if one.note.status in TRUE_ONCE]
    if not live:
        raise NotFound(f"{id!r} of {scope} is {found[0].note.status}; only what can be read is given a policy.")
    changes = {note.id: Change(policies.given(note, policy), note.pinned, given=policy) for note in live}
    if all(note.policy == note.policy_as == policy and note.apart == changes[note.id].life.apart for note in live):
        raise InvalidInput(f"{id!r} of {scope} has the policy {policy} already.")
    for note in live:
        if note.pinned:
            changes[note.id] = replace(changes[note.id], life=changes[note.id].life.endless)
        elif (end := changes[note.id].life.erase_at) <= now:
            raise InvalidInput(
                f"{id!r} of {scope} would be erased at once: policy {policy} counts from when it was said, its end was "
                f"{end:%Y-%m-%d %H:%M} UTC. Nothing was changed; forget erases it."
            )
    return _live(db, scope, state, "policy", changes, embedder, most, now, f"Now {policy}.")


def apply(
    db: Database,
    scope: Scope,
    ids: Sequence[str],
    policies: Policies,
    embedder: CheckedEmbedder,
    most: int,
    now: datetime,
    *,
    dry_run: bool,
) -> Applied:
    """Give some notes the class and the life that the policies of now give them; with `dry_run` only count."""
    state = scopes.state(db, scope.name)
    found = [one.found.note for one in notes.renderings(db, scope.name, ids)] if state else []
    changes, classes, ends = dict[str, Change](), Counter[str](), 0
    for note in found:
        life = policies.of_note(note)
        if note.pinned:
            life = life.endless
        if note.status not in TRUE_ONCE or life == life_of(note):
            continue
        changes[note.id] = Change(life, note.pinned)
        other = (life.policy, life.apart) != (note.policy, note.apart)
        classes[life.policy] += other
        ends += not other
    counted = Applied({name: some for name, some in sorted(classes.items()) if some}, ends)
    if dry_run or not changes or not state:
        return counted
    told = ", ".join(f"{some:,} to {name}" for name, some in counted.classes.items())
    why = " ".join(
        part for part in (f"{told}." if told else "", f"{ends:,} end at another time." if ends else "") if part
    )
    return replace(counted, decisions=(_live(db, scope, state, "policy", changes, embedder, most, now, why),))


def follow(
    db: Database,
    scope: Scope,
    used: Mapping[str, tuple[Usage, Usage]],
    policies: Policies,
    embedder: CheckedEmbedder,
    most: int,
    now: datetime,
) -> list[Decision]:
    """End notes that were used as often as their classes allow, and prolong those whose utility rose enough; or Stale.

    `used` has how the reader of the scope had used each, and has now.
    """
    state = scopes.state(db, scope.name)
    told = [one.found.note for one in notes.renderings(db, scope.name, sorted(used))] if state else []
    ended, prolonged = dict[str, Change](), dict[str, Change]()
    for note in told:
        policy, (before, after) = policies.classes.get(note.policy), used[note.id]
        if note.status not in READABLE or note.pinned or policy is None:  # another file's class: its life is not known
            continue
        if policy.uses and max(before.used, policy.uses - 1) < after.used:
            ended[note.id] = Change(policy.life(now, now))
        elif policy.extend and note.expires_at < NEVER and before.utility <= policy.extend.above < after.utility:
            ends, erased = (_later(at, policy.extend.by) for at in (note.expires_at, note.erase_at))
            prolonged[note.id] = Change(Life(note.policy, ends, erased, note.apart))
    made = list[Decision]()
    if state and ended:
        why = "It was used as often as its policy allows."
        made.append(_live(db, scope, state, "expire", ended, embedder, most, now, why))
        state = scopes.state(db, scope.name)
    if state and prolonged:
        why = "Its utility rose so high that its policy prolongs it."
        made.append(_live(db, scope, state, "policy", prolonged, embedder, most, now, why))
    return made


def _later(at: datetime, by: timedelta) -> datetime:
    return min(at + by, NEVER) if at < NEVER - by else NEVER


def _found(db: Database, scope: Scope, id: str) -> tuple[ScopeState, list[Found]]:  # noqa: A002
    """Return the notes of an id, in whatever state; raises NotFound."""
    state = scopes.state(db, scope.name)
    found = notes.found_by(db, scope.name, id) if state else []
    if not state or not found:
        raise NotFound(f"There is no note or source {id!r} in the memory of {scope}.")
    return state, found


def _live(
    db: Database,
    scope: Scope,
    state: ScopeState,
    kind: DecisionKind,
    changes: Mapping[str, Change],
    embedder: CheckedEmbedder,
    most: int,
    now: datetime,
    why: str = "",
    leaving: Collection[str] = (),
    keep: float = 1.0,
) -> Decision:
    """Give notes other lives, in one decision, and at most so many keywords; some are `leaving` their summaries.

    Raises Stale, with nothing written.
    """
    transaction = Transaction(scope, state.version, now)
    only = next(iter(changes)) if len(changes) == 1 else ""
    decision = transaction.decide(Decision(uuid4().hex, kind, now, only, evidence=why))
    told = notes.renderings(db, scope.name, list(changes))
    now_told = _repeatable(told, changes)
    parted = defaultdict[str, list[Note]](list)
    for one in told:
        apart = changes[one.found.note.id].life.apart
        if apart and apart != one.found.note.apart:
            parted[apart].append(one.found.note)
    for one in told:
        change = changes[one.found.note.id]
        transaction.live((turn.source.id for turn in one.turns), change.begins)
        named = _named(db, scope, one, change, state.language, embedder, most)
        _revise(transaction, decision.id, one, change, now_told.get, named, state.language, embedder)
    released = (
        summaries.release(db, transaction, decision.id, leaving, keep, state.language, embedder) if leaving else []
    )
    retold = part(
        db,
        transaction,
        decision.id,
        parted,
        now_told,
        language=state.language,
        embedder=embedder,
        without=[*changes, *released],
    )
    contexts.rewrite(
        db,
        transaction,
        decision.id,
        contexts.Turns.after(db, scope.name, now_told),
        language=state.language,
        embedder=embedder,
        without=[*changes, *retold],
    )
    transaction.commit(db)
    return decision


def _repeatable(told: Iterable[Rendering], changes: Mapping[str, Change]) -> dict[Key, Source | None]:
    """Return the sources of notes as they live from now on, None for those that no context repeats."""
    found: dict[Key, Source | None] = {}
    for one in told:
        change = changes[one.found.note.id]
        status = change.former.status if change.former else one.found.note.status
        for turn in one.turns:
            living = replace(turn.source, **change.life.properties)
            found[turn.source.key] = living if status in (*READABLE, "expired") else None
    return found


def _revise(
    transaction: Transaction,
    decision: str,
    one: Rendering,
    change: Change,
    living: Callable[[Key], Source | None],
    named: Sequence[Keyword] | None,
    language: str,
    embedder: CheckedEmbedder,
) -> None:
    """Plan the new version of a note, with the keywords that it gets, None for those that it has."""
    found, note, former = one.found, one.found.note, change.former
    before = [living(turn.previous_key) or turn.previous if turn.previous_key else None for turn in one.turns]
    turns = [(turn.source, quoted(previous, change.life)) for turn, previous in zip(one.turns, before, strict=True)]
    context = note.context if found.constructed_by or not turns else render(turns, language).context
    properties: dict[str, Any] = {**change.life.properties, "pinned": change.pinned}
    if change.given is not None:
        properties["policy_as"] = change.given
    vectors: tuple[Any, Any] = None, None
    if context != note.context:
        properties |= contexts.terms_of(context, note.sources, language)
    if former:
        properties |= {"status": former.status, "keywords": None}
        if former.status != "pending":
            first, second = embedder.embed_documents([Text(note.raw, context).spoken, context])
            vectors = first, second
    elif context != note.context and note.status != "pending":
        (second,) = embedder.embed_documents([context])
        vectors = None, second
    transaction.name(named or ())
    names = None if named is None else tuple(keyword.name for keyword in named)
    transaction.revise(found, Revision(note.id, decision, properties, "changed", *vectors, names))


def _named(
    db: Database, scope: Scope, one: Rendering, change: Change, language: str, embedder: CheckedEmbedder, most: int
) -> list[Keyword] | None:
    """Return the keywords that a note has from now on; None for those that it has."""
    if change.life.apart:
        return []
    if change.former and not one.found.note.apart:
        return keywords(change.former.keywords, language, embedder)
    if not one.found.note.apart or (change.former or one.found.note).status == "pending":
        return None
    said = [replace(turn.source, apart=None) for turn in one.turns]
    if one.found.constructed_by == USER:
        said = [replace(source, text=one.found.note.text, caption="") for source in said[:1]]
    phrases = Phrases()
    seen = sources.look_up(db, scope.name, [], [], phrases.keys(said, language))
    made = construct(
        [Placed(source) for source in said],
        seen.keywords if seen else {},
        language=language,
        max_keywords=most,
        vectors=Vectors(embedder),
        phrases=phrases,
    )
    return list({keyword.name: keyword for candidate in made for keyword in candidate.keywords}.values())[:most]


def keywords(names: Sequence[str], language: str, embedder: CheckedEmbedder) -> list[Keyword]:
    """Return keywords by their names, to be stored where no note carries them any more."""
    vectors = embedder.embed_documents(list(names))
    return [Keyword(name, key(name, language), vector) for name, vector in zip(names, vectors, strict=True)]
