"""Give notes another life: bring back what expired, pin it, let it end again, or apply the policies of now.

A life that changes is a new version of the note. Its sources live as it does from then on. Its context may quote only
what ends no earlier, and the turn after it may quote it now, or no more: so these are rendered anew. What is kept apart
from now on loses its keywords, and what is so no more gets them; its ties rest meanwhile, since nothing reads them.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from memgraph_engine.engine.wiring import Engine
from memgraph_engine.errors import InvalidInput, NotFound
from memgraph_engine.graph import erasures, notes
from memgraph_engine.graph.notes import SUMMARY, USER, Found, Rendering, Revision
from memgraph_engine.language.keywords import key
from memgraph_engine.lifecycle.policies import Life, life_of, quoted
from memgraph_engine.model.candidate import Keyword, Placed
from memgraph_engine.model.memory import MOST_KEYWORDS, NEVER, READABLE, TRUE_ONCE, Key, Note, Source
from memgraph_engine.model.result import Applied, Decision, DecisionKind
from memgraph_engine.model.scope import Scope
from memgraph_engine.model.usage import Usage
from memgraph_engine.recall.question import Filters
from memgraph_engine.rendering.context import render
from memgraph_engine.writing import contexts, summaries
from memgraph_engine.writing.change import Summed
from memgraph_engine.writing.commit import retried
from memgraph_engine.writing.construction import construct_alone
from memgraph_engine.writing.erasure import concerned
from memgraph_engine.writing.transaction import Transaction

FLAG = "contradicted"
"""The tag of a note that an answer contradicted."""
_ENDED = ("expired", "archived")

T = TypeVar("T")
P = ParamSpec("P")


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


@retried
def restore(engine: Engine, scope: Scope, id: str) -> Decision:
    """Bring back what expired, or was evicted. Raises NotFound, or InvalidInput for what can be read."""
    transaction, found = _begun(engine, scope, id)
    now = transaction.now
    ended = [one for one in found if one.note.status in _ENDED]
    if not ended:
        raise InvalidInput(
            f"{id!r} of {scope} is {found[0].note.status}, not expired or archived: there is nothing to restore."
        )

    def change(one: Found) -> Change:
        note = one.note
        former = None
        if note.status == "archived":
            versions = (version.note for version in reversed(notes.history(engine.db, scope.name, note.id)))
            # an erasure may have removed what quoted it
            former = next((one for one in versions if one.status != "archived"), replace(note, status="active"))
        life = engine.policies.anew(note, now)
        if former and note.expires_at > now:
            return Change(Life(note.policy, note.expires_at, note.erase_at, life.apart), note.pinned, None, former)
        return Change(life, note.pinned, now, former)

    leaving = {other for one in ended if one.summed_by for other in (one.note.id, *one.note.sums)}
    changes = {one.note.id: change(one) for one in ended}
    return _live(transaction, "restore", changes, leaving=leaving)


def restore_each(engine: Engine, scope: Scope, ids: Iterable[str]) -> None:
    """Bring back what was evicted, as far as nobody else was faster."""
    for id in ids:
        with suppress(InvalidInput):
            restore(engine, scope, id)


def unsummed(verb: Callable[Concatenate[Engine, Scope, P], T]) -> Callable[Concatenate[Engine, Scope, P], T]:
    """Let a verb change what is told by summaries: it comes back first, since a summary is no text of one source."""

    @wraps(verb)
    def current(engine: Engine, scope: Scope, /, *given: P.args, **named: P.kwargs) -> T:
        while True:
            try:
                return retried(verb)(engine, scope, *given, **named)
            except Summed as summed:
                restore_each(engine, scope, summed.ids)

    return current


@retried
def pin(engine: Engine, scope: Scope, id: str, *, pinned: bool) -> Decision:
    """Let a note live for ever, or as its sources say again, which may be no longer. Raises NotFound, InvalidInput."""
    transaction, found = _begun(engine, scope, id)
    live = [one for one in found if one.note.status in READABLE]
    if not live:
        raise NotFound(f"{id!r} of {scope} is {found[0].note.status}; only what can be read is pinned or unpinned.")
    if all(one.note.pinned == pinned for one in live):
        raise InvalidInput(f"{id!r} of {scope} is {'pinned already' if pinned else 'not pinned'}.")
    changes = {
        one.note.id: Change(life_of(one.note).endless if pinned else engine.policies.of_note(one.note), pinned)
        for one in live
    }
    return _live(transaction, "pin", changes, "" if pinned else "Unpinned.")


@retried
def end_session(engine: Engine, scope: Scope, session: str) -> Decision:
    """End what lives as long as a session. Raises NotFound where nothing does."""
    db, policies, transaction = engine.db, engine.policies, Transaction.begin(engine, scope)
    lives = policies.of_sessions(engine.now())
    given = {"session": session, "policies": list(lives), "statuses": READABLE}
    ids = [row["id"] for row in db.run("notes/of_session", scope=scope.name, **given)] if lives else []
    if not ids:
        raise NotFound(f"No note of {scope} that can be read lives as long as the session {session!r}.")
    now, told = transaction.now, [one.found.note for one in notes.renderings(db, scope.name, ids)]
    changes = {
        note.id: Change(replace(policies.classes[note.policy].life(now, now), apart=note.apart)) for note in told
    }
    return _live(transaction, "expire", changes, "Its session was ended.")


@retried
def assign(engine: Engine, scope: Scope, id: str, policy: str) -> Decision:
    """Give a note a class, which it keeps whatever the rules say. Raises NotFound, or InvalidInput."""
    transaction, found = _begun(engine, scope, id)
    live = [one.note for one in found if one.note.status in TRUE_ONCE]
    if not live:
        raise NotFound(f"{id!r} of {scope} is {found[0].note.status}; only what can be read is given a policy.")
    changes = {note.id: Change(engine.policies.given(note, policy), note.pinned, given=policy) for note in live}
    if all(note.policy == note.policy_as == policy and note.apart == changes[note.id].life.apart for note in live):
        raise InvalidInput(f"{id!r} of {scope} has the policy {policy} already.")
    for note in live:
        if note.pinned:
            changes[note.id] = replace(changes[note.id], life=changes[note.id].life.endless)
        elif (end := changes[note.id].life.erase_at) <= transaction.now:
            raise InvalidInput(
                f"{id!r} of {scope} would be erased at once: policy {policy} counts from when it was said, its end was "
                f"{end:%Y-%m-%d %H:%M} UTC. Nothing was changed; forget erases it."
            )
    return _live(transaction, "policy", changes, f"Now {policy}.")


def apply(engine: Engine, scope: Scope, *, dry_run: bool) -> Applied:
    """Give a scope's notes the classes and lives of the policies of now, a page in a transaction; or only count."""
    classes, ends, decisions = Counter[str](), 0, list[Decision]()
    every = notes.pages(engine.db, scope.name, Filters().listing(), TRUE_ONCE)
    for ids in [[note.id for note in page] for page in every]:
        one = _apply(engine, scope, ids, dry_run=dry_run)
        classes.update(one.classes)
        ends += one.ends
        decisions += one.decisions
    return Applied(dict(sorted(classes.items())), ends, tuple(decisions))


@retried
def _apply(engine: Engine, scope: Scope, ids: Sequence[str], *, dry_run: bool) -> Applied:
    """Do it for some notes."""
    transaction = Transaction.begin(engine, scope)
    found = [one.found.note for one in notes.renderings(engine.db, scope.name, ids)]
    changes, classes, ends = dict[str, Change](), Counter[str](), 0
    for note in found:
        life = engine.policies.of_note(note)
        if note.pinned:
            life = life.endless
        if note.status not in TRUE_ONCE or life == life_of(note):
            continue
        changes[note.id] = Change(life, note.pinned)
        other = (life.policy, life.apart) != (note.policy, note.apart)
        classes[life.policy] += other
        ends += not other
    counted = Applied({name: some for name, some in sorted(classes.items()) if some}, ends)
    if dry_run or not changes:
        return counted
    told = ", ".join(f"{some:,} to {name}" for name, some in counted.classes.items())
    why = " ".join(
        part for part in (f"{told}." if told else "", f"{ends:,} end at another time." if ends else "") if part
    )
    return replace(counted, decisions=(_live(transaction, "policy", changes, why),))


@retried
def follow(engine: Engine, scope: Scope, used: Mapping[str, tuple[Usage, Usage]]) -> Sequence[Decision]:
    """End notes that were used as often as their classes allow, and prolong those whose utility rose enough.

    `used` has how the reader of the scope had used each, and has now.
    """
    if not used or not any(one.uses or one.extend for one in engine.policies.classes.values()):
        return ()
    now, policies, transaction = engine.now(), engine.policies, Transaction.begin(engine, scope)
    told = [one.found.note for one in notes.renderings(engine.db, scope.name, sorted(used))]
    ended, prolonged = dict[str, Change](), dict[str, Change]()
    for note in told:
        policy, (before, after) = policies.classes.get(note.policy), used[note.id]
        if note.status not in READABLE or note.pinned or policy is None:  # another file's class: its life is not known
            continue
        if policy.uses and max(before.used, policy.uses - 1) < after.used:
            ended[note.id] = Change(policy.life(now, now))
        elif policy.extend and note.expires_at < NEVER and before.utility <= policy.extend.above < after.utility:
            by, both = policy.extend.by, (note.expires_at, note.erase_at)
            ends, erased = (min(at + by, NEVER) if at < NEVER - by else NEVER for at in both)
            prolonged[note.id] = Change(Life(note.policy, ends, erased, note.apart))
    made = list[Decision]()
    if ended:
        why = "It was used as often as its policy allows."
        made.append(_live(transaction, "expire", ended, why))
        transaction = Transaction.begin(engine, scope)
    if prolonged:
        why = "Its utility rose so high that its policy prolongs it."
        made.append(_live(transaction, "policy", prolonged, why))
    return made


@retried
def flag(engine: Engine, scope: Scope, contradicted: Collection[str]) -> Sequence[Decision]:
    """Tag notes that an answer contradicts, so that somebody looks at them, where the settings say so."""
    if not contradicted or not engine.settings.use.flag:
        return ()
    transaction = Transaction.begin(engine, scope)
    told = [one.found for one in notes.renderings(engine.db, scope.name, sorted(contradicted))]
    new = [one for one in told if one.note.status in READABLE and FLAG not in one.note.tags]
    if not new:
        return ()
    only = new[0].note.id if len(new) == 1 else ""
    decision = transaction.decide("flag", only, evidence="An answer contradicts it: somebody is to look at it.")
    for one in new:
        tags = {"tags": sorted({*one.note.tags, FLAG})}
        transaction.revise(one, Revision(one.note.id, decision.id, tags))
    transaction.commit()
    return (decision,)


def _begun(engine: Engine, scope: Scope, id: str) -> tuple[Transaction, list[Found]]:
    """Begin a transaction, and return the notes of an id, in whatever state; raises NotFound."""
    transaction = Transaction.begin(engine, scope)
    found = notes.found_by(engine.db, scope.name, id)
    if not found:
        raise NotFound(f"There is no note or source {id!r} in the memory of {scope}.")
    return transaction, found


def _live(
    transaction: Transaction,
    kind: DecisionKind,
    changes: Mapping[str, Change],
    why: str = "",
    leaving: Collection[str] = (),
) -> Decision:
    """Give notes other lives, in one decision; some are `leaving` their summaries."""
    only = next(iter(changes)) if len(changes) == 1 else ""
    decision = transaction.decide(kind, only, evidence=why)
    told = notes.renderings(transaction.db, transaction.scope.name, list(changes))
    now_told = _repeatable(told, changes)
    parted = defaultdict[str, list[Note]](list)
    for one in told:
        apart = changes[one.found.note.id].life.apart
        if apart and apart != one.found.note.apart:
            parted[apart].append(one.found.note)
    for one in told:
        change = changes[one.found.note.id]
        transaction.live((turn.source.id for turn in one.turns), change.begins)
        _revise(transaction, decision.id, one, change, now_told.get, _named(transaction, one, change))
    released = summaries.release(transaction, decision.id, leaving) if leaving else []
    retold = part(transaction, decision.id, parted, now_told, [*changes, *released])
    contexts.follow(transaction, decision.id, now_told, [*changes, *retold])
    transaction.commit()
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
) -> None:
    """Plan the new version of a note, with the keywords that it gets, None for those that it has."""
    language, found, note, former = transaction.language, one.found, one.found.note, change.former
    before = [living(turn.previous_key) or turn.previous if turn.previous_key else None for turn in one.turns]
    turns = [
        (turn.source, quoted(last, turn.source, change.life)) for turn, last in zip(one.turns, before, strict=True)
    ]
    context = note.context if found.constructed_by or not turns else render(turns, language).context
    properties: dict[str, Any] = {**change.life.properties, "pinned": change.pinned}
    if change.given is not None:
        properties["policy_as"] = change.given
    if context != note.context:
        properties |= contexts.terms_of(context, note.sources, language)
    if former:  # in the archive it had neither vectors nor keywords
        properties |= {"status": former.status, "keywords": None, "raw": list(note.raw), "context": context}
    transaction.name(named or ())
    names = None if named is None else tuple(keyword.name for keyword in named)
    transaction.revise(found, Revision(note.id, decision, properties, keywords=names))


def _named(transaction: Transaction, one: Rendering, change: Change) -> list[Keyword] | None:
    """Return the keywords that a note has from now on; None for those that it has."""
    if change.life.apart:
        return []
    if change.former and not one.found.note.apart:
        return keywords(transaction, change.former.keywords)
    if not one.found.note.apart or (change.former or one.found.note).status == "pending":
        return None
    said = [replace(turn.source, apart=None) for turn in one.turns]
    if one.found.constructed_by == USER:
        said = [replace(source, text=one.found.note.text, caption="") for source in said[:1]]
    made = construct_alone(transaction, [Placed(source) for source in said])
    named = {keyword.name: keyword for candidate in made for keyword in candidate.keywords}
    return list(named.values())[:MOST_KEYWORDS]


def keywords(transaction: Transaction, names: Sequence[str]) -> list[Keyword]:
    """Return keywords by their names, to be stored where no note carries them any more."""
    keys = [key(name, transaction.language) for name in names]
    return list(map(Keyword, names, keys, transaction.embedder.embed_documents(list(names))))


def part(
    transaction: Transaction,
    decision: str,
    parted: Mapping[str, Iterable[Note]],
    now: contexts.Repeatable,
    without: Collection[str],
) -> list[str]:
    """Plan what follows for others where notes are kept apart from now on, by the class with which they are.

    What a model wrote may hold words of whatever it was shown, so it is rendered locally. Former versions stay as they
    were, and apart also when the note is so no more, since nobody knows what else they quote.
    Return the notes that get other contexts; those `without` get none.
    """
    db, scope, language, quoting = transaction.db, transaction.scope.name, transaction.language, dict[str, None]()
    for apart, some in parted.items():
        ids = sorted({source.id for note in some for source in note.sources})
        found = concerned(db, scope, erasures.select(db, scope, ids=ids), language) if ids else []
        transaction.part((one.id for one in found), apart)
        quoting |= dict.fromkeys(one.id for one in found if one.id not in without)
    told = [one for one in notes.renderings(db, scope, list(quoting)) if one.found.by_model]
    for one in told:
        note = one.found.note
        context = summaries.local(note, language) if note.sums else contexts.local(one, now, language)
        properties = {
            **contexts.terms_of(context, note.sources, language),
            "constructed_by": SUMMARY if note.sums else "",
        }
        transaction.revise(one.found, Revision(note.id, decision, properties, "rewritten"))
    return [one.found.note.id for one in told]
